//! The caller: its kind with its name, and what it may use. Decides nothing: `policy` says whether a
//! call runs.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{PackId, settings::Limits};

/// The kind of a caller, with the name that it has among others of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallerKind {
    /// A person at a window of the app.
    Window,
    /// A person at a terminal, also one that reaches this process over its socket.
    Terminal,
    /// A customer of the chat API.
    // Older recordings and records say "caller".
    #[serde(alias = "caller")]
    ChatApi,
    /// A program that sends requests of the run contract.
    Agent(String),
    /// A schedule of the profile.
    Schedule(String),
    /// This process itself.
    #[default]
    Inside,
}

impl CallerKind {
    /// All kinds. Those with a name of their own have an empty one.
    pub const ALL: [Self; 6] = [
        Self::Window,
        Self::Terminal,
        Self::ChatApi,
        Self::Agent(String::new()),
        Self::Schedule(String::new()),
        Self::Inside,
    ];

    /// Returns the kind with this name in records.
    pub fn from_name(name: &str) -> Option<Self> {
        // Older recordings and records say "caller".
        let name = if name == "caller" { Self::ChatApi.name() } else { name };
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name of the kind in records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Terminal => "terminal",
            Self::ChatApi => "chat_api",
            Self::Agent(_) => "agent",
            Self::Schedule(_) => "schedule",
            Self::Inside => "inside",
        }
    }

    /// Whether the profile's owner asks, or this process for the owner. Only their messages are
    /// recorded for a replay.
    pub fn is_person(&self) -> bool {
        match self {
            Self::Window | Self::Terminal | Self::Inside => true,
            Self::ChatApi | Self::Agent(_) | Self::Schedule(_) => false,
        }
    }

    /// Whether this process asks itself.
    pub fn is_inside(&self) -> bool {
        *self == Self::Inside
    }

    /// Whether the name is of a place where the owner of the profile sits.
    pub fn is_owner_name(name: &str) -> bool {
        [Self::Window, Self::Terminal].iter().any(|kind| kind.name() == name)
    }

    /// Returns the caller's own name, if its kind has several.
    pub fn own_name(&self) -> Option<&str> {
        match self {
            Self::Agent(name) | Self::Schedule(name) => Some(name).filter(|name| !name.is_empty()),
            Self::Window | Self::Terminal | Self::ChatApi | Self::Inside => None,
        }
        .map(String::as_str)
    }

    /// Whether the caller sits outside of this computer. It has its own limits and no settings, and
    /// learns only that a service failed, not how.
    pub fn is_remote(&self) -> bool {
        *self == Self::ChatApi
    }

    /// Whether the owner of the profile sits there.
    pub fn is_owner(&self) -> bool {
        matches!(self, Self::Window | Self::Terminal)
    }
}

/// Somebody who asks.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The kind, with the name.
    pub kind: CallerKind,
    /// Whether a call may wait until a person has decided. If not, its action stays pending and the
    /// turn ends.
    pub may_wait: bool,
    /// The packs that the caller can use. None for all.
    pub packs: Option<Arc<[PackId]>>,
    /// The caller's own limits, in place of the profile's.
    pub limits: Option<Limits>,
}

impl Caller {
    /// Returns a caller of this kind that can use all packs. Only a person may wait.
    pub fn new(kind: CallerKind) -> Self {
        Self { may_wait: kind.is_person(), kind, packs: None, limits: None }
    }

    /// Returns the person at a window.
    pub fn window() -> Self {
        Self::new(CallerKind::Window)
    }

    /// Returns the person at a terminal.
    pub fn terminal() -> Self {
        Self::new(CallerKind::Terminal)
    }

    /// Returns this process.
    pub fn inside() -> Self {
        Self::new(CallerKind::Inside)
    }

    /// Returns a customer of the chat API, who can use these packs within these limits.
    pub fn chat_api(packs: Arc<[PackId]>, limits: Limits) -> Self {
        Self { packs: Some(packs), limits: Some(limits), ..Self::new(CallerKind::ChatApi) }
    }

    /// Returns a program that sends requests of the run contract.
    pub fn agent(name: impl Into<String>) -> Self {
        Self::new(CallerKind::Agent(name.into()))
    }

    /// Returns the same caller; if `is_headless`, it does not wait for decisions.
    #[must_use]
    pub fn headless(self, is_headless: bool) -> Self {
        Self { may_wait: self.may_wait && !is_headless, ..self }
    }

    /// Whether the caller sits outside of this computer.
    pub fn is_remote(&self) -> bool {
        self.kind.is_remote()
    }

    /// Whether a pack is among those that the caller can use.
    pub fn can_use(&self, pack: &PackId) -> bool {
        self.packs.as_ref().is_none_or(|packs| packs.contains(pack))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_its_name_and_the_chat_api_by_its_older_one() {
        for kind in CallerKind::ALL {
            assert_eq!(CallerKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(CallerKind::from_name("caller"), Some(CallerKind::ChatApi));
        assert_eq!(CallerKind::from_name("nobody"), None);
    }
}
