//! Measures the cost of Countersign as a ratio to the simplest way of doing the same, on the same
//! machine in the same run. `bench` prints all tables, `bench
//! turn|gateway|ask|audit|render|stream|provider|window|memory|data` one of them. No result is
//! asserted, because the numbers depend on the machine.

mod ask;
mod data;
mod gateway;
mod log;
mod measure;
mod memory;
mod provider;
mod stream;
mod table;
mod text;
mod turn;
mod window;

use std::error::Error;
use std::process::ExitCode;

/// An error that ends a measurement.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const USAGE: &str =
    "usage: bench [turn|gateway|ask|audit|render|stream|provider|window|memory|data]";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &[&str]) -> Outcome {
    match arguments {
        // Processes of the turn's measurement. Each side runs in a process of its own, so that its
        // processor time can be measured.
        ["serve"] => return turn::serve().await,
        // The bare loop runs on a thread of the runtime, with its connections: on the main thread,
        // every piece would cost a thread switch.
        ["bare", url, turns] => {
            let (url, turns) = ((*url).to_owned(), turns.parse()?);
            return tokio::spawn(async move { turn::bare::run(&url, turns).await }).await?;
        }
        ["engine", url, turns] => return turn::engine::run(url, turns.parse()?, 0).await,
        ["remembering", url, turns] => {
            return turn::engine::run(url, turns.parse()?, turn::MEMORIES).await;
        }
        ["gateway-model"] => return gateway::model::serve().await,
        ["gateway-bare", model, shop] => return gateway::bare::run(model, shop).await,
        ["provider-serve"] => return provider::serve().await,
        ["provider-side", side, url, way] => return provider::side(side, url, way).await,
        _ => {}
    }
    let all = arguments.is_empty();
    let wanted = |name: &str| all || arguments.contains(&name);
    if arguments.iter().any(|name| {
        ![
            "turn", "gateway", "ask", "audit", "render", "stream", "provider", "window", "memory",
            "data",
        ]
        .contains(name)
    }) {
        return Err(USAGE.into());
    }
    table::machine();
    if wanted("turn") {
        turn::report().await?;
    }
    if wanted("gateway") {
        gateway::report().await?;
    }
    if wanted("ask") {
        ask::report()?;
    }
    if wanted("stream") {
        stream::report().await?;
    }
    if wanted("provider") {
        provider::report().await?;
    }
    if wanted("render") {
        text::report();
    }
    if wanted("window") {
        window::report().await?;
    }
    if wanted("memory") {
        memory::report().await?;
    }
    if wanted("data") {
        tokio::task::spawn_blocking(data::report).await??;
    }
    if wanted("audit") {
        log::report().await?;
    }
    Ok(())
}
