//! The whole planner against the packs that ship and their real tools, in process.

mod conversations;
mod routing;
mod utterances;
mod world;
