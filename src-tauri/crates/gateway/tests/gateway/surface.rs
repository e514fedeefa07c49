//! Tests of the routes, of who may use each route, and of refusals before a request is read.

use std::time::Duration;

use reqwest::{Body, Method, StatusCode, header};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::world::{Gateway, message_of, read, refusal_to_start};

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_health_needs_no_token_and_unknown_routes_are_404() {
    let gateway = Gateway::start(&[], &[]).await;
    let response = gateway.http.get(format!("{}/v1/health", gateway.base)).send().await.unwrap();
    let (status, body) = read(response).await;
    assert_eq!((status, body["status"].as_str()), (StatusCode::OK, Some("ok")));
    assert!(body["timestamp"].as_str().unwrap().ends_with('Z'));
    for path in ["/v1/nothing", "/v1/debug/runs", "/v1/auth/simple/token"] {
        let (status, body) = read(gateway.get(path).await).await;
        assert_eq!(
            (status, body["statusCode"].as_u64()),
            (StatusCode::NOT_FOUND, Some(404)),
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_request_bodies_must_be_json_within_the_size_limit() {
    let gateway = Gateway::start(&["--no-token"], &[("BODY_LIMIT_BYTES", "2000")]).await;
    let long = format!("{{\"message\":\"{}\"}}", "x".repeat(3_000));
    // The body is sent in chunks, without a total length.
    let pieces = |text: &str| {
        Body::wrap_stream(futures::stream::iter(
            text.as_bytes()
                .chunks(500)
                .map(|piece| Ok::<_, std::io::Error>(piece.to_vec()))
                .collect::<Vec<_>>(),
        ))
    };
    for path in ["/v1/chat", "/v1/chat/stream"] {
        for (kind, body, status, error, message) in [
            (
                "application/json",
                "{\"applicationId\":".into(),
                400,
                "Bad Request",
                "Body is not valid JSON",
            ),
            ("text/plain", "hello".into(), 415, "Unsupported Media Type", "Unsupported Media Type"),
            (
                "application/json",
                long.clone().into(),
                413,
                "Payload Too Large",
                "Request body is too large",
            ),
            (
                "application/json",
                pieces(&long),
                413,
                "Payload Too Large",
                "Request body is too large",
            ),
        ] {
            let response = gateway
                .request(Method::POST, path)
                .header(header::CONTENT_TYPE, kind)
                .body(body)
                .send()
                .await
                .unwrap();
            let ends =
                response.headers().get(header::CONNECTION).is_some_and(|value| value == "close");
            assert_eq!(
                ends,
                status != 400,
                "{kind}: a connection with an unread body takes no other request"
            );
            let (got, body) = read(response).await;
            assert_eq!(
                (got.as_u16(), body),
                (status, json!({"statusCode": status, "error": error, "message": message})),
                "{kind}"
            );
        }
    }
    let whole = pieces(&message_of("s", "hello").to_string());
    let response = gateway
        .request(Method::POST, "/v1/chat")
        .header(header::CONTENT_TYPE, "application/json")
        .body(whole)
        .send()
        .await
        .unwrap();
    assert_eq!(read(response).await.0, StatusCode::OK, "what comes in pieces is taken");
}

#[tokio::test(flavor = "multi_thread")]
async fn startup_waits_for_a_data_folder_that_another_process_is_leaving() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let lock = std::fs::File::create(folder.path().join("data/lock")).unwrap();
    lock.lock().unwrap();
    let log = folder.path().join("serve.log");
    let leaving = std::thread::spawn(move || {
        while !std::fs::read_to_string(&log)
            .is_ok_and(|text| text.contains("the data folder is in use"))
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(lock);
    });
    let gateway = Gateway::start_in(folder, &["--no-token"], &[]).await;
    leaving.join().unwrap();
    assert_eq!(gateway.get("/v1/health").await.status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_a_request_that_arrives_too_slowly_is_aborted() {
    let gateway = Gateway::start(
        &["--no-token"],
        &[("HEADER_TIMEOUT_MS", "300"), ("BODY_TIMEOUT_MS", "300")],
    )
    .await;
    let answer_to = async |begun: &str| {
        let mut socket =
            TcpStream::connect(gateway.base.trim_start_matches("http://")).await.unwrap();
        socket.write_all(begun.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let head = "POST /v1/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n";
    assert!(answer_to(&format!("{head}\r\n{{\"message\": ")).await.starts_with("HTTP/1.1 408 "));
    let answer = answer_to(head).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 408 "),
        "a header that does not end is hung up on: {answer}"
    );
    let many: String = (0..80).map(|n| format!("x-{n}: 1\r\n")).collect();
    assert!(
        answer_to(&format!("{head}connection: close\r\n{many}\r\n"))
            .await
            .starts_with("HTTP/1.1 431 ")
    );
    assert_eq!(gateway.get("/v1/health").await.status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_a_client_that_does_not_read_its_answer_is_disconnected() {
    let gateway =
        Gateway::start(&["--no-token"], &[("MAX_CONNECTIONS", "1"), ("WRITE_TIMEOUT_MS", "300")])
            .await;
    let mut deaf = TcpStream::connect(gateway.base.trim_start_matches("http://")).await.unwrap();
    let ask = "GET /v1/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(2_000);
    let asking = async {
        // Unread answers fill all buffers on the way. After that, the gateway reads no more data
        // from the client.
        let end = deaf.write_all(ask.as_bytes()).await;
        std::future::pending::<()>().await;
        end
    };
    let place = async {
        while gateway.http.get(format!("{}/v1/health", gateway.base)).send().await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        _ = asking => unreachable!(),
        end = tokio::time::timeout(Duration::from_secs(60), place) => end.expect("its place becomes free"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_the_number_of_connections_is_limited() {
    let gateway = Gateway::start(&["--no-token"], &[("MAX_CONNECTIONS", "3")]).await;
    let connect =
        async || TcpStream::connect(gateway.base.trim_start_matches("http://")).await.unwrap();
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut socket = connect().await;
        socket.write_all(b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let mut first = [0; 12];
        socket.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        held.push(socket);
    }
    let mut refused = connect().await;
    let mut nothing = Vec::new();
    // The connection is closed, whether or not the gateway read the request.
    let read = refused.read_to_end(&mut nothing).await;
    assert!(read.map_or(true, |bytes| bytes == 0));
    held.pop();
    loop {
        let mut socket = connect().await;
        let sent = socket
            .write_all(b"GET /v1/metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .await;
        let mut page = String::new();
        if sent.is_ok() && socket.read_to_string(&mut page).await.is_ok() && !page.is_empty() {
            assert!(page.contains("csign_gateway_connections_refused_total"), "{page}");
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_8_and_22_17_only_allowed_origins_get_cors_headers() {
    let gateway = Gateway::start(
        &["--no-token"],
        &[("CORS_ORIGINS", "https://shop.example, http://localhost:5173")],
    )
    .await;
    let ask = |origin: &'static str| {
        gateway
            .request(Method::POST, "/v1/chat")
            .header(header::ORIGIN, origin)
            .json(&message_of("s", "hello"))
            .send()
    };
    let allowed = ask("https://shop.example").await.unwrap();
    assert_eq!(allowed.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "https://shop.example");
    assert_eq!(allowed.status(), StatusCode::OK);
    let foreign = ask("https://evil.example").await.unwrap();
    assert!(
        foreign.status().is_client_error()
            && !foreign.headers().contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN)
    );
    let preflight = |origin: &'static str| {
        gateway
            .http
            .request(Method::OPTIONS, format!("{}/v1/chat/stream", gateway.base))
            .header(header::ORIGIN, origin)
            .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
            .send()
    };
    let allowed = preflight("http://localhost:5173").await.unwrap();
    assert_eq!(allowed.status(), StatusCode::NO_CONTENT);
    assert_eq!(allowed.headers()[header::ACCESS_CONTROL_ALLOW_METHODS], "GET, POST, OPTIONS");
    assert_eq!(
        allowed.headers()[header::ACCESS_CONTROL_ALLOW_HEADERS],
        "Authorization, Content-Type, X-Correlation-Id, traceparent"
    );
    assert!(!allowed.headers().contains_key(header::ACCESS_CONTROL_ALLOW_CREDENTIALS));
    let foreign = preflight("null").await.unwrap();
    assert!(
        foreign.status().as_u16() < 500
            && !foreign.headers().contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN)
    );
    // The page that caused an error may read it.
    let broken = gateway
        .request(Method::POST, "/v1/chat")
        .header(header::ORIGIN, "https://shop.example")
        .json(&json!({}))
        .send()
        .await
        .unwrap();
    assert_eq!(
        (
            broken.status().as_u16(),
            broken.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN].to_str().unwrap()
        ),
        (400, "https://shop.example")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_8_every_answer_names_the_allowed_origin() {
    let page = "https://shop.example";
    let settings = [
        ("CORS_ORIGINS", page),
        ("ALLOWED_APPLICATION_IDS", "shop-web"),
        ("BODY_LIMIT_BYTES", "2000"),
    ];
    let gateway = Gateway::start(&[], &settings).await;
    let (good, mut stranger) = (message_of("s", "hello"), message_of("s", "hello"));
    stranger["applicationId"] = json!("stranger");
    let post = |path: &str, body: String| {
        gateway
            .request(Method::POST, path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(body)
    };
    let requests = [
        (200, gateway.request(Method::GET, "/v1/health")),
        (200, post("/v1/chat", good.to_string())),
        (200, post("/v1/chat/stream", good.to_string())),
        (400, post("/v1/chat/stream", "{\"broken".into())),
        (400, post("/v1/chat/stream", "{}".into())),
        (401, gateway.http.post(format!("{}/v1/chat", gateway.base)).json(&good)),
        (403, post("/v1/chat", stranger.to_string())),
        (404, gateway.request(Method::GET, "/v1/nothing")),
        (405, gateway.request(Method::GET, "/v1/chat")),
        (413, post("/v1/chat", format!("{{\"message\": \"{}\"}}", "x".repeat(3_000)))),
        (415, gateway.request(Method::POST, "/v1/chat").body("hello")),
    ];
    for (status, request) in requests {
        let response = request.header(header::ORIGIN, page).send().await.unwrap();
        let named: Vec<&str> = response
            .headers()
            .get_all(header::ACCESS_CONTROL_ALLOW_ORIGIN)
            .iter()
            .map(|name| name.to_str().unwrap())
            .collect();
        assert_eq!((response.status().as_u16(), named), (status, vec![page]));
        assert!(
            !response.headers().contains_key(header::ACCESS_CONTROL_ALLOW_CREDENTIALS),
            "{status}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_8_and_22_17_an_origin_is_allowed_only_by_an_exact_match() {
    let gateway =
        Gateway::start(&["--no-token"], &[("CORS_ORIGINS", "https://shop.example")]).await;
    let near = [
        "http://shop.example",
        "https://shop.example.evil",
        "https://shop.example:8443",
        "https://shop.example/",
        "https://www.shop.example",
        "*",
        "null",
    ];
    for origin in near {
        for (method, path) in [
            (Method::POST, "/v1/chat"),
            (Method::POST, "/v1/chat/stream"),
            (Method::OPTIONS, "/v1/chat"),
            (Method::GET, "/v1/health"),
        ] {
            let request = gateway
                .request(method, path)
                .header(header::ORIGIN, origin)
                .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST");
            let response = request.json(&message_of("s", "hello")).send().await.unwrap();
            let named = response.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
            assert!(
                response.status().as_u16() < 500 && named.is_none(),
                "{origin} at {path}: {response:?}"
            );
        }
    }
    // Without this setting, the widget's development server is allowed.
    let gateway = Gateway::open().await;
    for page in ["http://localhost:5173", "http://127.0.0.1:5173"] {
        let response = gateway
            .request(Method::OPTIONS, "/v1/chat")
            .header(header::ORIGIN, page)
            .send()
            .await
            .unwrap();
        assert_eq!(
            (response.status(), &response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN]),
            (StatusCode::NO_CONTENT, &page.parse().unwrap())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_foreign_host_header_is_refused() {
    let gateway = Gateway::start(&["--no-token"], &[("ALLOWED_HOSTS", "chat.shop.example")]).await;
    for (host, wanted) in [
        ("evil.example", 403),
        ("localhost:3000", 200),
        ("chat.shop.example", 200),
        ("127.0.0.1.evil.example", 403),
    ] {
        let response = gateway
            .request(Method::GET, "/v1/health")
            .header(header::HOST, host)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status().as_u16(), wanted, "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_20_invalid_settings_are_reported_at_startup() {
    type Row<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str);
    let table: [Row<'_>; 14] = [
        (&["--listen", "0.0.0.0:0"], &[], "--allow-remote"),
        (&["--listen", "0.0.0.0:0", "--allow-remote", "--no-token"], &[], "--no-token"),
        (
            &[],
            &[("NORCE_MCP_BASE_URL", "http://127.0.0.1:9/mcp")],
            "NORCE_OAUTH_TOKEN_URL, NORCE_OAUTH_CLIENT_ID",
        ),
        (
            &[],
            &[("SIMPLE_AUTH_ENABLED", "1"), ("SIMPLE_AUTH_JWT_SECRET", "short")],
            "SIMPLE_AUTH_JWT_SECRET",
        ),
        (&[], &[("AGENT_MAX_ROUNDS", "many")], "AGENT_MAX_ROUNDS"),
        (&[], &[("TRUSTED_PROXIES", "everybody")], "TRUSTED_PROXIES"),
        (&[], &[("ALLOWED_HOSTS", "chat.shop.example, https://other.example")], "ALLOWED_HOSTS"),
        (&[], &[("CORS_ORIGINS", "https://shop.example/")], "CORS_ORIGINS"),
        (&[], &[("SIMPLE_AUTH_ENABLED", "yes")], "SIMPLE_AUTH_ENABLED"),
        (&[], &[("DEMO_AUTH_ENABLED", "2")], "DEMO_AUTH_ENABLED"),
        (&[], &[("OPENAI_BASE_URL", "foo")], "OPENAI_BASE_URL must be a web address"),
        (
            &[],
            &[("OPENAI_BASE_URL", "ftp://models.example")],
            "OPENAI_BASE_URL must be a web address",
        ),
        (&[], &[("AGENT_ENABLED", "maybe")], "AGENT_ENABLED must be"),
        (&[], &[("DEBUG_RUNS_ENABLED", "yes")], "DEBUG_RUNS_ENABLED must be"),
    ];
    for (args, env, said) in table {
        let err = refusal_to_start(args, env);
        assert!(err.contains(said), "{said} is named in: {err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_served_only_locally_and_logs_contain_the_request_id() {
    let mut gateway = Gateway::open().await;
    gateway.say("s", "find trail shoes").await;
    let response = gateway
        .request(Method::POST, "/v1/chat")
        .json(&message_of("s", "secret words of a customer"))
        .send()
        .await
        .unwrap();
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    response.text().await.unwrap();
    let page = gateway.get("/v1/metrics").await.text().await.unwrap();
    assert!(page.contains("csign_gateway_turns_total{status=\"2xx\"} 2"), "{page}");
    assert!(page.contains("csign_gateway_turn_milliseconds_count 2"), "{page}");
    assert!(
        page.contains(
            "csign_gateway_tool_calls_by_tool_total{tool=\"product_search\",outcome=\"ok\"} "
        ),
        "{page}"
    );
    assert!(
        page.contains("csign_gateway_sessions 1\n")
            && page.contains("csign_gateway_streams_open 0\n"),
        "{page}"
    );
    let forwarded = gateway
        .request(Method::GET, "/v1/metrics")
        .header("x-forwarded-for", "203.0.113.7")
        .send()
        .await
        .unwrap();
    assert_eq!(forwarded.status(), StatusCode::NOT_FOUND);
    assert_eq!(gateway.stop(), Some(0));
    let log = gateway.log();
    let line = log
        .lines()
        .find(|line| line.contains(&id))
        .unwrap_or_else(|| panic!("a line of the request: {log}"));
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (line["requestId"].as_str(), line["status"].as_u64()),
        (Some(id.as_str()), Some(200))
    );
    assert!(!log.contains("secret words"), "what customers write is not in the log: {log}");
}
