//! Tests of the whole planner with the shipped packs and their real tools, in process.

mod conversations;
mod coverage;
mod data;
mod follow_ups;
mod handbook;
mod notes;
mod questions;
mod routing;

mod utterances;
mod world;
