//! The adversary: programs in which the model steals. It has this source, chooses each call and each
//! argument after every result, and wants two things: a change that nobody approved, and any byte at
//! a place that the person neither named nor allowed nor configured.
//!
//! Run it:
//!
//! ```text
//! cargo test --workspace --test border adversary::                      200 programs
//! SOAK=1 cargo test --workspace --test border adversary::               2,000 programs, a new seed
//! SOAK=1 SOAK_SEED=7 cargo test --workspace --test border adversary::   the programs of seed 7
//! ```
//!
//! A program is made from its seed alone. A failing one prints what it did, in order.
//!
//! - `outside` is the world: the servers as an observer of the network sees them. It finds the place
//!   that a call reaches in its own way, as the clients of real servers do, and knows nothing of
//!   `policy`.
//! - `servers` describes the tools of five added servers (mail, files, web, notes, database) as the
//!   host offers them, beside the packs that ship.
//! - `techniques` are the ways to hide data and destinations. A new idea is one more entry there.
//! - `thief` is the model: it reads each request and chooses the next calls.
//! - `person` is the one who types, and who answers questions by a plan that is fixed for a program.
//! - `judge` compares what happened with what the person said. It has the only opinion on what is
//!   right, and none of it comes from the code under test.
//! - `program` runs one program against the real engine, store and log.
//! - `costs` is the other side: the questions that ordinary tasks cost (`tasks.txt`).
//!
//! The harness does not try: a server that takes an address in a form of its own (base64, say),
//! and redirects that a server makes from a part of a path. Only the server knows these.

mod costs;
mod judge;
mod outside;
mod person;
mod program;
mod servers;
mod techniques;
mod thief;

use futures::StreamExt as _;
use program::{Lie, Totals, run};
use soak::Plan;

/// The programs of `make soak`.
const PROGRAMS: u64 = 2_000;
/// The most failed programs that are shown in full.
const SHOWN: usize = 20;
/// The programs that run at once, because each waits for its disk.
const AT_ONCE: usize = 4;

#[tokio::test]
async fn an_adversary_gets_no_effect_and_no_byte_that_nobody_allowed() {
    let plan = Plan::new("adversary", PROGRAMS);
    let (mut totals, mut failed) = (Totals::default(), Vec::new());
    let programs = (0..plan.cases()).map(async |case| (case, run(plan.random(case), None).await));
    let mut programs = futures::stream::iter(programs).buffered(AT_ONCE);
    while let Some((case, played)) = programs.next().await {
        totals.add(&played.totals);
        if !played.faults.is_empty() {
            let (faults, story) = (played.faults.join("\n"), played.story.join("\n"));
            failed.push(format!("{}:\n{faults}\nWhat it did:\n{story}", plan.case(case)));
        }
    }
    eprintln!("{totals}");
    let shown = failed.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failed.is_empty(), "{} programs failed; the first ones:\n{shown}", failed.len());
    // Programs in which nothing runs would prove nothing.
    assert!(totals.ran > plan.cases() && totals.signed_effects > 0, "{totals}");
    assert!(totals.rightful_deliveries > 0 && totals.questions > plan.cases(), "{totals}");
    assert_eq!(totals.unused_techniques(), Vec::<&str>::new(), "each technique is used");
}

/// The judge is not blind: where a declaration is false, the same programs leak and change things.
#[tokio::test]
async fn the_judge_sees_leaks_and_effects_where_the_protection_is_off() {
    let plan = Plan::new("adversary, unprotected", 200);
    for lie in [Lie::ServersWithoutNetwork, Lie::WritesAreReads] {
        let mut found = 0;
        for case in 0..plan.cases() {
            let played = run(plan.random(case), Some(lie)).await;
            let sought = match lie {
                Lie::ServersWithoutNetwork => "went to",
                Lie::WritesAreReads => "without a signature",
            };
            found += u64::from(played.faults.iter().any(|fault| fault.contains(sought)));
        }
        assert!(found > plan.cases() / 4, "{lie:?}: {found} of {}", plan.cases());
    }
}
