//! Settings of packs: what the user set instead of a manifest's defaults, checked against it and handed to the pack.
//! It must not know what a value means: that is the pack's own to say.

use contract::{AgentError, Settings};
use packs::Pack;
use serde_json::{Map, Value};

use crate::tools::HostTools;

/// Refuses values that a pack cannot use. Only what is new is looked at, so that one wrong value never keeps the others
/// from being saved; a pack that is not there keeps what it had.
pub(crate) fn check(before: &Settings, after: &Settings, tools: &HostTools) -> Result<(), AgentError> {
    let changed = |pack: &&Pack| set(before, pack) != set(after, pack);
    usable(tools).filter(changed).try_for_each(|pack| checked(after, pack, tools).map(drop))
}

/// Hands every pack its settings. What cannot be used is told, and the pack gets its defaults instead.
pub(crate) fn apply(settings: &Settings, tools: &HostTools) -> Vec<AgentError> {
    tools.look_elsewhere();
    let mut faults = Vec::new();
    for pack in usable(tools) {
        let values = checked(settings, pack, tools).unwrap_or_else(|fault| {
            faults.push(fault);
            pack.manifest.settings.clone()
        });
        if let Some(open) = tools.services.of(pack.manifest.id.as_str())
            && let Err(fault) = open.service.configure(&values)
        {
            faults.push(named(fault, pack));
        }
    }
    faults
}

/// What the user set for a pack.
fn set<'s>(settings: &'s Settings, pack: &Pack) -> Option<&'s Map<String, Value>> {
    settings.packs.get(pack.manifest.id.as_str()).map(|choice| &choice.settings)
}

fn usable(tools: &HostTools) -> impl Iterator<Item = &Pack> {
    tools.loaded().iter().filter_map(|one| one.pack.as_ref())
}

/// The defaults of a pack with what is set instead, if the pack can use all of it.
fn checked(settings: &Settings, pack: &Pack, tools: &HostTools) -> Result<Map<String, Value>, AgentError> {
    let id = &pack.manifest.id;
    let mut values = pack.manifest.settings.clone();
    for (name, value) in set(settings, pack).into_iter().flatten() {
        let Some(default) = values.get_mut(name) else {
            let known = pack.manifest.settings.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let hint = if known.is_empty() { "It has none at all.".to_owned() } else { format!("Its settings are {known}.") };
            let error = AgentError::invalid(format!("The pack {id} has no setting {name}.")).reason("setting_unknown").hint(hint);
            return Err(named(error.with("field", name.as_str()), pack));
        };
        if std::mem::discriminant(default) != std::mem::discriminant(value) {
            let error = AgentError::invalid(format!("The setting {name} of the pack {id} must be {}.", kind(default))).reason("setting_kind");
            return Err(named(error.with("kind", kind(default)).with("field", name.as_str()), pack));
        }
        default.clone_from(value);
    }
    tools.services.check_settings(id.as_str(), &values).map_err(|error| named(error, pack))?;
    Ok(values)
}

/// The error with the pack's setting as the place: `field` is dotted as in the settings file.
fn named(error: AgentError, pack: &Pack) -> AgentError {
    let name = error.details.get("field").and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = pack.manifest.id.as_str();
    error.with("field", format!("packs.{id}.settings.{name}")).with("pack", id).with("setting", name)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}
