//! A tool that misbehaves on request: `{"mode": "…"}` names what it does. It is a plugin too: its configuration is then
//! what the arguments are to the tool.
//!
//! It shows that the host survives guests and names the limit that stopped them. It is no example of a good tool, and
//! it speaks the bare WIT contract so that it does not depend on what the guest SDK does for an author.

#[cfg(target_arch = "wasm32")]
mod bindings {
    #![allow(missing_docs, reason = "generated from wit/")]

    wit_bindgen::generate!({
        path: "../../../wit",
        generate_all,
        inline: "
            package youyou:hostile;

            world hostile {
                import youyou:plugin/log@1.0.0;
                export youyou:plugin/tool@1.0.0;
                export youyou:plugin/before-tool-use@1.0.0;
                export youyou:plugin/after-tool-use@1.0.0;
            }
        ",
    });
}

#[cfg(target_arch = "wasm32")]
mod burn;
#[cfg(target_arch = "wasm32")]
mod hook;
#[cfg(target_arch = "wasm32")]
mod raw;
#[cfg(target_arch = "wasm32")]
mod reach;
#[cfg(target_arch = "wasm32")]
mod run;
