//! One turn, from the accepted message to its end. All parts read `context`. `answer` and the parts
//! in `agents`, `tools` and `approvals` own the state they change.

pub(crate) mod answer;
pub(crate) mod audience;
pub(crate) mod context;
pub(crate) mod direct;
pub(crate) mod ending;
pub(crate) mod frame;
mod mentions;
pub(crate) mod outcome;
pub(crate) mod partial;
pub(crate) mod prompt_preview;
pub(crate) mod recover;
pub(crate) mod running;
pub(crate) mod switches;
pub(crate) mod traces;
