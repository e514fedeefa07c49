//! Answers a turn: the supervisor chooses the specialists, and each chosen specialist works in
//! rounds of model calls.

pub(crate) mod answer;
mod assistant;
mod decide;
pub(crate) mod executor;
pub(crate) mod fit;
pub(crate) mod instructions;
pub(crate) mod model_call;
pub(crate) mod prompts;
pub(crate) mod rounds;
pub(crate) mod route;
pub(crate) mod route_tool;
pub(crate) mod services;
pub(crate) mod supervisor;
mod synthesis;
pub(crate) mod tool_limit;
