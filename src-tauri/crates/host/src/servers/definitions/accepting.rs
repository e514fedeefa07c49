//! Accepts servers' definitions for a person, and pins files that the app itself writes. Each
//! change is stored before it takes effect.

use std::collections::{BTreeMap, BTreeSet};

use contract::{AcceptedTool, AgentError, Effect, PackId, Reason, ServerToolsAcceptParams, text};
use mcp::Definition;
use serde_json::Value;

use super::{
    Pin, Pins, hash_of, manifest_definition, manifest_key, numbers::without_numbers, server_key,
    shown_hash,
};

impl Pins {
    /// Pins the file of an added server in the form that the app has written.
    pub(crate) fn pin_server_file(&self, pack: &PackId, file: &Value) -> Result<(), AgentError> {
        let (definition, key) = (manifest_definition(pack, file), manifest_key(pack));
        let pin = Pin {
            hash: hash_of(&definition, pack, ""),
            accepted_at: self.clock.now(),
            by_person: false,
            effect: None,
            definition: definition.clone(),
        };
        let mut state = self.lock();
        let mut kept = state.kept.clone();
        kept.servers.insert(key.clone(), BTreeMap::from([(definition.name.clone(), pin)]));
        state.now.insert(key, vec![definition]);
        self.write_file(&mut state, kept)?;
        drop(state);
        self.publish();
        Ok(())
    }

    /// Accepts the tools that a server lists now, if a person saw and accepted exactly these tools.
    /// Otherwise, accepts nothing and returns the listed tools. If numbers may change, the hashes
    /// do not cover numbers.
    pub(crate) fn accept_list(
        &self,
        pack: &PackId,
        server: &str,
        accepted: &BTreeMap<String, AcceptedTool>,
        numbers_may_change: bool,
    ) -> Result<Result<(), Vec<Definition>>, AgentError> {
        let mut state = self.lock();
        let key = server_key(pack, server);
        let listed = state.now.get(&key).cloned().unwrap_or_default();
        let is_as_shown = |definition: &Definition| {
            accepted.get(&definition.name).is_some_and(|shown| {
                shown.hash == shown_hash(definition, pack, server, numbers_may_change)
            })
        };
        let names: BTreeSet<&String> = listed.iter().map(|definition| &definition.name).collect();
        let is_whole = names.len() == listed.len() && names.len() == accepted.len();
        if !is_whole || !listed.iter().all(is_as_shown) {
            return Ok(Err(listed));
        }
        let mut kept = state.kept.clone();
        let pin = |definition: Definition| {
            let hash = definition.hash(pack, server);
            let effect = accepted.get(&definition.name).and_then(|shown| shown.effect);
            let accepted_at = self.clock.now();
            let name = definition.name.clone();
            // The hash does not cover numbers, so the text may have other numbers than the user
            // saw.
            let by_person = !numbers_may_change || without_numbers(&definition) == definition;
            (name, Pin { definition, hash, accepted_at, by_person, effect })
        };
        if numbers_may_change {
            kept.numbers_may_change.insert(key.clone());
        }
        kept.servers.insert(key, listed.into_iter().map(pin).collect());
        self.write_file(&mut state, kept)?;
        drop(state);
        self.publish();
        Ok(Ok(()))
    }

    /// Accepts the current definitions of tools if they are the same as those shown. Accepts
    /// nothing if one of them has changed.
    pub(crate) fn accept_definitions(
        &self,
        shown: &ServerToolsAcceptParams,
    ) -> Result<(), AgentError> {
        let ServerToolsAcceptParams { pack, server, hashes, numbers_may_change } = shown;
        let mut state = self.lock();
        let key = server_key(pack, server);
        let mut kept = state.kept.clone();
        let mut pins = kept.servers.get(&key).cloned().unwrap_or_default();
        for (tool, hash) in hashes {
            let mut present = state.now.get(&key).into_iter().flatten();
            let is_shown =
                |now: &&Definition| now.name == *tool && hash_of(now, pack, server) == *hash;
            let Some(definition) = present.find(is_shown).cloned() else {
                return Err(AgentError::invalid(text!(
                    "The description of {tool} has changed since it was shown.",
                    tool = tool.as_str()
                ))
                .reason(Reason::Changed)
                .hint("Review it again."));
            };
            let effect = pins.get(tool).and_then(|pin| pin.said_of(&definition));
            let (hash, accepted_at) = (hash.clone(), self.clock.now());
            let pin = Pin { definition, hash, accepted_at, by_person: true, effect };
            pins.insert(tool.clone(), pin);
        }
        // A server without any pin would count as a server that was never reached.
        if !pins.is_empty() {
            kept.servers.insert(key.clone(), pins);
        }
        if let Some(may_change) = numbers_may_change {
            kept.numbers_may_change.remove(&key);
            kept.numbers_may_change.extend(may_change.then_some(key));
        }
        self.write_file(&mut state, kept)?;
        drop(state);
        self.publish();
        Ok(())
    }

    /// Stores the effect that the user sets for a tool.
    pub(crate) fn set_effect(
        &self,
        pack: &PackId,
        server: &str,
        tool: &str,
        effect: Effect,
    ) -> Result<(), AgentError> {
        let mut state = self.lock();
        let mut kept = state.kept.clone();
        let Some(pin) =
            kept.servers.get_mut(&server_key(pack, server)).and_then(|tools| tools.get_mut(tool))
        else {
            return Err(AgentError::invalid(text!(
                "{server} has no accepted tool {tool}.",
                server,
                tool
            ))
            .reason(Reason::NotFound));
        };
        pin.effect = Some(effect);
        self.write_file(&mut state, kept)?;
        drop(state);
        self.publish();
        Ok(())
    }

    /// Deletes all data about a server that was removed.
    pub(crate) fn forget_server(&self, pack: &PackId, server: &str) -> Result<(), AgentError> {
        let key = server_key(pack, server);
        let mut state = self.lock();
        state.now.remove(&key);
        state.unusable.remove(&key);
        let mut kept = state.kept.clone();
        let (tools, manifest) =
            (kept.servers.remove(&key), kept.servers.remove(&manifest_key(pack)));
        kept.numbers_may_change.remove(&key);
        state.now.remove(&manifest_key(pack));
        if tools.is_some() || manifest.is_some() {
            self.write_file(&mut state, kept)?;
        }
        drop(state);
        self.publish();
        Ok(())
    }
}
