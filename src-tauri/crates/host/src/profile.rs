//! The settings and rules of a profile: reads them from files, applies overrides from the
//! environment, and provides them to the engine.

use std::{collections::BTreeMap, io, sync::Arc};

use audit::Witness;
use contract::{
    AgentError, AuditSettings, EgressSettings, PolicyMode, PolicyView, PriceTable, PricesView,
    RedactionLevel, Settings, SwitchTarget, Text, ToolSpec, text,
};
use engine::ports::{Profile, SessionValues};
use models::Api;
use parking_lot::{Mutex, RwLock};
use policy::Rules;
use serde_json::json;

use crate::{
    key_names::API_KEY,
    paths::{Paths, Stamp, keep_unreadable, read_stamp, write_atomically},
    peer::user_name,
    prices::Prices,
    toml_fault::describe_toml_fault,
    widening::{self, Widening},
};

/// The current settings, rules and prices of a profile.
pub(crate) struct LiveProfile {
    paths: Paths,
    state: RwLock<State>,
    /// The rules, with the stamp of their file at the time of reading.
    rules: Mutex<(Stamp, Arc<Rules>)>,
    prices: Prices,
    env: Environment,
}

struct State {
    /// The stored settings.
    stored: Settings,
    /// The stored settings with the overrides of the environment.
    effective: Arc<Settings>,
    fault: Option<Text>,
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
    /// The name of the user who runs this process.
    pub(crate) person: Option<String>,
}

impl Environment {
    /// Reads the environment. `may_choose` tells whether its variables may choose a model server.
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
        // A model alone chooses no server: without the key of OpenAI nobody would answer.
        let chooses = if variable("OPENAI_BASE_URL").is_some() {
            Some("OPENAI_BASE_URL")
        } else {
            variable("OPENAI_MODEL").and_then(|_| variable(API_KEY)).map(|_| "OPENAI_MODEL")
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
        Self { paths, state: RwLock::new(State { stored, effective, fault }), rules, prices, env }
    }

    /// Returns the fault of the settings file, if there is one.
    pub(crate) fn fault(&self) -> Option<Text> {
        self.state.read().fault.clone()
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
        // These settings have their own commands; the first one can be changed only in the approval
        // window.
        settings.decide_from_terminal = state.stored.decide_from_terminal;
        settings.switches.clone_from(&state.stored.switches);
        self.store_settings(&mut state, settings)
    }

    pub(crate) fn set_terminal_decisions(&self, enabled: bool) -> Result<(), AgentError> {
        let mut state = self.state.write();
        let settings = Settings { decide_from_terminal: enabled, ..state.stored.clone() };
        self.store_settings(&mut state, settings)
    }

    /// Switches an agent, a tool or all tools on or off. Returns false if this changes nothing.
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
    pub(crate) fn policy_view(&self) -> PolicyView {
        let (rules, path) = (self.rules(), self.paths.rules());
        let Rules { rules, grants, faults } = (*rules).clone();
        PolicyView {
            mode: self.settings().policy,
            file: path.display().to_string(),
            found: path.exists(),
            rules,
            grants,
            faults,
        }
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

    /// Replaces values that the environment overrides by the stored ones, because overrides are
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
        if wanted.starts_with("sv") { "sv".into() } else { "en".into() }
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
        if locale == "sv" {
            values.insert("context".into(), json!({"cultureCode": "sv-SE"}));
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
    Api::from_name(&settings.model.provider).is_none_or(|api| api.key_variable() == API_KEY)
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

fn read_settings(paths: &Paths) -> (Settings, Option<Text>) {
    let path = paths.settings();
    match files::read_text(&path, files::BY_HAND) {
        Ok(text) => match toml::from_str(&text) {
            Ok(settings) => (settings, None),
            Err(e) => (
                restrictive_settings(),
                Some(text!(
                    "{file} cannot be read: {error}",
                    file = path.display(),
                    error = describe_toml_fault(&text, &e)
                )),
            ),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => (Settings::default(), None),
        Err(e) => (
            restrictive_settings(),
            Some(text!("{file} cannot be read: {error}", file = path.display(), error = e)),
        ),
    }
}

/// Returns the settings used if the file cannot be read. They allow nothing that the file might
/// forbid.
fn restrictive_settings() -> Settings {
    Settings {
        agent_enabled: false,
        policy: PolicyMode::ReadOnlyOnly,
        egress: EgressSettings { allowed: false, redaction: RedactionLevel::Strict },
        ..Settings::default()
    }
}

fn read_rules(paths: &Paths) -> Rules {
    match files::read_text(&paths.rules(), files::BY_HAND) {
        Ok(text) => Rules::parse(&text),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Rules::default(),
        Err(e) => Rules::unreadable("policy.json", e.to_string()),
    }
}

fn check_settings(settings: &Settings) -> Result<(), AgentError> {
    let limits = settings.limits;
    let bad = |field: &str, rule: Text| {
        Err(AgentError::invalid(text!("{field} {rule}.", field, rule)).with("field", field))
    };
    let range = |least: i64, most: i64| text!("must be {least} to {most}", least, most);
    let seconds = |least: i64, most: i64| text!("must be {least} to {most} seconds", least, most);
    if !(1..=20).contains(&limits.rounds) {
        return bad("limits.rounds", range(1, 20));
    }
    if !(4..=100).contains(&limits.model_calls) {
        return bad("limits.model_calls", range(4, 100));
    }
    if !(1..=12).contains(&limits.hops) {
        return bad("limits.hops", range(1, 12));
    }
    if !(1..=10).contains(&limits.calls_per_round) {
        return bad("limits.calls_per_round", range(1, 10));
    }
    if !(5..=86_400).contains(&limits.approval_expiry_s) {
        return bad("limits.approval_expiry_s", seconds(5, 86400));
    }
    if !(2..=200).contains(&limits.window_messages) {
        return bad("limits.window_messages", range(2, 200));
    }
    if let Some((field, rule)) = settings.conversation.faults().first() {
        return bad(&format!("conversation.{field}"), rule.clone());
    }
    if limits.recorded_turns > 10_000 {
        return bad("limits.recorded_turns", range(0, 10_000));
    }
    if !(500..=200_000).contains(&limits.result_chars) {
        return bad("limits.result_chars", range(500, 200000));
    }
    if !(100..=200_000).contains(&limits.message_chars) {
        return bad("limits.message_chars", range(100, 200000));
    }
    if !(5..=3_600).contains(&limits.deadline_s) {
        return bad("limits.deadline_s", seconds(5, 3600));
    }
    if settings.audit.keep_values_days > 36_500 {
        return bad("audit.keep_values_days", range(0, 36_500));
    }
    let budgets = settings.budgets;
    for (field, usd) in [
        ("budgets.run_usd", budgets.run_usd),
        ("budgets.session_usd", budgets.session_usd),
        ("budgets.day_usd", budgets.day_usd),
    ] {
        if !(0.0..=1_000_000.0).contains(&usd) {
            let (least, most) = (0, 1_000_000);
            return bad(field, text!("must be {least} to {most} dollars", least, most));
        }
    }
    if settings.model.max_retries > 10 {
        return bad("model.max_retries", range(0, 10));
    }
    if !(1..=600).contains(&settings.model.idle_timeout_s) {
        return bad("model.idle_timeout_s", seconds(1, 600));
    }
    if settings.time_zone != "system" && settings.time_zone.parse::<chrono_tz::Tz>().is_err() {
        return bad("time_zone", "must be an IANA name such as Europe/Stockholm".into());
    }
    if settings.model.runs_here.iter().any(|address| !models::is_loopback_address(address)) {
        return bad(
            "model.runs_here",
            "must have addresses of this computer, such as http://localhost:11434/v1".into(),
        );
    }
    let AuditSettings { witness_url, witness_key, timestamp_url, keep_values_days: _ } =
        &settings.audit;
    for (field, url) in [("audit.witness_url", witness_url), ("audit.timestamp_url", timestamp_url)]
    {
        if !url.is_empty() && models::origin_of(url).is_none() {
            return bad(field, "must be an address that begins with http:// or https://".into());
        }
    }
    if !witness_url.is_empty() && Witness::parse(witness_key).is_none() {
        return bad("audit.witness_key", "must be the key of the witness, as name+id+key".into());
    }
    let known = |provider: &str| provider == "offline" || Api::from_name(provider).is_some();
    let names = Api::ALL.map(Api::name);
    let (others, last) = names.split_at(names.len() - 1);
    let rule = format!("must be offline, {} or {}", others.join(", "), last.join(""));
    if !known(&settings.model.provider) {
        return bad("model.provider", rule.into());
    }
    if let Some(second) = &settings.model.fallback {
        if !known(&second.provider) {
            return bad("model.fallback.provider", rule.into());
        }
        if second.provider != "offline" && second.model.trim().is_empty() {
            return bad("model.fallback.model", "must name a model".into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
