//! Tests of a settings file with an error: each command names the file, and no other model answers
//! instead.

use std::fs;

use kit::model_server::{ModelServer, Reply};
use tokio::runtime::Runtime;

use crate::world::{Ran, World};

#[test]
fn every_command_reports_an_error_in_the_settings_file() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    let file = world.data().join("countersign.toml");
    let runtime = Runtime::new().expect("a runtime");
    let server =
        runtime.block_on(ModelServer::start([Reply::text(["I should not answer."]).repeated()]));
    let request = world.path("request.json");
    fs::write(&request, r#"{"contract_version":"1.0","request_id":"r1","input":"hello"}"#)
        .expect("written");
    for (text, named) in [
        ("[limits]\nrouns = 3\n", "line 2: there is no setting rouns here."),
        (
            "\n[model]\nprovider = \"openia_compatible\"\n",
            "line 3: There is no provider openia_compatible.",
        ),
        ("[model]\nmodel = \"scripted\nprovider = 1\n", "cannot be read: line 2, column"),
    ] {
        fs::write(&file, text).expect("written");
        let run = |args: &[&str]| {
            let mut command = world.command(args);
            command.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", "sk-x");
            Ran::of(command.env("OPENAI_MODEL", "scripted").output().expect("csign starts"))
        };
        let asked = run(&["ask", "hello"]).ends_with(1);
        assert_eq!(asked.out, "", "{text}");
        assert_eq!(asked.err.matches(named).count(), 1, "{text}: {}", asked.err);
        assert!(asked.err.contains("hint: "), "{}", asked.err);
        for (args, code) in [
            (&["ask", "hello", "--model", "offline"][..], 1),
            (&["policy", "show"], 0),
            (&["audit", "verify"], 0),
            (&["tools", "call", "cart.get"], 1),
            (&["run", "--request", request.to_str().expect("a name")], 1),
        ] {
            let ran = run(args).ends_with(code);
            assert_eq!(ran.err.matches(named).count(), 1, "{text} {args:?}: {}", ran.err);
            let told = format!("{}{}", ran.out, ran.err);
            assert!(!told.contains("switched off"), "{args:?}: {told}");
        }
        let error = run(&["--json", "ask", "hello"]).ends_with(1).json();
        assert_eq!(error["error"]["details"]["reason"], "settings_unreadable", "{error}");
        let doctor = run(&["doctor"]).ends_with(1);
        assert!(
            doctor.out.contains("failed   settings") && doctor.out.contains(named),
            "{}",
            doctor.out
        );
    }
    assert!(server.seen().is_empty(), "no other model was asked");
    fs::write(&file, "[limits]\nrounds = 3\n").expect("written");
    let well = world.run(&["ask", "hello"]).ends_with(0);
    assert_eq!(well.err.matches("countersign.toml").count(), 0, "{}", well.err);
}
