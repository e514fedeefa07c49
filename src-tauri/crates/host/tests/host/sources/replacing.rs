//! Tests of files that replace stored rows: levels, ids, corrections, renames, older files.

use std::{fs, time::Duration};

use contract::{
    Commands as _,
    sources::{ImportDecisions, ImportMode},
};

use super::{World, answers, named, questions};

#[tokio::test(flavor = "multi_thread")]
async fn finer_rows_replace_coarser_ones_of_the_same_days() {
    let world = World::new().await;
    let coarse =
        "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,100.00,1000\n2026-11-02,Oak,120.00,1000\n";
    let fine = "Day,Campaign,Ad group,Cost,Impr.\n2026-11-01,Oak,Left,60.00,600\n2026-11-01,Oak,Right,40.00,400\n2026-11-02,Oak,Left,70.00,600\n2026-11-02,Oak,Right,50.00,400\n";
    world.import(&world.write("by-campaign.csv", coarse)).await;
    let second = world.import(&world.write("by-ad-group.csv", fine)).await;
    assert!(second.is_stored, "{second:?}");
    assert_eq!(world.total(&second.source, "Cost").await, "220.00");
    let change = second.change.as_ref().unwrap();
    assert_eq!(
        (change.new_rows, change.changed_rows, change.vanished_rows),
        (0, 0, 0),
        "the same days and campaigns, divided further"
    );
    let back = world.import(&world.write("again.csv", coarse)).await;
    assert_eq!(questions(&back), ["coarser"], "{back:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_comes_later_doubles_nothing() {
    let world = World::new().await;
    let without =
        "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,100.00,1000\n2026-11-02,Oak,120.00,1000\n";
    let with = "Day,Campaign ID,Campaign,Cost,Impr.\n2026-11-01,7001,Oak,100.00,1000\n2026-11-02,7001,Oak,120.00,1000\n";
    world.import(&world.write("without-id.csv", without)).await;
    let second = world.import(&world.write("with-id.csv", with)).await;
    assert!(second.is_stored, "{second:?}");
    assert_eq!(world.total(&second.source, "Cost").await, "220.00");
    world.host.stop().await;
}

const CORRECTED: &str =
    "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,95.00,1000\n2026-11-02,Oak,110.00,1000\n";

#[tokio::test(flavor = "multi_thread")]
async fn vanished_amounts_are_asked_about_and_go_or_stay() {
    for (value, total) in [("replace", "205.00"), ("keep", "245.00")] {
        let world = World::new().await;
        let first = "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,100.00,1000\n2026-11-01,Mistake,40.00,400\n2026-11-02,Oak,110.00,1000\n";
        let source = world.import(&world.write("first-export.csv", first)).await.source;
        let file = world.write("corrected-export.csv", CORRECTED);
        let asked = world.import(&file).await;
        assert_eq!(questions(&asked), ["vanished"], "{asked:?}");
        assert!(asked.questions[0].text.contains("Mistake"), "{}", asked.questions[0].text);
        assert_eq!(world.total(&source, "Cost").await, "250.00");
        let done = world.import_with(&file, answers(&[("vanished", value)])).await;
        assert!(done.is_stored, "{done:?}");
        let change = done.change.unwrap();
        let is_kept = value == "keep";
        let gone = if is_kept { (0, "0") } else { (1, "40.00") };
        assert_eq!((change.vanished_rows, change.sums[0].vanished.as_str()), gone);
        assert_eq!((change.changed_rows, change.sums[0].after.as_str()), (1, total));
        assert_eq!(world.total(&source, "Cost").await, total);
        world.host.source_undo(named(&source)).await.unwrap();
        assert_eq!(world.total(&source, "Cost").await, "250.00");
        world.host.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_campaign_is_recognised_by_its_daily_sums() {
    let world = World::new().await;
    let before = "Day,Campaign,Currency code,Cost,Impr.\n2026-11-01,Oak plain,EUR,100.00,1000\n2026-11-02,Oak plain,EUR,110.00,1000\n";
    let after = "Day,Campaign,Currency code,Cost,Impr.\n2026-11-01,Oak deluxe,EUR,100.00,1000\n2026-11-02,Oak deluxe,EUR,110.00,1000\n2026-11-03,Oak deluxe,EUR,120.00,1000\n";
    let source = world.import(&world.write("before-rename.csv", before)).await.source;
    let file = world.write("after-rename.csv", after);
    let asked = world.import(&file).await;
    assert_eq!(questions(&asked), ["vanished"], "{asked:?}");
    assert!(asked.questions[0].text.contains("Oak deluxe"), "{}", asked.questions[0].text);
    let done = world.import_with(&file, answers(&[("vanished", "replace")])).await;
    assert!(done.is_stored, "{done:?}");
    assert_eq!(world.total(&source, "Cost").await, "330.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_file_replaces_nothing_unasked() {
    let world = World::new().await;
    let old = world.write("old.csv", CORRECTED);
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(86_400);
    fs::File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    let newer = "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,100.00,1000\n2026-11-02,Oak,110.00,1000\n";
    let source = world.import(&world.write("new.csv", newer)).await.source;
    let asked = world.import(&old).await;
    assert_eq!(questions(&asked), ["older"], "{asked:?}");
    assert_eq!(world.total(&source, "Cost").await, "210.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_change_of_a_file_whose_missing_rows_stay_is_that_of_the_stored_rows() {
    let world = World::new().await;
    let first = "Day,Campaign,Currency code,Cost,Impr.\n2026-11-01,Oak,EUR,100.00,1000\n2026-11-02,Oak,EUR,110.00,1000\n";
    let second = "Day,Campaign,Currency code,Cost,Impr.\n2026-11-01,Elm,EUR,150.00,1500\n2026-11-02,Elm,EUR,180.00,1800\n";
    let source = world.import(&world.write("first.csv", first)).await.source;
    let mut decisions = answers(&[("vanished", "keep")]);
    decisions.answers.insert("whose_data".to_owned(), "same".to_owned());
    let done = world.import_with(&world.write("second.csv", second), decisions).await;
    assert!(done.is_stored, "{done:?}");
    assert_eq!(world.total(&source, "Cost").await, "540.00");
    let change = done.change.unwrap();
    assert_eq!((change.mode, change.vanished_rows), (ImportMode::Key, 0));
    let kept = change.kept_days.map(|days| (days.first.to_string(), days.last.to_string()));
    assert_eq!(kept, Some(("2026-11-01".to_owned(), "2026-11-02".to_owned())));
    let cost = &change.sums[0];
    assert_eq!((cost.before.as_str(), cost.after.as_str()), ("210.00", "540.00"));
    assert_eq!(cost.vanished, "0");
    let unit = |column: &str| {
        change.sums.iter().find(|sum| sum.column == column).map(|sum| sum.currency.clone())
    };
    assert_eq!(unit("Cost"), Some(Some("EUR".to_owned())));
    assert_eq!(unit("Impr."), Some(None), "a count has no currency");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn days_that_were_coarse_become_finer_although_other_days_were_fine_before() {
    let world = World::new().await;
    let coarse =
        "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,100.00,1000\n2026-11-02,Oak,120.00,1000\n";
    let fine = "Day,Campaign,Ad group,Cost,Impr.\n2026-11-03,Oak,Left,70.00,600\n2026-11-03,Oak,Right,50.00,400\n";
    let all = "Day,Campaign,Ad group,Cost,Impr.\n2026-11-01,Oak,Left,60.00,600\n2026-11-01,Oak,Right,40.00,400\n2026-11-02,Oak,Left,75.00,600\n2026-11-02,Oak,Right,50.00,400\n2026-11-03,Oak,Left,70.00,600\n2026-11-03,Oak,Right,50.00,400\n2026-11-04,Oak,Left,1.00,10\n2026-11-04,Oak,Right,2.00,20\n";
    let source = world.import(&world.write("by-campaign.csv", coarse)).await.source;
    world.import(&world.write("by-ad-group.csv", fine)).await;
    let third = world.import(&world.write("again.csv", all)).await;
    assert!(third.is_stored, "{third:?}");
    let change = third.change.unwrap();
    // The 2nd has other sums, and the 4th is new. Nothing vanished.
    assert_eq!(
        (change.new_rows, change.changed_rows, change.vanished_rows),
        (2, 2, 0),
        "{change:?}"
    );
    assert_eq!(world.total(&source, "Cost").await, "348.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn amounts_of_a_column_that_a_file_lacks_are_asked_about() {
    let world = World::new().await;
    let first = "Day,Campaign,Cost,Clicks\n2026-11-01,Oak,100.00,10\n2026-11-02,Oak,110.00,11\n";
    let source = world.import(&world.write("ads.csv", first)).await.source;
    // The platform calls the column otherwise from now on.
    let renamed = "Day,Campaign,Spend,Clicks\n2026-11-01,Oak,100.00,10\n2026-11-02,Oak,110.00,11\n";
    let file = world.write("later.csv", renamed);
    let asked = world.import_into(&source, &file, ImportDecisions::default()).await;
    assert_eq!(questions(&asked), ["missing_amounts"], "{asked:?}");
    assert!(asked.questions[0].text.contains("lacks Cost"), "{}", asked.questions[0].text);
    assert_eq!(world.total(&source, "Cost").await, "210.00");
    let other_days = renamed.replace("2026-11", "2026-12");
    let other_days = world.write("december.csv", &other_days);
    let stored = world.import_into(&source, &other_days, ImportDecisions::default()).await;
    assert!(stored.is_stored, "no stored amount goes: {stored:?}");
    let gone = world.import_into(&source, &file, answers(&[("missing_amounts", "replace")])).await;
    assert!(gone.is_stored, "{gone:?}");
    assert_eq!(world.total(&source, "Spend").await, "420.00");
    world.host.stop().await;
}

/// Two exports with a campaign that was renamed and another that is missing in the second one.
const TWO_CAMPAIGNS: &str = "Day,Campaign,Cost\n2026-11-01,Oak plain,100.00\n2026-11-02,Oak plain,110.00\n2026-11-01,Ash,5.00\n2026-11-02,Ash,6.00\n";
const RENAMED: &str =
    "Day,Campaign,Cost\n2026-11-01,Oak deluxe,100.00\n2026-11-02,Oak deluxe,110.00\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_campaign_and_a_missing_one_are_answered_apart() {
    for (value, total, vanished) in
        [("replace", "210.00", 4), ("renamed", "221.00", 2), ("keep", "431.00", 0)]
    {
        let world = World::new().await;
        let source = world.import(&world.write("first.csv", TWO_CAMPAIGNS)).await.source;
        let file = world.write("second.csv", RENAMED);
        let asked = world.import(&file).await;
        assert_eq!(questions(&asked), ["vanished"], "{asked:?}");
        let question = &asked.questions[0];
        for part in ["Oak plain \u{2192} Oak deluxe", "Ash (2026-11-01 \u{2013} 2026-11-02: 11.00)"]
        {
            assert!(question.text.contains(part), "{part} in {}", question.text);
        }
        assert_eq!(question.choices.len(), 3);
        let done = world.import_with(&file, answers(&[("vanished", value)])).await;
        assert!(done.is_stored, "{done:?}");
        let change = done.change.unwrap();
        assert_eq!((change.vanished_rows, change.sums[0].after.as_str()), (vanished, total));
        assert_eq!(world.total(&source, "Cost").await, total, "{value}");
        // A third export with another name of the same campaign.
        let third = world.write("third.csv", &RENAMED.replace("deluxe", "grand"));
        let third = world.import_with(&third, answers(&[("vanished", "renamed")])).await;
        assert!(third.is_stored, "{third:?}");
        // Both former names have its sums.
        let once = if value == "replace" { "210.00" } else { "221.00" };
        assert_eq!(world.total(&source, "Cost").await, once, "{value}");
        world.host.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_campaign_is_asked_about_also_if_rows_are_replaced_by_key() {
    let world = World::new().await;
    let source = world.import(&world.write("first.csv", TWO_CAMPAIGNS)).await.source;
    let by_key =
        |given: &[(&str, &str)]| ImportDecisions { mode: Some(ImportMode::Key), ..answers(given) };
    let file = world.write("second.csv", RENAMED);
    let asked = world.import_with(&file, by_key(&[])).await;
    assert_eq!(questions(&asked), ["vanished"], "{asked:?}");
    assert!(!asked.questions[0].text.contains("Ash"), "{}", asked.questions[0].text);
    let done = world.import_with(&file, by_key(&[("vanished", "renamed")])).await;
    assert!(done.is_stored, "{done:?}");
    assert_eq!(world.total(&source, "Cost").await, "221.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_that_is_missing_when_ids_come_is_asked_about_and_can_stay() {
    for (value, total) in [("replace", "217.00"), ("keep", "228.00")] {
        let world = World::new().await;
        let source = world.import(&world.write("first.csv", TWO_CAMPAIGNS)).await.source;
        let day = "Day,Campaign ID,Campaign,Cost\n2026-11-03,7001,Oak plain,7.00\n";
        assert!(world.import(&world.write("second.csv", day)).await.is_stored);
        let all =
            format!("{day}2026-11-01,7001,Oak plain,100.00\n2026-11-02,7001,Oak plain,110.00\n");
        let file = world.write("third.csv", &all);
        let asked = world.import(&file).await;
        assert_eq!(questions(&asked), ["vanished"], "{asked:?}");
        assert!(asked.questions[0].text.contains("Ash"), "{}", asked.questions[0].text);
        let done = world.import_with(&file, answers(&[("vanished", value)])).await;
        assert!(done.is_stored, "{done:?}");
        assert_eq!(world.total(&source, "Cost").await, total, "{value}");
        world.host.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_a_day_stay_until_a_file_has_such_rows_itself() {
    let world = World::new().await;
    let store = || answers(&[("blank_days", "store")]);
    let first = "Day,Campaign,Cost\n2026-11-01,Oak,100.00\n,Oak,5.00\n2026-11-02,Oak,110.00\n";
    let source = world.import_with(&world.write("first.csv", first), store()).await.source;
    assert_eq!(world.total(&source, "Cost").await, "215.00");
    let second =
        "Day,Campaign,Cost\n2026-11-01,Oak,100.00\n2026-11-02,Oak,111.00\n2026-11-03,Oak,1.00\n";
    assert!(world.import(&world.write("second.csv", second)).await.is_stored);
    assert_eq!(world.total(&source, "Cost").await, "217.00", "the row without a day stays");
    let third = "Day,Campaign,Cost\n2026-11-01,Oak,100.00\n,Oak,7.00\n2026-11-02,Oak,111.00\n";
    let third = world.import_with(&world.write("third.csv", third), store()).await;
    assert!(third.is_stored, "{third:?}");
    assert_eq!(third.change.unwrap().changed_rows, 1);
    assert_eq!(world.total(&source, "Cost").await, "219.00", "it gives way to the new one");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_many_accounts_is_compared_like_others() {
    let world = World::new().await;
    let rows = |cost: &str| {
        let row =
            |at: u32| format!("2026-11-01,Account with a long name, number {at:0>40},{cost}\n");
        let rows: String = (0..900).map(row).collect();
        format!("Day,Account,Cost\n{}", rows.replace(", number", " number"))
    };
    let source = world.import(&world.write("first.csv", &rows("1.00"))).await.source;
    let second = world.import(&world.write("second.csv", &rows("1.10"))).await;
    assert!(second.is_stored, "{second:?}");
    assert_eq!(second.change.unwrap().changed_rows, 900);
    assert_eq!(world.total(&source, "Cost").await, "990.00");
    world.host.stop().await;
}
