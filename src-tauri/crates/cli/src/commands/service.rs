//! `csign service-level`: the speed of the last runs against the targets, their errors, and their
//! cost.

use contract::{Empty, LatencyClass, LatencyView};

use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::escape_invisible;

pub(crate) async fn run(link: &Link, out: Out) -> Result<Exit, Failure> {
    let view = link.commands.service_level(Empty {}).await?;
    if out.json {
        out.print_json(&view);
        return Ok(Exit::Done);
    }
    if view.runs == 0 {
        out.print_line("Nothing has been asked yet.");
    } else {
        let runs = if view.runs == 1 { "run".to_owned() } else { format!("{} runs", view.runs) };
        out.print_line(format!("The last {runs} (of at most {}):", view.window));
        for latency in &view.latencies {
            out.print_line(format!("  {}", latency_line(out, latency)));
        }
    }
    for error in &view.errors {
        out.print_line(format!("  {} {}", error.runs, error.code.name()));
    }
    let spent = view.spent;
    out.print_line(format!(
        "Today: {} in {}, {:.4} USD.",
        count(spent.tokens, "token"),
        count(spent.calls, "model call"),
        spent.usd
    ));
    if spent.unpriced_calls > 0 {
        let (are, their) =
            if spent.unpriced_calls == 1 { ("isn't", "its") } else { ("aren't", "their") };
        out.print_line(format!(
            "{} {are} included because {their} model has no price.",
            count(spent.unpriced_calls, "call")
        ));
    }
    let prices = &view.prices;
    if !prices.model_priced {
        out.print_note(format!(
            "{} has no price: budgets in dollars cannot hold for it. Add a row to {}.",
            escape_invisible(&prices.model),
            escape_invisible(&prices.file)
        ));
    }
    if let Some(fault) = &prices.fault {
        out.print_note(format!(
            "{} cannot be used: {}.",
            escape_invisible(&prices.file),
            escape_invisible(fault)
        ));
    }
    Ok(Exit::Done)
}

fn latency_line(out: Out, latency: &LatencyView) -> String {
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
                out.colour_text(tone, word),
                latency.runs
            )
        }
        None => format!("{head}  no such run yet  target {}", seconds(latency.target_ms)),
    }
}
