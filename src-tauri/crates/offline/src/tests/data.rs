//! Tests of questions about sources, beside the packs that ship: their calls, their answers, and which
//! side a message is for.

use std::sync::{Arc, LazyLock};

use analytics::{Catalog, SourceModel, TableColumn};
use contract::{
    SourceName,
    definitions::read_definitions,
    metric_query::{
        ComparedFigure, DataColumn, DataResult, DataType, MetricQuery, read_metric_query,
    },
    result::{ColumnRole, ColumnUnit, ValueFormat},
    sources::ColumnKind,
};
use engine::ports::{Model as _, ModelEvent, Purpose};
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use questions::Values;
use serde_json::{Value, json};

use super::world::{Call, Turn, World, model, now};
use crate::{KnownSources, SourceDirectory};

static KNOWN: LazyLock<Arc<KnownSources>> = LazyLock::new(|| Arc::new(known(&sources())));

fn sources() -> Value {
    json!([
        {
            "definitions": {
                "source": "search_ads",
                "time": {"column": "Day"},
                "dimensions": {
                    "campaign": {"column": "Campaign", "synonyms": {"sv": ["kampanj"]}},
                    "device": {"column": "Device", "synonyms": {"sv": ["enhet"]}},
                    "country": {"column": "Country", "synonyms": {"sv": ["land"]}}
                },
                "measures": {
                    "spend": {"sum": "Cost", "unit": "money", "currency": "GBP",
                        "synonyms": {"en": ["outlay"], "sv": ["kostnad"]}},
                    "fees": {"sum": "Fees", "unit": "money", "currency": "GBP",
                        "synonyms": {"en": ["outlay"]}},
                    "clicks": {"sum": "Clicks", "synonyms": {"sv": ["klick"]}}
                }
            },
            "columns": {"Day": "day", "Campaign": "text", "Device": "text", "Country": "text",
                "Cost": "decimal", "Fees": "decimal", "Clicks": "whole"},
            "values": {
                "campaign": ["Spa Weekends", "Easter", "Brand UK"],
                "device": ["Mobile", "Desktop"],
                "country": ["Ireland", "Sweden"]
            }
        },
        {
            "definitions": {
                "source": "stock_levels",
                "time": {"column": "Day"},
                "dimensions": {"article": {"column": "Article"}},
                "measures": {"pieces": {"sum": "Pieces"}}
            },
            "columns": {"Day": "day", "Article": "text", "Pieces": "whole"},
            "values": {"article": ["Trail shoes", "Lamps", "Account 17"]}
        }
    ])
}

fn known(sources: &Value) -> KnownSources {
    let (mut catalog, mut values) = (Catalog::default(), Values::new());
    for source in sources.as_array().unwrap() {
        let definitions = read_definitions(&source["definitions"]).unwrap();
        let columns = source["columns"].as_object().unwrap();
        let column = |(name, kind): (&String, &Value)| TableColumn {
            name: name.clone(),
            kind: match kind.as_str().unwrap() {
                "day" => ColumnKind::Day,
                "whole" => ColumnKind::Whole,
                "decimal" => ColumnKind::Decimal,
                _ => ColumnKind::Text,
            },
            scale: 2,
            constant: None,
            is_float: false,
        };
        let columns = columns.iter().map(column).collect();
        let own = serde_json::from_value(source["values"].clone()).unwrap();
        values.insert(definitions.source.clone(), own);
        catalog.sources.push(SourceModel::new(definitions, columns));
    }
    KnownSources::new(catalog, values).unwrap()
}

fn world() -> World {
    let mut world = World::new();
    world.known = Some(Arc::clone(&KNOWN));
    world
}

fn text_column(name: &str) -> DataColumn {
    let mut column =
        DataColumn::new(name, DataType::Text, ColumnRole::Dimension, ValueFormat::Text);
    column.of = Some(name.to_owned());
    column
}

fn money(name: &str, compared: Option<ComparedFigure>) -> DataColumn {
    let mut column =
        DataColumn::new(name, DataType::Decimal, ColumnRole::Measure, ValueFormat::Money);
    column.unit = Some(ColumnUnit::Fixed("GBP".to_owned()));
    column.adds_up = true;
    column.compared = compared;
    column
}

fn count(name: &str) -> DataColumn {
    let mut column =
        DataColumn::new(name, DataType::Whole, ColumnRole::Measure, ValueFormat::Number);
    column.adds_up = true;
    column
}

/// Returns a result as a tool gives it.
fn result(columns: Vec<DataColumn>, rows: Value) -> Value {
    let rows: Vec<Vec<Value>> = serde_json::from_value(rows).unwrap();
    let row_count = rows.len() as u64;
    json!(DataResult {
        columns,
        row_count,
        rows,
        query: "5e".to_owned(),
        sql: "SELECT 1".to_owned(),
        ..DataResult::default()
    })
}

fn spend(amount: f64) -> Value {
    result(vec![money("spend", None)], json!([[amount]]))
}

/// Returns the tools and queries of the calls of a turn.
fn asked(turn: &Turn) -> Vec<(String, MetricQuery)> {
    let query = |call: &Call| {
        let query = read_metric_query(&call.arguments["query"]).unwrap();
        (call.tool.clone(), query)
    };
    turn.calls.iter().map(query).collect()
}

fn query(value: Value) -> MetricQuery {
    let mut value = value;
    value["source"] = json!("search_ads");
    read_metric_query(&value).unwrap()
}

#[track_caller]
fn assert_asks(turn: &Turn, tool: &str, wanted: &[Value]) {
    let wanted: Vec<(String, MetricQuery)> =
        wanted.iter().map(|one| (tool.to_owned(), query(one.clone()))).collect();
    assert_eq!(asked(turn), wanted, "{}", turn.text);
}

#[test]
fn a_question_with_one_reading_is_one_call_and_its_answer_begins_with_the_figure() {
    let mut world = world();
    world.figures.push_back(spend(12_345.6));
    let turn = world.say("spend in October");
    let wanted = json!({"measures": ["spend"], "period": {"month": "2026-10"}});
    assert_asks(&turn, "data.measure", &[wanted]);
    assert_eq!(turn.text, "**12,346\u{a0}GBP** spend.");
    world.figures.push_back(spend(0.49));
    assert_eq!(world.say("spend for Easter in October").text, "**0.49\u{a0}GBP** spend.");
}

#[test]
fn a_question_in_swedish_is_answered_in_swedish() {
    let mut world = world();
    world.locale = "sv".into();
    let figures = |now| {
        let parts = [
            (ComparedFigure::Now, "spend"),
            (ComparedFigure::Before, "spend_before"),
            (ComparedFigure::Change, "spend_change"),
        ];
        let mut columns: Vec<DataColumn> =
            parts.into_iter().map(|(part, name)| money(name, Some(part))).collect();
        let mut growth = money("spend_growth", Some(ComparedFigure::Growth));
        (growth.format, growth.unit) = (ValueFormat::Percent, None);
        columns.push(growth);
        result(columns, now)
    };
    world.figures.push_back(figures(json!([[1200, 1500, -300, -0.2]])));
    let turn = world.say("jämför kostnad i oktober med september");
    let wanted = json!({"measures": ["spend"], "period": {"month": "2026-10"},
        "compare": {"period": {"month": "2026-09"}}});
    assert_asks(&turn, "data.measure", &[wanted]);
    assert_eq!(
        turn.text,
        "**1\u{a0}200\u{a0}GBP** spend. 300\u{a0}GBP mindre än 1\u{a0}500\u{a0}GBP (−20,0\u{a0}%)."
    );
    world.locale = "en".into();
    world.figures.push_back(figures(json!([[1500, 1200, 300, 0.25]])));
    let turn = world.say("compare October with September spend");
    assert_eq!(
        turn.text,
        "**1,500\u{a0}GBP** spend. 300\u{a0}GBP more than 1,200\u{a0}GBP (+25.0%)."
    );
}

#[test]
fn the_answer_of_a_breakdown_has_the_sum_and_the_highest_group() {
    let mut world = world();
    let rows = json!([["Easter", 400.5], ["Brand UK", 600.5], ["Spa Weekends", 99.5]]);
    world.figures.push_back(result(vec![text_column("campaign"), money("spend", None)], rows));
    let turn = world.say("spend by campaign in October");
    assert_eq!(turn.text, "**1,101\u{a0}GBP** spend in total. Highest: Brand UK, 601\u{a0}GBP.");
    let rows = json!([["Easter", 7]]);
    world.figures.push_back(result(vec![text_column("campaign"), count("clicks")], rows));
    let turn = world.say("which campaign has the most clicks");
    assert_eq!(turn.text, "**Easter**: 7 clicks.");
}

#[test]
fn no_rows_and_failures_are_said_plainly() {
    let mut world = world();
    world.figures.push_back(result(vec![money("spend", None)], json!([[null]])));
    let text = world.say("spend for Easter in October").text;
    assert!(text.starts_with("There are no rows for: spend"), "{text}");
    assert!(text.contains("Easter") && text.contains("2026"), "it says what it looked at: {text}");
    let failure = json!({"outcome": "error", "error": {"message": "The table is gone."}});
    world.figures.push_back(failure);
    assert_eq!(world.say("spend in September").text, "The table is gone.");
}

#[test]
fn several_readings_are_computed_and_asked_about_only_if_their_figures_differ() {
    let mut same = world();
    same.figures.extend([spend(100.0), spend(100.0)]);
    let turn = same.say("outlay in October");
    assert_eq!(turn.calls.len(), 2, "{}", turn.text);
    assert!(turn.text.starts_with("**100\u{a0}GBP**") && turn.choices.is_empty(), "{}", turn.text);

    let mut other = world();
    other.figures.extend([spend(100.0), spend(30.0)]);
    let turn = other.say("outlay in October");
    assert_eq!(turn.text.lines().count(), 1, "{}", turn.text);
    assert_eq!(turn.choices.len(), 2, "{:?}", turn.choices);
    let remembered: Vec<&str> = turn
        .choices
        .iter()
        .map(|choice| choice.remember.as_ref().unwrap())
        .inspect(|word| assert_eq!(word.word, "outlay"))
        .map(|word| word.name.as_str())
        .collect();
    assert!(remembered.contains(&"spend") && remembered.contains(&"fees"), "{remembered:?}");
    let mut cut = spend(100.0);
    cut["more"] = json!("next");
    let mut pages = world();
    pages.figures.extend([cut.clone(), cut.clone(), cut]);
    let turn_of_pages = pages.say("outlay in October");
    assert_eq!(turn_of_pages.choices.len(), 2, "later rows may differ: {}", turn_of_pages.text);
    let text = pages.say("spend by campaign").text;
    assert!(text.contains("100"), "one reading is answered: {text}");
    let fees = turn.choices.iter().find(|choice| choice.label.contains("fees")).unwrap();
    let turn = other.say(&fees.message);
    let wanted = json!({"measures": ["fees"], "period": {"month": "2026-10"}});
    assert_asks(&turn, "data.measure", &[wanted]);
}

#[test]
fn words_without_a_meaning_are_named_with_the_nearest_question_as_a_button() {
    let mut world = world();
    let turn = world.say("polished pieces by article");
    assert!(turn.calls.is_empty() && turn.text.lines().count() == 1, "{}", turn.text);
    assert!(turn.text.starts_with("Without “polished” I can answer: "), "{}", turn.text);
    let [choice] = turn.choices.as_slice() else { panic!("{:?}", turn.choices) };
    let turn = world.say(&choice.message);
    let wanted = json!({"source": "stock_levels", "measures": ["pieces"], "by": ["article"]});
    let wanted = read_metric_query(&wanted).unwrap();
    assert_eq!(asked(&turn), [("data.measure".to_owned(), wanted)]);
}

#[test]
fn the_nearest_question_keeps_the_form_that_was_asked_for() {
    let turn = world().say("polished pieces by article as a bar chart");
    let [choice] = turn.choices.as_slice() else { panic!("{}", turn.text) };
    assert!(choice.message.ends_with(" as a bar chart"), "{}", choice.message);
}

#[test]
fn a_question_that_no_query_says_is_declined_by_its_operation() {
    let turn = world().say("cohort retention by campaign");
    assert!(turn.calls.is_empty() && turn.text.lines().count() == 1, "{}", turn.text);
    assert!(turn.text.contains("groups followed over time are not computed"), "{}", turn.text);
}

#[test]
fn follow_ups_change_the_query_before_them() {
    let mut world = world();
    let rows = result(vec![text_column("campaign"), money("spend", None)], json!([["Easter", 4]]));
    world.figures.extend(vec![rows; 4]);
    let october = json!({"month": "2026-10"});
    let mut wanted = json!({"measures": ["spend"], "by": ["campaign"], "period": october});
    assert_asks(&world.say("spend by campaign in October"), "data.measure", &[wanted.clone()]);
    wanted["where"] = json!({"device": ["Mobile"]});
    assert_asks(&world.say("only mobile"), "data.measure", &[wanted.clone()]);
    wanted["compare"] = json!({"period": {"month": "2026-09"}});
    assert_asks(&world.say("compare with September"), "data.measure", &[wanted.clone()]);
    assert_asks(&world.say("as a chart"), "data.chart", &[wanted]);
}

#[test]
fn a_follow_up_is_about_the_last_question_also_if_that_has_no_figures() {
    let mut world = world();
    let rows = result(vec![text_column("campaign"), money("spend", None)], json!([["Easter", 4]]));
    world.figures.push_back(rows);
    world.say("spend by campaign in October");
    world
        .figures
        .push_back(json!({"outcome": "error", "error": {"message": "The table is gone."}}));
    world.say("clicks by campaign in September");
    let wanted = json!({"measures": ["clicks"], "by": ["campaign"],
        "period": {"month": "2026-09"}, "where": {"device": ["Mobile"]}});
    assert_asks(&world.say("only mobile"), "data.measure", &[wanted]);
    // The words that it left over are still left over.
    world.say("polished pieces by article");
    let turn = world.say("in October");
    assert!(turn.calls.is_empty(), "{}", turn.text);
    assert!(turn.text.starts_with("Without “polished” I can answer: "), "{}", turn.text);
    let [choice] = turn.choices.as_slice() else { panic!("{:?}", turn.choices) };
    let turn = world.say(&choice.message);
    let wanted = json!({"source": "stock_levels", "measures": ["pieces"], "by": ["article"],
        "period": {"month": "2026-10"}});
    let wanted = read_metric_query(&wanted).unwrap();
    assert_eq!(asked(&turn), [("data.measure".to_owned(), wanted)], "{}", turn.text);
}

#[test]
fn a_follow_up_of_a_question_with_several_readings_goes_on_from_each() {
    let mut world = world();
    world.figures.extend([spend(7.0), spend(100.0), spend(30.0)]);
    world.say("clicks in September");
    assert_eq!(world.say("outlay in October").choices.len(), 2);
    let turn = world.say("only mobile");
    let wanted = |measure: &str| {
        let query = query(json!({"measures": [measure], "period": {"month": "2026-10"},
            "where": {"device": ["Mobile"]}}));
        ("data.measure".to_owned(), query)
    };
    let asked = asked(&turn);
    assert_eq!(asked.len(), 2, "{}", turn.text);
    assert!(asked.contains(&wanted("spend")) && asked.contains(&wanted("fees")), "{asked:?}");
}

#[test]
fn the_text_of_a_button_goes_on_from_no_earlier_question() {
    let rows = query(json!({"rows": true, "where": {"campaign": ["Easter"]}}));
    let said = KNOWN.reader().say(&rows, &KNOWN.catalog, "en").unwrap();
    let alone = asked(&world().say(&said));
    assert_eq!(alone.len(), 1, "{said}");
    let mut world = world();
    world.figures.push_back(spend(7.0));
    world.say("spend for mobile in October");
    assert_eq!(asked(&world.say(&said)), alone, "{said}");
}

#[test]
fn a_question_about_a_source_and_one_about_the_product_are_both_answered() {
    let mut world = world();
    world.figures.push_back(spend(250.0));
    let turn = world.say("spend in October, and how do I connect a database?");
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
    assert!(turn.text.starts_with("**250\u{a0}GBP** spend.\n\n"), "{}", turn.text);
    let section = World::new().say("how do I connect a database?").text;
    assert!(turn.text.ends_with(&section), "{}", turn.text);
}

#[test]
fn an_answer_without_a_call_is_marked_if_it_names_values_that_must_stay() {
    let is_marked = |limited: &[&str], text: &str| {
        let mut own = sources();
        own[1]["values"]["article"] = json!(["Granite", "Marble"]);
        let limited = limited.iter().map(|name| SourceName::new(*name)).collect();
        let mut world = World::new();
        world.known = Some(Arc::new(known(&own).with_limited(limited)));
        let events = world.events(text);
        let is_marked = events.contains(&ModelEvent::LocalData);
        assert!(names_called(events).is_empty(), "{text}");
        is_marked
    };
    assert!(is_marked(&["stock_levels"], "polished pieces for Granite"));
    assert!(!is_marked(&["stock_levels"], "polished pieces by article"), "it names no value");
    assert!(!is_marked(&["search_ads"], "polished pieces for Granite"));
}

#[test]
fn a_chart_has_its_figures_inside_and_a_file_is_offered_where_it_is() {
    let mut world = world();
    let rows = json!([["Easter", 4], ["Brand UK", 6]]);
    let drawn = result(vec![text_column("campaign"), count("clicks")], rows.clone());
    world.figures.push_back(json!({"chart": null, "result": drawn}));
    let turn = world.say("clicks by campaign as a bar chart");
    assert_eq!(turn.calls[0].tool, "data.chart");
    assert_eq!(turn.calls[0].arguments["kind"], "bars");
    assert_eq!(turn.text, "**10** clicks in total. Highest: Brand UK, 6.");
    world.figures.push_back(result(vec![text_column("campaign"), count("clicks")], rows));
    let turn = world.say("clicks by campaign as CSV");
    assert_eq!(turn.calls[0].tool, "data.measure");
    assert!(turn.text.contains("CSV"), "{}", turn.text);
}

#[test]
fn a_question_about_a_change_goes_to_the_tool_that_explains_it() {
    let turn = world().say("why did clicks drop in October?");
    let [call] = turn.calls.as_slice() else { panic!("{:?}", turn.calls) };
    assert_eq!(call.tool, "data.explain_change");
    assert_eq!(call.arguments["query"].get("measures"), None, "{call:?}");
    assert_eq!(call.arguments["query"]["explain"]["measure"], "clicks");
}

#[test]
fn a_keyword_inside_a_name_is_no_keyword() {
    let turn = world().say("spend for Spa Weekends in October");
    let wanted = json!({"measures": ["spend"], "where": {"campaign": ["Spa Weekends"]},
        "period": {"month": "2026-10"}});
    assert_asks(&turn, "data.measure", &[wanted]);
}

#[test]
fn a_misspelled_name_is_said() {
    let mut world = world();
    world.figures.push_back(result(vec![money("spend", None)], json!([[5]])));
    let turn = world.say("spned in October");
    assert_eq!(turn.text, "**5.00\u{a0}GBP** spend.\n\n*Read “spned” as spend.*");
}

#[test]
fn two_questions_in_a_message_are_two_queries() {
    let mut world = world();
    let most = result(vec![text_column("campaign"), count("clicks")], json!([["Easter", 7]]));
    world.figures.extend([spend(250.0), most]);
    let turn = world.say("spend in October, and which campaign had the most clicks in October?");
    let period = json!({"month": "2026-10"});
    let wanted = [
        json!({"measures": ["spend"], "period": period}),
        json!({"measures": ["clicks"], "by": ["campaign"], "period": period,
            "order": [{"by": "clicks", "descending": true}], "limit": 1}),
    ];
    assert_asks(&turn, "data.measure", &wanted);
    assert_eq!(
        turn.text,
        "spend in October: **250\u{a0}GBP** spend.\n\n\
         which campaign had the most clicks in October: **Easter**: 7 clicks."
    );
}

#[test]
fn a_question_and_a_request_to_a_pack_are_both_done() {
    let mut world = world();
    world.figures.push_back(spend(250.0));
    let turn =
        world.say("what did we spend in October and add two of the black trail shoes to my cart");
    let tools: Vec<&str> = turn.calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["data.measure", "product.search"], "{}", turn.text);
    assert!(turn.text.starts_with("**250\u{a0}GBP** spend.\n\n"), "{}", turn.text);
    assert!(turn.text.contains("1. ") && turn.choices.len() >= 2, "{}", turn.text);
    let turn = world.say("the second one");
    assert_eq!(turn.calls[0].tool, "product.get", "{}", turn.text);
}

#[test]
fn a_source_does_not_change_how_a_request_to_a_pack_is_handled() {
    for text in [
        "show me trail shoes",
        "add two of the black trail shoes to my cart",
        "what's in my cart",
        "remove the lamps from my cart",
        "Remember that Anna likes lamps, and spend by campaign",
        "hello",
        "what can you do",
    ] {
        let (before, after) = (World::new().say(text), world().say(text));
        assert_eq!(after.calls, before.calls, "{text}");
        assert_eq!(after.text, before.text, "{text}");
    }
}

#[test]
fn a_search_of_a_pack_takes_no_message_that_names_data() {
    let turn = world().say("show me something about clicks in October");
    assert!(turn.calls.iter().all(|call| call.tool.starts_with("data.")), "{:?}", turn.calls);
    assert!(turn.text.contains("clicks") || !turn.calls.is_empty(), "{}", turn.text);
}

#[test]
fn a_search_that_knows_none_of_its_words_says_so_beside_sources() {
    let turn = world().say("show me gizmotrons");
    assert_eq!(turn.text, "I did not understand “gizmotrons”.");
    let turn = World::new().say("show me gizmotrons");
    assert!(!turn.text.contains("did not understand"), "{}", turn.text);
}

#[test]
fn an_open_question_of_a_pack_is_answered_by_the_next_message() {
    let mut world = world();
    world.say("add two of the black trail shoes to my cart");
    let turn = world.say("the second one");
    assert_eq!(turn.calls[0].tool, "product.get", "{}", turn.text);
}

fn names_called(events: Vec<ModelEvent>) -> Vec<String> {
    let name = |event| if let ModelEvent::Call(call) = event { Some(call.name) } else { None };
    events.into_iter().filter_map(name).collect()
}

#[test]
fn questions_about_sources_are_routed_by_the_tool_that_answers_them() {
    let mut world = world();
    let names = world.request(true).tools.into_iter().map(|tool| tool.name.to_string());
    let (data, others): (Vec<String>, Vec<String>) =
        names.partition(|name| name.starts_with("data_"));
    let agents = vec![("analyst".into(), data.clone()), ("other".into(), others.clone())];
    let purpose = Purpose::Route { agents, answered: Vec::new() };
    let decided = world.asked_for("spend in October", purpose);
    let decided: Value = serde_json::from_str(&decided).unwrap();
    assert_eq!(decided["next"], "analyst");
    let mut called = |tools: Vec<String>| {
        let text = "clicks in October and show me trail shoes";
        names_called(world.events_for(text, Purpose::Part { tools }))
    };
    assert_eq!(called(data), ["data_measure"]);
    assert_eq!(called(others), ["product_search"]);
}

#[test]
fn a_tool_that_is_switched_off_is_said() {
    let mut world = world();
    world.offered = Some(vec!["product_search".to_owned()]);
    let turn = world.say("spend in October");
    assert!(turn.calls.is_empty());
    assert!(turn.text.contains("switched off"), "{}", turn.text);
}

#[test]
fn an_explanation_has_the_readings_with_their_parts() {
    let known = Some(&**KNOWN);
    let explain = |text| model().explain(text, now(), "Europe/Stockholm", known).readings;
    let found = explain("polished spned by device");
    let [reading] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((reading.outcome.as_str(), reading.is_chosen), ("partly", false));
    assert_eq!(reading.left_out, ["polished"]);
    assert_eq!(reading.corrected[0].read_as, "spend");
    let wanted = query(json!({"measures": ["spend"], "by": ["device"]}));
    assert_eq!(reading.query.as_deref(), Some(&wanted));
    let means: Vec<&str> = reading.spans.iter().map(|span| span.means.as_str()).collect();
    assert!(means.contains(&"measure spend") && means.contains(&"dimension device"), "{means:?}");
    assert!(reading.score > 0 && reading.question.is_some());
    let plain = model().explain("spend by device", now(), "Europe/Stockholm", None);
    assert!(plain.readings.is_empty());
}

#[derive(Debug)]
struct Directory;

impl SourceDirectory for Directory {
    fn known(&self) -> BoxFuture<'_, Option<Arc<KnownSources>>> {
        async { Some(Arc::clone(&KNOWN)) }.boxed()
    }
}

#[test]
fn the_model_asks_its_directory_if_the_tool_is_offered() {
    let calls = |sources: bool| {
        let mut world = world();
        world.events("spend by device");
        let model = if sources { model().with_sources(Arc::new(Directory)) } else { model() };
        let stream = model.stream(world.request(true)).map(Result::unwrap);
        names_called(futures::executor::block_on(stream.collect()))
    };
    assert_eq!(calls(true), ["data_measure"]);
    assert!(!calls(false).contains(&"data_measure".to_owned()));
}

#[derive(Debug)]
struct Unread;

impl SourceDirectory for Unread {
    fn known(&self) -> BoxFuture<'_, Option<Arc<KnownSources>>> {
        panic!("a greeting does not wait for the sources")
    }
}

#[test]
fn a_first_greeting_is_answered_without_the_sources() {
    let mut world = world();
    world.events("hello");
    let stream = model().with_sources(Arc::new(Unread)).stream(world.request(true));
    let events: Vec<_> = futures::executor::block_on(stream.collect());
    assert!(events.iter().any(|event| matches!(event, Ok(ModelEvent::Text(_)))));
}
