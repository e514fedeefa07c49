//! The questions of the scripted model about breakdowns, ratios, filters and several sources, with the
//! figures that the test computes itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    figures::{Figure, Figures, cents, ratio, sums, whole},
    portfolio::{Ad, Order, Portfolio},
};

/// A question, the call that a model makes for it, and the right figures.
pub(super) struct Question {
    pub(super) words: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    pub(super) figures: Figures,
}

/// A question that is one metric query.
pub(super) fn asked(words: &'static str, query: Value, figures: Figures) -> Question {
    Question { words, tool: "data.measure", arguments: json!({ "query": query }), figures }
}

/// Clicks and impressions of a group.
type Clicks = (i128, i128);

pub(super) fn breakdowns(all: &Portfolio) -> Vec<Question> {
    let ads = &all.ads;
    let total: i128 = ads.iter().map(|ad| ad.clicks).sum();
    let devices = sums(ads, |ad| ad.device, |ad| ad.clicks);
    let conversions = sums(ads, |ad| ad.campaign, |ad| ad.conversions);
    let spend = sums(ads, |ad| (ad.account, ad.currency), |ad| ad.cost);
    let campaigns = sums(ads, |ad| ad.campaign, |ad| ad.clicks);
    let accounts = sums(ads, |ad| ad.account, |ad| ad.clicks);
    let within = sums(ads, |ad| (ad.account, ad.campaign), |ad| ad.clicks);
    let one: Vec<&Ad> = ads.iter().filter(|ad| ad.account == "One").collect();
    let cost = sums(one.iter().copied(), |ad| ad.campaign, |ad| ad.cost);
    let all_cost: i128 = cost.values().sum();
    vec![
        asked(
            "How many clicks were there?",
            json!({"source": "ads", "measures": ["clicks"]}),
            Figures::single(&["clicks"], vec![whole(total)]),
        ),
        asked(
            "Clicks by device",
            json!({"source": "ads", "measures": ["clicks"], "by": ["device"]}),
            Figures::by("device", "clicks", devices.into_iter().map(|(d, n)| (d, whole(n)))),
        ),
        asked(
            "Conversions per campaign",
            json!({"source": "ads", "measures": ["conversions"], "by": ["campaign"]}),
            Figures::by(
                "campaign",
                "conversions",
                conversions.into_iter().map(|(c, n)| (c, whole(n))),
            ),
        ),
        asked(
            "What did each account spend? Currencies stay apart.",
            json!({"source": "ads", "measures": ["spend"], "by": ["account"]}),
            Figures::new(
                &["account", "currency"],
                &["spend"],
                spend.into_iter().map(|((a, c), n)| (texts(&[a, c]), vec![cents(n)])),
            ),
        ),
        asked(
            "Which share of the clicks has each campaign?",
            json!({"source": "ads", "measures": [{"measure": "clicks", "share_of": ["total"], "as": "part"}], "by": ["campaign"]}),
            Figures::by(
                "campaign",
                "part",
                campaigns.into_iter().map(|(c, n)| (c, ratio(n, total))),
            ),
        ),
        asked(
            "Which share of the spend of account One has each campaign?",
            json!({"source": "ads", "measures": [{"measure": "spend", "share_of": ["total"], "as": "part"}], "by": ["campaign"], "where": [{"account": ["One"]}]}),
            Figures::by("campaign", "part", cost.into_iter().map(|(c, n)| (c, ratio(n, all_cost)))),
        ),
        asked(
            "Which share of its account's clicks has each campaign?",
            json!({"source": "ads", "measures": [{"measure": "clicks", "share_of": ["account"], "as": "part"}], "by": ["account", "campaign"]}),
            Figures::new(
                &["account", "campaign"],
                &["part"],
                within.into_iter().map(|((a, c), n)| (texts(&[a, c]), vec![ratio(n, accounts[a])])),
            ),
        ),
        asked(
            "The best campaign of each account, and the others together",
            json!({"source": "ads", "measures": ["clicks"], "by": ["account", "campaign"], "top": {"n": 1, "per": ["account"], "others": true}}),
            best_of_accounts(ads),
        ),
    ]
}

fn best_of_accounts(ads: &[Ad]) -> Figures {
    let mut rows = Vec::new();
    for account in ["One", "Two"] {
        let own = ads.iter().filter(|ad| ad.account == account);
        let clicks = sums(own, |ad| ad.campaign, |ad| ad.clicks);
        let (best, most) = clicks.iter().max_by_key(|(_, n)| **n).unwrap();
        let others = clicks.values().sum::<i128>() - most;
        rows.push((texts(&[account, best]), vec![whole(*most)]));
        rows.push((texts(&[account, "Other"]), vec![whole(others)]));
    }
    Figures::new(&["account", "campaign"], &["clicks"], rows)
}

pub(super) fn ratios(all: &Portfolio) -> Vec<Question> {
    let revenue = sums(&all.orders, |order| order.channel, |order| order.revenue);
    let orders = sums(&all.orders, |order| order.channel, |_| 1);
    let average = revenue.iter().map(|(channel, n)| (*channel, ratio(*n, orders[channel] * 100)));
    let whole_revenue: i128 = all.orders.iter().map(|order| order.revenue).sum();
    let count = i128::try_from(all.orders.len()).unwrap();
    let (lost_clicks, lost) = (
        sums(&all.ads, |ad| ad.device, |ad| ad.clicks),
        sums(&all.ads, |ad| ad.device, |ad| ad.conversions),
    );
    vec![
        asked(
            "What is the average order value per channel?",
            json!({"source": "orders", "measures": ["average_order"], "by": ["channel"]}),
            Figures::by("channel", "average_order", average.collect::<Vec<_>>()),
        ),
        asked(
            "What is the average order value, without a definition?",
            json!({"source": "orders", "measures": [{"ratio": ["revenue", "rows"], "as": "average"}]}),
            Figures::single(&["average"], vec![ratio(whole_revenue, count * 100)]),
        ),
        asked(
            "The top ten of campaigns and devices by click rate",
            json!({"source": "ads", "measures": ["ctr"], "by": ["campaign", "device"], "order": [{"by": "ctr", "descending": true}], "limit": 10}),
            top_ten(&all.ads),
        ),
        asked(
            "The three cheapest campaigns and devices of account One by cost per click",
            json!({"source": "ads", "measures": ["cpc"], "by": ["campaign", "device"], "where": [{"account": ["One"]}], "order": [{"by": "cpc"}], "limit": 3}),
            cheapest(&all.ads),
        ),
        asked(
            "How many clicks did not convert, by device?",
            json!({"source": "ads", "measures": [{"minus": ["clicks", "conversions"], "as": "lost"}], "by": ["device"]}),
            Figures::by(
                "device",
                "lost",
                lost_clicks.into_iter().map(|(d, n)| (d, whole(n - lost[d]))),
            ),
        ),
    ]
}

fn top_ten(ads: &[Ad]) -> Figures {
    let mut rates: BTreeMap<(&str, &str), Clicks> = BTreeMap::new();
    for ad in ads {
        let (clicks, impressions) = rates.entry((ad.campaign, ad.device)).or_default();
        *clicks += ad.clicks;
        *impressions += ad.impressions;
    }
    let mut rows: Vec<((&str, &str), Figure)> =
        rates.into_iter().map(|(key, (clicks, of))| (key, ratio(clicks, of))).collect();
    rows.sort_by_key(|(key, rate)| (std::cmp::Reverse(*rate), *key));
    ranked(rows, 10, "ctr")
}

fn cheapest(ads: &[Ad]) -> Figures {
    let own: Vec<&Ad> = ads.iter().filter(|ad| ad.account == "One").collect();
    let cost = sums(own.iter().copied(), |ad| (ad.campaign, ad.device), |ad| ad.cost);
    let clicks = sums(own.iter().copied(), |ad| (ad.campaign, ad.device), |ad| ad.clicks);
    let mut rows: Vec<((&str, &str), Figure)> =
        cost.into_iter().map(|(key, n)| (key, ratio(n, clicks[&key] * 100))).collect();
    rows.sort_by_key(|(key, price)| (*price, *key));
    ranked(rows, 3, "cpc")
}

fn ranked(rows: Vec<((&str, &str), Figure)>, most: usize, value: &'static str) -> Figures {
    let rows = rows.into_iter().take(most).map(|((a, b), n)| (texts(&[a, b]), vec![n]));
    Figures::new(&["campaign", "device"], &[value], rows).ordered()
}

pub(super) fn counts(all: &Portfolio) -> Vec<Question> {
    let orders = &all.orders;
    let different = |orders: Vec<&Order>| {
        let customers: BTreeSet<&String> = orders.iter().map(|order| &order.customer).collect();
        whole(i128::try_from(customers.len()).unwrap())
    };
    let per_channel = ["Web", "Store", "App"].map(|channel| {
        (channel, different(orders.iter().filter(|order| order.channel == channel).collect()))
    });
    let mut amounts: Vec<i128> = orders.iter().map(|order| order.revenue).collect();
    amounts.sort_unstable();
    let size = |order: &Order| match order.items {
        ..2 => "< 2",
        2..4 => "2 to < 4",
        _ => ">= 4",
    };
    let sizes = sums(orders, size, |_| 1);
    vec![
        asked(
            "How many different customers ordered?",
            json!({"source": "orders", "measures": ["customers"]}),
            Figures::single(&["customers"], vec![different(orders.iter().collect())]),
        ),
        asked(
            "How many different customers ordered in each channel?",
            json!({"source": "orders", "measures": ["customers"], "by": ["channel"]}),
            Figures::by("channel", "customers", per_channel),
        ),
        asked(
            "The median of orders, and what nine of ten are below",
            json!({"source": "orders", "measures": [{"median": "Revenue", "as": "middle"}, {"percentile": {"column": "Revenue", "at": 90}, "as": "high"}]}),
            Figures::single(
                &["middle", "high"],
                vec![between(&amounts, 50), between(&amounts, 90)],
            ),
        ),
        asked(
            "The smallest and the largest order",
            json!({"source": "orders", "measures": [{"least": "Revenue", "as": "least"}, {"greatest": "Revenue", "as": "most"}]}),
            Figures::single(
                &["least", "most"],
                vec![cents(amounts[0]), cents(amounts[amounts.len() - 1])],
            ),
        ),
        asked(
            "How many small, middle and large orders are there?",
            json!({"source": "orders", "measures": ["orders"], "by": [{"define": {"bins": {"of": "Items", "edges": [2, 4]}}, "as": "size"}]}),
            Figures::by("size", "orders", sizes.into_iter().map(|(size, n)| (size, whole(n)))),
        ),
        asked(
            "Orders by the channel of each customer's first order",
            json!({"source": "orders", "measures": ["orders"], "by": [{"define": {"first": {"of": "Channel", "per": "Customer"}}, "as": "first_channel"}]}),
            first_channels(orders),
        ),
        asked(
            "What are the budgets now?",
            json!({"source": "budgets", "measures": ["budget"], "by": ["campaign"], "period": {"to": "2026-11-28"}}),
            last_budgets(all, &["campaign"]),
        ),
        asked(
            "What is the whole budget now?",
            json!({"source": "budgets", "measures": ["budget"], "period": {"to": "2026-11-28"}}),
            last_budgets(all, &[]),
        ),
    ]
}

/// Returns the value that a part of the sorted amounts is below: at (n - 1) times the percentage,
/// between two neighbours.
fn between(sorted: &[i128], percent: i128) -> Figure {
    let place = (i128::try_from(sorted.len()).unwrap() - 1) * percent;
    let (at, rest) = (usize::try_from(place / 100).unwrap(), place % 100);
    let next = sorted[(at + 1).min(sorted.len() - 1)];
    ratio(sorted[at] * 100 + (next - sorted[at]) * rest, 10_000)
}

fn first_channels(orders: &[Order]) -> Figures {
    let mut first: BTreeMap<&String, &Order> = BTreeMap::new();
    for order in orders {
        let known = first.entry(&order.customer).or_insert(order);
        if order.day < known.day {
            *known = order;
        }
    }
    let count = sums(orders, |order| first[&order.customer].channel, |_| 1);
    Figures::by(
        "first_channel",
        "orders",
        count.into_iter().map(|(channel, n)| (channel, whole(n))),
    )
}

fn last_budgets(all: &Portfolio, keys: &[&'static str]) -> Figures {
    let mut last: BTreeMap<&str, i128> = BTreeMap::new();
    let until = super::portfolio::day(2026, 11, 28);
    for budget in all.budgets.iter().filter(|budget| budget.day <= until) {
        // Later ones stand behind earlier ones.
        last.insert(budget.campaign, budget.amount);
    }
    if keys.is_empty() {
        return Figures::single(&["budget"], vec![cents(last.values().sum())]);
    }
    Figures::by("campaign", "budget", last.into_iter().map(|(name, n)| (name, cents(n))))
}

pub(super) fn filters(all: &Portfolio) -> Vec<Question> {
    let ads = &all.ads;
    let clicks = |keep: &dyn Fn(&Ad) -> bool| -> Figures {
        let kept = ads.iter().filter(|ad| keep(ad)).map(|ad| ad.clicks).sum();
        Figures::single(&["clicks"], vec![whole(kept)])
    };
    let campaigns = sums(ads, |ad| ad.campaign, |ad| ad.clicks);
    let mobile =
        sums(ads, |ad| ad.campaign, |ad| if ad.device == "Mobile" { ad.clicks } else { 0 });
    let of_accounts =
        sums(ads, |ad| ad.account, |ad| if ad.device == "Mobile" { ad.clicks } else { 0 });
    let mut ranking: Vec<i128> = campaigns.values().copied().collect();
    ranking.sort_unstable();
    let threshold = ranking[2];
    let above = campaigns.iter().filter(|(_, n)| **n > threshold);
    let busy = sums(ads.iter().filter(|ad| ad.clicks >= 100), |ad| ad.device, |_| 1);
    let ordered: BTreeSet<&str> = all.orders.iter().map(|order| order.campaign).collect();
    let unordered = campaigns.iter().filter(|(name, _)| !ordered.contains(*name));
    vec![
        asked(
            "Clicks, and those on phones, per campaign",
            json!({"source": "ads", "measures": ["clicks", {"measure": "clicks", "where": [{"device": ["Mobile"]}], "as": "mobile"}], "by": ["campaign"]}),
            Figures::new(
                &["campaign"],
                &["clicks", "mobile"],
                campaigns.iter().map(|(c, n)| (texts(&[c]), vec![whole(*n), whole(mobile[c])])),
            ),
        ),
        asked(
            "Clicks on phones per account, by the defined measure",
            json!({"source": "ads", "measures": ["mobile_clicks"], "by": ["account"]}),
            Figures::by(
                "account",
                "mobile_clicks",
                of_accounts.into_iter().map(|(a, n)| (a, whole(n))),
            ),
        ),
        asked(
            "Which campaigns have more clicks than the middle one?",
            json!({"source": "ads", "measures": ["clicks"], "by": ["campaign"], "where": [{"clicks": {">": i64::try_from(threshold).unwrap()}}]}),
            Figures::by("campaign", "clicks", above.map(|(c, n)| (*c, whole(*n)))),
        ),
        asked(
            "How many days had at least 100 clicks, by device?",
            json!({"source": "ads", "measures": ["rows"], "by": ["device"], "where": [{"Clicks": {">=": 100}}]}),
            Figures::by("device", "rows", busy.into_iter().map(|(d, n)| (d, whole(n)))),
        ),
        asked(
            "Clicks without the brand",
            json!({"source": "ads", "measures": ["clicks"], "where": [{"campaign": {"not": ["Brand"]}}]}),
            clicks(&|ad| ad.campaign != "Brand"),
        ),
        asked(
            "Clicks of campaigns with sh in their names",
            json!({"source": "ads", "measures": ["clicks"], "where": [{"campaign": {"contains": "SH"}}]}),
            clicks(&|ad| ad.campaign == "Shopping"),
        ),
        asked(
            "Clicks on tablets or of the video campaign",
            json!({"source": "ads", "measures": ["clicks"], "where": [{"or": [{"device": ["Tablet"]}, {"campaign": ["Video"]}]}]}),
            clicks(&|ad| ad.device == "Tablet" || ad.campaign == "Video"),
        ),
        asked(
            "Clicks of campaigns that brought no order",
            json!({"source": "ads", "measures": ["clicks"], "by": ["campaign"], "where": [{"campaign": {"not_in": {"source": "orders", "measures": ["orders"], "by": ["campaign"]}}}]}),
            Figures::by("campaign", "clicks", unordered.map(|(c, n)| (*c, whole(*n)))),
        ),
    ]
}

pub(super) fn several_sources(all: &Portfolio) -> Vec<Question> {
    let clicks = sums(&all.ads, |ad| ad.campaign, |ad| ad.clicks);
    let items = sums(&all.orders, |order| order.campaign, |order| order.items);
    let names: BTreeSet<&str> = clicks.keys().chain(items.keys()).copied().collect();
    let count = |of: &BTreeMap<&str, i128>, name: &str| of.get(name).copied().and_then(whole);
    let per_click = |name: &str| ratio(*items.get(name)?, *clicks.get(name)?);
    let sql = "SELECT a.device AS device, sum(a.\"Clicks\") AS clicks FROM ads a WHERE a.\"Campaign\" IN (SELECT \"Campaign\" FROM orders) GROUP BY 1";
    let brought: BTreeSet<&str> = items.keys().copied().collect();
    let of_orders = sums(
        all.ads.iter().filter(|ad| brought.contains(ad.campaign)),
        |ad| ad.device,
        |ad| ad.clicks,
    );
    vec![
        asked(
            "Clicks and ordered items per campaign, also without a partner",
            json!({"source": "ads", "measures": ["clicks", "orders.items"], "by": ["campaign"]}),
            Figures::new(
                &["campaign"],
                &["clicks", "items"],
                names
                    .iter()
                    .map(|name| (texts(&[name]), vec![count(&clicks, name), count(&items, name)])),
            ),
        ),
        asked(
            "Ordered items per click",
            json!({"source": "ads", "measures": [{"ratio": ["orders.items", "clicks"], "as": "per_click"}], "by": ["campaign"]}),
            Figures::by("campaign", "per_click", names.iter().map(|name| (*name, per_click(name)))),
        ),
        Question {
            words: "Clicks by device of campaigns with orders, in SQL",
            tool: "data.query",
            arguments: json!({ "sql": sql }),
            figures: Figures::by(
                "device",
                "clicks",
                of_orders.into_iter().map(|(d, n)| (d, whole(n))),
            ),
        },
    ]
}

pub(super) fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
