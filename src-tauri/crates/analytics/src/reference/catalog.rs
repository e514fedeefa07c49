//! The sources of all cases. Their definitions use every construct.

use chrono::{NaiveDate, NaiveDateTime};
use contract::{
    metric_query::AsOf,
    sources::{ColumnKind, DayRange},
};

use crate::{Catalog, SourceModel, TableColumn, parse_definitions};

/// The calendars of the sources that cases ask: the first days of their weeks and years. The texts of
/// the sources have the first one.
pub(super) const CALENDARS: [&str; 3] = [
    "week: sunday, year_starts: \"02-01\"",
    "week: monday, year_starts: \"01-01\"",
    "week: wednesday, year_starts: \"10-01\"",
];

const ADS: &str = r#"
source: ads
time: {column: Day, week: sunday, year_starts: "02-01"}
dimensions:
  campaign: {column: Campaign, key: campaign_id, name: latest, synonyms: {sv: [kampanj]}}
  name: {column: Campaign}
  device: {column: Device}
  brand: {when: {Campaign: {contains: brand}}}
  family: {groups: {of: Campaign, groups: {a: {starts: a}, b: {contains: [b, g]}}, other: rest}}
  part: {split: {of: Campaign, by: _, part: 2}}
  size: {bins: {of: Clicks, edges: [1, 10, 100]}}
  first_device: {first: {of: Device, per: campaign_id}}
  team: {lookup: {source: clients, of: Team}}
measures:
  spend: {sum: Cost, unit: money, currency: {column: Currency}}
  clicks: {sum: Clicks}
  conversions: {sum: Conversions}
  cpa: {ratio: [spend, conversions], unit: money}
  odd: {ratio: [cpa, mobile_share]}
  brand_clicks: {sum: Clicks, where: {brand: [true]}}
  rate: {ratio: [conversions, clicks], unit: percent}
  mobile_clicks: {of: clicks, where: {device: [Mobile]}}
  mobile_share: {ratio: [mobile_clicks, clicks]}
  average_clicks: {average: Clicks}
  weighted: {weighted: {column: Conversions, by: Clicks}}
  budget: {last: {column: Budget, per: [campaign_id]}}
  campaigns: {distinct: campaign}
  devices: {distinct: Device, where: {Active: [true]}}
  least_clicks: {least: Clicks}
  last_day: {greatest: Day}
  middle: {median: Conversions}
  high: {percentile: {column: Clicks, at: 90}}
  extra: {minus: [clicks, conversions]}
  all: {plus: [clicks, conversions, budget]}
  reach: {single: Clicks}
  used_up: {ratio: [clicks, budgets.planned]}
joins:
  budgets: {on: {campaign_id: campaign}}
  clients: {on: {campaign_id: Id}}
  plan: {on: {campaign_id: line}}
  wide: {on: {campaign_id: line}}
rates: {source: fx, day: Day, from: From, to: To, rate: Rate}
"#;

const BUDGETS: &str = "
source: budgets
time: {column: Month}
measures:
  planned: {sum: Planned}
";

const FX: &str = "
source: fx
time: {column: Day}
";

const CLIENTS: &str = "
source: clients
rows: {one_per: [Id]}
";

const PLAN: &str = "
source: plan
time: {column: Start, week: sunday, year_starts: \"02-01\"}
spread: {until: End, total: [Total], daily: [Daily]}
measures:
  plan_total: {sum: Total}
  plan_daily: {sum: Daily}
  plan_days: {count: rows}
";

const WIDE: &str = "
source: wide
time: {column: day, week: sunday, year_starts: \"02-01\"}
spread: {months: {Jan: 2026-01, Feb: 2026-02}, as: planned}
measures:
  wide_planned: {sum: planned}
";

const ORDERS: &str = "
source: orders
time: {column: At}
dimensions:
  channel: {column: Channel}
measures:
  revenue: {sum: Amount}
  orders: {count: rows}
  customers: {distinct: Customer}
  value: {ratio: [revenue, orders]}
";

/// Returns the sources of all cases: `ads`, `budgets`, `fx`, `orders`, `clients`, `plan` and `wide`.
pub fn catalog() -> Catalog {
    catalog_with(CALENDARS[0])
}

/// Returns the same sources with each of several calendars.
pub fn catalogs() -> Vec<Catalog> {
    CALENDARS.iter().map(|calendar| catalog_with(calendar)).collect()
}

fn catalog_with(calendar: &str) -> Catalog {
    let column = |name: &str, kind, scale| TableColumn {
        name: name.to_owned(),
        kind,
        scale,
        constant: None,
        is_float: false,
    };
    use ColumnKind::{Day, Decimal, Flag, Moment, Text, Whole};
    let ads = vec![
        column("Day", Day, 0),
        column("Campaign", Text, 0),
        column("campaign_id", Text, 0),
        column("Device", Text, 0),
        column("Currency", Text, 0),
        column("Cost", Decimal, 2),
        column("Clicks", Whole, 0),
        column("Conversions", Decimal, 3),
        column("Budget", Decimal, 2),
        column("Active", Flag, 0),
    ];
    let budgets =
        vec![column("campaign", Text, 0), column("Month", Day, 0), column("Planned", Decimal, 2)];
    let fx = vec![
        column("Day", Day, 0),
        column("From", Text, 0),
        column("To", Text, 0),
        column("Rate", Decimal, 4),
    ];
    let orders = vec![
        column("At", Moment, 0),
        column("Customer", Text, 0),
        column("Channel", Text, 0),
        column("Amount", Decimal, 2),
    ];
    let clients = vec![column("Id", Text, 0), column("Team", Text, 0), column("Size", Whole, 0)];
    let plan = vec![
        column("line", Text, 0),
        column("Start", Day, 0),
        column("End", Day, 0),
        column("Total", Decimal, 2),
        column("Daily", Decimal, 2),
    ];
    let wide = vec![column("line", Text, 0), column("Jan", Decimal, 2), column("Feb", Decimal, 2)];
    let source = |yaml: &str, columns| {
        let yaml = yaml.replace(CALENDARS[0], calendar);
        parse_definitions(&yaml).ok().map(|definitions| SourceModel::new(definitions, columns))
    };
    let mut sources: Vec<SourceModel> = [
        source(ADS, ads),
        source(BUDGETS, budgets),
        source(FX, fx),
        source(ORDERS, orders),
        source(CLIENTS, clients),
        source(PLAN, plan),
        source(WIDE, wide),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let (Some(ads), Some(first), Some(last)) = (
        sources.first_mut(),
        NaiveDate::from_ymd_opt(2026, 1, 1),
        NaiveDate::from_ymd_opt(2026, 3, 8),
    ) {
        ads.covered = Some(DayRange { first, last });
    }
    Catalog { sources }
}

/// Returns the moment of all cases.
pub fn as_of() -> AsOf {
    let moment = NaiveDate::from_ymd_opt(2026, 3, 10).and_then(|day| day.and_hms_opt(9, 0, 0));
    AsOf { moment: moment.unwrap_or(NaiveDateTime::MIN), zone: "Europe/Stockholm".to_owned() }
}
