//! Rust types of the WIT contract, generated from wit/. Nothing but the rim uses them: see [`crate::convert`].

#![allow(missing_docs, unreachable_pub, clippy::pedantic, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "youyou:plugin/tool-plugin",
    exports: { default: async },
});
