//! Proposed rules behind the commands: reads them, describes their changes for a person's
//! confirmation, records and stores them. `policy` reads the text, and `profile` stores the file.
//! Must not know who asks.

use contract::{
    AgentError, LookAlike, PolicyPreview, PolicyPreviewParams, PolicyRule, PolicyRulesParams,
    PolicyView, RecordType, SettingChange, StandingGrant, Text, text,
};
use engine::{look_alikes, ports::RecordDraft};
use policy::Rules;
use serde::Serialize;
use serde_json::json;

use crate::{host::Host, profile::fingerprint};

/// The maximum size of proposed rules in bytes.
const MOST_BYTES: usize = 256 << 10;
/// The most rules and grants that change at once, so that a person can read all of them.
const MOST_CHANGES: usize = 50;

/// Proposed rules, and the rules of the file that they replace.
struct Proposal {
    /// The text of the file; none if there is no file.
    old_text: Option<String>,
    before: Rules,
    after: Rules,
    /// The text to store.
    text: String,
}

impl Host {
    /// Reads proposed rules without storing them.
    pub(crate) fn preview_rules(
        &self,
        params: &PolicyPreviewParams,
    ) -> Result<PolicyPreview, AgentError> {
        check_size(&params.rules)?;
        let rules = Rules::parse(&params.rules);
        Ok(PolicyPreview {
            idle: rules.idle(self.now()),
            look_alikes: look_alikes([params.rules.as_str()]),
            faults: rules.faults,
        })
    }

    /// Checks that rules may be stored: they have no fault and no key, and the file has not changed
    /// since they were made.
    pub(crate) async fn check_rules(&self, params: &PolicyRulesParams) -> Result<(), AgentError> {
        let Proposal { before, after, .. } = self.read_proposal(params)?;
        let values = |rules: &Rules| json!({ "rules": rules.rules, "grants": rules.grants });
        // A file that already contains a key may still be changed.
        if self.engine.secrets.holds_secret(&values(&before)) {
            Ok(())
        } else {
            self.engine.secrets.check_keepable(&values(&after)).await
        }
    }

    /// Describes the changes for a person's confirmation: each rule and grant with its exact text,
    /// and the hash of the file before and after. Returns none if nothing changes or if grants are
    /// only revoked.
    pub(crate) fn rules_changes(
        &self,
        params: &PolicyRulesParams,
    ) -> Result<Vec<SettingChange>, AgentError> {
        let proposal = self.read_proposal(params)?;
        if proposal.is_revocation() {
            return Ok(Vec::new());
        }
        let mut changes = proposal.list_changes();
        if changes.len() > MOST_CHANGES {
            let message = text!("More than {most} rules would change.", most = MOST_CHANGES);
            return Err(AgentError::invalid(message)
                .reason("too_many_changes")
                .hint("Change fewer rules at once, or edit policy.json in the data folder."));
        }
        changes.push(proposal.file_change());
        Ok(changes)
    }

    /// Stores proposed rules. The change is recorded first, because access must not be widened
    /// without a record.
    pub(crate) async fn set_rules(
        &self,
        params: &PolicyRulesParams,
    ) -> Result<PolicyView, AgentError> {
        self.check_alarm()?;
        self.check_rules(params).await?;
        let proposal = self.read_proposal(params)?;
        if !proposal.changes_nothing() {
            let draft = |action: &str| {
                RecordDraft::new(RecordType::SettingChanged)
                    .field("setting", "policy_rules")
                    .field("action", action)
                    .commit("before", proposal.old_text.clone().unwrap_or_default())
                    .commit("after", proposal.text.clone())
            };
            self.record(draft("changed")).await?;
            let stored =
                self.profile.write_rules(&proposal.text, !proposal.before.faults.is_empty());
            if let Err(error) = stored {
                self.record(draft("not_stored")).await?;
                return Err(error);
            }
        }
        Ok(self.profile.policy_view(self.now()))
    }

    fn read_proposal(&self, params: &PolicyRulesParams) -> Result<Proposal, AgentError> {
        check_size(&params.rules)?;
        let old_text = self.profile.rules_text().map_err(|error| {
            AgentError::invalid(text!("The rules file cannot be read: {error}.", error))
                .reason("rules_unreadable")
                .hint("Correct policy.json in the data folder.")
        })?;
        if fingerprint(old_text.as_deref()) != params.fingerprint {
            return Err(AgentError::invalid("The rules have changed since they were shown.")
                .reason("rules_changed")
                .hint("Read the rules again, and make your change to them."));
        }
        refuse_unreadable(old_text.as_deref())?;
        let after = Rules::parse(&params.rules);
        if let Some(fault) = after.faults.first() {
            return Err(AgentError::invalid(text!(
                "The rules have a fault ({place}): {problem}.",
                place = fault.place,
                problem = fault.problem
            ))
            .reason("rules_faulty"));
        }
        let text = policy::stored_text(&params.rules);
        if u64::try_from(text.len()).is_ok_and(|size| size > files::BY_HAND)
            || Rules::parse(&text) != after
        {
            return Err(AgentError::internal("rules_file", "The rules could not be written."));
        }
        let before = old_text.as_deref().map(Rules::parse).unwrap_or_default();
        Ok(Proposal { old_text, before, after, text })
    }
}

/// Refuses to replace a file of which no part can be read: all its rules would be lost unseen.
fn refuse_unreadable(stored: Option<&str>) -> Result<(), AgentError> {
    let stored = stored.unwrap_or_default();
    if stored.trim().is_empty() || policy::has_parts(stored) {
        return Ok(());
    }
    let error = Rules::parse(stored).faults.into_iter().next().map(|fault| fault.problem);
    let error = error.unwrap_or_default();
    Err(AgentError::invalid(text!("The rules file cannot be read: {error}.", error))
        .reason("rules_unreadable")
        .hint("Correct policy.json in the data folder."))
}

impl Proposal {
    fn changes_nothing(&self) -> bool {
        self.before == self.after
    }

    /// Whether nothing changes but that grants are revoked. This never allows more. A part that
    /// cannot be read makes everything ask, so removing it may allow more.
    fn is_revocation(&self) -> bool {
        self.before.faults.is_empty()
            && self.before.rules == self.after.rules
            && self.after.grants.iter().all(|grant| self.before.grants.contains(grant))
    }

    fn list_changes(&self) -> Vec<SettingChange> {
        let rule_id = |rule: &PolicyRule| rule.id.clone();
        let grant_id = |grant: &StandingGrant| grant.id.clone();
        let mut changes =
            compare_lists("policy.rule", &self.before.rules, &self.after.rules, rule_id);
        changes.extend(compare_lists(
            "policy.grant",
            &self.before.grants,
            &self.after.grants,
            grant_id,
        ));
        changes
    }

    /// Describes the change of the file as a whole, which binds the confirmation to its text.
    fn file_change(&self) -> SettingChange {
        let count = self.before.faults.len();
        let note = (count > 0).then(|| {
            text!(
                "Parts of the file that cannot be read: {count}. They are removed, so calls no longer ask because of them. A copy of the file is kept.",
                count
            )
        });
        SettingChange {
            setting: "policy.file".into(),
            before: fingerprint(self.old_text.as_deref()),
            after: fingerprint(Some(&self.text)),
            note,
        }
    }
}

/// Fails if proposed rules are too large to be read at once.
pub(super) fn check_size(rules: &str) -> Result<(), AgentError> {
    if rules.len() <= MOST_BYTES {
        return Ok(());
    }
    let size = MOST_BYTES >> 10;
    Err(AgentError::invalid(text!("The rules are larger than {size} KiB.", size))
        .hint("Use fewer rules at once."))
}

/// Lists the elements that are added, changed or removed, in the order of the new list.
fn compare_lists<T: PartialEq + Serialize>(
    setting: &str,
    before: &[T],
    after: &[T],
    id: impl Fn(&T) -> String,
) -> Vec<SettingChange> {
    let first_with = |list: &[T], wanted: &str| list.iter().position(|one| id(one) == wanted);
    let mut changes = Vec::new();
    for now in after {
        let was = first_with(before, &id(now)).and_then(|at| before.get(at));
        if was != Some(now) {
            changes.push(describe_change(setting, was, Some(now)));
        }
    }
    for (at, was) in before.iter().enumerate() {
        // A file with a fault can have an id twice, and only the first one is compared above.
        let is_compared =
            first_with(before, &id(was)) == Some(at) && first_with(after, &id(was)).is_some();
        if !is_compared {
            changes.push(describe_change(setting, Some(was), None));
        }
    }
    changes
}

fn describe_change<T: Serialize>(
    setting: &str,
    before: Option<&T>,
    after: Option<&T>,
) -> SettingChange {
    let exact = |element: Option<&T>| {
        element.and_then(|element| serde_json::to_string(element).ok()).unwrap_or_default()
    };
    let after = exact(after);
    SettingChange {
        setting: setting.to_owned(),
        before: exact(before),
        note: describe_look_alikes(&look_alikes([after.as_str()])),
        after,
    }
}

/// Describes words that mix alphabets, so that a rule for another tool is not mistaken for a rule
/// for this one.
fn describe_look_alikes(found: &[LookAlike]) -> Option<Text> {
    let sentences = found.iter().map(|LookAlike { word, letter, code, script }| {
        text!(
            "{word}: \u{201c}{letter}\u{201d} is a letter of another script ({script}, {code}) than the rest of the word.",
            word,
            letter,
            script,
            code
        )
    });
    (!found.is_empty()).then(|| Text::join(sentences))
}
