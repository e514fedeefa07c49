//! `csign service-level`: the speed of the last runs against the targets, their errors, and their
//! cost.

use contract::{Empty, LatencyClass, LatencyView, Spent};

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
        "Today: {} in {}, {}.",
        count(spent.tokens, "token"),
        count(spent.calls, "model call"),
        cost(&spent)
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

/// Returns the cost. A model without a price costs something, and never nothing.
fn cost(spent: &Spent) -> String {
    match (spent.usd > 0.0, spent.unpriced_calls > 0) {
        (false, true) => "cost unknown".to_owned(),
        (true, true) => format!("at least {:.4} USD", spent.usd),
        (_, false) => format!("{:.4} USD", spent.usd),
    }
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

#[cfg(test)]
mod tests {
    use contract::Spent;

    use super::cost;

    #[test]
    fn a_model_without_a_price_is_never_free() {
        let spent = |usd, unpriced_calls| Spent { usd, unpriced_calls, calls: 2, tokens: 9 };
        assert_eq!(cost(&spent(0.0, 2)), "cost unknown");
        assert_eq!(cost(&spent(0.5, 1)), "at least 0.5000 USD");
        assert_eq!(cost(&spent(0.5, 0)), "0.5000 USD");
        assert_eq!(cost(&spent(0.0, 0)), "0.0000 USD");
    }
}
