//! `#[hook]`: checks the function's signature, keeps the function, and adds the export of its event beside it.
//!
//! The event is the name of the payload's type; whether that type is the SDK's is left to the compiler.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Error, FnArg, Ident, ItemFn, PatType, ReturnType, Signature, Type, spanned::Spanned as _};

use crate::problems::{Problems, check_qualifiers, function};

const SHAPE: &str = "`fn name(payload: BeforeToolUse) -> HookOutcome<BeforeToolUse>`";

/// Each event, and the module of its world.
const EVENTS: [(&str, &str); 7] = [
    ("SessionStart", "session_start"),
    ("SessionEnd", "session_end"),
    ("TurnStart", "turn_start"),
    ("TurnEnd", "turn_end"),
    ("BeforeToolUse", "before_tool_use"),
    ("AfterToolUse", "after_tool_use"),
    ("BeforeCompact", "before_compact"),
];

/// The function and what makes it a handler.
///
/// # Errors
/// Everything that is wrong with the signature, all at once, each at its own place.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let function: ItemFn = function(item, "hook", SHAPE)?;
    let mut problems = Problems::default();
    if !attribute.is_empty() {
        problems.add(
            attribute,
            "`#[hook]` takes nothing in brackets: the type of the payload names the event, and index.md says the rest",
        );
    }
    check_qualifiers(&function.sig, "a handler", SHAPE, &mut problems);
    let event = event(&function.sig, &mut problems);
    problems.into_result()?;
    // Without an event there was a problem.
    event.map(|event| generate(&function, &event)).ok_or_else(|| Error::new_spanned(&function.sig, SHAPE))
}

/// What a handler takes.
struct Handled<'a> {
    payload: &'a Type,
    event: &'a Ident,
    module: Ident,
}

fn event<'a>(signature: &'a Signature, problems: &mut Problems) -> Option<Handled<'a>> {
    let mut inputs = signature.inputs.iter();
    let Some(first) = inputs.next() else {
        problems.add(&signature.ident, format!("a handler takes the payload, whose type names the event: {SHAPE}"));
        return None;
    };
    for further in inputs {
        problems.add(
            further,
            "a handler takes the payload and nothing else: what else it needs stands in the payload, or in \
             `payload.config()`",
        );
    }
    match first {
        FnArg::Receiver(receiver) => {
            problems.add(receiver, format!("`#[hook]` goes on a free function; a method has no object here: {SHAPE}"));
            None
        }
        FnArg::Typed(payload) => payload_type(payload, problems),
    }
}

fn payload_type<'a>(payload: &'a PatType, problems: &mut Problems) -> Option<Handled<'a>> {
    let known = || EVENTS.map(|(event, _)| event).join(", ");
    match &*payload.ty {
        Type::Path(path) => {
            let last = &path.path.segments.last()?.ident;
            if let Some((_, module)) = EVENTS.iter().find(|(event, _)| last == event) {
                return Some(Handled { payload: &payload.ty, event: last, module: format_ident!("{module}") });
            }
            problems.add(
                path,
                format!(
                    "`{last}` is no event: the payload's type is one of {}, under that name, from \
                     `youyou_guest::plugin`",
                    known()
                ),
            );
        }
        Type::Reference(reference) => {
            problems.add(reference, format!("the payload is handed over by value, without `&`: {SHAPE}"));
        }
        other => problems.add(other, format!("the payload's type is one of {}: {SHAPE}", known())),
    }
    None
}

fn generate(function: &ItemFn, handled: &Handled<'_>) -> TokenStream {
    let name = &function.sig.ident;
    let Handled { payload, event, module } = handled;
    let type_checks = type_checks(function, payload);
    let only_one = Ident::new(&format!("only_one_hook_for_{event}_put_both_into_one_function"), event.span());
    quote! {
        #[cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]
        #function

        #type_checks

        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        struct #only_one;

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct Plugin;

            impl ::youyou_guest::__private::hook::#module::Guest for Plugin {
                fn handle(
                    payload: ::youyou_guest::__private::hook::#module::Payload,
                ) -> ::core::result::Result<
                    ::youyou_guest::__private::hook::#module::HookOutcome,
                    ::youyou_guest::__private::hook::#module::GuestError,
                > {
                    ::youyou_guest::__private::hook::#module::handle(#name, payload)
                }
            }

            ::youyou_guest::__private::hook::#module::export!(
                Plugin with_types_in ::youyou_guest::__private::hook::#module::bindings
            );
        };
    }
}

/// Names the payload and the return type where they stand, so that the compiler's error points there and not at the
/// attribute.
fn type_checks(function: &ItemFn, payload: &Type) -> TokenStream {
    let mut checks = quote_spanned! {payload.span()=> ::youyou_guest::__private::check_event::<#payload>(); };
    if let ReturnType::Type(_, ty) = &function.sig.output
        && !ty.to_token_stream().into_iter().any(|token| token.to_string() == "impl")
    {
        checks.extend(quote_spanned! {ty.span()=> ::youyou_guest::__private::check_outcome::<#payload, #ty>(); });
    }
    quote_spanned! {Span::mixed_site()=>
        const _: fn() = || { #checks };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion;

    fn errors(attribute: &str, source: &str) -> Vec<String> {
        expansion::errors(expand, attribute, source)
    }

    #[track_caller]
    fn assert_one_error(source: &str, at: &str, fix: &str) {
        expansion::assert_one_error(expand, source, at, fix);
    }

    #[test]
    fn every_event_is_accepted_by_its_own_name() {
        for (event, module) in EVENTS {
            let source = format!("fn f(payload: plugin::{event}) -> Result<(), HookError> {{ todo!() }}");
            let tokens = expand(TokenStream::new(), source.parse().expect("tokens")).expect("accepted").to_string();
            assert!(tokens.contains(&format!("hook :: {module} :: handle")), "{tokens}");
            assert!(tokens.contains(&format!("only_one_hook_for_{event}_put_both")), "{tokens}");
        }
        assert_eq!(errors("", "fn f(_: TurnEnd) {}"), Vec::<String>::new());
    }

    #[test]
    fn another_type_is_refused_with_the_events_there_are() {
        assert_one_error("fn f(payload: String) {}", "String", "one of SessionStart, SessionEnd");
        assert_one_error("fn f(payload: &TurnEnd) {}", "&TurnEnd", "without `&`");
        assert_one_error("fn f((a, b): (A, B)) {}", "(A, B)", "one of SessionStart");
    }

    #[test]
    fn a_handler_takes_one_payload() {
        assert_one_error("fn f() {}", "f", "takes the payload");
        assert_one_error("fn f(payload: TurnEnd, config: Config) {}", "config: Config", "`payload.config()`");
        assert_one_error("fn f(&self) {}", "&self", "free function");
    }

    #[test]
    fn qualifiers_are_refused_as_for_a_tool() {
        assert_one_error("async fn f(payload: TurnEnd) {}", "async", "remove `async`");
        assert_one_error("fn f<T>(payload: TurnEnd) {}", "T", "concrete types");
        assert_one_error("struct Guard;", "struct Guard;", "fn name(payload");
        assert!(errors("BeforeToolUse", "fn f(payload: TurnEnd) {}")[0].contains("takes nothing in brackets"));
    }
}
