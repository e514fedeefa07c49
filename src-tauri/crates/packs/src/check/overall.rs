//! Checks that each intent that an `overall` member names exists in a tool of the pack.

use serde_json::Value;

use crate::{
    fault::Faults,
    subject::{Subject, list, text},
};

pub(super) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    let tools = || list(subject.manifest.pointer("/tools/tools"));
    let has_intent = |tool: &str, intent: &str| {
        tools().filter(|one| text(one, "id") == Some(tool)).any(|one| {
            list(one.pointer("/offline/intents")).any(|known| text(known, "name") == Some(intent))
        })
    };
    for (index, tool) in tools().enumerate() {
        for (at, intent) in list(tool.pointer("/offline/intents")).enumerate() {
            let member =
                |name: &str| intent.pointer(&format!("/overall/{name}")).and_then(Value::as_str);
            let (Some(tool), Some(wanted)) = (member("tool"), member("intent")) else { continue };
            if !has_intent(tool, wanted) {
                faults.at(
                    format!("/tools/tools/{index}/offline/intents/{at}/overall"),
                    format!("the tool `{tool}` has no intent `{wanted}`"),
                    "name an intent of a tool of this pack",
                );
            }
        }
    }
}
