//! Tests of whose data a file has: clients, accounts, and decisions that are remembered.

use contract::{
    Commands as _, SourceName, SourceQueryParams,
    sources::{ColumnChoice, ColumnUse, DateOrder, ImportDecisions, ImportMode},
};

use super::{CLIENT_ONE, CLIENT_TWO, World, answers, named, questions};

#[tokio::test(flavor = "multi_thread")]
async fn a_second_clients_file_is_asked_about_and_kept_apart() {
    let world = World::new().await;
    let one = world.import(&world.write("client-one.csv", CLIENT_ONE)).await;
    let file = world.write("client-two.csv", CLIENT_TWO);
    let asked = world.import(&file).await;
    assert_eq!(questions(&asked), ["whose_data"], "{asked:?}");
    assert_eq!(world.total(&one.source, "Cost").await, "210.00", "nothing was stored");
    let two = world.import_with(&file, answers(&[("whose_data", "other")])).await;
    assert!(two.is_stored && two.is_new_source, "{two:?}");
    assert_eq!(world.total(&one.source, "Cost").await, "210.00");
    assert_eq!(world.total(&two.source, "Cost").await, "15.00");
    world.host.stop().await;
}

fn mapped() -> ImportDecisions {
    let column = |usage| ColumnChoice { usage: Some(usage), ..ColumnChoice::default() };
    let columns = [
        ("When".to_owned(), column(ColumnUse::Time)),
        ("What".to_owned(), column(ColumnUse::Dimension)),
        ("How much".to_owned(), column(ColumnUse::Sum)),
    ];
    ImportDecisions { columns: columns.into(), ..ImportDecisions::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remembered_account_is_asked_about_for_a_file_that_names_none() {
    let world = World::new().await;
    let first = "When,What,How much\n2026-11-01,Brand,100.00\n2026-11-02,Brand,110.00\n";
    let second = "When,What,How much\n2026-11-01,Brand,5.00\n2026-11-02,Brand,6.00\n";
    let decisions = ImportDecisions {
        account: Some("Client One".into()),
        currency: Some("EUR".into()),
        ..mapped()
    };
    let one = world.import_with(&world.write("first-client.csv", first), decisions).await;
    assert!(one.is_stored, "{one:?}");
    let file = world.write("second-client.csv", second);
    let asked = world.import(&file).await;
    assert_eq!(questions(&asked), ["same_account"], "{asked:?}");
    let two = ImportDecisions {
        account: Some("Client Two".into()),
        currency: Some("EUR".into()),
        ..ImportDecisions::default()
    };
    let two = world.import_with(&file, two).await;
    assert!(two.is_stored && two.source == one.source, "{two:?}");
    let sql = format!(
        "SELECT CAST(CAST(sum(\"How much\") AS DECIMAL(18, 2)) AS VARCHAR) FROM {} GROUP BY \"Account\" ORDER BY sum(\"How much\") DESC",
        one.source
    );
    let params = SourceQueryParams { sql, cursor: None, limit: 0 };
    let sums = world.host.source_query(params).await.unwrap().rows;
    let sums: Vec<&str> = sums.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(sums, ["210.00", "11.00"]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remembered_order_of_day_and_month_is_asked_about_if_its_days_are_far_away() {
    let world = World::new().await;
    let first = "When,What,How much\n01/11/2026,Oak,100.00\n02/11/2026,Oak,110.00\n";
    let decisions = ImportDecisions { date_order: Some(DateOrder::DayFirst), ..mapped() };
    let one = world.import_with(&world.write("day-first.csv", first), decisions).await;
    assert!(one.is_stored, "{one:?}");
    let second = "When,What,How much\n11/03/2026,Oak,5.00\n11/04/2026,Oak,6.00\n";
    let asked = world.import(&world.write("month-first.csv", second)).await;
    assert_eq!(questions(&asked), ["date_order"], "{asked:?}");
    let third = "When,What,How much\n03/11/2026,Oak,5.00\n04/11/2026,Oak,6.00\n";
    let near = world.import(&world.write("later.csv", third)).await;
    assert!(near.is_stored, "{near:?}");
    assert!(!near.report.notes.is_empty(), "the order is told");
    world.host.stop().await;
}

pub(super) async fn sums_by_account(world: &World, source: &SourceName) -> Vec<(String, String)> {
    let sql = format!(
        "SELECT coalesce(CAST(\"Account\" AS VARCHAR), ''), CAST(sum(\"Cost\") AS VARCHAR) FROM {source} GROUP BY 1 ORDER BY 1"
    );
    let params = SourceQueryParams { sql, cursor: None, limit: 0 };
    let rows = world.host.source_query(params).await.unwrap().rows;
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    rows.iter().map(|row| (text(&row[0]), text(&row[1]))).collect()
}

fn of_account(answers: &[(&str, &str)]) -> ImportDecisions {
    let answers = answers.iter().map(|(id, value)| ((*id).to_owned(), (*value).to_owned()));
    let account = Some("Two".to_owned());
    ImportDecisions { account, answers: answers.collect(), ..ImportDecisions::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_an_account_give_way_to_an_account_only_if_a_person_says_so() {
    let world = World::new().await;
    let source = world.import(&world.write("one.csv", CLIENT_ONE)).await.source;
    let file = world.write("two.csv", CLIENT_TWO);
    for mode in [None, Some(ImportMode::Key)] {
        let asked = world.import_with(&file, ImportDecisions { mode, ..of_account(&[]) }).await;
        assert_eq!(questions(&asked), ["whose_data"], "{asked:?}");
        assert_eq!(asked.questions[0].option, "--answer whose_data=same|keep|other");
        assert!(asked.questions[0].text.contains("Two"), "{}", asked.questions[0].text);
        assert_eq!(world.total(&source, "Cost").await, "210.00", "nothing was stored");
        let kept = ImportDecisions { mode, ..of_account(&[("whose_data", "keep")]) };
        let kept = world.import_with(&file, kept).await;
        assert!(kept.is_stored && kept.source == source, "{kept:?}");
        let own = |name: &str, sum: &str| (name.to_owned(), sum.to_owned());
        let both = [own("", "210.00"), own("Two", "15.00")];
        assert_eq!(sums_by_account(&world, &source).await, both, "{mode:?}");
        world.host.source_undo(named(&source)).await.unwrap();
    }
    let replaced = world.import_with(&file, of_account(&[("whose_data", "same")])).await;
    assert!(replaced.is_stored, "{replaced:?}");
    assert_eq!(world.total(&source, "Cost").await, "15.00");
    world.host.source_undo(named(&source)).await.unwrap();
    let own = world.import_with(&file, of_account(&[("whose_data", "other")])).await;
    assert!(own.is_stored && own.is_new_source, "{own:?}");
    assert_eq!(world.total(&source, "Cost").await, "210.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_in_other_days_than_rows_without_one_needs_no_question() {
    let world = World::new().await;
    let source = world.import(&world.write("one.csv", CLIENT_ONE)).await.source;
    let later = "Day,Campaign,Cost,Impr.\n2026-11-03,Brand,90.00,900\n";
    let stored = world.import_with(&world.write("two.csv", later), of_account(&[])).await;
    assert!(stored.is_stored && stored.source == source, "{stored:?}");
    assert_eq!(world.total(&source, "Cost").await, "300.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_accounts_replaces_rows_of_accounts_only_if_a_person_says_so() {
    let world = World::new().await;
    let accounts = "Day,Account,Campaign,Cost,Impr.\n2026-11-01,One,Brand,100.00,1000\n2026-11-01,Two,Brand,7.00,50\n";
    let source = world.import(&world.write("accounts.csv", accounts)).await.source;
    let unnamed = "Day,Campaign,Cost,Impr.\n2026-11-01,Brand,100.00,1000\n";
    let asked = world.import(&world.write("unnamed.csv", unnamed)).await;
    assert_eq!(questions(&asked), ["coarser"], "{asked:?}");
    assert_eq!(world.total(&source, "Cost").await, "107.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stated_account_replaces_the_rows_of_that_account_in_the_column_of_the_source() {
    let world = World::new().await;
    let accounts = "Day,Account name,Campaign,Cost,Impr.\n2026-11-01,One,Brand,100.00,1000\n2026-11-01,Two,Brand,7.00,50\n";
    let source = world.import(&world.write("accounts.csv", accounts)).await.source;
    let file = world.write("two.csv", "Day,Campaign,Cost,Impr.\n2026-11-01,Brand,9.00,60\n");
    let done = world.import_with(&file, of_account(&[])).await;
    assert!(done.is_stored && done.source == source, "{done:?}");
    let change = done.change.unwrap();
    assert_eq!(change.scope.values["Account name"], ["Two"]);
    assert_eq!((change.new_rows, change.changed_rows, change.vanished_rows), (0, 1, 0));
    let sql = format!(
        "SELECT \"Account name\", CAST(sum(\"Cost\") AS VARCHAR) FROM {source} GROUP BY 1 ORDER BY 1"
    );
    let params = SourceQueryParams { sql, cursor: None, limit: 0 };
    let rows = world.host.source_query(params).await.unwrap().rows;
    assert_eq!(serde_json::json!(rows), serde_json::json!([["One", "100.00"], ["Two", "9.00"]]));
    world.host.stop().await;
}
