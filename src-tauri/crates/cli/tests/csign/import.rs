//! Tests of `csign import`: files that are recognised, refused with a remedy, mapped, and remembered.

use std::fs;

use serde_json::Value;

use crate::world::{Ran, World};

const UNKNOWN: &str = "When;What;How much\n2.11.2026;Alpha;1.234,50\n3.11.2026;Alpha;0,50\n";
const MAPPED: [&str; 3] = ["--map=day=When", "--map=campaign=What", "'--map=spend=How much'"];
const SWEDISH: &str = "Kampanjrapport\n1 november 2026 - 2 november 2026\nDag\tKampanj\tValutakod\tKostnad\tVisn.\n2026-11-01\tVår & höst\tSEK\t1 234,50\t12 000\n2026-11-02\tVår & höst\tSEK\t10,00\t10\nSumma: Kampanjer\t --\tSEK\t1 244,50\t12 010\n";

fn file(world: &World, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = world.path(name);
    fs::write(&path, content).expect("written");
    path.display().to_string()
}

fn import(world: &World, file: &str, options: &[&str]) -> Ran {
    world.at_a_terminal(&[&["import", file], options].concat())
}

/// Returns the total spend of an account in November.
fn spent(world: &World, account: &str) -> Value {
    let args = format!(
        r#"{{"account_id":"{account}","campaign_start":"2026-11-01","campaign_end":"2026-11-30"}}"#
    );
    let call = ["--json", "tools", "call", "analyze_portfolio_pacing", "--args", &args];
    world.run(&call).ends_with(0).json()["data"]["rollups"]["portfolio_total"]["total_spend"]
        .clone()
}

#[track_caller]
fn assert_says(ran: &Ran, words: &[&str]) {
    for part in words {
        assert!(ran.out.contains(part), "{part:?} is missing in\n{}", ran.out);
    }
}

#[test]
fn an_unknown_layout_is_refused_with_its_columns_and_imported_when_they_are_named() {
    let world = World::new();
    let file = file(&world, "export.csv", UNKNOWN);
    let ran = import(&world, &file, &[]).ends_with(1);
    assert_says(&ran, &["When, What, How much", "--map day=COLUMN", "0 rows stored"]);
    let options = [&MAPPED[..], &["--account=Shop", "--currency=EUR"]].concat();
    let ran = import(&world, &file, &options).ends_with(0);
    assert_says(&ran, &["2 rows stored"]);
    assert_eq!(spent(&world, "Shop"), 1_235.0);
}

#[test]
fn a_column_that_does_not_exist_is_refused_with_those_that_do() {
    let world = World::new();
    let file = file(&world, "export.csv", UNKNOWN);
    let ran = import(&world, &file, &["--map=day=Date"]).ends_with(1);
    assert_says(&ran, &["Date: there is no such column", "When, What, How much"]);
    let ran = import(&world, &file, &["--map=day"]).ends_with(2);
    assert_says(&ran, &["--map spend="]);
}

#[test]
fn named_columns_are_remembered_for_files_with_the_same_columns() {
    let world = World::new();
    let first = file(&world, "october.csv", UNKNOWN);
    let options = [&MAPPED[..], &["--account=Shop"]].concat();
    import(&world, &first, &options).ends_with(0);
    let second = file(&world, "november.csv", "When;What;How much\n4.11.2026;Alpha;10,00\n");
    let ran = import(&world, &second, &[]).ends_with(0);
    assert_says(&ran, &["1 row stored", "as you named them for an earlier file"]);
    assert_eq!(spent(&world, "Shop"), 1_245.0);
    let ran = import(&world, &second, &["--forget-mapping"]).ends_with(1);
    assert_says(&ran, &["When, What, How much", "--map day=COLUMN"]);
    import(&world, &second, &[]).ends_with(1);
    let other = file(&world, "other.csv", "When;Which;How much\n4.11.2026;Alpha;10,00\n");
    let ran = import(&world, &other, &[]).ends_with(1);
    assert_says(&ran, &["were not recognised"]);
}

#[test]
fn dates_that_can_be_read_in_two_ways_wait_for_an_order_which_is_remembered() {
    let world = World::new();
    let file = file(&world, "export.csv", "Day,Campaign,Cost\n1/11/2026,Alpha,5.5\n");
    let ran = import(&world, &file, &[]).ends_with(1);
    assert_says(&ran, &["1/11/2026 can be read", "--dates day-first"]);
    import(&world, &file, &["--dates=day-first", "--account=A"]).ends_with(0);
    assert_eq!(spent(&world, "A"), 5.5);
    import(&world, &file, &[]).ends_with(0);
}

#[test]
fn rejected_lines_are_told_by_cause_and_the_rest_counts_only_if_it_was_asked_for() {
    let world = World::new();
    let text =
        "Day,Campaign,Cost\n2026-11-01,Alpha,5\nsoon,Alpha,5\nlater,Alpha,5\n2026-11-03,Alpha,6\n";
    let file = file(&world, "export.csv", text);
    let ran = import(&world, &file, &["--account=A"]).ends_with(1);
    assert_says(
        &ran,
        &["2 x day: ", "(line 3, 4)", "0 rows stored, 4 rows read", "--skip-rejected"],
    );
    let ran = import(&world, &file, &["--account=A", "--skip-rejected"]).ends_with(0);
    assert_says(&ran, &["2 rows stored"]);
    assert_eq!(spent(&world, "A"), 11.0);
}

#[test]
fn google_ads_in_swedish_is_imported_as_it_is() {
    let world = World::new();
    let utf16: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain(SWEDISH.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for (name, content) in [("utf8.csv", SWEDISH.as_bytes().to_vec()), ("utf16.csv", utf16)] {
        let file = file(&world, name, content);
        let ran = import(&world, &file, &[]).ends_with(0);
        assert_says(&ran, &["2 rows stored"]);
        assert_eq!(spent(&world, "google-ads"), 1_244.5, "{name}");
    }
}

#[test]
fn only_a_person_at_a_terminal_imports() {
    let world = World::new();
    let file = file(&world, "export.csv", SWEDISH);
    let ran = world.run(&["import", &file]).ends_with(3);
    assert!(ran.err.contains("Only a person at a terminal"), "{}", ran.err);
}

#[test]
fn a_damaged_pack_database_is_replaced_by_its_copy() {
    let world = World::new();
    let file = file(&world, "export.csv", SWEDISH);
    import(&world, &file, &["--account=Shop"]).ends_with(0);
    let before = spent(&world, "Shop");
    let pack = world.data().join("packs/campaign-portfolio-pacing");
    let copies = |folder: &std::path::Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().display().to_string()).collect()
    };
    assert!(copies(&pack.join("backups")).iter().any(|name| name.starts_with("pacing-")));
    // Garbage in the middle of the file, found by the daily check.
    let db = pack.join("pacing.db");
    let mut bytes = fs::read(&db).expect("read");
    let middle = bytes.len() / 2;
    bytes[4096..middle].fill(0xa5);
    fs::write(&db, bytes).expect("written");
    let later = "2026-11-23T10:00:00Z";
    let page = ["--json", "audit", "list", "--type", "db_recovered"];
    let recovered = world.run_at(later, &page).ends_with(0).json();
    assert_eq!(
        recovered["records"][0]["fields"]["file"],
        "packs/campaign-portfolio-pacing/pacing.db"
    );
    assert_eq!(recovered["records"][0]["fields"]["restored"], true, "{recovered}");
    assert!(copies(&pack).iter().any(|name| name.starts_with("pacing.damaged-")));
    assert_eq!(spent(&world, "Shop"), before);
}
