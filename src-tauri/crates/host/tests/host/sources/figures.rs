//! Tests of figures: answers of tools, and figures that are computed again.

use std::{
    fs,
    time::{Duration, UNIX_EPOCH},
};

use contract::{
    AuditShowParams, Commands as _, ModelAccess, SourceDefineParams, ToolCallParams, VerifyParams,
    definitions::{Calculation, Measure},
    metric_query::{MeasureParams, read_metric_query},
};
use host::Host;
use serde_json::json;

use super::{CLIENT_ONE, World, all_records, named};

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_figure_is_computed_again_over_the_rows_of_its_time() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    assert_eq!(world.total(&source, "Cost").await, "210.00");
    let records = world.host.audit_list(all_records()).await.unwrap().records;
    let record = records
        .iter()
        .find(|record| record.record_type == contract::RecordType::FigureComputed)
        .unwrap()
        .seq;
    let later = "Day,Campaign,Cost,Impr.\n2026-11-03,Brand,90.00,900\n";
    world.import(&world.write("ads-2.csv", later)).await;
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(check.is_repeated && check.agrees, "{check:?}");
    world.host.source_remove(named(&source)).await.unwrap();
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(!check.is_repeated && !check.agrees, "{check:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_settles_by_the_day_of_its_file() {
    let world = World::new().await;
    let write = |name: &str, conversions: [u32; 2], day: u64| {
        let [one, two] = conversions;
        let text = format!(
            "Day,Campaign,Cost,Conversions\n2024-03-01,Brand,100.00,{one}\n2024-03-02,Brand,110.00,{two}\n"
        );
        let path = world.write(name, &text);
        let file = fs::File::options().write(true).open(&path).unwrap();
        // Noon of a day of 2024, counted from 1 March.
        let seconds = 1_709_294_400 + (day - 1) * 86_400;
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        path
    };
    let notes = async || {
        let asked = json!({"source": "ads", "measures": ["conversions"], "period": {"from": "2024-03-01", "to": "2024-03-31"}});
        let query = read_metric_query(&asked).unwrap();
        let result = world.host.source_measure(MeasureParams { query, cursor: None }).await;
        let notes = result.unwrap().notes;
        notes.into_iter().map(|note| note.to_string()).filter(|note| note.contains("may still"))
    };
    assert!(world.import(&write("ads.csv", [3, 4], 5)).await.is_stored);
    let told = "conversions may still change: the 30 days up to 2024-03-05, the day of the file, are provisional.";
    assert_eq!(notes().await.collect::<Vec<_>>(), [told]);
    assert!(world.import(&write("ads-2.csv", [5, 6], 62)).await.is_stored);
    assert_eq!(notes().await.collect::<Vec<_>>(), [""; 0], "a later file has settled values");
    world.host.stop().await;
}

async fn newest_figure(world: &World) -> u64 {
    let records = world.host.audit_list(all_records()).await.unwrap().records;
    let is_figure = |record: &&contract::AuditRecordView| {
        record.record_type == contract::RecordType::FigureComputed
    };
    records.iter().find(is_figure).unwrap().seq
}

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_is_computed_again_with_the_definitions_of_its_time() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let described = world.host.source_describe(named(&source)).await.unwrap();
    let mut definitions = described.definitions;
    let is_cost = |measure: &Measure| measure.calculation == Calculation::Sum("Cost".to_owned());
    let found = definitions.measures.iter_mut().find(|(_, measure)| is_cost(measure));
    let (name, measure) = found.map(|(name, measure)| (name.clone(), measure)).unwrap();
    measure.calculation = Calculation::Average("Cost".to_owned());
    let query = read_metric_query(&json!({"source": "ads", "measures": [name]})).unwrap();
    let params = MeasureParams { query, cursor: None };
    let before = world.host.source_measure(params.clone()).await.unwrap();
    assert_eq!(before.rows[0][0], 210, "{before:?}");
    let record = newest_figure(&world).await;
    let changed = SourceDefineParams {
        name: source,
        text: None,
        definitions: Some(definitions),
        columns: std::collections::BTreeMap::new(),
        models_get: None,
    };
    world.host.source_define(changed).await.unwrap();
    let after = world.host.source_measure(params).await.unwrap();
    assert_eq!(after.rows[0][0], 105, "{after:?}");
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(check.agrees, "{check:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_names_no_source_has_the_zone_of_the_one_that_it_finds() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    world.import(&world.write("other.csv", "Name,Height\nOak,12\nElm,9\n")).await;
    let mut definitions = world.host.source_describe(named(&source)).await.unwrap().definitions;
    definitions.time.as_mut().unwrap().zone = Some("Pacific/Kiritimati".to_owned());
    let measure = definitions.measures.keys().next().unwrap().clone();
    let changed = SourceDefineParams {
        name: source,
        text: None,
        definitions: Some(definitions),
        columns: std::collections::BTreeMap::new(),
        models_get: None,
    };
    world.host.source_define(changed).await.unwrap();
    let query = read_metric_query(&json!({"measures": [measure]})).unwrap();
    let params = MeasureParams { query, cursor: None };
    world.host.source_measure(params).await.unwrap();
    let seq = newest_figure(&world).await;
    let record = world.host.audit_show(AuditShowParams { seq }).await.unwrap();
    let asked = record.revealed["asked"].to_string();
    assert!(asked.contains("Pacific/Kiritimati"), "{asked}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_over_rows_that_were_changed_proves_nothing() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let total = world.total(&source, "Cost").await;
    let record = newest_figure(&world).await;
    let other = world.import(&world.write("other.csv", "Name,Height\nOak,12\nElm,9\n")).await;
    let part = |name: &str| {
        let folder = world.folder.path().join("profile/data/sources").join(name).join("parts");
        fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
    };
    assert_ne!(other.source, source);
    let kept = fs::read(part("ads")).unwrap();
    fs::copy(part(other.source.as_str()), part("ads")).unwrap();
    let check = world.host.source_verify(VerifyParams { record }).await;
    assert!(check.is_err() || !check.unwrap().agrees);
    // The same rows in another file.
    fs::write(part("ads"), [kept.as_slice(), b" "].concat()).unwrap();
    let check = world.host.source_verify(VerifyParams { record }).await;
    assert!(check.is_err() || !check.unwrap().agrees);
    fs::write(part("ads"), kept).unwrap();
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(check.agrees && total == "210.00", "{check:?}");
    world.host.stop().await;
}

async fn call(host: &Host, tool: &str, arguments: serde_json::Value) -> serde_json::Value {
    let params = ToolCallParams { tool: tool.into(), arguments, session: None, headless: true };
    let response = host.tool_call(params).await.unwrap();
    assert_eq!(response.error, None);
    response.data
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_answer_from_sources_and_mark_what_must_stay_here() {
    let world = World::with_tools().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let told = call(&world.host, "data.sources", json!({})).await;
    assert_eq!(told["sources"][0]["name"], "ads", "{told}");
    let described = world.host.source_describe(named(&source)).await.unwrap();
    let spend = described
        .definitions
        .measures
        .iter()
        .find(|(_, measure)| format!("{measure:?}").contains("Cost"))
        .map(|(name, _)| name.clone())
        .unwrap();
    let query = json!({"query": {"source": "ads", "measures": [spend]}});
    let figures = call(&world.host, "data.measure", query.clone()).await;
    assert_eq!(figures["rows"][0][0], 210, "{figures}");
    assert_eq!(figures["asked"]["parts"][0]["at"], "/measures/0", "{figures}");
    assert!(figures.get("local_only").is_none());
    let records = world.host.audit_list(all_records()).await.unwrap().records;
    let outcome = contract::RecordType::ToolOutcome;
    let record = records.iter().find(|record| record.record_type == outcome).unwrap().seq;
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(check.agrees, "{check:?}");
    let params = SourceDefineParams {
        name: source,
        text: None,
        definitions: None,
        columns: std::collections::BTreeMap::new(),
        models_get: Some(ModelAccess::Nothing),
    };
    world.host.source_define(params).await.unwrap();
    let figures = call(&world.host, "data.measure", query).await;
    assert_eq!(figures["local_only"], true, "{figures}");
    let rows = call(&world.host, "data.query", json!({"sql": "SELECT * FROM ads"})).await;
    assert_eq!(rows["local_only"], true, "{rows}");
    assert_eq!(rows["definition_state"], "written_by_model");
    world.host.stop().await;
}

async fn measure(world: &World, query: serde_json::Value) -> contract::metric_query::DataResult {
    let params = serde_json::from_value(json!({"query": query})).unwrap();
    world.host.source_measure(params).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_has_its_question_in_words_and_the_number_of_its_record() {
    let world = World::new().await;
    world.import(&world.write("ads.csv", CLIENT_ONE)).await;
    let mut query = json!({"source": "ads", "measures": ["spend"], "by": [{"time": "day"}], "where": [{"campaign": ["Brand"]}], "period": {"month": "2026-11"}});
    let result = measure(&world, query.clone()).await;
    let asked = result.asked.unwrap();
    let words: Vec<&str> = asked.parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(words, ["Spend", "by day", "Campaign: Brand", "Nov 2026 (1–30 Nov)", "from ads"]);
    assert_eq!(result.record, Some(newest_figure(&world).await));
    // A changed part is another question, with the answer of that question.
    let mut changed = *asked.query.unwrap();
    changed.conditions.clear();
    changed.as_of = None;
    let params = MeasureParams { query: changed, cursor: None };
    let changed = world.host.source_measure(params).await.unwrap();
    query.as_object_mut().unwrap().remove("where");
    let direct = measure(&world, query).await;
    assert_eq!((changed.sql, changed.rows), (direct.sql, direct.rows));
    world.host.stop().await;
}

fn says(result: &contract::metric_query::DataResult, words: &str) -> bool {
    result.notes.iter().any(|note| note.contains(words))
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_week_are_said_where_an_answer_cuts_them() {
    let world = World::new().await;
    let weekly = "Objective,Amount spent (EUR),Impressions,Reporting starts,Reporting ends\nSales,700.00,7000,2026-11-02,2026-11-08\nTraffic,70.00,700,2026-11-02,2026-11-08\n";
    let file = world.write("weekly.csv", weekly);
    let asked = world.import(&file).await;
    assert_eq!(super::questions(&asked), ["period_rows"], "{asked:?}");
    let kept = world.import_with(&file, super::answers(&[("period_rows", "keep")])).await;
    assert!(kept.is_stored, "{kept:?}");
    let query = |more: serde_json::Value| {
        let mut query = json!({"source": kept.source, "measures": ["spend"]});
        query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        query
    };
    let cut = "2 rows of weekly cover more than a day";
    let by_day = measure(&world, query(json!({"by": [{"time": "day"}]}))).await;
    assert!(says(&by_day, cut), "{:?}", by_day.notes);
    let part = json!({"period": {"from": "2026-11-01", "to": "2026-11-04"}});
    let part = measure(&world, query(part)).await;
    assert!(says(&part, cut), "{:?}", part.notes);
    let later = json!({"period": {"from": "2026-11-05", "to": "2026-11-30"}});
    let later = measure(&world, query(later)).await;
    assert!(says(&later, cut), "the rows reach into the period: {:?}", later.notes);
    assert!(says(&later, "cover 2026-11-02 to 2026-11-08"), "{:?}", later.notes);
    let whole = json!({"period": {"month": "2026-11"}, "by": [{"time": "week"}]});
    let whole = measure(&world, query(whole)).await;
    assert!(!says(&whole, "cover more than a day"), "{:?}", whole.notes);
    assert_eq!(whole.rows[0][1], 770, "{whole:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_divided_over_its_days_and_stands_beside_the_spend_of_its_campaign_only() {
    let world = World::new().await;
    let delivery = "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,50.00,1000\n2026-11-01,Elm,200.00,2000\n2026-11-02,Oak,50.00,1000\n2026-11-02,Elm,200.00,2000\n";
    let plan = "Campaign,Budget,Start,End\nOak,3000,2026-11-01,2026-11-30\n";
    world.import(&world.write("ads.csv", delivery)).await;
    world.import(&world.write("plan.csv", plan)).await;
    let period = json!({"from": "2026-11-01", "to": "2026-11-13"});
    let planned = json!({"source": "plan", "measures": ["budget"], "period": period});
    let planned = measure(&world, planned).await;
    assert_eq!(json!(planned.rows), json!([[1300]]), "{planned:?}");
    let wrong = json!({"query": {"source": "ads", "measures": ["budget"]}});
    let fault = world.host.source_measure(serde_json::from_value(wrong).unwrap()).await;
    let fault = fault.unwrap_err();
    assert!(fault.message.contains("plan.budget"), "{fault:?}");
    let both = json!({"source": "ads", "measures": ["spend", "plan.budget"], "by": ["campaign"], "period": period, "totals": true});
    let both = measure(&world, both).await;
    assert_eq!(json!(both.rows), json!([["Elm", 400, null], ["Oak", 100, 1300]]), "{both:?}");
    assert_eq!(json!(both.totals), json!([[null, 500, 1300]]), "{both:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_period_without_data_has_empty_figures_and_names_the_days_that_there_are() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let period = json!({"month": "2026-06"});
    let query = json!({"source": source, "measures": ["spend", "rows"], "period": period});
    let none = measure(&world, query).await;
    assert_eq!(json!(none.rows), json!([[null, null]]), "{none:?}");
    assert!(says(&none, "ads has no data for 2026-06-01 to 2026-06-30"), "{:?}", none.notes);
    assert!(says(&none, "2026-11-01 to 2026-11-02"), "{:?}", none.notes);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_rows_have_the_roles_of_their_definitions() {
    let world = World::new().await;
    let text = "Day,Campaign,Hour,Cost,CTR\n2026-11-01,Brand,7,100.00,1.5%\n2026-11-02,Brand,8,110.00,1.6%\n";
    let source = world.import(&world.write("ads.csv", text)).await.source;
    let params = serde_json::from_value(json!({"name": source})).unwrap();
    let rows = world.host.source_rows(params).await.unwrap();
    let roles: Vec<(&str, contract::result::ColumnRole)> =
        rows.columns.iter().map(|column| (column.name.as_str(), column.role)).collect();
    use contract::result::ColumnRole::{Dimension, Measure, Time};
    let expected = [
        ("Day", Time),
        ("Campaign", Dimension),
        ("Hour", Dimension),
        ("Cost", Measure),
        ("CTR", Dimension),
    ];
    assert_eq!(roles, expected);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_describes_things_gives_dimensions_without_counting_rows_twice() {
    let world = World::new().await;
    let delivery = "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,50.00,1000\n2026-11-01,Elm,200.00,2000\n2026-11-02,Ash,5.00,10\n2026-11-02,Fir,7.00,10\n";
    let teams = "Campaign,Team\nOak,North\nElm,South\nAsh,North\nAsh,South\n";
    let ads = world.import(&world.write("ads.csv", delivery)).await.source;
    let teams = world.import(&world.write("teams.csv", teams)).await.source;
    let described = world.host.source_describe(named(&ads)).await.unwrap();
    let text = format!("{}joins:\n  {teams}: {{on: {{Campaign: Campaign}}}}\n", described.text);
    let params = SourceDefineParams {
        name: ads,
        text: Some(text),
        definitions: None,
        columns: std::collections::BTreeMap::new(),
        models_get: None,
    };
    world.host.source_define(params).await.unwrap();
    let query =
        json!({"source": "ads", "measures": ["spend"], "by": ["teams.team"], "totals": true});
    let result = measure(&world, query).await;
    let rows = json!([["North", 50], ["South", 200], [null, 12]]);
    assert_eq!(json!(result.rows), rows, "{result:?}");
    assert_eq!(json!(result.totals), json!([[null, 262]]));
    assert!(says(&result, "teams has several values for 1 rows"), "{:?}", result.notes);
    assert!(says(&result, "1 rows of the period have no partner in teams"), "{:?}", result.notes);
    world.host.stop().await;
}
