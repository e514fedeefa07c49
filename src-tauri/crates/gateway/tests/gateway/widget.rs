//! A client that behaves like the shop's public widget: the client keeps one random session id,
//! fetches a new demo token for each message, sends no cookie, and uses the last event of each
//! stream.

use kit::model_server::Reply;
use reqwest::{StatusCode, header};
use serde_json::{Value, json};

use crate::cart::{add, pieces};
use crate::world::{Event, Gateway, SHOE, model, parse, read, shown};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const PAGE: &str = "http://localhost:5173";
const SESSION: &str = "9b2f6c1e-3d47-4a58-8f0b-6c1d2e3f4a5b";
const NOTICE: &str = "An automated assistant is answering you.";

const AUTH: [(&str, &str); 3] =
    [("SIMPLE_AUTH_ENABLED", "1"), ("SIMPLE_AUTH_JWT_SECRET", SECRET), ("ASSISTANT_NOTICE", "1")];

struct Widget<'a> {
    gateway: &'a Gateway,
    application: &'static str,
    session: &'static str,
}

impl Widget<'_> {
    /// Sends a message with a new token, and returns the events of its answer.
    async fn send(&self, message: &str) -> Vec<Event> {
        let url = |path: &str| format!("{}{path}", self.gateway.base);
        let token = self
            .gateway
            .http
            .post(url("/v1/auth/simple/token"))
            .header(header::ORIGIN, PAGE)
            .json(&json!({"applicationId": self.application}));
        let (status, token) = read(token.send().await.unwrap()).await;
        assert_eq!(status, StatusCode::OK, "{token}");
        let context = json!({"cultureCode": "en-GB", "currencyCode": "SEK", "page": "/shoes", "timestamp": 1});
        let response = self
            .gateway
            .http
            .post(url("/v1/chat/stream"))
            .header(header::ORIGIN, PAGE)
            .bearer_auth(token["token"].as_str().unwrap())
            .json(&json!({"applicationId": self.application, "sessionId": self.session, "message": message, "context": context}))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        parse(&response.text().await.unwrap())
    }

    async fn say(&self, message: &str) -> Value {
        let last = self.send(message).await.pop().unwrap();
        assert_eq!((last.name.as_str(), &last.data["sessionId"]), ("final", &json!(self.session)));
        last.data
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_23_the_widget_can_use_a_new_token_for_each_message() {
    let call = |tool: &str, arguments: Value| Reply::call(tool, arguments);
    let server = model([
        Reply::text(["Hello."]),
        call("product_search", json!({"query": "trail shoes"})),
        Reply::text(["These."]),
        call("product_get", json!({"productId": "1001"})),
        Reply::text(["That one."]),
        call("cart_add_item", json!({"productId": "1001", "quantity": 1})),
        Reply::text(["Which one?"]),
    ])
    .await;
    let gateway = Gateway::with_args(&server, &[], &AUTH).await;
    let widget = Widget { gateway: &gateway, application: "shop-web", session: SESSION };

    let greeted = widget.say("Hi").await;
    assert_eq!(greeted["text"], format!("{NOTICE}\n\nHello."));
    let found = widget.say("trail shoes").await;
    insta::assert_snapshot!("cards_of_the_widget", shown(&found));
    let looked = widget.say("Tell me more about option 1").await;
    assert!(looked["cards"][0]["dimensionHints"].is_object(), "{looked}");
    let told = server.requests().last().unwrap().to_string();
    assert!(told.contains("trail shoes") && told.contains("Hello."), "the conversation: {told}");
    let offered = widget.say("Add option 1 to cart").await;
    let part = offered["choices"]["options"][1]["meta"]["partNo"].clone();
    assert!(part.is_string(), "{offered}");
    let asked_model = server.seen().len();
    let asked = widget.say("Option 2").await;
    assert_eq!(asked["pendingAction"]["tool"], "cart_add_item", "{asked}");
    let yes = asked["confirmation"]["options"][0]["value"].as_str().unwrap();
    let added = widget.say(yes).await;
    assert_eq!((pieces(&added), server.seen().len()), (1, asked_model), "{added}");
    server.push(call("cart_set_item_quantity", json!({"productId": part, "quantity": 3})));
    let asked = widget.say("Make it three").await;
    assert_eq!(asked["pendingAction"]["tool"], "cart_set_item_quantity", "{asked}");
    let done = widget.say("yes").await;
    assert_eq!((pieces(&done), &done["cart"]["cartId"]), (3, &added["cart"]["cartId"]), "{done}");

    let texts = [&found, &looked, &offered, &added, &asked, &done];
    let again = texts.iter().filter(|one| one.to_string().contains(NOTICE)).count();
    assert_eq!(again, 0, "the notice comes once in a session");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_id_opens_no_session_of_another_application_or_visitor() {
    let server = model([
        add(2),
        Reply::text(["I have nothing to confirm."]),
        add(2),
        Reply::text(["Nothing waits."]),
    ])
    .await;
    let gateway = Gateway::with_args(&server, &[], &AUTH).await;
    let widget = |application, session| Widget { gateway: &gateway, application, session };
    for (mine, theirs) in [
        (widget("shop-web", SESSION), widget("other", SESSION)),
        (widget("shop-web", "cart-7"), widget("shop-web", "cart-7")),
    ] {
        assert!(mine.say("two shoes").await["pendingAction"].is_object());
        let stranger = theirs.say("yes").await;
        assert!(
            stranger.get("cart").is_none() && !stranger.to_string().contains(SHOE),
            "{stranger}"
        );
        assert!(stranger["text"].as_str().unwrap().starts_with(NOTICE), "a session of its own");
    }
    server.assert_clean();
}
