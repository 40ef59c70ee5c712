//! From what the user sent to what enters the log; or a refusal, after which nothing of it is left (K-17).

use std::sync::Arc;

use youyou_api::{
    AttachmentSource, Capabilities, Error, ErrorCode, ModelInfo, Part, ProviderError, ProviderErrorKind, UserMessage,
};

use crate::{
    context::estimate,
    skills::{self, Invocation, SkillCatalog},
    turn::{CalledSkill, TurnInput},
};

/// Reads what the user attached. The core opens no file itself.
pub trait AttachmentReader: Send + Sync {
    /// Reads one attachment whole; it may block.
    ///
    /// # Errors
    /// `FILE_TOO_LARGE`, `PATH_NOT_ALLOWED`, or `INVALID_INPUT` for what is no image or no text (D-73).
    fn read(&self, source: &AttachmentSource) -> Result<Part, Error>;
}

/// What the user sent, checked and read: a skill's prompt, the text, the attachments (Y3.4-1, D-61, D-62, D-72).
///
/// # Errors
/// `SKILL_NOT_FOUND`; those of the reader; `INVALID_INPUT` for an empty message; `PROVIDER_ERROR` of kind
/// `unsupported_content` for what the model cannot take (Y8-1); `FILE_TOO_LARGE` for more than its window holds.
pub(super) async fn accept(
    message: UserMessage,
    skills: &SkillCatalog,
    model: &ModelInfo,
    reader: Option<Arc<dyn AttachmentReader>>,
) -> Result<TurnInput, Error> {
    let (skill, text) = match skills::parse(&message.text) {
        Invocation::Text(text) => (None, text.into_owned()),
        Invocation::Skill { name, arguments } => {
            let prompt = Part::text(skills::inject(skills.resolve(name)?));
            let written = message.text.clone();
            (Some(CalledSkill { name: name.to_owned(), written, prompt }), arguments.to_owned())
        }
    };
    let attachments = read(message.attachments, reader).await?;
    attachments.iter().try_for_each(|part| check(part, model))?;
    let input = TurnInput { skill, text, attachments };
    if input.is_empty() {
        return Err(Error::new(ErrorCode::InvalidInput, "the message is empty: write something or attach a file"));
    }
    Ok(input)
}

async fn read(sources: Vec<AttachmentSource>, reader: Option<Arc<dyn AttachmentReader>>) -> Result<Vec<Part>, Error> {
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let Some(reader) = reader else {
        return Err(Error::new(ErrorCode::InvalidInput, "this agent has no reader for attachments"));
    };
    let reading = move || sources.iter().map(|source| reader.read(source)).collect();
    tokio::task::spawn_blocking(reading).await.unwrap_or_else(|error| {
        Err(Error::new(ErrorCode::InvalidInput, format!("the attachments could not be read: {error}")))
    })
}

/// What no request could hold is refused before it is in the log, where it would spoil every later request.
fn check(part: &Part, model: &ModelInfo) -> Result<(), Error> {
    let Capabilities { vision, .. } = model.capabilities;
    match part {
        Part::Image(image) if !vision => {
            let message = format!(
                "the model {:?} cannot look at images; leave out {:?} or choose another model",
                model.id.as_str(),
                image.name
            );
            Err(ProviderError::new(ProviderErrorKind::UnsupportedContent, message).into())
        }
        Part::File(file) if estimate::part(part) > model.context_window => Err(Error::new(
            ErrorCode::FileTooLarge,
            format!(
                "{:?} takes about {} tokens, and the model {:?} holds {} in all; attach less of it",
                file.name,
                estimate::part(part),
                model.id.as_str(),
                model.context_window
            ),
        )),
        Part::Text { .. } | Part::Image(_) | Part::File(_) => Ok(()),
    }
}
