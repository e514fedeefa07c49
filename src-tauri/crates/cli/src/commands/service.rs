//! `csign service-level`: the speed of the last runs against the targets, their errors, and their
//! cost.

use contract::{Empty, LatencyClass, LatencyView};

use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::exact;

pub(crate) async fn run(link: &Link, out: Out) -> Result<Exit, Failure> {
    let view = link.commands.service_level(Empty {}).await?;
    if out.json {
        out.document(&view);
        return Ok(Exit::Done);
    }
    if view.runs == 0 {
        out.line("Nothing has been asked yet.");
    } else {
        let runs = if view.runs == 1 { "run".to_owned() } else { format!("{} runs", view.runs) };
        out.line(format!("The last {runs} (of at most {}):", view.window));
        for latency in &view.latencies {
            out.line(format!("  {}", line(out, latency)));
        }
    }
    for error in &view.errors {
        out.line(format!("  {} {}", error.runs, error.code.name()));
    }
    let spent = view.spent;
    out.line(format!(
        "Today: {} in {}, {:.4} USD.",
        count(spent.tokens, "token"),
        count(spent.calls, "model call"),
        spent.usd
    ));
    if spent.unpriced_calls > 0 {
        let (are, their) =
            if spent.unpriced_calls == 1 { ("isn't", "its") } else { ("aren't", "their") };
        out.line(format!(
            "{} {are} included because {their} model has no price.",
            count(spent.unpriced_calls, "call")
        ));
    }
    let prices = &view.prices;
    if !prices.model_priced {
        out.note(format!(
            "{} has no price: budgets in dollars cannot hold for it. Add a row to {}.",
            exact(&prices.model),
            exact(&prices.file)
        ));
    }
    if let Some(fault) = &prices.fault {
        out.note(format!("{} cannot be used: {}.", exact(&prices.file), exact(fault)));
    }
    Ok(Exit::Done)
}

fn line(out: Out, latency: &LatencyView) -> String {
    let class = match latency.class {
        LatencyClass::Simple => "simple    ",
        LatencyClass::WithTools => "with tools",
    };
    let seconds = |ms: u64| format!("{}.{:02} s", ms / 1_000, ms % 1_000 / 10);
    let head = format!("{class}  P{}", latency.percentile);
    match latency.measured_ms {
        Some(ms) => {
            let met = ms < latency.target_ms;
            let (word, tone) = if met { ("met", Tone::Good) } else { ("missed", Tone::Bad) };
            format!(
                "{head}  {}  target {}: {}  ({} runs)",
                seconds(ms),
                seconds(latency.target_ms),
                out.tone(tone, word),
                latency.runs
            )
        }
        None => format!("{head}  no such run yet  target {}", seconds(latency.target_ms)),
    }
}
