//! Tests of one conversation with several models: the history moves between wires, and a fallback
//! replaces a model that fails.

use std::sync::Arc;

use engine::ports::{Message, Model, ModelErrorKind, ModelEvent, ModelRequest};
use futures::StreamExt;
use kit::model_server::{ModelServer, Reply};
use models::{Api, Config, Provider, WithFallback};
use offline::OfflineModel;
use serde_json::json;

use crate::recordings::folder;
use crate::support::{Conversation, config, on, question, world};
use crate::wires::{anthropic_calls, anthropic_text};

const APIS: [(Api, &str); 4] = [
    (Api::Chat, "gpt-4o"),
    (Api::Responses, "gpt-5-mini"),
    (Api::Anthropic, "claude-sonnet-4-5"),
    (Api::Gemini, "gemini-3-pro-preview"),
];

/// Returns an answer that calls tools, with the data that the wire must get back.
fn calls(api: Api) -> Reply {
    match api {
        Api::Chat => Reply::new().say("Looking.").ask("pace", &json!({"account": 17})),
        Api::Responses => Reply::recording(
            &folder().join("raw-sse/openai_resp/reasoning_stream_tools-response_000.txt"),
        ),
        Api::Anthropic => anthropic_calls(),
        Api::Gemini => {
            Reply::recording(&folder().join("google/google-tool-call-gemini3.chunks.txt"))
        }
    }
}

fn text(api: Api) -> Reply {
    match api {
        Api::Chat => Reply::text(["Fine."]),
        Api::Responses => {
            Reply::recording(&folder().join("openai-responses/openai-phase.1.chunks.txt"))
        }
        Api::Anthropic => anthropic_text("Fine."),
        Api::Gemini => Reply::recording(&folder().join("google/google-text.chunks.txt")),
    }
}

/// The scripted server refuses calls without results, lost signatures, and signatures of another
/// provider.
#[tokio::test]
async fn a_conversation_with_open_calls_can_switch_between_any_two_apis() {
    for (from, first) in APIS {
        for (to, second) in APIS {
            let server = ModelServer::start([calls(from), calls(to), text(to), text(from)]).await;
            let (first, second) = (on(from, &server, first), on(to, &server, second));
            let mut conversation = Conversation::asking("Both?");
            assert!(!conversation.round(&first).await.calls.is_empty(), "{from:?}");
            let answer = conversation.until_answered(&second).await;
            assert!(!answer.text.is_empty(), "{from:?} to {to:?}: {answer:?}");
            conversation.messages.push(Message::User { text: "And now?".into() });
            let back = conversation.until_answered(&first).await;
            assert!(!back.text.is_empty(), "{from:?} to {to:?} and back: {back:?}");
            server.assert_clean();
        }
    }
}

fn failing(server: &ModelServer) -> Arc<Provider> {
    Arc::new(
        Provider::new(Config { max_retries: 0, ..config(&server.base_url()) }, world()).unwrap(),
    )
}

async fn collect_kinds(model: &dyn Model) -> Vec<Result<ModelEvent, ModelErrorKind>> {
    model.stream(question()).map(|event| event.map_err(|error| error.kind)).collect().await
}

#[tokio::test]
async fn the_fallback_answers_for_an_unavailable_model_and_the_change_is_reported() {
    let broken = ModelServer::start([Reply::refusal(503, &json!({})).repeated()]).await;
    let server = ModelServer::start([anthropic_text("Here."), anthropic_text("Again.")]).await;
    let second = on(Api::Anthropic, &server, "claude-haiku-4-5");
    let (from, to) = (failing(&broken).label(), second.label());
    let both = WithFallback::new(failing(&broken), Arc::new(second));
    assert_eq!(both.label(), from);
    let events = collect_kinds(&both).await;
    let Ok(ModelEvent::FellBack {
        from: told_from,
        to: told_to,
        kind: ModelErrorKind::Unavailable,
        why,
    }) = &events[0]
    else {
        panic!("told first: {events:?}")
    };
    assert_eq!((told_from, told_to), (&from, &to));
    assert!(why.contains("503"), "{why}");
    assert_eq!(events[1], Ok(ModelEvent::Text("Here.".into())));
    assert_eq!(
        collect_kinds(&both).await[0],
        Ok(ModelEvent::Text("Again.".into())),
        "the rest of the turn stays with it"
    );
    assert_eq!((broken.requests().len(), both.label()), (1, to));
}

#[tokio::test]
async fn a_loading_model_is_reported_and_retried_before_the_fallback_answers() {
    let loads =
        Reply::refusal(503, &json!({"message": "Loading model"})).header("retry-after", "0");
    let loading = ModelServer::start([loads.repeated()]).await;
    let server = ModelServer::start([Reply::text(["Here."])]).await;
    let first = Provider::new(
        Config { max_retries: 2, before_another: true, ..config(&loading.base_url()) },
        world(),
    )
    .unwrap();
    let events = collect_kinds(&WithFallback::new(Arc::new(first), failing(&server))).await;
    assert_eq!(events[0], Ok(ModelEvent::Loading));
    assert!(matches!(events[1], Ok(ModelEvent::FellBack { .. })), "{events:?}");
    assert_eq!(events[2], Ok(ModelEvent::Text("Here.".into())));
    assert_eq!(loading.requests().len(), 3);
}

#[tokio::test]
async fn the_fallback_does_not_answer_after_the_first_text_or_for_permanent_failures() {
    for reply in [
        Reply::text(["half"]).cut(),
        Reply::refusal(401, &json!({})),
        Reply::refusal(400, &json!({})),
    ] {
        let first = ModelServer::start([reply]).await;
        let second = ModelServer::start([Reply::text(["never"])]).await;
        let events = collect_kinds(&WithFallback::new(failing(&first), failing(&second))).await;
        assert!(events.last().unwrap().is_err(), "{events:?}");
        assert!(second.requests().is_empty());
    }
}

/// The engine needs this for its ledger: a silent model may cost money, but a model of this program
/// never does.
#[tokio::test]
async fn a_fallback_reports_which_model_may_have_cost_money() {
    let silent = ModelServer::start([Reply::new().hang()]).await;
    let first = Provider::new(
        Config { idle_timeout: std::time::Duration::from_millis(50), ..config(&silent.base_url()) },
        world(),
    )
    .unwrap();
    let both = WithFallback::new(Arc::new(first), Arc::new(OfflineModel::new(Vec::new())));
    assert!(!both.answers_in_process());
    let events = collect_kinds(&both).await;
    assert!(
        matches!(&events[0], Ok(ModelEvent::FellBack { kind, .. }) if kind.may_have_worked()),
        "{events:?}"
    );
    assert!(both.answers_in_process() && !both.in_process(), "what goes out is still redacted");
}

#[tokio::test]
async fn a_model_with_a_fallback_is_local_only_if_both_are() {
    let here: Arc<dyn Model> = Arc::new(OfflineModel::new(Vec::new()));
    let away: Arc<dyn Model> =
        Arc::new(Provider::new(config("https://models.example/v1"), world()).unwrap());
    assert!(WithFallback::new(here.clone(), here.clone()).is_local());
    assert!(
        !WithFallback::new(here.clone(), away.clone()).is_local()
            && !WithFallback::new(away, here).is_local()
    );
}

#[tokio::test]
async fn a_model_with_a_fallback_reads_values_if_either_does() {
    let server = ModelServer::start([]).await;
    let language: Arc<dyn Model> = failing(&server);
    let offline: Arc<dyn Model> = Arc::new(OfflineModel::new(Vec::new()));
    assert!(offline.reads_values() && !language.reads_values());
    assert!(
        WithFallback::new(Arc::clone(&language), offline).reads_values(),
        "it may have to answer for the other"
    );
    assert!(!WithFallback::new(Arc::clone(&language), language).reads_values());
}

#[tokio::test]
async fn a_model_with_a_fallback_has_reasoning_if_either_does() {
    let server = ModelServer::start([]).await;
    let thinking: Arc<dyn Model> = Arc::new(on(Api::Responses, &server, "gpt-5-mini"));
    let offline: Arc<dyn Model> = Arc::new(OfflineModel::new(Vec::new()));
    assert!(thinking.capabilities().reasoning && !offline.capabilities().reasoning);
    assert!(
        WithFallback::new(Arc::clone(&thinking), Arc::clone(&offline)).capabilities().reasoning
    );
    assert!(WithFallback::new(offline, thinking).capabilities().reasoning);
}

/// A limit that suits the first model may exceed the whole context of the second.
#[tokio::test]
async fn model_and_fallback_each_get_their_own_output_limit() {
    let ask = |first: &'static str, second: &'static str, wanted, left| async move {
        let broken = ModelServer::start([Reply::refusal(503, &json!({}))]).await;
        let server = ModelServer::start([Reply::text(["Here."])]).await;
        let on = |server: &ModelServer, model: &str| {
            Arc::new(
                Provider::new(
                    Config { max_retries: 0, model: model.into(), ..config(&server.base_url()) },
                    world(),
                )
                .unwrap(),
            )
        };
        let both = WithFallback::new(on(&broken, first), on(&server, second));
        let longest = both.longest_answer(wanted);
        let request =
            ModelRequest { max_output_tokens: wanted, left_output_tokens: left, ..question() };
        let events: Vec<_> = both.stream(request).collect().await;
        assert!(events.last().unwrap().is_ok(), "{events:?}");
        (
            longest,
            broken.requests()[0]["max_tokens"].as_u64(),
            server.requests()[0]["max_tokens"].as_u64(),
            both.longest_answer(wanted),
        )
    };
    assert_eq!(
        ask("gpt-5", "my-own", None, Some(100_000)).await,
        (128_000, Some(100_000), None, 8_192)
    );
    assert_eq!(
        ask("gpt-4o", "gpt-4", Some(10_000), None).await,
        (10_000, Some(10_000), Some(4_000), 4_000)
    );
    assert_eq!(ask("my-own", "gpt-4o", None, None).await, (16_000, None, None, 16_000));
    assert_eq!(
        ask("my-own", "gpt-4o", Some(32_000), None).await,
        (32_000, Some(32_000), Some(16_000), 16_000)
    );
}

#[tokio::test]
async fn a_model_with_a_fallback_streams_even_if_a_whole_answer_is_requested() {
    let server = ModelServer::start([Reply::text(["Here."])]).await;
    let both = WithFallback::new(failing(&server), Arc::new(OfflineModel::new(Vec::new())));
    let events: Vec<_> = both.stream(ModelRequest { whole: true, ..question() }).collect().await;
    assert!(events.iter().all(Result::is_ok), "{events:?}");
    assert_eq!(server.requests()[0]["stream"], json!(true));
}

/// The reservation for an answer covers the longest answer that its request can return.
#[tokio::test]
async fn the_longest_answer_equals_the_requested_output_limit() {
    let server = ModelServer::start([]).await;
    let longest = |api, model: &str, wanted| on(api, &server, model).longest_answer(wanted);
    assert_eq!(
        [None, Some(20_000), Some(90_000)].map(|wanted| longest(
            Api::Anthropic,
            "claude-opus-4-6",
            wanted
        )),
        [16_000, 20_000, 64_000]
    );
    assert_eq!(
        [longest(Api::Anthropic, "claude-2", None), longest(Api::Anthropic, "my-own", None)],
        [4_000, 4_096]
    );
    assert_eq!(
        longest(Api::Chat, "claude-opus-4-6", None),
        64_000,
        "where nothing is asked for, the model decides"
    );
    let model = |name: &str| Arc::new(on(Api::Chat, &server, name));
    let both = WithFallback::new(model("gpt-4o"), model("gpt-5"));
    assert_eq!(
        (both.longest_answer(None), both.longest_answer_now(None)),
        (128_000, 16_000),
        "before it is known who answers"
    );
    assert_eq!(
        WithFallback::new(model("gpt-4"), Arc::new(OfflineModel::new(Vec::new())))
            .longest_answer(None),
        4_000,
        "the offline model uses nothing"
    );
}
