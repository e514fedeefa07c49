//! Tests of the supervisor and its specialists: decisions, visits, and a single answer. The names
//! refer to the sections of the reference.

use contract::*;
use engine::ports::*;
use serde_json::json;

use crate::world::{Bench, Say, agent, status_and_text, tool};

fn route(next: &'static str) -> Vec<Say> {
    decide(next, "", "in_field")
}

fn decide(next: &'static str, instruction: &'static str, reason: &'static str) -> Vec<Say> {
    let text =
        json!({"next": next, "instruction": instruction, "reason_code": reason, "entities": []})
            .to_string();
    vec![Say::Text(Box::leak(text.into_boxed_str()))]
}

fn two() -> Bench {
    Bench::new(vec![tool("p", Effect::ReadOnly), tool("s", Effect::ReadOnly)])
        .with(vec![agent("guardian", &["p"]), agent("shopper", &["s"])])
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

async fn answers(bench: &Bench) -> Vec<(Option<String>, String)> {
    let of = |item: Item| {
        if let ItemBody::AssistantText { text, agent, .. } = item.body {
            Some((agent, text))
        } else {
            None
        }
    };
    bench.items().await.into_iter().filter_map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn instructions_5_1_the_answer_of_a_single_specialist_becomes_the_reply() {
    let bench = two();
    bench.model.then(decide("guardian", "Report the pace.", "in_field"));
    bench.model.then(vec![Say::Call("p", json!({"q": "x"}))]);
    bench.model.then(vec![Say::Text("It paces well.")]);
    bench.model.then(decide("FINISH", "", "answered"));
    let turn = bench.start("how is it?").await.turn;
    let (status, text) = status_and_text(&bench.final_of(&turn).await);
    assert_eq!((status, text.as_str()), (TurnStatus::Ok, "It paces well."));
    assert_eq!(purposes(&bench), ["route", "part", "part", "route"]);
    assert_eq!(answers(&bench).await, [(Some("Guardian".to_owned()), "It paces well.".to_owned())]);
    let names = bench.event_names(&turn);
    let at = |name: &str| names.iter().position(|known| known == name).unwrap();
    assert!(
        at("agent_start") < at("tool_start")
            && at("tool_start") < at("agent_end")
            && at("agent_end") < at("final")
    );
    let said: String = bench
        .pushed
        .events
        .lock()
        .unwrap()
        .iter()
        .filter_map(|e| {
            if let EventBody::Delta { text } = &e.event { Some(text.clone()) } else { None }
        })
        .collect();
    assert_eq!(said, "It paces well.", "decisions are not for the user's eyes");
    assert!(!names.iter().any(|name| name == "error"));
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn instructions_5_1_the_choices_of_next_are_the_enabled_specialists_and_finish() {
    let bench = two();
    bench.model.then(decide("FINISH", "Hello!", "no_specialist_needed"));
    bench.ask("hi").await;
    let shape = bench.model.requests.lock().unwrap()[0].structured.clone().unwrap();
    assert_eq!(
        json!(shape.schema)["properties"]["next"]["enum"],
        json!(["guardian", "shopper", "FINISH"])
    );
    assert!(
        bench.model.requests.lock().unwrap()[0].tools.is_empty(),
        "no tool is used for routing"
    );
    *bench.roster.agents.lock().unwrap() = std::sync::Arc::new(vec![
        agent("guardian", &["p"]),
        agent("shopper", &["s"]),
        agent("clerk", &[]),
    ]);
    bench.profile.settings.lock().unwrap().switches.agents_off.insert("shopper".into());
    bench.model.then(decide("FINISH", "Hello!", "no_specialist_needed"));
    bench.ask("hi").await;
    let shape = bench.model.requests.lock().unwrap()[1].structured.clone().unwrap();
    assert_eq!(
        json!(shape.schema)["properties"]["next"]["enum"],
        json!(["guardian", "clerk", "FINISH"])
    );
    assert!(
        bench
            .prompt(1)
            .contains("clerk: Clerk. Does what clerk does. It has no tools and no data.")
    );
}

#[tokio::test(start_paused = true)]
async fn instructions_5_1_finish_returns_its_text_or_else_the_orchestrator_answers() {
    let bench = two();
    bench.model.then(decide("FINISH", "Hello to you.", "no_specialist_needed"));
    let turn = bench.start("hi").await.turn;
    assert_eq!(status_and_text(&bench.final_of(&turn).await).1, "Hello to you.");
    assert!(bench.event_names(&turn).contains(&"delta".to_owned()));
    assert_eq!(answers(&bench).await[0].0, None);
    bench.model.then(decide("FINISH", "", "no_specialist_needed"));
    bench.model.then(vec![Say::Text("I am the orchestrator.")]);
    assert_eq!(status_and_text(&bench.ask("who are you?").await).1, "I am the orchestrator.");
    let last = bench.model.requests.lock().unwrap().len() - 1;
    assert!(
        bench.prompt(last).contains("You are the orchestrator")
            && !bench.prompt(last).contains("You are the supervisor"),
        "a prompt of its own"
    );
    bench.model.then(decide("FINISH", "", ""));
    bench.model.then(vec![Say::Text("")]);
    bench.model.then(vec![Say::Text("")]);
    assert!(!status_and_text(&bench.ask("hm").await).1.is_empty(), "never an empty reply");
}

#[tokio::test(start_paused = true)]
async fn instructions_5_1_an_unknown_next_is_asked_for_once_more_before_the_turn_ends() {
    let bench = two();
    bench.model.then(route("optimizer"));
    bench.model.then(vec![Say::Text(
        "Sure! ```json\n{\"next\": \"Shopper\", \"instruction\": \"Search.\"}\n```",
    )]);
    bench.model.then(vec![Say::Text("Found boots.")]);
    bench.model.then(route("FINISH"));
    assert_eq!(status_and_text(&bench.ask("boots").await).1, "Found boots.");
    assert_eq!(purposes(&bench), ["route", "route", "part", "route"]);
    {
        let requests = bench.model.requests.lock().unwrap();
        let Some(Message::System { text }) = requests[1].messages.last() else {
            panic!("a repair")
        };
        assert!(
            text.contains("\"optimizer\"") && text.contains("guardian, shopper, FINISH"),
            "{text}"
        );
    }
    bench.model.then(vec![Say::Text("I would ask the optimizer.")]);
    bench.model.then(route("optimizer"));
    bench.model.then(vec![Say::Text("I cannot do that.")]);
    assert_eq!(
        status_and_text(&bench.ask("bid more").await).1,
        "I cannot do that.",
        "one repair, then the orchestrator"
    );
}

#[tokio::test(start_paused = true)]
async fn instructions_5_1_a_routing_decision_is_also_accepted_as_a_tool_call() {
    let bench = two();
    bench.model.then(vec![Say::Call("route", json!({"next": "shopper", "instruction": "Search.", "reason_code": "in_field", "entities": []}))]);
    bench.model.then(vec![Say::Text("Boots.")]);
    bench.model.then(vec![Say::Call(
        "route",
        json!({"next": "FINISH", "instruction": "", "reason_code": "answered", "entities": []}),
    )]);
    assert_eq!(status_and_text(&bench.ask("boots").await).1, "Boots.");
    assert!(bench.outcomes().await.is_empty(), "it is no tool call");
}

#[tokio::test(start_paused = true)]
async fn instructions_5_1_a_specialist_is_asked_a_second_time_only_for_a_valid_reason() {
    let bench = two();
    bench.model.then(route("guardian"));
    bench.model.then(vec![Say::Text("First half.")]);
    bench.model.then(decide("guardian", "Give the other half.", "incomplete"));
    bench.model.then(vec![Say::Text("Second half.")]);
    bench.model.then(decide("guardian", "Again.", "new_request"));
    bench.model.then(vec![Say::Text("must not be asked")]);
    assert_eq!(status_and_text(&bench.ask("all of it").await).1, "Second half.");
    assert_eq!(
        purposes(&bench),
        ["route", "part", "route", "part", "route"],
        "a third visit is none"
    );
    let said: Vec<String> = answers(&bench).await.into_iter().map(|(_, text)| text).collect();
    assert_eq!(said, ["First half.", "Second half."]);
    assert!(
        bench.prompt(3).contains("Give the other half.")
            && !bench.prompt(3).contains("First half.")
    );
    let requests = bench.model.requests.lock().unwrap();
    assert!(
        requests[3].messages.iter().any(
            |m| matches!(m, Message::Assistant { text, .. } if text.as_str() == "First half.")
        ),
        "it goes on where it ended"
    );
}

#[tokio::test(start_paused = true)]
async fn instructions_5_1_asking_a_specialist_again_without_a_reason_ends_the_turn() {
    let bench = two();
    bench.model.then(route("guardian"));
    bench.model.then(vec![Say::Text("Done.")]);
    bench.model.then(route("guardian"));
    assert_eq!(status_and_text(&bench.ask("go").await).1, "Done.");
    assert_eq!(purposes(&bench), ["route", "part", "route"]);
}

#[tokio::test(start_paused = true)]
async fn instructions_5_1_a_turn_asks_specialists_at_most_six_times() {
    let many: Vec<Agent> =
        ["a", "b", "c", "d", "e", "f", "g", "h"].iter().map(|id| agent(id, &[])).collect();
    let bench = Bench::new(vec![]).with(many);
    for id in ["a", "b", "c", "d", "e", "f", "g"] {
        bench.model.then(route(id));
        bench.model.then(vec![Say::Text("Part.")]);
    }
    bench.ask("everybody").await;
    let purposes = purposes(&bench);
    assert_eq!(purposes.iter().filter(|purpose| **purpose == "part").count(), 6);
    assert_eq!(purposes.last(), Some(&"synthesis"));
}

#[tokio::test(start_paused = true)]
async fn decision_1_the_limit_of_model_calls_covers_all_specialists_and_leaves_an_answer() {
    let bench = two();
    bench.profile.settings.lock().unwrap().limits.model_calls = 9;
    bench.model.then(route("guardian"));
    for n in 0..5 {
        bench.model.then(vec![Say::Call("p", json!({"n": n}))]);
    }
    bench.model.then(vec![Say::Text("Pace.")]);
    // Two calls are left, which is too few for a hop.
    let (status, text) = status_and_text(&bench.ask("both").await);
    assert_eq!((status, text.as_str()), (TurnStatus::Ok, "Pace."));
    assert_eq!(bench.model.requests.lock().unwrap().len(), 7);
    assert_eq!(Settings::default().limits.model_calls, 24);
    let shares = Bench::new(vec![tool("p", Effect::ReadOnly), tool("s", Effect::ReadOnly)])
        .with(vec![agent("guardian", &["p"]), agent("shopper", &["s"])]);
    shares.profile.settings.lock().unwrap().limits.model_calls = 5;
    shares.model.then(route("guardian"));
    for n in 0..9 {
        shares.model.then(vec![Say::Call("p", json!({"n": n}))]);
    }
    let (status, text) = status_and_text(&shares.ask("go").await);
    assert!(status == TurnStatus::Limit && !text.is_empty());
    assert!(shares.model.requests.lock().unwrap().len() <= 5);
}

#[tokio::test(start_paused = true)]
async fn instructions_5_2_two_specialists_answers_are_combined_with_their_sources() {
    let bench = two();
    bench.model.then(route("guardian"));
    bench.model.then(vec![Say::Text("It is behind.")]);
    bench.model.then(route("shopper"));
    bench.model.then(vec![Say::Call("s", json!({"q": "boots"}))]);
    bench.model.then(vec![Say::Text("There are boots </answer>.")]);
    bench.model.then(route("FINISH"));
    bench.model.then(vec![Say::Text("Guardian: behind; Shopper: boots.")]);
    let turn = bench.start("both").await.turn;
    let (_, text) = status_and_text(&bench.final_of(&turn).await);
    assert_eq!(text, "Guardian: behind; Shopper: boots.\n\n*Answered by Guardian and Shopper.*");
    let said = answers(&bench).await;
    assert_eq!(
        said,
        [
            (Some("Guardian".to_owned()), "It is behind.".to_owned()),
            (Some("Shopper".to_owned()), "There are boots </answer>.".to_owned()),
            (None, text)
        ]
    );
    assert_eq!(purposes(&bench), ["route", "part", "route", "part", "part", "route", "synthesis"]);
    // The supervisor reads the answers so far, and no answer can close its tag.
    insta::assert_snapshot!("prompt_of_the_supervisor", bench.prompt(2));
    insta::assert_snapshot!("prompt_of_the_synthesis", bench.prompt(6));
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn instructions_5_2_a_single_specialist_answers_without_a_routing_call() {
    let bench = Bench::new(vec![tool("p", Effect::ReadOnly)]).with(vec![agent("guardian", &["p"])]);
    bench.model.then(vec![Say::Text("Hello.")]);
    assert_eq!(status_and_text(&bench.ask("hi").await).1, "Hello.");
    assert_eq!(purposes(&bench), ["answer"]);
    let many = two();
    many.profile.settings.lock().unwrap().switches.agents_off.insert("guardian".into());
    many.ask("hi").await;
    assert_eq!(purposes(&many), ["answer"], "the other one is switched off");
}

#[tokio::test(start_paused = true)]
async fn instructions_5_2_a_specialist_without_tools_is_instructed_to_say_so() {
    let bench = Bench::new(vec![]).with(vec![agent("optimizer", &[])]);
    bench.ask("raise the bids").await;
    assert!(bench.prompt(0).contains("You have no tools and no data. Say so"));
    assert!(bench.model.requests.lock().unwrap()[0].tools.is_empty());
}

#[tokio::test(start_paused = true)]
async fn instructions_5_2_a_specialist_cannot_call_another_specialists_tools() {
    let bench = two();
    bench.model.then(route("guardian"));
    bench.model.then(vec![Say::Call("s", json!({"q": "boots"}))]);
    bench.model.then(vec![Say::Text("I cannot shop.")]);
    bench.model.then(route("FINISH"));
    bench.ask("go").await;
    assert!(bench.runs().is_empty());
    let error = bench
        .items()
        .await
        .into_iter()
        .find_map(|i| if let ItemBody::ToolResult { error, .. } = i.body { error } else { None })
        .unwrap();
    assert_eq!((error.code, error.reason_text()), (ErrorCode::ToolNotFound, Some("outside_scope")));
    let offered: Vec<String> = bench.model.requests.lock().unwrap()[1]
        .tools
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(offered, ["p"]);
    bench.model.then(route("FINISH"));
    bench.model.then(vec![Say::Call("p", json!({}))]);
    bench.model.then(vec![Say::Text("No.")]);
    bench.ask("and you?").await;
    assert!(bench.runs().is_empty(), "the orchestrator has no tools");
}

#[tokio::test(start_paused = true)]
async fn decision_15_a_specialist_switched_off_during_a_turn_is_not_asked() {
    let bench = two();
    let profile = std::sync::Arc::clone(&bench.profile);
    let switch = move |_: &ToolRequest| {
        profile.settings.lock().unwrap().switches.agents_off.insert("shopper".into());
        Ok(json!({"ok": true}))
    };
    bench.tools.behaviours.lock().unwrap().insert("p".into(), Box::new(switch));
    bench.model.then(route("guardian"));
    bench.model.then(vec![Say::Call("p", json!({}))]);
    bench.model.then(vec![Say::Text("Pace.")]);
    bench.model.then(route("shopper"));
    bench.model.then(route("shopper"));
    assert_eq!(status_and_text(&bench.ask("both").await).1, "Pace.");
    assert!(bench.runs() == ["p"]);
}

#[tokio::test(start_paused = true)]
async fn decision_5_a_specialists_answer_is_kept_if_the_next_routing_call_fails() {
    let bench = two();
    bench.model.then(route("guardian"));
    bench.model.then(vec![Say::Text("Pace.")]);
    bench.model.then(vec![Say::Fail(ModelErrorKind::Unavailable)]);
    let (status, text) = status_and_text(&bench.ask("go").await);
    assert_eq!((status, text.as_str()), (TurnStatus::Ok, "Pace."));
    bench.model.then(route("guardian"));
    bench.model.then(vec![Say::Text("Pace again.")]);
    bench.model.then(vec![Say::Hang]);
    let turn = bench.start("go on").await;
    bench.wait_for(|_| (bench.model.requests.lock().unwrap().len() == 6).then_some(())).await;
    bench
        .engine
        .turns
        .cancel(&TurnCancelParams { session: turn.session.clone(), turn: turn.turn.clone() })
        .await
        .unwrap();
    assert_eq!(status_and_text(&bench.final_of(&turn.turn).await).0, TurnStatus::Cancelled);
    assert_eq!(
        answers(&bench).await.last().unwrap().1,
        "Pace again.",
        "a cancelled turn keeps what was said"
    );
}

#[tokio::test(start_paused = true)]
async fn agent_run_8_text_that_the_supervisor_reads_and_writes_is_redacted() {
    let bench = two();
    bench.model.then(vec![Say::Text("{\"next\": \"guardian\", \"instruction\": \"Report for <email_1>.\", \"reason_code\": \"in_field\", \"entities\": []}")]);
    bench.model.then(vec![Say::Text("Sent to <email_1>.")]);
    bench.model.then(route("FINISH"));
    let (_, text) = status_and_text(&bench.ask("report for anna@example.com").await);
    assert_eq!(text, "Sent to anna@example.com.");
    for n in 0..3 {
        assert!(!bench.prompt(n).contains("example.com"), "{}", bench.prompt(n));
    }
    assert!(
        bench.prompt(1).contains("Report for <email_1>.")
            && bench.prompt(2).contains("Sent to <email_1>.")
    );
}

#[tokio::test(start_paused = true)]
async fn a_specialist_selected_by_the_caller_answers_without_a_routing_call() {
    let bench = two();
    bench.model.then(vec![Say::Text("Shoes.")]);
    let params = |agent: &str| TurnStartParams {
        session: Some("s".into()),
        text: "hi".into(),
        model: None,
        agent: Some(agent.into()),
        headless: false,
        replaces: None,
    };
    let turn =
        bench.engine.turns.start(contract::Caller::inside(), params("shopper")).await.unwrap().turn;
    assert_eq!(status_and_text(&bench.final_of(&turn).await).1, "Shoes.");
    assert_eq!(purposes(&bench), ["part"]);
    assert_eq!(answers(&bench).await[0].0.as_deref(), Some("Shopper"));
    let tools: Vec<String> = bench.model.requests.lock().unwrap()[0]
        .tools
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(tools, ["s"], "its own tools");
    let unknown =
        bench.engine.turns.start(contract::Caller::inside(), params("nobody")).await.unwrap_err();
    assert_eq!(
        (unknown.code, unknown.hint_text()),
        (ErrorCode::InvalidInput, Some("There are: guardian, shopper."))
    );
    bench.profile.settings.lock().unwrap().switches.agents_off.insert("shopper".into());
    assert_eq!(
        bench
            .engine
            .turns
            .start(contract::Caller::inside(), params("shopper"))
            .await
            .unwrap_err()
            .code,
        ErrorCode::AgentDisabled
    );
}
