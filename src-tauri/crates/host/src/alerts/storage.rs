//! The files of alerts in the data folder: `alerts/ID.json`, one for each rule, and
//! `alerts/state/alerts.json` with what the rules found. Each is replaced as a whole. It must not know
//! what a rule means.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use chrono::NaiveDate;
use contract::{AgentError, AlertRuleId, Reason, Text, alerts::AlertRule, text};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::deciding::RuleState;
use crate::{
    data::hash_of,
    profile::{create_private_folder, unusable_file, write_atomically},
};

/// The version of the files.
const VERSION: u32 = 1;
/// The largest file of a rule, in bytes.
const LARGEST: usize = 1 << 20;
/// The longest identifier. It becomes the name of a file.
const LONGEST_ID: usize = 100;

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct Stored<T> {
    version: u32,
    content: T,
}

/// The states of all rules, and what is told of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Found {
    /// The number of records before the first one that may already have news of this file.
    #[serde(default)]
    pub(super) records_before: u64,
    /// The day of the last notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) notified_on: Option<NaiveDate>,
    /// The states of the rules.
    #[serde(default)]
    pub(super) rules: BTreeMap<AlertRuleId, RuleState>,
}

impl Found {
    /// Returns the state of a rule. Alerts of another query or condition are left out.
    pub(super) fn state_of(&self, rule: &AlertRule) -> RuleState {
        let of = hash_of(&(&rule.content.query, &rule.content.condition));
        let known = self.rules.get(&rule.id).filter(|state| state.of == of).cloned();
        known.unwrap_or_else(|| RuleState { of, ..RuleState::default() })
    }
}

/// The folder of alerts.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    root: PathBuf,
}

impl Storage {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns all rules, and a line about each file that cannot be read.
    pub(super) fn rules(&self) -> (Vec<AlertRule>, Vec<Text>) {
        let (mut rules, mut faults) = (Vec::new(), Vec::new());
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".json")) else {
                continue;
            };
            match self.rule(&AlertRuleId::new(id)) {
                Ok(rule) => rules.push(rule),
                Err(error) => {
                    faults.push(Text::join(
                        std::iter::once(error.text()).chain(error.hint_as_text()),
                    ));
                }
            }
        }
        rules.sort_by_cached_key(|rule| (rule.content.name.to_lowercase(), rule.id.clone()));
        (rules, faults)
    }

    /// Reads a rule. Fails if there is none with this identifier.
    pub(super) fn rule(&self, id: &AlertRuleId) -> Result<AlertRule, AgentError> {
        let path = self.path(id)?;
        let stored: Option<AlertRule> = self.read(&path)?;
        Ok(AlertRule { id: id.clone(), ..stored.ok_or_else(unknown)? })
    }

    /// Writes a rule. If writing fails, the file before stays.
    pub(super) fn write_rule(&self, rule: &AlertRule) -> Result<(), AgentError> {
        self.write(&self.root, &self.path(&rule.id)?, rule)
    }

    /// Deletes a rule.
    pub(super) fn remove_rule(&self, id: &AlertRuleId) -> Result<(), AgentError> {
        let path = self.path(id)?;
        let removed = fs::remove_file(&path).and_then(|()| files::sync_folder(&self.root));
        removed.map_err(|error| unusable_file(&self.root, &path, &error))
    }

    /// Reads what the rules found.
    pub(super) fn found(&self) -> Result<Found, AgentError> {
        Ok(self.read(&self.state().join("alerts.json"))?.unwrap_or_default())
    }

    /// Writes what the rules found. If writing fails, the file before stays.
    pub(super) fn write_found(&self, found: &Found) -> Result<(), AgentError> {
        let folder = self.state();
        self.write(&folder, &folder.join("alerts.json"), found)
    }

    fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, AgentError> {
        if !path.is_file() {
            return Ok(None);
        }
        let text = files::read_text(path, files::OWN)
            .map_err(|error| unusable_file(&self.root, path, &error))?;
        let stored: Stored<T> = serde_json::from_str(&text).map_err(|error| {
            AgentError::internal(
                "data_dir",
                text!("{path} cannot be read: {error}.", path = path.display(), error),
            )
            .hint("Put the file back from a backup, or delete it.")
        })?;
        Ok(Some(stored.content))
    }

    fn write(&self, folder: &Path, path: &Path, content: impl Serialize) -> Result<(), AgentError> {
        let stored = Stored { version: VERSION, content };
        let text = serde_json::to_string_pretty(&stored).unwrap_or_default();
        if folder == self.root && text.len() > LARGEST {
            return Err(AgentError::invalid("The rule is too large.")
                .reason(Reason::Validation)
                .hint("Shorten the lists of values in its query."));
        }
        if text.len() as u64 > files::OWN {
            // A larger file could not be read again.
            return Err(AgentError::invalid("There are too many alerts to be stored.")
                .reason(Reason::Validation)
                .hint("Delete rules, or add a filter to those with many groups."));
        }
        let written = create_private_folder(folder).and_then(|()| write_atomically(path, &text));
        written.map_err(|error| unusable_file(&self.root, path, &error))
    }

    fn path(&self, id: &AlertRuleId) -> Result<PathBuf, AgentError> {
        let is_part =
            |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let text = id.as_str();
        if (1..=LONGEST_ID).contains(&text.len()) && text.chars().all(is_part) {
            Ok(self.root.join(format!("{text}.json")))
        } else {
            Err(unknown())
        }
    }
}

fn unknown() -> AgentError {
    AgentError::invalid("This rule does not exist any more.")
        .reason(Reason::NotFound)
        .hint("Look at the rules again.")
}

#[cfg(test)]
mod tests {
    use contract::AlertCondition;
    use serde_json::json;

    use super::*;

    fn rule(id: &str) -> AlertRule {
        serde_json::from_value(json!({
            "id": id, "revision": 1,
            "created_at": "2026-11-30T09:00:00Z", "changed_at": "2026-11-30T09:00:00Z",
            "content": {"name": "Drop", "query": {"measures": ["spend"]},
                        "condition": {"no_data_for": {"days": 2}}, "is_on": true}
        }))
        .unwrap()
    }

    #[test]
    fn a_rule_with_another_condition_has_no_state() {
        let mut rule = rule("rule_1");
        let mut found = Found::default();
        let state = RuleState { checked_to: "2026-11-29".parse().ok(), ..found.state_of(&rule) };
        found.rules.insert(rule.id.clone(), state.clone());
        rule.content.name = "Fall".to_owned();
        assert_eq!(found.state_of(&rule), state);
        rule.content.condition = AlertCondition::NoDataFor { days: 3 };
        assert_eq!(found.state_of(&rule).checked_to, None);
    }

    #[test]
    fn rules_and_what_they_found_are_kept_apart_and_a_damaged_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path().join("alerts"));
        assert_eq!(storage.rules(), (Vec::new(), Vec::new()));
        assert_eq!(storage.found().unwrap(), Found::default());
        storage.write_rule(&rule("rule_1")).unwrap();
        let state = RuleState { checked_to: "2026-11-29".parse().ok(), ..RuleState::default() };
        let rules = BTreeMap::from([(AlertRuleId::new("rule_1"), state)]);
        let found = Found { records_before: 7, notified_on: None, rules };
        storage.write_found(&found).unwrap();
        fs::write(folder.path().join("alerts/broken.json"), "{").unwrap();
        let (rules, faults) = storage.rules();
        assert_eq!((rules, faults.len()), (vec![rule("rule_1")], 1));
        assert_eq!(storage.found().unwrap(), found);
        storage.remove_rule(&"rule_1".into()).unwrap();
        assert!(storage.rule(&"rule_1".into()).unwrap_err().has_reason(Reason::NotFound));
        for id in ["../secret", "", "a/b", "a.b"] {
            assert!(storage.rule(&id.into()).unwrap_err().has_reason(Reason::NotFound), "{id}");
        }
    }
}
