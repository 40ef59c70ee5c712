//! The attribute macros of `youyou-guest`: [`macro@tool`], [`macro@hook`] and [`macro@args`].
//!
//! They only rewrite tokens. What the generated code calls (decoding, the fake host, the component's export) lives in
//! `youyou-guest`, which also documents the attributes; this crate is not for use by itself.

mod args;
#[cfg(test)]
mod expansion;
mod hook;
mod problems;
mod tool;

use proc_macro::TokenStream;

/// Makes a function the tool of this component.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    finish(tool::expand(attribute.into(), item.clone()), item)
}

/// Makes a function the handler of an event.
#[proc_macro_attribute]
pub fn hook(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    finish(hook::expand(attribute.into(), item.clone()), item)
}

/// Makes a struct or an enum readable as a tool's arguments.
#[proc_macro_attribute]
pub fn args(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    finish(args::expand(attribute.into(), item.clone()), item)
}

/// With an error, the item stays as it was, so that the compiler does not also complain that it is missing.
fn finish(expanded: syn::Result<proc_macro2::TokenStream>, item: proc_macro2::TokenStream) -> TokenStream {
    match expanded {
        Ok(tokens) => tokens.into(),
        Err(error) => {
            let mut tokens = error.into_compile_error();
            tokens.extend(item);
            tokens.into()
        }
    }
}
