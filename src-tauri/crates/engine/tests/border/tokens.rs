//! Counts the calls and the size of the requests that ten questions take with the packs that ship. A
//! scripted model finds names by a search, asks one question and answers. A token is estimated as four
//! characters.

use std::path::Path;

use contract::ToolSpec;
use engine::ports::*;
use packs::Pack;
use serde_json::{Value, json};

use crate::world::{Bench, Say};

/// The most tokens of a question about a shop or a source, over all its requests.
const MOST: usize = 8_000;
/// The pack that shows authors how a pack is written.
const EXAMPLE: &str = "web-api-example";
const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/// A question, the specialist that answers it, and the calls of the model.
struct Asked {
    words: &'static str,
    agent: Option<&'static str>,
    calls: Vec<(&'static str, Value)>,
    is_bounded: bool,
}

/// Returns a bench with the tools, specialists and instructions of the packs that ship.
fn bench() -> Bench {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tools");
    let (mut specs, mut agents, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let packs = packs::load(std::slice::from_ref(&folder));
    let packs = packs.into_iter().filter_map(|loaded| loaded.pack);
    let packs: Vec<Pack> = packs.filter(|pack| pack.manifest.id.as_str() != EXAMPLE).collect();
    // A specialist may have tools of other packs.
    let all: Vec<ToolSpec> = packs.iter().flat_map(|pack| pack.tools.clone()).collect();
    for pack in packs {
        agents.push(packs::agent(&pack.manifest, &all));
        for spec in pack.tools {
            let folders = [folder.clone()];
            let text = packs::instructions(&folders, &spec.pack, &spec.id, None).text;
            found.push((spec.id.0.clone(), text.unwrap().1));
            // The results are those of the test, so that nothing is required of them.
            let mut output_schema = spec.output_schema.clone();
            output_schema.as_object_mut().unwrap().remove("required");
            let output_schema = match spec.pack.as_str() {
                "data" => output_schema,
                _ => json!({}),
            };
            specs.push(ToolSpec { output_schema, auth: None, max_attempts: 1, ..spec });
        }
    }
    let bench = Bench::new(specs).with(agents).with_assistant();
    // A language model reads results as text.
    bench.model.words_only.store(true, std::sync::atomic::Ordering::SeqCst);
    for (id, text) in found {
        let found = Some(("execution_instructions.md".into(), text));
        let instructions = Instructions { found, problems: vec![] };
        bench.roster.instructions.lock().unwrap().insert(id.clone(), instructions);
        let result = result_of(&id);
        let behaviour = Box::new(move |_: &ToolRequest| Ok::<Value, ToolFailure>(result.clone()));
        bench.tools.behaviours.lock().unwrap().insert(id, behaviour);
    }
    bench
}

/// Returns a result of the size that the tool gives.
fn result_of(tool: &str) -> Value {
    match tool {
        "product.search" => json!({"items": products(8), "totalCount": 8}),
        "product.get" => {
            let variant = |size: u32| json!({"partNo": format!("B-{size}"), "size": size.to_string(), "onHand": {"value": 3}});
            json!({"productId": 1, "name": "Boot 1", "priceIncVat": "129.00", "currency": "EUR",
                "variants": (38..46).map(variant).collect::<Vec<_>>()})
        }
        "cart.get" => json!({"basketId": 1, "items": [], "currencyCode": "EUR", "total": "0.00"}),
        "data.describe" => described(),
        "data.measure" | "data.explain_change" | "data.query" => figures(),
        "data.chart" => {
            json!({"result": figures(), "chart": {"kind": "lines", "across": "week", "figures": ["clicks"]}})
        }
        _ => json!({"status": "ok"}),
    }
}

fn products(count: u32) -> Vec<Value> {
    let product = |at: u32| {
        json!({"productId": at, "partNo": format!("B-{at}"), "name": format!("Boot {at}"), "price": "129.00",
        "currency": "EUR", "brand": "Fjell", "color": "black", "material": "leather", "onHand": {"value": 3, "isActive": true},
        "description": "A waterproof boot for long days, with a sole that holds on wet rock."})
    };
    (1..=count).map(product).collect()
}

/// Returns the answer of a search in all sources.
fn described() -> Value {
    let named =
        |name: &str, written: &str| json!({"name": name, "written": written, "approved": true});
    json!({"sources": [{
        "name": "ads",
        "days": {"first": "2025-10-01", "last": "2026-11-19"},
        "measures": [named("clicks", "sum: Clicks"), named("spend", "sum: Cost, unit: money, currency: {column: Currency code}")],
        "dimensions": [named("campaign", "column: Campaign"), named("device", "column: Device")],
        "values": {"device": ["Mobile"]},
    }]})
}

/// Returns figures with all that proves them.
fn figures() -> Value {
    let column = |name: &str, role: &str| json!({"name": name, "type": "text", "role": role, "format": "text", "of": name});
    let row = |at: u32| json!([format!("Campaign {at}"), 4_000 - at]);
    json!({
        "columns": [column("campaign", "dimension"), column("clicks", "measure")],
        "rows": (1..=10).map(row).collect::<Vec<_>>(),
        "row_count": 10,
        "query": HASH,
        "sql": "SELECT \"Campaign\" AS campaign, sum(\"Clicks\") AS clicks FROM ads WHERE \"Day\" >= DATE '2026-10-01' AND \"Day\" < DATE '2026-11-01' GROUP BY 1 ORDER BY 2 DESC NULLS LAST, 1 LIMIT 10",
        "definitions": {"campaign": HASH, "clicks": HASH},
        "definition_state": "approved",
        "data_version": HASH,
        "notes": [],
        "asked": {"query": {"source": "ads", "measures": ["clicks"], "by": ["campaign"], "period": {"month": "2026-10"}},
            "parts": [{"kind": "measure", "at": "/measures/0", "text": "Clicks"}, {"kind": "period", "at": "/period", "text": "Oct 2026"}]},
        "engine": 2,
    })
}

fn questions() -> Vec<Asked> {
    let search = |words: &str| ("data_describe", json!({ "search": words }));
    let query = |more: Value| {
        let mut query =
            json!({"source": "ads", "measures": ["clicks"], "period": {"month": "2026-10"}});
        query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "query": query })
    };
    let shop =
        |words, call| Asked { words, agent: Some("shopper"), calls: vec![call], is_bounded: true };
    let data = |words, calls| Asked { words, agent: Some("data"), calls, is_bounded: true };
    vec![
        shop(
            "Which waterproof boots do you have?",
            ("product_search", json!({"query": "waterproof boot"})),
        ),
        shop(
            "Which sizes of the first boot are in stock?",
            ("product_get", json!({"productId": 1})),
        ),
        shop("What is in my cart?", ("cart_get", json!({}))),
        data(
            "How many clicks did we get in October?",
            vec![search("clicks"), ("data_measure", query(json!({})))],
        ),
        data(
            "Which campaign got most clicks in October?",
            vec![
                search("campaign clicks"),
                (
                    "data_measure",
                    query(
                        json!({"by": ["campaign"], "order": [{"by": "clicks", "descending": true}]}),
                    ),
                ),
            ],
        ),
        data(
            "Compare clicks on mobile in October with September",
            vec![
                search("clicks mobile"),
                (
                    "data_measure",
                    query(json!({"where": [{"device": ["Mobile"]}], "compare": "previous"})),
                ),
            ],
        ),
        data(
            "Why did clicks fall in October?",
            vec![
                search("clicks"),
                (
                    "data_explain_change",
                    json!({"query": {"source": "ads", "explain": {"measure": "clicks", "by": ["campaign"]}, "period": {"month": "2026-10"}}}),
                ),
            ],
        ),
        data(
            "Draw clicks by week",
            vec![search("clicks"), ("data_chart", query(json!({"by": [{"time": "week"}]})))],
        ),
        Asked {
            words: "Which campaigns are behind?",
            agent: Some("guardian"),
            calls: vec![
                search("campaign status"),
                (
                    "data_measure",
                    json!({"query": {"source": "ads", "measures": ["clicks"], "by": ["campaign"], "where": [{"campaign": ["Campaign 1"]}]}}),
                ),
            ],
            is_bounded: true,
        },
        Asked { words: "Good morning", agent: None, calls: vec![], is_bounded: true },
    ]
}

fn characters(request: &ModelRequest) -> usize {
    let of_call = |call: &ModelCall| call.name.as_str().len() + call.arguments.as_str().len();
    let of_message = |message: &Message| match message {
        Message::System { text } | Message::User { text } => text.as_str().len(),
        Message::Assistant { text, calls, .. } => {
            text.as_str().len() + calls.iter().map(of_call).sum::<usize>()
        }
        Message::Tool { content, .. } => content.as_str().len(),
    };
    let of_tool = |tool: &ToolDef| {
        tool.name.as_str().len()
            + tool.description.as_str().len()
            + json!(tool.parameters).to_string().len()
    };
    request.messages.iter().map(of_message).sum::<usize>()
        + request.tools.iter().map(of_tool).sum::<usize>()
}

/// Checks that a request tells nothing twice.
fn check_told_once(words: &str, request: &ModelRequest) {
    let system: Vec<String> = request
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::System { text } => Some(text.to_string()),
            Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        })
        .collect();
    for tool in &request.tools {
        let purpose = tool.description.as_str();
        assert!(!system.iter().any(|text| text.contains(purpose)), "{words}: {purpose}");
    }
    let guidance = system.iter().skip(1).flat_map(|text| text.lines());
    let mut lines: Vec<&str> = guidance.filter(|line| line.starts_with("- ")).collect();
    let count = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), count, "{words}: a line of guidance is told twice");
    let defines_query =
        |tool: &&ToolDef| json!(tool.parameters).to_string().contains("SOURCE.MEASURE");
    assert!(request.tools.iter().filter(defines_query).count() <= 1, "{words}: the metric query");
}

#[tokio::test(start_paused = true)]
async fn ten_questions_take_few_calls_and_tokens_and_requests_tell_each_thing_once() {
    let mut table = String::new();
    for asked in questions() {
        let bench = bench();
        if let Some(agent) = asked.agent {
            let order = json!({"next": agent, "instruction": asked.words, "reason_code": "in_field", "entities": []});
            bench.model.then(vec![Say::Call("route", order)]);
        }
        for (tool, arguments) in asked.calls {
            bench.model.then(vec![Say::Call(tool, arguments)]);
        }
        bench.model.then(vec![Say::Text("Here it is.")]);
        bench.ask(asked.words).await;
        assert_eq!(bench.model.script.lock().unwrap().len(), 0, "{}: all is called", asked.words);
        let requests = bench.model.requests.lock().unwrap();
        requests.iter().for_each(|request| check_told_once(asked.words, request));
        let tokens: Vec<usize> =
            requests.iter().map(|request| characters(request).div_ceil(4)).collect();
        let sum: usize = tokens.iter().sum();
        assert!(!asked.is_bounded || sum <= MOST, "{}: {tokens:?}", asked.words);
        table += &format!("{}: {} calls, {sum} tokens {tokens:?}\n", asked.words, tokens.len());
    }
    insta::assert_snapshot!(table);
}
