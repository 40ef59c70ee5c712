//! A tool: one function. Its arguments are the fields of `Args`, its answer is what it returns.

use youyou_guest::{ToolError, args, log, tool};

#[args]
struct Args {
    /// Who to greet.
    who: Option<String>,
}

/// Greets somebody.
#[tool]
fn greet(args: Args) -> Result<String, ToolError> {
    let who = args.who.unwrap_or("world".to_owned());
    log::info!("greeting {who}");
    if who.is_empty() {
        return Err("the parameter who is empty; name somebody".into());
    }
    Ok(format!("Hello, {who}!"))
}

#[cfg(test)]
mod tests {
    use youyou_guest::{json, testing};

    use super::*;

    #[test]
    fn it_greets() {
        assert_eq!(testing::call(greet, json!({"who": "Ada"})).content(), "Hello, Ada!");
        assert_eq!(testing::call(greet, json!({})).content(), "Hello, world!");
        assert!(testing::call(greet, json!({"who": ""})).is_error());
    }

    #[test]
    fn index_md_fits_the_code() {
        testing::assert_index_md(&youyou_tool_spec(), "index.md");
    }
}
