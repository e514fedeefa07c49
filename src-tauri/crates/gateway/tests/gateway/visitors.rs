//! Tests of visitors: sessions that belong to the holder of a token, addresses that only proxies
//! may report, ids from callers, and the notice that an automated assistant answers.

use kit::model_server::Reply;
use reqwest::{Client, Method, StatusCode, header};
use serde_json::{Value, json};

use crate::cart::{add, pieces};
use crate::tokens::token_for;
use crate::world::{Gateway, SHOE, message_of, model, parse, read, refusal_to_start};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const ROUTE: &str = "/v1/auth/simple/token";
const ENGLISH: &str = "An automated assistant is answering you.";
const SWEDISH: &str = "Du får svar av en automatisk assistent.";

/// Requests a visitor's token.
async fn token(gateway: &Gateway, client: &Client, bearer: Option<&str>) -> Value {
    let request =
        client.post(format!("{}{ROUTE}", gateway.base)).json(&json!({"applicationId": "shop-web"}));
    let request = if let Some(bearer) = bearer { request.bearer_auth(bearer) } else { request };
    let (status, body) = read(request.send().await.unwrap()).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    body
}

async fn says(gateway: &Gateway, token: &Value, session: &str, message: &str) -> Value {
    sends(gateway, token["token"].as_str().unwrap(), &message_of(session, message)).await.1
}

async fn sends(gateway: &Gateway, token: &str, body: &Value) -> (StatusCode, Value) {
    let request = gateway.http.post(format!("{}/v1/chat", gateway.base)).bearer_auth(token);
    read(request.json(body).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn another_visitors_confirmation_is_not_applied_and_shows_no_cart() {
    let server = model([add(2), Reply::text(["I have nothing to confirm."])]).await;
    let env = [("SIMPLE_AUTH_ENABLED", "1"), ("SIMPLE_AUTH_JWT_SECRET", SECRET)];
    let gateway = Gateway::with_args(&server, &[], &env).await;
    let (first, second) =
        (token(&gateway, &gateway.http, None).await, token(&gateway, &gateway.http, None).await);
    assert!(says(&gateway, &first, "shared-name", "two shoes").await["pendingAction"].is_object());
    let stranger = says(&gateway, &second, "shared-name", "yes").await;
    assert!(
        stranger.get("cart").is_none() && stranger.get("pendingAction").is_none(),
        "{stranger}"
    );
    assert!(!stranger.to_string().contains(SHOE), "{stranger}");
    // The visitor confirms with the token that replaced the first token.
    let renewed = token(&gateway, &gateway.http, first["token"].as_str()).await;
    assert_eq!(renewed["sid"], first["sid"]);
    let done = says(&gateway, &renewed, "shared-name", "yes").await;
    assert_eq!(pieces(&done), 2, "{done}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_id_with_a_slash_opens_no_other_visitors_session() {
    let server = model([add(2)]).await;
    let env = [("SIMPLE_AUTH_ENABLED", "1"), ("SIMPLE_AUTH_JWT_SECRET", SECRET)];
    let gateway = Gateway::with_args(&server, &[], &env).await;
    let asked =
        sends(&gateway, &token_for("anna", "shop-web", SECRET), &message_of("x/s1", "two shoes"))
            .await
            .1;
    assert!(asked["pendingAction"].is_object(), "{asked}");
    let (status, stranger) =
        sends(&gateway, &token_for("anna/x", "shop-web", SECRET), &message_of("s1", "yes")).await;
    assert!(
        status == StatusCode::UNAUTHORIZED && !stranger.to_string().contains(SHOE),
        "{status}: {stranger}"
    );
    let done =
        sends(&gateway, &token_for("anna", "shop-web", SECRET), &message_of("x/s1", "yes")).await.1;
    assert_eq!(pieces(&done), 2, "{done}");
}

/// Starts a gateway whose profile remembers across sessions.
async fn remembering(
    conversation: &str,
    server: &kit::model_server::ModelServer,
    more: &[(&str, &str)],
) -> Gateway {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    std::fs::write(
        folder.path().join("data/countersign.toml"),
        format!("[conversation]\nmode = \"buffer\"\nscope = \"per_user\"\n{conversation}"),
    )
    .unwrap();
    let url = server.base_url();
    let mut env = vec![
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ];
    env.extend(more);
    Gateway::start_in(folder, &[], &env).await
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_callers_neither_read_nor_write_the_operators_memory() {
    for auth in [&[("SIMPLE_AUTH_ENABLED", "1"), ("SIMPLE_AUTH_JWT_SECRET", SECRET)][..], &[]] {
        let answered =
            |text: &str| [Reply::route("shopper"), Reply::text([text]), Reply::route("FINISH")];
        let server =
            model([answered("Noted."), answered("You said a word.")].into_iter().flatten()).await;
        let gateway = remembering("", &server, auth).await;
        let ask = |text: &str| {
            let before = server.requests().len();
            let ran = gateway.ran(&["ask", "--model", "scripted", text]);
            assert!(ran.status.success(), "{ran:?}");
            server.requests()[before..].iter().map(ToString::to_string).collect::<String>()
        };
        assert!(ask("My word is rhubarb.").contains("rhubarb"));
        let requests = server.requests().len();
        let message = {
            let mut message = message_of("s1", "What did I say before? Mine is quince.");
            message["applicationId"] = json!("desktop");
            message
        };
        let (status, answer) = if auth.is_empty() {
            gateway.post("/v1/chat", &message).await
        } else {
            let (status, refused) = gateway.post(ROUTE, &json!({"applicationId": "desktop"})).await;
            assert_eq!(
                (status, &refused["error"]["code"]),
                (StatusCode::FORBIDDEN, &json!("AUTHZ_FORBIDDEN")),
                "{refused}"
            );
            sends(&gateway, &token_for("local", "desktop", SECRET), &message).await
        };
        assert_eq!(
            (status, &answer["error"]["code"]),
            (StatusCode::FORBIDDEN, &json!("AUTHZ_FORBIDDEN")),
            "{answer}"
        );
        assert!(
            server.requests().len() == requests && !answer.to_string().contains("rhubarb"),
            "{answer}"
        );
        let told = ask("What did I say before?");
        assert!(told.contains("rhubarb") && !told.contains("quince"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitors_memory_cannot_be_reached_by_claiming_another_customer_id() {
    let server = model((0..3).map(|_| Reply::text(["Noted."]))).await;
    let key = "[conversation.key]\nsource = \"request_field\"\nname = \"context.customerId\"\n";
    let gateway = remembering(
        key,
        &server,
        &[("SIMPLE_AUTH_ENABLED", "1"), ("SIMPLE_AUTH_JWT_SECRET", SECRET)],
    )
    .await;
    let ask = async |sid: &str, session: &str, text: &str| {
        let mut message = message_of(session, text);
        message["context"]["customerId"] = json!(7);
        let (status, answer) = sends(&gateway, &token_for(sid, "shop-web", SECRET), &message).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        server.requests().last().unwrap().to_string()
    };
    ask("anna", "s1", "My word is rhubarb.").await;
    let told = ask("bert", "s1", "What did I say before?").await;
    assert!(!told.contains("rhubarb"), "another visitor who says to be the same customer: {told}");
    let told = ask("anna", "s2", "What did I say before?").await;
    assert!(told.contains("rhubarb"), "the visitor's own, across sessions: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_returning_browser_is_recognised_by_its_cookie_but_not_by_a_forged_one() {
    let page = "https://shop.example";
    let gateway = Gateway::start(
        &[],
        &[("SIMPLE_AUTH_ENABLED", "1"), ("SIMPLE_AUTH_JWT_SECRET", SECRET), ("CORS_ORIGINS", page)],
    )
    .await;
    let ask = async |cookie: &str| {
        let request = gateway
            .http
            .post(format!("{}{ROUTE}", gateway.base))
            .header(header::ORIGIN, page)
            .header(header::COOKIE, cookie);
        let response = request.json(&json!({"applicationId": "shop-web"})).send().await.unwrap();
        assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_CREDENTIALS], "true");
        let set = response.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
        (read(response).await.1["sid"].as_str().unwrap().to_owned(), set)
    };
    let (sid, set) = ask("other=1").await;
    assert!(["HttpOnly", "SameSite=Lax", "Secure"].iter().all(|part| set.contains(part)), "{set}");
    // A proxy's prefix changes the path, so the cookie has no `Path`, and the browser uses the path
    // of the request.
    assert!(!set.contains("Path="), "{set}");
    let pair = set.split(';').next().unwrap();
    assert_eq!(ask(pair).await.0, sid, "the same visitor");
    assert_ne!(
        ask(&pair.replace(&sid, &uuid_like(&sid))).await.0,
        uuid_like(&sid),
        "nobody chooses who they are"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cookie_is_cross_site_only_if_configured_and_secure_on_https_pages() {
    let auth = [
        ("SIMPLE_AUTH_ENABLED", "1"),
        ("SIMPLE_AUTH_JWT_SECRET", SECRET),
        ("CORS_ORIGINS", "https://shop.example, http://localhost:5173"),
    ];
    for (setting, page, parts, missing) in [
        ("", "https://shop.example", "SameSite=Lax; Secure", "None"),
        ("", "http://localhost:5173", "SameSite=Lax", "Secure"),
        ("none", "https://shop.example", "SameSite=None; Secure", "Lax"),
        ("none", "http://localhost:5173", "SameSite=None; Secure", "Lax"),
    ] {
        let env: Vec<(&str, &str)> =
            auth.into_iter().chain([("SIMPLE_AUTH_COOKIE_SAME_SITE", setting)]).collect();
        let gateway = Gateway::start(&[], &env).await;
        let request =
            gateway.http.post(format!("{}{ROUTE}", gateway.base)).header(header::ORIGIN, page);
        let response = request.json(&json!({"applicationId": "shop-web"})).send().await.unwrap();
        let set = response.headers()[header::SET_COOKIE].to_str().unwrap();
        assert!(set.contains(parts) && !set.contains(missing), "{setting} {page}: {set}");
    }
    let wrong: Vec<(&str, &str)> =
        auth.into_iter().chain([("SIMPLE_AUTH_COOKIE_SAME_SITE", "strict")]).collect();
    let told = refusal_to_start(&["--listen", "127.0.0.1:0"], &wrong);
    assert!(told.contains("SIMPLE_AUTH_COOKIE_SAME_SITE must be lax or none."), "{told}");
}

/// Returns another id of the same form.
fn uuid_like(sid: &str) -> String {
    sid.chars().rev().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_cannot_evade_rate_limits_with_forged_forwarded_addresses() {
    let gateway = Gateway::start(
        &[],
        &[
            ("SIMPLE_AUTH_ENABLED", "1"),
            ("SIMPLE_AUTH_JWT_SECRET", SECRET),
            ("DEMO_RL_TOKEN_PER_MIN", "1"),
        ],
    )
    .await;
    let mut statuses = Vec::new();
    for n in 0..6 {
        let request = gateway
            .http
            .post(format!("{}{ROUTE}", gateway.base))
            .header("x-forwarded-for", format!("198.51.100.{n}, 203.0.113.9"));
        statuses.push(
            request.json(&json!({"applicationId": "a"})).send().await.unwrap().status().as_u16(),
        );
    }
    assert!(statuses.contains(&429), "one count for one visitor: {statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_limits_count_an_ipv6_network_or_a_visitor_with_many_ids_once() {
    let auth = [("SIMPLE_AUTH_ENABLED", "1"), ("SIMPLE_AUTH_JWT_SECRET", SECRET)];
    let gateway =
        Gateway::start(&[], &[&auth[..], &[("DEMO_RL_TOKEN_PER_MIN", "1")]].concat()).await;
    let mut statuses = Vec::new();
    for n in 0..6 {
        // A household has a 64-bit network and can use any address in it.
        let request = gateway
            .http
            .post(format!("{}{ROUTE}", gateway.base))
            .header("x-forwarded-for", format!("2001:db8:1:2::{n}"));
        statuses.push(
            request.json(&json!({"applicationId": "a"})).send().await.unwrap().status().as_u16(),
        );
    }
    assert!(statuses.contains(&429), "one network: {statuses:?}");
    let request = gateway
        .http
        .post(format!("{}{ROUTE}", gateway.base))
        .header("x-forwarded-for", "2001:db8:1:3::1");
    assert_eq!(
        request.json(&json!({"applicationId": "a"})).send().await.unwrap().status(),
        StatusCode::OK,
        "another network"
    );

    let gateway = Gateway::start(
        &[],
        &[&auth[..], &[("DEMO_RL_CHAT_PER_MIN", "2"), ("DEMO_RL_CHAT_PER_ADDRESS_PER_MIN", "3")]]
            .concat(),
    )
    .await;
    let mut statuses = Vec::new();
    for n in 0..12 {
        let visitor = token_for(&format!("visitor-{n}"), "shop-web", SECRET);
        let request = gateway
            .http
            .post(format!("{}/v1/chat", gateway.base))
            .bearer_auth(visitor)
            .header("x-forwarded-for", "203.0.113.9");
        statuses
            .push(request.json(&message_of("s", "hello")).send().await.unwrap().status().as_u16());
    }
    assert!(statuses.contains(&429), "one address: {statuses:?}");
    assert_eq!(
        sends(&gateway, &token_for("visitor-0", "shop-web", SECRET), &message_of("s", "hello"))
            .await
            .0,
        StatusCode::OK,
        "another address"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callers_correlation_id_is_in_the_answer_the_log_and_the_records() {
    let mut gateway = Gateway::open().await;
    let ask = async |name: &str, value: &str| {
        let request = gateway
            .request(Method::POST, "/v1/chat")
            .header(name, value)
            .json(&message_of("s", "find trail shoes"));
        let response = request.send().await.unwrap();
        let told =
            response.headers().get("x-correlation-id").map(|id| id.to_str().unwrap().to_owned());
        assert_eq!(read(response).await.0, StatusCode::OK);
        told
    };
    assert_eq!(ask("x-correlation-id", "order-4711").await.as_deref(), Some("order-4711"));
    let trace = "0af7651916cd43dd8448eb211c80319c";
    assert_eq!(
        ask("traceparent", &format!("00-{trace}-b7ad6b7169203331-01")).await.as_deref(),
        Some(trace)
    );
    assert_eq!(ask("x-correlation-id", "<script>alert(1)</script>").await, None);
    let refused = gateway
        .request(Method::GET, "/v1/nothing")
        .header("x-correlation-id", "lost-1")
        .send()
        .await
        .unwrap();
    assert_eq!(
        (refused.status(), refused.headers()["x-correlation-id"].to_str().unwrap()),
        (StatusCode::NOT_FOUND, "lost-1")
    );
    let refused = gateway
        .request(Method::POST, "/v1/chat")
        .header("x-correlation-id", "lost-2")
        .json(&json!({"applicationId": "shop-web"}))
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let records = gateway.csign(&["audit", "list", "--all"]).to_string();
    assert!(
        records.contains("order-4711")
            && records.contains("lost-2")
            && records.contains(trace)
            && !records.contains("<script>"),
        "{records}"
    );
    assert_eq!(gateway.stop(), Some(0));
    let log = gateway.log();
    assert!(
        ["order-4711", trace, "lost-1"]
            .iter()
            .all(|id| log.contains(&format!("\"correlationId\":\"{id}\"")))
            && !log.contains("<script>"),
        "{log}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_answer_of_a_session_contains_the_assistant_notice() {
    let server = model([
        Reply::refusal(400, &json!({"message": "no"})),
        Reply::text(["One."]),
        Reply::text(["Two."]),
        Reply::text(["Ett."]),
        add(1),
    ])
    .await;
    let gateway = Gateway::with(&server, &[("ASSISTANT_NOTICE", "1")]).await;
    let (status, failed) = gateway.post("/v1/chat", &message_of("a", "hello")).await;
    assert!(
        !status.is_success() && !failed.to_string().contains(ENGLISH),
        "who reads of a fault has not been told: {failed}"
    );
    assert_eq!(gateway.say("a", "hello").await["text"], format!("{ENGLISH}\n\nOne."));
    assert_eq!(gateway.say("a", "and again").await["text"], "Two.", "once in a session");
    let mut swedish = message_of("b", "hej");
    swedish["context"]["cultureCode"] = json!("sv-SE");
    let response =
        gateway.request(Method::POST, "/v1/chat/stream").json(&swedish).send().await.unwrap();
    let events = parse(&response.text().await.unwrap());
    let said: String = events
        .iter()
        .filter(|event| event.name == "delta")
        .map(|event| event.data["text"].as_str().unwrap())
        .collect();
    let last = &events.last().unwrap().data;
    assert_eq!(
        (said.as_str(), last["text"].as_str()),
        (format!("{SWEDISH}\n\nEtt.").as_str(), Some(said.as_str()))
    );
    assert!(events.iter().all(|event| event.data["stage"] != "output_replaced"), "{events:?}");
    let asked = gateway.say("c", "a shoe").await;
    assert!(
        asked["text"].as_str().unwrap().starts_with(ENGLISH) && asked["pendingAction"].is_object(),
        "{asked}"
    );
    assert!(!asked["confirmation"]["prompt"].as_str().unwrap().contains(ENGLISH));
    assert!(
        !json!(server.requests()).to_string().contains(ENGLISH),
        "it is none of the conversation's words"
    );
    server.assert_clean();
}

/// The assistant's own text, which replaces a missing answer of the model, arrives as one delta.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_delta_starts_with_the_assistant_notice_even_if_the_model_says_nothing() {
    let server = model((0..8).map(|_| Reply::text([""]))).await;
    let gateway = Gateway::with(&server, &[("ASSISTANT_NOTICE", "1")]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("a", "hello")).await;
    let said: String = events
        .iter()
        .filter(|event| event.name == "delta")
        .map(|event| event.data["text"].as_str().unwrap())
        .collect();
    let last = events.last().unwrap().data["text"].as_str().unwrap();
    assert!(said.starts_with(ENGLISH) && said == last, "{said:?} and {last:?}");
    assert!(events.iter().all(|event| event.data["stage"] != "output_replaced"), "{events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn adding_a_product_by_its_id_alone_asks_for_the_variant() {
    let by_id = Reply::call("cart_add_item", json!({"productId": "1001", "quantity": 2}));
    let server =
        model([by_id, Reply::text(["I could not do that."]), Reply::text(["Anything else?"])])
            .await;
    let gateway = Gateway::with(&server, &[]).await;
    let answer = gateway.say("s", "two of product 1001").await;
    assert!(
        answer["choices"]["options"].as_array().is_some_and(|options| options.len() > 1),
        "{answer}"
    );
    assert!(answer.get("pendingAction").is_none(), "{answer}");
    let chosen = gateway.say("s", "option 1").await;
    assert!(chosen["pendingAction"].is_object(), "{chosen}");
    assert_eq!(pieces(&gateway.say("s", "yes").await), 2);
}
