//! Random metric queries, also such as are refused.

use contract::metric_query::{MetricQuery, read_metric_query};
use serde_json::{Value, json};

/// Random numbers that decide what a query has.
struct Dice {
    dice: Vec<u16>,
    next: usize,
}

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        let value = self.dice.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(value) % count
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 1
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len());
        &items[at]
    }
}

/// Returns the query that random numbers decide.
pub(super) fn query(dice: Vec<u16>) -> MetricQuery {
    let dice = &mut Dice { dice, next: 0 };
    let (mut written, has_figures) = match dice.below(16) {
        0 | 1 => (rows_query(dice), false),
        2 | 3 => (explain_query(dice), false),
        4 | 5 => (orders_query(dice), true),
        6 | 7 => (plan_query(dice), true),
        _ => (ads_query(dice), true),
    };
    if let Some(object) = written.as_object_mut().filter(|_| has_figures) {
        add_rest(object, dice);
    }
    read_metric_query(&written).unwrap_or_default()
}

/// Returns a query for single rows.
fn rows_query(dice: &mut Dice) -> Value {
    let mut query = json!({"source": "ads", "rows": true, "where": conditions(dice)});
    if dice.one_in(2) {
        query["by"] = json!([dice.pick(&DIMENSIONS)]);
    }
    if dice.one_in(2) {
        let name = dice.pick(&["clicks", "spend", "brand_clicks"]);
        query["measures"] = json!([{"measure": name, "as": "m0", "where": conditions(dice)}]);
        query["order"] = json!([{"by": "m0", "descending": dice.one_in(2)}]);
    }
    if dice.one_in(2) {
        query["columns"] = json!(["Day", dice.pick(&["Cost", "Clicks", "Active"])]);
    }
    if dice.one_in(3) {
        query["limit"] = json!(1 + dice.below(5));
    }
    if dice.one_in(2) {
        query["period"] = json!({"from": "2026-01-01", "to": "2026-02-10"});
    }
    if dice.one_in(8) {
        query["in_currency"] = json!("EUR");
    }
    query
}

/// Returns a query for what explains a change.
fn explain_query(dice: &mut Dice) -> Value {
    let measures = [
        "clicks",
        "spend",
        "cpa",
        "rate",
        "odd",
        "extra",
        "all",
        "average_clicks",
        "budget",
        "used_up",
        "campaigns",
    ];
    let mut by: Vec<&str> = vec![*dice.pick(&DIMENSIONS)];
    if dice.one_in(2) {
        by.push(*dice.pick(&["device", "campaign"]));
    }
    let explain = json!({"measure": dice.pick(&measures), "by": by});
    let mut query = json!({"source": "ads", "explain": explain, "where": conditions(dice)});
    query["period"] = json!({"from": "2026-01-20", "to": "2026-02-20"});
    query["compare"] = dice.pick(&compares()).clone();
    if dice.one_in(4) {
        query["in_currency"] = json!("EUR");
    }
    if dice.one_in(3) {
        query["limit"] = json!(1 + dice.below(5));
    }
    query
}

fn conditions(dice: &mut Dice) -> Vec<Value> {
    (0..dice.below(3)).map(|_| condition(dice)).collect()
}

const MEASURES: [&str; 25] = [
    "spend",
    "clicks",
    "conversions",
    "cpa",
    "odd",
    "brand_clicks",
    "rate",
    "mobile_clicks",
    "mobile_share",
    "average_clicks",
    "weighted",
    "budget",
    "campaigns",
    "devices",
    "least_clicks",
    "last_day",
    "middle",
    "high",
    "extra",
    "all",
    "used_up",
    "rows",
    "reach",
    "plan.plan_total",
    "wide.wide_planned",
];
const DIMENSIONS: [&str; 11] = [
    "campaign",
    "name",
    "device",
    "brand",
    "family",
    "part",
    "size",
    "first_device",
    "Currency",
    "team",
    "clients.Size",
];
const GRAINS: [&str; 7] = ["day", "week", "month", "quarter", "year", "weekday", "month_of_year"];

fn ads_query(dice: &mut Dice) -> Value {
    let mut by: Vec<Value> = Vec::new();
    for _ in 0..dice.below(3) {
        let name = json!(dice.pick(&DIMENSIONS));
        if !by.contains(&name) {
            by.push(name);
        }
    }
    if dice.one_in(6) {
        by.push(own_group(dice));
    }
    let grain = dice.one_in(2).then(|| *dice.pick(&GRAINS));
    by.extend(grain.map(|grain| json!({"time": grain})));
    let mut measures: Vec<Value> = Vec::new();
    for number in 0..1 + dice.below(3) {
        measures.push(if dice.one_in(8) {
            own_measure(dice, number)
        } else {
            measure(dice, &MEASURES, number, &by, grain)
        });
    }
    json!({"source": "ads", "measures": measures, "by": by, "where": conditions(dice)})
}

/// Returns a group without a definition.
fn own_group(dice: &mut Dice) -> Value {
    let groups = [
        json!({"split": {"of": "Campaign", "by": "_", "part": 1}}),
        json!({"bins": {"of": "Cost", "edges": [50, 500]}}),
        json!({"when": {"device": ["Mobile"]}}),
        json!({"lookup": {"source": "clients", "of": "Team"}}),
    ];
    json!({"define": dice.pick(&groups), "as": "own"})
}

/// Returns a figure without a definition.
fn own_measure(dice: &mut Dice, number: usize) -> Value {
    let measures = [
        json!({"sum": "Cost"}),
        json!({"average": "Cost"}),
        json!({"median": "Cost"}),
        json!({"ratio": ["spend", "clicks"]}),
        json!({"distinct": "device"}),
    ];
    let mut used = dice.pick(&measures).clone();
    used["as"] = json!(format!("m{number}"));
    used
}

fn orders_query(dice: &mut Dice) -> Value {
    let grains = ["hour", "hour_of_day", "part_of_day", "day", "week"];
    let mut by: Vec<Value> = Vec::new();
    if dice.one_in(2) {
        by.push(json!("channel"));
    }
    let grain = dice.one_in(2).then(|| *dice.pick(&grains));
    by.extend(grain.map(|grain| json!({"time": grain})));
    let names = ["revenue", "orders", "customers", "value"];
    let measures = [measure(dice, &names, 0, &by, grain), measure(dice, &names, 1, &by, grain)];
    json!({"source": "orders", "measures": measures, "by": by})
}

fn plan_query(dice: &mut Dice) -> Value {
    let grains = ["day", "week", "month", "weekday"];
    let mut by: Vec<Value> = Vec::new();
    if dice.one_in(2) {
        by.push(json!("line"));
    }
    let grain = dice.one_in(2).then(|| *dice.pick(&grains));
    by.extend(grain.map(|grain| json!({"time": grain})));
    if dice.one_in(3) {
        let measure = json!({"measure": "wide_planned", "as": "m0"});
        return json!({"source": "wide", "measures": [measure], "by": by});
    }
    let names = ["plan_total", "plan_daily", "plan_days"];
    let measures = [measure(dice, &names, 0, &by, grain), measure(dice, &names, 1, &by, grain)];
    json!({"source": "plan", "measures": measures, "by": by})
}

/// Returns a measure, mostly with a decoration that fits it.
fn measure(
    dice: &mut Dice,
    names: &[&str],
    number: usize,
    by: &[Value],
    grain: Option<&str>,
) -> Value {
    let mut name = *dice.pick(names);
    let kind = dice.below(10);
    let adds_up =
        ["spend", "clicks", "conversions", "rate", "extra", "average_clicks", "revenue", "value"];
    if matches!(kind, 0..3) && !adds_up.contains(&name) && !dice.one_in(8) {
        let usual = ["clicks", "revenue"].into_iter().find(|usual| names.contains(usual));
        name = usual.unwrap_or(name);
    }
    let mut used = json!({"measure": name, "as": format!("m{number}")});
    match (kind, grain) {
        (0, _) if !matches!(name, "rate" | "average_clicks" | "value") => {
            let dimension = by.iter().find(|group| group.is_string()).cloned();
            used["share_of"] = dimension.filter(|_| dice.one_in(2)).unwrap_or(json!("total"));
        }
        (1, Some("hour" | "day" | "week" | "month" | "quarter" | "year")) => {
            used["running"] = json!(true);
        }
        (2, Some("day")) => used["rolling"] = json!({"days": 1 + dice.below(9)}),
        (2, Some("week")) => used["rolling"] = json!({"weeks": 1 + dice.below(3)}),
        (2, Some("month")) => used["rolling"] = json!({"months": 1 + dice.below(3)}),
        (2, Some("quarter")) => used["rolling"] = json!({"quarters": 1 + dice.below(2)}),
        (2, Some("year")) => used["rolling"] = json!({"years": 2}),
        (3, Some("day" | "week" | "month")) => used["per"] = json!("day"),
        (3, None) => {
            used["per"] = json!(dice.pick(&["day", "week", "month", "quarter", "year"]));
        }
        (4, _) if names.contains(&"clicks") => used["where"] = json!([condition(dice)]),
        (_, _) => {}
    }
    used
}

fn condition(dice: &mut Dice) -> Value {
    let simple = [
        json!({"device": ["Mobile", null]}),
        json!({"campaign": ["Alpha brand", "beta_x"]}),
        json!({"campaign": {"not": ["beta_x"]}}),
        json!({"campaign": {"contains": "BRAND"}}),
        json!({"name": {"not_contains": ["x", "z"]}}),
        json!({"name": {"starts": "a"}}),
        json!({"name": {"ends": "_x"}}),
        json!({"Clicks": {">": 20, "<=": 150}}),
        json!({"Cost": {"<": 400.5}}),
        json!({"Day": {">=": "2026-01-15"}}),
        json!({"Active": true}),
        json!({"device": {"empty": false}}),
        json!({"brand": [false]}),
        json!({"team": ["North", null]}),
        json!({"clients.Size": {">": 10}}),
        json!({"campaign": {"in": {"measures": ["clicks"], "by": ["campaign"], "where": [{"clicks": {">": 50}}]}}}),
        json!({"device": {"not_in": {"measures": ["clicks"], "by": ["device"], "order": [{"by": "clicks", "descending": true}], "limit": 1}}}),
    ];
    let first = dice.pick(&simple).clone();
    match dice.below(6) {
        0 => json!({"not": first}),
        1 => json!({"or": [first, dice.pick(&simple)]}),
        2 => json!({"and": [{"not": first}, dice.pick(&simple)]}),
        _ => first,
    }
}

/// Adds period, comparison, order and what concerns the whole result.
fn add_rest(query: &mut serde_json::Map<String, Value>, dice: &mut Dice) {
    let by = query.get("by").and_then(Value::as_array).cloned().unwrap_or_default();
    let grain = by.iter().find_map(|group| group.get("time")).and_then(Value::as_str);
    let follows = grain.is_some_and(|grain| !grain.contains('_') && grain != "weekday");
    let is_ads = query.get("source") == Some(&json!("ads"));
    add_period(query, dice, is_ads, grain);
    if follows && dice.one_in(2) {
        query.insert("fill".to_owned(), json!(true));
    }
    if dice.one_in(3) {
        let descending = dice.one_in(2);
        query.insert("order".to_owned(), json!([{"by": "m0", "descending": descending}]));
    }
    if dice.one_in(4) {
        query.insert("limit".to_owned(), json!(1 + dice.below(5)));
    }
    let has_dimension = by.iter().any(Value::is_string);
    if has_dimension && dice.one_in(3) {
        let top = top(query, dice, &by);
        query.insert("top".to_owned(), top);
    }
    if dice.one_in(6) {
        let name = if query.contains_key("compare") { "m0_change" } else { "m0" };
        let having = json!({name: {">": 5.5}});
        if let Some(conditions) = query.get_mut("where").and_then(Value::as_array_mut) {
            conditions.push(having);
        }
    }
    if dice.one_in(8) {
        let functions = ["sum", "average", "least", "greatest", "median", "count"];
        let function = *dice.pick(&functions);
        let mut then =
            json!({"measures": [{function: "m0", "as": "s"}, {"count": "rows", "as": "n"}]});
        if let Some(first) = by.first().filter(|first| first.is_string() && dice.one_in(2)) {
            then["by"] = json!([first]);
        }
        query.insert("then".to_owned(), then);
        query.remove("order");
    } else if let Some(first) = by.first().filter(|first| first.is_string() && dice.one_in(8)) {
        query.insert("pivot".to_owned(), first.clone());
    }
    if dice.one_in(6) {
        query.insert("in_currency".to_owned(), json!("EUR"));
    }
    if dice.one_in(4) {
        query.insert("totals".to_owned(), json!(true));
    }
}

/// Returns the choice of the first groups by a measure.
fn top(query: &serde_json::Map<String, Value>, dice: &mut Dice, by: &[Value]) -> Value {
    let mut top =
        json!({"n": 1 + dice.below(2), "others": dice.one_in(2), "lowest": dice.one_in(4)});
    let first = by.first().filter(|first| by.len() > 1 && first.is_string());
    let per = first.filter(|_| dice.one_in(2));
    if let Some(per) = per {
        top["per"] = json!([per]);
    }
    // A group without a definition has a name of its own, and a time has none.
    let name = |group: &Value| {
        if group.is_string() { Some(group.clone()) } else { group.get("as").cloned() }
    };
    let names: Vec<Value> = by.iter().filter_map(name).filter(|name| Some(name) != per).collect();
    if !names.is_empty() && dice.one_in(3) {
        top["of"] = dice.pick(&names).clone();
    }
    if dice.one_in(3) {
        let measures = query.get("measures").and_then(Value::as_array).map_or(1, Vec::len);
        let shown = format!("m{}", dice.below(measures.max(1)));
        let other = match query.get("source").and_then(Value::as_str) {
            Some("orders") => "customers",
            Some("plan") => "plan_days",
            Some("wide") => "wide_planned",
            Some(_) | None => "conversions",
        };
        top["by"] = if dice.one_in(4) { json!(other) } else { json!(shown) };
    }
    top
}

fn add_period(
    query: &mut serde_json::Map<String, Value>,
    dice: &mut Dice,
    is_ads: bool,
    grain: Option<&str>,
) {
    if dice.one_in(6) {
        return;
    }
    if dice.one_in(9) {
        query.insert("period".to_owned(), json!({"from": "2026-02-01"}));
        return;
    }
    query.insert("period".to_owned(), dice.pick(&periods(grain)).clone());
    if dice.one_in(3) {
        let compares = compares();
        let last = if is_ads { compares.len() } else { compares.len() - 1 };
        query.insert("compare".to_owned(), dice.pick(&compares[..last]).clone());
    }
}

/// Returns periods. Each hour or day of a long one would be a row of the slow calculation.
fn periods(grain: Option<&str>) -> Vec<Value> {
    let mut periods = vec![
        json!({"from": "2026-01-01", "to": "2026-01-31"}),
        json!({"from": "2026-02-03", "to": "2026-02-20"}),
        json!({"last": {"days": 30}}),
        json!({"last_with_today": {"days": 14}}),
        json!({"last_with_today": {"weeks": 2}}),
        json!({"full": "weeks", "last": 3}),
        json!({"previous": "week"}),
        json!({"month": "2026-02"}),
        json!({"week": "2026-W06"}),
        json!("yesterday"),
        json!("this_week"),
        json!("this_month"),
        json!("last_month"),
        json!("week_to_date"),
        json!("month_to_date"),
    ];
    if grain != Some("hour") {
        periods.extend([
            json!({"quarter": "2025-Q4"}),
            json!({"full": "quarters", "last": 1}),
            json!("this_quarter"),
            json!("last_quarter"),
            json!("quarter_to_date"),
        ]);
    }
    if !matches!(grain, Some("hour" | "day")) {
        periods.extend([
            json!({"year": 2025}),
            json!({"year": 2026}),
            json!({"last": {"years": 1}}),
            json!("this_year"),
            json!("last_year"),
            json!("year_to_date"),
        ]);
    }
    periods
}

/// Returns comparisons. The last one is of values that only `ads` has.
fn compares() -> [Value; 10] {
    [
        json!("previous"),
        json!("last_year"),
        json!({"to": "previous", "align": "weekday"}),
        json!({"to": "previous", "align": "to_date"}),
        json!({"to": "previous", "align": "full"}),
        json!({"to": "last_year", "align": "weekday"}),
        json!({"to": "last_year", "align": "to_date"}),
        json!({"to": "last_year", "align": "full"}),
        json!({"period": {"month": "2026-01"}}),
        json!({"values": {"device": ["Mobile", "Desktop"]}}),
    ]
}
