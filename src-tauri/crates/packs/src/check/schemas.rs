//! Checks that the pack's JSON Schemas are valid and refer only to schemas of the pack.

use serde_json::Value;

use crate::{
    fault::{Faults, join},
    refs,
    subject::Subject,
};

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    let Some(schemas) = subject.manifest.get("schemas").and_then(Value::as_object) else { return };
    let owned = schemas.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    let mut whole = true;
    for (name, schema) in schemas {
        let pointer = join("/schemas", name);
        if refs::name_of(&format!("{}{name}", refs::PREFIX)).is_none() {
            faults.at(
                &pointer,
                format!("the name `{name}` cannot be referred to"),
                "use letters, digits and underscores only",
            );
        }
        let mut found = Vec::new();
        refs::references(schema, &pointer, &mut found);
        for (at, reference) in found {
            whole &= reference_leads_somewhere(subject, &at, &reference, faults);
        }
        if let Err(error) = jsonschema::meta::validate(schema) {
            whole = false;
            let at = format!("{pointer}{}", error.instance_path().as_str());
            faults.at(
                at,
                format!("this is not a valid JSON Schema: {error}"),
                "correct the schema (draft 2020-12)",
            );
        }
    }
    // A schema is compiled only if each part is valid. Otherwise an invalid part would be reported
    // for every schema that uses it.
    if whole {
        schemas
            .keys()
            .for_each(|name| check_compiles(&owned, name, &join("/schemas", name), faults));
    }
}

fn reference_leads_somewhere(
    subject: &Subject<'_>,
    at: &str,
    reference: &str,
    faults: &mut Faults,
) -> bool {
    let Some(name) = refs::name_of(reference) else {
        faults.at(
            at,
            format!("`{reference}` is not of the form `#/schemas/Name`"),
            "move what it means under `schemas` and refer to it there",
        );
        return false;
    };
    let there = subject.manifest.get("schemas").is_some_and(|s| s.get(name).is_some());
    if !there {
        faults.at(at, format!("`schemas` has no `{name}`"), "add the schema or correct the name");
    }
    there
}

/// Compiles a schema, which also checks its patterns.
fn check_compiles(
    schemas: &std::collections::BTreeMap<String, Value>,
    name: &str,
    pointer: &str,
    faults: &mut Faults,
) {
    let Some(bundled) = refs::bundle(schemas, name) else {
        faults.at(pointer, "the schema only refers to itself", "describe the value");
        return;
    };
    if let Err(error) = jsonschema::options().offline().build(&bundled) {
        faults.at(
            pointer,
            format!("this JSON Schema cannot be used: {error}"),
            "correct the schema (draft 2020-12)",
        );
    }
}
