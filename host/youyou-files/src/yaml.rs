//! YAML with places: the front matter as a tree, where each part of it stands, and what its errors mean.
//!
//! The YAML crate gives values or one error with its place. Here are the few things around it that a good message needs;
//! what the keys mean is not known here.

mod compose;
mod explain;
mod locate;
mod node;
mod simple;

pub(crate) use compose::{ComposeError, Composed, Remark, compose};
pub(crate) use explain::explain;
pub(crate) use locate::{Part, locate};
pub(crate) use node::{Node, quoted};
