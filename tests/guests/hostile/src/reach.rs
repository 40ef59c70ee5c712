//! Modes that reach for what lies outside: files, environment, network. Each returns what it got, or the error as text.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpStream, ToSocketAddrs},
};

use wasip2::http::{
    outgoing_handler,
    types::{Fields, Method, OutgoingRequest, Scheme},
};

use crate::run::Arguments;

/// The answer of `mode`; none when there is no such mode.
pub(crate) fn attempt(mode: &str, arguments: &Arguments) -> Option<String> {
    let path = arguments.text("path");
    Some(match mode {
        "read" => answer(fs::read_to_string(path)),
        "write" => answer(fs::write(path, arguments.text("text")).map(|()| "written".to_owned())),
        "list" => answer(list(path)),
        "remove" => answer(fs::remove_file(path).map(|()| "removed".to_owned())),
        "make-dir" => answer(fs::create_dir(path).map(|()| "made".to_owned())),
        "rename" => answer(fs::rename(path, arguments.text("to")).map(|()| "renamed".to_owned())),
        "link" => answer(fs::hard_link(path, arguments.text("to")).map(|()| "linked".to_owned())),
        "stat" => answer(fs::metadata(path).map(|found| format!("{} bytes", found.len()))),
        "current-dir" => answer(std::env::current_dir().map(|dir| dir.display().to_string())),
        "env" => env(arguments.text("name")),
        "args" => format!("{:?}", std::env::args().collect::<Vec<_>>()),
        "resolve" => answer(resolve(arguments.text("host"))),
        "connect" => answer(connect(arguments.text("address"), arguments.text("send"))),
        "http-get" => answer(http_get(arguments.text("url"))),
        _ => return None,
    })
}

fn answer<E: std::fmt::Display>(result: Result<String, E>) -> String {
    result.unwrap_or_else(|error| format!("error: {error}"))
}

fn list(path: &str) -> std::io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names.join("\n"))
}

/// One variable, or all of them when no name is given.
fn env(name: &str) -> String {
    if name.is_empty() {
        let mut all: Vec<_> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
        all.sort();
        return all.join("\n");
    }
    std::env::var(name).unwrap_or_else(|error| format!("error: {error}"))
}

fn resolve(host: &str) -> std::io::Result<String> {
    let found: Vec<_> = (host, 80).to_socket_addrs()?.map(|address| address.ip().to_string()).collect();
    Ok(found.join("\n"))
}

fn connect(address: &str, send: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(send.as_bytes())?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn http_get(url: &str) -> Result<String, String> {
    let (scheme, rest) = url.split_once("://").ok_or("no scheme")?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    };
    let request = OutgoingRequest::new(Fields::new());
    let unset = |()| "the request does not take that".to_owned();
    request.set_method(&Method::Get).map_err(unset)?;
    request.set_scheme(Some(&scheme)).map_err(unset)?;
    request.set_authority(Some(authority)).map_err(unset)?;
    request.set_path_with_query(Some(if path.is_empty() { "/" } else { path })).map_err(unset)?;
    let pending = outgoing_handler::handle(request, None).map_err(|code| format!("{code:?}"))?;
    pending.subscribe().block();
    let response = pending
        .get()
        .ok_or("no answer")?
        .map_err(|()| "taken twice".to_owned())?
        .map_err(|code| format!("{code:?}"))?;
    let mut found = format!("{}\n", response.status());
    if let Some(location) = response.headers().get("location").first() {
        found.push_str(&format!("location: {}\n", String::from_utf8_lossy(location)));
    }
    let body = response.consume().map_err(|()| "no body".to_owned())?;
    let stream = body.stream().map_err(|()| "no stream".to_owned())?;
    while let Ok(bytes) = stream.blocking_read(64 * 1024) {
        found.push_str(&String::from_utf8_lossy(&bytes));
    }
    Ok(found)
}
