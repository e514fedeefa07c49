//! Tests of the general assistant: how many model calls a message takes, when the first words of
//! the answer arrive, and what each request contains.

use std::sync::{Arc, atomic::Ordering};

use contract::*;
use engine::ports::*;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::world::{Bench, Say, agent, status_and_text, tool};

fn assistant() -> Bench {
    Bench::new(vec![tool("p", Effect::ReadOnly), tool("s", Effect::ReadOnly)])
        .with(vec![agent("guardian", &["p"]), agent("shopper", &["s"])])
        .with_assistant()
}

fn decision(next: &str, instruction: &str, reason: &str) -> Value {
    json!({"next": next, "instruction": instruction, "reason_code": reason, "entities": []})
}

fn route(next: &str, instruction: &str) -> Say {
    Say::Call("route", decision(next, instruction, "in_field"))
}

/// Returns a decision as written by a model without tools.
fn written(next: &str, instruction: &str, reason: &str) -> Vec<Say> {
    let text = decision(next, instruction, reason).to_string();
    vec![Say::Text(Box::leak(text.into_boxed_str()))]
}

fn purposes(bench: &Bench) -> Vec<&'static str> {
    let name = |request: &ModelRequest| match request.purpose {
        Purpose::Answer => "answer",
        Purpose::Assist { .. } => "assist",
        Purpose::Part { .. } => "part",
        Purpose::Route { .. } => "route",
        Purpose::Synthesis { .. } => "synthesis",
    };
    bench.model.requests.lock().unwrap().iter().map(name).collect()
}

/// Returns the names of the tools in the n-th request.
fn tools(bench: &Bench, n: usize) -> Vec<String> {
    let requests = bench.model.requests.lock().unwrap();
    requests[n].tools.iter().map(|tool| tool.name.to_string()).collect()
}

async fn texts(bench: &Bench) -> Vec<(Option<String>, String)> {
    let of = |item: Item| match item.body {
        ItemBody::AssistantText { text, agent, .. } => Some((agent, text)),
        _ => None,
    };
    bench.items().await.into_iter().filter_map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn a_greeting_or_general_question_is_answered_in_one_call_with_the_route_tool() {
    let bench = assistant();
    for (question, answer) in
        [("hi", "Hello! How can I help?"), ("explain CPM", "CPM is the cost per mille.")]
    {
        bench.model.then(vec![Say::Text(answer)]);
        let turn = bench.start(question).await.turn;
        let said = status_and_text(&bench.final_of(&turn).await);
        assert_eq!(said, (TurnStatus::Ok, answer.to_owned()));
        let names = bench.event_names(&turn);
        assert!(!names.iter().any(|name| name == "agent_start"), "{names:?}");
    }
    assert_eq!(purposes(&bench), ["assist", "assist"]);
    for n in 0..2 {
        assert_eq!(tools(&bench, n), ["route"]);
        assert!(bench.model.requests.lock().unwrap()[n].structured.is_none());
        let prompt = bench.prompt(n);
        for part in ["general assistant", "call route at once", "guardian: Guardian. Does what"] {
            assert!(prompt.contains(part), "{part}: {prompt}");
        }
        assert!(!prompt.contains("out_of_scope"), "nothing is declined: {prompt}");
    }
    assert!(texts(&bench).await.iter().all(|(agent, _)| agent.is_none()));
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_direct_answer_is_streamed_from_its_first_word() {
    let bench = assistant();
    let goes_on = Arc::new(Notify::new());
    bench.model.then(vec![
        Say::Text("Cost per "),
        Say::Until(Arc::clone(&goes_on)),
        Say::Text("mille."),
    ]);
    let turn = bench.start("explain CPM").await.turn;
    let first = bench
        .wait_for(|events| {
            events.iter().find_map(|event| match &event.event {
                EventBody::Delta { text } => Some(text.clone()),
                _ => None,
            })
        })
        .await;
    assert_eq!(first, "Cost per ", "while the model still writes");
    goes_on.notify_one();
    assert_eq!(status_and_text(&bench.final_of(&turn).await).1, "Cost per mille.");
    assert_eq!(purposes(&bench), ["assist"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_for_a_specialist_takes_two_model_calls_and_a_follow_up_one() {
    let bench = assistant();
    bench.model.then(vec![route("guardian", "Report the pace of account 17.")]);
    bench.model.then(vec![Say::Text("It paces well.")]);
    let turn = bench.start("how is 17?").await.turn;
    assert_eq!(status_and_text(&bench.final_of(&turn).await).1, "It paces well.");
    assert_eq!(purposes(&bench), ["assist", "part"]);
    assert_eq!(tools(&bench, 1), ["p"], "its own tools, and none to hand on");
    assert!(bench.prompt(1).contains("Report the pace of account 17."));
    assert!(bench.outcomes().await.is_empty(), "a decision is no tool call");
    let names = bench.event_names(&turn);
    let at = |name: &str| names.iter().position(|known| known == name);
    assert!(at("agent_start") < at("delta") && at("agent_start").is_some(), "{names:?}");

    bench.model.then(vec![Say::Text("Yes, in May, too.")]);
    assert_eq!(status_and_text(&bench.ask("and in May?").await).1, "Yes, in May, too.");
    assert_eq!(purposes(&bench), ["assist", "part", "assist"]);
    assert_eq!(tools(&bench, 2), ["p", "route"], "the specialist is asked at once");
    insta::assert_snapshot!(bench.prompt(2));
    let guardian = || Some("Guardian".to_owned());
    assert_eq!(
        texts(&bench).await,
        [(guardian(), "It paces well.".to_owned()), (guardian(), "Yes, in May, too.".to_owned())]
    );
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_for_another_specialist_is_routed_to_that_specialist() {
    let bench = assistant();
    bench.model.then(vec![route("guardian", "Report.")]);
    bench.model.then(vec![Say::Text("It paces well.")]);
    bench.ask("how is 17?").await;
    bench.model.then(vec![route("shopper", "Find boots.")]);
    bench.model.then(vec![Say::Call("s", json!({"q": "boots"}))]);
    bench.model.then(vec![Say::Text("Two boots.")]);
    assert_eq!(status_and_text(&bench.ask("show me boots").await).1, "Two boots.");
    assert_eq!(purposes(&bench), ["assist", "part", "assist", "part", "part"]);
    assert_eq!(texts(&bench).await[1], (Some("Shopper".to_owned()), "Two boots.".to_owned()));
    assert_eq!(bench.runs(), ["s"]);
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn two_specialists_are_asked_in_parallel_and_their_answers_combined() {
    let bench = assistant();
    bench.model.then(vec![route("guardian", "Report."), route("shopper", "Find boots.")]);
    bench.model.then(vec![Say::Text("It is behind.")]);
    bench.model.then(vec![Say::Text("Two boots.")]);
    bench.model.then(vec![Say::Text("Guardian: behind; Shopper: boots.")]);
    let (_, text) = status_and_text(&bench.ask("both").await);
    assert_eq!(text, "Guardian: behind; Shopper: boots.\n\n*Answered by Guardian and Shopper.*");
    assert_eq!(purposes(&bench), ["assist", "part", "part", "synthesis"]);
    assert_eq!(
        texts(&bench).await,
        [
            (Some("Guardian".to_owned()), "It is behind.".to_owned()),
            (Some("Shopper".to_owned()), "Two boots.".to_owned()),
            (None, text)
        ]
    );
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_routes_one_part_at_a_time_is_asked_again_for_the_next_specialist() {
    let bench = assistant();
    bench.model.then(vec![Say::Call("route", decision("guardian", "Report.", "one_of_several"))]);
    bench.model.then(vec![Say::Text("It is behind.")]);
    bench.model.then(written("shopper", "Find boots.", "in_field"));
    bench.model.then(vec![Say::Text("Two boots.")]);
    bench.model.then(written("FINISH", "", "answered"));
    bench.model.then(vec![Say::Text("Behind, and boots.")]);
    bench.ask("both").await;
    assert_eq!(purposes(&bench), ["assist", "part", "route", "part", "route", "synthesis"]);
}

#[tokio::test(start_paused = true)]
async fn a_specialist_answers_its_part_and_routes_the_rest_to_another() {
    let bench = assistant();
    bench.model.then(vec![route("guardian", "Report.")]);
    bench.model.then(vec![Say::Text("It paces well.")]);
    bench.ask("how is 17?").await;
    bench.model.then(vec![Say::Call("p", json!({"q": "May"})), route("shopper", "Find boots.")]);
    bench.model.then(vec![Say::Text("May was good.")]);
    bench.model.then(vec![Say::Text("Two boots.")]);
    bench.model.then(vec![Say::Text("May and boots.")]);
    let (_, text) = status_and_text(&bench.ask("and May? and boots").await);
    assert_eq!(text, "May and boots.\n\n*Answered by Guardian and Shopper.*");
    assert_eq!(purposes(&bench)[2..], ["assist", "assist", "part", "synthesis"]);
    assert_eq!(tools(&bench, 3), ["p"], "who has begun does not hand on");
    assert_eq!(bench.runs(), ["p"]);
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn routing_to_an_unknown_specialist_returns_an_error_to_the_model_which_then_answers() {
    let bench = assistant();
    bench.model.then(vec![route("optimizer", "Bid more.")]);
    bench.model.then(vec![Say::Text("I can't change bids here.")]);
    assert_eq!(status_and_text(&bench.ask("bid more").await).1, "I can't change bids here.");
    assert_eq!(purposes(&bench), ["assist", "assist"]);
    {
        let requests = bench.model.requests.lock().unwrap();
        let Some(Message::Tool { content, .. }) = requests[1].messages.last() else {
            panic!("a result")
        };
        assert!(content.contains("optimizer") && content.contains("guardian, shopper"));
    }
    bench.model.then(vec![route("FINISH", "Hello to you.")]);
    assert_eq!(status_and_text(&bench.ask("hi").await).1, "Hello to you.");
    bench.model.then(vec![route("FINISH", "")]);
    bench.model.then(vec![Say::Text("Here I am.")]);
    assert_eq!(status_and_text(&bench.ask("hm").await).1, "Here I am.");
}

#[tokio::test(start_paused = true)]
async fn a_model_without_tools_makes_a_routing_decision_first_and_then_answers() {
    let bench = assistant();
    *bench.model.capabilities.lock().unwrap() =
        Some(ModelCapabilities { tools: false, ..ModelCapabilities::default() });
    bench.model.then(written("FINISH", "", "no_specialist_needed"));
    bench.model.then(vec![Say::Text("CPM is the cost per mille.")]);
    assert_eq!(status_and_text(&bench.ask("explain CPM").await).1, "CPM is the cost per mille.");
    assert_eq!(purposes(&bench), ["route", "part"]);
    assert!(bench.model.requests.lock().unwrap()[0].structured.is_some());
    assert!(tools(&bench, 0).is_empty() && tools(&bench, 1).is_empty());
    assert!(!bench.prompt(0).contains("declined") && bench.prompt(1).contains("general assistant"));
    bench.model.then(written("guardian", "Report.", "in_field"));
    bench.model.then(vec![Say::Text("It paces well.")]);
    bench.model.then(written("FINISH", "", "answered"));
    assert_eq!(status_and_text(&bench.ask("how is 17?").await).1, "It paces well.");
    assert_eq!(purposes(&bench)[2..], ["route", "part", "route"]);
}

#[tokio::test(start_paused = true)]
async fn the_offline_model_makes_routing_decisions_of_its_own() {
    let bench = assistant();
    bench.model.inside.store(true, Ordering::SeqCst);
    bench.model.then(written("guardian", "Report.", "in_field"));
    bench.model.then(vec![Say::Text("It paces well.")]);
    bench.model.then(written("FINISH", "", "answered"));
    bench.ask("how is 17?").await;
    assert_eq!(purposes(&bench), ["route", "part", "route"]);
}

#[tokio::test(start_paused = true)]
async fn a_contract_run_uses_the_supervisor_of_the_contract() {
    let bench = assistant();
    bench.model.then(written("FINISH", "I look after campaigns.", "out_of_scope"));
    bench.waiting_after_caller_turn("en", &[]).await;
    assert_eq!(purposes(&bench), ["route"]);
    assert!(bench.prompt(0).contains("is declined"), "{}", bench.prompt(0));
}

#[tokio::test(start_paused = true)]
async fn the_assistants_prompt_lists_the_abilities_of_the_installed_packs() {
    let mut write = tool("w", Effect::Write);
    write.title = "Change a budget".into();
    let bench = Bench::new(vec![tool("p", Effect::ReadOnly), write])
        .with(vec![agent("guardian", &["p", "w"]), agent("clerk", &[])])
        .with_assistant();
    *bench.tools.data_flow.lock().unwrap() = Some(manifest::DataFlow {
        data_classes: vec![manifest::DataClass::Internal],
        llm_egress: manifest::LlmEgress {
            what_is_sent: "Daily figures of accounts.".into(),
            allowed: true,
            redaction: None,
        },
    });
    bench.ask("what can you do?").await;
    let prompt = bench.prompt(0);
    for part in [
        "guardian: Guardian. Does what guardian does. Reads: ",
        "Changes: Change a budget.",
        "clerk: Clerk. Does what clerk does. It has no tools and no data.",
        "test: Daily figures of accounts.",
        "The model that answers runs on this computer",
        "replaced by placeholders",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    bench.model.remote.store(true, Ordering::SeqCst);
    bench.profile.settings.lock().unwrap().egress.allowed = true;
    bench.ask("and what leaves?").await;
    assert!(bench.prompt(1).contains("does not run on this computer"), "{}", bench.prompt(1));
}

#[tokio::test(start_paused = true)]
async fn a_single_specialist_also_acts_as_the_general_assistant() {
    let bench = Bench::new(vec![tool("p", Effect::ReadOnly)])
        .with(vec![agent("guardian", &["p"])])
        .with_assistant();
    bench.model.then(vec![Say::Text("CPM is the cost per mille.")]);
    bench.ask("explain CPM").await;
    assert_eq!(purposes(&bench), ["answer"]);
    assert_eq!(tools(&bench, 0), ["p"]);
    assert!(bench.prompt(0).contains("general assistant"));
}

#[tokio::test(start_paused = true)]
async fn a_switched_off_specialist_is_neither_offered_nor_asked() {
    let bench = assistant();
    bench.model.then(vec![route("guardian", "Report.")]);
    bench.model.then(vec![Say::Text("It paces well.")]);
    bench.ask("how is 17?").await;
    let profile = Arc::clone(&bench.profile);
    profile.settings.lock().unwrap().switches.agents_off.insert("guardian".into());
    *bench.roster.agents.lock().unwrap() =
        Arc::new(vec![agent("guardian", &["p"]), agent("shopper", &["s"]), agent("clerk", &[])]);
    bench.model.then(vec![Say::Text("I can't look at accounts now.")]);
    bench.ask("and in May?").await;
    assert_eq!(tools(&bench, 2), ["route"]);
    let requests = bench.model.requests.lock().unwrap();
    assert_eq!(
        json!(requests[2].tools[0].parameters)["properties"]["next"]["enum"],
        json!(["shopper", "clerk"])
    );
}

#[tokio::test(start_paused = true)]
async fn a_specialist_addressed_with_an_at_sign_answers_in_one_call() {
    let bench = assistant();
    bench.model.then(vec![Say::Text("Two boots.")]);
    assert_eq!(status_and_text(&bench.ask("@Shopper boots, please").await).1, "Two boots.");
    assert_eq!((purposes(&bench), tools(&bench, 0)), (vec!["part"], vec!["s".to_owned()]));
    assert_eq!(texts(&bench).await[0].0.as_deref(), Some("Shopper"));
    bench.profile.settings.lock().unwrap().switches.agents_off.insert("guardian".into());
    let end = bench.ask("@guardian how is 17?").await;
    assert_eq!(status_and_text(&end).0, TurnStatus::Error);
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1, "no other one answers for it");
}
