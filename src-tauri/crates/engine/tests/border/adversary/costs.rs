//! Measures the cost of the rule on destinations: the questions in 97 ordinary tasks, compared with
//! the previous rule. The setup is typical: the shipped packs, three added servers whose reads may
//! run (mail, web, notes), a server without a network (files), and a server that nobody has allowed
//! (database). The person answers each read with "allow in this conversation" and approves each
//! change.

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    sync::{Arc, Mutex},
};

use contract::{
    AllowanceScope, Decision, Effect, Reach, SessionId, ToolSpec, TurnStartParams,
    manifest::OutputTrust,
};
use engine::ports::{AskedCall, ModelEvent};
use serde_json::{Value, json};

use super::{
    program::next_question,
    servers::{OFFERED, SERVERS, added, shipped},
};
use crate::world::Bench;

const TASKS: &str = include_str!("tasks.txt");

struct Task {
    said: &'static str,
    calls: Vec<(&'static str, Value)>,
}

/// Reads the tasks. A value that is JSON is parsed, and any other value is text.
fn tasks() -> Vec<Task> {
    let lines = TASKS.lines().filter(|line| !line.starts_with('#'));
    let task = |line: &'static str| {
        let mut parts = line.split(" | ");
        let said = parts.next().unwrap();
        Task { said, calls: parts.map(call).collect() }
    };
    lines.map(task).collect()
}

fn call(text: &'static str) -> (&'static str, Value) {
    let (tool, members) = text.split_once(' ').unwrap_or((text, ""));
    let pairs = members.split("; ").filter_map(|pair| pair.split_once('='));
    // Only these tools take numbers.
    let takes_numbers = tool.starts_with("parcel.") || tool.starts_with("cart.");
    let value = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(Value::Number(_)) if !takes_numbers => json!(text),
        Ok(value) => value,
        Err(_) => json!(text),
    };
    (
        tool,
        pairs
            .map(|(name, text)| (name.to_owned(), value(text)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    )
}

fn setup() -> Vec<ToolSpec> {
    let of_server = |name: &&str| match *name {
        "files" => Reach::Here,
        "database" => Reach::Unallowed,
        _ => Reach::Configured,
    };
    let offered = SERVERS.iter().flat_map(|name| {
        OFFERED
            .iter()
            .filter(|of| of.server == *name)
            .map(move |of| added(of, of_server(name), of.effect))
    });
    shipped().into_iter().chain(offered).collect()
}

/// The calls and questions of a server or pack.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    reads: u32,
    reads_asked_before: u32,
    reads_asked: u32,
    writes: u32,
    writes_asked: u32,
}

/// Counts the calls of a task, and the questions under the previous rule: a read of an open-world
/// tool needed approval if an untrusted result had entered the turn. A change needed approval, as
/// it still does.
fn count(task: &Task, specs: &[ToolSpec], costs: &mut BTreeMap<String, Cost>) {
    let mut is_marked = false;
    for (tool, _) in &task.calls {
        let spec =
            specs.iter().find(|spec| spec.id.as_str() == *tool).unwrap_or_else(|| panic!("{tool}"));
        let cost = costs.entry(spec.pack.to_string()).or_default();
        if spec.effect == Effect::ReadOnly {
            cost.reads += 1;
            cost.reads_asked_before += u32::from(spec.open_world && is_marked);
        } else {
            cost.writes += 1;
        }
        is_marked |= spec.output_trust != OutputTrust::Trusted;
    }
}

#[tokio::test]
async fn ordinary_tasks_ask_at_most_once_to_allow_a_destination() {
    let specs = setup();
    let bench = Bench::new(specs.clone());
    {
        let mut settings = bench.profile.settings.lock().unwrap();
        (settings.limits.rounds, settings.limits.model_calls) = (20, 100);
    }
    // Returns lines of a cart that can be changed.
    let line = |part: &str| json!({"partNo": part, "name": part, "quantity": 1, "unitPrice": "1.00", "totalPrice": "1.00"});
    let cart =
        json!({"currencyCode": "SEK", "total": "2.00", "items": [line("TENT-2"), line("STOVE-1")]});
    bench
        .tools
        .behaviours
        .lock()
        .unwrap()
        .insert("cart.get".into(), Box::new(move |_| Ok(cart.clone())));
    let left: Arc<Mutex<VecDeque<AskedCall>>> = Arc::default();
    let next = Arc::clone(&left);
    *bench.model.chooser.lock().unwrap() = Some(Box::new(move |_| {
        let call = next.lock().unwrap().pop_front();
        vec![call.map_or_else(|| ModelEvent::Text("Done.".into()), ModelEvent::Call)]
    }));
    let tasks = tasks();
    let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
    let (mut decided, mut asked_about) = (HashSet::new(), HashSet::new());
    for (at, task) in tasks.iter().enumerate() {
        count(task, &specs, &mut costs);
        *left.lock().unwrap() = task.calls.iter().map(|call| asked_call(call, &specs)).collect();
        let params = TurnStartParams {
            session: Some(SessionId(format!("task-{at}"))),
            text: task.said.into(),
            model: None,
            agent: None,
            headless: false,
            replaces: None,
        };
        let turn = bench.engine.turns.start(contract::Caller::inside(), params).await.unwrap().turn;
        while let Some(approval) = next_question(&bench, &turn, &decided).await {
            decided.insert(approval.id.clone());
            let spec = specs.iter().find(|spec| spec.id == approval.tool).unwrap();
            let cost = costs.entry(spec.pack.to_string()).or_default();
            let decision = if approval.effect == Effect::ReadOnly {
                cost.reads_asked += 1;
                for place in &approval.destinations {
                    let is_new = asked_about.insert((approval.session.clone(), place.clone()));
                    assert!(is_new, "{place:?} is asked about twice in: {}", task.said);
                }
                Decision::AllowDestinations { scope: AllowanceScope::Conversation }
            } else {
                cost.writes_asked += 1;
                Decision::ApproveOnce { confirm_word: approval.confirm_word.clone() }
            };
            bench.decide(&approval, decision).await.unwrap();
        }
        assert!(left.lock().unwrap().is_empty(), "all calls were made: {}", task.said);
    }
    let sum = |of: fn(&Cost) -> u32| costs.values().map(of).sum::<u32>();
    let (reads, writes) = (sum(|c| c.reads), sum(|c| c.writes));
    eprintln!("{}", table(&costs));
    assert_eq!((tasks.len(), reads, writes), (97, 239, 82));
    let previewed = ["cart.get", "product.get", "recall"];
    let ran = bench.runs().into_iter().filter(|id| !previewed.contains(&id.as_str())).count();
    let made =
        tasks.iter().flat_map(|task| &task.calls).filter(|(id, _)| !previewed.contains(id)).count();
    assert_eq!(ran, made, "every call ran, once");
    let of_packs = costs.iter().filter(|(pack, _)| !SERVERS.contains(&pack.as_str()));
    assert_eq!(of_packs.map(|(_, cost)| cost.reads_asked).sum::<u32>(), 0, "packs that ship");
    assert_eq!(costs["files"].reads_asked, 0, "a server without a network");
    assert!(sum(|c| c.reads_asked) < sum(|c| c.reads_asked_before));
    assert_eq!(sum(|c| c.writes_asked), writes, "each change is a question, as before");
}

fn asked_call((tool, arguments): &(&str, Value), specs: &[ToolSpec]) -> AskedCall {
    let spec = specs.iter().find(|spec| spec.id.as_str() == *tool).unwrap();
    AskedCall {
        id: "same-id".into(),
        name: spec.model_name.clone(),
        arguments: arguments.to_string(),
    }
}

fn table(costs: &BTreeMap<String, Cost>) -> String {
    let mut lines = vec![format!(
        "{:<28}{:>6}{:>14}{:>12}{:>8}{:>8}",
        "", "reads", "asked before", "asked now", "writes", "asked"
    )];
    let all = costs.values().fold(Cost::default(), |a, b| Cost {
        reads: a.reads + b.reads,
        reads_asked_before: a.reads_asked_before + b.reads_asked_before,
        reads_asked: a.reads_asked + b.reads_asked,
        writes: a.writes + b.writes,
        writes_asked: a.writes_asked + b.writes_asked,
    });
    for (name, cost) in
        costs.iter().map(|(name, cost)| (name.as_str(), cost)).chain([("all", &all)])
    {
        lines.push(format!(
            "{name:<28}{:>6}{:>14}{:>12}{:>8}{:>8}",
            cost.reads, cost.reads_asked_before, cost.reads_asked, cost.writes, cost.writes_asked
        ));
    }
    lines.join("\n")
}
