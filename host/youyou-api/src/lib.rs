//! The vocabulary of YouYou and the ports its parts meet at.
//!
//! Every other crate of the host speaks in these types; this one depends on none of them. It does no I/O, starts no
//! task and knows neither scripts nor components.
//!
//! Read in this order: [`ids`] (what things are called), [`error`] (the one error type that crosses every border),
//! [`tool`] and [`call`] (a tool call, its port and what surrounds it), [`message`] and [`provider`] (the conversation
//! and the port to models), [`event`] (what a host is told), [`skill`], [`hook`] and [`hook_rules`] (payloads, outcomes
//! and what each event allows), [`plugin`] (who handles hooks), [`record`], [`storage`] and [`memory`] (what is kept, and the
//! ports to what keeps it), [`source`] (where a definition comes from).

pub mod call;
pub mod error;
pub mod event;
pub mod hook;
pub mod hook_rules;
pub mod ids;
pub mod memory;
pub mod message;
pub mod plugin;
pub mod provider;
pub mod record;
pub mod skill;
pub mod source;
pub mod storage;
pub mod tool;

pub use call::{CallContext, CallStats, CancellationToken};
pub use error::{Error, ErrorCode, ErrorSource};
pub use event::{AgentEvent, AgentEventKind, CompactionMethod, TurnStatus};
pub use hook::{HookEvent, HookOutcome, HookPayload, HookRun};
pub use ids::{CallId, MemoryId, ModelId, PluginId, ProviderId, SessionId, ToolName, TurnId};
pub use memory::{Memory, MemoryDraft, MemoryStorage, Namespace, Upserted};
pub use message::{
    AssistantPart, AttachmentSource, CallResult, FilePart, ImageFormat, ImagePart, Message, Part, UserMessage,
};
pub use plugin::{HookHandler, OnFailure, Plugin, PluginInfo, Tap, Taps};
pub use provider::{
    Capabilities, ChatEvent, ChatRequest, ChatStream, ModelInfo, ModelProvider, ProviderError, ProviderErrorKind,
    ReasoningEffort, Sampling, StopReason, Usage,
};
pub use record::{
    AssistantRecord, Compaction, MessageStatus, Metadata, NewRecord, OpaqueRecord, Remembered, RenamedCall,
    SessionEvent, SessionRecord, SystemRecord, ToolResultRecord, UserRecord,
};
pub use skill::Skill;
pub use source::SourceLabel;
pub use storage::{
    Durability, Fork, NewSession, OpenSession, Page, PageCursor, SessionLog, SessionQuery, SessionStorage,
    SessionSummary, Skipped, StoredSession,
};
pub use tool::{BoxFuture, ToolCall, ToolFailure, ToolHandler, ToolInput, ToolOutput, ToolSpec};
