//! Tables with delivery and plan: those of the worked examples in `docs/contracts/pacing.md`, and random
//! ones.

use chrono::{NaiveDate, NaiveDateTime};
use contract::{definitions::Definitions, metric_query::AsOf, sources::ColumnKind};
use proptest::prelude::*;

use crate::{
    Catalog, SourceModel, TableColumn, parse_definitions, propose_pacing,
    reference::{Cell, Number, Table},
};

const DELIVERY: &str = "
source: delivery
time: {column: Day}
dimensions:
  account: {column: Account}
  campaign: {column: Campaign}
  line_item: {column: Line}
measures:
  spend: {sum: Cost, unit: money, currency: EUR}
  impressions: {sum: Impressions}
";

const PLAN: &str = "
source: plan
time: {column: First}
spread: {until: Last, total: [Budget]}
dimensions:
  account: {column: Client}
  campaign: {column: Name}
measures:
  budget: {sum: Budget, unit: money, currency: EUR}
";

/// Random tables of delivery and plan.
#[derive(Clone, Debug)]
pub struct PacingCase {
    /// The tables, one for each source of the catalog.
    pub tables: Vec<Table>,
    /// The first and the last day that are asked about, as days of the sample.
    pub window: (Option<NaiveDate>, Option<NaiveDate>),
    /// The day that is not over.
    pub today: NaiveDate,
    /// Whether plans name accounts, too.
    pub names_accounts: bool,
}

/// Returns a day of the sample: day 1 is the first of October 2026.
fn day(number: i64) -> NaiveDate {
    let first = NaiveDate::from_ymd_opt(2026, 10, 1).unwrap_or(NaiveDate::MIN);
    first + chrono::TimeDelta::days(number - 1)
}

/// Returns the sources. `names_accounts` says whether plans name accounts, too.
pub fn pacing_catalog(names_accounts: bool) -> Option<Catalog> {
    use ColumnKind::{Day, Decimal, Text, Whole};
    let column = |name: &str, kind, scale| TableColumn {
        name: name.to_owned(),
        kind,
        scale,
        constant: None,
        is_float: false,
    };
    let delivery = vec![
        column("Day", Day, 0),
        column("Account", Text, 0),
        column("Campaign", Text, 0),
        column("Line", Text, 0),
        column("Cost", Decimal, 2),
        column("Impressions", Whole, 0),
    ];
    let plan = vec![
        column("Client", Text, 0),
        column("Name", Text, 0),
        column("First", Day, 0),
        column("Last", Day, 0),
        column("Budget", Decimal, 2),
    ];
    let read = |yaml: &str| -> Option<Definitions> { parse_definitions(yaml).ok() };
    let mut planned = read(PLAN)?;
    if !names_accounts {
        planned.dimensions.remove("account");
    }
    let delivery = SourceModel::new(read(DELIVERY)?, delivery);
    let plan = SourceModel::new(planned, plan);
    let pacing = propose_pacing(&"pacing".into(), &delivery, &plan)?;
    let mut catalog = Catalog { sources: vec![delivery, plan] };
    let pacing = SourceModel::computed(pacing, &catalog).ok()?;
    catalog.sources.push(pacing);
    Some(catalog)
}

/// Returns nine in the morning of a day in Stockholm.
pub fn pacing_as_of(day: NaiveDate) -> AsOf {
    let moment = day.and_hms_opt(9, 0, 0).unwrap_or(NaiveDateTime::MIN);
    AsOf { moment, zone: "Europe/Stockholm".to_owned() }
}

fn money(amount: i64) -> Cell {
    Cell::Number(Number { unscaled: i128::from(amount), scale: 2 })
}

fn delivered(day: NaiveDate, account: &str, campaign: &str, cents: i64) -> Vec<Cell> {
    let text = |text: &str| Cell::Text(text.to_owned());
    vec![
        Cell::Day(day),
        text(account),
        text(campaign),
        text("Line 1"),
        money(cents),
        Cell::Number(Number::whole(cents / 10)),
    ]
}

fn planned(account: &str, campaign: &str, days: (i64, i64), budget: i64) -> Vec<Cell> {
    let text = |text: &str| Cell::Text(text.to_owned());
    let (first, last) = (Cell::Day(day(days.0)), Cell::Day(day(days.1)));
    vec![text(account), text(campaign), first, last, money(budget * 100)]
}

/// Returns the tables of the worked examples. Day 32 is the first of November.
pub fn pacing_example() -> Vec<Table> {
    let mut delivery = Vec::new();
    let mut add = |account: &str, campaign: &str, days: (i64, i64), amount: i64| {
        for number in days.0..=days.1 {
            delivery.push(delivered(day(number), account, campaign, amount * 100));
        }
    };
    add("One", "Alder", (32, 41), 960);
    add("Two", "Birch", (32, 44), 1000);
    add("Two", "Birch", (45, 51), 400);
    add("Three", "Cedar", (32, 45), 700);
    add("Four", "Date", (1, 31), 100);
    add("Four", "Date", (32, 38), 195);
    add("Five", "Elm", (1, 30), 100);
    add("Five", "Elm", (31, 31), 20);
    add("Six", "Fir", (32, 38), 100);
    add("Six", "Gum", (32, 40), 50);
    let plan = vec![
        planned("One", "Alder", (32, 61), 30_000),
        planned("Two", "Birch", (32, 61), 30_000),
        planned("Three", "Cedar", (32, 59), 14_000),
        planned("Four", "Date", (1, 31), 3_100),
        planned("Four", "Date", (32, 61), 6_000),
        planned("Five", "Elm", (1, 31), 3_100),
        planned("Six", "Fir", (32, 51), 2_000),
    ];
    [delivery, plan, Vec::new()].into_iter().map(|rows| Table { rows }).collect()
}

fn name(names: &'static [&'static str]) -> impl Strategy<Value = Cell> {
    (0..names.len()).prop_map(move |at| match names[at] {
        "" => Cell::Empty,
        name => Cell::Text(name.to_owned()),
    })
}

/// Returns random tables of delivery and plan.
pub fn pacing_case() -> impl Strategy<Value = PacingCase> {
    let account = || name(&["North", "South", "South", ""]);
    let campaign = || name(&["a", "b", "c", "d", ""]);
    let amount =
        || (-200_i64..20_000).prop_map(|cents| if cents < 0 { Cell::Empty } else { money(cents) });
    let days =
        || (1_i64..50).prop_map(|at| if at == 49 { Cell::Empty } else { Cell::Day(day(at)) });
    let views = (0_i64..900).prop_map(|count| Cell::Number(Number::whole(count)));
    let row = (days(), account(), campaign(), name(&["x", "y"]), amount(), views);
    let delivery = prop::collection::vec(row, 0..60).prop_map(|rows| {
        let cells = |(day, account, campaign, line, cost, views)| {
            vec![day, account, campaign, line, cost, views]
        };
        Table { rows: rows.into_iter().map(cells).collect() }
    });
    let budget = (0_i64..40).prop_map(|amount| money(amount * 2_500));
    let row = (account(), campaign(), 1_i64..45, 0_i64..30, budget);
    let plan = prop::collection::vec(row, 0..6).prop_map(|rows| {
        let cells = |(account, campaign, first, length, budget)| {
            let last = Cell::Day(day(first + length));
            vec![account, campaign, Cell::Day(day(first)), last, budget]
        };
        Table { rows: rows.into_iter().map(cells).collect() }
    });
    let window = (prop::option::of(1_i64..30), prop::option::of(25_i64..60));
    (delivery, plan, window, 5_i64..60, any::<bool>()).prop_map(
        |(delivery, plan, (from, to), today, names_accounts)| PacingCase {
            tables: vec![delivery, plan, Table { rows: Vec::new() }],
            window: (from.map(day), to.map(day)),
            today: day(today),
            names_accounts,
        },
    )
}
