//! `#[args]`: the derives that a tool's arguments need, with the paths of the crates that youyou-guest brings along.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, Item, Meta, Path, Token, punctuated::Punctuated};

/// The item with `Deserialize` and `JsonSchema` derived.
///
/// # Errors
/// When it stands on something else than a struct or an enum, takes arguments, or repeats a derive.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(
            attribute,
            "`#[args]` takes nothing in brackets; serde's options go into a `#[serde(…)]` below it",
        ));
    }
    let parsed: Item = syn::parse2(item.clone())?;
    let attributes = match &parsed {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        other => {
            return Err(Error::new_spanned(
                other,
                "`#[args]` goes on a struct with a field for each parameter, or on an enum used by such a field",
            ));
        }
    };
    refuse_repeated_derives(attributes)?;
    Ok(quote! {
        #[derive(::youyou_guest::serde::Deserialize, ::youyou_guest::schemars::JsonSchema)]
        #[serde(crate = "::youyou_guest::serde")]
        #[schemars(crate = "::youyou_guest::schemars")]
        #item
    })
}

fn refuse_repeated_derives(attributes: &[Attribute]) -> syn::Result<()> {
    for attribute in attributes {
        let Meta::List(list) = &attribute.meta else { continue };
        if !list.path.is_ident("derive") {
            continue;
        }
        for path in list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)? {
            if path.segments.last().is_some_and(|last| last.ident == "Deserialize" || last.ident == "JsonSchema") {
                return Err(Error::new_spanned(
                    path,
                    "`#[args]` already derives `Deserialize` and `JsonSchema`: remove one of the two",
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(attribute: &str, source: &str) -> String {
        let error = expand(attribute.parse().expect("tokens"), source.parse().expect("tokens")).expect_err("refused");
        format!("{}: {error}", error.span().source_text().unwrap_or_default())
    }

    #[test]
    fn structs_and_enums_keep_their_own_attributes() {
        for source in ["#[derive(Debug)] struct Args { #[serde(default)] text: String }", "enum Unit { A, B }"] {
            let tokens = expand(TokenStream::new(), source.parse().expect("tokens")).expect("accepted").to_string();
            let item: TokenStream = source.parse().expect("tokens");
            assert!(tokens.ends_with(&item.to_string()), "{tokens}");
        }
    }

    #[test]
    fn functions_are_refused() {
        assert!(error("", "fn f() {}").starts_with("fn f() {}: `#[args]` goes on a struct"));
    }

    #[test]
    fn a_repeated_derive_is_refused_where_it_stands() {
        let found = error("", "#[derive(Debug, serde::Deserialize)] struct Args;");
        assert!(found.starts_with("serde::Deserialize: "), "{found}");
        assert!(found.contains("remove one"), "{found}");
    }

    #[test]
    fn arguments_of_the_attribute_are_refused() {
        assert!(error("default", "struct Args;").starts_with("default: `#[args]` takes nothing"));
    }
}
