//! Settings and keys of the profile behind the commands: which values may be stored, how changes
//! are recorded, and the data for the settings page. `profile` stores the settings and `keys` the
//! keys; this module must not know how they are stored.

use contract::*;
use engine::ports::{Events as _, Profile as _, RecordDraft, Tools as _};
use serde_json::json;

use crate::{
    host::Host,
    keys::{self, API_KEY, Destination, Entries},
    models::{FALLBACK_KEY, check_key_storable, entry_of, origin_of_key},
    packs::{apply_settings, check_changes},
};

/// The names of keys that the settings page may store.
const SECRETS: [&str; 2] = [API_KEY, FALLBACK_KEY];

impl Host {
    /// Checks that settings are valid for the profile and its packs.
    pub(crate) fn check_settings(&self, settings: &Settings) -> Result<(), AgentError> {
        self.profile.check_settings(settings)?;
        check_changes(&self.profile.stored_settings(), settings, &self.packs.tools)
    }

    /// Describes a key that is about to be stored, for a person's confirmation: its destination,
    /// but not the key itself.
    pub(crate) fn key_change(&self, name: &str) -> Result<SettingChange, AgentError> {
        self.key_change_under(name, &self.profile.settings())
    }

    /// Describes all changes that a person confirms before a model is connected: the request for
    /// the server's models, the settings, and the key.
    pub(crate) fn connection_changes(
        &self,
        params: &ModelConfirmParams,
    ) -> Result<Vec<SettingChange>, AgentError> {
        let ModelConfirmParams { settings, lists, key } = params;
        let mut changes = Vec::new();
        if *lists {
            let asked = ModelListParams {
                provider: settings.model.provider.clone(),
                base_url: settings.model.base_url.clone(),
                key: None,
            };
            changes.extend(self.models.listing_change(&asked)?);
        }
        changes.extend(self.profile.find_widening(settings).changes);
        if *key {
            changes.push(self.key_change_under(API_KEY, settings)?);
        }
        Ok(changes)
    }

    /// Describes a key that is stored for the servers of these settings.
    fn key_change_under(
        &self,
        name: &str,
        settings: &Settings,
    ) -> Result<SettingChange, AgentError> {
        check_key_storable(name, settings)?;
        self.check_destinations(name)?;
        self.entry_of(name)?;
        let origin =
            origin_of_key(name, settings).map(|origin| format!(" ({origin})")).unwrap_or_default();
        Ok(SettingChange {
            setting: "key".into(),
            before: String::new(),
            after: format!("{name}{origin}"),
            note: None,
        })
    }

    /// Checks that changed settings contain no keys, because settings are written to a file and to
    /// the log. A setting that already contains a key may still be changed.
    pub(crate) async fn check_no_keys(
        &self,
        before: &Settings,
        after: &Settings,
    ) -> Result<(), AgentError> {
        let (old, new) = (json!(before), json!(after));
        if self.engine.secrets.holds_secret(&old) {
            Ok(())
        } else {
            self.engine.secrets.check_keepable(&new).await
        }
    }

    pub(crate) fn push_settings(&self) {
        self.pushes
            .hub
            .push(Push::Settings { settings: Box::new((*self.profile.settings()).clone()) });
    }

    pub(crate) async fn settings_view(&self) -> SettingsView {
        let keyring = self.keyring_view().await;
        let stored = self.keys.keyring.set_names().await;
        let secrets_set = SECRETS
            .iter()
            .filter(|name| self.entry_of(name).is_ok_and(|entry| entry.is_among(&stored)))
            .map(|name| (*name).to_owned())
            .collect();
        SettingsView {
            settings: (*self.profile.settings()).clone(),
            forced: self.profile.overridden_settings(),
            keyring,
            secrets_set,
            credentials: self.packs.tools.credential_views().await,
            data_dir: self.profile.paths().data.display().to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            locale: self.profile.locale(),
        }
    }

    pub(crate) async fn keyring_view(&self) -> KeyringView {
        let state = self.keys.keyring.state().await;
        KeyringView {
            state,
            message: secrets::describe(state, &self.profile.locale()).message.to_owned(),
        }
    }

    /// Writes one record for each changed setting, with its old and new value. Sizes in the window
    /// are not recorded.
    pub(crate) async fn record_changes(
        &self,
        before: &Settings,
        after: &Settings,
    ) -> Result<(), AgentError> {
        let (old, new) = (json!(before), json!(after));
        let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return Ok(()) };
        for (name, value) in new {
            // Sizes allow nothing, and change with each key press or drag of an edge.
            if old.get(name) == Some(value) || matches!(name.as_str(), "zoom" | "column_widths") {
                continue;
            }
            let kind = if name == "agent_enabled" {
                RecordType::KillSwitch
            } else {
                RecordType::SettingChanged
            };
            let was = old.get(name).cloned().unwrap_or_default();
            self.record(
                RecordDraft::new(kind)
                    .field("setting", name.as_str())
                    .commit("before", was.to_string())
                    .commit("after", value.to_string()),
            )
            .await?;
        }
        Ok(())
    }

    /// Returns the keyring entries of a named key, for the currently configured servers.
    pub(crate) fn entry_of(&self, name: &str) -> Result<Entries, AgentError> {
        let entries = entry_of(name, &self.profile.settings()).or_else(|| {
            let (pack, variable) = name.split_once('/')?;
            let places = self.destinations_of(name);
            Entries::join(
                places
                    .iter()
                    .filter(|to| to.check_storable().is_ok())
                    .filter_map(|to| to.entries_for(keys::entry_name(pack, variable))),
            )
        });
        entries.ok_or_else(|| AgentError::invalid(text!("There is no key named {name}.", name)))
    }

    /// Returns the destinations of a pack's key, by its name on the settings page (`pack/NAME`).
    /// Empty if no pack declares the key.
    pub(crate) fn destinations_of(&self, name: &str) -> Vec<Destination> {
        let packs = self.packs.tools.loaded_packs();
        let keys = self.packs.tools.credential_keys(&packs, &|_| true).into_iter();
        keys.filter(|key| name.split_once('/') == Some((key.pack.view.id.as_str(), key.variable)))
            .map(|key| key.destination)
            .collect()
    }

    /// Checks that a pack's key can be stored. Fails if no destination may receive the key.
    fn check_destinations(&self, name: &str) -> Result<(), AgentError> {
        let found: Vec<Result<(), AgentError>> =
            self.destinations_of(name).iter().map(Destination::check_storable).collect();
        if found.iter().any(Result::is_ok) { Ok(()) } else { found.into_iter().collect() }
    }

    pub(crate) async fn store_secret(&self, params: SecretSetParams) -> Result<(), AgentError> {
        check_key_storable(&params.name, &self.profile.settings())?;
        self.check_destinations(&params.name)?;
        let entry = self.entry_of(&params.name)?;
        if params.value.trim().is_empty() {
            return Err(AgentError::invalid("The key is empty.")
                .hint("Paste the key, or delete the stored one."));
        }
        let value = params.value.trim().to_owned().into();
        if params.this_run_only {
            entry.set_for_this_run(&self.keys.keyring, &value);
        } else {
            entry.set(&self.keys.keyring, &value).await.map_err(AgentError::from)?;
        }
        self.record(
            RecordDraft::new(RecordType::SettingChanged)
                .field("setting", "secret")
                .field("name", params.name)
                .field("action", "stored")
                .field("this_run_only", params.this_run_only),
        )
        .await
    }

    /// Checks, stores and applies settings.
    pub(crate) async fn set_settings(
        &self,
        settings: Settings,
    ) -> Result<SettingsView, AgentError> {
        self.check_alarm()?;
        let before = self.profile.stored_settings();
        self.check_no_keys(&before, &settings).await?;
        self.check_settings(&settings)?;
        self.profile.write_settings(settings)?;
        apply_settings(&self.profile.settings(), &self.packs.tools);
        if before.packs != self.profile.stored_settings().packs {
            self.engine.analyses.forget();
        }
        self.record_changes(&before, &self.profile.stored_settings()).await?;
        self.drop_old_recordings().await;
        self.push_settings();
        Ok(self.settings_view().await)
    }

    /// Sets who may decide about writes, even if this is wider than before.
    pub(crate) async fn set_policy(&self, policy: PolicyMode) -> Result<(), AgentError> {
        self.check_alarm()?;
        let before = self.profile.stored_settings();
        self.profile.set_policy(policy)?;
        self.record_changes(&before, &self.profile.stored_settings()).await?;
        self.drop_old_recordings().await;
        self.push_settings();
        Ok(())
    }

    /// Sets whether terminals may decide.
    pub(crate) async fn set_terminal_decisions(&self, enabled: bool) -> Result<(), AgentError> {
        self.check_alarm()?;
        self.profile.set_terminal_decisions(enabled)?;
        self.record(
            RecordDraft::new(RecordType::SettingChanged)
                .field("setting", "decide_from_terminal")
                .field("enabled", enabled),
        )
        .await?;
        self.push_settings();
        Ok(())
    }

    /// Enables or disables a specialist, a tool or all tools.
    pub(crate) async fn set_switch(
        &self,
        params: SwitchSetParams,
    ) -> Result<SettingsView, AgentError> {
        self.check_alarm()?;
        self.engine.secrets.check_keepable(&json!(params.target)).await?;
        if self.profile.set_switch(&params.target, params.on, &self.packs.tools.specs())? {
            let (kind, id) = match &params.target {
                SwitchTarget::Agent(id) => ("agent", id.as_str()),
                SwitchTarget::Tool(id) => ("tool", id.as_str()),
            };
            self.record(
                RecordDraft::new(RecordType::KillSwitch).field(kind, id).field("on", params.on),
            )
            .await?;
            self.push_settings();
        }
        Ok(self.settings_view().await)
    }

    /// Deletes a key for each server for which the key was entered.
    pub(crate) async fn delete_secret(&self, name: &str) -> Result<(), AgentError> {
        match name.split_once('/').filter(|_| !self.destinations_of(name).is_empty()) {
            Some((pack, variable)) => self.keys.delete_pack_key(pack, variable).await?,
            None => {
                self.entry_of(name)?.delete(&self.keys.keyring).await.map_err(AgentError::from)?
            }
        }
        self.record(
            RecordDraft::new(RecordType::SettingChanged)
                .field("setting", "secret")
                .field("name", name)
                .field("action", "deleted"),
        )
        .await?;
        Ok(())
    }
}
