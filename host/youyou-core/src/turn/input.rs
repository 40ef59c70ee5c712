//! What a turn begins with: what the user sent, as hooks see it and as the log keeps it.

use youyou_api::{
    Part,
    hook::{Attachment, AttachmentKind, UserInput},
};

/// What the user sent, checked and read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TurnInput {
    /// The skill that they called, if any.
    pub(crate) skill: Option<CalledSkill>,
    /// What they wrote; behind a skill's name, what follows it.
    pub(crate) text: String,
    /// Images and files.
    pub(crate) attachments: Vec<Part>,
}

/// A skill that the user called by its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CalledSkill {
    /// Without the slash.
    pub(crate) name: String,
    /// The whole text with which they called it.
    pub(crate) written: String,
    /// Its prompt, as it enters the log (D-62).
    pub(crate) prompt: Part,
}

impl TurnInput {
    /// Whether there is nothing that could be sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.skill.is_none() && self.text.trim().is_empty() && self.attachments.is_empty()
    }

    /// The document that hooks see: the text as the user wrote it, and what they attached by name and size (D-9).
    pub(crate) fn for_hooks(&self) -> UserInput {
        let attachments = self.attachments.iter().filter_map(attachment).collect();
        UserInput { text: self.written().to_owned(), attachments }
    }

    fn written(&self) -> &str {
        self.skill.as_ref().map_or(&self.text, |skill| &skill.written)
    }

    /// Takes over a text that hooks have changed. Which skill is called stays the user's decision: a name in front of
    /// the new text calls no other one (D-10), and the called one's name is no part of its arguments.
    pub(crate) fn rewrite(&mut self, text: String) {
        if text == self.written() {
            return;
        }
        let arguments = self.skill.as_ref().and_then(|skill| {
            let rest = text.trim_start().strip_prefix('/')?.strip_prefix(skill.name.as_str())?;
            (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim().to_owned())
        });
        self.text = arguments.unwrap_or(text);
    }

    /// What enters the log: a skill's prompt, the text, the attachments (D-62).
    pub(crate) fn into_parts(self) -> Vec<Part> {
        let Self { skill, text, attachments } = self;
        let text = (!text.trim().is_empty()).then(|| Part::text(text));
        skill.map(|skill| skill.prompt).into_iter().chain(text).chain(attachments).collect()
    }
}

fn attachment(part: &Part) -> Option<Attachment> {
    let (kind, name, size) = match part {
        Part::Text { .. } => return None,
        Part::Image(image) => (AttachmentKind::Image, &image.name, image.size),
        Part::File(file) => (AttachmentKind::File, &file.name, file.text.len() as u64),
    };
    Some(Attachment { kind, name: name.clone(), size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(text: &str) -> TurnInput {
        let written = format!("/review {text}").trim_end().to_owned();
        let skill = CalledSkill { name: "review".into(), written, prompt: Part::text("Review it.") };
        TurnInput { skill: Some(skill), text: text.into(), attachments: Vec::new() }
    }

    fn rewritten(mut input: TurnInput, text: &str) -> Vec<Part> {
        input.rewrite(text.to_owned());
        input.into_parts()
    }

    /// D-10: a hook changes what is said, not which skill is called.
    #[test]
    fn a_rewritten_text_calls_no_other_skill() {
        assert_eq!(called("main.rs").for_hooks().text, "/review main.rs");
        let parts = |text: &str| vec![Part::text("Review it."), Part::text(text)];
        assert_eq!(rewritten(called("main.rs"), "/review lib.rs"), parts("lib.rs"));
        assert_eq!(rewritten(called("main.rs"), "lib.rs"), parts("lib.rs"));
        assert_eq!(rewritten(called("main.rs"), "/other lib.rs"), parts("/other lib.rs"));
        assert_eq!(rewritten(called("main.rs"), "/reviewer x"), parts("/reviewer x"));
        assert_eq!(rewritten(called("main.rs"), "/review main.rs"), parts("main.rs"));
        assert_eq!(rewritten(called(""), "/review"), [Part::text("Review it.")]);
        let plain = TurnInput { skill: None, text: "hi".into(), attachments: Vec::new() };
        assert_eq!(rewritten(plain, "/review now"), [Part::text("/review now")]);
    }
}
