//! Rust types of the WIT contract, generated from wit/. Nothing but the rim uses them: see [`crate::convert`].
//!
//! One made-up world exports every interface of the contract, so that all of them share their types. No component has
//! to export them all: each interface is looked up by itself.

#![allow(missing_docs, unreachable_pub, dead_code, clippy::pedantic, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../../wit",
    inline: "
        package youyou:host;

        world every-interface {
            import youyou:plugin/log@1.0.0;
            export youyou:plugin/tool@1.0.0;
            export youyou:plugin/session-start@1.0.0;
            export youyou:plugin/session-end@1.0.0;
            export youyou:plugin/turn-start@1.0.0;
            export youyou:plugin/turn-end@1.0.0;
            export youyou:plugin/before-tool-use@1.0.0;
            export youyou:plugin/after-tool-use@1.0.0;
            export youyou:plugin/before-compact@1.0.0;
        }
    ",
    exports: { default: async },
});
