//! Tests of the tools of the pack `data`, as a scripted model calls them: figures against an independent
//! calculation, what models on other computers get, the size of answers, and hostile texts.

mod figures;
mod hostile;
mod leaving;
mod pacing;
mod periods;
mod portfolio;
mod questions;
mod sizes;
mod words;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{
    Commands as _, ModelAccess, RunParams, RunResponse, SourceDefineParams, ToolCallParams,
    ToolCallResponse, metric_query::MeasureParams, params::SourceAddParams,
    sources::ImportDecisions,
};
use engine::ports::Clock;
use host::{Host, Options};
use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use portfolio::{DEFINITIONS, Portfolio};
use questions::Question;

/// A clock that begins at the end of the portfolio.
struct Late(Instant);

impl Clock for Late {
    fn now(&self) -> DateTime<Utc> {
        let begin: DateTime<Utc> = "2026-11-29T12:00:00Z".parse().unwrap();
        begin + TimeDelta::from_std(self.0.elapsed()).unwrap()
    }
}

/// A profile with the pack `data` alone.
struct World {
    folder: tempfile::TempDir,
    host: Arc<Host>,
}

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools")
}

pub(crate) fn copy_pack(to: &Path) {
    let from = tools().join("data");
    fs::create_dir_all(to.join("messages")).unwrap();
    for file in ["pack.json", "execution_instructions.md", "messages/sv.json", "messages/de.json"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
}

impl World {
    /// Opens a profile whose model is a server.
    async fn with_model(server: &ModelServer, runs_here: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (profile, packs) = (folder.path().join("profile"), folder.path().join("packs"));
        fs::create_dir_all(&profile).unwrap();
        copy_pack(&packs.join("data"));
        let settings = settings(server, runs_here);
        fs::write(profile.join("countersign.toml"), settings).unwrap();
        let host = open(&profile, &packs).await;
        Self { folder, host }
    }

    /// Opens a profile with the offline model.
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let packs = folder.path().join("packs");
        copy_pack(&packs.join("data"));
        let host = open(&folder.path().join("profile"), &packs).await;
        Self { folder, host }
    }

    /// Imports a table as a source, and says what its columns mean.
    async fn add(&self, name: &str, text: &str, definitions: Option<&str>) {
        let path = self.folder.path().join(format!("{name}.csv"));
        fs::write(&path, text).unwrap();
        let params = SourceAddParams {
            place: path.display().to_string(),
            name: Some(name.into()),
            decisions: ImportDecisions::default(),
            unattended: false,
            forget_remembered: false,
        };
        let job = self.host.source_add(params).await.unwrap();
        let results = loop {
            let view = self.host.source_job(job.clone()).await.unwrap();
            assert_eq!(view.failure, None);
            if let Some(results) = view.results {
                break results;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert!(results[0].is_stored, "{results:?}");
        if let Some(definitions) = definitions {
            self.define(name, Some(definitions), None).await;
        }
    }

    async fn define(&self, name: &str, text: Option<&str>, models_get: Option<ModelAccess>) {
        let params = SourceDefineParams {
            name: name.into(),
            text: text.map(str::to_owned),
            definitions: None,
            columns: std::collections::BTreeMap::new(),
            models_get,
        };
        self.host.source_define(params).await.unwrap();
    }

    async fn add_portfolio(&self, portfolio: &Portfolio) {
        let files = portfolio.files();
        for (name, definitions) in DEFINITIONS {
            self.add(name, &files[name], Some(definitions)).await;
        }
    }

    /// Calls a tool without a turn.
    async fn call(&self, tool: &str, arguments: Value) -> ToolCallResponse {
        let params = ToolCallParams { tool: tool.into(), arguments, session: None, headless: true };
        self.host.tool_call(params).await.unwrap()
    }

    /// Calls a tool that answers.
    async fn answer(&self, tool: &str, arguments: Value) -> Value {
        let response = self.call(tool, arguments.clone()).await;
        assert_eq!(response.error, None, "{tool} {arguments}");
        response.data
    }

    /// Sends a request of the run contract.
    async fn run(&self, id: &str, words: &str) -> RunResponse {
        let request = json!({"contract_version": "1.0", "request_id": id, "input": words});
        let params = RunParams {
            request: request.to_string(),
            caller: "test".into(),
            correlation_id: None,
            stream: false,
        };
        self.host.run_request(params).await.unwrap()
    }
}

pub(crate) fn settings(server: &ModelServer, runs_here: bool) -> String {
    let address = server.base_url();
    let here = if runs_here { format!("runs_here = [\"{address}\"]\n") } else { String::new() };
    format!(
        "[model]\nprovider = \"openai_compatible\"\nbase_url = \"{address}\"\nmodel = \"scripted\"\n{here}"
    )
}

async fn open(profile: &Path, packs: &Path) -> Arc<Host> {
    let program = kit::programs::program("csign-data");
    let began = Instant::now();
    crate::open(|| Options {
        data_dir: Some(profile.to_owned()),
        program_dir: program.parent().unwrap().to_owned(),
        pack_dirs: vec![packs.to_owned()],
        clock: Arc::new(Late(began)),
        ..Options::default()
    })
    .await
}

/// Returns the replies of a model that calls a tool and then answers.
fn calls(tool: &str, arguments: &Value) -> [Reply; 2] {
    [Reply::call(&tool.replace('.', "_"), arguments.clone()), Reply::text(["Here ", "it is."])]
}

fn all_questions(portfolio: &Portfolio) -> Vec<Question> {
    let mut all = questions::breakdowns(portfolio);
    all.extend(questions::ratios(portfolio));
    all.extend(questions::counts(portfolio));
    all.extend(questions::filters(portfolio));
    all.extend(questions::several_sources(portfolio));
    all.extend(periods::comparisons(portfolio));
    all.extend(periods::times(portfolio));
    all.extend(periods::courses(portfolio));
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scripted_model_gets_figures_that_equal_an_independent_calculation() {
    let portfolio = Portfolio::new();
    let questions = all_questions(&portfolio);
    assert!(questions.len() >= 40, "{}", questions.len());
    let replies = questions.iter().flat_map(|one| calls(one.tool, &one.arguments));
    let server = ModelServer::start(replies).await;
    let world = World::with_model(&server, false).await;
    world.add_portfolio(&portfolio).await;
    let mut texts = BTreeSet::new();
    for (at, question) in questions.iter().enumerate() {
        let words = question.words;
        let response = world.run(&format!("question-{at}"), words).await;
        let output = response.structured_output.unwrap_or_else(|| panic!("{words}: no data"));
        let result = &output.results[0];
        assert_eq!((result.tool.as_str(), output.results.len()), (question.tool, 1), "{words}");
        let data = result.data.clone().unwrap_or_else(|| panic!("{words}: {result:?}"));
        let answer = data.get("result").unwrap_or(&data);
        question.figures.check(words, answer);
        check_proof(&world, question, answer).await;
        texts.insert(answer["sql"].as_str().unwrap().to_owned());
    }
    assert_eq!(texts.len(), questions.len(), "each question has a SELECT of its own");
    server.assert_clean();
    world.host.stop().await;
}

/// Checks that the answer says with what it was computed, and that a person who asks the same gets the
/// same SELECT and the same rows.
async fn check_proof(world: &World, question: &Question, answer: &Value) {
    let words = question.words;
    let state = &answer["definition_state"];
    if question.tool == "data.query" {
        assert_eq!(state, "written_by_model", "{words}");
        assert_eq!(answer["asked"]["sql"], question.arguments["sql"]);
        return;
    }
    assert_eq!(answer["query"].as_str().map(str::len), Some(64), "{words}: {answer}");
    assert!(!answer["data_version"].is_null(), "{words}: {answer}");
    let mut query = question.arguments["query"].clone();
    if question.tool == "data.explain_change" {
        query["compare"] = json!("previous");
    }
    let query = serde_json::from_value(query).unwrap();
    let again = world.host.source_measure(MeasureParams { query, cursor: None }).await.unwrap();
    assert_eq!(answer["sql"], json!(again.sql), "{words}");
    assert_eq!(answer["rows"], json!(again.rows), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_gets_definitions_samples_and_the_age_of_a_source_and_no_table() {
    let portfolio = Portfolio::new();
    let world = World::new().await;
    world.add_portfolio(&portfolio).await;
    let listed = world.answer("data.sources", json!({})).await;
    let names: Vec<&Value> =
        listed["sources"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["ads", "budgets", "orders"]);
    assert_eq!(listed["sources"][0]["rows"], portfolio.ads.len());
    let described = world.answer("data.describe", json!({"source": "ads"})).await;
    let measures = described["measures"].as_array().unwrap();
    assert_eq!(measures.len(), 7, "{described}");
    let ctr = measures.iter().find(|one| one["name"] == "ctr").unwrap();
    assert!(ctr["written"].as_str().unwrap().contains("ratio"), "{ctr}");
    assert_eq!(ctr["approved"], false, "it was detected, and nobody approved it");
    let written = measures.iter().find(|one| one["name"] == "mobile_clicks").unwrap();
    assert_eq!(written["approved"], true, "a person wrote it");
    let dimensions = described["dimensions"].as_array().unwrap();
    assert_eq!(dimensions.len(), 3, "{described}");
    assert_eq!(described["samples"]["Device"].as_array().unwrap().len(), 3, "{described}");
    for (_, samples) in described["samples"].as_object().unwrap() {
        assert!(samples.as_array().unwrap().len() <= 10, "{samples}");
    }
    let search = json!({"source": "ads", "search": "mobile"});
    let found = world.answer("data.describe", search).await;
    assert_eq!(found["values"], json!({"device": ["Mobile"]}), "{found}");
    assert_eq!(found["measures"][0]["name"], "mobile_clicks");
    assert_eq!(found["measures"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found.get("samples"), None, "{found}");
    let everywhere = world.answer("data.describe", json!({"search": "revenue mobile"})).await;
    let sources = everywhere["sources"].as_array().unwrap();
    let names: Vec<&Value> = sources.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["ads", "orders"], "{everywhere}");
    assert_eq!(sources[0]["values"], json!({"device": ["Mobile"]}), "{everywhere}");
    assert_eq!(world.answer("data.describe", json!({})).await, listed);
    assert_eq!(described["freshness"]["last_day"], "2026-11-28");
    assert!(described["freshness"]["imported_at"].as_str().unwrap().starts_with("2026-11-29"));
    assert!(
        described.get("rows").is_some_and(Value::is_number),
        "the number of rows, not the rows"
    );
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chart_says_which_columns_are_drawn_and_a_single_figure_is_none() {
    let world = World::new().await;
    world.add_portfolio(&Portfolio::new()).await;
    let query = json!({"source": "ads", "measures": ["clicks"], "by": [{"time": "day"}], "period": {"month": "2026-10"}});
    let drawn = world.answer("data.chart", json!({"query": query, "kind": "columns"})).await;
    let chart = json!({"kind": "columns", "across": "day", "figures": ["clicks"]});
    assert_eq!(drawn["chart"], chart);
    assert_eq!(drawn["result"]["row_count"], 31);
    let single = json!({"query": {"source": "ads", "measures": ["clicks"]}});
    let none = world.answer("data.chart", single).await;
    assert_eq!((&none["chart"], &none["result"]["row_count"]), (&Value::Null, &json!(1)));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_does_not_depend_on_other_sources() {
    let world = World::new().await;
    world.add_portfolio(&Portfolio::new()).await;
    let query = json!({"query": {"source": "ads", "measures": ["clicks"]}});
    let alone = world.answer("data.measure", query.clone()).await;
    assert!(alone["data_version"].is_string(), "{}", alone["data_version"]);
    let both = json!({"query": {"source": "ads", "measures": ["clicks", "orders.items"], "by": ["campaign"]}});
    let both = world.answer("data.measure", both).await;
    let versions = both["data_version"].as_object().unwrap();
    assert_eq!(versions.keys().collect::<Vec<_>>(), ["ads", "orders"]);
    // A source whose import was taken back has no rows, and does not matter to the others.
    let undone = contract::SourceParams { name: "orders".into() };
    world.host.source_undo(undone).await.unwrap();
    assert_eq!(world.answer("data.measure", query).await["rows"], alone["rows"]);
    world.host.stop().await;
}
