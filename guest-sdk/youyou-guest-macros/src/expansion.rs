//! What the tests of the attributes see of an expansion.

use proc_macro2::TokenStream;

/// An attribute macro, as a function that can be tested.
pub(crate) type Expand = fn(TokenStream, TokenStream) -> syn::Result<TokenStream>;

/// Expands `source` and lists every error as `what it points at: message`.
pub(crate) fn errors(expand: Expand, attribute: &str, source: &str) -> Vec<String> {
    let attribute: TokenStream = attribute.parse().expect("tokens");
    let Err(error) = expand(attribute, source.parse().expect("tokens")) else { return Vec::new() };
    error.into_iter().map(|error| format!("{}: {error}", error.span().source_text().unwrap_or_default())).collect()
}

/// Expands `source`, which has one fault: `at` is where, `fix` is in what is said about it.
#[track_caller]
pub(crate) fn assert_one_error(expand: Expand, source: &str, at: &str, fix: &str) {
    let found = errors(expand, "", source);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with(&format!("{at}: ")), "{found:#?}");
    assert!(found[0].contains(fix), "{found:#?}");
}
