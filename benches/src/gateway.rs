//! Compares the shop's chat API with a bare loop that makes the same requests: turns per second,
//! latency, processor time, memory, first delta, start; many open streams, many turns, long
//! sessions. `csign serve` runs as in production, with its durable log.

pub(crate) mod bare;
mod load;
pub(crate) mod model;
mod shop;
mod sides;
mod wire;

use std::time::Duration;

use crate::measure::{Side, micros};
use crate::{Outcome, table};
use load::{Kind, Measurement};
use sides::{Program, Servers, Who};
use wire::Line;

/// The number of pieces of an answer.
const DELTAS: usize = 400;
const SEARCH: &str = "Which trail shoes do you have?";
const QUERY: &str = "trail shoes";
const PLAIN: &str = "What do you think of rain?";
/// A question with a slow answer.
const HOLD: &str = "Tell me slowly about rain.";
const HOLD_FOR: Duration = Duration::from_secs(8);
/// Sessions stay short, except where their length is measured.
const TURNS_PER_SESSION: usize = 10;
const PASSES: usize = 2;
/// The number of turns in one pass: `ALONE` with a single session, `TOGETHER` with many sessions.
const ALONE: usize = 150;
const TOGETHER: usize = 640;
const SESSIONS: usize = 32;
const STARTS: usize = 7;
const STREAMS: usize = 2_000;
/// The number of turns after which memory is measured. `BENCH_GATEWAY_TURNS` sets a larger number.
const MANY_TURNS: usize = 10_000;
/// The number of turns in each part of the long session.
const LONG: usize = 100;

pub(crate) async fn report() -> Outcome {
    let servers = Servers::start()?;
    let one = starts(&servers).await?;
    let (bare, ours) = (Who::Bare.start(&servers)?, Who::Ours.start(&servers)?);
    loads(&bare, &ours).await?;
    programs(&one, &bare, &ours)?;
    drop(bare);
    length(&ours).await?;
    drop(ours);
    many_turns(&servers).await?;
    streams(&servers).await
}

/// Measures the eight kinds of load.
async fn loads(bare: &Program, ours: &Program) -> Outcome {
    let mut rows = Vec::new();
    for (message, what) in [(PLAIN, "plain turn"), (SEARCH, "search turn")] {
        for (stream, how) in [(false, "JSON"), (true, "stream")] {
            for (sessions, turns) in [(1, ALONE), (SESSIONS, TOGETHER)] {
                let kind = Kind { message, stream };
                let title = format!("{what}, {how}, {sessions} at once");
                let sides = both(bare, ours, kind, sessions, turns).await?;
                let [bare, ours] = &sides;
                rows.push(row(&format!("{title}: bare loop"), bare));
                rows.push(row(&format!("{title}: csign serve"), ours));
                rows.push(ratios(bare, ours));
            }
        }
    }
    rows.push(["aim", "-", "1.50", "-", "1.30", "20 ms", "-"].map(str::to_owned).to_vec());
    let head = [
        "",
        "turns a second",
        "50 %",
        "95 %",
        "CPU for 1,000 turns",
        "first delta after the model's, 50 %",
        "95 %",
    ];
    table::print(&format!("The gateway, {DELTAS} deltas an answer, durable log"), &head, &rows);
    Ok(())
}

async fn both(
    bare: &Program,
    ours: &Program,
    kind: Kind,
    sessions: usize,
    turns: usize,
) -> Outcome<[Measurement; 2]> {
    let mut sides = [Measurement::default(), Measurement::default()];
    for pass in 0..PASSES {
        // The sides alternate, so that changes of the machine's load affect both.
        for (side, program) in sides.iter_mut().zip([bare, ours]) {
            let name = format!("{}-{}-{sessions}-{pass}", kind.message.len(), kind.stream);
            load::run(
                program.address(),
                kind,
                sessions,
                (turns / 10).max(sessions),
                &format!("warm-{name}"),
            )
            .await?;
            let before = program.cpu()?;
            let mut seen = load::run(program.address(), kind, sessions, turns, &name).await?;
            seen.turns.cpu_micros = micros(program.cpu()? - before);
            side.add(seen);
        }
    }
    Ok(sides)
}

fn row(name: &str, seen: &Measurement) -> Vec<String> {
    let first = |part| {
        if seen.first.micros.is_empty() {
            "-".to_owned()
        } else {
            table::time(seen.first.quantile(part))
        }
    };
    vec![
        name.to_owned(),
        format!("{:.0}", seen.rate()),
        table::time(seen.turns.median()),
        table::time(seen.turns.quantile(0.95)),
        table::time(seen.turns.cpu_each() * 1_000),
        first(0.5),
        first(0.95),
    ]
}

fn ratios(bare: &Measurement, ours: &Measurement) -> Vec<String> {
    vec![
        "ratio".to_owned(),
        format!("{:.2}", ours.rate() / bare.rate()),
        table::ratio(ours.turns.median(), bare.turns.median()),
        table::ratio(ours.turns.quantile(0.95), bare.turns.quantile(0.95)),
        table::ratio(ours.turns.cpu_each(), bare.turns.cpu_each()),
        "-".to_owned(),
        "-".to_owned(),
    ]
}

/// The memory before the first request, and the time until the first answer.
struct StartTimes {
    first_turn: [Side; 2],
    idle_kib: [u64; 2],
}

async fn starts(servers: &Servers) -> Outcome<StartTimes> {
    let kind = Kind { message: PLAIN, stream: false };
    let mut started =
        StartTimes { first_turn: [Side::default(), Side::default()], idle_kib: [0; 2] };
    for n in 0..=STARTS {
        for (at, who) in Who::BOTH.into_iter().enumerate() {
            let (program, took) =
                sides::start_to_first_turn(who, servers, kind, &format!("start-{n}")).await?;
            // The first start creates the files.
            if n > 0 {
                started.first_turn[at].micros.push(micros(took));
            }
            drop(program);
        }
    }
    for (at, who) in Who::BOTH.into_iter().enumerate() {
        let program = who.start(servers)?;
        tokio::time::sleep(Duration::from_secs(2)).await;
        started.idle_kib[at] = program.memory()?.0;
    }
    Ok(started)
}

fn programs(started: &StartTimes, bare: &Program, ours: &Program) -> Outcome {
    let row = |name: &str, at: usize, program: &Program| -> Outcome<Vec<String>> {
        let side = &started.first_turn[at];
        let times = [table::time(side.median()), table::time(side.quantile(0.95))];
        Ok([
            vec![name.to_owned()],
            times.to_vec(),
            vec![table::mib(started.idle_kib[at]), table::mib(program.memory()?.1)],
        ]
        .concat())
    };
    let aim = ["aim", "60 ms", "-", "40 MiB", "-"].map(str::to_owned).to_vec();
    let rows = [row(Who::Bare.name(), 0, bare)?, row(Who::Ours.name(), 1, ours)?, aim];
    let head = [
        "",
        "start to first turn, median",
        "95 %",
        "memory idle",
        "memory at most, after the loads",
    ];
    table::print(&format!("One process of each, {STARTS} starts"), &head, &rows);
    Ok(())
}

/// Measures the cost of a turn early and late in one session.
async fn length(ours: &Program) -> Outcome {
    let kind = Kind { message: PLAIN, stream: true };
    let mut line = Line::connect(ours.address()).await?;
    let (mut rows, mut first) = (Vec::new(), Duration::ZERO);
    for part in 0..3 {
        let (mut side, before) = (Side::default(), ours.cpu()?);
        for _ in 0..LONG {
            side.micros.push(micros(load::turn(&mut line, ours.address(), kind, "long").await?.0));
        }
        side.cpu_micros = micros(ours.cpu()? - before);
        if part == 0 {
            first = side.cpu_each();
        }
        let cells = [
            table::time(side.median()),
            table::time(side.cpu_each()),
            table::ratio(side.cpu_each(), first),
        ];
        rows.push(
            [vec![format!("turns {} to {}", part * LONG + 1, (part + 1) * LONG)], cells.to_vec()]
                .concat(),
        );
    }
    table::print(
        "A session that grows (plain turns, stream)",
        &["", "median", "CPU a turn", "ratio"],
        &rows,
    );
    Ok(())
}

/// Measures memory over very many turns.
async fn many_turns(servers: &Servers) -> Outcome {
    let turns: usize = std::env::var("BENCH_GATEWAY_TURNS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(MANY_TURNS);
    let ours = Who::Ours.start(servers)?;
    let kind = Kind { message: SEARCH, stream: false };
    let mut rows = Vec::new();
    for part in 0..5 {
        load::run(ours.address(), kind, SESSIONS, turns / 5, &format!("many-{part}")).await?;
        let (now, most) = ours.memory()?;
        rows.push(vec![format!("{}", turns / 5 * (part + 1)), table::mib(now), table::mib(most)]);
    }
    table::print(
        "Memory over many search turns (JSON, 32 at once)",
        &["turns so far", "memory now", "at most"],
        &rows,
    );
    Ok(())
}

/// Measures streams that are open at the same time.
async fn streams(servers: &Servers) -> Outcome {
    let ours = Who::Ours.start(servers)?;
    let kind = Kind { message: HOLD, stream: true };
    let asking: Vec<_> = (0..STREAMS)
        .map(|n| {
            let address = ours.address().to_owned();
            tokio::spawn(async move {
                let mut line = Line::connect(&address).await?;
                load::turn(&mut line, &address, kind, &format!("open-{n}")).await
            })
        })
        .collect();
    tokio::time::sleep(HOLD_FOR / 2).await;
    let (now, _) = ours.memory()?;
    let (mut whole, mut first) = (0_usize, Side::default());
    for one in asking {
        let (_, after) = one.await??;
        whole += 1;
        first.micros.extend(after.map(micros));
    }
    let cells = [
        format!("{whole}"),
        table::time(first.median()),
        table::time(first.quantile(0.95)),
        table::mib(now),
        table::mib(ours.memory()?.1),
    ];
    table::print(
        "Streams open at once on one process",
        &[
            "answered whole",
            "first delta after the model's, 50 %",
            "95 %",
            "memory meanwhile",
            "at most",
        ],
        &[cells.to_vec()],
    );
    Ok(())
}
