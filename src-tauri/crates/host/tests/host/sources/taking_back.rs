//! Tests of imports that are taken back, and of sources that are removed: what is restored, what stays,
//! and what is erased.

use std::fs;

use contract::{
    Commands as _, Empty, VerifyParams,
    sources::{ColumnChoice, ColumnUse, ImportDecisions},
};

use super::{CLIENT_ONE, World, all_records, named};

/// Later rows with a further column.
const WIDER: &str = "Day,Campaign,Cost,Impr.,Clicks\n2026-11-03,Brand,5.00,50,3\n";
const LATER: &str = "Day,Campaign,Cost,Impr.\n2026-11-03,Brand,90.00,900\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_restores_decisions_columns_and_definitions() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let before = world.host.source_describe(named(&source)).await.unwrap();
    let choice = ColumnChoice { usage: Some(ColumnUse::Other), ..ColumnChoice::default() };
    let decisions = ImportDecisions {
        account: Some("Two".into()),
        columns: [("Impr.".to_owned(), choice)].into(),
        ..ImportDecisions::default()
    };
    let wrong = world.import_into(&source, &world.write("wrong.csv", WIDER), decisions).await;
    assert!(wrong.is_stored, "{wrong:?}");
    let view = world.host.source_undo(named(&source)).await.unwrap();
    assert_eq!(view.place, before.source.place, "a refresh reads the former place");
    let after = world.host.source_describe(named(&source)).await.unwrap();
    assert_eq!(after.faults, [], "no definition of a column that is gone is left");
    assert_eq!(after.definitions, before.definitions);
    assert_eq!(after.source.columns, before.source.columns);
    let later = world.write("later.csv", LATER);
    let later = world.import_into(&source, &later, ImportDecisions::default()).await;
    assert!(later.is_stored, "{later:?}");
    assert_eq!(later.decisions.account, None, "the account of the undone import is forgotten");
    assert_eq!(world.total(&source, "Cost").await, "300.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_during_an_import_is_refused_and_names_the_import() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let later = world.params(&world.write("later.csv", LATER), ImportDecisions::default());
    let job = world.host.source_add(later).await.unwrap();
    let undo = world.host.source_undo(named(&source)).await.unwrap_err();
    let removal = world.host.source_remove(named(&source)).await.unwrap_err();
    for refused in [undo, removal] {
        assert_eq!(refused.reason_text(), Some("import_running"));
        assert!(refused.message.contains("later.csv"), "{refused:?}");
    }
    assert!(world.end_of(job).await.results.unwrap()[0].is_stored);
    world.host.source_undo(named(&source)).await.unwrap();
    assert_eq!(world.total(&source, "Cost").await, "210.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_whose_imports_are_all_taken_back_takes_other_files() {
    let world = World::new().await;
    let file = world.write("ads.csv", CLIENT_ONE);
    let source = world.import(&file).await.source;
    world.import(&world.write("ads-2.csv", LATER)).await;
    for rows in [2, 0] {
        let view = world.host.source_undo(named(&source)).await.unwrap();
        assert_eq!((view.rows, view.notes.len()), (Some(rows), 0), "{:?}", view.notes);
    }
    let refused = world.host.source_undo(named(&source)).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("nothing_to_undo"));
    let again = world.import(&file).await;
    assert!(again.is_stored && again.source == source, "{again:?}");
    world.host.source_undo(named(&source)).await.unwrap();
    let other =
        world.write("ads.csv", "Day,Shop,Sales\n2026-11-01,Oslo,5.50\n2026-11-02,Bergen,6.50\n");
    let other = world.import(&other).await;
    assert!(other.is_stored && other.source == source, "{other:?}");
    let described = world.host.source_describe(named(&source)).await.unwrap();
    assert_eq!(described.faults, []);
    assert!(described.text.contains("Sales"), "{}", described.text);
    assert_eq!(world.names().await, ["ads"]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_is_verified_after_an_undo_and_not_after_a_removal() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    world.import(&world.write("ads-2.csv", LATER)).await;
    assert_eq!(world.total(&source, "Cost").await, "300.00");
    let records = world.host.audit_list(all_records()).await.unwrap().records;
    let is_figure = |record: &&contract::AuditRecordView| {
        record.record_type == contract::RecordType::FigureComputed
    };
    let record = records.iter().find(is_figure).unwrap().seq;
    world.host.source_undo(named(&source)).await.unwrap();
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(check.is_repeated && check.agrees, "the undone rows are kept: {check:?}");
    world.host.source_remove(named(&source)).await.unwrap();
    for folder in ["sources", "staging"] {
        let left = fs::read_dir(world.data(folder)).unwrap().count();
        assert_eq!(left, 0, "{folder} has no rows");
    }
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(!check.is_repeated && check.text.contains("no longer stored"), "{check:?}");
    // Another source of the same name has other rows.
    world.import(&world.write("ads.csv", LATER)).await;
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(!check.is_repeated, "{check:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_leaves_files_that_were_taken_back_and_says_so() {
    let world = World::new().await;
    let day = |day: u32| format!("Day,Campaign,Cost,Impr.\n2026-11-{day:02},Oak,{day}.00,10\n");
    world.write("exports/a.csv", &day(1));
    let pattern = world.folder.path().join("exports/*.csv");
    let source = world.import(&pattern).await.source;
    let wrong = world.write("exports/b.csv", &day(2));
    assert!(world.refresh(&source).await.results.unwrap()[0].is_stored);
    world.host.source_undo(named(&source)).await.unwrap();
    let none = world.refresh(&source).await;
    assert_eq!(none.results.unwrap().len(), 0);
    assert!(none.notes[0].contains("b.csv"), "{:?}", none.notes);
    world.write("exports/c.csv", &day(3));
    let all = world.params(&pattern, ImportDecisions::default());
    let all = contract::params::SourceAddParams { name: Some(source.clone()), ..all };
    let all = world.run(all).await;
    let names: Vec<String> =
        all.results.unwrap().into_iter().map(|result| result.report.file).collect();
    assert_eq!(
        (names.as_slice(), all.notes.len()),
        (&["a.csv".to_owned(), "c.csv".to_owned()][..], 1)
    );
    assert_eq!(world.total(&source, "Cost").await, "4.00");
    let wanted = world.import_into(&source, &wrong, ImportDecisions::default()).await;
    assert!(wanted.is_stored, "a person named it: {wanted:?}");
    assert_eq!(world.total(&source, "Cost").await, "6.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_with_a_damaged_file_is_listed_and_can_be_removed() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    fs::write(world.data("sources/ads/source.json"), "{broken").unwrap();
    let listed = world.host.sources_list(Empty {}).await.unwrap().sources.remove(0);
    assert_eq!(listed.name, source);
    let notes: Vec<&str> = listed.notes.iter().map(|note| note.as_str()).collect();
    assert!(notes[0].contains("cannot be read") && notes[1].contains("remove"), "{notes:?}");
    world.host.source_remove(named(&source)).await.unwrap();
    assert!(!world.data("sources/ads").exists());
    assert!(world.names().await.is_empty());
    world.host.stop().await;
}
