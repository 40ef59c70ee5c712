//! `#[tool]`: checks the function's signature, keeps the function, and adds the component's export beside it.
//!
//! Whether the types fit (arguments that can be read, an answer that can be given) is left to the compiler, which is
//! pointed at the right token by the spans used here.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, FnArg, ItemFn, Lit, Meta, PatType, ReturnType, Signature, Type, spanned::Spanned as _};

use crate::problems::{Problems, check_qualifiers, function};

const SHAPE: &str = "`fn name(args: Args) -> Result<String, ToolError>`";

/// Types that a beginner puts where the arguments struct belongs.
const NOT_A_STRUCT: &[&str] = &[
    "String", "bool", "char", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
    "f32", "f64", "Vec", "Option",
];

/// The function and what makes it a tool.
///
/// # Errors
/// Everything that is wrong with the signature, all at once, each at its own place.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let function: ItemFn = function(item, "tool", SHAPE)?;
    let mut problems = Problems::default();
    if !attribute.is_empty() {
        problems.add(
            attribute,
            "`#[tool]` takes nothing in brackets: the tool's name is the name of its folder, and its description for \
             the model is the text of its index.md",
        );
    }
    check_qualifiers(&function.sig, "a tool", SHAPE, &mut problems);
    check_parameters(&function.sig, &mut problems);
    check_return(&function.sig, &mut problems);
    problems.into_result()?;
    Ok(generate(&function))
}

fn check_parameters(signature: &Signature, problems: &mut Problems) {
    for (position, input) in signature.inputs.iter().enumerate() {
        match (position, input) {
            (_, FnArg::Receiver(receiver)) => problems.add(
                receiver,
                format!("`#[tool]` goes on a free function, every call of which starts anew; a method has no object here: {SHAPE}"),
            ),
            (0, FnArg::Typed(argument)) => check_arguments(argument, problems),
            (1, FnArg::Typed(argument)) if !matches!(&*argument.ty, Type::Reference(_)) => problems.add(
                argument,
                "the second parameter is the call's document, `input: &ToolInput`; a further argument belongs into \
                 the arguments struct, as a field",
            ),
            (1, FnArg::Typed(_)) => {}
            (_, FnArg::Typed(argument)) => problems.add(
                argument,
                "a tool has at most two parameters, `args: Args` and `input: &ToolInput`; a further argument belongs \
                 into the arguments struct, as a field",
            ),
        }
    }
}

fn check_arguments(argument: &PatType, problems: &mut Problems) {
    const STRUCT: &str = "a tool takes its arguments as one struct, with a field for each parameter: \
                          `#[args] struct Args { text: String }` and `args: Args`";
    match &*argument.ty {
        Type::Reference(reference) => {
            problems.add(reference, format!("the arguments are handed over by value; {STRUCT}"));
        }
        Type::ImplTrait(ty) => problems.add(ty, format!("the arguments need a concrete type; {STRUCT}")),
        Type::Path(path) => {
            if let Some(last) = path.path.segments.last()
                && path.path.segments.len() == 1
                && NOT_A_STRUCT.iter().any(|name| last.ident == name)
            {
                problems.add(path, STRUCT);
            }
        }
        _ => {}
    }
}

fn check_return(signature: &Signature, problems: &mut Problems) {
    if matches!(signature.output, ReturnType::Default) {
        problems.add(
            &signature.ident,
            "a tool answers with a text for the model: add `-> Result<String, ToolError>`, or `-> String` when it \
             cannot fail",
        );
    }
}

fn generate(function: &ItemFn) -> TokenStream {
    let name = &function.sig.ident;
    let description = description(function);
    let type_checks = type_checks(function);
    quote! {
        #function

        #type_checks

        /// What this tool's `index.md` should say; for a test that keeps the two in step.
        #[cfg(not(target_arch = "wasm32"))]
        #[allow(dead_code, unreachable_pub)]
        pub fn youyou_tool_spec() -> ::youyou_guest::ToolSpec {
            ::youyou_guest::ToolSpec::of(
                #name,
                ::core::env!("CARGO_PKG_NAME"),
                ::core::concat!(::core::env!("CARGO_CRATE_NAME"), ".wasm"),
                #description,
            )
        }

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct Tool;

            impl ::youyou_guest::__private::tool::Guest for Tool {
                fn run(
                    input: ::youyou_guest::__private::tool::ToolInput,
                ) -> ::core::result::Result<
                    ::youyou_guest::__private::tool::ToolOutput,
                    ::youyou_guest::__private::tool::GuestError,
                > {
                    ::youyou_guest::__private::tool::run(#name, input)
                }
            }

            ::youyou_guest::__private::tool::export_tool!(
                Tool with_types_in ::youyou_guest::__private::tool::bindings
            );
        };
    }
}

/// Names the argument and the return type where they stand, so that the compiler's error points there and not at the
/// attribute.
fn type_checks(function: &ItemFn) -> TokenStream {
    let mut checks = TokenStream::new();
    if let Some(FnArg::Typed(argument)) = function.sig.inputs.first() {
        let ty = &argument.ty;
        checks.extend(quote_spanned! {ty.span()=> ::youyou_guest::__private::check_arguments::<#ty>(); });
    }
    if let ReturnType::Type(_, ty) = &function.sig.output
        && !ty.to_token_stream().into_iter().any(|token| token.to_string() == "impl")
    {
        checks.extend(quote_spanned! {ty.span()=> ::youyou_guest::__private::check_answer::<#ty>(); });
    }
    quote_spanned! {Span::mixed_site()=>
        const _: fn() = || { #checks };
    }
}

/// The text of the function's doc comment.
fn description(function: &ItemFn) -> String {
    let lines = function.attrs.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> = lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
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
    fn every_allowed_signature_is_accepted() {
        for source in [
            "fn now() -> String { todo!() }",
            "fn shout(args: Args) -> String { todo!() }",
            "fn shout(Args { text }: Args) -> Result<String, ToolError> { todo!() }",
            "pub(crate) fn shout(args: args::Args, input: &ToolInput) -> Result<ToolOutput, Box<dyn Error>> { todo!() }",
            "fn shout(args: Args) -> impl Into<ToolOutput> { todo!() }",
            "fn shout(args: Map<String, Value>) -> String { todo!() }",
        ] {
            assert_eq!(errors("", source), Vec::<String>::new(), "{source}");
        }
    }

    #[test]
    fn an_async_function_is_refused_at_async() {
        assert_one_error("async fn shout(args: Args) -> String { todo!() }", "async", "remove `async`");
    }

    #[test]
    fn a_generic_function_is_refused_at_its_parameters() {
        assert_one_error("fn shout<T: Read>(args: Args) -> String { todo!() }", "T: Read", "concrete types");
        assert_one_error("fn shout(a: Args, i: &ToolInput) -> String where A: B { todo!() }", "where A: B", "remove");
    }

    #[test]
    fn a_method_is_refused_at_self() {
        assert_one_error("fn shout(&self, input: &ToolInput) -> String { todo!() }", "&self", "free function");
    }

    #[test]
    fn a_third_parameter_is_sent_into_the_struct() {
        assert_one_error(
            "fn shout(args: Args, input: &ToolInput, loud: bool) -> String { todo!() }",
            "loud: bool",
            "as a field",
        );
    }

    #[test]
    fn a_second_parameter_that_is_not_the_document_is_refused() {
        assert_one_error("fn add(a: Args, b: Args) -> String { todo!() }", "b: Args", "`input: &ToolInput`");
    }

    #[test]
    fn bare_values_instead_of_a_struct_are_refused() {
        assert_one_error("fn shout(text: String) -> String { todo!() }", "String", "#[args] struct Args");
        assert_one_error("fn shout(text: &str) -> String { todo!() }", "&str", "by value");
        assert_one_error("fn shout(text: impl Read) -> String { todo!() }", "impl Read", "concrete type");
    }

    #[test]
    fn a_missing_answer_is_refused_at_the_name() {
        assert_one_error("fn shout(args: Args) { todo!() }", "shout", "-> Result<String, ToolError>");
    }

    #[test]
    fn unsafe_and_extern_are_refused() {
        assert_one_error("unsafe fn shout(args: Args) -> String { todo!() }", "unsafe", "remove `unsafe`");
        assert_one_error("extern \"C\" fn shout(args: Args) -> String { todo!() }", "extern \"C\"", "remove `extern`");
    }

    #[test]
    fn other_items_are_refused_with_the_shape_of_a_tool() {
        assert_one_error("struct Shout;", "struct Shout;", "fn name(args: Args)");
    }

    #[test]
    fn arguments_of_the_attribute_are_refused() {
        let found = errors("name = \"x\"", "fn now() -> String { todo!() }");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("name = \"x\": `#[tool]` takes nothing in brackets"), "{found:#?}");
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let found = errors("x", "async fn shout<T>(a: String, b: u8, c: u8) { todo!() }");
        assert_eq!(found.len(), 7, "{found:#?}");
    }

    #[test]
    fn the_doc_comment_is_the_description() {
        let function: ItemFn =
            syn::parse_str("/// Shouts.\n///\n///   Loudly. \n#[inline]\nfn f() -> String { todo!() }")
                .expect("parses");
        assert_eq!(description(&function), "Shouts.\n\n  Loudly.");
    }
}
