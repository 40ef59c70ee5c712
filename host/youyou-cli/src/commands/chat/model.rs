//! Who answers in a conversation: a script, the providers of config.yaml, or the demonstration; and whether it is
//! recorded.

use std::{fs::File, io::ErrorKind, path::Path, sync::Arc};

use youyou::{
    AgentBuilder, ConfiguredProviders, Error, ErrorCode, ModelProvider, Recorder, ReplayProvider, Script,
    configured_providers,
};

use super::super::{Places, usage};
use crate::args::Chat;

/// Registers who answers.
///
/// # Errors
/// `CONFIG_PARSE_ERROR`; a script that cannot be read; a recording that cannot be begun, or of a model that nobody serves.
pub(crate) fn register(builder: AgentBuilder, args: &Chat, places: &Places) -> Result<AgentBuilder, Error> {
    let provider: Arc<dyn ModelProvider> = match &args.replay {
        Some(path) => Arc::new(ReplayProvider::new(Script::load(path)?)),
        None => {
            let configured = configured_providers(&places.home)?;
            match &args.record {
                _ if configured.is_empty() => Arc::new(ReplayProvider::demo()),
                None => return Ok(builder.configured_providers()),
                Some(_) => serving(configured, args.model.as_deref())?,
            }
        }
    };
    match &args.record {
        None => Ok(builder.shared_provider(provider)),
        Some(path) => Ok(builder.provider(record(provider, path)?)),
    }
}

/// The provider of the model that is asked.
fn serving(configured: ConfiguredProviders, model: Option<&str>) -> Result<Arc<dyn ModelProvider>, Error> {
    let only = match &configured.models[..] {
        [only] => Some(only.id.clone()),
        _ => None,
    };
    let chosen = model.map(str::to_owned).or(configured.default_model).or(only);
    let chosen = chosen.ok_or_else(|| usage("a recording is of one model: name it with --model or `default_model`"))?;
    let serves = |provider: &youyou::HttpProvider| provider.models().iter().any(|model| model.id.as_str() == chosen);
    match configured.providers.into_iter().find(serves) {
        Some(provider) => Ok(Arc::new(provider)),
        None => {
            let message =
                format!("no provider serves the model {chosen:?}; `youyou models` lists those that are served");
            Err(Error::new(ErrorCode::ModelNotSupported, message))
        }
    }
}

/// Begins a recording in a new file.
fn record(provider: Arc<dyn ModelProvider>, path: &Path) -> Result<Recorder<dyn ModelProvider>, Error> {
    let file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => usage(format!("{} is there already; name another file", path.display())),
        _ => usage(format!("cannot record to {}: {error}", path.display())),
    })?;
    Recorder::new(provider, file).map_err(|error| {
        // It was made here, and nothing can be played from it.
        let _left = std::fs::remove_file(path);
        usage(format!("cannot record to {}: {error}", path.display()))
    })
}
