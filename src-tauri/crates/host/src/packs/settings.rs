//! Settings of packs: checks the user's values against the manifest's defaults. Must not know the
//! meaning of a value.

use contract::{AgentError, Settings, text};
use packs::{LoadedPack, Pack};
use serde_json::{Map, Value};

use super::tools::HostTools;

/// The detail of a fault with the names of the settings that a pack has.
const KNOWN: &str = "known";

/// Checks that each pack can use its changed values. Unchanged values are not checked, so that one
/// invalid value does not prevent other changes. Values of a missing pack are kept.
pub(crate) fn check_changes(
    before: &Settings,
    after: &Settings,
    tools: &HostTools,
) -> Result<(), AgentError> {
    let changed = |pack: &&Pack| settings_of(before, pack) != settings_of(after, pack);
    usable_packs(&tools.loaded_packs())
        .filter(changed)
        .try_for_each(|pack| check_values(after, pack))
}

/// Makes new settings count. Returns the errors of values that packs cannot use.
pub(crate) fn apply_settings(settings: &Settings, tools: &HostTools) -> Vec<AgentError> {
    tools.refresh_overrides();
    let packs = tools.loaded_packs();
    usable_packs(&packs).filter_map(|pack| check_values(settings, pack).err()).collect()
}

/// Returns the user's values for a pack.
fn settings_of<'s>(settings: &'s Settings, pack: &Pack) -> Option<&'s Map<String, Value>> {
    settings.packs.get(pack.manifest.id.as_str()).map(|choice| &choice.settings)
}

fn usable_packs(packs: &[LoadedPack]) -> impl Iterator<Item = &Pack> {
    packs.iter().filter_map(|one| one.pack.as_ref())
}

/// Fails if the pack cannot use a value of the user.
fn check_values(settings: &Settings, pack: &Pack) -> Result<(), AgentError> {
    let id = &pack.manifest.id;
    for (name, value) in settings_of(settings, pack).into_iter().flatten() {
        let Some(default) = pack.manifest.settings.get(name) else {
            let known =
                pack.manifest.settings.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let hint = if known.is_empty() {
                "It has none at all.".into()
            } else {
                text!("Its settings are {known}.", known)
            };
            let error =
                AgentError::invalid(text!("The pack {id} has no setting {name}.", id, name))
                    .reason("setting_unknown")
                    .hint(hint);
            let names: Vec<&str> = pack.manifest.settings.keys().map(String::as_str).collect();
            return Err(add_setting_name(
                error.with("field", name.as_str()).with(KNOWN, names),
                pack,
            ));
        };
        if std::mem::discriminant(default) != std::mem::discriminant(value) {
            let error = AgentError::invalid(text!(
                "The setting {name} of the pack {id} must be {kind}.",
                name,
                id,
                kind = kind_of(default)
            ))
            .reason("setting_kind");
            return Err(add_setting_name(
                error.with("kind", kind_of(default)).with("field", name.as_str()),
                pack,
            ));
        }
    }
    Ok(())
}

/// Whether a fault is a value of a setting that its pack does not have, such as one that an earlier version had.
pub(crate) fn is_unknown_setting(fault: &AgentError) -> bool {
    fault.details.contains_key(KNOWN)
}

/// Adds the dotted name of the setting in the settings file to an error.
fn add_setting_name(error: AgentError, pack: &Pack) -> AgentError {
    let name = error.details.get("field").and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = pack.manifest.id.as_str();
    error
        .with("field", format!("packs.{id}.settings.{name}"))
        .with("pack", id)
        .with("setting", name)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}
