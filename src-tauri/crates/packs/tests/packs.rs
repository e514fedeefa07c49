//! Packs as authors write them: each kind of fault is found where it is, and the packs that ship have none.

use std::path::{Path, PathBuf};

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools")
}

#[test]
fn the_shipped_packs_have_no_faults() {
    let loaded = packs::load(&[tools()]);
    let faults: Vec<_> = loaded.iter().flat_map(|l| &l.view.faults).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let ids: Vec<&str> = loaded.iter().map(|l| l.view.id.as_str()).collect();
    assert_eq!(ids, ["campaign-portfolio-pacing", "shop"]);
    assert!(loaded.iter().all(|l| l.pack.is_some() && !l.view.tools.is_empty()));
}
