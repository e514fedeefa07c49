//! Tests of demo tokens: their contents, which tokens are accepted, and the refusals of the route
//! that issues them.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Method, RequestBuilder, StatusCode, header::HeaderMap};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::world::{Gateway, is_random_uuid, message_of, read, refusal_to_start};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const ROUTE: &str = "/v1/auth/simple/token";

async fn open(more: &[(&str, &str)]) -> Gateway {
    let mut env = vec![("SIMPLE_AUTH_ENABLED", "1"), ("SIMPLE_AUTH_JWT_SECRET", SECRET)];
    env.extend(more);
    Gateway::start(&[], &env).await
}

/// Makes a token in the way anybody with the secret could.
pub(crate) fn sign_token(head: &Value, claims: &Value, secret: &str) -> String {
    let signed =
        format!("{}.{}", BASE64.encode(head.to_string()), BASE64.encode(claims.to_string()));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(signed.as_bytes());
    format!("{signed}.{}", BASE64.encode(mac.finalize().into_bytes()))
}

fn part(token: &str, at: usize) -> Value {
    serde_json::from_slice(&BASE64.decode(token.split('.').nth(at).unwrap()).unwrap()).unwrap()
}

/// Returns the claims after one claim was replaced or removed.
fn change_claim(claims: &Value, name: &str, value: Option<Value>) -> Value {
    let mut claims = claims.clone();
    claims.as_object_mut().unwrap().remove(name);
    if let Some(value) = value {
        claims[name] = value;
    }
    claims
}

fn head() -> Value {
    json!({"alg": "HS256", "typ": "JWT"})
}

/// Returns a token for an id and an application that the route did not choose, as a shop with the
/// shared secret signs tokens.
pub(crate) fn token_for(sid: &str, application: &str, secret: &str) -> String {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let claims = json!({"iss": "norce-agent-bff", "aud": "norce-agent-widget", "sid": sid, "applicationId": application, "iat": now, "exp": now + 600});
    sign_token(&head(), &claims, secret)
}

async fn issue_token(gateway: &Gateway) -> Value {
    let (status, body) = gateway.post(ROUTE, &json!({"applicationId": "shop-web"})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    body
}

async fn ask(gateway: &Gateway, path: &str, token: &str) -> (StatusCode, String) {
    let response = gateway
        .http
        .post(format!("{}{path}", gateway.base))
        .bearer_auth(token)
        .json(&message_of("s", "hello"))
        .send()
        .await
        .unwrap();
    (response.status(), response.text().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_a_token_contains_its_visitor_and_its_lifetime() {
    let gateway = open(&[("SIMPLE_AUTH_JWT_TTL_SECONDS", "90")]).await;
    let now = || i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
    let before = now();
    let (first, second) = (issue_token(&gateway).await, issue_token(&gateway).await);
    let (token, sid) = (first["token"].as_str().unwrap(), &first["sid"]);
    assert_eq!(
        first,
        json!({"token": token, "expiresInSeconds": 90, "sid": sid}),
        "and nothing else"
    );
    assert!(
        is_random_uuid(sid) && *sid != second["sid"],
        "every visitor has an own id: {first}, {second}"
    );
    let claims = part(token, 1);
    let iat = claims["iat"].as_i64().unwrap();
    assert!((before..=now()).contains(&iat), "{claims}");
    let wanted = json!({
        "iss": "norce-agent-bff", "aud": "norce-agent-widget", "sid": sid, "applicationId": "shop-web", "iat": iat, "exp": iat + 90, "scope": ["chat"]
    });
    assert_eq!((part(token, 0), &claims), (head(), &wanted));
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    let (text, signature) = token.rsplit_once('.').unwrap();
    mac.update(text.as_bytes());
    mac.verify_slice(&BASE64.decode(signature).unwrap()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_only_an_unaltered_token_of_this_gateway_is_accepted() {
    let gateway = open(&[("DEMO_RL_CHAT_PER_MIN", "1000000")]).await;
    let good = part(issue_token(&gateway).await["token"].as_str().unwrap(), 1);
    let with = |name: &str, value: Value| {
        sign_token(&head(), &change_claim(&good, name, Some(value)), SECRET)
    };
    let without = |name: &str| sign_token(&head(), &change_claim(&good, name, None), SECRET);
    let whole = sign_token(&head(), &good, SECRET);
    assert_eq!(
        ask(&gateway, "/v1/chat", &whole).await.0,
        StatusCode::OK,
        "what is changed below holds as it is"
    );
    for right in [
        without("scope"),
        with("scope", json!(["cart", "chat"])),
        with("scope", json!("cart chat")),
        with("sid", json!("Anna_7-x")),
    ] {
        assert_eq!(ask(&gateway, "/v1/chat", &right).await.0, StatusCode::OK, "{right}");
    }
    let (text, signature) = whole.rsplit_once('.').unwrap();
    let past = good["iat"].as_i64().unwrap() - 10;
    let wrong = [
        with("iss", json!("somebody-else")),
        with("aud", json!("another-widget")),
        with("aud", json!(["norce-agent-widget"])),
        with("exp", json!(past)),
        with("exp", json!("never")),
        with("sid", json!("")),
        // A visitor's id is part of other names, so it must be short and have only plain
        // characters.
        with("sid", json!("anna/x")),
        with("sid", json!("anna@clerk")),
        with("sid", json!("anna; Path=/")),
        with("sid", json!("a".repeat(65))),
        with("scope", json!(["admin"])),
        with("scope", json!([])),
        with("scope", json!("admin chatter")),
        with("scope", json!(null)),
        without("iss"),
        without("aud"),
        without("exp"),
        without("sid"),
        without("applicationId"),
        sign_token(&head(), &good, "another secret, and a long one, too"),
        // The signature is valid, but the header is not.
        sign_token(&json!({"alg": "none", "typ": "JWT"}), &good, SECRET),
        sign_token(&json!({"alg": "HS512", "typ": "JWT"}), &good, SECRET),
        sign_token(&json!({"typ": "JWT"}), &good, SECRET),
        // No extension is supported, so a token with a critical extension is refused.
        sign_token(&json!({"alg": "HS256", "crit": ["exp", "b64"], "b64": false}), &good, SECRET),
        sign_token(&json!({"alg": "HS256", "crit": []}), &good, SECRET),
        format!("{}.{}.", BASE64.encode("{\"alg\":\"none\"}"), BASE64.encode(good.to_string())),
        text.to_owned(),
        format!("{text}."),
        format!("{whole}."),
        format!("{whole}.{signature}"),
    ];
    for token in &wrong {
        for path in ["/v1/chat", "/v1/chat/stream"] {
            let (status, body) = ask(&gateway, path, token).await;
            let error = &serde_json::from_str::<Value>(&body).unwrap()["error"];
            let told = (
                status,
                error["category"].as_str(),
                error["code"].as_str(),
                error["retryable"].as_bool(),
            );
            assert_eq!(
                told,
                (StatusCode::UNAUTHORIZED, Some("auth"), Some("AUTHZ_UNAUTHORIZED"), Some(false)),
                "{token} at {path}: {body}"
            );
        }
    }
}

/// Sends a request. Asserts that a refusal contains only its envelope.
async fn send_refused(request: RequestBuilder) -> (StatusCode, HeaderMap, Value) {
    let response = request.send().await.unwrap();
    let headers = response.headers().clone();
    let (status, body) = read(response).await;
    if status == StatusCode::OK {
        return (status, headers, body);
    }
    let error = body["error"].clone();
    assert_eq!(body, json!({"error": error}), "only the envelope");
    assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
    assert_eq!(error["requestId"].as_str().unwrap(), headers["x-request-id"].to_str().unwrap());
    (status, headers, error)
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_the_token_route_refuses_invalid_requests_with_an_error_envelope() {
    let gateway =
        open(&[("ALLOWED_APPLICATION_IDS", "shop-web"), ("DEMO_RL_TOKEN_PER_MIN", "1000000")])
            .await;
    for body in [
        json!({}),
        json!([]),
        json!({"applicationId": ""}),
        json!({"applicationId": 7}),
        json!({"applicationId": null}),
    ] {
        let (status, _, error) =
            send_refused(gateway.request(Method::POST, ROUTE).json(&body)).await;
        assert_eq!(
            (status, &error["category"], &error["code"]),
            (StatusCode::BAD_REQUEST, &json!("validation"), &json!("VALIDATION_REQUEST_INVALID")),
            "{body}"
        );
    }
    let (status, _, error) = send_refused(
        gateway.request(Method::POST, ROUTE).json(&json!({"applicationId": "stranger"})),
    )
    .await;
    assert_eq!(
        (status, &error["category"], &error["code"]),
        (StatusCode::FORBIDDEN, &json!("auth"), &json!("AUTHZ_FORBIDDEN"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_a_rate_limited_caller_is_told_when_to_retry() {
    let gateway = open(&[("DEMO_RL_TOKEN_PER_MIN", "1"), ("DEMO_RL_CHAT_PER_MIN", "1")]).await;
    let token = issue_token(&gateway).await["token"].as_str().unwrap().to_owned();
    let number = |headers: &HeaderMap, name: &str| {
        headers
            .get(name)
            .unwrap_or_else(|| panic!("{name}: {headers:?}"))
            .to_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    for (path, body) in
        [(ROUTE, json!({"applicationId": "shop-web"})), ("/v1/chat", message_of("s", "hello"))]
    {
        // A new minute may begin in between, and then the next request is refused.
        let mut refusal = None;
        for _ in 0..6 {
            let (status, headers, body) = send_refused(
                gateway
                    .http
                    .post(format!("{}{path}", gateway.base))
                    .bearer_auth(&token)
                    .json(&body),
            )
            .await;
            assert_eq!(
                (
                    number(&headers, "x-ratelimit-remaining"),
                    number(&headers, "x-ratelimit-reset") % 60
                ),
                (0, 0),
                "{headers:?}"
            );
            if status == StatusCode::TOO_MANY_REQUESTS {
                refusal = Some((headers, body));
                break;
            }
            assert!(status == StatusCode::OK && !headers.contains_key("retry-after"));
        }
        let (headers, error) = refusal.expect("one in a minute");
        assert_eq!(
            (&error["category"], &error["code"], &error["retryable"]),
            (&json!("policy"), &json!("RATE_LIMITED"), &json!(true))
        );
        let wait = error["details"]["retryAfterMs"].as_u64().unwrap();
        assert!((1..=60_000).contains(&wait), "{error}");
        assert_eq!(
            number(&headers, "retry-after"),
            wait.div_ceil(1_000),
            "whole seconds, rounded up"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_and_7_a_rate_limited_stream_request_is_answered_with_json() {
    let gateway = open(&[("DEMO_RL_CHAT_PER_MIN", "1")]).await;
    let token = issue_token(&gateway).await["token"].as_str().unwrap().to_owned();
    let ask = || {
        gateway
            .http
            .post(format!("{}/v1/chat/stream", gateway.base))
            .bearer_auth(&token)
            .json(&message_of("s", "hello"))
    };
    // A new minute may begin in between, and then the next request is refused.
    for _ in 0..6 {
        let response = ask().send().await.unwrap();
        if response.status() == StatusCode::OK {
            assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
            assert!(
                !response.headers().contains_key("x-ratelimit-remaining"),
                "a stream does not carry them"
            );
            continue;
        }
        let (headers, kind) =
            (response.headers().clone(), response.headers()["content-type"].clone());
        let (status, body) = read(response).await;
        assert_eq!(
            (status, &kind),
            (StatusCode::TOO_MANY_REQUESTS, &"application/json; charset=utf-8".parse().unwrap())
        );
        assert_eq!(body, json!({"error": body["error"]}), "only the envelope");
        assert_eq!(
            (&body["error"]["code"], &body["error"]["retryable"]),
            (&json!("RATE_LIMITED"), &json!(true))
        );
        let wait = body["error"]["details"]["retryAfterMs"].as_u64().unwrap();
        assert_eq!(headers["retry-after"].to_str().unwrap(), wait.div_ceil(1_000).to_string());
        return;
    }
    panic!("one in a minute");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_a_jwt_secret_that_is_too_short_is_refused_at_startup() {
    let short = &SECRET[1..];
    for (on, env) in [
        ("SIMPLE_AUTH_ENABLED", vec![("SIMPLE_AUTH_JWT_SECRET", short)]),
        ("SIMPLE_AUTH_ENABLED", vec![]),
        ("DEMO_AUTH_ENABLED", vec![("DEMO_JWT_SECRET", short)]),
    ] {
        let env: Vec<(&str, &str)> = env.into_iter().chain([(on, "1")]).collect();
        let told = refusal_to_start(&["--listen", "127.0.0.1:0"], &env);
        assert!(
            told.contains("SIMPLE_AUTH_JWT_SECRET") && told.contains("32") && !told.contains(short),
            "{told}"
        );
    }
    // A secret with one more letter is accepted, and the length does not matter while simple auth
    // is off.
    issue_token(&open(&[]).await).await;
    Gateway::start(&[], &[("SIMPLE_AUTH_JWT_SECRET", short)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_7_and_20_old_setting_names_still_work_with_a_warning() {
    let names = [
        ("SIMPLE_AUTH_ENABLED", "DEMO_AUTH_ENABLED"),
        ("SIMPLE_AUTH_JWT_SECRET", "DEMO_JWT_SECRET"),
        ("SIMPLE_AUTH_JWT_TTL_SECONDS", "DEMO_JWT_TTL_SECONDS"),
    ];
    let warnings = |gateway: &Gateway| {
        gateway
            .log()
            .lines()
            .filter(|line| line.contains("\"WARN\"") && line.contains("DEMO_"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let old = [
        ("DEMO_AUTH_ENABLED", "true"),
        ("DEMO_JWT_SECRET", SECRET),
        ("DEMO_JWT_TTL_SECONDS", "120"),
    ];
    let gateway = Gateway::start(&[], &old).await;
    let body = issue_token(&gateway).await;
    let token = body["token"].as_str().unwrap();
    assert_eq!(body["expiresInSeconds"], 120);
    assert_eq!(token, sign_token(&head(), &part(token, 1), SECRET), "signed with that secret");
    assert_eq!(
        (ask(&gateway, "/v1/chat", token).await.0, ask(&gateway, "/v1/chat", "").await.0),
        (StatusCode::OK, StatusCode::UNAUTHORIZED)
    );
    let told = warnings(&gateway);
    for (new, old) in names {
        assert!(
            told.iter().any(|line| line.contains(old) && line.contains(new)),
            "{old} is warned of: {told:?}"
        );
    }
    assert!(!gateway.log().contains(SECRET));
    // The old names are ignored if the new ones are set.
    let both = [
        ("DEMO_AUTH_ENABLED", "0"),
        ("DEMO_JWT_SECRET", "short"),
        ("DEMO_JWT_TTL_SECONDS", "120"),
        ("SIMPLE_AUTH_JWT_TTL_SECONDS", "60"),
    ];
    let gateway = open(&both).await;
    assert_eq!(
        (&issue_token(&gateway).await["expiresInSeconds"], warnings(&gateway)),
        (&json!(60), vec![])
    );
}
