//! Reads YAML text into a [`Node`], within a budget, and remarks on what YAML passes over in silence.
//!
//! Two things are legal to the parser and yet a mistake: a key that is given twice, and a plain text that a ` #` cuts
//! short. Both are noted with their place. Places come for free: the parser hands out most texts as slices of its input.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, EnumAccess, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{node::Node, simple};

/// Values in one document, aliases counted as what they stand for. No front matter of legal size has as many without
/// aliases, so going past it means that aliases multiply.
const MOST_VALUES: usize = 65_536;
/// Bytes of text in one document, counted the same way.
const MOST_TEXT: usize = 256 * 1024;

/// A document and what is to remark about it, in the order of the file.
#[derive(Debug)]
pub(crate) struct Composed<'a> {
    pub(crate) root: Node<'a>,
    pub(crate) remarks: Vec<Remark>,
}

/// Something that the parser accepts without a word. Offsets are in bytes of the YAML text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Remark {
    /// A text ends at a comment on its line; `comment` is the offset of the `#`.
    Cut { key: String, comment: usize },
    /// A key stands twice in one mapping. An offset is unknown where the key is written with escapes.
    Twice { key: String, first: Option<usize>, second: Option<usize> },
}

/// Why a text is no document.
#[derive(Debug)]
pub(crate) enum ComposeError {
    /// The parser refused it.
    Syntax(serde_yaml::Error),
    /// It went past the budget.
    TooMuch,
    /// It holds a tag such as `!secret`, at this offset.
    Tagged(Option<usize>),
    /// A key is a list, a mapping or empty, at this offset.
    KeyNotText(Option<usize>),
}

/// Reads one document. An empty one is [`Node::Null`].
pub(crate) fn compose(yaml: &str) -> Result<Composed<'_>, ComposeError> {
    match simple::read(yaml) {
        Some(composed) => Ok(composed),
        None => compose_with_crate(yaml),
    }
}

/// The same without the quick way for simple texts.
pub(super) fn compose_with_crate(yaml: &str) -> Result<Composed<'_>, ComposeError> {
    let mut state = State { yaml, values_left: MOST_VALUES, text_left: MOST_TEXT, remarks: Vec::new(), stopped: None };
    let seed = Compose { state: &mut state, key: "", key_end: None };
    match seed.deserialize(serde_yaml::Deserializer::from_str(yaml)) {
        Ok(root) => Ok(Composed { root, remarks: state.remarks }),
        Err(error) => {
            let offset = error.location().map(|location| location.index());
            Err(match state.stopped {
                None => ComposeError::Syntax(error),
                Some(Stop::TooMuch) => ComposeError::TooMuch,
                Some(Stop::Tagged) => ComposeError::Tagged(offset),
                Some(Stop::KeyNotText) => ComposeError::KeyNotText(offset),
            })
        }
    }
}

/// Why this side, not the parser, ended the reading.
#[derive(Debug, Clone, Copy)]
enum Stop {
    TooMuch,
    Tagged,
    KeyNotText,
}

struct State<'de> {
    yaml: &'de str,
    values_left: usize,
    text_left: usize,
    remarks: Vec<Remark>,
    stopped: Option<Stop>,
}

impl<'de> State<'de> {
    fn stop<E: serde::de::Error>(&mut self, why: Stop) -> E {
        self.stopped = Some(why);
        E::custom("stopped")
    }

    fn spend<E: serde::de::Error>(&mut self, text: usize) -> Result<(), E> {
        match (self.values_left.checked_sub(1), self.text_left.checked_sub(text)) {
            (Some(values_left), Some(text_left)) => {
                (self.values_left, self.text_left) = (values_left, text_left);
                Ok(())
            }
            _ => Err(self.stop(Stop::TooMuch)),
        }
    }

    /// Where a text that the parser handed out stands in the input.
    fn offset_of(&self, slice: &str) -> Option<usize> {
        let start = (slice.as_ptr() as usize).checked_sub(self.yaml.as_ptr() as usize)?;
        (start + slice.len() <= self.yaml.len()).then_some(start)
    }

    /// Remarks on a text that ends at `end` if nothing but a comment follows on its line. After a quoted text stands a
    /// quote, so only plain ones are found.
    fn remark_cut(&mut self, key: &str, end: usize) {
        let rest = &self.yaml.as_bytes()[end..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if blanks == 0 || rest.get(blanks) != Some(&b'#') {
            return;
        }
        let comment = end + blanks;
        let known = |remark: &Remark| matches!(remark, Remark::Cut { comment: other, .. } if *other == comment);
        if !self.remarks.iter().any(known) {
            self.remarks.push(Remark::Cut { key: key.to_owned(), comment });
        }
    }

    /// Where a plain text that may run over several lines ends, given where its key ends.
    fn end_of_plain(&self, key_end: usize, value: &str) -> Option<usize> {
        let after_key = self.yaml.get(key_end..)?;
        let mut rest = after_key.trim_start().strip_prefix(':')?;
        for word in value.split_whitespace() {
            rest = rest.trim_start().strip_prefix(word)?;
        }
        Some(self.yaml.len() - rest.len())
    }

    fn remark_twice(&mut self, entries: &[(Cow<'de, str>, Node<'de>)]) {
        let mut order = (0..entries.len()).collect::<Vec<_>>();
        order.sort_by(|a, b| entries[*a].0.cmp(&entries[*b].0));
        for same in order.chunk_by(|a, b| entries[*a].0 == entries[*b].0) {
            for second in &same[1..] {
                let place = |index: usize| match &entries[index].0 {
                    Cow::Borrowed(key) => self.offset_of(key),
                    Cow::Owned(_) => None,
                };
                let (first, second) = (place(same[0]), place(*second));
                self.remarks.push(Remark::Twice { key: entries[same[0]].0.to_string(), first, second });
            }
        }
    }
}

/// Reads one value; `key` is the nearest key above it, `key_end` where that ends if the value belongs right to it.
struct Compose<'s, 'de> {
    state: &'s mut State<'de>,
    key: &'s str,
    key_end: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Compose<'_, 'de> {
    type Value = Node<'de>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Node<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Compose<'_, 'de> {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Node<'de>, E> {
        self.state.spend(0)?;
        Ok(Node::Null)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Node<'de>, E> {
        self.visit_unit()
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Node<'de>, E> {
        self.state.spend(0)?;
        Ok(Node::Bool(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Node<'de>, E> {
        self.state.spend(0)?;
        Ok(Node::Number(value.into()))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Node<'de>, E> {
        self.state.spend(0)?;
        Ok(Node::Number(value.into()))
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Node<'de>, E> {
        self.state.spend(0)?;
        Ok(Node::OddNumber(value.to_string()))
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Node<'de>, E> {
        self.state.spend(0)?;
        Ok(Node::OddNumber(value.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node<'de>, E> {
        self.state.spend(0)?;
        Ok(Number::from_f64(value).map_or_else(|| Node::OddNumber(value.to_string()), Node::Number))
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, value: &'de str) -> Result<Node<'de>, E> {
        self.state.spend(value.len())?;
        if let Some(start) = self.state.offset_of(value) {
            self.state.remark_cut(self.key, start + value.len());
        }
        Ok(Node::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Node<'de>, E> {
        self.state.spend(value.len())?;
        if let Some(end) = self.key_end.and_then(|key_end| self.state.end_of_plain(key_end, value)) {
            self.state.remark_cut(self.key, end);
        }
        Ok(Node::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node<'de>, A::Error> {
        self.state.spend(0)?;
        let mut list = Vec::new();
        while let Some(item) =
            items.next_element_seed(Compose { state: &mut *self.state, key: self.key, key_end: None })?
        {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node<'de>, A::Error> {
        self.state.spend(0)?;
        let mut entries = Vec::new();
        while let Some(key) = map.next_key_seed(ComposeKey { state: &mut *self.state })? {
            let key_end = match &key {
                Cow::Borrowed(text) => self.state.offset_of(text).map(|start| start + text.len()),
                Cow::Owned(_) => None,
            };
            let value = map.next_value_seed(Compose { state: &mut *self.state, key: &key, key_end })?;
            entries.push((key, value));
        }
        self.state.remark_twice(&entries);
        Ok(Node::Map(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Node<'de>, A::Error> {
        Err(self.state.stop(Stop::Tagged))
    }
}

/// Reads one key. A number or a boolean is taken as the text that it most likely was.
struct ComposeKey<'s, 'de> {
    state: &'s mut State<'de>,
}

impl<'de> DeserializeSeed<'de> for ComposeKey<'_, 'de> {
    type Value = Cow<'de, str>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ComposeKey<'_, 'de> {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, value: &'de str) -> Result<Self::Value, E> {
        self.state.spend(value.len())?;
        Ok(Cow::Borrowed(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Self::Value, E> {
        self.state.spend(value.len())?;
        Ok(Cow::Owned(value.to_owned()))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Self::Value, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Self::Value, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Self::Value, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Self::Value, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Self::Value, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Err(self.state.stop(Stop::KeyNotText))
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Err(self.state.stop(Stop::KeyNotText))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(self.state.stop(Stop::KeyNotText))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(self.state.stop(Stop::KeyNotText))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(self.state.stop(Stop::Tagged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(yaml: &str) -> Vec<(String, &str)> {
        let remarks = compose(yaml).expect(yaml).remarks;
        let cut = |remark| match remark {
            Remark::Cut { key, comment } => Some((key, yaml[comment..].lines().next().unwrap_or_default())),
            Remark::Twice { .. } => None,
        };
        remarks.into_iter().filter_map(cut).collect()
    }

    #[test]
    fn a_document_keeps_its_order_and_its_kinds() {
        let yaml = "z: 1\na: [x, 2.5, true, ~, -3]\nm: {k: v}\n";
        let text = |text| Node::Text(Cow::Borrowed(text));
        let number = |value: i64| Node::Number(value.into());
        let list = vec![
            text("x"),
            Node::Number(Number::from_f64(2.5).expect("finite")),
            Node::Bool(true),
            Node::Null,
            number(-3),
        ];
        assert_eq!(
            compose(yaml).expect("composes").root,
            Node::Map(vec![
                ("z".into(), Node::Number(1u64.into())),
                ("a".into(), Node::List(list)),
                ("m".into(), Node::Map(vec![("k".into(), text("v"))])),
            ])
        );
        assert_eq!(compose("# nothing\n").expect("composes").root, Node::Null);
    }

    /// K-41: wherever a plain text is cut by a comment, it is seen.
    #[test]
    fn a_text_that_a_comment_cuts_is_remarked_on() {
        let found = |key: &str, comment| vec![(key.to_owned(), comment)];
        assert_eq!(cuts("description: fix issue #12\n"), found("description", "#12"));
        assert_eq!(cuts("a:\n  - b: fix issue\t#12"), found("b", "#12"));
        assert_eq!(cuts("args:\n  - one #two\n"), found("args", "#two"));
        assert_eq!(cuts("description:\n  Fixes the\n  issue #12\nnext: 1\n"), found("description", "#12"));
        assert_eq!(cuts("description: ä ö #12\r\n"), found("description", "#12"));
    }

    /// K-41: and nothing else is.
    #[test]
    fn a_text_that_holds_a_hash_is_not_remarked_on() {
        for whole in [
            "d: 'fix issue #12'\n",
            "d: \"fix issue #12\"\n",
            "d: fix issue#12\n",
            "d: >\n  fix issue #12\n",
            "d: |\n  fix issue #12\n",
            "d: 'quoted' # note\n",
            "n: 5000 # ms\n",
            "d: text\n# note\n",
            "d: text\n  # note\n",
            "d: [a, b] # note\n",
            "d: \"two\n  lines #12\"\n",
            "d:\n  two\n  lines\n# note\n",
        ] {
            assert_eq!(cuts(whole), [], "{whole}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_remarked_on_with_both_places() {
        let yaml = "a: 1\nm: {b: 1, c: 2, b: 3}\n\"a\": 2\n";
        let twice = |key: &str, first, second| Remark::Twice { key: key.to_owned(), first, second };
        assert_eq!(
            compose(yaml).expect("composes").remarks,
            [twice("b", yaml.find("b:"), yaml.rfind("b:")), twice("a", Some(0), yaml.rfind("a\""))]
        );
    }

    /// K-43: by nodes, by text, and by an alias to itself.
    #[test]
    fn aliases_that_multiply_are_stopped() {
        let mut by_nodes = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for i in 1..8 {
            let again = format!("*a{}, ", i - 1).repeat(10);
            by_nodes.push_str(&format!("a{i}: &a{i} [{again}]\n"));
        }
        assert!(matches!(compose(&by_nodes), Err(ComposeError::TooMuch)));
        let by_text = format!("a: &a {}\nb: [{}]\n", "x".repeat(10_000), "*a, ".repeat(100));
        assert!(matches!(compose(&by_text), Err(ComposeError::TooMuch)));
        assert!(matches!(compose("a: &a [*a, *a]\n"), Err(ComposeError::Syntax(_))));
    }

    #[test]
    fn tags_and_keys_that_are_no_text_are_refused_with_their_place() {
        assert!(matches!(compose("a: 1\nb: !secret x\n"), Err(ComposeError::Tagged(Some(8)))));
        assert!(matches!(compose("a: 1\n[x]: 2\n"), Err(ComposeError::KeyNotText(Some(5)))));
        assert!(matches!(compose("a: 1\n~: 2\n"), Err(ComposeError::KeyNotText(Some(5)))));
    }
}
