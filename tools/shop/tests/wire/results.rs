//! Tests of the shop's results, in full and without optional members, because other shops leave out
//! members that the manifest does not require.

use serde_json::{Value, json};
use shop::{Options, Shop};

pub(crate) fn file(name: &str) -> String {
    std::fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub(crate) fn manifest() -> Value {
    serde_json::from_str(&file("pack.json")).unwrap()
}

/// Makes the pack's texts available to a template as `t`, as the host does. `tag` is the expression
/// for the language. The template needs the function `catalogue`.
pub(crate) fn with_words(tag: &str, template: &str) -> String {
    let texts = |tag: &str| -> Value {
        serde_json::from_str(&file(&format!("messages/{tag}.json"))).unwrap()
    };
    let words: Value = json!({"en": texts("en"), "sv": texts("sv")});
    format!("{{% set t = catalogue({tag}, {words}) %}}{template}")
}

fn call(shop: &Shop, tool: &str, arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else { return Value::Null };
    shop.call(tool, &arguments).unwrap()
}

fn shop() -> Shop {
    Shop::open(Options::default()).unwrap()
}

pub(crate) fn product() -> Value {
    call(&shop(), "product.get", json!({"productId": 1001}))
}

pub(crate) fn found() -> Value {
    call(&shop(), "product.search", json!({"query": "shoes", "pageSize": 3}))
}

pub(crate) fn changed() -> Value {
    let (shop, part) = (
        shop(),
        product()["variants"]
            .as_array()
            .unwrap()
            .iter()
            .find(|variant| variant["isBuyable"] == true)
            .unwrap()["partNo"]
            .clone(),
    );
    call(&shop, "cart.addItem", json!({"partNo": part, "quantity": 1, "clientIp": "127.0.0.1"}))
}

pub(crate) fn cart() -> Value {
    changed()["basket"].clone()
}

/// Calls `look` with a value as it is, then without each optional member of its schema, then
/// without all of them.
pub(crate) fn with_less(schema: &str, value: &Value, mut look: impl FnMut(&Value, &str)) {
    let manifest = manifest();
    let schema = &manifest["schemas"][schema];
    look(value, "in full");
    let mut all = Vec::new();
    optional(schema, value, &mut Vec::new(), &mut all);
    assert!(!all.is_empty());
    let mut bare = value.clone();
    for path in &all {
        let mut less = value.clone();
        remove(&mut less, path);
        remove(&mut bare, path);
        look(&less, &format!("without {}", path.join("/")));
    }
    look(&bare, "without all that is optional");
}

/// Returns the paths of optional members; `*` stands for every element of a list.
fn optional(schema: &Value, value: &Value, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let mut step = |name: &str, schema: &Value, value: &Value, may_be_missing: bool| {
        at.push(name.to_owned());
        if may_be_missing && !found.contains(at) {
            found.push(at.clone());
        }
        optional(schema, value, at, found);
        at.pop();
    };
    match value {
        Value::Object(members) => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for (name, value) in members {
                step(name, &schema["properties"][name], value, !required.contains(&json!(name)));
            }
        }
        Value::Array(list) => {
            list.iter().for_each(|value| step("*", &schema["items"], value, false))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn remove(value: &mut Value, path: &[String]) {
    match (path, value) {
        ([last], Value::Object(members)) => drop(members.remove(last)),
        ([_, rest @ ..], Value::Array(list)) => {
            list.iter_mut().for_each(|value| remove(value, rest))
        }
        ([name, rest @ ..], Value::Object(members)) => {
            members.get_mut(name).into_iter().for_each(|value| remove(value, rest))
        }
        _ => {}
    }
}
