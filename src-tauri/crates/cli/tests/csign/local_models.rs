//! Tests of `csign` with models behind addresses of this computer.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kit::model_server::{ModelServer, Reply};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{
    keys::holding,
    world::{Ran, World},
};

const KEY: &str = "sk-live-4f9a81c2b7e3d650";

fn start(replies: Vec<Reply>) -> (Runtime, ModelServer) {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(ModelServer::start(replies));
    (runtime, server)
}

#[test]
fn a_stored_key_that_the_model_repeats_is_written_to_no_file() {
    let world = World::new();
    let (first, second) = KEY.split_at(11);
    let encoded = STANDARD.encode(format!("key={KEY}"));
    let decision =
        json!({"next": "FINISH", "instruction": KEY, "reason_code": "answered", "entities": []})
            .to_string();
    let (begun, ended) = decision.split_once(second).unwrap();
    let (begun, ended) = (begun.to_owned(), format!("{second}{ended}"));
    let refusal = json!({"error": {"message": format!("{KEY} is not valid"), "type": "invalid"}});
    let (_runtime, server) = start(vec![
        Reply::text([format!("Your key is {first}"), format!("{second}, or {encoded}.")]),
        Reply::call("cart_addItem", json!({"partNo": KEY, "quantity": 1})),
        Reply::text([format!("I tried {KEY}.")]),
        Reply::call(KEY, json!({})),
        Reply::text(["I could not."]),
        Reply::refusal(400, &refusal),
        Reply::text([begun.as_str(), ended.as_str()]),
    ]);
    let request = world.path("request.json");
    let body = r#"{"contract_version":"1.0","request_id":"r-1","input":"What is my key?"}"#;
    std::fs::write(&request, body).unwrap();
    let asked = |args: &[&str]| {
        let mut command = world.command(args);
        command.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", server.base_url());
        let ran = Ran::of(command.env("OPENAI_MODEL", "scripted").output().unwrap());
        let all = format!("{}{}", ran.out, ran.err);
        assert!(!all.contains(KEY) && !all.contains(&encoded), "{all}");
        all
    };
    let told = asked(&["ask", "--session", "s", "What is my key?"]);
    assert!(told.contains("Your key is <secret>, or "), "{told}");
    for question in ["Add it to my cart", "Use it", "And now?"] {
        asked(&["ask", "--session", "s", question]);
    }
    let told = asked(&["run", "--stream", "--request", request.to_str().unwrap()]);
    assert!(told.contains("<secret>"), "{told}");
    assert_eq!(server.requests().len(), 7, "each reply was used");
    asked(&["audit", "export", world.path("export").to_str().unwrap()]);
    assert!(world.path("export").is_dir());
    assert_eq!(holding(&world.path("."), &[KEY, &encoded]), Vec::<String>::new());
}

#[test]
fn a_local_model_server_counts_as_remote_until_a_person_declares_it_local() {
    let world = World::new();
    let (_runtime, here) = start(vec![Reply::text(["I run here."]).repeated()]);
    let (_second, other) = start(vec![Reply::text(["So do I."]).repeated()]);
    std::fs::create_dir_all(world.data()).unwrap();
    let ask = |address: &str, runs_here: &str| {
        let settings = format!(
            "[egress]\nallowed = false\n[model]\nprovider = \"openai_compatible\"\nmodel = \"scripted\"\nbase_url = \"{address}\"\nruns_here = {runs_here}\n"
        );
        std::fs::write(world.data().join("countersign.toml"), settings).unwrap();
        world.run(&["ask", "Hello?"])
    };
    let refused = ask(&here.base_url(), "[]");
    assert!(refused.code != 0, "{}", refused.out);
    assert!(refused.err.contains("Say there if a model runs"), "{}", refused.err);
    let said = format!("[\"{}\"]", here.base_url());
    let answered = ask(&here.base_url(), &said).ends_with(0);
    assert!(answered.out.contains("I run here."), "{}", answered.out);
    assert!(ask(&other.base_url(), &said).code != 0, "the word holds for one address");
    assert!(other.requests().is_empty());
    let elsewhere = ask(&here.base_url(), "[\"https://models.example/v1\"]");
    assert!(elsewhere.code != 0, "{}", elsewhere.out);
}

#[test]
fn an_interrupted_answer_is_printed_once_and_a_failed_message_prints_no_answer() {
    let cut = || Reply::new().say("It begins here, ").say("and breaks off").cut();
    let refusal = json!({"error": {"message": "No such model.", "type": "invalid"}});
    let (_runtime, server) = start(vec![
        cut(),
        cut(),
        Reply::new().say("Hm, so.\n</think>\n").say("It begins here").cut(),
        Reply::new().say("I look.").ask("recall", &json!({"about": "it"})),
        Reply::new().say("It begins here").cut(),
        Reply::refusal(404, &refusal),
    ]);
    let world = World::new();
    let variables = [
        ("OPENAI_API_KEY", "sk-x".to_owned()),
        ("OPENAI_BASE_URL", server.base_url()),
        ("OPENAI_MODEL", "scripted".to_owned()),
    ];
    let ask = || {
        let mut command = world.command(&["ask", "hello"]);
        Ran::of(command.envs(variables.clone()).output().unwrap())
    };
    let piped = ask().ends_with(1);
    assert_eq!(piped.out, "It begins here, and breaks off\n", "{}", piped.err);
    assert!(piped.err.contains("error: "), "{}", piped.err);
    let before: String =
        variables.iter().map(|(name, value)| format!("export {name}='{value}';")).collect();
    let typed = world.at_a_terminal_with(&before, &["ask", "hello"]).ends_with(1);
    let seen = format!("{}{}", typed.out, typed.err);
    assert_eq!(seen.matches("and breaks off").count(), 1, "{seen}");
    // Thoughts that arrive as text, and text before a call, do not count as printed answers.
    let thought = ask().ends_with(1);
    assert_eq!(thought.out, "It begins here\n", "{}", thought.err);
    let called = ask().ends_with(1);
    assert_eq!(called.out, "I look.\nIt begins here\n", "{}", called.err);
    let failed = ask().ends_with(1);
    assert_eq!(failed.out, "", "{}", failed.err);
    assert_eq!(failed.err.matches("error: ").count(), 1, "{}", failed.err);
}

#[test]
fn output_to_a_pipe_contains_the_answer_without_the_models_thoughts() {
    let world = World::new();
    let (_runtime, server) = start(vec![Reply::text(["Hm, so.", "\n</think>\n\nYes."])]);
    let mut command = world.command(&["ask", "Is it?"]);
    command.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", server.base_url());
    let ran = Ran::of(command.env("OPENAI_MODEL", "scripted").output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (0, "Yes.\n"), "{}", ran.err);
}
