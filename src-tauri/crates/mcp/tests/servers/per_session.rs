//! Tests of the client with one session for each conversation: how it reads answers, tokens that
//! expire soon, and lost sessions.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use contract::{AgentError, SessionId};
use engine::ports::{Random, ToolFailure};
use mcp::{Access, KeptVisits, Open, Patience, PerSession, PerSessionCall, PerSessionConfig};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

mod shop;
use shop::{Answer, Shop, error, ok_answer};

#[derive(Default)]
struct TestAccess(Mutex<Vec<(String, Duration)>>);

#[async_trait]
impl Access for TestAccess {
    async fn credential(&self, _: &str) -> Result<SecretString, AgentError> {
        Ok(SecretString::from("app-secret"))
    }
    async fn tokens(&self) -> Result<Option<SecretString>, AgentError> {
        Ok(None)
    }
    async fn keep_tokens(&self, _: Option<SecretString>) -> Result<(), AgentError> {
        Ok(())
    }
    fn note(&self, token: &SecretString, lasts: Duration) {
        self.0.lock().unwrap().push((token.expose_secret().to_owned(), lasts));
    }
    fn private_network(&self) -> bool {
        true
    }
}

struct NoChance;

impl Random for NoChance {
    fn random_fraction(&self) -> f64 {
        0.0
    }
}

/// A store that stores nothing, so that a session exists in this process only.
struct NoStore;

#[async_trait]
impl KeptVisits for NoStore {
    async fn change(
        &self,
        _: &SessionId,
        _: Box<dyn FnOnce(Option<Open>) -> Option<Open> + Send>,
    ) -> Option<Open> {
        None
    }
}

fn client(shop: &Shop) -> PerSession {
    client_with(shop, &Arc::default())
}

fn client_with(shop: &Shop, access: &Arc<TestAccess>) -> PerSession {
    PerSession::new(PerSessionConfig {
        name: "shop".into(),
        url: format!("{}/mcp", shop.base),
        token_url: format!("{}/token", shop.base),
        client_id: "app".into(),
        client_secret: "SECRET".into(),
        scope: "shop".into(),
        patience: Patience {
            base: Duration::from_millis(1),
            jitter: Duration::ZERO,
            ..Patience::default()
        },
        access: Arc::clone(access) as _,
        private: true,
        chance: Arc::new(NoChance),
        kept: Arc::new(NoStore),
    })
    .unwrap()
}

/// Makes a call that changes something.
async fn change(client: &PerSession) -> Result<Value, ToolFailure> {
    let session = SessionId::of("web", "s");
    client
        .call(
            PerSessionCall {
                session: &session,
                tool: "cart.addItem",
                arguments: json!({}),
                reads: false,
            },
            CancellationToken::new(),
        )
        .await
}

#[tokio::test]
async fn the_last_event_of_a_stream_needs_no_line_feed() {
    let shop = Shop::start(3_600).await;
    let client = client(&shop);
    for ending in ["", "\n", "\r\n", "\n\n"] {
        shop.answers([Answer::Events(format!(
            "event: message\ndata: {}{ending}",
            ok_answer("added")
        ))]);
        assert_eq!(change(&client).await.unwrap(), json!("added"), "{ending:?}");
    }
    shop.answers([Answer::Events(
        "data: {\"jsonrpc\": \"2.0\", \"id\": $ID, \"result\": {\"cont".into(),
    )]);
    let failure = change(&client).await.unwrap_err();
    assert_eq!(
        (failure.error.reason_text(), failure.may_have_happened),
        (Some("invalid_response"), true),
        "half an answer is none"
    );
}

#[tokio::test]
async fn an_error_is_recognised_beside_a_null_result() {
    let shop = Shop::start(3_600).await;
    let client = client(&shop);
    shop.answers([Answer::Json("{\"jsonrpc\": \"2.0\", \"id\": $ID, \"result\": null, \"error\": {\"code\": -32602, \"message\": \"no\"}}".into())]);
    let failure = change(&client).await.unwrap_err();
    assert_eq!(
        (failure.error.reason_text(), failure.error.details["code"].as_i64()),
        (Some("mcp_refused"), Some(-32_602))
    );
    let empty = ok_answer("added").replacen("\"jsonrpc\"", "\"error\": null, \"jsonrpc\"", 1);
    shop.answers([Answer::Json(empty)]);
    assert_eq!(change(&client).await.unwrap(), json!("added"), "an empty error is none");
}

#[tokio::test]
async fn an_internal_error_of_a_shop_leaves_the_outcome_of_a_change_unknown() {
    let shop = Shop::start(3_600).await;
    let client = client(&shop);
    for (said, happened) in [
        (json!({"code": -32_603, "message": "x"}), true),
        (json!({"code": -32_000, "message": "x"}), true),
        (json!({"message": "no code says how far it came"}), true),
        (json!({"code": -32_602, "message": "x"}), false),
        (json!({"code": -1, "message": "the shop's own code"}), false),
    ] {
        shop.answers([Answer::Json(error(&said))]);
        assert_eq!(change(&client).await.unwrap_err().may_have_happened, happened, "{said}");
    }
    assert_eq!(shop.calls().len(), 5, "none is made twice");
}

#[tokio::test]
async fn concurrent_calls_share_a_token_that_expires_soon() {
    let shop = Shop::start(30).await;
    let client = client(&shop);
    change(&client).await.unwrap();
    let before = shop.tokens();
    // All three calls have started before the first call gets an answer.
    let (one, two, three) = tokio::join!(change(&client), change(&client), change(&client));
    for done in [one, two, three] {
        assert_eq!(done.unwrap(), json!("done"));
    }
    assert_eq!(shop.tokens() - before, 1, "got once for all who wait");
    change(&client).await.unwrap();
    assert_eq!(shop.tokens() - before, 2, "who asks later gets another");
}

#[tokio::test]
async fn a_token_counts_as_a_secret_for_its_lifetime() {
    let (shop, access) = (Shop::start(3_600).await, Arc::<TestAccess>::default());
    change(&client_with(&shop, &access)).await.unwrap();
    assert_eq!(*access.0.lock().unwrap(), [("token-1".to_owned(), Duration::from_secs(3_600))]);
}

#[tokio::test]
async fn a_token_that_is_expired_on_arrival_is_not_shared_between_calls() {
    let shop = Shop::start(0).await;
    let client = client(&shop);
    change(&client).await.unwrap();
    let before = shop.tokens();
    let (one, two) = tokio::join!(change(&client), change(&client));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(shop.tokens() - before, 2);
}

#[tokio::test]
async fn a_lost_session_is_opened_again_once_for_status_400_or_404() {
    for status in [400, 404] {
        let shop = Shop::start(3_600).await;
        let client = client(&shop);
        shop.answers([Answer::Status(status)]);
        assert_eq!(change(&client).await.unwrap(), json!("done"), "{status}");
        assert_eq!(shop.calls(), ["visit-1", "visit-2"], "{status}");
        shop.answers([Answer::Status(status), Answer::Status(status)]);
        let failure = change(&client).await.unwrap_err();
        assert_eq!(
            (failure.error.details["status"].as_u64(), failure.may_have_happened),
            (Some(status.into()), false)
        );
        assert_eq!(shop.calls()[2..], ["visit-2", "visit-3"], "{status}");
    }
}
