//! For whom a turn runs, and all that follows from it. No other place decides by the kind of
//! caller.

use std::sync::Arc;

use crate::run::live::RunContext;

/// For whom a turn runs.
#[derive(Clone)]
pub(crate) enum Audience {
    /// A person at this computer, who can approve while the turn waits.
    Person,
    /// A program. Nobody approves here: an action that needs it stays pending, and the turn ends.
    Headless { run: Option<Arc<RunContext>> },
    /// A caller elsewhere who receives the turn's events and whose limits hold. Nobody approves
    /// here either.
    RemoteCaller(Arc<RunContext>),
    /// The turn has ended, and somebody has decided about its pending action since.
    Detached { run: Option<Arc<RunContext>> },
}

impl Audience {
    /// The audience of a new turn.
    pub(crate) fn of(run: Option<Arc<RunContext>>, is_headless: bool) -> Self {
        match run {
            Some(run) if run.is_heard() => Self::RemoteCaller(run),
            run if is_headless => Self::Headless { run },
            Some(_) | None => Self::Person,
        }
    }

    /// Whether a call may wait for a decision. If not, its pending action outlives the turn.
    pub(crate) fn may_wait(&self) -> bool {
        matches!(self, Self::Person)
    }

    /// Whether somebody is there whom a tool's server may ask in the middle of a call.
    pub(crate) fn is_attended(&self) -> bool {
        matches!(self, Self::Person | Self::Detached { .. })
    }

    /// The request that the turn answers, by the run contract or for a caller elsewhere.
    pub(crate) fn run(&self) -> Option<&Arc<RunContext>> {
        match self {
            Self::Person => None,
            Self::Headless { run } | Self::Detached { run } => run.as_ref(),
            Self::RemoteCaller(run) => Some(run),
        }
    }

    /// The caller elsewhere who receives the events, if there is one.
    pub(crate) fn caller(&self) -> Option<&Arc<RunContext>> {
        self.run().filter(|run| run.is_heard())
    }

    /// A caller elsewhere has limits of its own, no settings, and hears only that a service failed,
    /// not how.
    pub(crate) fn is_remote(&self) -> bool {
        self.caller().is_some()
    }
}

/// Where a call belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a conversation, which keeps its items.
    Conversation,
    /// It is made for a conversation and leaves nothing in it.
    Beside,
    /// Outside of conversations: a person or a program asked for the tool by its id.
    Outside,
}

impl Place {
    pub(crate) fn keeps_items(self) -> bool {
        self == Self::Conversation
    }
}
