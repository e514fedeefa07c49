//! The settings and rules of a profile: applies overrides from the environment, stores changes, and
//! provides the settings to the engine. `reading` reads and checks the settings.

use std::{collections::BTreeMap, io, sync::Arc};

use chrono::{DateTime, Utc};
use contract::{
    AgentError, PolicyMode, PolicyView, PriceTable, PricesView, Settings, SwitchTarget, ToolSpec,
    text,
};
use engine::{
    ports::{Profile, SessionValues},
    sha256_hex,
};
use models::Api;
use parking_lot::{Mutex, RwLock};
use policy::Rules;
use serde_json::json;

use super::{
    paths::{Paths, Stamp, keep_unreadable, read_stamp, write_atomically},
    prices::Prices,
    reading::{check_settings, read_settings},
    user::user_name,
    widening::{self, Widening},
};

/// Returns why the settings in a data folder cannot be used, without opening the profile.
pub fn settings_fault(paths: &Paths) -> Option<AgentError> {
    read_settings(paths).1
}

/// The current settings, rules and prices of a profile.
pub(crate) struct LiveProfile {
    paths: Paths,
    state: RwLock<State>,
    /// The rules, with the stamp of their file at the time of reading.
    rules: Mutex<(Stamp, Arc<Rules>)>,
    prices: Prices,
    env: Environment,
    /// The lock that is held while new settings are compared with the current settings and written.
    changing: tokio::sync::Mutex<()>,
}

struct State {
    /// The stored settings.
    stored: Settings,
    /// The stored settings after the overrides from the environment are applied.
    effective: Arc<Settings>,
    fault: Option<AgentError>,
}

/// The overrides from the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) agent_enabled: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) model: Option<String>,
    /// The variable that chooses an OpenAI-compatible server instead of the offline model.
    pub(crate) chooses: Option<&'static str>,
    pub(crate) language: String,
    pub(crate) time_zone: String,
    /// The name of the user that runs this process.
    pub(crate) person: Option<String>,
}

impl Environment {
    /// Reads the environment. `may_choose` says whether its variables may choose a model server.
    pub(crate) fn read_environment(may_choose: bool) -> Self {
        Self::read_with(may_choose, |name| std::env::var(name).ok())
    }

    fn read_with(may_choose: bool, read: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| read(name).filter(|value| !value.trim().is_empty());
        let language = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .iter()
            .find_map(|name| variable(name))
            .unwrap_or_default();
        let time_zone = variable("TZ")
            .filter(|zone| zone.parse::<chrono_tz::Tz>().is_ok())
            .or_else(|| iana_time_zone::get_timezone().ok());
        // A model name alone does not choose a server, because OpenAI's server would not answer
        // without its key.
        let chooses = if variable("OPENAI_BASE_URL").is_some() {
            Some("OPENAI_BASE_URL")
        } else {
            variable("OPENAI_MODEL")
                .and_then(|_| variable(Api::Chat.key_variable()))
                .map(|_| "OPENAI_MODEL")
        };
        Self {
            chooses: chooses.filter(|_| may_choose),
            agent_enabled: variable("AGENT_ENABLED"),
            base_url: variable("OPENAI_BASE_URL"),
            model: variable("OPENAI_MODEL"),
            language,
            time_zone: time_zone.unwrap_or_else(|| "UTC".into()),
            person: user_name(),
        }
    }

    /// Returns the variable that chooses the provider instead of these stored settings.
    fn overriding_variable(&self, stored: &Settings) -> Option<&'static str> {
        self.chooses.filter(|_| stored.model.provider == "offline")
    }

    fn is_agent_forced_off(&self) -> bool {
        self.agent_enabled.as_deref().is_some_and(|value| {
            !matches!(value.trim().to_ascii_lowercase().as_str(), "true" | "1")
        })
    }
}

impl LiveProfile {
    pub(crate) fn read_profile(paths: Paths, env: Environment) -> Self {
        let (stored, fault) = read_settings(&paths);
        let rules = Mutex::new((read_stamp(&paths.rules()), Arc::new(read_rules(&paths))));
        let effective = Arc::new(apply_overrides(stored.clone(), &env));
        let prices = Prices::new(paths.prices());
        let state = RwLock::new(State { stored, effective, fault });
        Self { paths, state, rules, prices, env, changing: tokio::sync::Mutex::default() }
    }

    pub(crate) fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Waits until nobody else changes settings. No other settings can change until the returned
    /// guard is dropped.
    pub(crate) async fn lock_changes(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    pub(crate) fn stored_settings(&self) -> Settings {
        self.state.read().stored.clone()
    }

    /// Returns the overridden settings, by dotted name.
    pub(crate) fn overridden_settings(&self) -> BTreeMap<String, String> {
        let mut forced = BTreeMap::new();
        if self.env.is_agent_forced_off() {
            forced.insert("agent_enabled".into(), "AGENT_ENABLED".into());
        }
        if let Some(variable) = self.env.overriding_variable(&self.stored_settings()) {
            forced.insert("model.provider".into(), variable.into());
        }
        if self.env.base_url.is_some() && uses_openai_variables(&self.settings()) {
            forced.insert("model.base_url".into(), "OPENAI_BASE_URL".into());
        }
        if self.env.model.is_some() && uses_openai_variables(&self.settings()) {
            forced.insert("model.model".into(), "OPENAI_MODEL".into());
        }
        forced
    }

    /// Returns which access level a change to these settings requires.
    pub(crate) fn find_widening(&self, settings: &Settings) -> Widening {
        let state = self.state.read();
        let mut settings = settings.clone();
        self.restore_stored(&mut settings, &state.stored);
        widening::compare_settings(&state.stored, &settings)
    }

    /// Checks that settings are valid and do not widen the policy.
    pub(crate) fn check_settings(&self, settings: &Settings) -> Result<(), AgentError> {
        check_settings(settings)?;
        let state = self.state.read();
        check_policy(&state.stored, settings)
    }

    /// Checks, stores and applies settings. An unreadable old file is kept beside the new one.
    pub(crate) fn write_settings(&self, mut settings: Settings) -> Result<(), AgentError> {
        check_settings(&settings)?;
        let mut state = self.state.write();
        self.restore_stored(&mut settings, &state.stored);
        check_policy(&state.stored, &settings)?;
        // These settings have their own commands, and `decide_from_terminal` can only be changed in
        // the approval window.
        settings.decide_from_terminal = state.stored.decide_from_terminal;
        settings.switches.clone_from(&state.stored.switches);
        self.store_settings(&mut state, settings)
    }

    pub(crate) fn set_terminal_decisions(&self, enabled: bool) -> Result<(), AgentError> {
        let mut state = self.state.write();
        let settings = Settings { decide_from_terminal: enabled, ..state.stored.clone() };
        self.store_settings(&mut state, settings)
    }

    /// Enables or disables an agent, a tool or all tools. Returns false if this changes nothing.
    pub(crate) fn set_switch(
        &self,
        target: &SwitchTarget,
        on: bool,
        tools: &[ToolSpec],
    ) -> Result<bool, AgentError> {
        let mut state = self.state.write();
        let mut settings = state.stored.clone();
        let changed = match (target, on) {
            (SwitchTarget::Agent(id), false) => settings.switches.agents_off.insert(id.clone()),
            (SwitchTarget::Agent(id), true) => settings.switches.agents_off.remove(id),
            (SwitchTarget::Tool(id), false) => settings.switches.tools_off.insert(id.clone()),
            (SwitchTarget::Tool(id), true) => settings.switches.switch_tool_on(id, tools),
        };
        if changed {
            self.store_settings(&mut state, settings)?;
        }
        Ok(changed)
    }

    /// Returns the current policy mode, rules and grants for display.
    pub(crate) fn policy_view(&self, now: DateTime<Utc>) -> PolicyView {
        let path = self.paths.rules();
        // The parts of the view must belong to the same state of the file.
        let read = self.rules_text();
        let rules = parse_rules(&read);
        let idle = rules.idle(now);
        let text = read.as_ref().ok().and_then(Option::as_deref);
        let Rules { rules, grants, faults } = rules;
        PolicyView {
            mode: self.settings().policy,
            file: path.display().to_string(),
            found: path.exists(),
            rules,
            grants,
            faults,
            idle,
            text: policy::stored_text(text.unwrap_or_default()),
            fingerprint: fingerprint(text),
        }
    }

    /// Reads the text of the rules file. Returns none if there is no file.
    pub(crate) fn rules_text(&self) -> io::Result<Option<String>> {
        read_rules_text(&self.paths)
    }

    /// Writes the rules file. With `keep_old`, a copy of the old file is kept beside it.
    pub(crate) fn write_rules(&self, text: &str, keep_old: bool) -> Result<(), AgentError> {
        let path = self.paths.rules();
        let kept = if keep_old { keep_unreadable(&path, "json.unreadable") } else { Ok(()) };
        kept.and_then(|()| write_atomically(&path, text)).map_err(|error| {
            let path = path.display();
            AgentError::internal(
                "rules_file",
                text!("The rules could not be saved in {path}: {error}.", path, error),
            )
            .hint("Free some space or make the folder writable, then save again.")
        })
    }

    /// Returns the price table with its sources, and whether the configured model has a price.
    pub(crate) fn prices_view(&self, model: String, costs_nothing: bool) -> PricesView {
        let read = self.prices.read_cached();
        let file = self.prices.file();
        PricesView {
            file: file.display().to_string(),
            found: file.exists(),
            model_priced: costs_nothing || read.table.of(&model).is_some(),
            prices: read.table.price.clone(),
            fault: read.fault,
            model,
        }
    }

    /// Sets the policy mode, possibly to a wider one. Only the approval window may call it.
    pub(crate) fn set_policy(&self, policy: PolicyMode) -> Result<(), AgentError> {
        let mut state = self.state.write();
        let settings = Settings { policy, ..state.stored.clone() };
        self.store_settings(&mut state, settings)
    }

    /// Replaces values that the environment overrides with the stored values, because overrides are
    /// shown but never stored.
    fn restore_stored(&self, settings: &mut Settings, stored: &Settings) {
        if self.env.is_agent_forced_off() {
            settings.agent_enabled = stored.agent_enabled;
        }
        if self.env.base_url.is_some() && uses_openai_variables(settings) {
            settings.model.base_url.clone_from(&stored.model.base_url);
        }
        if self.env.model.is_some() && uses_openai_variables(settings) {
            settings.model.model.clone_from(&stored.model.model);
        }
        if self.env.overriding_variable(stored).is_some()
            && settings.model.provider == Api::Chat.name()
        {
            settings.model.provider.clone_from(&stored.model.provider);
        }
    }

    fn store_settings(&self, state: &mut State, settings: Settings) -> Result<(), AgentError> {
        let path = self.paths.settings();
        let failed = |e: io::Error| {
            AgentError::internal(
                "settings",
                text!(
                    "The settings could not be saved in {path}: {error}.",
                    path = path.display(),
                    error = e
                ),
            )
            .hint("Free some space or make the folder writable, then save again.")
        };
        let text = toml::to_string_pretty(&settings)
            .map_err(|_| AgentError::internal("settings", "The settings could not be written."))?;
        if state.fault.take().is_some() {
            keep_unreadable(&path, "toml.unreadable").map_err(failed)?;
        }
        write_atomically(&path, &text).map_err(failed)?;
        state.effective = Arc::new(apply_overrides(settings.clone(), &self.env));
        state.stored = settings;
        Ok(())
    }
}

impl Profile for LiveProfile {
    fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.state.read().effective)
    }

    fn settings_fault(&self) -> Option<AgentError> {
        self.state.read().fault.clone()
    }

    /// Returns the rules, and reads the file again if it has changed.
    fn rules(&self) -> Arc<Rules> {
        let stamp = read_stamp(&self.paths.rules());
        let mut known = self.rules.lock();
        if known.0 != stamp {
            *known = (stamp, Arc::new(read_rules(&self.paths)));
        }
        Arc::clone(&known.1)
    }

    fn prices(&self) -> Arc<PriceTable> {
        self.prices.read_cached().table
    }

    fn locale(&self) -> String {
        let settings = self.settings();
        let wanted = if settings.language == "system" {
            self.env.language.as_str()
        } else {
            settings.language.as_str()
        };
        messages::Language::of_tag(wanted).tag().into()
    }

    fn locale_of(&self, text: &str) -> Option<String> {
        language::language_of(text).map(|language| language.tag().to_owned())
    }

    fn person(&self) -> Option<String> {
        self.env.person.clone()
    }

    fn time_zone(&self) -> String {
        let settings = self.settings();
        if settings.time_zone == "system" {
            self.env.time_zone.clone()
        } else {
            settings.time_zone.clone()
        }
    }

    fn caller_values(&self, locale: &str) -> SessionValues {
        let mut values = SessionValues::new();
        values.insert("clientIp".into(), json!("127.0.0.1"));
        if let Some(culture) = messages::Language::of_tag(locale).culture() {
            values.insert("context".into(), json!({"cultureCode": culture}));
        }
        values
    }
}

/// Fails if the policy mode becomes wider; only `set_policy` may do that.
fn check_policy(stored: &Settings, settings: &Settings) -> Result<(), AgentError> {
    if policy_width(settings.policy) <= policy_width(stored.policy) {
        return Ok(());
    }
    Err(AgentError::invalid("More may be allowed only in the approval window.")
        .with("field", "policy")
        .reason("window_only")
        .hint("Open that window from the tray's menu and choose it under \u{201c}Who may decide\u{201d}."))
}

/// Ranks a policy mode by how much it allows.
fn policy_width(policy: PolicyMode) -> u8 {
    match policy {
        PolicyMode::ReadOnlyOnly => 0,
        PolicyMode::WritesRequireApproval => 1,
        PolicyMode::WritesAllowed => 2,
    }
}

/// Whether the environment variables named after OpenAI apply to the configured provider.
fn uses_openai_variables(settings: &Settings) -> bool {
    Api::from_name(&settings.model.provider)
        .is_none_or(|api| api.key_variable() == Api::Chat.key_variable())
}

fn apply_overrides(mut settings: Settings, env: &Environment) -> Settings {
    if env.is_agent_forced_off() {
        settings.agent_enabled = false;
    }
    if env.overriding_variable(&settings).is_some() {
        settings.model.provider = Api::Chat.name().into();
    }
    let ours = uses_openai_variables(&settings);
    if let Some(url) = env.base_url.as_ref().filter(|_| ours) {
        settings.model.base_url.clone_from(url);
    }
    if let Some(model) = env.model.as_ref().filter(|_| ours) {
        settings.model.model.clone_from(model);
    }
    settings
}

/// Returns the SHA-256 hash (hex) of the text of a rules file; empty if there is no text.
pub(crate) fn fingerprint(text: Option<&str>) -> String {
    text.map(|text| sha256_hex(text.as_bytes())).unwrap_or_default()
}

fn read_rules(paths: &Paths) -> Rules {
    parse_rules(&read_rules_text(paths))
}

fn read_rules_text(paths: &Paths) -> io::Result<Option<String>> {
    match files::read_text(&paths.rules(), files::BY_HAND) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn parse_rules(read: &io::Result<Option<String>>) -> Rules {
    match read {
        Ok(Some(text)) => Rules::parse(text),
        Ok(None) => Rules::default(),
        Err(e) => Rules::unreadable("policy.json", e.to_string()),
    }
}

#[cfg(test)]
mod tests;
