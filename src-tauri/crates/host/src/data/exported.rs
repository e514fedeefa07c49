//! Finds the file that each day of a source comes from, and the day of that file. Some values change
//! for days after their own: they settle in a file that is later, and not as time goes by.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use contract::{
    definitions::Definitions,
    sources::{DayRange, ExportedDays, ImportMode},
};
use engine::ports::Profile as _;

use super::{Inner, storage::State};

/// The values that limit the rows of an import, by column.
type Values = BTreeMap<String, Vec<String>>;

/// The rows of an import.
struct Export<'a> {
    rows: ExportedDays,
    values: &'a Values,
    /// The days whose earlier rows of the same values are gone.
    replaces: Vec<DayRange>,
}

impl Inner {
    /// Returns the days of a source with the files that they come from, the newest import first.
    /// Empty if no measure settles, because nothing else needs them.
    pub(super) fn exports(&self, definitions: &Definitions, chain: &[State]) -> Vec<ExportedDays> {
        if definitions.measures.values().all(|measure| measure.settles_after.is_none()) {
            return Vec::new();
        }
        let zone = self.profile.time_zone().parse().unwrap_or(chrono_tz::UTC);
        exports_in_force(chain.iter().filter_map(|state| export_of(state, zone)))
    }
}

/// Returns the rows of an import. None without days.
fn export_of(state: &State, zone: Tz) -> Option<Export<'_>> {
    let (report, change) = (&state.import.report, &state.import.change);
    let rows = report.days.map(|days| DayRange { first: days.first, last: days.last });
    let days = change.scope.days.or(rows)?;
    let day = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
    let file = state.file.modified_at.map(day);
    let (on, is_file_day) = day_of(file, day(state.import.at), rows.map(|rows| rows.last));
    Some(Export {
        rows: ExportedDays { days, on, is_file_day },
        values: &change.scope.values,
        replaces: match (change.mode, change.kept_days) {
            (ImportMode::Add, _) => Vec::new(),
            (_, Some(kept)) => without(&[days], kept),
            (_, None) => vec![days],
        },
    })
}

/// Returns the day up to which a file tells, and whether it is that of the file. A file that is older
/// than its last row, or newer than its import, has a wrong day.
fn day_of(
    file: Option<NaiveDate>,
    imported: NaiveDate,
    last_row: Option<NaiveDate>,
) -> (NaiveDate, bool) {
    let is_right = |day: &NaiveDate| *day <= imported && last_row.is_none_or(|last| *day >= last);
    file.filter(is_right).map_or((imported, false), |day| (day, true))
}

/// Returns the days of each import that no newer one has taken the place of.
fn exports_in_force<'a>(newest_first: impl Iterator<Item = Export<'a>>) -> Vec<ExportedDays> {
    let mut found = Vec::new();
    let mut taken: Vec<(&Values, Vec<DayRange>)> = Vec::new();
    for Export { rows, values, replaces } in newest_first {
        let mut left = vec![rows.days];
        for (newer, ranges) in &taken {
            if !covers(newer, values) {
                continue;
            }
            for range in ranges {
                left = without(&left, *range);
            }
        }
        found.extend(left.into_iter().map(|days| ExportedDays { days, ..rows }));
        for days in replaces {
            match taken.iter_mut().find(|(newer, _)| *newer == values) {
                Some((_, ranges)) => join(ranges, days),
                None => taken.push((values, vec![days])),
            }
        }
    }
    found
}

/// Whether the values of an import include those of an older one.
fn covers(newer: &Values, older: &Values) -> bool {
    newer.iter().all(|(column, known)| {
        older.get(column).is_some_and(|own| own.iter().all(|value| known.contains(value)))
    })
}

/// Returns the days without those of a range.
fn without(days: &[DayRange], taken: DayRange) -> Vec<DayRange> {
    let (before, after) = (taken.first.pred_opt(), taken.last.succ_opt());
    days.iter()
        .flat_map(|one| {
            let head = before.map(|day| DayRange { last: one.last.min(day), ..*one });
            let tail = after.map(|day| DayRange { first: one.first.max(day), ..*one });
            [head, tail].into_iter().flatten()
        })
        .filter(|range| range.first <= range.last)
        .collect()
}

/// Adds a range to ranges that neither overlap nor touch, so that many imports stay few ranges.
fn join(ranges: &mut Vec<DayRange>, new: DayRange) {
    let mut joined = new;
    let touches = |one: &DayRange| {
        let is_after = new.last.succ_opt().is_some_and(|next| next < one.first);
        let is_before = one.last.succ_opt().is_some_and(|next| next < new.first);
        !is_after && !is_before
    };
    ranges.retain(|one| {
        if !touches(one) {
            return true;
        }
        joined.first = joined.first.min(one.first);
        joined.last = joined.last.max(one.last);
        false
    });
    ranges.push(joined);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(day: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 11, day).unwrap()
    }

    fn days(first: u32, last: u32) -> DayRange {
        DayRange { first: day(first), last: day(last) }
    }

    fn export(range: DayRange, on: u32, values: &Values, replaces: bool) -> Export<'_> {
        let rows = ExportedDays { days: range, on: day(on), is_file_day: true };
        Export { rows, values, replaces: if replaces { vec![range] } else { Vec::new() } }
    }

    fn of_account(account: &str) -> Values {
        [("Account".to_owned(), vec![account.to_owned()])].into()
    }

    /// Returns the days in force, and the day of their file.
    fn in_force(exports: Vec<Export<'_>>) -> Vec<(DayRange, NaiveDate)> {
        exports_in_force(exports.into_iter()).into_iter().map(|one| (one.days, one.on)).collect()
    }

    #[test]
    fn a_day_comes_from_the_newest_file_that_has_it() {
        let all = Values::new();
        let found = in_force(vec![
            export(days(10, 20), 21, &all, true),
            export(days(21, 22), 23, &all, true),
            export(days(1, 30), 5, &all, true),
        ]);
        assert_eq!(
            found,
            [
                (days(10, 20), day(21)),
                (days(21, 22), day(23)),
                (days(1, 9), day(5)),
                (days(23, 30), day(5)),
            ]
        );
    }

    #[test]
    fn rows_of_other_accounts_and_added_rows_stay() {
        let (one, other, all) = (of_account("one"), of_account("other"), Values::new());
        let found = in_force(vec![
            export(days(1, 10), 20, &one, true),
            export(days(1, 10), 15, &other, true),
            export(days(1, 10), 11, &one, true),
        ]);
        assert_eq!(found, [(days(1, 10), day(20)), (days(1, 10), day(15))]);
        let added = export(days(1, 10), 20, &all, false);
        let found = in_force(vec![added, export(days(1, 10), 11, &one, true)]);
        assert_eq!(found, [(days(1, 10), day(20)), (days(1, 10), day(11))]);
    }

    #[test]
    fn rows_that_only_the_older_file_has_are_those_of_its_day() {
        let all = Values::new();
        let by_key = Export {
            replaces: without(&[days(1, 30)], days(12, 12)),
            ..export(days(1, 30), 30, &all, false)
        };
        let found = in_force(vec![by_key, export(days(10, 20), 21, &all, true)]);
        assert_eq!(found, [(days(1, 30), day(30)), (days(12, 12), day(21))]);
    }

    #[test]
    fn a_file_with_a_wrong_day_counts_from_its_import() {
        assert_eq!(day_of(Some(day(12)), day(20), Some(day(10))), (day(12), true));
        assert_eq!(day_of(Some(day(9)), day(20), Some(day(10))), (day(20), false));
        assert_eq!(day_of(Some(day(21)), day(20), Some(day(10))), (day(20), false));
        assert_eq!(day_of(None, day(20), None), (day(20), false));
    }
}
