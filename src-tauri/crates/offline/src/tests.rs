//! The whole planner against the packs that ship and their real tools, in process.

mod conversations;
mod follow_ups;
mod routing;

mod utterances;
mod world;
