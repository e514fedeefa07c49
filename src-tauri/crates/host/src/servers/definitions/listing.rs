//! Lists the tools of servers with their accepted and their current definitions. Changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use contract::{DefinitionState, Effect, PackId, ServerTool, Text};

use super::{
    Pin, Pins, declared_effect, difference::diff_definitions, effect_or_default, hash_of,
    numbers::differs_in_numbers, server_key,
};
use crate::servers::tool_notes;

impl Pins {
    /// Returns the usable tools of a server, by name, with their current definitions. A tool that
    /// differs from its accepted definition only in numbers can be used, but nobody has accepted
    /// its text.
    pub(crate) fn usable_pins(&self, pack: &PackId, server: &str) -> Vec<Pin> {
        let (state, key) = (self.lock(), server_key(pack, server));
        let kept = state.kept.servers.get(&key).into_iter().flatten();
        kept.filter(|(name, pin)| state.state_of(&key, name, pin) == DefinitionState::Accepted)
            .map(|(name, pin)| {
                let mut now = state.now.get(&key).into_iter().flatten();
                let present = now.find(|now| now.name == *name);
                match present.filter(|now| **now != pin.definition) {
                    Some(now) => Pin {
                        definition: now.clone(),
                        hash: hash_of(now, pack, server),
                        by_person: false,
                        ..pin.clone()
                    },
                    None => pin.clone(),
                }
            })
            .collect()
    }

    /// Returns notes about parts of the servers' lists that cannot be used or checked, each with
    /// its server.
    pub(crate) fn notes(&self) -> Vec<(String, Text)> {
        let state = self.lock();
        // A manifest is not pinned under a server's name.
        let name_of = |server: &String| {
            let name = server.split_once('/').map(|(_, name)| name.to_owned());
            name.filter(|name| !name.is_empty())
        };
        let mut notes = Vec::new();
        for (server, tools) in &state.unusable {
            let Some(name) = name_of(server) else { continue };
            let of = tools.iter().map(tool_notes::note_unreadable);
            notes.extend(of.map(|note| (name.clone(), note)));
        }
        for (server, pins) in &state.kept.servers {
            let Some(name) = name_of(server) else { continue };
            let of = pins.values().filter_map(|pin| tool_notes::note_unchecked(&pin.definition));
            notes.extend(of.map(|note| (name.clone(), note)));
        }
        notes
    }

    /// Returns all tools of all known servers, with their changes. `declared` returns the effect
    /// that a manifest declares.
    pub(crate) fn list_tools(
        &self,
        declared: impl Fn(&str, &str) -> Option<Effect>,
    ) -> Vec<ServerTool> {
        let state = self.lock();
        let mut found = Vec::new();
        let servers: BTreeSet<&String> =
            state.kept.servers.keys().chain(state.now.keys()).collect();
        for server in servers {
            let Some((pack, name)) = server.split_once('/') else { continue };
            let (pack, none) = (PackId::from(pack), BTreeMap::new());
            let pins = state.kept.servers.get(server).unwrap_or(&none);
            let now = state.now.get(server);
            let names: BTreeSet<&String> = pins
                .keys()
                .chain(now.into_iter().flatten().map(|definition| &definition.name))
                .collect();
            for tool in names {
                let pin = pins.get(tool);
                let present =
                    now.and_then(|all| all.iter().find(|definition| definition.name == *tool));
                let state =
                    pin.map_or(DefinitionState::New, |pin| state.state_of(server, tool, pin));
                let Some(definition) = present.or(pin.map(|pin| &pin.definition)) else { continue };
                let stated = declared(server, tool);
                let is_manifest = name.is_empty();
                found.push(ServerTool {
                    pack: pack.clone(),
                    server: name.to_owned(),
                    name: tool.clone(),
                    state,
                    hash: hash_of(definition, &pack, name),
                    effect: stated.unwrap_or_else(|| {
                        effect_or_default(definition, pin.and_then(|pin| pin.said_of(definition)))
                    }),
                    declared: stated.is_some() || is_manifest,
                    says: declared_effect(definition),
                    only_numbers: state == DefinitionState::Changed
                        && pin.is_some_and(|pin| differs_in_numbers(&pin.definition, definition)),
                    diff: match state {
                        DefinitionState::Accepted | DefinitionState::Gone => Vec::new(),
                        DefinitionState::Changed | DefinitionState::New => {
                            diff_definitions(pin.map(|pin| &pin.definition), definition)
                        }
                    },
                });
            }
        }
        found
    }
}
