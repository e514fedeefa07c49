//! Tests of definitions: proposed, corrected, approved.

use std::fs;

use contract::{
    Commands as _, ModelAccess, SourceApproveParams, SourceDefineParams, SourceDescription,
    definitions::{Calculation, Measure},
    sources::{ColumnChoice, ColumnUse},
};

use super::{CLIENT_ONE, World, named};

/// Returns the approval of definitions as a description shows them.
fn as_shown(shown: &SourceDescription) -> SourceApproveParams {
    SourceApproveParams {
        name: shown.source.name.clone(),
        definitions_hash: shown.definitions_hash.clone(),
        only: Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_definition_is_approved_alone_with_its_time_and_caller() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let text = "source: ads\ntime: {column: Day}\nmeasures:\n  mean: {average: Cost}\n  middle: {median: Cost}\n";
    let file = world.folder.path().join("profile/data/sources/ads/definitions.yaml");
    fs::write(&file, text).unwrap();
    let shown = world.host.source_describe(named(&source)).await.unwrap();
    assert_eq!(shown.source.proposed, 2);
    let of = |described: &SourceDescription, name: &str| {
        described.states.iter().find(|state| state.name == name).cloned().unwrap()
    };
    let unknown = SourceApproveParams { only: vec!["no such hash".to_owned()], ..as_shown(&shown) };
    let refused = world.host.source_approve(unknown).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("changed"));
    let one = SourceApproveParams { only: vec![of(&shown, "mean").hash], ..as_shown(&shown) };
    let approved = world.host.source_approve(one).await.unwrap();
    assert_eq!(approved.source.proposed, 1);
    let (mean, middle) = (of(&approved, "mean"), of(&approved, "middle"));
    assert!(mean.is_approved && mean.approval.is_some(), "{mean:?}");
    assert!(!middle.is_approved && middle.approval.is_none(), "{middle:?}");
    let all = world.host.source_approve(as_shown(&approved)).await.unwrap();
    assert_eq!(all.source.proposed, 0);
    assert_eq!(of(&all, "mean").approval, mean.approval, "the first approval counts");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_changed_since_they_were_shown_are_not_approved() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let shown = world.host.source_describe(named(&source)).await.unwrap();
    let file = world.folder.path().join("profile/data/sources/ads/definitions.yaml");
    let other = "source: ads\ntime: {column: Day}\nmeasures:\n  spend: {average: Cost}\n";
    fs::write(&file, other).unwrap();
    let refused = world.host.source_approve(as_shown(&shown)).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("changed"));
    assert!(refused.message.contains("changed since they were shown"), "{refused:?}");
    let now = world.host.source_describe(named(&source)).await.unwrap();
    assert!(now.source.proposed > 0 && now.definitions_hash != shown.definitions_hash);
    let approved = world.host.source_approve(as_shown(&now)).await.unwrap();
    assert_eq!(approved.source.proposed, 0);
    assert_eq!(approved.definitions_hash, now.definitions_hash, "an approval changes nothing");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_are_proposed_corrected_and_approved() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let described = world.host.source_describe(named(&source)).await.unwrap();
    assert!(described.faults.is_empty(), "{:?}", described.faults);
    assert!(described.text.contains("Cost"), "{}", described.text);
    assert!(!described.definitions.measures.is_empty());
    let file = world.folder.path().join("profile/data/sources/ads/definitions.yaml");
    let own = fs::read_to_string(&file).unwrap();
    fs::write(&file, "measures: {broken").unwrap();
    let broken = world.host.source_describe(named(&source)).await.unwrap();
    assert_eq!(broken.faults.len(), 1);
    assert!(!broken.definitions.measures.is_empty(), "the last version without a fault counts");
    assert!(world.host.source_approve(as_shown(&broken)).await.is_err());
    fs::write(&file, own).unwrap();
    let approved = world.host.source_approve(as_shown(&described)).await.unwrap();
    assert_eq!(approved.source.proposed, 0);
    let params = SourceDefineParams {
        name: source.clone(),
        text: None,
        definitions: None,
        columns: [(
            "Impr.".to_owned(),
            ColumnChoice { usage: Some(ColumnUse::Other), ..ColumnChoice::default() },
        )]
        .into(),
        models_get: Some(ModelAccess::Aggregates),
    };
    let changed = world.host.source_define(params).await.unwrap();
    assert_eq!(changed.models_get, ModelAccess::Aggregates);
    assert!(!changed.text.contains("Impr."), "{}", changed.text);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_a_person_sends_as_data_are_checked_and_approved() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let described = world.host.source_describe(named(&source)).await.unwrap();
    let mut definitions = described.definitions;
    let is_cost = |measure: &Measure| measure.calculation == Calculation::Sum("Cost".to_owned());
    let found = definitions.measures.iter_mut().find(|(_, measure)| is_cost(measure));
    let (name, measure) = found.map(|(name, measure)| (name.clone(), measure)).unwrap();
    measure.calculation = Calculation::Average("Cost".to_owned());
    let choice = ColumnChoice { usage: Some(ColumnUse::Ratio), ..ColumnChoice::default() };
    let mut params = SourceDefineParams {
        name: source.clone(),
        text: None,
        definitions: Some(definitions.clone()),
        columns: [("Cost".to_owned(), choice)].into(),
        models_get: None,
    };
    let changed = world.host.source_define(params.clone()).await.unwrap();
    let average = Calculation::Average("Cost".to_owned());
    assert_eq!(changed.definitions.measures[&name].calculation, average);
    let state = changed.states.iter().find(|state| state.name == name).unwrap();
    assert!(state.is_approved, "{state:?}");
    definitions.measures.get_mut(&name).unwrap().calculation =
        Calculation::Average("No such column".to_owned());
    params.definitions = Some(definitions);
    assert!(world.host.source_define(params).await.is_err());
    let kept = world.host.source_describe(named(&source)).await.unwrap().definitions;
    assert_eq!(kept.measures[&name].calculation, average);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_semantic_model_is_written_and_read_as_definitions() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let before = world.host.source_describe(named(&source)).await.unwrap();
    let model = before.ossie.unwrap();
    let params = SourceDefineParams {
        name: source.clone(),
        text: Some(model.text),
        definitions: None,
        columns: std::collections::BTreeMap::new(),
        models_get: None,
    };
    let after = world.host.source_define(params).await.unwrap();
    assert_eq!(after.definitions, before.definitions, "nothing is lost");
    let foreign = r#"{"version": "0.2.0.dev0", "name": "m", "datasets": [{"name": "other", "source": "t", "fields": [
        {"name": "day", "datatype": "Date", "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "Day"}]}},
        {"name": "shout", "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "upper(Campaign)"}]}}]}],
        "metrics": [{"name": "paid", "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "SUM(Cost)"}]}}]}"#;
    let params = SourceDefineParams {
        name: source.clone(),
        text: Some(foreign.to_owned()),
        definitions: None,
        columns: std::collections::BTreeMap::new(),
        models_get: None,
    };
    let after = world.host.source_define(params).await.unwrap();
    assert_eq!(
        after.text,
        "# other: shout was not taken.\nsource: ads\ntime: {column: Day}\nmeasures:\n  paid: {sum: Cost}\n"
    );
    world.host.stop().await;
}
