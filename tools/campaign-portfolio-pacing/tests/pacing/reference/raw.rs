//! Raw rows of a test account, and the figures of a campaign, line item or portfolio by plain
//! arithmetic. It must not use the service's calculations.

use std::{cell::OnceCell, collections::BTreeMap};

use campaign_portfolio_pacing::Pacing;
use chrono::NaiveDate;
use serde_json::Value;

use crate::with_rows;

/// At 12:00 in UTC, half of 18 November has passed.
pub(super) const NOW: &str = "2026-11-18T12:00:00Z";

/// The random number generator of the test.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        low + (self.0 >> 33) as i64 % (high - low + 1)
    }
}

#[derive(Clone)]
pub(super) struct Row {
    pub(super) campaign: usize,
    pub(super) item: usize,
    pub(super) day: NaiveDate,
    pub(super) spend: f64,
    pub(super) impressions: i64,
}

pub(super) struct Campaign {
    pub(super) budget: Option<f64>,
    pub(super) flight: Option<(NaiveDate, NaiveDate)>,
    pub(super) items: usize,
}

/// The raw data of one account.
pub(super) struct Raw {
    pub(super) campaigns: Vec<Campaign>,
    pub(super) rows: Vec<Row>,
    /// A service that has imported the rows.
    service: OnceCell<(tempfile::TempDir, Pacing)>,
}

pub(super) fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

pub(super) fn add(day: NaiveDate, days: i64) -> NaiveDate {
    day + chrono::TimeDelta::days(days)
}

pub(super) fn today() -> NaiveDate {
    day("2026-11-18")
}

/// Returns the number of days from `a` to `b`, including both.
pub(super) fn days(a: NaiveDate, b: NaiveDate) -> f64 {
    ((b - a).num_days() + 1) as f64
}

impl Raw {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let mut raw = Self { campaigns: Vec::new(), rows: Vec::new(), service: OnceCell::new() };
        for campaign in 0..7 {
            let start = add(day("2026-09-20"), dice.between(0, 65));
            let end = add(start, dice.between(5, 80));
            let flight = (dice.between(0, 9) > 0).then_some((start, end));
            let budget = (dice.between(0, 9) > 0).then(|| dice.between(500, 40_000) as f64);
            let items = dice.between(1, 3) as usize;
            let (first, last) = flight.unwrap_or((day("2026-10-01"), day("2026-12-31")));
            // Some flights begin early, and some continue.
            let (first, last) = (add(first, -dice.between(0, 1)), add(last, dice.between(0, 2)));
            let rate = dice.between(1_000, 60_000);
            for item in 0..items {
                let mut at = first;
                while at <= last.min(today()) {
                    if dice.between(0, 9) > 0 {
                        let cents = rate * dice.between(60, 140) / 100;
                        raw.rows.push(Row {
                            campaign,
                            item,
                            day: at,
                            spend: cents as f64 / 100.0,
                            impressions: cents * dice.between(1, 9),
                        });
                    }
                    at = add(at, 1);
                }
            }
            raw.campaigns.push(Campaign { budget, flight, items });
        }
        // The feed contains rows of today.
        raw.rows.push(Row { campaign: 0, item: 0, day: today(), spend: 12.5, impressions: 900 });
        let mut seen = BTreeMap::new();
        for row in raw.rows.drain(..) {
            seen.insert((row.campaign, row.item, row.day), row);
        }
        raw.rows = seen.into_values().collect();
        raw
    }

    /// Answers a question from the rows.
    pub(super) fn analyze(&self, args: &Value) -> Value {
        let (_, pacing) = self.service.get_or_init(|| self.import());
        pacing.analyze(args).unwrap()
    }

    /// Answers a call of another tool.
    pub(super) fn call(&self, tool: &str, args: &Value) -> Value {
        let (_, pacing) = self.service.get_or_init(|| self.import());
        pacing.call(tool, args).unwrap()
    }

    fn import(&self) -> (tempfile::TempDir, Pacing) {
        let mut campaigns = String::new();
        for (index, c) in self.campaigns.iter().enumerate() {
            let budget = c.budget.map(|b| b.to_string()).unwrap_or_default();
            let (start, end) =
                c.flight.map(|f| (f.0.to_string(), f.1.to_string())).unwrap_or_default();
            campaigns +=
                &format!("7,Adv,k{index},Campaign {index},{budget},{start},{end},UTC,EUR\n");
        }
        let mut delivery = String::new();
        for r in &self.rows {
            delivery += &format!(
                "7,Test,Adv,k{0},Campaign {0},k{0}-{1},Item {0}-{1},{2},,{3:.2},{4}\n",
                r.campaign, r.item, r.day, r.spend, r.impressions
            );
        }
        with_rows(NOW, &campaigns, &delivery)
    }

    pub(super) fn spent(&self, window: (NaiveDate, NaiveDate), is: impl Fn(&Row) -> bool) -> f64 {
        let inside = |r: &&Row| window.0 <= r.day && r.day <= window.1 && is(r);
        self.rows.iter().filter(inside).map(|r| r.spend).sum()
    }

    /// Returns the budget of a campaign in a window, and the days over which it is spread.
    pub(super) fn plan(&self, campaign: usize, window: (NaiveDate, NaiveDate)) -> Plan {
        let c = &self.campaigns[campaign];
        let Some((start, end)) = c.flight else {
            return Plan { budget: c.budget, span: window, is_in_flight: true };
        };
        let (from, to) = (start.max(window.0), end.min(window.1));
        if from > to {
            return Plan { budget: c.budget.map(|_| 0.0), span: window, is_in_flight: false };
        }
        let budget = c.budget.map(|b| b * days(from, to) / days(start, end));
        Plan { budget, span: (from, to), is_in_flight: true }
    }
}

pub(super) struct Plan {
    pub(super) budget: Option<f64>,
    pub(super) span: (NaiveDate, NaiveDate),
    pub(super) is_in_flight: bool,
}

/// The expected figures of one campaign, line item or portfolio.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) budget: Option<f64>,
    pub(super) spend: f64,
    pub(super) due: f64,
    pub(super) passed: f64,
    pub(super) left: f64,
    pub(super) projection: f64,
    pub(super) is_started: bool,
}

impl Expected {
    pub(super) fn of(budget: Option<f64>, span: (NaiveDate, NaiveDate), spend: f64) -> Self {
        let total = days(span.0, span.1);
        let passed = ((today() - span.0).num_days() as f64 + 0.5).clamp(0.0, total);
        let is_over = today() > span.1;
        let known = budget.unwrap_or(0.0);
        let projection = match passed > 0.0 {
            true => spend / passed * total,
            false => spend.max(known),
        };
        Self {
            budget,
            spend,
            due: known * passed / total,
            passed,
            left: if is_over { 0.0 } else { total - passed },
            projection,
            is_started: today() >= span.0,
        }
    }

    pub(super) fn status(&self) -> &'static str {
        if !self.is_started {
            return "NOT_STARTED";
        }
        if self.due <= 0.0 {
            return "NO_BASIS";
        }
        let off = 100.0 * (self.spend / self.due - 1.0);
        let remaining = self.budget.unwrap_or(0.0) - self.spend;
        let actual = if self.passed > 0.0 { self.spend / self.passed } else { 0.0 };
        let is_lost = match self.left > 0.0 {
            true => remaining / self.left >= 1.5 * actual,
            false => remaining > 0.0,
        };
        match off {
            _ if off >= 5.0 => "AHEAD",
            _ if off > -5.0 => "ON_TRACK",
            _ if is_lost => "AT_RISK",
            _ if off > -20.0 => "SLIGHTLY_BEHIND",
            _ => "BEHIND",
        }
    }

    /// Compares a row of the result with the expected figures.
    pub(super) fn check(&self, row: &Value, what: &str) {
        near(&row["spend"], Some(self.spend), what);
        near(&row["projected_spend"], Some(self.projection), what);
        near(&row["days_left"], Some(self.left), what);
        let with_budget = |value: f64| self.budget.map(|_| value);
        near(&row["planned_to_date"], with_budget(self.due), what);
        near(&row["variance"], with_budget(self.spend - self.due), what);
        near(&row["remaining"], self.budget.map(|b| b - self.spend), what);
        near(&row["at_stake"], self.budget.map(|b| self.projection - b), what);
        let required = (self.left > 0.0)
            .then(|| self.budget.map(|b| ((b - self.spend) / self.left).max(0.0)))
            .flatten();
        near(&row["required_daily_rate"], required, what);
        let actual = if self.passed > 0.0 { self.spend / self.passed } else { 0.0 };
        near(&row["actual_daily_rate"], Some(actual), what);
        let percent = self.budget.filter(|b| *b > 0.0).map(|b| 100.0 * self.projection / b);
        near(&row["projected_percentage"], percent, what);
        assert_eq!(row["pacing_status"], self.status(), "{what}: {self:?} {row}");
        let percent = (self.is_started && self.due > 0.0 && self.budget.is_some())
            .then(|| 100.0 * (self.spend / self.due - 1.0));
        near(&row["variance_percentage"], percent, what);
    }
}

pub(super) fn near(value: &Value, expected: Option<f64>, what: &str) {
    match expected {
        None => assert_eq!(value, &Value::Null, "{what}"),
        Some(expected) => {
            let found = value.as_f64().unwrap_or_else(|| panic!("{what}: {value} is no number"));
            assert!((found - expected).abs() < 0.0101, "{what}: {found} is not {expected}");
        }
    }
}
