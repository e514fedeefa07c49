//! Parses the tool's arguments strictly, and reports all faults at once. Missing values are filled
//! in later, when the account and its time zone are known.

use chrono::NaiveDate;
use contract::{AgentError, Text, text};
use serde_json::{Map, Value, json};

use crate::{
    money::MICROS,
    pace::Window,
    report::Assumptions,
    time::{LocalNow, after, inclusive},
};

/// Days of a window if its start or end is missing.
pub(crate) const DEFAULT_DAYS: i64 = 30;
/// The most days of a window.
const MAX_DAYS: i64 = 366;
/// The largest budget: a billion units.
const MAX_BUDGET: f64 = 1e9;

/// The arguments as given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) account: Option<String>,
    pub(crate) advertiser: Option<String>,
    pub(crate) start: Option<NaiveDate>,
    pub(crate) end: Option<NaiveDate>,
    pub(crate) budget: Option<i64>,
}

/// Parses the arguments. Text such as "none" for an optional argument counts as absent, because
/// models write it.
pub(crate) fn read(value: &Value) -> Result<Args, AgentError> {
    let empty = Map::new();
    let members = match value {
        Value::Object(members) => members,
        Value::Null => &empty,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(
                AgentError::invalid("The arguments must be an object.").reason("invalid_arguments")
            );
        }
    };
    let mut reader = Reader { members, faults: Vec::new() };
    let args = Args {
        account: reader.text("account_id"),
        advertiser: reader.text("advertiser_filter"),
        start: reader.date("campaign_start"),
        end: reader.date("campaign_end"),
        budget: reader.budget(),
    };
    for name in members.keys() {
        if !["account_id", "advertiser_filter", "campaign_start", "campaign_end", "campaign_budget"]
            .contains(&name.as_str())
        {
            reader.fault(name, "there is no such argument");
        }
    }
    if let (Some(start), Some(end)) = (args.start, args.end) {
        if start > end {
            reader.fault("campaign_start", "it is after campaign_end");
        } else if inclusive(start, end) > MAX_DAYS {
            reader.fault("campaign_end", "the window is longer than 366 days");
        }
    }
    reader.finish(args)
}

struct Reader<'a> {
    members: &'a Map<String, Value>,
    faults: Vec<(String, Text)>,
}

impl Reader<'_> {
    fn fault(&mut self, name: &str, problem: impl Into<Text>) {
        self.faults.push((name.to_owned(), problem.into()));
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.members.get(name)? {
            Value::Null => None,
            Value::String(text) => {
                let text = text.trim();
                let absent = text.is_empty()
                    || ["none", "null"].iter().any(|w| text.eq_ignore_ascii_case(w));
                (!absent).then(|| text.to_owned())
            }
            Value::Number(number) if number.is_u64() => Some(number.to_string()),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                self.fault(name, "it must be text");
                None
            }
        }
    }

    fn date(&mut self, name: &str) -> Option<NaiveDate> {
        let text = self.text(name)?;
        let date =
            (text.len() == 10).then(|| NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok()).flatten();
        if date.is_none() {
            self.fault(
                name,
                text!(
                    "`{text}` is not a day of the form 2026-11-30",
                    text = text.chars().take(40).collect::<String>()
                ),
            );
        }
        date
    }

    fn budget(&mut self) -> Option<i64> {
        const NAME: &str = "campaign_budget";
        let value = self.members.get(NAME)?;
        let number = match value {
            Value::Null => return None,
            Value::Number(number) => number.as_f64(),
            Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        };
        match number {
            Some(n) if n > 0.0 && n <= MAX_BUDGET => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_precision_loss,
                    reason = "bounded just above"
                )]
                let micros = (n * MICROS as f64).round() as i64;
                Some(micros.max(1))
            }
            Some(n) if n > MAX_BUDGET => {
                self.fault(NAME, "it is larger than a billion");
                None
            }
            Some(_) => {
                self.fault(NAME, "it must be more than 0");
                None
            }
            None => {
                self.fault(NAME, "it must be a number");
                None
            }
        }
    }

    fn finish(self, args: Args) -> Result<Args, AgentError> {
        let Some((name, problem)) = self.faults.first() else { return Ok(args) };
        let validation: Vec<Value> = self
            .faults
            .iter()
            .map(|(n, p)| json!({"path": format!("/{n}"), "problem": p.as_str()}))
            .collect();
        Err(AgentError::invalid(text!("The argument {name} does not fit: {problem}.", name, problem))
            .reason("invalid_arguments")
            .with("validation", validation)
            .hint("Give days as YYYY-MM-DD, the first not after the last and at most 366 days apart, and a budget above 0 or none."))
    }
}

/// Returns the window: the given days, and thirty days for missing ones.
pub(crate) fn window(args: &Args, now: &LocalNow, assumptions: &mut Assumptions) -> Window {
    let (start, end, rolling) = match (args.start, args.end) {
        (Some(start), Some(end)) => (start, end, false),
        (Some(start), None) => {
            let end = after(start, DEFAULT_DAYS - 1);
            assumptions.add(
                "end_derived",
                end.to_string(),
                text!(
                    "No end was given: {days} days from the start, to {end}.",
                    days = DEFAULT_DAYS,
                    end
                ),
            );
            (start, end, false)
        }
        (None, Some(end)) => {
            let start = after(end, 1 - DEFAULT_DAYS);
            assumptions.add(
                "start_derived",
                start.to_string(),
                text!(
                    "No start was given: {days} days up to the end, from {start}.",
                    days = DEFAULT_DAYS,
                    start
                ),
            );
            (start, end, false)
        }
        (None, None) => {
            let start = after(now.today, 1 - DEFAULT_DAYS);
            let text = text!(
                "No dates were given: the last {days} days, {start} to {end}.",
                days = DEFAULT_DAYS,
                start,
                end = now.today
            );
            assumptions.add("window_rolling", format!("{start}/{}", now.today), text);
            (start, now.today, true)
        }
    };
    Window { start, end, rolling }
}
