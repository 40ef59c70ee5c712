//! The life of the plugins in code: initialized in the order of registration, shut down in reverse (Y3.5-3, D-4).

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use serde_json::{Map, Value};
use youyou_api::{Error, ErrorCode, Plugin, Taps};

use super::merge::{CodePlugin, FilePlugin, Switches, merge};

/// Checks that no two plugins have one id, and asks each what it is.
///
/// # Errors
/// `NAME_CONFLICT` (Y6.1-1).
pub(crate) fn describe(plugins: &[Arc<dyn Plugin>]) -> Result<Vec<CodePlugin>, Error> {
    let mut described: Vec<CodePlugin> = Vec::with_capacity(plugins.len());
    for plugin in plugins {
        let info = plugin.info().clone();
        if described.iter().any(|earlier| earlier.info.id == info.id) {
            let message = format!("two plugins in code have the id {:?}", info.id.as_str());
            return Err(Error::new(ErrorCode::NameConflict, message));
        }
        described.push(CodePlugin { info, default_config: plugin.default_config(), taps: Vec::new() });
    }
    Ok(described)
}

/// Initializes every plugin with its final configuration, and then lets each make its taps, once (D-5).
///
/// # Errors
/// `PLUGIN_INIT_FAILED`, which names the plugin; those that were initialized before it are shut down again.
pub(crate) async fn start(
    plugins: &[Arc<dyn Plugin>],
    described: &mut [CodePlugin],
    files: &[FilePlugin],
    configs: &Map<String, Value>,
) -> Result<(), Error> {
    let status = merge(described, files, configs, &Switches::new()).plugins;
    for (index, plugin) in plugins.iter().enumerate() {
        let id = &described[index].info.id;
        let config = status.iter().find(|status| status.info.id == *id).map(|status| &status.config);
        if let Err(error) = initialize(plugin.as_ref(), config.unwrap_or(&Value::Null)).await {
            stop(&plugins[..index]).await;
            let message = format!("the plugin {:?} could not be initialized: {}", id.as_str(), error.message);
            return Err(Error::new(ErrorCode::PluginInitFailed, message)
                .with_detail("plugin", id.as_str())
                .with_cause(error));
        }
    }
    for (plugin, described) in plugins.iter().zip(described) {
        let mut taps = Taps::new();
        let applied = std::panic::catch_unwind(AssertUnwindSafe(|| plugin.clone().apply(&mut taps)));
        if let Err(panic) = applied {
            stop(plugins).await;
            let text = crate::panic::text(&*panic);
            let message = format!("the plugin {:?} panicked in `apply`: {text}", described.info.id.as_str());
            return Err(Error::new(ErrorCode::PluginInitFailed, message));
        }
        described.taps = taps.into_taps();
    }
    Ok(())
}

async fn initialize(plugin: &dyn Plugin, config: &Value) -> Result<(), Error> {
    let initializing = AssertUnwindSafe(async { plugin.initialize(config).await }).catch_unwind();
    initializing.await.unwrap_or_else(|panic| {
        let text = crate::panic::text(&*panic);
        Err(Error::new(ErrorCode::PluginInitFailed, format!("it panicked: {text}")))
    })
}

/// Shuts plugins down, the last one first. One that panics keeps no other from it.
pub(crate) async fn stop(plugins: &[Arc<dyn Plugin>]) {
    for plugin in plugins.iter().rev() {
        let stopping = AssertUnwindSafe(async { plugin.shutdown().await }).catch_unwind();
        if let Err(panic) = stopping.await {
            let text = crate::panic::text(&*panic);
            tracing::warn!("the plugin {:?} panicked as it was shut down: {text}", plugin.info().id.as_str());
        }
    }
}
