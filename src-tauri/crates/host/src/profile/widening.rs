//! Decides, field by field, which changes of settings allow more calls to run or more data to leave
//! this computer. Such changes need the approval window or a person at a terminal. Changes that
//! only restrict need no confirmation. Must not know the caller.

use contract::{
    AuditSettings, EgressSettings, FallbackModel, MemoryModelSource, ModelSettings, PackChoice,
    SettingChange, Settings, commands::Access,
};
use serde_json::Value;

/// The requirements for a change of settings.
#[derive(Debug, PartialEq)]
pub(crate) struct Widening {
    pub(crate) level: Access,
    /// The single changes that widen access, worded for a person.
    pub(crate) changes: Vec<SettingChange>,
}

impl Widening {
    /// Requires a person in any window or at a terminal if the setting has changed.
    fn need_person(&mut self, changed: bool) {
        if changed {
            self.level = self.level.max(Access::Person);
        }
    }

    fn add_widening(
        &mut self,
        setting: impl Into<String>,
        before: impl ToString,
        after: impl ToString,
    ) {
        self.level = Access::Widens;
        self.changes.push(SettingChange {
            setting: setting.into(),
            before: before.to_string(),
            after: after.to_string(),
            note: None,
        });
    }
}

/// Compares two settings. Every field is named here, so that a new field does not compile without a
/// decision about it.
pub(crate) fn compare_settings(before: &Settings, after: &Settings) -> Widening {
    let Settings {
        language,
        theme,
        zoom,
        agent_enabled,
        // These three settings have their own commands, so writing settings never widens them.
        switches: _,
        policy: _,
        decide_from_terminal: _,
        welcomed,
        model,
        egress,
        limits,
        conversation,
        memory,
        budgets,
        audit,
        data,
        time_zone,
        packs,
        column_widths,
    } = after;
    let mut found = Widening { level: Access::Chat, changes: Vec::new() };
    found.need_person(*agent_enabled && !before.agent_enabled);
    found.need_person(
        (language, theme, time_zone, welcomed)
            != (&before.language, &before.theme, &before.time_zone, &before.welcomed),
    );
    found.need_person(
        (limits, conversation, memory, budgets)
            != (&before.limits, &before.conversation, &before.memory, &before.budgets),
    );
    found.need_person((zoom, column_widths) != (&before.zoom, &before.column_widths));
    // A lower limit deletes rows.
    found.need_person(*data != before.data);
    // An embedding model of the provider receives the memories of all conversations.
    if memory.model.source == MemoryModelSource::Provider && memory.model != before.memory.model {
        let before = format!("{:?}", before.memory.model.source);
        found.add_widening("memory.model", before, format!("Provider {}", memory.model.name));
    }
    compare_model(&mut found, &before.model, model);
    compare_egress(&mut found, before.egress, *egress);
    compare_audit(&mut found, &before.audit, audit);
    for (pack, choice) in packs {
        compare_pack(
            &mut found,
            pack,
            before.packs.get(pack).unwrap_or(&PackChoice::default()),
            choice,
        );
    }
    found.need_person(before.packs.keys().any(|pack| !packs.contains_key(pack)));
    found
}

fn compare_model(found: &mut Widening, before: &ModelSettings, after: &ModelSettings) {
    let ModelSettings {
        provider,
        base_url,
        model,
        summariser,
        runs_here,
        reasoning,
        idle_timeout_s,
        local_idle_timeout_s,
        max_retries,
        fallback,
    } = after;
    // Data that must stay on this computer may be sent to the models at the addresses in
    // `runs_here`, so adding an address to the list widens access.
    for address in runs_here.iter().filter(|address| !before.runs_here.contains(*address)) {
        found.add_widening("model.runs_here", "", address);
    }
    // An address is compared even if it is not in use, because a later change may use it.
    if *base_url != before.base_url {
        found.add_widening("model.base_url", &before.base_url, base_url);
    }
    if *provider != before.provider && provider != "offline" {
        found.add_widening("model.provider", &before.provider, provider);
    }
    found.need_person(
        (model, summariser, reasoning, idle_timeout_s, local_idle_timeout_s, max_retries)
            != (
                &before.model,
                &before.summariser,
                &before.reasoning,
                &before.idle_timeout_s,
                &before.local_idle_timeout_s,
                &before.max_retries,
            ),
    );
    if let Some(fallback) = fallback {
        let reaches = |model: &FallbackModel| (model.provider.clone(), model.base_url.clone());
        if fallback.provider != "offline"
            && before.fallback.as_ref().map(reaches) != Some(reaches(fallback))
        {
            let named = |model: &FallbackModel| format!("{} {}", model.provider, model.base_url);
            found.add_widening(
                "model.fallback",
                before.fallback.as_ref().map(named).unwrap_or_default(),
                named(fallback),
            );
        }
        found.need_person(before.fallback.as_ref() != Some(fallback));
    }
}

fn compare_egress(found: &mut Widening, before: EgressSettings, after: EgressSettings) {
    let EgressSettings { allowed, redaction } = after;
    if allowed && !before.allowed {
        found.add_widening("egress.allowed", before.allowed, allowed);
    }
    if redaction < before.redaction {
        found.add_widening(
            "egress.redaction",
            setting_word(&before.redaction),
            setting_word(&redaction),
        );
    }
}

fn compare_audit(found: &mut Widening, before: &AuditSettings, after: &AuditSettings) {
    let AuditSettings { witness_url, witness_key, timestamp_url, keep_values_days } = after;
    for (setting, before, after) in [
        ("audit.witness_url", &before.witness_url, witness_url),
        ("audit.timestamp_url", &before.timestamp_url, timestamp_url),
    ] {
        if before != after && !after.is_empty() {
            found.add_widening(setting, before, after);
        }
        found.need_person(before != after);
    }
    found.need_person(*witness_key != before.witness_key);
    found.need_person(*keep_values_days != before.keep_values_days);
}

fn compare_pack(found: &mut Widening, pack: &str, before: &PackChoice, after: &PackChoice) {
    let PackChoice { private_network, settings } = after;
    if *private_network && !before.private_network {
        found.add_widening(
            format!("packs.{pack}.private_network"),
            before.private_network,
            private_network,
        );
    }
    for (name, value) in
        settings.iter().filter(|(name, value)| before.settings.get(*name) != Some(value))
    {
        match value {
            // A text may be an address that receives requests and keys.
            Value::String(_) | Value::Array(_) | Value::Object(_) => {
                let was = before.settings.get(name).map(value_text).unwrap_or_default();
                found.add_widening(format!("packs.{pack}.settings.{name}"), was, value_text(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => found.need_person(true),
        }
    }
    found.need_person(before.settings.keys().any(|name| !settings.contains_key(name)));
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns a value in the form used in the settings file.
fn setting_word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).as_ref().map(value_text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use contract::RedactionLevel;
    use serde_json::json;

    use super::*;

    fn needed(before: &Settings, change: impl Fn(&mut Settings)) -> (Access, Vec<String>) {
        let mut after = before.clone();
        change(&mut after);
        let found = compare_settings(before, &after);
        (found.level, found.changes.into_iter().map(|change| change.setting).collect())
    }

    fn connected() -> Settings {
        let mut settings = Settings::default();
        settings.model.provider = "openai_compatible".into();
        settings.egress = EgressSettings { allowed: false, redaction: RedactionLevel::Basic };
        settings.packs.insert(
            "far".into(),
            PackChoice {
                private_network: false,
                settings: json!({"url": "https://a", "days": 3}).as_object().unwrap().clone(),
            },
        );
        settings
    }

    #[test]
    fn changes_that_widen_permissions_are_listed_field_by_field() {
        let before = connected();
        let widens = |name: &str| (Access::Widens, vec![name.to_owned()]);
        assert_eq!(
            needed(&before, |s| s.model.base_url = "https://b/v1".into()),
            widens("model.base_url")
        );
        assert_eq!(
            needed(&before, |s| s.model.provider = "gemini".into()),
            widens("model.provider")
        );
        assert_eq!(
            needed(&Settings::default(), |s| s.model.provider = "gemini".into()),
            widens("model.provider")
        );
        let fallback = FallbackModel {
            provider: "anthropic".into(),
            base_url: String::new(),
            model: "m".into(),
        };
        assert_eq!(
            needed(&before, |s| s.model.fallback = Some(fallback.clone())),
            widens("model.fallback")
        );
        let here = |s: &mut Settings| s.model.runs_here = vec!["http://127.0.0.1:1/v1".into()];
        assert_eq!(needed(&before, here), widens("model.runs_here"));
        let provider = |s: &mut Settings| s.memory.model.source = MemoryModelSource::Provider;
        assert_eq!(needed(&before, provider), widens("memory.model"));
        let witness = |s: &mut Settings| s.audit.witness_url = "https://b".into();
        assert_eq!(needed(&before, witness), widens("audit.witness_url"));
        let authority = |s: &mut Settings| s.audit.timestamp_url = "https://b".into();
        assert_eq!(needed(&before, authority), widens("audit.timestamp_url"));
        assert_eq!(needed(&before, |s| s.egress.allowed = true), widens("egress.allowed"));
        assert_eq!(
            needed(&before, |s| s.egress.redaction = RedactionLevel::None),
            widens("egress.redaction")
        );
        let far =
            |s: &mut Settings, change: fn(&mut PackChoice)| change(s.packs.get_mut("far").unwrap());
        assert_eq!(
            needed(&before, |s| far(s, |pack| pack.private_network = true)),
            widens("packs.far.private_network")
        );
        let elsewhere: fn(&mut PackChoice) =
            |pack| drop(pack.settings.insert("url".into(), json!("https://b")));
        assert_eq!(needed(&before, |s| far(s, elsewhere)), widens("packs.far.settings.url"));
        let new = |s: &mut Settings| {
            drop(s.packs.insert(
                "near".into(),
                PackChoice { private_network: true, ..PackChoice::default() },
            ))
        };
        assert_eq!(needed(&before, new), widens("packs.near.private_network"));
    }

    #[test]
    fn only_a_change_that_narrows_permissions_needs_no_person() {
        let mut before = connected();
        before.egress.allowed = true;
        before.model.fallback = Some(FallbackModel {
            provider: "anthropic".into(),
            base_url: String::new(),
            model: "m".into(),
        });
        before.packs.get_mut("far").unwrap().private_network = true;
        before.model.runs_here = vec!["http://127.0.0.1:1/v1".into()];
        let narrowing: [fn(&mut Settings); 8] = [
            |_| (),
            |s| s.model.runs_here.clear(),
            |s| s.agent_enabled = false,
            |s| s.model.provider = "offline".into(),
            |s| s.model.fallback = None,
            |s| s.egress.allowed = false,
            |s| s.egress.redaction = RedactionLevel::Strict,
            |s| s.packs.get_mut("far").unwrap().private_network = false,
        ];
        for (at, change) in narrowing.into_iter().enumerate() {
            assert_eq!(needed(&before, change), (Access::Chat, vec![]), "change {at}");
        }
        let off = Settings { agent_enabled: false, ..before.clone() };
        assert_eq!(needed(&off, |s| s.agent_enabled = true), (Access::Person, vec![]));
        let others: [fn(&mut Settings); 10] = [
            |s| s.theme = "dark".into(),
            |s| s.zoom = 150,
            |s| drop(s.column_widths.insert("ads".into(), BTreeMap::from([("Cost".into(), 30)]))),
            |s| s.model.model = "other".into(),
            |s| s.model.summariser = "other".into(),
            |s| s.limits.rounds = 3,
            |s| s.memory.whole_profile = true,
            |s| s.audit.keep_values_days = 30,
            |s| s.budgets.day_usd = 3.0,
            |s| drop(s.packs.get_mut("far").unwrap().settings.insert("days".into(), json!(4))),
        ];
        for (at, change) in others.into_iter().enumerate() {
            assert_eq!(needed(&before, change), (Access::Person, vec![]), "change {at}");
        }
    }
}
