//! A whole host from the outside: the command list in, answers out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may stop")]

mod data;
mod doors;
mod ledger;
mod packs;
mod servers;
mod socket;

use std::{sync::Arc, time::Duration};

use host::{Host, Options};

/// Opens a profile, also again. A program that another test starts just then holds this process's locks, too, until it has become what
/// it is to be.
async fn open(options: impl Fn() -> Options) -> Arc<Host> {
    for _ in 0..500 {
        match Host::open(options()).await {
            Err(error) if error.reason_text() == Some("profile_in_use") => tokio::time::sleep(Duration::from_millis(10)).await,
            opened => return opened.unwrap(),
        }
    }
    panic!("the profile stays in use");
}
