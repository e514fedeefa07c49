//! Tests of the rows that version 0.1.0 of the pack kept: they are written as tables, and with the sums
//! of each account and month.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    path::Path,
};

use campaign_portfolio_pacing::EarlierPacing;
use contract::{
    AgentError,
    pack_code::{EarlierData as _, OldTables},
};
use rusqlite::Connection;

/// Makes the database of version 0.1.0 in a folder, and changes it.
fn make_database(folder: &Path, change: &str) {
    let db = Connection::open(folder.join("pacing.db")).unwrap();
    db.execute_batch(include_str!("earlier.sql")).unwrap();
    db.execute_batch(change).unwrap();
}

/// Writes the tables beside the database.
fn export(folder: &Path) -> Result<Option<OldTables>, AgentError> {
    EarlierPacing.export_tables(folder, &mut |name: &str| {
        Ok(Box::new(File::create(folder.join(name))?) as Box<dyn Write>)
    })
}

#[test]
fn imported_rows_are_written_as_tables_with_their_sums() {
    let folder = tempfile::tempdir().unwrap();
    make_database(folder.path(), "");
    let found = export(folder.path()).unwrap().unwrap();
    let names: Vec<&str> = found.tables.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["campaigns.csv", "delivery.csv"]);
    let zones = [("Test", "Europe/Stockholm"), ("York", "America/New_York")];
    let zones = zones.map(|(account, zone)| (account.to_owned(), zone.to_owned()));
    assert_eq!(found.tables.zones, BTreeMap::from(zones));
    let delivery = fs::read_to_string(folder.path().join("delivery.csv")).unwrap();
    assert_eq!(
        delivery.lines().skip(1).collect::<Vec<_>>(),
        [
            "7,Test,SEK,Adv,A,\"Oak, all\",1,Line,2026-10-31,12.345678,100",
            "7,Test,SEK,Adv,A,\"Oak, all\",1,Line,2026-11-01,10.00,90",
            "8,York,USD,Bolt,B,-20 % sale,1,Line,2026-10-31,3.00,30",
            "8,York,USD,Bolt,B,-20 % sale,1,Line,2026-11-01,4.00,40",
        ]
    );
    let plan = fs::read_to_string(folder.path().join("campaigns.csv")).unwrap();
    assert_eq!(
        plan.lines().nth(1),
        Some("7,Test,Europe/Stockholm,SEK,Adv,A,\"Oak, all\",600.00,2026-10-01,2026-11-30")
    );
    let sums: BTreeMap<(String, String), Vec<String>> = found
        .delivery
        .unwrap()
        .sums
        .into_iter()
        .map(|one| ((one.account, one.month), one.sums))
        .collect();
    assert_eq!(sums.len(), 4);
    let october = &sums[&("7".to_owned(), "2026-10".to_owned())];
    assert_eq!(*october, ["12.345678", "100"]);
}

#[test]
fn a_budget_without_a_flight_is_told_and_rows_of_the_sample_are_none() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(export(folder.path()).unwrap(), None, "there is no file");
    make_database(folder.path(), "UPDATE campaigns SET flight_end = NULL WHERE id = 'A'");
    let found = export(folder.path()).unwrap().unwrap();
    assert!(found.notes[0].contains("not in the plan"), "{:?}", found.notes);

    let folder = tempfile::tempdir().unwrap();
    let only_sample =
        "DELETE FROM delivery WHERE line_item_key > 1; DELETE FROM line_items WHERE key > 1;
        DELETE FROM campaigns WHERE key > 1; DELETE FROM accounts WHERE dataset = 1;";
    make_database(folder.path(), only_sample);
    assert_eq!(export(folder.path()).unwrap(), None);
}

#[test]
fn a_file_of_a_newer_version_or_with_damage_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    make_database(folder.path(), "PRAGMA user_version = 2");
    let newer = export(folder.path()).unwrap_err();
    assert_eq!(newer.reason_text(), Some("pacing_newer"));
    fs::write(folder.path().join("pacing.db"), "no database at all").unwrap();
    assert!(export(folder.path()).is_err());
}
