//! Tests of debug data: who gets it, stored runs, and their replay.

use kit::model_server::Reply;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::front::Front;
use crate::remote_shop::{open, search};
use crate::world::{Event, Gateway, SHOE, is_random_uuid, message_of, model, read};

async fn get(gateway: &Gateway, path: &str) -> (StatusCode, Value) {
    read(gateway.get(path).await).await
}

/// Returns the debug data of both routes: blocks in answers, and `dev_status` events.
async fn debug_of(gateway: &Gateway, query: &str) -> (bool, bool, Vec<Event>) {
    let body = message_of("s", "hello");
    let (_, answer) = gateway.post(&format!("/v1/chat{query}"), &body).await;
    let events = gateway.events(&format!("/v1/chat/stream{query}"), &body).await;
    let end = events.last().unwrap().data.get("debug").is_some();
    (
        answer.get("debug").is_some(),
        end,
        events.into_iter().filter(|event| event.name == "dev_status").collect(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_and_4_debug_output_is_enabled_only_by_debug_equals_1() {
    let server = model([Reply::text(["Hi."]).repeated()]).await;
    let gateway = Gateway::with(&server, &[]).await;
    for query in [
        "",
        "?debug",
        "?debug=",
        "?debug=0",
        "?debug=true",
        "?debug=10",
        "?debug=01",
        "?nodebug=1",
        "?debug=2&x=debug",
    ] {
        let (answer, end, statuses) = debug_of(&gateway, query).await;
        assert!(!answer && !end && statuses.is_empty(), "{query}: {answer} {end} {statuses:?}");
    }
    for query in ["?debug=1", "?x=1&debug=1"] {
        let (answer, end, statuses) = debug_of(&gateway, query).await;
        assert_eq!((answer, end, statuses.len()), (true, true, 1), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_debug_output_reports_each_round_with_its_number() {
    let search = |query: &str| Reply::call("product_search", json!({"query": query}));
    let server = model([search("tent"), search("shoes"), Reply::text(["There."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream?debug=1", &message_of("s", "hello")).await;
    let rounds: Vec<&Value> =
        events.iter().filter(|event| event.name == "dev_status").map(|event| &event.data).collect();
    assert_eq!(
        rounds.iter().map(|data| data["round"].as_u64()).collect::<Vec<_>>(),
        [Some(1), Some(2), Some(3)]
    );
    assert!(
        rounds.iter().all(|data| data["message"].as_str().is_some_and(|text| !text.is_empty())),
        "{rounds:?}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_and_20_the_debug_variable_enables_debug_output_with_1_or_true() {
    for (value, on) in [("1", true), ("true", true), ("0", false), ("false", false), ("", false)] {
        let server = model([Reply::text(["Hi."]).repeated()]).await;
        let gateway = Gateway::with(&server, &[("DEBUG", value)]).await;
        let (answer, end, statuses) = debug_of(&gateway, "?debug=0").await;
        assert_eq!((answer, end, !statuses.is_empty()), (on, on, on), "{value}");
        let (_, refused) = gateway.post("/v1/chat", &json!({})).await;
        assert_eq!(refused["error"]["details"].is_object(), on, "{value}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_and_5_a_refusal_names_the_field_only_in_debug_output() {
    let gateway = Gateway::open().await;
    let with = |name: &str, value: Value| {
        let mut body = message_of("s", "hello");
        body[name] = value;
        body
    };
    for (body, field) in [
        (with("message", json!("")), "message"),
        (with("applicationId", json!(7)), "applicationId"),
        (with("sessionId", json!(null)), "sessionId"),
        (with("context", json!([])), "context"),
        (with("context", json!({"customerId": "7"})), "context.customerId"),
    ] {
        for path in ["/v1/chat", "/v1/chat/stream"] {
            let (status, told) = gateway.post(&format!("{path}?debug=1"), &body).await;
            assert_eq!(
                (status, &told["error"]["details"]),
                (StatusCode::BAD_REQUEST, &json!({"field": field})),
                "{told}"
            );
            for query in ["", "?debug=true"] {
                let (status, told) = gateway.post(&format!("{path}{query}"), &body).await;
                assert_eq!(
                    (status, told["error"].get("details")),
                    (StatusCode::BAD_REQUEST, None),
                    "{told}"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_3_and_19_every_turn_and_every_replay_has_a_random_id() {
    let server = model([Reply::text(["Hi."]).repeated()]).await;
    let gateway = Gateway::with(&server, &[("DEBUG_RUNS_ENABLED", "1")]).await;
    let body = message_of("s", "hello");
    let mut ids = vec![
        gateway.say("s", "hello").await["turnId"].clone(),
        gateway.say("s", "hello").await["turnId"].clone(),
    ];
    ids.push(gateway.events("/v1/chat/stream", &body).await.last().unwrap().data["turnId"].clone());
    ids.push(gateway.post("/v1/chat", &json!({"sessionId": "s"})).await.1["turnId"].clone());
    ids.push(gateway.post("/v1/chat/stream", &json!({"sessionId": "s"})).await.1["turnId"].clone());
    for _ in 0..2 {
        let (_, replayed) = gateway
            .post(&format!("/v1/debug/replay/{}", ids[0].as_str().unwrap()), &json!({}))
            .await;
        assert_eq!(
            (&replayed["originalRunId"], &replayed["result"]["turnId"]),
            (&ids[0], &replayed["newRunId"]),
            "{replayed}"
        );
        ids.push(replayed["newRunId"].clone());
    }
    assert!(ids.iter().all(is_random_uuid), "{ids:?}");
    assert_eq!(
        ids.iter().map(Value::to_string).collect::<std::collections::BTreeSet<_>>().len(),
        7,
        "each is new: {ids:?}"
    );
    let (_, list) = get(&gateway, "/v1/debug/runs").await;
    let runs: Vec<&Value> =
        list["runs"].as_array().unwrap().iter().map(|run| &run["runId"]).collect();
    assert_eq!(runs, ids.iter().rev().collect::<Vec<_>>(), "a run is found under its turn's id");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_recorded_runs_are_shortened_and_contain_no_secrets() {
    let server = model([
        Reply::call("product_search", json!({"query": "tent"})),
        Reply::text(["Here."]),
        Reply::text(["Hi."]),
    ])
    .await;
    let gateway =
        Gateway::with(&server, &[("DEBUG_RUNS_ENABLED", "true"), ("DEBUG_RUNS_MAX", "2")]).await;
    let mut body = message_of("s", "tents");
    body["context"] =
        json!({"cultureCode": "sv-SE", "customerId": 4_711_990, "priceListIds": [1, 2]});
    let (_, answer) = gateway.post("/v1/chat", &body).await;
    gateway.post("/v1/chat", &json!({"sessionId": "broken"})).await;
    let (_, list) = get(&gateway, "/v1/debug/runs").await;
    assert_eq!(
        (
            list["total"].as_u64(),
            list["runs"][0]["status"].as_str(),
            list["runs"][1]["status"].as_str()
        ),
        (Some(2), Some("error"), Some("ok"))
    );
    assert_eq!(list["runs"][1]["runId"], answer["turnId"]);
    let (_, run) =
        get(&gateway, &format!("/v1/debug/runs/{}", answer["turnId"].as_str().unwrap())).await;
    assert_eq!(
        run["requestId"].as_str().map(str::len),
        Some(36),
        "the id of the request is in the record: {run}"
    );
    assert_eq!(
        (run["route"].as_str(), run["result"]["httpStatus"].as_u64()),
        (Some("POST /v1/chat"), Some(200))
    );
    assert_eq!(
        run["result"]["responseShape"],
        json!({"hasCards": true, "hasComparison": false, "toolCalls": 1})
    );
    assert_eq!(run["toolTrace"][0]["outcome"], "ok");
    assert_eq!(
        run["request"]["contextSummary"],
        json!({"cultureCode": "sv-SE", "priceListIdsCount": 2, "customerIdPresent": true, "companyIdPresent": false})
    );
    assert!(!run.to_string().contains("4711990"), "{run}");
    gateway.say("other", "hello").await;
    let (_, list) = get(&gateway, "/v1/debug/runs?sessionId=other&limit=1").await;
    assert_eq!((list["total"].as_u64(), list["runs"].as_array().unwrap().len()), (Some(1), 1));
    let (status, gone) =
        get(&gateway, &format!("/v1/debug/runs/{}", answer["turnId"].as_str().unwrap())).await;
    assert_eq!(
        (status, gone["error"]["code"].as_str()),
        (StatusCode::NOT_FOUND, Some("RUN_NOT_FOUND")),
        "the ring holds two"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_a_failed_turn_is_recorded_with_its_error() {
    let server = model((0..3).map(|_| Reply::refusal(500, &json!({"message": "x"})))).await;
    let gateway = Gateway::with(&server, &[("DEBUG_RUNS_ENABLED", "1")]).await;
    let (_, failed) = gateway.post("/v1/chat", &message_of("s", "hello")).await;
    let (_, run) =
        get(&gateway, &format!("/v1/debug/runs/{}", failed["turnId"].as_str().unwrap())).await;
    assert_eq!(
        (run["result"]["status"].as_str(), run["result"]["httpStatus"].as_u64()),
        (Some("error"), Some(503)),
        "{run}"
    );
    assert_eq!(
        (&run["errors"][0]["category"], &run["openaiTrace"]["model"]),
        (&json!("OPENAI_API_ERROR"), &json!("scripted")),
        "{run}"
    );
    let (_, others) = get(&gateway, "/v1/debug/runs?applicationId=somebody-else").await;
    assert_eq!(others["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_recorded_runs_expire() {
    let server = model([Reply::text(["Hi."])]).await;
    let gateway =
        Gateway::with(&server, &[("DEBUG_RUNS_ENABLED", "1"), ("DEBUG_RUNS_TTL_SECONDS", "1")])
            .await;
    gateway.say("s", "hello").await;
    let over = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    while get(&gateway, "/v1/debug/runs").await.1["total"] != 0 {
        assert!(tokio::time::Instant::now() < over, "it never goes");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_and_22_19_a_replay_repeats_the_request_without_changing_the_session() {
    let add = || Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 1}));
    let server = model([add(), Reply::text(["What do you mean?"]), add()]).await;
    let gateway = Gateway::with(&server, &[("DEBUG_RUNS_ENABLED", "1")]).await;
    gateway.say("s", "one shoe").await;
    let yes = gateway.say("s", "yes").await;
    let path = format!("/v1/debug/replay/{}", yes["turnId"].as_str().unwrap());
    let response = gateway.request(reqwest::Method::POST, &path).send().await.unwrap();
    let (status, replayed) = read(response).await;
    assert_eq!(
        (status, &replayed["originalRunId"]),
        (StatusCode::OK, &yes["turnId"]),
        "{replayed}"
    );
    assert_eq!(
        replayed["result"]["text"], "What do you mean?",
        "a yes without a question executes nothing"
    );
    assert_ne!(replayed["result"]["sessionId"], "s");
    let (_, kept) =
        get(&gateway, &format!("/v1/debug/runs/{}", replayed["newRunId"].as_str().unwrap())).await;
    assert_eq!(kept["runId"], replayed["newRunId"]);
    let (_, replayed) = gateway.post(&path, &json!({"message": "one shoe"})).await;
    assert!(
        replayed["result"]["pendingAction"].is_object() && replayed["result"]["debug"].is_object(),
        "{replayed}"
    );
    assert_eq!(
        gateway.say("s", "yes").await["cart"]["items"][0]["quantity"],
        1,
        "the live session is as it was"
    );
    let (status, refused) = gateway.post(&path, &json!({"message": 7})).await;
    assert_eq!(
        (status, refused["error"]["code"].as_str()),
        (StatusCode::BAD_REQUEST, Some("VALIDATION_REQUEST_INVALID"))
    );
    let (status, _) = gateway.post("/v1/debug/replay/none", &json!({})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

fn names_of(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap_or_else(|| panic!("an object: {value}"))
        .keys()
        .map(String::as_str)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_a_recorded_run_and_its_list_entry_have_the_documented_members() {
    let calls = Reply::new()
        .ask("product_search", &json!({"query": "tent", "context": {"customerId": 4_711}}))
        .ask("product_get", &json!({"partNo": "NO-SUCH"}));
    let server = model([calls, Reply::text(["ä".repeat(501)])]).await;
    let gateway = Gateway::with(&server, &[("DEBUG_RUNS_ENABLED", "1")]).await;
    let message = format!("{}tail", "m".repeat(500));
    let events = gateway.events("/v1/chat/stream", &message_of("s", &message)).await;
    let answer = &events.last().unwrap().data;
    let (_, run) =
        get(&gateway, &format!("/v1/debug/runs/{}", answer["turnId"].as_str().unwrap())).await;
    let members = [
        "applicationId",
        "createdAt",
        "durationMs",
        "openaiTrace",
        "request",
        "requestId",
        "result",
        "route",
        "runId",
        "sessionId",
        "toolTrace",
    ];
    assert_eq!(names_of(&run), members, "{run}");
    assert_eq!(
        (&run["applicationId"], &run["sessionId"], &run["route"]),
        (&json!("shop-web"), &json!("s"), &json!("POST /v1/chat/stream"))
    );
    assert!(
        run["createdAt"].as_u64().is_some_and(|ms| ms > 1_700_000_000_000)
            && run["durationMs"].is_u64(),
        "{run}"
    );
    let context = json!({"cultureCode": "en-GB", "currencyCode": "SEK", "customerIdPresent": false, "companyIdPresent": false});
    assert_eq!(
        run["request"],
        json!({"message": format!("{}...", "m".repeat(500)), "contextPresent": true, "contextSummary": context})
    );
    assert_eq!(names_of(&run["result"]), ["httpStatus", "responseShape", "status", "textSnippet"]);
    assert_eq!(run["result"]["textSnippet"], format!("{}...", "ä".repeat(500)));
    assert_eq!(run["openaiTrace"], json!({"rounds": 2, "model": "scripted"}));
    let trace = run["toolTrace"].as_array().unwrap();
    assert_eq!(names_of(&trace[0]), ["args", "durationMs", "outcome", "t", "tool"]);
    assert_eq!(names_of(&trace[1]), ["args", "durationMs", "errorMessage", "outcome", "t", "tool"]);
    let told = trace
        .iter()
        .map(|entry| json!([entry["tool"], entry["args"], entry["outcome"]]))
        .collect::<Vec<_>>();
    assert_eq!(
        told,
        [
            json!(["product_search", {"query": "tent"}, "ok"]),
            json!(["product_get", {"partNo": "NO-SUCH"}, "error"])
        ]
    );
    assert!(
        !trace[1]["errorMessage"].as_str().unwrap().contains("NO-SUCH"),
        "the shop's words stay here: {run}"
    );
    let (_, list) = get(&gateway, "/v1/debug/runs").await;
    let line = &list["runs"][0];
    assert_eq!(
        names_of(line),
        [
            "applicationId",
            "createdAt",
            "durationMs",
            "runId",
            "sessionId",
            "status",
            "textSnippet",
            "toolCalls"
        ]
    );
    assert_eq!(
        (&line["toolCalls"], &line["status"], &line["textSnippet"]),
        (&json!(2), &json!("ok"), &run["result"]["textSnippet"])
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_the_list_of_runs_is_newest_first_bounded_and_filtered() {
    let gateway = Gateway::start(&["--no-token"], &[("DEBUG_RUNS_ENABLED", "1")]).await;
    let mut ids = Vec::new();
    for (application, session) in [("one", "a"), ("one", "b"), ("two", "a"), ("one", "a")] {
        let (_, answer) = gateway
            .post(
                "/v1/chat",
                &json!({"applicationId": application, "sessionId": session, "message": "hello"}),
            )
            .await;
        ids.push(answer["turnId"].as_str().unwrap().to_owned());
    }
    let (_, run) = get(&gateway, &format!("/v1/debug/runs/{}", ids[0])).await;
    assert!(
        run["openaiTrace"]["model"].as_str().is_some_and(|model| !model.is_empty()),
        "the profile's model has a name, too: {run}"
    );
    let found = async |query: &str| {
        let (_, list) = get(&gateway, &format!("/v1/debug/runs{query}")).await;
        let runs = list["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| ids.iter().position(|id| run["runId"] == **id).unwrap())
            .collect::<Vec<_>>();
        (runs, list["total"].as_u64().unwrap())
    };
    for (query, runs, total) in [
        ("", vec![3, 2, 1, 0], 4),
        ("?limit=2", vec![3, 2], 4),
        ("?applicationId=one", vec![3, 1, 0], 3),
        ("?sessionId=a", vec![3, 2, 0], 3),
        ("?applicationId=one&sessionId=a", vec![3, 0], 2),
        ("?applicationId=one&sessionId=a&limit=1", vec![3], 2),
        ("?applicationId=three", vec![], 0),
    ] {
        assert_eq!(found(query).await, (runs, total), "{query}");
    }
    for wrong in ["0", "-1", "all"] {
        assert_eq!(
            get(&gateway, &format!("/v1/debug/runs?limit={wrong}")).await.0,
            StatusCode::BAD_REQUEST,
            "{wrong}"
        );
    }
    for _ in 0..51 {
        gateway.post("/v1/chat", &json!({"applicationId": "many"})).await;
    }
    let (_, list) = get(&gateway, "/v1/debug/runs?applicationId=many").await;
    assert_eq!(
        (list["runs"].as_array().unwrap().len(), list["total"].as_u64()),
        (50, Some(51)),
        "fifty when nothing is said"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_a_refused_message_is_recorded_as_an_error_on_both_routes() {
    let env = [
        ("DEBUG_RUNS_ENABLED", "1"),
        ("ALLOWED_APPLICATION_IDS", "shop-web"),
        ("MAX_MESSAGE_TOKENS_EST", "2"),
    ];
    let gateway = Gateway::start(&["--no-token"], &env).await;
    let body = |application: &str, message: Value| json!({"applicationId": application, "sessionId": "s", "message": message, "context": {"customerId": 4_711_990}});
    for (body, status, code) in [
        (body("shop-web", json!(7)), 400, "VALIDATION_REQUEST_INVALID"),
        (body("other", json!("hello")), 403, "AUTHZ_FORBIDDEN"),
        (body("shop-web", json!("m".repeat(600))), 413, "VALIDATION_REQUEST_INVALID"),
    ] {
        for route in ["/v1/chat", "/v1/chat/stream"] {
            let (got, answer) = gateway.post(route, &body).await;
            let (_, run) =
                get(&gateway, &format!("/v1/debug/runs/{}", answer["turnId"].as_str().unwrap()))
                    .await;
            let result = &run["result"];
            assert_eq!(
                (got.as_u16(), &result["status"], result["httpStatus"].as_u64()),
                (status, &json!("error"), Some(u64::from(status))),
                "{run}"
            );
            assert_eq!(
                (&run["errors"][0]["category"], &run["route"]),
                (&json!(code), &json!(format!("POST {route}"))),
                "{run}"
            );
            assert_eq!(
                (&run["errors"][0]["message"], &run["requestId"]),
                (&answer["error"]["message"], &answer["error"]["requestId"]),
                "{run}"
            );
            assert_eq!(
                (&run["applicationId"], &run["sessionId"], &run["toolTrace"]),
                (&body["applicationId"], &json!("s"), &json!([])),
                "{run}"
            );
            assert!(
                run["request"]["message"].as_str().unwrap().chars().count() <= 503
                    && run["request"]["contextPresent"] == true,
                "{run}"
            );
            assert!(!run.to_string().contains("4711990"), "{run}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_an_unknown_run_is_not_found() {
    let gateway = Gateway::start(&["--no-token"], &[("DEBUG_RUNS_ENABLED", "1")]).await;
    let refused = gateway.post("/v1/chat", &json!({"sessionId": "s"})).await.1;
    let never = format!("/v1/debug/replay/{}", refused["turnId"].as_str().unwrap());
    for (status, answer) in [
        get(&gateway, "/v1/debug/runs/00000000-0000-4000-8000-000000000000").await,
        gateway.post("/v1/debug/replay/00000000-0000-4000-8000-000000000000", &json!({})).await,
        // A request that never became a turn cannot be replayed.
        gateway.post(&never, &json!({})).await,
    ] {
        let error = &answer["error"];
        assert_eq!(
            (status, names_of(&answer), names_of(error)),
            (StatusCode::NOT_FOUND, vec!["error"], vec!["category", "code", "message"]),
            "{answer}"
        );
        assert_eq!(
            (&error["category"], &error["code"]),
            (&json!("NOT_FOUND"), &json!("RUN_NOT_FOUND"))
        );
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_and_22_17_a_run_id_that_is_not_utf_8_is_not_found_and_needs_the_token() {
    let gateway = Gateway::start(&[], &[("DEBUG_RUNS_ENABLED", "1")]).await;
    for (method, path) in
        [(Method::GET, "/v1/debug/runs/%FF"), (Method::POST, "/v1/debug/replay/%FF")]
    {
        let stranger = gateway
            .http
            .request(method.clone(), format!("{}{path}", gateway.base))
            .send()
            .await
            .unwrap();
        let (status, answer) = read(stranger).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (StatusCode::UNAUTHORIZED, &json!("AUTHZ_UNAUTHORIZED")),
            "{path}"
        );
        let (status, answer) = read(gateway.request(method, path).send().await.unwrap()).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (StatusCode::NOT_FOUND, &json!("RUN_NOT_FOUND")),
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_19_and_22_19_a_replay_sends_the_recorded_or_a_given_context() {
    let front = Front::start().await;
    let server = model((0..4).flat_map(|_| [search(), Reply::text(["Here."])])).await;
    let gateway = open(&front, &server, &[("DEBUG_RUNS_ENABLED", "1")]).await;
    let mut body = message_of("s", "tents for two");
    body["context"] = json!({"cultureCode": "sv-SE", "currencyCode": "SEK", "priceListIds": [1, 2], "salesAreaId": 3, "customerId": 4, "companyId": 5});
    let (_, answer) = gateway.post("/v1/chat", &body).await;
    let path = format!("/v1/debug/replay/{}", answer["turnId"].as_str().unwrap());
    let other = json!({"cultureCode": "en-GB", "customerId": 6});
    let mut runs = Vec::new();
    for overrides in
        [json!({}), json!({"context": other}), json!({"message": "a violin", "context": {}})]
    {
        let (status, replayed) = gateway.post(&path, &overrides).await;
        assert_eq!(
            (status, names_of(&replayed)),
            (StatusCode::OK, vec!["newRunId", "originalRunId", "result"]),
            "{replayed}"
        );
        assert_eq!(
            (&replayed["originalRunId"], &replayed["newRunId"]),
            (&answer["turnId"], &replayed["result"]["turnId"])
        );
        assert!(
            replayed["result"]["debug"]["toolTrace"].is_array()
                && replayed["newRunId"] != replayed["originalRunId"],
            "{replayed}"
        );
        runs.push(
            get(&gateway, &format!("/v1/debug/runs/{}", replayed["newRunId"].as_str().unwrap()))
                .await
                .1,
        );
    }
    let sent: Vec<Option<Value>> = front
        .of("product.search")
        .iter()
        .map(|one| one.body["params"]["arguments"].get("context").cloned())
        .collect();
    assert_eq!(
        sent,
        [Some(body["context"].clone()), Some(body["context"].clone()), Some(other), None],
        "as it was, another one, and none"
    );
    let said: Vec<&Value> = runs.iter().map(|run| &run["request"]["message"]).collect();
    assert_eq!(said, ["tents for two", "tents for two", "a violin"]);
    server.push(Reply::text(["Hello."]));
    gateway.say("s", "hello").await;
    let heard = server.seen().pop().unwrap().body["messages"].to_string();
    assert!(
        heard.matches("tents for two").count() == 1 && !heard.contains("a violin"),
        "the conversation knows nothing of it: {heard}"
    );
    server.assert_clean();
}
