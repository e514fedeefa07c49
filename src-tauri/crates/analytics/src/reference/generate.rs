//! Random tables with a random query over them, for property tests.

use chrono::NaiveDate;
use contract::metric_query::MetricQuery;
use proptest::prelude::*;

use super::{Cell, Number, Table, catalog::CALENDARS, queries::query};

/// Tables and a query over them.
#[derive(Clone, Debug)]
pub struct Case {
    /// The tables, one for each source of the catalog.
    pub tables: Vec<Table>,
    /// The query as it is written. It may be one that is refused.
    pub query: MetricQuery,
    /// The place of the catalog among `catalogs`.
    pub catalog: usize,
}

/// Returns random tables with a random query.
pub fn case() -> impl Strategy<Value = Case> {
    let dice = prop::collection::vec(any::<u16>(), 96);
    let parts = (tables(), dice, 0..CALENDARS.len());
    parts.prop_map(|(tables, dice, catalog)| Case { tables, query: query(dice), catalog })
}

fn text(values: &'static [&'static str]) -> impl Strategy<Value = Cell> {
    (0..=values.len()).prop_map(move |at| match values.get(at) {
        Some(value) => Cell::Text((*value).to_owned()),
        None => Cell::Empty,
    })
}

fn day() -> impl Strategy<Value = Cell> {
    let first = NaiveDate::from_ymd_opt(2025, 12, 20).unwrap_or(NaiveDate::MIN);
    (0..90_i64).prop_map(move |days| match days {
        89 => Cell::Empty,
        days => Cell::Day(first + chrono::TimeDelta::days(days)),
    })
}

fn number(scale: u8, most: i64) -> impl Strategy<Value = Cell> {
    (-most / 10..most).prop_map(move |number| {
        if number % 11 == 0 {
            return Cell::Empty;
        }
        Cell::Number(Number { unscaled: i128::from(number), scale })
    })
}

fn tables() -> impl Strategy<Value = Vec<Table>> {
    let ads = (
        day(),
        text(&["Alpha brand", "beta_x", "gamma_y_z", "Brand_x", "a'b\"c"]),
        text(&["1", "2", "3", "4"]),
        text(&["Mobile", "Desktop", "\u{e5}ngstr\u{f6}m"]),
        text(&["EUR", "USD"]),
        number(2, 100_000),
        number(0, 200),
        number(3, 9_000),
        number(2, 50_000),
        prop_oneof![Just(Cell::Flag(true)), Just(Cell::Flag(false)), Just(Cell::Empty)],
    );
    let ads = ads.prop_map(|(a, b, c, d, e, f, g, h, i, j)| vec![a, b, c, d, e, f, g, h, i, j]);
    let budgets = (text(&["1", "2", "5"]), day(), number(2, 90_000));
    let budgets = budgets.prop_map(|(a, b, c)| vec![a, b, c]);
    let fx = (day(), text(&["USD", "SEK"]), Just(Cell::Text("EUR".to_owned())), 1..30_000_i64);
    let fx = fx.prop_map(|(day, from, to, rate)| {
        let number = Number { unscaled: i128::from(rate), scale: 4 };
        let rate = if rate % 9 == 0 { Cell::Empty } else { Cell::Number(number) };
        vec![day, from, to, rate]
    });
    let at = (day(), 0..24_u32).prop_map(|(day, hour)| match day {
        Cell::Day(day) => day.and_hms_opt(hour, 30, 0).map_or(Cell::Empty, Cell::Moment),
        other => other,
    });
    let orders = (at, text(&["x", "y", "z"]), text(&["web", "app"]), number(2, 10_000));
    let orders = orders.prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    let clients = (text(&["1", "2", "3"]), text(&["North", "South"]), number(0, 50));
    let clients = clients.prop_map(|(a, b, c)| vec![a, b, c]);
    let plan = (text(&["1", "2", "5"]), day(), -3..40_i64, number(2, 90_000), number(2, 900));
    let plan = plan.prop_map(|(campaign, start, days, total, daily)| {
        let end = match start {
            Cell::Day(day) => Cell::Day(day + chrono::TimeDelta::days(days)),
            _ => Cell::Empty,
        };
        vec![campaign, start, end, total, daily]
    });
    let wide = (text(&["1", "2"]), number(2, 90_000), number(2, 90_000));
    let wide = wide.prop_map(|(a, b, c)| vec![a, b, c]);
    (
        prop::collection::vec(ads, 0..24),
        prop::collection::vec(budgets, 0..8),
        prop::collection::vec(fx, 0..6),
        prop::collection::vec(orders, 0..16),
        prop::collection::vec(clients, 0..5),
        prop::collection::vec(plan, 0..5),
        prop::collection::vec(wide, 0..3),
    )
        .prop_map(|(ads, budgets, fx, orders, clients, plan, wide)| {
            let tables = [ads, budgets, fx, orders, clients, plan, wide];
            tables.into_iter().map(|rows| Table { rows }).collect()
        })
}
