//! Whom a turn runs for, and the consequences. No other code branches on the kind of caller.

use std::sync::Arc;

use crate::{
    ports::{Profile, RecordDraft},
    run::live::RunContext,
};

/// Whom a turn runs for.
#[derive(Clone)]
pub(crate) enum Audience {
    /// A person at this computer, who can approve actions while the turn waits.
    Person,
    /// A program without a person who could approve. An action that needs approval stays pending,
    /// and the turn ends.
    Headless { run: Option<Arc<RunContext>> },
    /// A remote caller that receives the turn's events and sets limits. No person can approve here
    /// either.
    RemoteCaller(Arc<RunContext>),
    /// An action that was decided after its turn had ended.
    Detached { run: Option<Arc<RunContext>> },
}

impl Audience {
    /// Returns the audience of a new turn.
    pub(crate) fn of(run: Option<Arc<RunContext>>, is_headless: bool) -> Self {
        match run {
            Some(run) if run.is_heard() => Self::RemoteCaller(run),
            run if is_headless => Self::Headless { run },
            Some(_) | None => Self::Person,
        }
    }

    /// Whether a call may wait for a decision. If not, its pending action stays after the end of
    /// the turn.
    pub(crate) fn may_wait(&self) -> bool {
        matches!(self, Self::Person)
    }

    /// Whether a person is present whom an MCP server may ask something during a call.
    pub(crate) fn is_attended(&self) -> bool {
        matches!(self, Self::Person | Self::Detached { .. })
    }

    /// Returns the request of the run contract that the turn answers.
    pub(crate) fn run(&self) -> Option<&Arc<RunContext>> {
        match self {
            Self::Person => None,
            Self::Headless { run } | Self::Detached { run } => run.as_ref(),
            Self::RemoteCaller(run) => Some(run),
        }
    }

    /// Returns the remote caller that receives the events, if there is one.
    pub(crate) fn caller(&self) -> Option<&Arc<RunContext>> {
        self.run().filter(|run| run.is_heard())
    }

    /// Whether the caller is remote. A remote caller has its own limits and no settings, and learns
    /// only that a service failed, not how.
    pub(crate) fn is_remote(&self) -> bool {
        self.caller().is_some()
    }
}

/// Through what a person or program asked. The records of a question name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The chat window.
    Window,
    /// A terminal, also one that reaches this process over its socket.
    Terminal,
    /// A request over HTTP, or of the run contract.
    Caller,
    /// This process itself.
    #[default]
    Inside,
}

impl Origin {
    /// Returns the name in records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Terminal => "terminal",
            Self::Caller => "caller",
            Self::Inside => "inside",
        }
    }

    /// Whether the owner of the profile sits there.
    fn is_owner(self) -> bool {
        matches!(self, Self::Window | Self::Terminal)
    }

    /// Adds to a record through what was asked, and the name of the person if it is known.
    pub fn add_to(self, draft: RecordDraft, profile: &dyn Profile) -> RecordDraft {
        let draft = draft.field("origin", self.name());
        if self.is_owner() { add_person(draft, profile) } else { draft }
    }
}

/// Adds to a record the name of the person whose profile it is, if it is known.
pub(crate) fn add_person(draft: RecordDraft, profile: &dyn Profile) -> RecordDraft {
    match profile.person() {
        Some(person) => draft.commit("person", person),
        None => draft,
    }
}

/// Where a tool call belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The call is part of a conversation, which stores its items.
    Conversation,
    /// The call is made for a conversation that does not store its items.
    Beside,
    /// The call belongs to no conversation: a person or program called the tool by its id.
    Outside,
    /// No call is made: a person asks how a model's call would be decided.
    Trial,
}

impl Place {
    pub(crate) fn keeps_items(self) -> bool {
        self == Self::Conversation
    }
}
