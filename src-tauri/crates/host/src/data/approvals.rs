//! Approvals of definitions: a hash for each approved text, with its time and caller, outside of the
//! definitions file. This module must not know how figures are computed.

use std::collections::{BTreeMap, BTreeSet};

use analytics::Proof;
use contract::{
    AgentError, Reason, SourceApproveParams, SourceDescription, SourceName,
    definitions::{DefinitionApproval, Definitions},
    text,
};
use serde::Deserialize;

use super::{Inner, Sources, change_record, corrections::faulty, describing::Described, hash_of};
use crate::log::current_caller;

/// The approvals of a source by the hash of the definition. Older versions stored no time.
pub(super) type Approved = BTreeMap<String, Option<DefinitionApproval>>;

/// The approvals of all sources.
type Approvals = BTreeMap<SourceName, Approved>;

/// The approvals of a source as a file has them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    /// As versions before the time was stored.
    Hashes(BTreeSet<String>),
    /// With time and caller.
    Dated(Approved),
}

impl Stored {
    fn approved(self) -> Approved {
        match self {
            Self::Hashes(hashes) => hashes.into_iter().map(|hash| (hash, None)).collect(),
            Self::Dated(approved) => approved,
        }
    }
}

impl Sources {
    /// Approves definitions of a source, if they are those that were shown. A file can be edited,
    /// and an import can add definitions, while a person reads.
    pub(crate) async fn approve(
        &self,
        params: &SourceApproveParams,
    ) -> Result<SourceDescription, AgentError> {
        let inner = self.opened()?;
        let _changing = inner.begin_change().await?;
        let described = inner.read_described(&params.name)?;
        if let Some(fault) = described.faults.first() {
            return Err(faulty(fault));
        }
        let is_chosen = |hash: &String| params.only.is_empty() || params.only.contains(hash);
        let (names, hashes): (Vec<String>, BTreeSet<String>) = described
            .views
            .iter()
            .filter(|view| is_chosen(&view.hash))
            .map(|view| (view.name.clone(), view.hash.clone()))
            .unzip();
        let is_shown = params.only.iter().all(|hash| hashes.contains(hash));
        if !is_shown || hash_of(&described.definitions) != params.definitions_hash {
            return Err(changed_since_shown(&params.name));
        }
        let draft = change_record("approved", &params.name)
            .commit("approved", names)
            .commit("definitions", described.text.clone());
        inner.record(draft, &current_caller()).await?;
        inner.add_approvals(&params.name, hashes)?;
        inner.keep_version(&params.name, &described.definitions)?;
        inner.read_description(&params.name)
    }
}

impl Inner {
    fn approvals(&self) -> Result<Approvals, AgentError> {
        let path = self.storage.approved_definitions();
        if !path.is_file() {
            return Ok(Approvals::new());
        }
        let stored: BTreeMap<SourceName, Stored> = self.storage.read_json(&path)?;
        Ok(stored.into_iter().map(|(name, stored)| (name, stored.approved())).collect())
    }

    /// Returns the approvals of a source.
    pub(super) fn approvals_of(&self, name: &SourceName) -> Result<Approved, AgentError> {
        Ok(self.approvals()?.remove(name).unwrap_or_default())
    }

    /// Adds approvals of now. An approval that is known keeps its time.
    pub(super) fn add_approvals(
        &self,
        name: &SourceName,
        hashes: BTreeSet<String>,
    ) -> Result<(), AgentError> {
        let given =
            DefinitionApproval { at: self.clock.now(), by: current_caller().name().to_owned() };
        let mut approvals = self.approvals()?;
        let approved = approvals.entry(name.clone()).or_default();
        for hash in hashes {
            approved.entry(hash).or_default().get_or_insert_with(|| given.clone());
        }
        self.storage.write_json(&self.storage.approved_definitions(), &approvals)
    }

    /// Forgets the approvals of a source that was removed.
    pub(super) fn forget_approvals(&self, name: &SourceName) -> Result<(), AgentError> {
        let mut approvals = self.approvals()?;
        if approvals.remove(name).is_none() {
            return Ok(());
        }
        self.storage.write_json(&self.storage.approved_definitions(), &approvals)
    }

    /// Approves the definitions that a person changed, and no other definitions.
    pub(super) fn approve_changed(
        &self,
        before: &Described,
        definitions: &Definitions,
    ) -> Result<(), AgentError> {
        let known: BTreeSet<&String> = before.views.iter().map(|view| &view.hash).collect();
        let proof = Proof::default();
        let views = analytics::definition_views(definitions, &proof, &BTreeSet::new())?;
        let changed: BTreeSet<String> =
            views.into_iter().map(|view| view.hash).filter(|hash| !known.contains(hash)).collect();
        if changed.is_empty() {
            return Ok(());
        }
        self.add_approvals(&before.source.name, changed)
    }
}

fn changed_since_shown(source: &SourceName) -> AgentError {
    AgentError::invalid(text!("The definitions of {source} changed since they were shown.", source))
        .reason(Reason::Changed)
        .hint("Review them again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approvals_that_an_older_version_stored_have_no_time() {
        let old: Stored = serde_json::from_str(r#"["a", "b"]"#).unwrap();
        assert_eq!(old.approved(), Approved::from([("a".into(), None), ("b".into(), None)]));
        let json = r#"{"a": null, "b": {"at": "2026-11-30T09:00:00Z", "by": "terminal"}}"#;
        let new: Stored = serde_json::from_str(json).unwrap();
        let approved = new.approved();
        assert_eq!(approved["a"], None);
        assert_eq!(approved["b"].as_ref().unwrap().by, "terminal");
    }
}
