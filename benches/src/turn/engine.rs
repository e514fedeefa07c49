//! The app's side: a whole profile as `csign` opens it, with its store and its durable log, asked
//! repeatedly.

use std::time::{Duration, Instant};

use contract::{Commands, EventBody, Push, SessionId, TurnStartParams, TurnStatus};
use host::{Host, Options};

use super::{QUESTION, TURNS_PER_SESSION, folder};
use crate::Outcome;
use crate::measure::{Side, cpu, micros, peak_kib};

const WARM_UP: usize = 5;

pub(crate) async fn run(url: &str, turns: usize) -> Outcome {
    let data = folder()?.join("data");
    std::fs::create_dir_all(&data)?;
    std::fs::write(
        data.join("countersign.toml"),
        // One specialist, so that no routing call is made, as in the bare loop.
        format!(
            "welcomed = true\n[switches]\nagents_off = [\"guardian\", \"dispatcher\"]\n[model]\nprovider = \"openai_compatible\"\nbase_url = \"{url}\"\nmodel = \"scripted\"\n"
        ),
    )?;
    let host = Host::open(Options {
        data_dir: Some(data),
        pack_code: shipped_packs::all(),
        warm_up: true,
        ..Options::default()
    })
    .await
    .map_err(|error| error.message)?;
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
    println!("{}", serde_json::to_string(&side)?);
    Ok(())
}

async fn turn(host: &Host, session: &mut Option<SessionId>) -> Outcome {
    let mut pushes = host.subscribe();
    let params = TurnStartParams {
        session: session.take(),
        text: QUESTION.to_owned(),
        model: None,
        agent: None,
        headless: true,
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
