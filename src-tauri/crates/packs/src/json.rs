//! Parses JSON and finds names that occur twice in an object, which other parsers silently drop.

use std::{collections::HashSet, fmt};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Returns the value, and the JSON pointers of members that occur twice.
pub(crate) fn parse(text: &str) -> Result<(Value, Vec<String>), serde_json::Error> {
    let value: Value = serde_json::from_str(text)?;
    let mut doubles = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    DuplicateFinder { place: None, found: &mut doubles }.deserialize(&mut reader)?;
    Ok((value, doubles))
}

/// The place of a value, as steps from the value up to the whole. Its pointer is made only for a
/// member that occurs twice.
#[derive(Clone, Copy)]
struct Place<'a> {
    within: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        let above = self.within.map(Place::pointer).unwrap_or_default();
        match self.step {
            Step::Member(name) => crate::fault::join(&above, name),
            Step::Item(index) => format!("{above}/{index}"),
        }
    }
}

struct DuplicateFinder<'a> {
    /// The place of the value. None for the whole.
    place: Option<&'a Place<'a>>,
    found: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for DuplicateFinder<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DuplicateFinder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        for index in 0.. {
            let place = Place { within: self.place, step: Step::Item(index) };
            let item = DuplicateFinder { place: Some(&place), found: &mut *self.found };
            if seq.next_element_seed(item)?.is_none() {
                break;
            }
        }
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = map.next_key_seed(Name)? {
            let place = Place { within: self.place, step: Step::Member(&name) };
            if seen.contains(&name) {
                self.found.push(place.pointer());
            }
            map.next_value_seed(DuplicateFinder { place: Some(&place), found: &mut *self.found })?;
            seen.insert(name);
        }
        Ok(())
    }
}

struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<String, D::Error> {
        String::deserialize(reader)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_duplicate_json_member_is_found_at_any_depth() {
        let (_, doubles) = super::parse(r#"{"a":[{"b":1,"b":2}],"c/d":{},"c/d":null}"#).unwrap();
        assert_eq!(doubles, ["/a/0/b", "/c~1d"]);
    }
}
