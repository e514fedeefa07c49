//! Answers a turn: the supervisor that chooses a specialist, and the rounds of the specialist that
//! works.

pub(crate) mod fit;
pub(crate) mod model_call;
pub(crate) mod prompts;
pub(crate) mod rounds;
pub(crate) mod route;
pub(crate) mod supervisor;
