//! Tests of files that come again or after others, and of decisions that are repeated: content that is
//! known, older files of several accounts, and remembered decisions that a file contradicts.

use std::{fs, path::Path, time::Duration};

use contract::{
    Commands as _,
    params::SourceAddParams,
    sources::{ColumnChoice, ColumnUse, DateOrder, ImportDecisions, ImportMode, ImportResult},
};

use super::{CLIENT_ONE, CLIENT_TWO, World, answers, named, questions};

fn of_account(account: &str) -> ImportDecisions {
    ImportDecisions { account: Some(account.to_owned()), ..ImportDecisions::default() }
}

fn set_age(file: &Path, hours: u64) {
    let at = std::time::SystemTime::now() - Duration::from_secs(hours * 3_600);
    fs::File::options().write(true).open(file).unwrap().set_modified(at).unwrap();
}

fn is_known(result: &ImportResult) -> bool {
    !result.is_stored && result.change.as_ref().is_some_and(|change| change.is_same_content)
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_of_one_source_are_neither_older_nor_newer_than_each_other() {
    let world = World::new().await;
    let (one, two) = (world.write("one.csv", CLIENT_ONE), world.write("two.csv", CLIENT_TWO));
    let source = world.import_with(&one, of_account("One")).await.source;
    assert!(world.import_into(&source, &two, of_account("Two")).await.is_stored);
    let again = world.import_into(&source, &one, of_account("One")).await;
    assert!(is_known(&again), "another account came in between: {again:?}");
    // A corrected export of the first account, made before that of the second.
    let corrected = world.write("one.csv", &CLIENT_ONE.replace("110.00", "111.00"));
    set_age(&one, 1);
    set_age(&two, 0);
    let older = world.import_into(&source, &corrected, of_account("One")).await;
    assert_eq!(questions(&older), ["older"], "it is older than the first file itself: {older:?}");
    world.host.source_undo(named(&source)).await.unwrap();
    world.host.source_undo(named(&source)).await.unwrap();
    let first = world.write("first.csv", CLIENT_ONE);
    set_age(&first, 2);
    assert!(world.import_into(&source, &first, of_account("One")).await.is_stored);
    assert!(world.import_into(&source, &two, of_account("Two")).await.is_stored);
    let stored = world.import_into(&source, &corrected, of_account("One")).await;
    assert!(stored.is_stored, "only files of its account count: {stored:?}");
    assert_eq!(world.total(&source, "Cost").await, "226.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_older_if_any_of_the_rows_that_it_replaces_come_from_a_newer_one() {
    let world = World::new().await;
    let rows =
        |cost: &str| format!("Day,Campaign,Cost\n2026-11-01,Oak,{cost}\n2026-11-02,Oak,{cost}\n");
    let newest = world.write("newest.csv", &rows("10.00"));
    set_age(&newest, 1);
    let source = world.import(&newest).await.source;
    let oldest = world.write("oldest.csv", "Day,Campaign,Cost\n2026-11-01,Oak,9.00\n");
    set_age(&oldest, 3);
    let forced = world.import_into(&source, &oldest, answers(&[("older", "replace")])).await;
    assert!(forced.is_stored, "{forced:?}");
    let between = world.write("between.csv", &rows("11.00"));
    set_age(&between, 2);
    let asked = world.import_into(&source, &between, ImportDecisions::default()).await;
    assert_eq!(questions(&asked), ["older"], "the second day is of the newest file: {asked:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_pattern_that_later_files_replaced_are_not_imported_again() {
    let world = World::new().await;
    let first = world.write("exports/first.csv", CLIENT_ONE);
    let second = format!("{}2026-11-03,Brand,90.00,900\n", CLIENT_ONE.replace("110.00", "111.00"));
    let second = world.write("exports/second.csv", &second);
    set_age(&first, 2);
    set_age(&second, 1);
    let pattern = world.folder.path().join("exports/*.csv");
    let place = world.params(&pattern, ImportDecisions::default());
    let stored = world.run(place.clone()).await.results.unwrap();
    let source = stored[0].source.clone();
    assert_eq!(world.total(&source, "Cost").await, "301.00");
    let again = SourceAddParams { name: Some(source.clone()), ..place };
    let again = world.run(again).await.results.unwrap();
    assert!(again.iter().all(is_known), "{again:?}");
    assert!(again[0].report.notes.iter().any(|note| note.contains("later files")), "{again:?}");
    assert_eq!(world.total(&source, "Cost").await, "301.00");
    // The same content, exported again later, corrects the rows back.
    set_age(&first, 0);
    let back = world.import_into(&source, &first, ImportDecisions::default()).await;
    assert!(back.is_stored, "{back:?}");
    assert_eq!(world.total(&source, "Cost").await, "300.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn added_content_is_recognised_although_other_rows_were_added_since() {
    let world = World::new().await;
    let add = || ImportDecisions { mode: Some(ImportMode::Add), ..ImportDecisions::default() };
    let (one, two) = (world.write("one.csv", CLIENT_ONE), world.write("two.csv", CLIENT_TWO));
    let source = world.import(&one).await.source;
    let once = world.import_into(&source, &one, add()).await;
    assert!(is_known(&once), "content that is there is not added: {once:?}");
    assert!(world.import_into(&source, &two, add()).await.is_stored);
    let copy = world.write("copy.csv", CLIENT_ONE);
    let again = world.import_into(&source, &copy, add()).await;
    assert!(is_known(&again), "{again:?}");
    assert_eq!(world.total(&source, "Cost").await, "225.00");
    let later = world.write("later.csv", "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,1.00,10\n");
    let later = world.import_into(&source, &later, ImportDecisions::default()).await;
    assert!(later.report.notes.iter().any(|note| note.contains("are added")), "{later:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_does_not_force_a_remembered_order_of_dates_on_a_file() {
    let world = World::new().await;
    world.write(
        "exports/a.csv",
        "Day,Campaign,Cost\n01/11/2026,Oak,100.00\n02/11/2026,Oak,110.00\n",
    );
    let pattern = world.folder.path().join("exports/*.csv");
    let day_first =
        ImportDecisions { date_order: Some(DateOrder::DayFirst), ..ImportDecisions::default() };
    let source = world.import_with(&pattern, day_first).await.source;
    // With the day first, these would be days of March and April.
    let far = world
        .write("exports/b.csv", "Day,Campaign,Cost\n11/03/2026,Oak,5.00\n11/04/2026,Oak,6.00\n");
    let asked = world.refresh(&source).await.results.unwrap().remove(0);
    assert_eq!(questions(&asked), ["date_order"], "{asked:?}");
    fs::remove_file(far).unwrap();
    world.write("exports/c.csv", "Day,Campaign,Cost\n03/11/2026,Oak,5.00\n04/11/2026,Oak,6.00\n");
    let near = world.refresh(&source).await.results.unwrap().remove(0);
    assert!(near.is_stored, "{near:?}");
    assert!(near.report.notes.iter().any(|note| note.contains("order")), "the order is told");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_the_year_comes_first_counts_for_later_files_that_leave_it_open() {
    let world = World::new().await;
    let first = world.write("first.csv", "Day,Campaign,Cost\n26-11-01,Oak,100.00\n");
    let asked = world.import(&first).await;
    assert_eq!(questions(&asked), ["date_order"], "{asked:?}");
    assert!(asked.questions[0].option.contains("--dates year-first"), "{asked:?}");
    let done = world.import_with(&first, answers(&[("date_order", "year_first")])).await;
    assert!(done.is_stored, "{done:?}");
    assert_eq!(done.report.date_order, Some(DateOrder::YearFirst));
    let second = world.write("second.csv", "Day,Campaign,Cost\n26-11-02,Oak,110.00\n");
    let later = world.import_into(&done.source, &second, ImportDecisions::default()).await;
    assert!(later.is_stored, "{later:?}");
    assert_eq!(later.report.days.unwrap().first.to_string(), "2026-11-02");
    let third = world.write("third.csv", "Day,Campaign,Cost\n30/11/2026,Oak,120.00\n");
    let other = world.import_into(&done.source, &third, ImportDecisions::default()).await;
    assert_eq!(other.report.days.unwrap().first.to_string(), "2026-11-30", "{other:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remembered_order_of_dates_that_leaves_the_question_open_is_asked_about_and_stays() {
    let world = World::new().await;
    let first = world.write("first.csv", "Day,Campaign,Cost\n26-11-01,Oak,100.00\n");
    let year_first =
        ImportDecisions { date_order: Some(DateOrder::YearFirst), ..ImportDecisions::default() };
    let source = world.import_with(&first, year_first).await.source;
    // The year is the last number here, so the remembered order does not decide between the others.
    let second = world.write("second.csv", "Day,Campaign,Cost\n02/11/2026,Oak,110.00\n");
    let asked = world.import_into(&source, &second, ImportDecisions::default()).await;
    assert_eq!(questions(&asked), ["date_order"], "{asked:?}");
    assert!(!asked.is_stored && asked.decisions.date_order.is_none(), "{asked:?}");
    let is_told = |result: &ImportResult| {
        result.report.notes.iter().any(|note| note.contains("order that was decided"))
    };
    assert!(!is_told(&asked), "{asked:?}");
    // A file that needs no order does not change which one is remembered.
    let third = world.write("third.csv", "Day,Campaign,Cost\n2026-11-03,Oak,120.00\n");
    assert!(world.import_into(&source, &third, ImportDecisions::default()).await.is_stored);
    let fourth = world.write("fourth.csv", "Day,Campaign,Cost\n26-11-04,Oak,130.00\n");
    let last = world.import_into(&source, &fourth, ImportDecisions::default()).await;
    assert!(last.is_stored, "{last:?}");
    assert_eq!(last.report.days.unwrap().first.to_string(), "2026-11-04");
    assert!(is_told(&last), "{last:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remembered_decision_that_a_file_does_not_fit_is_left_out_and_told() {
    let world = World::new().await;
    let choice = ColumnChoice { usage: Some(ColumnUse::Other), ..ColumnChoice::default() };
    let decisions = ImportDecisions {
        columns: [("Memo".to_owned(), choice)].into(),
        header_line: Some(2),
        ..ImportDecisions::default()
    };
    let first =
        world.write("ads.csv", "November,,,\nDay,Campaign,Cost,Memo\n2026-11-01,Oak,100.00,x\n");
    let source = world.import_with(&first, decisions).await.source;
    let second =
        world.write("later.csv", "Day,Campaign,Cost\n2026-11-02,Oak,5.00\n2026-11-03,Oak,6.00\n");
    let later = world.import_into(&source, &second, ImportDecisions::default()).await;
    assert!(later.is_stored && later.report.header_line == 1, "{later:?}");
    assert!(later.report.notes.iter().any(|note| note.contains("not used: Memo")), "{later:?}");
    assert_eq!(world.total(&source, "Cost").await, "111.00");
    let third =
        world.write("third.csv", "November,,,\nDay,Campaign,Cost,Memo\n2026-11-04,Oak,7.00,y\n");
    let third = world.import_into(&source, &third, ImportDecisions::default()).await;
    assert!(third.decisions.columns.contains_key("Memo"), "it is still remembered: {third:?}");
    world.host.stop().await;
}
