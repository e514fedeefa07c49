//! The clients: a number of parallel sessions, each with its own connection, turn after turn. Every
//! answer is checked, so that no side is fast because it leaves something out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::model::{DIGITS, SENT_AT};
use super::wire::{Line, find, now};
use super::{DELTAS, SEARCH, TURNS_PER_SESSION};
use crate::Outcome;
use crate::measure::{Side, micros};

/// The question, and whether the answer is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) message: &'static str,
    pub(super) stream: bool,
}

/// The durations of turns, and the time that all of them took.
#[derive(Clone, Debug, Default)]
pub(super) struct Measurement {
    pub(super) turns: Side,
    /// Microseconds from the model's first delta until the client gets its first one.
    pub(super) first: Side,
    pub(super) wall: Duration,
}

impl Measurement {
    pub(super) fn add(&mut self, other: Measurement) {
        self.turns.add(other.turns);
        self.first.add(other.first);
        self.wall += other.wall;
    }

    /// Returns the turns per second.
    pub(super) fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a number of turns")]
        let turns = self.turns.micros.len() as f64;
        turns / self.wall.as_secs_f64().max(f64::EPSILON)
    }
}

/// Runs `turns` turns, distributed over all sessions.
pub(super) async fn run(
    address: &str,
    kind: Kind,
    sessions: usize,
    turns: usize,
    name: &str,
) -> Outcome<Measurement> {
    let next = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let asking: Vec<_> = (0..sessions)
        .map(|session| {
            let (address, next, name) =
                (address.to_owned(), Arc::clone(&next), format!("{name}-{session}"));
            tokio::spawn(async move { one_session(&address, kind, &name, &next, turns).await })
        })
        .collect();
    let mut seen = Measurement::default();
    for one in asking {
        seen.add(one.await??);
    }
    seen.wall = start.elapsed();
    Ok(seen)
}

async fn one_session(
    address: &str,
    kind: Kind,
    name: &str,
    next: &AtomicUsize,
    turns: usize,
) -> Outcome<Measurement> {
    let mut line = Line::connect(address).await?;
    let mut seen = Measurement::default();
    for n in 0.. {
        if next.fetch_add(1, Ordering::Relaxed) >= turns {
            break;
        }
        let (took, first) =
            turn(&mut line, address, kind, &format!("{name}-{}", n / TURNS_PER_SESSION)).await?;
        seen.turns.micros.push(micros(took));
        seen.first.micros.extend(first.map(micros));
    }
    Ok(seen)
}

/// Runs one turn. Returns its duration, and the time from the model's first delta until the client
/// gets its first one.
pub(super) async fn turn(
    line: &mut Line,
    address: &str,
    kind: Kind,
    session: &str,
) -> Outcome<(Duration, Option<Duration>)> {
    let start = Instant::now();
    ask(line, address, kind, session).await?;
    let head = line.head().await?.ok_or("the server hung up")?;
    let mut first = None;
    let body = line
        .body(&head, |so_far| first = first.or_else(|| since_sent(so_far).filter(|_| kind.stream)))
        .await?;
    let took = start.elapsed();
    check_answer(&head.first, &body, kind)?;
    Ok((took, first))
}

pub(super) async fn ask(line: &mut Line, address: &str, kind: Kind, session: &str) -> Outcome {
    let path = if kind.stream { "/v1/chat/stream" } else { "/v1/chat" };
    let context = json!({"cultureCode": "en-GB", "currencyCode": "SEK"});
    let body = json!({"applicationId": "bench", "sessionId": session, "message": kind.message, "context": context}).to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    line.write(format!("{head}{body}").as_bytes()).await
}

/// Checks that the answer is complete: the last word, the end, and no failure.
pub(super) fn check_answer(status: &str, body: &[u8], kind: Kind) -> Outcome {
    let last = format!("word{}", DELTAS - 1);
    let ended = !kind.stream || find(body, b"event: final").is_some();
    // A search that the shop refused would be fast, so the answer must contain cards.
    let found = kind.message != SEARCH || find(body, b"\"cards\":[{").is_some();
    if status.contains(" 200 ")
        && ended
        && found
        && find(body, last.as_bytes()).is_some()
        && find(body, b"\"error\":{").is_none()
    {
        return Ok(());
    }
    let text: String = String::from_utf8_lossy(body).chars().take(600).collect();
    Err(format!("not the whole answer ({status}): {text}").into())
}

fn since_sent(so_far: &[u8]) -> Option<Duration> {
    let at = find(so_far, SENT_AT.as_bytes())? + SENT_AT.len();
    let sent: u64 = std::str::from_utf8(so_far.get(at..at + DIGITS)?).ok()?.parse().ok()?;
    Some(Duration::from_nanos(now().saturating_sub(sent)))
}
