//! [`ToolSpec`]: what a tool's code says about itself, against what its `index.md` says. Native only.
//!
//! The host reads the `index.md`, never the code; this is how a test of the author's keeps the two in step. It compares
//! the parameters, which the code knows. The text, the grants and the limits are the author's to write.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{
    call::Handler,
    parameters::{self, Parameter},
};

/// What a tool's code says about itself. [`tool`](macro@crate::tool) makes one, as `youyou_tool_spec()`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    name: String,
    component: String,
    description: String,
    parameters: Result<Vec<Parameter>, String>,
}

impl ToolSpec {
    #[doc(hidden)]
    pub fn of<S, H: Handler<S>>(_: H, name: &str, component: &str, description: &str) -> Self {
        Self {
            name: name.to_owned(),
            component: component.to_owned(),
            description: description.to_owned(),
            parameters: parameters::of::<H::Args>(),
        }
    }

    /// The name of the package, which is also the name of the folder and so of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the function's doc comment.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// An `index.md` to start from, for a package of its own that is built with `cargo build --release --target
    /// wasm32-wasip2`.
    ///
    /// # Errors
    /// What no `index.md` can say about the arguments.
    pub fn index_md(&self) -> Result<String, String> {
        let description =
            if self.description.is_empty() { "TODO: what it does, for the model." } else { &self.description };
        Ok(format!(
            "---\nversion: 1\nname: {}\nmutating: false\n{}execution:\n  component: target/wasm32-wasip2/release/{}\n---\n{description}\n",
            self.name,
            self.parameters_yaml()?,
            self.component
        ))
    }

    /// The `parameters:` block of the `index.md`; empty when there are none.
    ///
    /// # Errors
    /// What no `index.md` can say about the arguments.
    pub fn parameters_yaml(&self) -> Result<String, String> {
        let parameters = self.parameters.as_ref().map_err(Clone::clone)?;
        if parameters.is_empty() {
            return Ok(String::new());
        }
        let list = serde_yaml::to_string(parameters).map_err(|error| error.to_string())?;
        let mut block = "parameters:\n".to_owned();
        for line in list.lines() {
            // Writing to a string cannot fail.
            let _ = if line.is_empty() { writeln!(block) } else { writeln!(block, "  {line}") };
        }
        Ok(block)
    }

    /// Where the parameters of an `index.md` differ from the code, a line for each; nothing when they agree. The order
    /// of the parameters and the line breaks of a description do not matter.
    ///
    /// # Errors
    /// What is wrong with the text as an `index.md`, or what no `index.md` can say about the arguments.
    pub fn differences(&self, index_md: &str) -> Result<Vec<String>, String> {
        let coded = self.parameters.as_ref().map_err(Clone::clone)?;
        let written = written_parameters(index_md)?;
        let find = |list: &[Parameter], name: &str| list.iter().find(|parameter| parameter.name == name).cloned();
        let mut differences = Vec::new();
        for parameter in coded {
            match find(&written, &parameter.name) {
                Some(other) => compare(parameter, &other, &mut differences),
                None => differences.push(format!("`{}` is missing", parameter.name)),
            }
        }
        for parameter in &written {
            if find(coded, &parameter.name).is_none() {
                differences.push(format!("`{}` is not an argument of the code", parameter.name));
            }
        }
        Ok(differences)
    }
}

fn written_parameters(index_md: &str) -> Result<Vec<Parameter>, String> {
    let text = index_md.strip_prefix('\u{feff}').unwrap_or(index_md);
    let mut lines = text.lines();
    if lines.next() != Some("---") {
        return Err("it does not begin with a line `---`".to_owned());
    }
    let mut yaml = String::new();
    loop {
        match lines.next() {
            Some("---") => break,
            Some(line) => {
                yaml.push_str(line);
                yaml.push('\n');
            }
            None => return Err("its front matter has no closing line `---`".to_owned()),
        }
    }
    let front_matter: Value = serde_yaml::from_str(&yaml).map_err(|error| format!("its front matter: {error}"))?;
    match front_matter.get("parameters") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(list) => serde_json::from_value(list.clone()).map_err(|error| format!("its `parameters`: {error}")),
    }
}

fn compare(coded: &Parameter, written: &Parameter, differences: &mut Vec<String>) {
    let fields = |parameter: &Parameter| {
        let mut parameter = parameter.clone();
        let description = parameter.shape.description.split_whitespace().collect::<Vec<_>>().join(" ");
        parameter.shape.description = description;
        // A parameter always serialises to an object.
        serde_json::to_value(parameter).unwrap_or_default()
    };
    let (coded_fields, written_fields) = (fields(coded), fields(written));
    for key in ["type", "description", "required", "enum", "items", "default"] {
        let (coded_value, written_value) = (coded_fields.get(key), written_fields.get(key));
        if coded_value != written_value {
            let show = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
            differences.push(format!(
                "`{}`: {key} is {}, in the code {}",
                coded.name,
                show(written_value),
                show(coded_value)
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    #[args]
    #[allow(dead_code, reason = "only the schema matters")]
    struct Args {
        /// Text to shout: all of it.
        text: String,
        /// How often.
        times: Option<u8>,
    }

    fn spec() -> ToolSpec {
        ToolSpec::of(|_: Args| "", "shout", "shout.wasm", "Shouts a text.")
    }

    const INDEX_MD: &str = "\
---
version: 1
name: shout
mutating: false
parameters:
  - name: text
    type: string
    description: 'Text to shout: all of it.'
    required: true
  - name: times
    type: integer
    description: How often.
    required: false
execution:
  component: target/wasm32-wasip2/release/shout.wasm
---
Shouts a text.
";

    #[test]
    fn a_first_index_md_is_written_from_the_code() {
        assert_eq!(spec().index_md().expect("text"), INDEX_MD);
        assert_eq!(spec().differences(INDEX_MD), Ok(Vec::new()));
    }

    #[test]
    fn a_tool_without_arguments_has_no_parameters_block() {
        let text = ToolSpec::of(|| "", "now", "now.wasm", "").index_md().expect("text");
        assert_eq!(
            text,
            "---\nversion: 1\nname: now\nmutating: false\nexecution:\n  component: target/wasm32-wasip2/release/now.wasm\n---\nTODO: what it does, for the model.\n"
        );
    }

    #[test]
    fn order_line_breaks_and_line_ends_do_not_matter() {
        let other = "\u{feff}---\r\nparameters:\r\n  - {name: times, type: integer, description: How often.}\r\n  \
                     - name: text\r\n    type: string\r\n    required: true\r\n    description: >\r\n      Text to shout:\r\n      all of it.\r\n---\r\n";
        assert_eq!(spec().differences(other), Ok(Vec::new()));
    }

    #[test]
    fn every_difference_is_told() {
        let other = "---\nparameters:\n  - {name: text, type: integer, description: Text., default: 1}\n  \
                     - {name: loud, type: boolean}\n---\n";
        assert_eq!(
            spec().differences(other).expect("readable"),
            [
                "`text`: type is \"integer\", in the code \"string\"",
                "`text`: description is \"Text.\", in the code \"Text to shout: all of it.\"",
                "`text`: required is false, in the code true",
                "`text`: default is 1, in the code nothing",
                "`times` is missing",
                "`loud` is not an argument of the code",
            ]
        );
    }

    #[test]
    fn a_text_that_is_no_index_md_is_refused() {
        let problem = |text: &str| spec().differences(text).expect_err("refused");
        assert_eq!(problem("# Shout\n"), "it does not begin with a line `---`");
        assert_eq!(problem("---\nname: x\n"), "its front matter has no closing line `---`");
        assert!(problem("---\na: [\n---\n").starts_with("its front matter: "));
        assert!(problem("---\nparameters: 5\n---\n").starts_with("its `parameters`: "));
    }
}
