//! Tests of the sample as sources: its figures against an independent calculation from its files, and
//! what becomes of it on the next day.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use contract::{
    Commands as _, Empty, SourceView,
    metric_query::{DataResult, MeasureParams, read_metric_query},
    sources::ImportDecisions,
};
use engine::ports::Clock;
use host::Options;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{World, named};

/// The account whose figures are compared.
const ACCOUNT: &str = "17";

/// A clock that the test sets.
struct Set(Mutex<DateTime<Utc>>);

impl Clock for Set {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock()
    }
}

/// A file that stays in memory.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the rows of the sample's files for the account, by the name of the file. A row has its
/// cells by heading.
fn rows_of_sample(now: DateTime<Utc>) -> BTreeMap<String, Vec<BTreeMap<String, String>>> {
    let mut files: BTreeMap<String, Kept> = BTreeMap::new();
    let samples = shipped_packs::all().samples;
    samples[0]
        .write_tables(now, &mut |name: &str| {
            let file = files.entry(name.to_owned()).or_default().clone();
            Ok(Box::new(file) as Box<dyn Write>)
        })
        .unwrap();
    let read = |(name, file): (String, Kept)| {
        let text = String::from_utf8(file.0.lock().clone()).unwrap();
        assert!(!text.contains('"'), "no cell needs quotes");
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
        let headings: Vec<String> = lines.next().unwrap().collect();
        let rows = lines.map(|cells| -> BTreeMap<String, String> {
            headings.iter().cloned().zip(cells).collect()
        });
        let own = |row: &BTreeMap<String, String>| row["Account ID"] == ACCOUNT;
        let rows: Vec<BTreeMap<String, String>> = rows.filter(own).collect();
        (name, rows)
    };
    files.into_iter().map(read).collect()
}

fn cents(text: &str) -> i64 {
    let (_, decimals) = text.split_once('.').unwrap();
    assert_eq!(decimals.len(), 2, "{text}");
    text.replace('.', "").parse().unwrap()
}

fn number(cell: &Value) -> f64 {
    cell.as_f64().or_else(|| cell.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{cell}"))
}

fn is_near(one: f64, cents: i64) -> bool {
    (one * 100.0 - f64::from(i32::try_from(cents).unwrap())).abs() < 0.5
}

/// Returns the verdict on a budget whose plan is even, from the rules in docs/contracts/pacing.md.
fn verdict(
    budget: i64,
    spent: i64,
    (first, last): (NaiveDate, NaiveDate),
    today: NaiveDate,
) -> &'static str {
    let days = (last - first).num_days() + 1;
    let known = (today - first).num_days().min(days);
    // Hundred thousandths, so that a limit is met exactly.
    let parts = |part: i64, of: i64| (part - of) * 100_000 / of;
    if today < first {
        "not_started"
    } else if last < today {
        match parts(spent, budget) {
            ..-2_000 => "under_delivered",
            -2_000..=2_000 => "delivered",
            _ => "over_delivered",
        }
    } else if known < 3 || known * 10 < days {
        "too_early"
    } else {
        match parts(spent * days, budget * known) {
            ..-20_000 => "behind",
            -20_000..-5_000 => "slightly_behind",
            -5_000..=5_000 => "on_track",
            5_001..=20_000 => "slightly_ahead",
            _ => "ahead",
        }
    }
}

impl World {
    async fn add_sample(&self) -> contract::SourceJobView {
        let job = self.host.source_sample(Empty {}).await.unwrap();
        self.end_of(job).await
    }

    async fn listed(&self) -> BTreeMap<String, SourceView> {
        let sources = self.host.sources_list(Empty {}).await.unwrap().sources;
        sources.into_iter().map(|source| (source.name.0.clone(), source)).collect()
    }

    async fn measured(&self, by: &[&str]) -> DataResult {
        let asked = json!({
            "source": "pacing",
            "measures": ["spend", "budget"],
            "by": by,
            "where": [{"account_id": [ACCOUNT]}],
        });
        let query = read_metric_query(&asked).unwrap();
        self.host.source_measure(MeasureParams { query, cursor: None }).await.unwrap()
    }
}

fn column(result: &DataResult, name: &str) -> usize {
    let found = result.columns.iter().position(|column| column.name == name);
    found.unwrap_or_else(|| panic!("{name} in {:?}", result.columns))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_becomes_sources_with_right_figures_and_moves_with_the_calendar() {
    let begin: DateTime<Utc> = "2026-11-18T20:00:00Z".parse().unwrap();
    let clock = Arc::new(Set(Mutex::new(begin)));
    let with = |options: Options| Options {
        clock: Arc::clone(&clock) as _,
        pack_code: shipped_packs::all(),
        ..options
    };
    let world = World::with(with).await;
    let added = world.add_sample().await;
    assert_eq!(added.failure, None);
    assert_eq!(added.results.unwrap().len(), 2);
    let listed = world.listed().await;
    assert_eq!(listed.keys().collect::<Vec<_>>(), ["campaigns", "delivery", "pacing"]);
    for source in listed.values() {
        assert!(source.is_sample && source.proposed == 0, "{source:?}");
        assert!(source.notes.iter().any(|note| note.contains("Fictional sample")), "{source:?}");
    }

    let rows = rows_of_sample(begin);
    let sum = |file: &str, heading: &str| -> i64 {
        rows[file].iter().map(|row| cents(&row[heading])).sum()
    };
    let result = world.measured(&[]).await;
    assert!(result.notes.iter().any(|note| note.contains("Fictional sample")), "{result:?}");
    let (spend, budget) = (column(&result, "spend"), column(&result, "budget"));
    assert_eq!(result.rows.len(), 1, "{result:?}");
    assert!(is_near(number(&result.rows[0][spend]), sum("delivery.csv", "Spend")), "{result:?}");
    assert!(is_near(number(&result.rows[0][budget]), sum("campaigns.csv", "Budget")), "{result:?}");
    check_verdicts(&world, &rows).await;

    let again = world.add_sample().await;
    assert_eq!((again.failure, again.results.unwrap().len()), (None, 0));
    assert!(again.notes[0].contains("already there"), "{:?}", again.notes);
    let own = world.write("own.csv", "Day,Campaign,Cost\n2026-11-01,Oak,1.00\n");
    let params = contract::SourceAddParams {
        name: Some("delivery".into()),
        ..world.params(&own, ImportDecisions::default())
    };
    let refused = world.run(params).await.failure.unwrap();
    assert_eq!(refused.reason_text(), Some("is_sample"), "{refused:?}");

    // The next day, a start makes it again.
    *clock.0.lock() += TimeDelta::days(1);
    let world = world.open_again(with).await;
    let last = listed["delivery"].days.unwrap().last + Days::new(1);
    let renewed = until(&world, |listed| listed["delivery"].days.unwrap().last == last).await;
    assert_eq!(renewed.len(), 3, "no source was added");
    let is_whole = |listed: &BTreeMap<String, SourceView>| listed["campaigns"].rows == Some(40);
    assert!(is_whole(&listed) && is_whole(&renewed), "the rows before were replaced");
    assert_eq!(renewed["delivery"].imports.len(), 1);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_somebody_wrote_are_not_approved_with_the_sample() {
    let world = World::with(|options| Options { pack_code: shipped_packs::all(), ..options }).await;
    world.add_sample().await;
    let file = world.data("sources/delivery/definitions.yaml");
    let shipped = fs::read_to_string(&file).unwrap();
    let written = shipped.replace("measures:\n", "measures:\n  odd: {average: Spend}\n");
    assert_ne!(written, shipped);
    fs::write(&file, written).unwrap();
    world.host.source_remove(named(&"campaigns".into())).await.unwrap();
    let again = world.add_sample().await;
    assert_eq!((again.failure, again.results.unwrap().len()), (None, 1));
    let listed = world.listed().await;
    let proposed = |name: &str| listed[name].proposed;
    assert_eq!((proposed("delivery"), proposed("campaigns"), proposed("pacing")), (1, 0, 0));
    world.host.stop().await;
}

/// Waits until the sources are as expected.
async fn until(
    world: &World,
    is_there: impl Fn(&BTreeMap<String, SourceView>) -> bool,
) -> BTreeMap<String, SourceView> {
    for _ in 0..1_000 {
        let listed = world.listed().await;
        if is_there(&listed) {
            return listed;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the sources stay as they are: {:?}", world.listed().await);
}

async fn check_verdicts(world: &World, rows: &BTreeMap<String, Vec<BTreeMap<String, String>>>) {
    // At 20:00 UTC it is the same day in Los Angeles.
    let today: NaiveDate = "2026-11-18".parse().unwrap();
    let day = |text: &String| -> NaiveDate { text.parse().unwrap() };
    let spent = |campaign: &String| -> i64 {
        let own = rows["delivery.csv"].iter().filter(|row| row["Campaign"] == *campaign);
        own.filter(|row| day(&row["Day"]) < today).map(|row| cents(&row["Spend"])).sum()
    };
    let expected: BTreeMap<String, &str> = rows["campaigns.csv"]
        .iter()
        .map(|row| {
            let flight = (day(&row["Start"]), day(&row["End"]));
            let verdict = verdict(cents(&row["Budget"]), spent(&row["Campaign"]), flight, today);
            (row["Campaign"].clone(), verdict)
        })
        .collect();
    let result = world.measured(&["campaign", "status"]).await;
    let (campaign, status) = (column(&result, "campaign"), column(&result, "status"));
    let text = |cell: &Value| cell.as_str().unwrap_or_default().to_owned();
    let told: BTreeMap<String, String> =
        result.rows.iter().map(|row| (text(&row[campaign]), text(&row[status]))).collect();
    assert_eq!(told.len(), expected.len(), "{told:?}");
    for (campaign, verdict) in &expected {
        assert_eq!(told[campaign], *verdict, "{campaign}");
    }
    assert!(told.values().any(|status| status == "behind"), "{told:?}");
}
