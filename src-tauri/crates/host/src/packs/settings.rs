//! Settings of packs: checks the user's values against the manifest's defaults and passes them to
//! the packs. Must not know the meaning of a value.

use contract::{AgentError, Settings, text};
use packs::{LoadedPack, Pack};
use serde_json::{Map, Value};

use super::tools::HostTools;

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
        .try_for_each(|pack| merge_settings(after, pack, tools).map(drop))
}

/// Passes each pack its settings. A pack that cannot use them gets its defaults; the errors are
/// returned.
pub(crate) fn apply_settings(settings: &Settings, tools: &HostTools) -> Vec<AgentError> {
    tools.refresh_overrides();
    let mut faults = Vec::new();
    for pack in usable_packs(&tools.loaded_packs()) {
        let values = merge_settings(settings, pack, tools).unwrap_or_else(|fault| {
            faults.push(fault);
            pack.manifest.settings.clone()
        });
        if let Some(open) = tools.services.service(pack.manifest.id.as_str())
            && let Err(fault) = open.service.configure(&values)
        {
            faults.push(add_setting_name(fault, pack));
        }
    }
    faults
}

/// Returns the user's values for a pack.
fn settings_of<'s>(settings: &'s Settings, pack: &Pack) -> Option<&'s Map<String, Value>> {
    settings.packs.get(pack.manifest.id.as_str()).map(|choice| &choice.settings)
}

fn usable_packs(packs: &[LoadedPack]) -> impl Iterator<Item = &Pack> {
    packs.iter().filter_map(|one| one.pack.as_ref())
}

/// Returns the pack's defaults overwritten by the user's values. Fails if the pack cannot use a
/// value.
fn merge_settings(
    settings: &Settings,
    pack: &Pack,
    tools: &HostTools,
) -> Result<Map<String, Value>, AgentError> {
    let id = &pack.manifest.id;
    let mut values = pack.manifest.settings.clone();
    for (name, value) in settings_of(settings, pack).into_iter().flatten() {
        let Some(default) = values.get_mut(name) else {
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
            return Err(add_setting_name(error.with("field", name.as_str()), pack));
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
        default.clone_from(value);
    }
    tools
        .services
        .check_settings(id.as_str(), &values)
        .map_err(|error| add_setting_name(error, pack))?;
    Ok(values)
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
