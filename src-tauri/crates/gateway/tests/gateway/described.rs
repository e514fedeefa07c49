//! Checks every answer that a test reads against the description of the API.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::world::Event;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(gateway::DOCUMENT).unwrap());

fn named(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Returns the schema of a route's answer. For a path without a route, returns the schema of the
/// server's own refusal.
fn schema_of(path: &str, status: u16) -> Value {
    let is_route = |route: &str| {
        let (mut asked, mut known) = (path.split('/'), route.split('/'));
        known.all(|part| asked.next().is_some_and(|own| own == part || part.starts_with('{')))
            && asked.next().is_none()
    };
    let Some((_, operations)) =
        DOCUMENT["paths"].as_object().unwrap().iter().find(|(route, _)| is_route(route))
    else {
        return named("ServerError");
    };
    // Each route is described for one method.
    let operation = operations.as_object().unwrap().values().next().unwrap();
    let answer = &operation["responses"][status.to_string()];
    assert!(answer.is_object(), "{path} is not described to answer {status}");
    answer["content"]["application/json"]["schema"].clone()
}

fn assert_fits(what: &str, schema: &Value, value: &Value) {
    let whole = json!({"allOf": [schema], "components": DOCUMENT["components"]});
    let validator = jsonschema::options().should_validate_formats(true).build(&whole).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{what} is as it is described: {faults:#?}\n{value}");
}

/// Asserts that a body matches the schema for its route and status.
pub(crate) fn assert_answer(path: &str, status: u16, body: &Value) {
    assert_fits(&format!("{path} with {status}"), &schema_of(path, status), body);
}

/// Asserts that an event's data matches the schema for its kind.
pub(crate) fn assert_event(event: &Event) {
    let name = event.name.as_str();
    let known = &DOCUMENT["components"]["schemas"]["Event"]["properties"]["event"]["enum"];
    assert!(known.as_array().unwrap().iter().any(|kind| kind == name), "{name} is an event");
    match name {
        "final" => assert_fits(name, &named("ChatResponse"), &event.data),
        "error" => assert_fits(name, &named("Error"), &event.data),
        _ => assert!(event.data.is_object(), "{event:?}"),
    }
}
