//! The arithmetic of pacing: compares spend with budget over a window of days, in exact fractions.
//! Reads no data and rounds nothing.

use chrono::NaiveDate;
use contract::{AgentError, text};
use serde_json::{Map, Value};

use crate::{
    money::Ratio,
    time::{LocalNow, count_days},
};

/// The limits between the pacing statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// The difference from the planned spend up to which the status is "on track", in hundredths of
    /// a percent.
    pub on_track: i64,
    /// The shortfall below the planned spend from which the status is "behind", in hundredths of a
    /// percent.
    pub behind: i64,
    /// The ratio of required to actual rate from which the status is "at risk", in hundredths.
    pub at_risk: i64,
    /// The ratio of projection to budget above which overspend is likely, in hundredths.
    pub overspend: i64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { on_track: 500, behind: 2_000, at_risk: 150, overspend: 105 }
    }
}

impl Thresholds {
    /// Reads the pack's settings (`on_track_percent`, `behind_percent`, `at_risk_factor`,
    /// `overspend_factor`); missing ones get defaults. The error for an invalid value names the
    /// setting.
    pub fn from_settings(settings: &Map<String, Value>) -> Result<Self, AgentError> {
        let hundredths = |name: &str, (least, most): (f64, f64), default: i64| {
            let Some(value) = settings.get(name) else { return Ok(default) };
            #[expect(clippy::cast_possible_truncation, reason = "bounded just above")]
            let whole = |v: f64| (v * 100.0).round() as i64;
            value.as_f64().filter(|v| (least..=most).contains(v)).map(whole).ok_or_else(|| {
                let error = AgentError::invalid(text!(
                    "{name} must be a number from {least} to {most}.",
                    name,
                    least,
                    most
                ));
                error
                    .with("field", name)
                    .with("min", least)
                    .with("max", most)
                    .reason("setting_out_of_range")
            })
        };
        let default = Self::default();
        let limits = Self {
            on_track: hundredths("on_track_percent", (0.0, 100.0), default.on_track)?,
            behind: hundredths("behind_percent", (0.0, 100.0), default.behind)?,
            at_risk: hundredths("at_risk_factor", (1.0, 100.0), default.at_risk)?,
            overspend: hundredths("overspend_factor", (1.0, 100.0), default.overspend)?,
        };
        if limits.behind < limits.on_track {
            let error = AgentError::invalid("behind_percent must not be below on_track_percent.");
            return Err(error.with("field", "behind_percent").reason("setting_below_another"));
        }
        Ok(limits)
    }
}

/// The status of a portfolio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ahead,
    OnTrack,
    SlightlyBehind,
    Behind,
    AtRisk,
    NotStarted,
    NoBasis,
}

impl Status {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Ahead => "AHEAD",
            Self::OnTrack => "ON_TRACK",
            Self::SlightlyBehind => "SLIGHTLY_BEHIND",
            Self::Behind => "BEHIND",
            Self::AtRisk => "AT_RISK",
            Self::NotStarted => "NOT_STARTED",
            Self::NoBasis => "NO_BASIS",
        }
    }

    /// Returns the status as text, which is shown together with the colour.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Ahead => "Ahead",
            Self::OnTrack => "On track",
            Self::SlightlyBehind => "Slightly behind",
            Self::Behind => "Behind",
            Self::AtRisk => "At risk",
            Self::NotStarted => "Not started",
            Self::NoBasis => "No basis",
        }
    }
}

/// A range of days, including both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: NaiveDate,
    pub(crate) end: NaiveDate,
}

impl Window {
    pub(crate) fn days(self) -> i64 {
        count_days(self.start, self.end)
    }

    pub(crate) fn contains(self, day: NaiveDate) -> bool {
        self.start <= day && day <= self.end
    }
}

/// The inputs of the calculation. Amounts are in micro-units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) spend: i64,
    /// The budget; 0 if it is unknown.
    pub(crate) budget: i64,
    /// The days over which the budget is spread.
    pub(crate) window: Window,
    /// The planned spend and the projection of several campaigns together. None if the budget is
    /// spread evenly and the spend continues at the current rate.
    pub(crate) sums: Option<Sums>,
    /// The last day with data, not after today.
    pub(crate) last: Option<NaiveDate>,
}

/// Figures that are sums over campaigns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    pub(crate) due: Ratio,
    pub(crate) projection: Ratio,
}

/// The results of the calculation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) spend: Ratio,
    pub(crate) total_days: i64,
    /// The number of elapsed days. The current day is included in part.
    pub(crate) elapsed: Ratio,
    /// The number of days from the last data to the end of the window; 0 if the window is over.
    pub(crate) left: Ratio,
    pub(crate) target: Ratio,
    pub(crate) due: Ratio,
    pub(crate) actual: Ratio,
    pub(crate) projection: Ratio,
    pub(crate) required: Option<Ratio>,
    pub(crate) variance: Ratio,
    /// The difference between spend and planned spend, in percent of the planned spend.
    pub(crate) variance_percent: Ratio,
    pub(crate) status: Status,
    pub(crate) overspend_risk: bool,
    /// Whether the window is over, so that the figures will not change.
    pub(crate) ended: bool,
}

/// Computes the pace.
pub(crate) fn pace(facts: &Facts, now: &LocalNow, limits: &Thresholds) -> Pace {
    let Facts { window, .. } = *facts;
    let (spend, budget) = (i128::from(facts.spend), i128::from(facts.budget));
    let total = i128::from(window.days());
    let elapsed = elapsed(window, facts.last, now);
    let ended = now.today > window.end;
    let due = facts
        .sums
        .map_or_else(|| Ratio::new(budget * elapsed.num, total * elapsed.den), |sums| sums.due);
    let variance = Ratio::new(spend * due.den - due.num, due.den);
    let actual = Ratio::new(spend * elapsed.den, elapsed.num);
    let projection = facts
        .sums
        .map_or_else(|| projection(spend, budget, total, elapsed, ended), |sums| sums.projection);
    let left = days_left(window, elapsed, ended);
    let remaining = budget - spend;
    let required = (left.num > 0).then(|| Ratio::new(remaining * left.den, left.num));
    let variance_percent = Ratio::new(100 * variance.num, due.num);
    let status = if now.today < window.start {
        Status::NotStarted
    } else if due.num == 0 {
        Status::NoBasis
    } else {
        let status = by_variance(variance.num, due.num, limits);
        at_risk_if_out_of_reach(status, required, actual, remaining, limits)
    };
    let overspend_risk =
        budget > 0 && 100 * projection.num > i128::from(limits.overspend) * budget * projection.den;
    Pace {
        spend: Ratio::new(spend, 1),
        total_days: window.days(),
        elapsed,
        left,
        target: Ratio::new(budget, total),
        due,
        actual,
        projection,
        required,
        variance,
        variance_percent,
        status,
        overspend_risk,
        ended,
    }
}

/// Returns the elapsed days within the window: whole days up to the last day with data, and a part
/// of today.
fn elapsed(window: Window, last: Option<NaiveDate>, now: &LocalNow) -> Ratio {
    let (length, total) = (i128::from(now.length), i128::from(window.days()));
    let Some(last) = last.filter(|l| *l >= window.start && now.today >= window.start) else {
        return Ratio::new(0, length);
    };
    let last = last.min(window.end);
    let seconds = if last == now.today {
        i128::from((last - window.start).num_days()) * length + i128::from(now.elapsed)
    } else {
        i128::from(count_days(window.start, last)) * length
    };
    Ratio::new(seconds.clamp(0, total * length), length)
}

fn days_left(window: Window, elapsed: Ratio, ended: bool) -> Ratio {
    let rest = i128::from(window.days()) * elapsed.den - elapsed.num;
    Ratio::new(if ended { 0 } else { rest.max(0) }, elapsed.den)
}

/// Returns the spend at the end of the window at the current rate. Before the first elapsed day no
/// rate is known, so the spend is projected as planned.
fn projection(spend: i128, budget: i128, total: i128, elapsed: Ratio, ended: bool) -> Ratio {
    if elapsed.num > 0 {
        Ratio::new(spend * total * elapsed.den, elapsed.num)
    } else {
        Ratio::new(if ended { spend } else { spend.max(budget) }, 1)
    }
}

/// Returns the status from the spend against a plan, which must be positive, and from the rate that
/// is required for the rest.
pub(crate) fn planned_status(
    spend: Ratio,
    plan: i128,
    required: Option<Ratio>,
    rate: Ratio,
    remaining: i128,
    limits: &Thresholds,
) -> Status {
    let status = by_variance(spend.num - plan * spend.den, plan * spend.den, limits);
    at_risk_if_out_of_reach(status, required, rate, remaining, limits)
}

fn at_risk_if_out_of_reach(
    status: Status,
    required: Option<Ratio>,
    rate: Ratio,
    remaining: i128,
    limits: &Thresholds,
) -> Status {
    let late = matches!(status, Status::SlightlyBehind | Status::Behind);
    if late && out_of_reach(required, rate, remaining, limits) { Status::AtRisk } else { status }
}

/// Returns the status for a difference between actual and planned spend. The planned spend must be
/// positive.
fn by_variance(variance: i128, due: i128, limits: &Thresholds) -> Status {
    let scaled = 10_000 * variance;
    let (on_track, behind) = (i128::from(limits.on_track) * due, i128::from(limits.behind) * due);
    if scaled >= on_track {
        Status::Ahead
    } else if scaled > -on_track {
        Status::OnTrack
    } else if scaled > -behind {
        Status::SlightlyBehind
    } else {
        Status::Behind
    }
}

/// Whether the required rate is far above the actual rate, or no time is left for the remaining
/// budget.
fn out_of_reach(
    required: Option<Ratio>,
    actual: Ratio,
    remaining: i128,
    limits: &Thresholds,
) -> bool {
    match required {
        None => remaining > 0,
        Some(required) => {
            100 * required.num * actual.den
                >= i128::from(limits.at_risk) * actual.num * required.den
        }
    }
}

/// Returns the status of one full day against the daily target. None without a target.
pub(crate) fn day_status(spend: i64, target: Ratio, limits: &Thresholds) -> Option<Status> {
    (target.num > 0)
        .then(|| by_variance(i128::from(spend) * target.den - target.num, target.num, limits))
}
