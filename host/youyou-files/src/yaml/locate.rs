//! Finds where a part of a YAML document stands, given its way from the top.
//!
//! The YAML crate tells places only with errors. So the document is read once more and the reading is made to fail at
//! the part that is asked for. Good files pay nothing for places; a bad one is read once more for each of its problems,
//! whose number is bounded.

use std::fmt;

use serde::de::{DeserializeSeed, EnumAccess, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Which part of the last step is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The key of a mapping's entry; for an item of a list the item.
    Key,
    /// The value.
    Value,
}

/// The offset in bytes of a part. Each step is the index of an entry or item; none at all means the document.
pub(crate) fn locate(yaml: &str, steps: &[usize], part: Part) -> Option<usize> {
    let walk = Walk { steps, part };
    let error = walk.deserialize(serde_yaml::Deserializer::from_str(yaml)).err()?;
    error.location().map(|location| location.index()).filter(|index| *index <= yaml.len())
}

#[derive(Clone, Copy)]
struct Walk<'s> {
    steps: &'s [usize],
    part: Part,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Every scalar fails: it is what was asked for, or the way ends here.
impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("here")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Err(E::custom("here"))
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<(), E> {
        Err(E::custom("here"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Some((step, steps)) = self.steps.split_first() else {
            return Err(A::Error::custom("here"));
        };
        for _ in 0..*step {
            items.next_element::<IgnoredAny>()?;
        }
        items.next_element_seed(Walk { steps, ..self })?;
        Err(A::Error::custom("here"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((step, steps)) = self.steps.split_first() else {
            return Err(A::Error::custom("here"));
        };
        for _ in 0..*step {
            map.next_entry::<IgnoredAny, IgnoredAny>()?;
        }
        if steps.is_empty() && self.part == Part::Key {
            map.next_key_seed(Walk { steps, ..self })?;
        } else if map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value_seed(Walk { steps, ..self })?;
        }
        Err(A::Error::custom("here"))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::custom("here"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_by_its_way() {
        let yaml = "a: 1\nlist:\n  - x\n  - {k: true, \"q\": ~}\nnone:\nflow: [1.5, [é, 2]]\n";
        let at =
            |steps: &[usize], part| locate(yaml, steps, part).map(|offset| yaml[offset..].chars().take(4).collect());
        let found = |text: &str| Some(text.to_owned());
        assert_eq!(at(&[], Part::Value), found("a: 1"));
        assert_eq!(at(&[0], Part::Key), found("a: 1"));
        assert_eq!(at(&[0], Part::Value), found("1\nli"));
        assert_eq!(at(&[1], Part::Key), found("list"));
        assert_eq!(at(&[1, 0], Part::Value), found("x\n  "));
        assert_eq!(at(&[1, 1], Part::Key), found("{k: "));
        assert_eq!(at(&[1, 1, 0], Part::Value), found("true"));
        assert_eq!(at(&[1, 1, 1], Part::Key), found("\"q\":"));
        assert_eq!(at(&[1, 1, 1], Part::Value), found("~}\nn"));
        assert_eq!(at(&[2], Part::Key), found("none"));
        assert_eq!(at(&[3, 1, 1], Part::Value), found("2]]\n"));
    }

    #[test]
    fn a_way_that_leads_nowhere_ends_at_what_is_nearest() {
        assert_eq!(locate("a: [1]\n", &[0, 0, 7], Part::Value), Some(4));
        assert!(locate("", &[3], Part::Key).is_some());
    }
}
