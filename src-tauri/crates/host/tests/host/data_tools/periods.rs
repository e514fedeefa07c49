//! The questions of the scripted model about time and comparisons, with the figures that the test
//! computes itself.

use std::collections::BTreeMap;

use chrono::{Datelike as _, Days, NaiveDate};
use serde_json::{Value, json};

use super::{
    figures::{Figure, Figures, ratio, sums, whole},
    portfolio::{Ad, Portfolio, day},
    questions::{Question, asked, texts},
};

/// The days from one to another, with both.
type Span = (NaiveDate, NaiveDate);

const NOVEMBER: [(i32, u32, u32); 2] = [(2026, 11, 1), (2026, 11, 28)];

fn span([from, to]: [(i32, u32, u32); 2]) -> Span {
    (day(from.0, from.1, from.2), day(to.0, to.1, to.2))
}

fn written(span: Span) -> Value {
    json!({"from": span.0, "to": span.1})
}

fn within(ads: &[Ad], span: Span) -> impl Iterator<Item = &Ad> {
    ads.iter().filter(move |ad| span.0 <= ad.day && ad.day <= span.1)
}

/// Returns the figure now and before, the change, and the growth.
fn compared(now: i128, before: i128) -> Vec<Figure> {
    vec![whole(now), whole(before), whole(now - before), ratio(now - before, before)]
}

const CLICKS: [&str; 4] = ["clicks", "clicks_before", "clicks_change", "clicks_growth"];

pub(super) fn comparisons(all: &Portfolio) -> Vec<Question> {
    let ads = &all.ads;
    let now = span(NOVEMBER);
    let year_before = span([(2025, 11, 1), (2025, 11, 28)]);
    let clicks = |span| within(ads, span).map(|ad| ad.clicks).sum::<i128>();
    let (fortnight, before) =
        (span([(2026, 11, 15), (2026, 11, 28)]), span([(2026, 11, 1), (2026, 11, 14)]));
    let by_device = |span| sums(within(ads, span), |ad| ad.device, |ad| ad.clicks);
    let (devices, devices_before) = (by_device(fortnight), by_device(before));
    let october = span([(2026, 10, 1), (2026, 10, 31)]);
    let september = span([(2026, 9, 1), (2026, 9, 30)]);
    let by_campaign = |span| sums(within(ads, span), |ad| ad.campaign, |ad| ad.conversions);
    let (campaigns, campaigns_before) = (by_campaign(october), by_campaign(september));
    vec![
        asked(
            "How do this November's clicks compare with last year's?",
            json!({"source": "ads", "measures": ["clicks"], "period": written(now), "compare": "last_year"}),
            Figures::single(&CLICKS, compared(clicks(now), clicks(year_before))),
        ),
        asked(
            "Clicks of the last two weeks by device, against the two before",
            json!({"source": "ads", "measures": ["clicks"], "by": ["device"], "period": written(fortnight), "compare": "previous"}),
            Figures::new(
                &["device"],
                &CLICKS,
                devices.iter().map(|(d, n)| (texts(&[d]), compared(*n, devices_before[d]))),
            ),
        ),
        asked(
            "Conversions of October per campaign, against September",
            json!({"source": "ads", "measures": ["conversions"], "by": ["campaign"], "period": {"month": "2026-10"}, "compare": "previous"}),
            Figures::new(
                &["campaign"],
                &["conversions", "conversions_before", "conversions_change", "conversions_growth"],
                campaigns.iter().map(|(c, n)| (texts(&[c]), compared(*n, campaigns_before[c]))),
            ),
        ),
        asked(
            "By how many points did the click rate change in October?",
            json!({"source": "ads", "measures": ["ctr"], "period": {"month": "2026-10"}, "compare": "previous"}),
            points(ads, october, september),
        ),
        asked(
            "Phones against desktops, per campaign",
            json!({"source": "ads", "measures": ["clicks"], "by": ["campaign"], "compare": {"values": {"device": ["Mobile", "Desktop"]}}}),
            phones_against_desktops(ads),
        ),
        explained(ads, october, september),
    ]
}

/// A rate changes by points, and grows by percent.
fn points(ads: &[Ad], now: Span, before: Span) -> Figures {
    let of = |span| {
        within(ads, span)
            .fold((0, 0), |(clicks, all), ad| (clicks + ad.clicks, all + ad.impressions))
    };
    let ((clicks, all), (clicks_before, all_before)) = (of(now), of(before));
    // The change is that of the shown rates, and the growth that of the exact ones.
    let (now, before) = (ratio(clicks, all), ratio(clicks_before, all_before));
    let change = now.zip(before).map(|(now, before)| now - before);
    let former = clicks_before * all;
    let growth = ratio(clicks * all_before - former, former);
    Figures::single(
        &["ctr", "ctr_before", "ctr_change", "ctr_growth"],
        vec![now, before, change, growth],
    )
}

fn phones_against_desktops(ads: &[Ad]) -> Figures {
    let of = |device: &str| {
        sums(ads.iter().filter(|ad| ad.device == device), |ad| ad.campaign, |ad| ad.clicks)
    };
    let (phones, desktops) = (of("Mobile"), of("Desktop"));
    let rows = phones.iter().map(|(c, n)| (texts(&[c]), compared(*n, desktops[c])));
    let columns = ["clicks", "clicks_compared", "clicks_change", "clicks_growth"];
    Figures::new(&["campaign"], &columns, rows.collect::<Vec<_>>())
}

/// Returns the value of a dimension.
type KeyOf = fn(&Ad) -> &'static str;

/// Explains a change: the part of each value of two dimensions, the largest first.
fn explained(ads: &[Ad], now: Span, before: Span) -> Question {
    let mut rows: Vec<(Vec<String>, Vec<Figure>)> = Vec::new();
    let of = |span, key: KeyOf| sums(within(ads, span), key, |ad| ad.clicks);
    let total = |span| within(ads, span).map(|ad| ad.clicks).sum::<i128>();
    let change = total(now) - total(before);
    let keys: [(&str, KeyOf); 2] = [("device", |ad| ad.device), ("account", |ad| ad.account)];
    for (dimension, key) in keys {
        let before = of(before, key);
        for (value, n) in of(now, key) {
            let part = n - before[value];
            let figures = vec![whole(before[value]), whole(n), whole(part), ratio(part, change)];
            rows.push((texts(&[dimension, value]), figures));
        }
    }
    rows.sort_by_key(|(names, figures)| {
        (std::cmp::Reverse(figures[2].map(i128::abs)), names.clone())
    });
    let columns = ["before", "now", "contribution", "share_of_change"];
    Question {
        words: "What explains the change of clicks in October?",
        tool: "data.explain_change",
        arguments: json!({"query": {"source": "ads", "explain": {"measure": "clicks", "by": ["device", "account"]}, "period": {"month": "2026-10"}}}),
        figures: Figures::new(&["dimension", "value"], &columns, rows).ordered(),
    }
}

pub(super) fn times(all: &Portfolio) -> Vec<Question> {
    let ads = &all.ads;
    let weekdays = sums(ads, |ad| ad.day.weekday().number_from_monday(), |ad| ad.clicks);
    let months = span([(2026, 8, 1), (2026, 10, 31)]);
    let monthly = sums(within(ads, months), |ad| ad.day.with_day(1).unwrap(), |ad| ad.clicks);
    let weeks = span([(2026, 11, 2), (2026, 11, 22)]);
    let monday = |ad: &Ad| ad.day - Days::new(ad.day.weekday().num_days_from_monday().into());
    let weekly = sums(within(ads, weeks), monday, |ad| ad.clicks);
    let quarters = sums(ads, |ad| quarter(ad.day), |ad| ad.conversions);
    let per_day = |clicks| ratio(clicks, 31);
    let october = span([(2026, 10, 1), (2026, 10, 31)]);
    let devices = sums(within(ads, october), |ad| ad.device, |ad| ad.clicks);
    let counted = |(time, n): (NaiveDate, i128)| (time, whole(n));
    vec![
        asked(
            "Clicks by weekday",
            json!({"source": "ads", "measures": ["clicks"], "by": [{"time": "weekday"}]}),
            Figures::by("weekday", "clicks", weekdays.into_iter().map(|(d, n)| (d, whole(n))))
                .ordered(),
        ),
        asked(
            "Clicks of the last three full months",
            json!({"source": "ads", "measures": ["clicks"], "by": [{"time": "month"}], "period": {"last": {"months": 3}}}),
            Figures::by("month", "clicks", monthly.into_iter().map(counted)).ordered(),
        ),
        asked(
            "Clicks of three weeks",
            json!({"source": "ads", "measures": ["clicks"], "by": [{"time": "week"}], "period": written(weeks)}),
            Figures::by("week", "clicks", weekly.into_iter().map(counted)).ordered(),
        ),
        asked(
            "Conversions by quarter",
            json!({"source": "ads", "measures": ["conversions"], "by": [{"time": "quarter"}]}),
            Figures::by("quarter", "conversions", quarters.into_iter().map(counted)).ordered(),
        ),
        asked(
            "How many clicks a day had October, by device?",
            json!({"source": "ads", "measures": [{"measure": "clicks", "per": "day", "as": "daily"}], "by": ["device"], "period": {"month": "2026-10"}}),
            Figures::by("device", "daily", devices.into_iter().map(|(d, n)| (d, per_day(n)))),
        ),
    ]
}

fn quarter(date: NaiveDate) -> NaiveDate {
    day(date.year(), date.month0() / 3 * 3 + 1, 1)
}

pub(super) fn courses(all: &Portfolio) -> Vec<Question> {
    let ads = &all.ads;
    let daily = sums(ads, |ad| ad.day, |ad| ad.clicks);
    let november = span(NOVEMBER);
    let october = span([(2026, 10, 1), (2026, 10, 31)]);
    let of = |span: Span| daily.range(span.0..=span.1).map(|(day, n)| (*day, *n));
    let mut so_far = 0;
    let running = of(november).map(|(day, n)| {
        so_far += n;
        (day, whole(so_far))
    });
    let running: Vec<(NaiveDate, Figure)> = running.collect();
    let week = |last: NaiveDate| of((last - Days::new(6), last)).map(|(_, n)| n).sum::<i128>();
    let rolling = of(november).map(|(day, _)| (day, whole(week(day))));
    let days: Vec<i128> = of(october).map(|(_, n)| n).collect();
    let mean = ratio(days.iter().sum(), i128::try_from(days.len()).unwrap());
    let most = days.iter().max().copied().and_then(whole);
    let chart = of(october).map(|(day, n)| (day, whole(n)));
    vec![
        asked(
            "The running total of November's clicks",
            json!({"source": "ads", "measures": [{"measure": "clicks", "running": true, "as": "so_far"}], "by": [{"time": "day"}], "period": written(november)}),
            Figures::by("day", "so_far", running).ordered(),
        ),
        asked(
            "Clicks of the last seven days, for each day of November",
            json!({"source": "ads", "measures": [{"measure": "clicks", "rolling": {"days": 7}, "as": "week"}], "by": [{"time": "day"}], "period": written(november)}),
            Figures::by("day", "week", rolling.collect::<Vec<_>>()).ordered(),
        ),
        asked(
            "The average and the best day of October",
            json!({"source": "ads", "measures": ["clicks"], "by": [{"time": "day"}], "period": {"month": "2026-10"}, "then": {"measures": [{"average": "clicks", "as": "mean"}, {"greatest": "clicks", "as": "most"}]}}),
            Figures::single(&["mean", "most"], vec![mean, most]),
        ),
        asked(
            "Orders of the brand in the store in November, with days without one",
            json!({"source": "orders", "measures": ["orders"], "by": [{"time": "day"}], "where": [{"campaign": ["Brand"]}, {"channel": ["Store"]}], "period": written(november), "fill": true}),
            filled(all, november),
        ),
        asked(
            "Clicks of campaigns, with a column for each device",
            json!({"source": "ads", "measures": ["clicks"], "by": ["campaign", "device"], "pivot": "device"}),
            pivoted(ads),
        ),
        Question {
            words: "Draw the clicks of October",
            tool: "data.chart",
            arguments: json!({"query": {"source": "ads", "measures": ["clicks"], "by": [{"time": "day"}], "period": {"month": "2026-10"}}}),
            figures: Figures::by("day", "clicks", chart.collect::<Vec<_>>()).ordered(),
        },
    ]
}

fn filled(all: &Portfolio, (first, last): Span) -> Figures {
    let own =
        all.orders.iter().filter(|order| order.campaign == "Brand" && order.channel == "Store");
    let counts = sums(own, |order| order.day, |_| 1);
    let days = first.iter_days().take_while(|day| *day <= last);
    let rows = days.map(|day| (day, whole(counts.get(&day).copied().unwrap_or_default())));
    Figures::by("day", "orders", rows.collect::<Vec<_>>()).ordered()
}

fn pivoted(ads: &[Ad]) -> Figures {
    let mut rows: BTreeMap<&str, BTreeMap<&str, i128>> = BTreeMap::new();
    for ad in ads {
        *rows.entry(ad.campaign).or_default().entry(ad.device).or_default() += ad.clicks;
    }
    let devices = ["Desktop", "Mobile", "Tablet"];
    let row = |of: &BTreeMap<&str, i128>| devices.map(|device| whole(of[device])).to_vec();
    Figures::new(&["campaign"], &devices, rows.iter().map(|(c, of)| (texts(&[c]), row(of))))
}
