//! The app's side: a whole profile as `csign` opens it, with its store and its durable log, asked
//! repeatedly.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::{
    Commands, EventBody, MemoryAddParams, Push, SessionId, TurnStartParams, TurnStatus,
};
use host::{Host, Options};

use super::{QUESTION, TURNS_PER_SESSION, folder};
use crate::Outcome;
use crate::measure::{Side, cpu, micros, peak_kib};

const WARM_UP: usize = 5;

pub(crate) async fn run(url: &str, turns: usize, memories: usize) -> Outcome {
    let data = folder()?.join("data");
    std::fs::create_dir_all(&data)?;
    std::fs::write(
        data.join("countersign.toml"),
        // A single specialist is enabled, so that no routing call is made, as in the bare loop.
        format!(
            "welcomed = true\n[switches]\nagents_off = [\"guardian\", \"dispatcher\"]\n[model]\nprovider = \"openai_compatible\"\nbase_url = \"{url}\"\nmodel = \"scripted\"\n"
        ),
    )?;
    let host = open(&data).await?;
    for n in 0..memories {
        let text = format!("Note {n}: the trail shoes of list {n} sell best on day {}.", n % 28);
        let params = MemoryAddParams { text, session: None };
        host.memory_add(params).await.map_err(|error| error.message)?;
    }
    turn(&host, &mut None).await?;
    host.stop().await;
    // The next start can use the profile only after the host was dropped.
    drop(host);
    let stored = stored_bytes(&data)?;
    let host = open(&data).await?;
    let mut session = None;
    for _ in 0..WARM_UP {
        turn(&host, &mut session).await?;
    }
    let mut side = Side::default();
    let before = cpu();
    for n in 0..turns {
        if n % TURNS_PER_SESSION == 0 {
            session = None;
        }
        let start = Instant::now();
        turn(&host, &mut session).await?;
        side.micros.push(micros(start.elapsed()));
    }
    side.cpu_micros = micros(cpu() - before);
    side.peak_kib = peak_kib();
    host.stop().await;
    // The turns before the measurement are included, so the figure is a little too high.
    side.stored = stored_bytes(&data)?.saturating_sub(stored);
    println!("{}", serde_json::to_string(&side)?);
    Ok(())
}

async fn open(data: &Path) -> Outcome<Arc<Host>> {
    let options = Options {
        data_dir: Some(data.to_owned()),
        pack_code: shipped_packs::all(),
        warm_up: true,
        ..Options::default()
    };
    Ok(Host::open(options).await.map_err(|error| error.message)?)
}

/// Returns the size of the profile's databases, without their copies.
fn stored_bytes(data: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(data)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "db") {
            bytes += std::fs::metadata(path)?.len();
        }
    }
    Ok(bytes)
}

async fn turn(host: &Host, session: &mut Option<SessionId>) -> Outcome {
    let mut pushes = host.subscribe();
    let params = TurnStartParams {
        session: session.take(),
        text: QUESTION.to_owned(),
        model: None,
        agent: None,
        headless: true,
        replaces: None,
    };
    let started = host.turn_start(params).await.map_err(|error| error.message)?;
    *session = Some(started.session);
    loop {
        let push = match tokio::time::timeout(Duration::from_secs(30), pushes.recv()).await? {
            Ok(push) => push,
            Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        let Push::Turn { event } = push else { continue };
        if event.turn != started.turn {
            continue;
        }
        if let EventBody::Final { status, error, usage, .. } = event.event {
            // The comparison with the bare loop is valid only if both made the same requests.
            return match (status, usage.model_calls) {
                (TurnStatus::Ok, 2) => Ok(()),
                (_, calls) => Err(format!(
                    "the turn ended as {status:?} after {calls} model calls: {error:?}"
                )
                .into()),
            };
        }
    }
}
