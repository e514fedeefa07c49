//! Checks aliases of members.

use serde_json::{Map, Value};

use crate::{
    fault::{Faults, join},
    subject::{Subject, text},
};

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    for (at, tool) in subject.tools() {
        check_arguments(subject, &at, tool, faults);
    }
}

fn check_arguments(subject: &Subject<'_>, at: &str, tool: &Value, faults: &mut Faults) {
    let Some(aliases) = tool.pointer("/aliases/arguments").and_then(Value::as_object) else {
        return;
    };
    let at = format!("{at}/aliases/arguments");
    if let Some(kind) = text(tool, "kind").filter(|kind| *kind != "mcp_server") {
        faults.at(
            &at,
            format!("the arguments of kind `{kind}` have their names from the tool itself"),
            "name them where the call is described",
        );
        return;
    }
    let parameters = subject.parameters(tool).unwrap_or_default();
    for name in aliases.keys().filter(|name| !parameters.contains(&name.as_str())) {
        faults.at(
            join(&at, name),
            format!("the input schema has no parameter `{name}`"),
            "add it to the schema or correct the name",
        );
    }
    for (name, sent) in aliases {
        let mut others = parameters.iter().filter(|other| **other != name.as_str());
        if others.any(|other| Some(sent_name(aliases, other)) == sent.as_str()) {
            faults.at(
                join(&at, name),
                format!("`{name}` would be sent under the name of another parameter"),
                "give each parameter its own name",
            );
        }
    }
}

fn sent_name<'a>(aliases: &'a Map<String, Value>, name: &'a str) -> &'a str {
    aliases.get(name).and_then(Value::as_str).unwrap_or(name)
}
