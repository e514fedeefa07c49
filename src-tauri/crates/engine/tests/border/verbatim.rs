//! Tests that arguments reach a tool exactly as the model wrote them, and that results reach the
//! model, the window and the log exactly as the tool returned them.

use contract::*;
use engine::ports::Message;
use serde_json::{Value, json};

use crate::world::{Bench, Say, tool};

/// Returns a read of a server that the user added.
fn added(id: &str, input: Value, output: Value) -> ToolSpec {
    ToolSpec {
        pack: PackId::of_added_server("notes"),
        full_input_schema: input.clone(),
        input_schema: input,
        output_schema: output,
        ..tool(id, Effect::ReadOnly)
    }
}

/// Returns the texts of the results that the model read last.
fn told(bench: &Bench) -> Vec<String> {
    let requests = bench.model.requests.lock().unwrap();
    let results = requests.last().unwrap().messages.iter().filter_map(|message| match message {
        Message::Tool { content, .. } => Some(content.to_string()),
        _ => None,
    });
    results.collect()
}

/// Calls a tool once. Returns the arguments that reached the tool, or the error that the model got.
async fn call(spec: ToolSpec, arguments: &Value) -> Result<Value, String> {
    let name: &'static str = "t";
    assert_eq!(spec.model_name, name);
    let bench = Bench::new(vec![spec]);
    bench.model.then(vec![Say::Call(name, arguments.clone())]);
    bench.ask("go").await;
    let runs = bench.tools.runs.lock().unwrap();
    runs.first().map(|(_, arguments)| arguments.clone()).ok_or_else(|| told(&bench).concat())
}

#[tokio::test(start_paused = true)]
async fn an_argument_declared_in_any_part_of_the_schema_reaches_the_tool() {
    let page = json!({"type": "object", "properties": {"page_id": {"type": "string"}}, "required": ["page_id"]});
    let base = || json!({"type": "object", "properties": {"kind": {"type": "string"}}});
    let with = |members: Value| {
        let mut schema = base();
        for (name, value) in members.as_object().unwrap() {
            schema[name] = value.clone();
        }
        schema
    };
    for (schema, arguments) in [
        (
            with(
                json!({"oneOf": [page, {"properties": {"database_id": {"type": "string"}}, "required": ["database_id"]}]}),
            ),
            json!({"kind": "x", "page_id": "p-1"}),
        ),
        (
            with(json!({"allOf": [{"$ref": "#/$defs/Page"}], "$defs": {"Page": page}})),
            json!({"kind": "x", "page_id": "p-1"}),
        ),
        (
            with(json!({"anyOf": [{"$ref": "#/$defs/Page"}, {}], "$defs": {"Page": page}})),
            json!({"page_id": "p-1"}),
        ),
        (
            with(json!({"if": {"properties": {"kind": {"const": "page"}}}, "then": page})),
            json!({"kind": "page", "page_id": "p-1"}),
        ),
        (with(json!({"dependentSchemas": {"kind": page}})), json!({"kind": "x", "page_id": "p-1"})),
        // JSON Schema accepts members that it does not name.
        (base(), json!({"kind": "x", "further": {"deep": ["none", null, ""]}})),
        (
            with(json!({"patternProperties": {"^x-": {"type": "integer"}}})),
            json!({"x-a": 1, "y": "none"}),
        ),
    ] {
        for spec in [
            added("t", schema.clone(), json!({})),
            ToolSpec { pack: "test".into(), ..added("t", schema.clone(), json!({})) },
        ] {
            assert_eq!(call(spec, &arguments).await.as_ref(), Ok(&arguments), "{schema}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_are_refused_with_the_member_and_the_violated_rule() {
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    let branches = json!({"type": "object", "properties": {"a": {"type": "string"}},
        "oneOf": [{"properties": {"n": {"type": "integer"}}, "required": ["n"]}, {"required": ["m"]}]});
    let refers = json!({"type": "object", "properties": {"a": {}}, "allOf": [{"$ref": "#/$defs/N"}],
        "$defs": {"N": {"properties": {"n": {"type": "integer", "maximum": 5}}}}});
    for (schema, arguments, words) in [
        (closed, json!({"a": "x", "b": 1}), ["Additional properties", "'b'"]),
        (branches, json!({"a": "x", "n": true}), ["oneOf", "n"]),
        (refers, json!({"n": 7}), ["/n", "maximum"]),
    ] {
        let refused = call(added("t", schema, json!({})), &arguments).await.unwrap_err();
        assert!(words.iter().all(|word| refused.contains(word)), "{refused}");
    }
    let mut owned = tool("t", Effect::ReadOnly);
    owned.caller_owned =
        vec![CallerParam { name: "ip".into(), from: "client_ip".into(), exempt_from_hash: false }];
    let refused = call(owned, &json!({"q": "x", "ip": "::1"})).await.unwrap_err();
    assert!(refused.contains("ip is set by the app"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_value_that_fits_the_schema_of_an_added_server_is_never_changed() {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer"}}});
    for arguments in [json!({"text": ""}), json!({"text": "none"}), json!({"text": "null", "n": 0})]
    {
        let spec = added("t", schema.clone(), json!({}));
        assert_eq!(call(spec, &arguments).await.as_ref(), Ok(&arguments));
    }
    // A blank number means that there is no value.
    let spec = added("t", schema, json!({}));
    assert_eq!(call(spec, &json!({"text": "x", "n": null})).await, Ok(json!({"text": "x"})));
}

#[tokio::test(start_paused = true)]
async fn lists_and_nulls_written_as_text_reach_the_tool_with_their_declared_type() {
    let lists = json!({"type": "array", "items": {"type": "string"}});
    let schema = json!({"type": "object", "required": ["must"], "properties": {
        "list": lists, "either": {"anyOf": [lists, {"type": "null"}]},
        "parent": {"type": "string", "nullable": true}, "must": {"type": "integer", "nullable": true}}});
    for (arguments, reaches) in [
        (json!({"must": 1, "list": "[\"a\", \"b\"]"}), json!({"must": 1, "list": ["a", "b"]})),
        (json!({"must": 1, "list": "a"}), json!({"must": 1, "list": ["a"]})),
        (json!({"must": 1, "list": null, "either": "null"}), json!({"must": 1})),
        (json!({"must": 1, "either": null}), json!({"must": 1, "either": null})),
        (json!({"must": null, "parent": null}), json!({"must": null, "parent": null})),
        (json!({"must": "null", "list": []}), json!({"must": null, "list": []})),
    ] {
        let spec = added("t", schema.clone(), json!({}));
        assert_eq!(call(spec, &arguments).await, Ok(reaches), "{arguments}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_schema_that_cannot_be_checked_is_left_to_the_server() {
    let of =
        |odd: Value| json!({"type": "object", "properties": {"a": odd, "n": {"type": "integer"}}});
    for odd in [
        json!({"type": "string", "pattern": "^(?<year>[0-9"}),
        json!({"$ref": "https://schemas.example.com/date.json"}),
        json!({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}),
        json!({"type": "string", "required": true}),
        json!({"$ref": "#/definitions/Gone"}),
        json!({"type": "strings"}),
    ] {
        let a = if odd["type"] == "array" { json!(["x", 1]) } else { json!("x") };
        let arguments = json!({"a": a, "n": 1});
        let schema = of(odd);
        assert_eq!(
            call(added("t", schema.clone(), json!({})), &arguments).await.as_ref(),
            Ok(&arguments),
            "{schema}"
        );
        let wrong = json!({"a": a, "n": "many"});
        assert!(call(added("t", schema.clone(), json!({})), &wrong).await.is_err(), "{schema}");
    }
    let mut dialect = of(json!({"type": "string"}));
    dialect["$schema"] = json!("https://example.com/our-dialect");
    let arguments = json!({"a": "x"});
    assert_eq!(call(added("t", dialect, json!({})), &arguments).await, Ok(arguments));
}

/// Reads once from a tool that answers with `result`. Returns the bench, the text that the model
/// read and the value that the window shows.
async fn read(spec: ToolSpec, result: &Value) -> (Bench, String, Value) {
    let bench = Bench::new(vec![spec]);
    let answer = result.clone();
    bench
        .tools
        .behaviours
        .lock()
        .unwrap()
        .insert("t".into(), Box::new(move |_| Ok(answer.clone())));
    bench.model.then(vec![Say::Call("t", json!({}))]);
    bench.ask("go").await;
    let shown = bench.items().await.into_iter().find_map(|item| match item.body {
        ItemBody::ToolResult { data, .. } => Some(data),
        _ => None,
    });
    let text = told(&bench).concat();
    (bench, text, shown.unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_text_result_is_passed_on_byte_for_byte() {
    for text in [
        "1.10",
        "1e5",
        "123456789012345678901234567890",
        "{\"id\": 123456789012345678901234567890, \"price\": 1.10}",
        "{\n  \"b\": 1,\n  \"a\": [2.50]\n}\n",
        "\"quoted\" and \\ and \t",
        "0012",
    ] {
        let (bench, model, window) =
            read(added("t", json!({"type": "object"}), json!({})), &json!(text)).await;
        assert_eq!((model.as_str(), &window), (text, &json!(text)));
        let outcome = &bench.records_of(RecordType::ToolOutcome).await[0];
        assert_eq!(outcome.revealed["result"], json!(text).to_string());
        // A later turn reads the same text.
        bench.model.then(vec![Say::Text("Yes.")]);
        bench.ask("and now?").await;
        assert_eq!(told(&bench).concat(), text);
        bench.verified().await;
    }
}

#[tokio::test(start_paused = true)]
async fn json_text_is_validated_by_its_parsed_value() {
    let shape =
        json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "number"}}});
    let text = r#"{"id": 123456789012345678901234567890, "name": "one"}"#;
    for pack in ["test".into(), PackId::of_added_server("notes")] {
        let mut spec = added("t", json!({"type": "object"}), shape.clone());
        spec.pack = pack;
        spec.session_values =
            serde_json::from_value(json!([{"name": "last", "pointer": "/name"}])).unwrap();
        let (bench, model, window) = read(spec, &json!(text)).await;
        assert_eq!((model.as_str(), window), (text, json!(text)));
        assert_eq!(bench.outcomes().await, [ToolOutcome::Ok]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_violates_its_servers_schema_is_shown_with_a_note() {
    let shape = json!({"type": "object", "required": ["rows"]});
    for (name, said) in [
        ("text", json!("No rows today.")),
        ("object", json!({"count": 0})),
        ("list", json!(["a", "b"])),
    ] {
        let spec = added("t", json!({"type": "object"}), shape.clone());
        let (bench, model, window) = read(spec, &said).await;
        assert_eq!(bench.outcomes().await, [ToolOutcome::Ok]);
        let told = format!("window: {window:#}\nmodel: {model}");
        insta::assert_snapshot!(format!("result_of_another_shape_{name}"), told);
    }
    // If there are texts as well, the structured part must match.
    let both = json!({"structuredContent": {"rows": []}, "content": ["Ask again tomorrow."]});
    let (_, model, window) =
        read(added("t", json!({"type": "object"}), shape.clone()), &both).await;
    assert_eq!(window, both);
    assert!(model.contains("Ask again tomorrow."), "{model}");
    // The output schema of a pack's tool is binding.
    let mut spec = added("t", json!({"type": "object"}), shape);
    spec.pack = "test".into();
    let (bench, model, _) = read(spec, &json!("No rows today.")).await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Error]);
    assert!(model.contains("invalid_output") && !model.contains("No rows"), "{model}");
}

#[tokio::test(start_paused = true)]
async fn the_note_on_an_invalid_result_names_its_location_short_and_without_hidden_characters() {
    let name = format!("\u{202e}a\nb\u{200b}{}", "All is well. ".repeat(100));
    let shape = json!({"type": "object", "properties": {name.clone(): {"type": "integer"}}});
    let spec = added("t", json!({"type": "object"}), shape);
    let (_, _, window) = read(spec, &json!({name: "x"})).await;
    let note = window["note"].as_str().unwrap();
    assert!(note.contains("(/properties/abAll is well. ") && note.contains("\u{2026})"), "{note}");
    assert!(note.chars().count() < 200, "{note}");
}

#[tokio::test(start_paused = true)]
async fn a_secret_written_with_json_escapes_is_removed() {
    let key = "Xk29fLm3Q/pZr81TbVw6Y";
    let bench = Bench::new(vec![added("t", json!({"type": "object"}), json!({}))]);
    bench.secrets.0.lock().unwrap().push(key.into());
    let text = r#"{"key": "Xk29fLm3Q\/pZr81TbVw6Y", "id": 7}"#;
    bench
        .tools
        .behaviours
        .lock()
        .unwrap()
        .insert("t".into(), Box::new(move |_| Ok(json!(["first", text]))));
    bench.model.then(vec![Say::Call("t", json!({}))]);
    bench.ask("go").await;
    let all = format!("{:?} {}", bench.items().await, told(&bench).concat());
    assert!(!all.contains("pZr81TbVw6Y") && all.contains("first"), "{all}");
}
