//! Tests of the whole planner with the shipped packs and their real tools, in process.

mod conversations;
mod coverage;
mod data;
mod extremes;
mod follow_ups;
mod foreign_words;
mod going_on;
mod handbook;
mod names;
mod notes;
mod pacing;
mod questions;
mod routing;
mod sample;
mod standing;
mod utterances;
mod what_if;
mod world;
