//! Anthropic's Messages API.

mod request;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use self::{request::request, stream::Stream};
