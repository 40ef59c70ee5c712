//! The path of a tool call (DESIGN: resolve → validate → before → execute → cap → after → result).
//!
//! Read in this order: [`catalog`] (which tools there are), [`dispatcher`] (one call, phase by phase), [`batch`] (many
//! calls, and what may run at once), [`scope`] (what surrounds them), then the phases' own files: [`arguments`], `execute`, [`output`], and [`chain`],
//! the seam where hooks take part.

pub mod arguments;
pub mod batch;
pub mod catalog;
pub mod chain;
pub mod dispatcher;
mod execute;
pub(crate) mod nearest;
pub mod output;
mod plain;
pub mod scope;

pub use batch::Batch;
pub use catalog::{CatalogEntry, ToolCatalog};
pub use chain::{Before, CallChain};
pub use dispatcher::{DEFAULT_TOOL_TIMEOUT, Dispatcher, ToolResult};
pub use output::{CONTENT_LIMIT_BYTES, METADATA_LIMIT_BYTES};
pub use scope::{CallJournal, CallObserver, CallScope};
