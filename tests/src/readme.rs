//! The commands that a Markdown page shows, and what it says of them, so that a test can hold the page to it.

/// One command of a `console` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What is typed after `$ `, its comment included.
    pub command: String,
    /// What the page shows below it; empty where it shows nothing.
    pub output: String,
    /// The exit status, from a comment `# exit code 1`; else 0.
    pub exit: i32,
}

/// Every command of every `console` block, in order.
pub fn commands(markdown: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    for block in blocks(markdown, "console") {
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => {
                    found.push(Shown { command: command.to_owned(), output: String::new(), exit: exit_code(command) })
                }
                None => {
                    let shown = found.last_mut().unwrap_or_else(|| panic!("output before a command: {line}"));
                    shown.output.push_str(line);
                    shown.output.push('\n');
                }
            }
        }
    }
    found
}

fn exit_code(command: &str) -> i32 {
    let comment = command.split("# exit code ").nth(1).unwrap_or("0");
    comment.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("an exit code is a number")
}

/// The fenced blocks of a language, in order.
pub fn blocks<'a>(markdown: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    let rest = markdown.split(fence.as_str()).skip(1);
    rest.map(|rest| rest.split("\n```").next().unwrap_or_default()).collect()
}

/// The files that a tutorial has its reader write: a paragraph that begins with the path in bold, then a block.
pub fn files(markdown: &str) -> Vec<(&str, &str)> {
    let named = markdown.split("\n**`").skip(1);
    named
        .filter_map(|rest| {
            let (path, rest) = rest.split_once("`**")?;
            let block = rest.split_once("\n```")?.1.split_once('\n')?.1;
            Some((path, block.split("\n```").next()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_with_their_output_and_exit_code() {
        let page = "# x\n\n```console\n$ a 'b'\none\n\ntwo\n$ c    # exit code 3: no\n```\n```sh\n$ no\n```\n";
        let shown = |command: &str, output: &str, exit| Shown { command: command.into(), output: output.into(), exit };
        assert_eq!(commands(page), [shown("a 'b'", "one\n\ntwo\n", 0), shown("c    # exit code 3: no", "", 3)]);
    }

    #[test]
    fn files_are_found_with_their_path() {
        let page = "x\n\n**`a/b.rs`**: code.\n\n```rust\nfn x() {}\n```\n\n**`c`**: more\n\n```\ny\nz\n```\n";
        assert_eq!(files(page), [("a/b.rs", "fn x() {}"), ("c", "y\nz")]);
    }
}
