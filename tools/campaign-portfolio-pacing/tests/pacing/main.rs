//! The pacing service from the outside: arguments in, result object out, over real files.

mod sample;

use std::sync::Arc;

use campaign_portfolio_pacing::Pacing;

/// A service in a folder of its own, at a fixed moment.
fn service(now: &str) -> (tempfile::TempDir, Pacing) {
    let folder = tempfile::tempdir().unwrap();
    let pacing = at(folder.path(), now);
    (folder, pacing)
}

fn at(folder: &std::path::Path, now: &str) -> Pacing {
    let now = now.parse().unwrap();
    Pacing::open(folder, Arc::new(move || now)).unwrap()
}
