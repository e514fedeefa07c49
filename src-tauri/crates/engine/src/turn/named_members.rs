//! Finds the members that a schema of arguments names, including its alternatives, parts,
//! conditions and references. Values are not examined.

use serde_json::Value;

/// The most parts of a schema that are examined.
const MOST_PARTS: usize = 200;

/// The parts of a schema that describe the same object.
pub(crate) struct NamedMembers<'a> {
    whole: &'a Value,
    parts: Vec<&'a Value>,
}

impl<'a> NamedMembers<'a> {
    pub(crate) fn of(whole: &'a Value) -> Self {
        let mut open = vec![whole];
        let mut parts: Vec<&'a Value> = Vec::new();
        while let Some(part) = open.pop() {
            let is_known = parts.iter().any(|known| std::ptr::eq(*known, part));
            if is_known || parts.len() == MOST_PARTS {
                continue;
            }
            parts.push(part);
            open.extend(parts_of(whole, part));
        }
        Self { whole, parts }
    }

    /// Returns the declarations of a member, one for each part that names it.
    pub(crate) fn declared(&self, name: &str) -> Vec<&'a Value> {
        self.parts.iter().filter_map(|part| part.get("properties")?.get(name)).collect()
    }

    /// Whether the schema itself names the member, and not only one of its parts.
    pub(crate) fn is_property_of_whole(&self, name: &str) -> bool {
        self.whole.get("properties").is_some_and(|own| own.get(name).is_some())
    }

    /// Whether the schema names no members, or explicitly accepts other members.
    pub(crate) fn is_open(&self) -> bool {
        let accepts = |part: &&Value| {
            let others = ["additionalProperties", "unevaluatedProperties"];
            part.get("patternProperties").is_some()
                || others.iter().any(|word| part.get(word).is_some_and(|said| said != false))
        };
        self.parts.iter().all(|part| part.get("properties").is_none())
            || self.parts.iter().any(accepts)
    }
}

/// Returns the schemas that describe the same object as `part`.
fn parts_of<'a>(whole: &'a Value, part: &'a Value) -> impl Iterator<Item = &'a Value> {
    let lists = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|word| part.get(word)?.as_array())
        .flatten();
    let single = ["if", "then", "else"].into_iter().filter_map(|word| part.get(word));
    let dependent = ["dependentSchemas", "dependencies"]
        .into_iter()
        .filter_map(|word| part.get(word)?.as_object())
        .flat_map(serde_json::Map::values);
    let target = ["$ref", "$dynamicRef"]
        .into_iter()
        .filter_map(|word| part.get(word)?.as_str())
        .filter_map(|place| whole.pointer(place.strip_prefix('#')?));
    lists.chain(single).chain(dependent).chain(target)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_declared_in_schema_alternatives_conditions_and_references_are_known() {
        let schema = json!({"type": "object", "properties": {"kind": {"type": "string"}},
            "oneOf": [{"$ref": "#/$defs/Page"}, {"properties": {"database": {"type": "integer"}}}],
            "if": {"properties": {"kind": {"const": "x"}}}, "then": {"properties": {"x": {}}},
            "dependentSchemas": {"kind": {"properties": {"also": {}}}},
            "$defs": {"Page": {"properties": {"page": {"type": "string"}}, "allOf": [{"$ref": "#/$defs/Page"}]}}});
        let members = NamedMembers::of(&schema);
        for name in ["kind", "page", "database", "x", "also"] {
            assert!(!members.declared(name).is_empty(), "{name}");
        }
        assert!(members.declared("other").is_empty() && !members.is_open());
        assert!(members.is_property_of_whole("kind") && !members.is_property_of_whole("page"));
        for open in [
            json!({"type": "object"}),
            json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
            json!({"properties": {"a": {}}, "patternProperties": {"^x": {}}}),
        ] {
            assert!(NamedMembers::of(&open).is_open(), "{open}");
        }
    }
}
