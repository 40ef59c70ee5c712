//! The component host: runs tools and hook handlers that are WebAssembly components.

pub mod grants;
