//! A tool that misbehaves on request: `{"mode": "…"}` names what it does.
//!
//! It shows that the host survives guests and names the limit that stopped them. It is no example of a good tool, and
//! it speaks the bare WIT contract so that it does not depend on what the guest SDK does for an author.

#[cfg(target_arch = "wasm32")]
mod bindings {
    #![allow(missing_docs, reason = "generated from wit/")]

    wit_bindgen::generate!({ path: "../../../wit", world: "tool-plugin" });
}

#[cfg(target_arch = "wasm32")]
mod burn;
#[cfg(target_arch = "wasm32")]
mod raw;
#[cfg(target_arch = "wasm32")]
mod reach;
#[cfg(target_arch = "wasm32")]
mod run;
