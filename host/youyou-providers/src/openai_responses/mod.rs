//! The Responses API, OpenAI's newer one.
//!
//! Nothing is stored at the server: each request holds the whole conversation, and reasoning comes back encrypted.

mod request;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use self::{request::request, stream::Stream};
