//! For authors of YouYou tools and plugins: a plain Rust function becomes a WebAssembly component that the runtime can
//! call.
//!
//! ```
//! use youyou_guest::{args, tool};
//!
//! #[args]
//! struct Args {
//!     /// Text to shout.
//!     text: String,
//! }
//!
//! /// Shouts a text.
//! #[tool]
//! fn shout(args: Args) -> String {
//!     args.text.to_uppercase()
//! }
//! # fn main() {
//! # assert_eq!(youyou_guest::testing::call(shout, r#"{"text":"hi"}"#).content(), "HI");
//! # }
//! ```
//!
//! In a crate of type `cdylib` that is the whole tool. Built for `wasm32-wasip2` it is a component that answers the
//! world `youyou:plugin/tool-plugin`; built natively it is an ordinary function with ordinary tests, see [`testing`].
//! The folder's `index.md` names the component and describes its parameters to the model; [`ToolSpec`] keeps it in
//! step with the code.
//!
//! This crate sees only the contract in `wit/`, never the host's code. It opens no files and no connections: a tool
//! uses `std::fs`, `std::env` and so on, and gets what its `index.md` was granted.
//!
//! Read in this order: [`tool`](macro@tool) and [`args`](macro@args) (the two attributes), [`ToolInput`] and
//! [`ToolOutput`] (the documents of a call), [`ToolError`] (how a tool fails), [`hook`](macro@hook) and [`plugin`] (the
//! same for plugins), [`log`] (lines for the host's log), [`testing`] (a tool or a handler without a host).

// The macros write this crate's name into what they make; its own tests use them too.
#[cfg(test)]
extern crate self as youyou_guest;

mod answer;
mod call;
#[cfg(target_arch = "wasm32")]
mod component;
mod document;
mod error;
#[cfg(not(target_arch = "wasm32"))]
mod index_md;
pub mod log;
#[cfg(any(target_arch = "wasm32", test))]
mod panic;
#[cfg(not(target_arch = "wasm32"))]
mod parameters;
pub mod plugin;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use answer::Answer;
pub use call::{Handler, NoArgs};
pub use document::{ToolInput, ToolOutput};
pub use error::{GuestError, ToolError};
#[cfg(not(target_arch = "wasm32"))]
pub use index_md::ToolSpec;
/// Builds a JSON value in place, for metadata and for arguments in tests.
pub use serde_json::json;
pub use {schemars, serde, serde_json};

/// Makes a struct readable as a tool's arguments, with one field for each parameter; or an enum or struct that such a
/// field uses.
///
/// It stands for `#[derive(serde::Deserialize, schemars::JsonSchema)]` without a dependency on the two crates; their
/// own attributes work as usual. Who has both crates may write the derives instead.
///
/// Doc comments on fields become the descriptions that the model reads. An `Option` or a field with
/// `#[serde(default)]` is a parameter that may be missing. Fields that the struct does not have are ignored.
///
/// ```
/// use youyou_guest::args;
///
/// #[args]
/// struct Args {
///     /// City to look up.
///     city: String,
///     /// Unit of the answer.
///     #[serde(default)]
///     unit: Unit,
///     /// How many days ahead.
///     days: Option<u8>,
/// }
///
/// #[args]
/// #[derive(Default)]
/// #[serde(rename_all = "lowercase")]
/// enum Unit {
///     #[default]
///     Celsius,
///     Fahrenheit,
/// }
/// # fn main() {}
/// ```
pub use youyou_guest_macros::args;

/// Makes a function the tool of this component. There is one in a crate.
///
/// The function takes nothing, its arguments, or its arguments and the whole document:
///
/// ```
/// # use youyou_guest::{args, tool, ToolError, ToolInput};
/// # #[args]
/// # struct Args { path: String }
/// #[tool]
/// fn count_lines(args: Args, input: &ToolInput) -> Result<String, ToolError> {
///     youyou_guest::log::debug!("call {} reads {}", input.call_id, args.path);
///     let text = std::fs::read_to_string(&args.path).map_err(|error| format!("cannot read {}: {error}", args.path))?;
///     Ok(format!("{} lines", text.lines().count()))
/// }
/// # fn main() {}
/// ```
///
/// The arguments are any type that has `Deserialize` and `JsonSchema`, most shortly one with [`args`](macro@args).
/// The answer is anything that is an [`Answer`]: a text, a [`ToolOutput`] with metadata, or a `Result` of these, whose
/// error is a [`ToolError`] or converts into one.
///
/// Beside the function it makes `youyou_tool_spec()`, a [`ToolSpec`], natively only.
pub use youyou_guest_macros::tool;

/// Makes a function the handler of an event. There is one for each event in a crate; together they are the plugin.
///
/// The function takes the payload, whose type names the event, and answers with a [`HookOutcome`](plugin::HookOutcome) of
/// it, with nothing, or with a `Result` of one of these:
///
/// ```
/// use youyou_guest::{hook, plugin::{AfterToolUse, HookOutcome, TurnEnd}};
///
/// /// Hides a key from the model.
/// #[hook]
/// fn hide(payload: AfterToolUse) -> HookOutcome<AfterToolUse> {
///     HookOutcome::continue_with().output(payload.output.replace("s3cr3t", "…"))
/// }
///
/// #[hook]
/// fn note(payload: TurnEnd) -> Result<(), std::io::Error> {
///     std::fs::write("last.txt", payload.assistant_output)
/// }
/// # fn main() {
/// # use youyou_guest::{json, testing};
/// # let payload = AfterToolUse { output: "key s3cr3t".into(), ..Default::default() };
/// # assert_eq!(testing::ask(hide, payload).changes(), json!({"output": "key …"}));
/// # }
/// ```
///
/// A component exports the handlers of these events and no others, and its `index.md` lists the same under `hooks`. Two
/// handlers of one event do not compile:
///
/// ```compile_fail,E0428
/// use youyou_guest::{hook, plugin::TurnEnd};
///
/// #[hook]
/// fn one(_: TurnEnd) {}
///
/// #[hook]
/// fn two(_: TurnEnd) {}
/// # fn main() {}
/// ```
pub use youyou_guest_macros::hook;

/// The tutorial's code compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// What the macros' output calls. Not for use by hand, and free to change.
#[doc(hidden)]
pub mod __private {
    use crate::{
        Answer,
        call::Arguments,
        plugin::{Event, HookAnswer},
    };

    #[cfg(target_arch = "wasm32")]
    pub use crate::component::{hook, tool};

    pub const fn check_arguments<A: Arguments>() {}
    pub const fn check_answer<R: Answer>() {}
    pub const fn check_event<E: Event>() {}
    pub const fn check_outcome<E: Event, R: HookAnswer<E>>() {}
}
