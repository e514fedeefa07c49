//! The caller of a turn: its kind, its name, and the packs it may use. `policy` decides whether a
//! call runs.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{PackId, settings::Limits};

/// The kind of a caller, with a name that distinguishes callers of the same kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallerKind {
    /// A person at a window of the app.
    Window,
    /// A person at a terminal, also in another process that uses the socket of this process.
    Terminal,
    /// A customer of the chat API.
    // Older recordings and records use the name "caller".
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
    /// All kinds. For kinds with a name, the name is empty.
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
        // Older recordings and records use the name "caller".
        let name = if name == "caller" { Self::ChatApi.name() } else { name };
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether callers of this kind can have names of their own.
    pub fn takes_own_name(&self) -> bool {
        matches!(self, Self::Agent(_) | Self::Schedule(_))
    }

    /// Returns the kind with a caller's own name. Kinds without names of their own stay the same.
    #[must_use]
    pub fn with_own_name(self, name: &str) -> Self {
        match self {
            Self::Agent(_) => Self::Agent(name.to_owned()),
            Self::Schedule(_) => Self::Schedule(name.to_owned()),
            kind => kind,
        }
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

    /// Whether the caller is the profile's owner, or this process on the owner's behalf. Only
    /// messages of these callers are recorded for a replay.
    pub fn is_person(&self) -> bool {
        match self {
            Self::Window | Self::Terminal | Self::Inside => true,
            Self::ChatApi | Self::Agent(_) | Self::Schedule(_) => false,
        }
    }

    /// Whether the caller is this process itself.
    pub fn is_inside(&self) -> bool {
        *self == Self::Inside
    }

    /// Whether the name is a kind that means the owner of the profile: a window or a terminal.
    pub fn is_owner_name(name: &str) -> bool {
        [Self::Window, Self::Terminal].iter().any(|kind| kind.name() == name)
    }

    /// Returns the caller's own name, if its kind has named callers.
    pub fn own_name(&self) -> Option<&str> {
        match self {
            Self::Agent(name) | Self::Schedule(name) => Some(name).filter(|name| !name.is_empty()),
            Self::Window | Self::Terminal | Self::ChatApi | Self::Inside => None,
        }
        .map(String::as_str)
    }

    /// Whether the caller is outside this computer. Such a caller has its own limits and no
    /// settings, and is only told that a service failed, not how.
    pub fn is_remote(&self) -> bool {
        *self == Self::ChatApi
    }

    /// Whether the caller is the owner of the profile.
    pub fn is_owner(&self) -> bool {
        matches!(self, Self::Window | Self::Terminal)
    }
}

/// A caller of the host.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The kind of the caller, with its name.
    pub kind: CallerKind,
    /// Whether a call may wait until a person has decided. Otherwise, the action stays pending and
    /// the turn ends.
    pub may_wait: bool,
    /// The packs that the caller can use. None means all packs.
    pub packs: Option<Arc<[PackId]>>,
    /// The caller's own limits, which replace the profile's limits.
    pub limits: Option<Limits>,
}

impl Caller {
    /// Returns a caller of this kind that can use all packs. Only a person may wait.
    pub fn new(kind: CallerKind) -> Self {
        Self { may_wait: kind.is_person(), kind, packs: None, limits: None }
    }

    /// Returns the caller for a person at a window.
    pub fn window() -> Self {
        Self::new(CallerKind::Window)
    }

    /// Returns the caller for a person at a terminal.
    pub fn terminal() -> Self {
        Self::new(CallerKind::Terminal)
    }

    /// Returns the caller for this process itself.
    pub fn inside() -> Self {
        Self::new(CallerKind::Inside)
    }

    /// Returns a caller for a customer of the chat API, limited to these packs and limits.
    pub fn chat_api(packs: Arc<[PackId]>, limits: Limits) -> Self {
        Self { packs: Some(packs), limits: Some(limits), ..Self::new(CallerKind::ChatApi) }
    }

    /// Returns a caller for a program that sends requests of the run contract.
    pub fn agent(name: impl Into<String>) -> Self {
        Self::new(CallerKind::Agent(name.into()))
    }

    /// Returns the same caller. If `is_headless`, the caller does not wait for decisions.
    #[must_use]
    pub fn headless(self, is_headless: bool) -> Self {
        Self { may_wait: self.may_wait && !is_headless, ..self }
    }

    /// Whether the caller is outside this computer.
    pub fn is_remote(&self) -> bool {
        self.kind.is_remote()
    }

    /// Whether the caller can use a pack.
    pub fn can_use(&self, pack: &PackId) -> bool {
        self.packs.as_ref().is_none_or(|packs| packs.contains(pack))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_kind_is_found_by_its_name_and_the_chat_api_also_by_its_older_name() {
        for kind in CallerKind::ALL {
            assert_eq!(CallerKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(CallerKind::from_name("caller"), Some(CallerKind::ChatApi));
        assert_eq!(CallerKind::from_name("nobody"), None);
    }
}
