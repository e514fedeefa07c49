//! Tests of stalls, cancellation and connections. The clock is paused in tests that measure time.

use std::time::Duration;

use engine::ports::{Finish, Model, ModelErrorKind, ModelEvent};
use futures::StreamExt;
use kit::model_server::{ModelServer, Reply};
use models::{Config, Provider};

use crate::support::{answer, config, provider, question, world};

fn impatient_provider(server: &ModelServer, ms: u64) -> Provider {
    Provider::new(
        Config { idle_timeout: Duration::from_millis(ms), ..config(&server.base_url()) },
        world(),
    )
    .unwrap()
}

#[tokio::test]
async fn keepalives_after_text_do_not_reset_the_stall_timer() {
    let reply =
        (0..1_000).fold(Reply::text(["half"]), |reply, _| reply.wait_ms(20).keepalive()).hang();
    let server = ModelServer::start([reply]).await;
    let got = answer(&impatient_provider(&server, 200)).await;
    assert_eq!(got.text, "half");
    let error = got.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Broken);
    server.client_left(1).await;
}

#[tokio::test]
async fn comments_before_the_answer_reset_the_stall_timer() {
    let reply = (0..30).fold(Reply::new(), |reply, _| reply.wait_ms(20).keepalive()).say("Yes.");
    let server = ModelServer::start([reply]).await;
    let got = answer(&impatient_provider(&server, 200)).await;
    assert_eq!((got.text.as_str(), got.error), ("Yes.", None));
}

#[tokio::test]
async fn unknown_events_do_not_reset_the_stall_timer() {
    let reply = (0..1_000)
        .fold(Reply::new(), |reply, _| {
            reply.wait_ms(20).bytes("event: ping\ndata: {\"type\":\"ping\"}\n\n")
        })
        .hang();
    let server = ModelServer::start([reply]).await;
    assert_eq!(
        answer(&impatient_provider(&server, 200)).await.error.unwrap().kind,
        ModelErrorKind::Broken
    );
    assert_eq!(server.requests().len(), 1, "a stall is not waited for twice");
}

#[tokio::test]
async fn a_slow_answer_that_keeps_arriving_is_not_a_stall() {
    let reply = (0..12).fold(Reply::new(), |reply, _| reply.wait_ms(50).say("x"));
    let server = ModelServer::start([reply]).await;
    let got = answer(&impatient_provider(&server, 400)).await;
    assert_eq!(
        (got.text.len(), got.error),
        (12, None),
        "longer in all than the timer, never between two pieces"
    );
}

#[tokio::test]
async fn a_server_that_never_answers_ends_as_a_stall() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let provider = Provider::new(
        Config { idle_timeout: Duration::from_millis(100), ..config(&base) },
        world(),
    )
    .unwrap();
    let error = answer(&provider).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Broken);
    drop(listener);
}

fn before_another(server: &ModelServer, idle_timeout: Duration) -> Provider {
    Provider::new(
        Config { idle_timeout, before_another: true, max_retries: 9, ..config(&server.base_url()) },
        world(),
    )
    .unwrap()
}

/// A model with a fallback gets the idle time once in total, and then the fallback gets it again.
#[tokio::test]
async fn a_model_with_a_fallback_gets_the_idle_time_only_once() {
    let busy = |wait: &str| Reply::refusal(429, &serde_json::json!({})).header("retry-after", wait);
    let server = ModelServer::start([busy("9.5").repeated()]).await;
    assert_eq!(
        answer(&before_another(&server, Duration::from_secs(10))).await.error.unwrap().kind,
        ModelErrorKind::RateLimited
    );
    assert_eq!(server.requests().len(), 1, "what would leave no time to answer is not waited for");
    let server = ModelServer::start([busy("1").repeated()]).await;
    assert!(answer(&before_another(&server, Duration::from_millis(2_500))).await.error.is_some());
    assert!(server.requests().len() <= 2, "nor are many short ones");
    let server = ModelServer::start([busy("2.5"), Reply::text(["fine"])]).await;
    assert_eq!(
        answer(&impatient_provider(&server, 3_000)).await.text,
        "fine",
        "where there is no other, the wish is granted"
    );
}

/// A server that only acknowledges the request does not stop the timer. A thought is part of the
/// answer, so it stops the timer.
#[tokio::test]
async fn empty_chunks_do_not_delay_the_change_to_the_fallback() {
    let pieces = |delta: &str, most| {
        let piece = format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
        (0..most).fold(Reply::new(), |reply, _| reply.wait_ms(500).bytes(piece.as_str()))
    };
    let server =
        ModelServer::start([pieces(r#"{"role":"assistant","content":""}"#, 1_000).hang()]).await;
    assert_eq!(
        answer(&before_another(&server, Duration::from_secs(3))).await.error.unwrap().kind,
        ModelErrorKind::Broken
    );
    let server =
        ModelServer::start([pieces(r#"{"reasoning_content":"Hm."}"#, 8).say("fine")]).await;
    assert_eq!(answer(&before_another(&server, Duration::from_secs(3))).await.text, "fine");
}

/// Data before the answer does not restart the timer.
#[tokio::test]
async fn response_headers_do_not_reset_the_stall_timer() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        drop(socket.read(&mut [0_u8; 4_096]).await);
        tokio::time::sleep(Duration::from_millis(1_800)).await;
        drop(socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").await);
        std::future::pending::<()>().await;
    });
    let provider = Provider::new(
        Config { idle_timeout: Duration::from_millis(2_000), ..config(&base) },
        world(),
    )
    .unwrap();
    let before = std::time::Instant::now();
    assert_eq!(answer(&provider).await.error.unwrap().kind, ModelErrorKind::Broken);
    // A timer that was restarted by the headers would end after 3.8 seconds. The test allows 3.7
    // seconds for a busy machine.
    assert!(before.elapsed() < Duration::from_millis(3_700), "{:?}", before.elapsed());
    served.abort();
}

#[tokio::test]
async fn silence_after_a_finish_reason_ends_the_answer_normally() {
    let reply = Reply::raw(
        "data: {\"choices\":[{\"delta\":{\"content\":\"all\"},\"finish_reason\":\"stop\"}]}\n\n",
    )
    .hang();
    let server = ModelServer::start([reply]).await;
    // This is long enough for a busy machine to send the piece, and short enough to end the
    // following silence.
    let got = answer(&impatient_provider(&server, 3_000)).await;
    assert_eq!((got.text.as_str(), got.finish, got.error), ("all", Some(Finish::Stop), None));
}

#[tokio::test]
async fn dropping_the_event_stream_closes_the_connection() {
    let server = ModelServer::start([Reply::text(["one"]).hang()]).await;
    let provider = provider(&server);
    let mut events = provider.stream(question());
    assert_eq!(events.next().await, Some(Ok(ModelEvent::Text("one".into()))));
    drop(events);
    server.client_left(1).await;
}

#[tokio::test]
async fn the_idle_timeout_of_the_settings_is_used() {
    // Real sockets would race with the paused clock, so the stall happens before any data.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let provider =
        Provider::new(Config { idle_timeout: Duration::from_secs(5), ..config(&base) }, world())
            .unwrap();
    tokio::time::pause();
    let before = tokio::time::Instant::now();
    let error = answer(&provider).await.error.unwrap();
    assert!(error.message.contains("5 seconds"), "{error:?}");
    assert!(before.elapsed() >= Duration::from_secs(5));
    drop(listener);
}
