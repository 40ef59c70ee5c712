//! Google's Gemini API.
//!
//! Calls come whole, and need no id. What a model that thinks wants back hangs on single parts, most often on a call;
//! here it is a piece of reasoning in front of that part.

mod request;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use self::{request::request, stream::Stream};
