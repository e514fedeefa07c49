//! Tests of files that are added: stored, shown, recognised, surveyed, read by a pattern.

use std::{fs, time::Duration};

use contract::{Commands as _, Empty, sources::ImportDecisions};

use super::{CLIENT_ONE, World, all_records, answers, named, questions};

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_stored_shown_and_taken_back() {
    let world = World::new().await;
    let first = world.import(&world.write("ads-2026-11.csv", CLIENT_ONE)).await;
    assert!(first.is_stored && first.is_new_source, "{first:?}");
    assert_eq!(first.source.as_str(), "ads");
    assert_eq!(world.total(&first.source, "Cost").await, "210.00");
    let view = world.host.sources_list(Empty {}).await.unwrap().sources.remove(0);
    assert_eq!((view.rows, view.imports.len()), (Some(2), 1));
    assert_eq!(view.days.unwrap().days, 2);
    let later = "Day,Campaign,Cost,Impr.\n2026-11-03,Brand,90.00,900\n";
    let second = world.import(&world.write("ads-2026-11-03.csv", later)).await;
    assert!(second.is_stored && !second.is_new_source, "{second:?}");
    assert_eq!(world.total(&first.source, "Cost").await, "300.00");
    let view = world.host.source_undo(named(&first.source)).await.unwrap();
    assert_eq!((view.rows, view.imports.len()), (Some(2), 1));
    assert_eq!(world.total(&first.source, "Cost").await, "210.00");
    world.host.source_remove(named(&first.source)).await.unwrap();
    assert!(world.names().await.is_empty());
    let left = fs::read_dir(world.folder.path().join("profile/data/sources")).unwrap().count();
    assert_eq!(left, 0, "the rows are erased");
    let records = world.host.audit_list(all_records()).await.unwrap().records;
    let kinds: Vec<String> =
        records.iter().map(|record| format!("{:?}", record.record_type)).collect();
    for kind in ["DataImported", "SourceChanged", "FigureComputed"] {
        assert!(kinds.iter().any(|known| known == kind), "{kind} in {kinds:?}");
    }
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_content_is_recognised() {
    let world = World::new().await;
    world.import(&world.write("ads.csv", CLIENT_ONE)).await;
    let again = world.import(&world.write("copy-of-ads.csv", CLIENT_ONE)).await;
    assert!(again.change.as_ref().unwrap().is_same_content && !again.is_stored, "{again:?}");
    assert_eq!(world.total(&again.source, "Cost").await, "210.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_survey_stores_nothing() {
    let world = World::new().await;
    let file = world.write("ads.csv", CLIENT_ONE);
    let params = world.params(&file, ImportDecisions::default());
    let job = world.host.source_survey(params).await.unwrap();
    let result = loop {
        let view = world.host.source_job(job.clone()).await.unwrap();
        assert_eq!(view.failure, None);
        if let Some(mut results) = view.results {
            break results.remove(0);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!((result.report.stored, result.is_stored), (2, false));
    assert_eq!(result.change.unwrap().new_rows, 2);
    assert!(world.names().await.is_empty());
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_pattern_are_one_source_and_a_fault_stores_none_of_them() {
    let world = World::new().await;
    fs::create_dir(world.folder.path().join("exports")).unwrap();
    let day = |day: u32, cost: &str| {
        format!("Day,Campaign,Cost,Impr.\n2026-11-{day:02},Oak,{cost},1000\n")
    };
    world.write("exports/a.csv", &day(1, "100.00"));
    world.write("exports/b.csv", &day(2, "soon"));
    let pattern = world.folder.path().join("exports/*.csv");
    let first = world.run(world.params(&pattern, ImportDecisions::default())).await;
    let open =
        first.failure.is_some() || first.results.unwrap().iter().any(|result| !result.is_stored);
    assert!(open);
    assert!(world.names().await.is_empty(), "nothing of the first file is stored either");
    world.write("exports/b.csv", &day(2, "110.00"));
    let done = world.run(world.params(&pattern, ImportDecisions::default())).await;
    let results = done.results.unwrap();
    assert_eq!(results.len(), 2);
    let source = results[0].source.clone();
    assert_eq!(world.total(&source, "Cost").await, "210.00");
    world.write("exports/c.csv", &day(3, "120.00"));
    let job = world.host.source_refresh(named(&source)).await.unwrap();
    loop {
        let view = world.host.source_job(job.clone()).await.unwrap();
        assert_eq!(view.failure, None);
        if let Some(results) = view.results {
            assert_eq!(results.len(), 1, "only the new file is read");
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(world.total(&source, "Cost").await, "330.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_growing_export_is_stored_without_a_question() {
    let world = World::new().await;
    let first = "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,70.00,700\n2026-11-02,Oak,80.00,800\n2026-11-03,Oak,80.00,800\n";
    let source = world.import(&world.write("s1.csv", first)).await.source;
    let grown = format!("{first}2026-11-04,Oak,140.00,1400\n");
    let second = world.import(&world.write("s2.csv", &grown)).await;
    assert!(second.is_stored && second.source == source, "{second:?}");
    assert_eq!(world.total(&source, "Cost").await, "370.00");
    let other = "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,7.00,70\n2026-11-05,Oak,300.00,3000\n";
    let asked = world.import(&world.write("s3.csv", other)).await;
    assert_eq!(questions(&asked), ["whose_data"], "{asked:?}");
    let text = &asked.questions[0].text;
    assert!(text.contains("7.00 instead of 70.00"), "only the day that both have counts: {text}");
    let sent = serde_json::to_value(text).unwrap();
    let amount = &sent["params"]["after"];
    assert_eq!((&amount["digits"], &amount["places"]), (&"7.00".into(), &2.into()), "{sent}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amount_in_a_question_has_its_currency_and_no_needless_digits() {
    let world = World::new().await;
    let first = "Day,Campaign,Cost (EUR)\n2026-11-01,Oak,1205.00\n";
    let source = world.import(&world.write("first.csv", first)).await.source;
    // A column with four decimals widens the stored one.
    let second = "Day,Campaign,Cost (EUR)\n2026-11-02,Oak,1.1255\n";
    assert!(world.import(&world.write("second.csv", second)).await.is_stored);
    let third = "Day,Campaign,Cost (EUR)\n2026-11-01,Oak,951.25\n2026-11-02,Oak,1.50\n";
    let asked = world.import(&world.write("third.csv", third)).await;
    // Both days count: 952.75 instead of 1206.1255.
    assert_eq!(questions(&asked), Vec::<&str>::new(), "{asked:?}");
    let fourth = "Day,Campaign,Cost (EUR)\n2026-11-01,Oak,95.25\n";
    let asked = world.import(&world.write("fourth.csv", fourth)).await;
    let text = &asked.questions[0].text;
    assert!(text.contains("95.25 EUR instead of 951.25 EUR"), "{text}");
    assert_eq!(world.names().await, [source.as_str()]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_question_that_there_is_not_is_refused_with_the_open_questions() {
    let world = World::new().await;
    let first = "Day,Campaign,Cost\n2026-11-01,Oak,100.00\n2026-11-01,Elm,5.00\n";
    let source = world.import(&world.write("first.csv", first)).await.source;
    let file = world.write("second.csv", "Day,Campaign,Cost\n2026-11-01,Oak,101.00\n");
    let refused = |given: &[(&str, &str)]| world.run(world.params(&file, answers(given)));
    let error = refused(&[("vanish", "keep")]).await.failure.unwrap();
    assert_eq!(error.reason_text(), Some("unknown_question"), "{error:?}");
    assert!(error.message.contains("vanish"), "{error:?}");
    assert_eq!(error.hint_text(), Some("The open questions are: vanished."));
    let error = refused(&[("vanish", "keep"), ("vanished", "keep")]).await.failure.unwrap();
    assert_eq!(error.hint_text(), Some("No question is open. Leave the answer out."));
    assert_eq!(world.total(&source, "Cost").await, "105.00", "nothing was stored");
    let view = world.host.sources_list(Empty {}).await.unwrap().sources.remove(0);
    assert_eq!(view.imports.len(), 1);
    // An answer to a question that this file does not have may stand in a nightly job.
    let stored = world.import_with(&file, answers(&[("vanished", "keep"), ("older", "replace")]));
    assert!(stored.await.is_stored);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_an_error_is_named_if_it_is_one_of_several() {
    let world = World::new().await;
    world.write("exports/a.csv", "Day,Campaign,Cost\n2026-11-01,Oak,100.00\n");
    world.write("exports/b.csv", "");
    let pattern = world.folder.path().join("exports/*.csv");
    let view = world.run(world.params(&pattern, ImportDecisions::default())).await;
    let error = view.failure.unwrap();
    assert!(error.message.starts_with("b.csv: "), "{error:?}");
    for folder in ["sources", "staging"] {
        assert_eq!(fs::read_dir(world.data(folder)).unwrap().count(), 0, "{folder}");
    }
    world.host.stop().await;
}
