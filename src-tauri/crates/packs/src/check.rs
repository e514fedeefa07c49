//! Checks everything in a manifest that the schema cannot express. The checks read plain JSON
//! instead of the typed manifest, so that all checks run even if part of the manifest has the wrong
//! shape. A missing member is reported by the schema, not by these checks.

mod agent;
mod conversation;
mod data;
mod entities;
mod instructions;
mod languages;
mod metric_queries;
mod preview;
mod programs;
mod results;
mod schemas;
mod security;
mod servers;
pub(crate) mod targets;
mod tools;

use crate::{fault::Faults, subject::Subject};

/// Runs all checks. A pack with a fault is not used; warnings only inform its author.
pub(crate) fn run_checks(subject: &Subject<'_>, faults: &mut Faults, warnings: &mut Faults) {
    schemas::check(subject, faults);
    tools::check(subject, faults);
    agent::check(subject, faults);
    preview::check(subject, faults, warnings);
    results::check(subject, faults, warnings);
    security::check(subject, faults);
    servers::check(subject, faults);
    conversation::check(subject, faults);
    entities::check(subject, faults);
    data::check(subject, faults);
    languages::check(subject, faults);
    metric_queries::check(subject, faults);
    instructions::check(subject, warnings);
}
