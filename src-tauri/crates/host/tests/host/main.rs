//! Tests of a whole host through its command list.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may stop")]

mod alerts;
mod boards;
mod changed_servers;
mod conversations;
mod daily_servers;
mod data_tools;
mod data_world;
mod databases;
mod day;
mod doors;
mod hostile;
mod imported_servers;
mod ledger;
mod memory;
mod model_list;
mod model_servers;
mod odd_servers;
mod own_servers;
mod packs;
mod published_servers;
mod rules;
mod server_files;
mod server_trust;
mod servers;
mod socket;
mod sources;
mod versions;

use std::{sync::Arc, time::Duration};

use host::{Host, Options};

/// Opens a profile, with retries: a program that another test is starting also holds this process's
/// locks until it calls exec.
async fn open(options: impl Fn() -> Options) -> Arc<Host> {
    for _ in 0..500 {
        match Host::open(options()).await {
            Err(error) if error.reason_text() == Some("profile_in_use") => {
                tokio::time::sleep(Duration::from_millis(10)).await
            }
            opened => return opened.unwrap(),
        }
    }
    panic!("the profile stays in use");
}
