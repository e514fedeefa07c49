//! Profiles of columns: those of random tables equal a slow computation, and odd values have honest
//! figures.

use std::{cell::Cell, collections::BTreeMap};

use chrono::NaiveDate;
use contract::sources::{
    AskLimits, AskProfile, AskedSource, ColumnKind, ColumnProfile, SourceProfile, ValueCount,
};
use csign_data::{DataError, serve::Asker, stop::Stop};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::world::{World, column};

/// Returns the call that profiles all columns of a source.
pub(crate) fn ask(source: AskedSource) -> AskProfile {
    AskProfile { source, columns: Vec::new(), limits: AskLimits::default() }
}

fn profile(asker: &Asker, source: AskedSource) -> SourceProfile {
    asker.profile(&ask(source), &Stop::never()).unwrap()
}

/// Returns the profile of a column.
pub(crate) fn of<'a>(profile: &'a SourceProfile, name: &str) -> &'a ColumnProfile {
    profile.columns.iter().find(|column| column.name == name).unwrap()
}

fn counts(column: &ColumnProfile) -> Vec<(&str, u64)> {
    column.frequent.iter().map(|one| (one.value.as_str(), one.rows)).collect()
}

/// A row of a random table: hundredths, a text and a day after the first one.
type Row = (Option<i32>, Option<String>, Option<u16>);

fn day(after: u16) -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 1, 1).unwrap() + chrono::TimeDelta::days(after.into())
}

fn cents(text: &str) -> i128 {
    let (whole, places) = text.split_once('.').unwrap();
    assert_eq!(places.len(), 2, "{text}");
    format!("{whole}{places}").parse().unwrap()
}

fn shown_cents(cents: &i128) -> String {
    let sign = if *cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

/// Writes the rows as a SELECT.
fn select(rows: &[Row]) -> String {
    let literal = |text: Option<String>, kind: &str| match text {
        Some(text) => format!("CAST('{text}' AS {kind})"),
        None => format!("CAST(NULL AS {kind})"),
    };
    let write = |(number, text, after): &Row| {
        let number = number.map(|cents| shown_cents(&cents.into()));
        format!(
            "SELECT {} AS n, {} AS t, {} AS d",
            literal(number, "DECIMAL(18, 2)"),
            literal(text.clone(), "VARCHAR"),
            literal(after.map(|after| day(after).to_string()), "DATE")
        )
    };
    match rows {
        [] => format!("{} WHERE false", write(&(None, None, None))),
        rows => rows.iter().map(write).collect::<Vec<_>>().join(" UNION ALL "),
    }
}

/// Checks what all kinds of values have in common. `shown` are the values as texts, with their order.
fn check_values<V: Ord + Clone>(
    found: &ColumnProfile,
    rows: usize,
    values: &[V],
    shown: impl Fn(&V) -> String,
) -> Result<(), TestCaseError> {
    let mut tally: BTreeMap<V, u64> = BTreeMap::new();
    for value in values {
        *tally.entry(value.clone()).or_default() += 1;
    }
    prop_assert_eq!(found.empty as usize, rows - values.len());
    prop_assert_eq!(found.distinct as usize, tally.len());
    prop_assert!(!found.is_distinct_estimated && found.notes.is_empty());
    prop_assert_eq!(&found.least, &values.iter().min().map(&shown));
    prop_assert_eq!(&found.greatest, &values.iter().max().map(&shown));
    let mut frequent: Vec<(&V, u64)> = tally.iter().map(|(value, rows)| (value, *rows)).collect();
    frequent.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
    frequent.truncate(if tally.len() == values.len() { 0 } else { 10 });
    let frequent: Vec<ValueCount> = frequent
        .into_iter()
        .map(|(value, rows)| ValueCount { value: shown(value), rows })
        .collect();
    prop_assert_eq!(&found.frequent, &frequent);
    Ok(())
}

/// Checks that each value is in the range that counts it, and that the ranges touch.
fn check_ranges(
    found: &ColumnProfile,
    values: &[i128],
    read: impl Fn(&str) -> i128,
) -> Result<(), TestCaseError> {
    prop_assert!(found.ranges.len() <= 31);
    prop_assert_eq!(found.ranges.is_empty(), values.is_empty());
    let mut next = values.iter().min().copied();
    let lengths: Vec<i128> =
        found.ranges.iter().map(|range| read(&range.to) - read(&range.from)).collect();
    // Only the last range may be shorter.
    let first = lengths.first().copied();
    prop_assert!(lengths.iter().rev().skip(1).all(|length| Some(*length) == first));
    prop_assert!(lengths.last().copied() <= first);
    for range in &found.ranges {
        let (from, to) = (read(&range.from), read(&range.to));
        prop_assert_eq!(Some(from), next);
        let inside = values.iter().filter(|value| (from..=to).contains(*value)).count();
        prop_assert_eq!(range.rows as usize, inside);
        next = Some(to + 1);
    }
    prop_assert_eq!(next, values.iter().max().map(|greatest| greatest + 1));
    Ok(())
}

fn check(found: &SourceProfile, rows: &[Row]) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.rows as usize, rows.len());
    let numbers: Vec<i128> = rows.iter().filter_map(|row| row.0).map(i128::from).collect();
    let column = of(found, "n");
    check_values(column, rows.len(), &numbers, shown_cents)?;
    check_ranges(column, &numbers, cents)?;
    let sum: i128 = numbers.iter().sum();
    // The mean has eight places: two of the values, and six more.
    let expected = i128::try_from(numbers.len()).ok().filter(|count| *count > 0).map(|count| {
        let hundred_millionths = sum * 1_000_000;
        let half = if sum < 0 { -count } else { count };
        (2 * hundred_millionths + half) / (2 * count)
    });
    let mean = column.mean.as_ref().map(|text| {
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        format!("{whole}{places:0<8}").parse::<i128>().unwrap()
    });
    prop_assert_eq!(mean, expected);

    let texts: Vec<String> =
        rows.iter().filter_map(|row| row.1.clone()).filter(|text| !text.is_empty()).collect();
    let column = of(found, "t");
    check_values(column, rows.len(), &texts, String::clone)?;
    let length = |text: &String| text.chars().count() as u64;
    let lengths = column.lengths.as_ref();
    prop_assert_eq!(lengths.map(|one| one.shortest), texts.iter().map(length).min());
    prop_assert_eq!(lengths.map(|one| one.longest), texts.iter().map(length).max());
    prop_assert!(column.ranges.is_empty() && column.mean.is_none());

    let days: Vec<NaiveDate> = rows.iter().filter_map(|row| row.2).map(day).collect();
    let column = of(found, "d");
    check_values(column, rows.len(), &days, NaiveDate::to_string)?;
    let number = |day: NaiveDate| i128::from(day.to_epoch_days());
    let numbers: Vec<i128> = days.into_iter().map(number).collect();
    check_ranges(column, &numbers, |text| number(text.parse().unwrap()))
}

#[test]
fn a_profile_is_that_of_a_slow_computation() {
    let world = World::new();
    let asker = world.asker();
    let columns = [
        column("n", ColumnKind::Decimal, 2),
        column("t", ColumnKind::Text, 0),
        column("d", ColumnKind::Day, 0),
    ];
    let number = prop_oneof![-300..300_i32, any::<i32>()];
    let row = (
        prop::option::of(number),
        prop::option::of("[aAé 0-9]{0,2}"),
        prop::option::of(prop_oneof![0..5_u16, 0..900_u16]),
    );
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if std::env::var_os("SOAK").is_some() { 400 } else { 40 })
    });
    let cases = Cell::new(0_u32);
    runner
        .run(&prop::collection::vec(row, 0..50), |rows| {
            cases.set(cases.get() + 1);
            let part = world.part(&format!("case{}", cases.get()), &select(&rows), &columns);
            check(&profile(&asker, world.source("random", &[part])), &rows)
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn columns_without_values_and_with_one_value_have_no_frequent_values() {
    let world = World::new();
    let part = world.part(
        "a",
        "SELECT CAST(NULL AS DECIMAL(18, 2)) AS none, CAST(7 AS BIGINT) AS one, '' AS blank, CAST(NULL AS BOOLEAN) AS flag",
        &[
            column("none", ColumnKind::Decimal, 2),
            column("one", ColumnKind::Whole, 0),
            column("blank", ColumnKind::Text, 0),
            column("flag", ColumnKind::Flag, 0),
        ],
    );
    let found = profile(&world.asker(), world.source("ads", &[part]));
    assert_eq!((found.rows, found.left.len()), (1, 0));
    for name in ["none", "blank", "flag"] {
        let empty = of(&found, name);
        let expected = ColumnProfile {
            name: name.to_owned(),
            kind: empty.kind,
            empty: 1,
            ..ColumnProfile::default()
        };
        assert_eq!(*empty, expected);
    }
    let one = of(&found, "one");
    assert_eq!((one.distinct, one.mean.as_deref(), one.empty), (1, Some("7"), 0));
    assert_eq!((one.ranges.len(), one.ranges[0].rows, one.frequent.len()), (1, 1, 0));
}

#[test]
fn flags_moments_and_texts_have_the_figures_of_their_kind() {
    let world = World::new();
    let long = "x".repeat(250);
    let part = world.part(
        "a",
        &format!(
            "SELECT * FROM (VALUES (true, TIMESTAMP '2026-11-01 09:00:00', '0012', '1e308'), \
             (true, TIMESTAMP '2026-11-01 09:00:00.5', '{long}', 'é'), \
             (false, NULL, '0012', '1e308')) t(paid, placed, code, size)"
        ),
        &[
            column("paid", ColumnKind::Flag, 0),
            column("placed", ColumnKind::Moment, 0),
            column("code", ColumnKind::Text, 0),
            column("size", ColumnKind::Text, 0),
        ],
    );
    let found = profile(&world.asker(), world.source("ads", &[part]));
    assert_eq!(counts(of(&found, "paid")), [("true", 2), ("false", 1)]);
    let placed = of(&found, "placed");
    assert_eq!(placed.least.as_deref(), Some("2026-11-01T09:00:00"));
    assert_eq!(placed.greatest.as_deref(), Some("2026-11-01T09:00:00.500000"));
    assert_eq!((placed.ranges.len(), placed.ranges[0].rows, placed.empty), (1, 2, 1));
    let code = of(&found, "code");
    assert_eq!(counts(code), [("0012", 2), (format!("{}…", "x".repeat(200)).as_str(), 1)]);
    let lengths = code.lengths.as_ref().unwrap();
    assert_eq!((lengths.shortest, lengths.longest, lengths.mean.as_str()), (4, 250, "86"));
    assert_eq!(of(&found, "size").greatest.as_deref(), Some("é"));
}

#[test]
fn decimals_with_all_their_digits_are_exact_or_say_that_they_are_not() {
    let world = World::new();
    let huge = format!("9{}", "0".repeat(35));
    let part = world.part(
        "a",
        &format!(
            "SELECT CAST('{huge}' AS DECIMAL(38, 2)) AS huge, CAST(k * 1000000000000 + 0.01 AS DECIMAL(38, 2)) AS big \
             FROM range(0, 3) t(k)"
        ),
        &[column("huge", ColumnKind::Decimal, 2), column("big", ColumnKind::Decimal, 2)],
    );
    let found = profile(&world.asker(), world.source("ads", &[part]));
    let column = of(&found, "huge");
    assert_eq!((column.distinct, column.mean.as_deref()), (1, None));
    assert!(column.notes[0].contains("the sum has too many digits"), "{column:?}");
    assert_eq!(column.ranges[0].rows, 3);
    let column = of(&found, "big");
    assert_eq!(column.mean.as_deref(), Some("1000000000000.01"));
    let rows: Vec<u64> = column.ranges.iter().map(|range| range.rows).collect();
    assert_eq!((rows.len(), rows[0], rows[7], rows[14]), (15, 1, 1, 1));
}

#[test]
fn columns_for_which_time_is_short_are_left_and_unknown_ones_are_refused() {
    let world = World::new();
    let columns = ["a", "b", "c"].map(|name| column(name, ColumnKind::Whole, 0));
    let query = "SELECT i AS a, i AS b, i AS c FROM range(1000) t(i)";
    let source = world.source("n", &[world.part("a", query, &columns)]);
    let asker = world.asker();
    let mut call = ask(source);
    call.columns = ["c", "a"].map(str::to_owned).to_vec();
    call.limits.millis = 1;
    let found = asker.profile(&call, &Stop::never()).unwrap();
    assert_eq!(
        (found.columns[0].name.as_str(), found.left.as_slice()),
        ("c", &["a".to_owned()][..])
    );
    call.columns = vec!["d".to_owned()];
    let error = asker.profile(&call, &Stop::never()).unwrap_err();
    assert!(matches!(error, DataError::Arguments(_)), "{error}");
    let stop = Stop::after(60_000);
    let end = stop.until_dropped();
    stop.cancel();
    call.columns = Vec::new();
    let error = asker.profile(&call, &stop).unwrap_err();
    drop(end);
    assert!(matches!(error, DataError::Cancelled), "{error}");
}

#[test]
fn a_profile_is_kept_for_its_version_of_the_data() {
    let world = World::new();
    let columns = [column("i", ColumnKind::Whole, 0)];
    let part = world.part("a", "SELECT i FROM range(5) t(i)", &columns);
    let mut source = world.source("n", &[part]);
    let asker = world.asker();
    let first = profile(&asker, source.clone());
    std::fs::remove_file(world.parts().join("a.parquet")).unwrap();
    assert_eq!(profile(&asker, source.clone()), first);
    source.version = Some("v2".to_owned());
    assert!(asker.profile(&ask(source), &Stop::never()).is_err(), "other rows are not kept");
}
