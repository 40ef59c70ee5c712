//! Chat Completions: OpenAI's older API, and the one that most other servers imitate, each in its own way.
//!
//! What servers are seen to do, and is put up with: roles and contents that are null; a `function_call` beside the
//! `tool_calls` that repeats them; ids and names in every piece of a call; a call without a number, or several with the
//! same; the finish reason in a chunk of its own, or together with a call; arguments that are empty or an object; usage
//! before, in or after the last chunk; no `[DONE]`.

mod call_ids;
mod request;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    request::{KEYS, data_url, effort_word, request, short},
    stream::Stream,
};
