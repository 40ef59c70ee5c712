//! What both function attributes check alike, and the collection of what is wrong.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Error, ItemFn, Safety, Signature};

/// Collects errors, so that an author sees all of them in one compile.
#[derive(Default)]
pub(crate) struct Problems(Option<Error>);

impl Problems {
    pub(crate) fn add(&mut self, at: impl ToTokens, message: impl AsRef<str>) {
        let error = Error::new_spanned(at, message.as_ref());
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn into_result(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

/// The item as a function.
///
/// # Errors
/// When it is another item, with the shape that is expected.
pub(crate) fn function(item: TokenStream, attribute: &str, shape: &str) -> syn::Result<ItemFn> {
    syn::parse2(item.clone()).map_err(|error| match syn::parse2::<syn::Item>(item) {
        Ok(syn::Item::Fn(_)) | Err(_) => error,
        Ok(other) => Error::new_spanned(other, format!("`#[{attribute}]` goes on a function: {shape}")),
    })
}

/// Refuses what no exported function can be. `what` is the author's function: "a tool".
pub(crate) fn check_qualifiers(signature: &Signature, what: &str, shape: &str, problems: &mut Problems) {
    if let Some(token) = &signature.asyncness {
        problems.add(token, format!("{what} answers before it returns: remove `async`, and block on what it awaits"));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        problems.add(token, format!("the host can call {what} at any time: remove `unsafe` from the function"));
    }
    if let Some(abi) = &signature.abi {
        problems.add(abi, "the attribute writes the exported function itself: remove `extern`");
    }
    if !signature.generics.params.is_empty() {
        problems.add(
            &signature.generics.params,
            format!("the host calls {what} with one document, so it cannot be generic: write the concrete types"),
        );
    } else if let Some(clause) = &signature.generics.where_clause {
        problems.add(clause, format!("{what} cannot be generic: remove the `where` clause"));
    }
    if let Some(variadic) = &signature.variadic {
        problems.add(variadic, format!("{what} takes one value: {shape}"));
    }
}
