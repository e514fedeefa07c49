//! Approvals: pending actions, a person's decisions about them, and the final check before the
//! effect.

pub(crate) mod actions;
mod again;
pub(crate) mod answers;
pub(crate) mod decide;
pub(crate) mod ending;
pub(crate) mod gate;
pub(crate) mod grants;
pub(crate) mod look_alikes;
mod origins;
pub(crate) mod preview;
pub(crate) mod proposal;
pub(crate) mod recheck;
pub(crate) mod repeats;
mod restored;
pub(crate) mod router;
pub(crate) mod services;
pub(crate) mod transitions;
