//! Tests of access: the token file, demo tokens, and rate limits.

use std::os::unix::fs::PermissionsExt as _;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{Gateway, message_of, read};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

async fn with_simple_auth(more: &[(&str, &str)]) -> Gateway {
    let mut env = vec![
        ("SIMPLE_AUTH_ENABLED", "1"),
        ("SIMPLE_AUTH_JWT_SECRET", SECRET),
        ("DEBUG_RUNS_ENABLED", "1"),
    ];
    env.extend(more);
    Gateway::start(&[], &env).await
}

async fn token(gateway: &Gateway) -> Value {
    let (status, body) =
        gateway.post("/v1/auth/simple/token", &json!({"applicationId": "shop-web"})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    body
}

async fn chat(gateway: &Gateway, bearer: &str) -> (StatusCode, Value) {
    let request =
        gateway.http.post(format!("{}/v1/chat", gateway.base)).json(&message_of("s", "hello"));
    read(
        if bearer.is_empty() { request } else { request.bearer_auth(bearer) }.send().await.unwrap(),
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_17_the_operator_token_in_a_private_file_opens_chat_and_debug() {
    let gateway = Gateway::start(&[], &[("DEBUG_RUNS_ENABLED", "1")]).await;
    let mode = std::fs::metadata(gateway.path("data/gateway.token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for wrong in ["", "guess", "Bearer"] {
        let (status, body) = chat(&gateway, wrong).await;
        assert_eq!(
            (status, body["error"]["code"].as_str()),
            (StatusCode::UNAUTHORIZED, Some("AUTHZ_UNAUTHORIZED"))
        );
        assert!(body.get("turnId").is_none(), "only the envelope: {body}");
        assert!(body["error"]["requestId"].is_string());
    }
    let stream = gateway
        .http
        .post(format!("{}/v1/chat/stream", gateway.base))
        .json(&message_of("s", "hello"))
        .send()
        .await
        .unwrap();
    assert_eq!(read(stream).await.0, StatusCode::UNAUTHORIZED);
    let runs = gateway.http.get(format!("{}/v1/debug/runs", gateway.base)).send().await.unwrap();
    assert_eq!(runs.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(gateway.post("/v1/chat", &message_of("s", "hello")).await.0, StatusCode::OK);
    assert_eq!(gateway.get("/v1/debug/runs").await.status(), StatusCode::OK);
    // The token stays the same after a restart and appears in no output.
    let before = std::fs::read_to_string(gateway.path("data/gateway.token")).unwrap();
    let gateway = gateway.restart(&[], &[]).await;
    assert_eq!(std::fs::read_to_string(gateway.path("data/gateway.token")).unwrap(), before);
    assert!(!gateway.log().contains(before.trim()));
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_a_visitor_token_opens_only_the_chat() {
    let gateway = with_simple_auth(&[]).await;
    let issued = token(&gateway).await;
    let jwt = issued["token"].as_str().unwrap();
    assert_eq!(issued["expiresInSeconds"], 600);
    let claims: Value =
        serde_json::from_slice(&BASE64.decode(jwt.split('.').nth(1).unwrap()).unwrap()).unwrap();
    assert_eq!(
        (claims["iss"].as_str(), claims["aud"].as_str(), &claims["scope"]),
        (Some("norce-agent-bff"), Some("norce-agent-widget"), &json!(["chat"]))
    );
    assert_eq!(
        (claims["sid"].clone(), claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap()),
        (issued["sid"].clone(), 600)
    );
    assert_eq!(chat(&gateway, jwt).await.0, StatusCode::OK);
    let unsigned = format!(
        "{}.{}.",
        BASE64.encode(r#"{"alg":"none","typ":"JWT"}"#),
        jwt.split('.').nth(1).unwrap()
    );
    let mut bent = jwt.to_owned();
    let last = bent.pop().unwrap();
    bent.push(if last == 'A' { 'E' } else { 'A' });
    for wrong in ["", "a.b", "a.b.c", unsigned.as_str(), bent.as_str()] {
        let (status, body) = chat(&gateway, wrong).await;
        assert_eq!(
            (status, body["error"]["code"].as_str()),
            (StatusCode::UNAUTHORIZED, Some("AUTHZ_UNAUTHORIZED")),
            "{wrong}"
        );
    }
    let runs = gateway
        .http
        .get(format!("{}/v1/debug/runs", gateway.base))
        .bearer_auth(jwt)
        .send()
        .await
        .unwrap();
    assert_eq!(runs.status(), StatusCode::UNAUTHORIZED, "a visitor sees no runs");
    let (_, health) =
        read(gateway.http.get(format!("{}/v1/health", gateway.base)).send().await.unwrap()).await;
    assert_eq!(health["status"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_the_application_of_the_token_replaces_that_of_the_request_body() {
    let gateway = with_simple_auth(&[("ALLOWED_APPLICATION_IDS", "shop-web")]).await;
    let jwt = token(&gateway).await["token"].as_str().unwrap().to_owned();
    let send = |body: Value| {
        gateway.http.post(format!("{}/v1/chat", gateway.base)).bearer_auth(&jwt).json(&body).send()
    };
    let mut body = message_of("s", "hello");
    body["applicationId"] = json!("somebody-else");
    assert_eq!(read(send(body.clone()).await.unwrap()).await.0, StatusCode::OK);
    body.as_object_mut().unwrap().remove("applicationId");
    assert_eq!(
        read(send(body).await.unwrap()).await.0,
        StatusCode::BAD_REQUEST,
        "it must still be there"
    );
    let (status, refused) =
        gateway.post("/v1/auth/simple/token", &json!({"applicationId": "other"})).await;
    assert_eq!(
        (status, refused["error"]["category"].as_str()),
        (StatusCode::FORBIDDEN, Some("auth"))
    );
    let (status, refused) =
        gateway.post("/v1/auth/simple/token", &json!({"applicationId": ""})).await;
    assert_eq!(
        (status, refused["error"]["code"].as_str()),
        (StatusCode::BAD_REQUEST, Some("VALIDATION_REQUEST_INVALID"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_both_chat_routes_share_one_rate_limit() {
    let gateway = with_simple_auth(&[("DEMO_RL_CHAT_PER_MIN", "2")]).await;
    let jwt = token(&gateway).await["token"].as_str().unwrap().to_owned();
    let ask = async |path: &str| {
        gateway
            .http
            .post(format!("{}{path}", gateway.base))
            .bearer_auth(&jwt)
            .json(&message_of("s", "hello"))
            .send()
            .await
            .unwrap()
    };
    let first = ask("/v1/chat").await;
    assert_eq!(
        (first.status(), first.headers()["x-ratelimit-remaining"].to_str().unwrap()),
        (StatusCode::OK, "1")
    );
    let second = ask("/v1/chat/stream").await;
    assert!(
        second.status() == StatusCode::OK
            && second.headers().get("x-ratelimit-remaining").is_none()
    );
    second.text().await.unwrap();
    let third = ask("/v1/chat").await;
    assert_eq!(third.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(
        third.headers()["retry-after"]
            .to_str()
            .unwrap()
            .parse::<u64>()
            .is_ok_and(|seconds| (1..=60).contains(&seconds))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_and_22_17_a_visitor_token_gets_no_debug_output() {
    let gateway = with_simple_auth(&[]).await;
    let jwt = token(&gateway).await["token"].as_str().unwrap().to_owned();
    for path in ["/v1/chat?debug=1", "/v1/chat/stream?debug=1"] {
        for (body, status) in
            [(message_of("s", "hello"), StatusCode::OK), (json!({}), StatusCode::BAD_REQUEST)]
        {
            let response = gateway
                .http
                .post(format!("{}{path}", gateway.base))
                .bearer_auth(&jwt)
                .json(&body)
                .send()
                .await
                .unwrap();
            assert_eq!(response.status(), status);
            let text = response.text().await.unwrap();
            assert!(
                !text.contains("\"debug\"")
                    && !text.contains("dev_status")
                    && !text.contains("details"),
                "{path}: {text}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_an_expired_token_is_refused() {
    let gateway = with_simple_auth(&[("SIMPLE_AUTH_JWT_TTL_SECONDS", "1")]).await;
    let jwt = token(&gateway).await["token"].as_str().unwrap().to_owned();
    let over = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    while chat(&gateway, &jwt).await.0 != StatusCode::UNAUTHORIZED {
        assert!(tokio::time::Instant::now() < over, "it never ends");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_1_a_request_is_checked_in_the_order_of_the_contract() {
    let gateway = with_simple_auth(&[
        ("ALLOWED_APPLICATION_IDS", "shop-web"),
        ("DEMO_RL_CHAT_PER_MIN", "1000000"),
    ])
    .await;
    let jwt = token(&gateway).await["token"].as_str().unwrap().to_owned();
    let ask = async |bearer: &str, body: &str| {
        let request = gateway
            .http
            .post(format!("{}/v1/chat", gateway.base))
            .header("content-type", "application/json")
            .body(body.to_owned());
        request.bearer_auth(bearer).send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask("wrong", "{\"broken").await, 400, "the body before the visitor");
    assert_eq!(ask("wrong", "{}").await, 401, "the visitor before the shape");
    assert_eq!(ask(&jwt, "{}").await, 400);
    // With a token, the token's application is checked; without a token, the application is in the
    // body, whose shape is checked first.
    let open = Gateway::start(&["--no-token"], &[("ALLOWED_APPLICATION_IDS", "shop-web")]).await;
    let mut body = message_of("s", "hello");
    (body["applicationId"], body["context"]) = (json!("stranger"), json!(7));
    assert_eq!(
        open.post("/v1/chat", &body).await.0,
        StatusCode::BAD_REQUEST,
        "the shape before the application"
    );
    let limited = with_simple_auth(&[("DEMO_RL_CHAT_PER_MIN", "1")]).await;
    let jwt = token(&limited).await["token"].as_str().unwrap().to_owned();
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let request = limited
            .http
            .post(format!("{}/v1/chat", limited.base))
            .bearer_auth(&jwt)
            .json(&json!({}));
        statuses.push(request.send().await.unwrap().status().as_u16());
    }
    assert!(
        statuses.contains(&400) && statuses.contains(&429),
        "a refused message counts, and the rate comes before the shape: {statuses:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_that_is_not_allowed_is_refused_and_recorded() {
    let allowed = ("ALLOWED_APPLICATION_IDS", "shop-web");
    let open = Gateway::start(&["--no-token"], &[allowed]).await;
    let mut body = message_of("s", "hello");
    body["applicationId"] = json!("stranger");
    assert_eq!(open.post("/v1/chat", &body).await.0, StatusCode::FORBIDDEN);
    let tokens = with_simple_auth(&[allowed]).await;
    let asked = json!({"applicationId": "stranger"});
    assert_eq!(tokens.post("/v1/auth/simple/token", &asked).await.0, StatusCode::FORBIDDEN);
    for gateway in [&open, &tokens] {
        let page = gateway.csign(&["audit", "list", "--type", "policy_decision"]);
        let [record] = page["records"].as_array().unwrap().as_slice() else {
            panic!("one record: {page}")
        };
        assert_eq!(record["fields"]["reason"], "application_not_allowed");
        assert_eq!(record["revealed"]["asked"], "stranger");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_rate_limits_count_by_visitor_and_by_address() {
    let gateway =
        with_simple_auth(&[("DEMO_RL_CHAT_PER_MIN", "2"), ("DEMO_RL_TOKEN_PER_MIN", "3")]).await;
    let jwt = token(&gateway).await["token"].as_str().unwrap().to_owned();
    let send = |path: &str| {
        gateway
            .http
            .post(format!("{}{path}", gateway.base))
            .bearer_auth(&jwt)
            .json(&message_of("s", "hello"))
            .send()
    };
    // A new minute of the rate limit may begin in between, so requests continue until one is
    // refused.
    let mut refused = None;
    for _ in 0..6 {
        let response = send("/v1/chat").await.unwrap();
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            refused = Some(response);
            break;
        }
        assert!(
            response.headers().contains_key("x-ratelimit-remaining")
                && response.headers().contains_key("x-ratelimit-reset")
        );
    }
    let refused = refused.expect("too many");
    assert!(refused.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() <= 60);
    let (_, body) = read(refused).await;
    assert_eq!(
        (body["error"]["code"].as_str(), body["error"]["retryable"].as_bool()),
        (Some("RATE_LIMITED"), Some(true))
    );
    assert!(
        body["error"]["details"]["retryAfterMs"].as_u64().unwrap() <= 60_000
            && body.get("turnId").is_none()
    );
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let request = gateway
            .request(Method::POST, "/v1/auth/simple/token")
            .json(&json!({"applicationId": "a"}));
        statuses.push(request.send().await.unwrap().status().as_u16());
    }
    assert!(statuses.contains(&429), "{statuses:?}");
    // Another address, as reported by a proxy on this computer, has a separate limit.
    let other = gateway
        .request(Method::POST, "/v1/auth/simple/token")
        .header("x-forwarded-for", "203.0.113.9")
        .json(&json!({"applicationId": "a"}));
    assert_eq!(other.send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_and_22_17_forwarded_addresses_are_accepted_only_from_trusted_proxies() {
    let gateway =
        with_simple_auth(&[("DEMO_RL_TOKEN_PER_MIN", "1"), ("TRUSTED_PROXIES", "")]).await;
    let mut statuses = Vec::new();
    for n in 0..6 {
        let request = gateway
            .request(Method::POST, "/v1/auth/simple/token")
            .header("x-forwarded-for", format!("203.0.113.{n}"));
        statuses.push(
            request.json(&json!({"applicationId": "a"})).send().await.unwrap().status().as_u16(),
        );
    }
    assert!(statuses.contains(&429), "the header is nobody's word here: {statuses:?}");
}
