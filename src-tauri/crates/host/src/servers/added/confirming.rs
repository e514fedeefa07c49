//! Describes an added server for a person before it runs: the whole command, its folder, its
//! variables and choices. Keys are named but not shown. Starts no server.

use contract::SettingChange;

use super::{storage::StoredServer, variables::find_warning};
use crate::profile::Paths;

/// The word that is shown in place of a key.
const SECRET: &str = "secret";

/// Describes a new setting.
pub(crate) fn new_setting(setting: String, after: impl Into<String>) -> SettingChange {
    SettingChange { setting, before: String::new(), after: after.into(), note: None }
}

/// Returns the folder in which the program of an added server runs. Returns an empty text for an
/// address.
pub(crate) fn working_folder(stored: &StoredServer, paths: &Paths) -> String {
    let own = paths.pack_data(stored.pack_id().as_str());
    let folder = stored.cwd.clone().unwrap_or(own);
    if stored.is_program() { folder.display().to_string() } else { String::new() }
}

/// Describes a server for a person.
pub(crate) fn describe_server(stored: &StoredServer, paths: &Paths) -> Vec<SettingChange> {
    let at = format!("servers.{}", stored.name);
    let mut changes = vec![new_setting(at.clone(), stored.command_or_url())];
    let values = if stored.is_program() { "variables" } else { "headers" };
    if stored.is_program() {
        changes.push(new_setting(format!("{at}.folder"), working_folder(stored, paths)));
        changes.push(new_setting(format!("{at}.network"), stored.network.to_string()));
    }
    if !stored.enabled {
        changes.push(new_setting(format!("{at}.enabled"), "false"));
    }
    let plain = stored.env.iter().map(|(name, value)| (name, value.as_str()));
    for (name, value) in plain.chain(stored.keys.keys().map(|name| (name, SECRET))) {
        let note = find_warning(name).filter(|_| stored.is_program());
        changes.push(SettingChange { note, ..new_setting(format!("{at}.{values}.{name}"), value) });
    }
    changes
}
