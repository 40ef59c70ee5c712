//! `http-get`: reads a web address.
//!
//! What is asked and what is answered is decided here and tested natively; how the bytes travel is in
//! `transport.rs`, which needs the host of a component.

mod transport;

use http::Uri;
use youyou_guest::{ToolError, ToolOutput, args, json, tool};

use transport::Response;

/// How much of a body the model gets to read.
const LONGEST_BODY: usize = 64 * 1024;

/// The arguments of a call.
#[args]
struct Args {
    /// Address to read, with `http://` or `https://`.
    url: String,
}

/// Reads a web address and answers with the status and the text.
#[tool]
fn http_get(args: Args) -> Result<ToolOutput, ToolError> {
    answer(&args.url, transport::get)
}

fn answer(url: &str, get: impl FnOnce(&Uri, usize) -> Result<Response, String>) -> Result<ToolOutput, ToolError> {
    let uri = parse(url)?;
    let response = get(&uri, LONGEST_BODY).map_err(|problem| format!("cannot read {url}: {problem}"))?;
    let mut content = format!("HTTP {}", response.status);
    if let Some(location) = &response.location {
        content.push_str(&format!("\nlocation: {location}"));
    }
    content.push_str("\n\n");
    let kind = response.content_type.as_deref().unwrap_or("unknown type");
    match body_text(&response) {
        Some(text) => content.push_str(text),
        None => content.push_str(&format!("[{} bytes of {kind} that are not text]", response.body.len())),
    }
    if response.cut {
        content.push_str(&format!("\n[cut after {LONGEST_BODY} bytes]"));
    }
    let metadata = json!({
        "status": response.status,
        "content_type": response.content_type,
        "bytes": response.body.len(),
        "cut": response.cut,
    });
    let output = if response.status < 400 { ToolOutput::text(content) } else { ToolOutput::error(content) };
    Ok(output.with_metadata(metadata))
}

fn parse(url: &str) -> Result<Uri, String> {
    let wanted = "give a whole address such as https://example.com/page";
    let uri: Uri = url.parse().map_err(|error| format!("url {url:?} is not an address ({error}): {wanted}"))?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.authority().is_some() => Ok(uri),
        Some(scheme) => Err(format!("url begins with {scheme:?}, only http and https can be read: {wanted}")),
        None => Err(format!("url {url:?} has no http:// or https:// in front: {wanted}")),
    }
}

/// The body as text. Where it was cut, the character that the cut went through is left out.
fn body_text(response: &Response) -> Option<&str> {
    match std::str::from_utf8(&response.body) {
        Ok(text) => Some(text),
        Err(error) if response.cut && error.error_len().is_none() => {
            std::str::from_utf8(&response.body[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use youyou_guest::testing::{self, ToolAnswer};

    use super::*;

    fn page(status: u16, body: &[u8]) -> Response {
        Response { status, content_type: Some("text/plain".into()), location: None, body: body.into(), cut: false }
    }

    /// Calls the tool with a transport that answers `response`.
    fn call(response: Response) -> ToolAnswer {
        testing::call(
            |args: Args| answer(&args.url, |_, _| Ok(response.clone())),
            json!({"url": "http://127.0.0.1:1/a?b"}),
        )
    }

    #[test]
    fn a_page_is_its_status_and_its_text() {
        let answer = call(page(200, "Grüße\n".as_bytes()));
        assert_eq!((answer.is_error(), answer.content()), (false, "HTTP 200\n\nGrüße\n"));
        assert_eq!(answer.metadata(), json!({"status": 200, "content_type": "text/plain", "bytes": 8, "cut": false}));
    }

    #[test]
    fn a_status_from_400_on_is_a_failure_with_the_servers_text() {
        let answer = call(page(404, b"no such page"));
        assert_eq!((answer.is_error(), answer.content()), (true, "HTTP 404\n\nno such page"));
        assert_eq!(answer.metadata()["status"], json!(404));
    }

    #[test]
    fn a_redirect_is_shown_and_not_followed() {
        let answer = call(Response { location: Some("/b".into()), ..page(301, b"") });
        assert_eq!((answer.is_error(), answer.content()), (false, "HTTP 301\nlocation: /b\n\n"));
    }

    #[test]
    fn a_body_that_is_not_text_is_named() {
        let answer = call(Response { content_type: Some("image/png".into()), ..page(200, b"\x89PNG\xff") });
        assert_eq!(answer.content(), "HTTP 200\n\n[5 bytes of image/png that are not text]");
    }

    #[test]
    fn a_cut_body_ends_at_a_character() {
        let answer = call(Response { cut: true, ..page(200, b"ab\xc3") });
        assert_eq!(answer.content(), "HTTP 200\n\nab\n[cut after 65536 bytes]");
    }

    #[test]
    fn what_the_transport_says_reaches_the_model() {
        let tool = |args: Args| answer(&args.url, |_, _| Err("the connection was refused".to_owned()));
        let answer = testing::call(tool, json!({"url": "http://127.0.0.1:1/"}));
        assert!(answer.is_error());
        assert_eq!(answer.content(), "cannot read http://127.0.0.1:1/: the connection was refused");
    }

    #[test]
    fn only_whole_web_addresses_are_read() {
        for (url, problem) in [
            ("", "is not an address"),
            ("http://a b", "is not an address"),
            ("example.com", "has no http:// or https://"),
            ("/etc/passwd", "has no http:// or https://"),
            ("ftp://example.com/", "only http and https"),
        ] {
            let answer = testing::call(http_get, json!({"url": url}));
            assert!(answer.is_error());
            assert!(answer.content().contains(problem), "{url}: {}", answer.content());
        }
    }

    #[test]
    fn the_index_md_fits_the_code() {
        testing::assert_index_md(&youyou_tool_spec(), "index.md");
    }
}
