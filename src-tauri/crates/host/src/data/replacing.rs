//! Which stored rows give way to those of a file, and which import they came from. Pure: it reads and
//! stores nothing.

use contract::sources::{
    ColumnChoice, ColumnSum, ColumnUse, DaySpan, Exclusion, FoundColumn, ImportChange,
    ImportDecisions, ImportMode, ImportResult, ImportScope, PartRef, SumChange, TableReport,
};

use super::{
    comparing::{has_blank_days, identifier, whole},
    places::FileStamp,
    remembering,
    shared_columns::Shared,
    storage::{State, stored_columns},
};

/// The effect of a file on its source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Effect {
    pub(super) change: ImportChange,
    /// The number of former rows in the scope.
    pub(super) before: u64,
    /// The former names whose rows go although other rows that are not in the file stay, with their
    /// column.
    pub(super) renamed: Option<(String, Vec<String>)>,
}

impl Effect {
    /// Creates the effect of a file that excludes no former rows.
    pub(super) fn of(change: ImportChange) -> Self {
        Self { change, ..Self::default() }
    }
}

/// Excludes the rows that a file replaces from the parts before it. Parts that are replaced as a
/// whole go.
pub(super) fn exclude(
    parts: &mut Vec<PartRef>,
    part: &PartRef,
    effect: &Effect,
    report: &TableReport,
    chain: &[State],
) {
    let Some(state) = chain.first() else { return };
    let change = &effect.change;
    let shared = Shared::find(&report.columns, &state.columns);
    let time = shared.time.as_ref().map(|time| time.column.clone());
    let made = |file: &str| {
        chain.iter().find(|state| state.parts.last().is_some_and(|last| last.file == file))
    };
    let is_blank = has_blank_days(report);
    if change.mode == ImportMode::Replace {
        parts.retain(|before| {
            !made(&before.file).is_some_and(|state| {
                let keeps_blank = !is_blank && has_blank_days(&state.import.report);
                covers(&change.scope, &state.import.change.scope) && !keeps_blank
            })
        });
    }
    for before in parts {
        // A part that has no row of the scope stays as it is, so that manifests stay small.
        let is_apart = made(&before.file).is_some_and(|state| {
            let shares_blank = is_blank && has_blank_days(&state.import.report);
            !overlaps(&change.scope, &state.import.change.scope, time.is_some()) && !shares_blank
        });
        if !is_apart {
            for exclusion in exclusions(before, part, effect, &shared, is_blank) {
                add_exclusion(before, exclusion);
            }
        }
    }
}

/// Returns the exclusions of a part's rows that a later part replaces.
fn exclusions(
    before: &PartRef,
    part: &PartRef,
    effect: &Effect,
    shared: &Shared,
    has_blank_days: bool,
) -> Vec<Exclusion> {
    let scope = &effect.change.scope;
    let time = shared.time.as_ref().map(|time| time.column.clone());
    let of_scope = |scope: ImportScope| Exclusion::Scope { scope, time: time.clone() };
    match effect.change.mode {
        ImportMode::Add => Vec::new(),
        ImportMode::Replace => {
            let without_day = time.iter().filter(|_| has_blank_days).map(|time| {
                let mut blank = ImportScope { days: None, ..scope.clone() };
                blank.values.insert(time.clone(), vec![String::new()]);
                blank
            });
            std::iter::once(scope.clone()).chain(without_day).map(of_scope).collect()
        }
        ImportMode::Key => {
            let keys =
                Exclusion::Keys { of: part.file.clone(), columns: keys(before, scope, shared) };
            let renamed = effect.renamed.iter().map(|(label, names)| {
                let mut renamed = scope.clone();
                renamed.values.insert(label.clone(), names.clone());
                of_scope(renamed)
            });
            std::iter::once(keys).chain(renamed).collect()
        }
    }
}

/// Returns the columns by which rows of a part are equal to those of a later part.
fn keys(before: &PartRef, scope: &ImportScope, shared: &Shared) -> Vec<String> {
    let has = |column: &String| before.columns.iter().any(|one| one.name == *column);
    let mut columns: Vec<String> = shared.keys.iter().filter(|key| has(key)).cloned().collect();
    // A thing without its id is told apart by its name.
    let lacks_id = |id: usize| shared.keys.get(id).is_some_and(|id| !has(id));
    let names = shared.names.iter().filter(|(id, name)| lacks_id(*id) && has(name));
    columns.extend(names.map(|(_, name)| name.clone()));
    // Rows without an account are those of another account, unless a person said otherwise.
    for (column, values) in &scope.values {
        if !columns.contains(column) && !values.iter().any(String::is_empty) {
            columns.push(column.clone());
        }
    }
    columns
}

/// Adds an exclusion to a part, in place of those that it includes.
fn add_exclusion(part: &mut PartRef, exclusion: Exclusion) {
    if let Exclusion::Scope { scope, time } = &exclusion {
        part.without.retain(|known| {
            let Exclusion::Scope { scope: own, time: own_time } = known else { return true };
            own_time != time || !covers(scope, own)
        });
    }
    part.without.push(exclusion);
}

/// Whether all rows of one scope are within another.
fn covers(outer: &ImportScope, inner: &ImportScope) -> bool {
    let values = outer.values.iter().all(|(column, values)| {
        inner.values.get(column).is_some_and(|own| own.iter().all(|value| values.contains(value)))
    });
    let days = match (outer.days, inner.days) {
        (None, _) => true,
        (Some(outer), Some(inner)) => outer.first <= inner.first && inner.last <= outer.last,
        (Some(_), None) => false,
    };
    values && days
}

/// Whether rows can be in both scopes. The days count only if both refer to the same column.
fn overlaps(one: &ImportScope, other: &ImportScope, has_days: bool) -> bool {
    let days = match (one.days, other.days) {
        (Some(one), Some(other)) if has_days => one.first <= other.last && other.first <= one.last,
        _ => true,
    };
    let values = one.values.iter().all(|(column, values)| {
        let own = other.values.get(column);
        own.is_none_or(|own| own.iter().any(|value| values.contains(value)))
    });
    days && values
}

/// Returns the newest of the files that rows of a scope come from.
pub(super) fn newest_file<'a>(chain: &'a [State], scope: &ImportScope) -> Option<&'a FileStamp> {
    let mut newest: Option<&FileStamp> = None;
    for state in chain.iter().filter(|state| overlaps(scope, &state.import.change.scope, true)) {
        if newest.is_none_or(|newest| newest.modified_at < state.file.modified_at) {
            newest = Some(&state.file);
        }
        let change = &state.import.change;
        if change.mode == ImportMode::Replace && covers(&change.scope, scope) {
            break;
        }
    }
    newest
}

/// Returns the other files than that of a path from which rows of a scope come.
pub(super) fn other_files<'a>(
    chain: &'a [State],
    scope: &ImportScope,
    path: &str,
) -> Vec<&'a FileStamp> {
    let Some(present) = chain.first() else { return Vec::new() };
    let has_rows = |state: &&State| {
        let own = state.parts.last();
        own.is_some_and(|own| present.parts.iter().any(|part| part.file == own.file))
            && overlaps(scope, &state.import.change.scope, true)
    };
    let others = chain.iter().filter(has_rows).map(|state| &state.file);
    others.filter(|file| file.path != path).collect()
}

/// How content is stored that was imported before and is read in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// Its rows are in force.
    Present,
    /// Later files changed rows of its scope, and the file is not newer than it was then.
    Superseded,
}

/// Returns how the content of a file is stored already, so that nothing changes. None if it has to
/// be imported.
pub(super) fn stored_content(
    result: &ImportResult,
    scope: &ImportScope,
    file: &FileStamp,
    chain: &[State],
) -> Option<Stored> {
    let mode = result.decisions.mode.unwrap_or_default();
    let is_same = |state: &&State| {
        let former = state.import.decisions.mode.unwrap_or_default();
        // Added content would count twice.
        let fits = mode == ImportMode::Add
            || mode == former
            || (mode, former) == (ImportMode::Key, ImportMode::Replace);
        fits && state.import.report.hash == result.report.hash
            && stored_columns(&state.import.report.columns)
                == stored_columns(&result.report.columns)
            && state.import.report.sums == result.report.sums
            && reading_of(&state.import.decisions) == reading_of(&result.decisions)
    };
    let same = chain.iter().find(is_same)?;
    let is_changed = chain.iter().take_while(|state| state.id != same.id).any(|state| {
        let change = &state.import.change;
        let takes_out = change.mode != ImportMode::Add || mode != ImportMode::Add;
        takes_out && overlaps(scope, &change.scope, true)
    });
    if !is_changed {
        Some(Stored::Present)
    } else if file.modified_at <= same.file.modified_at {
        Some(Stored::Superseded)
    } else {
        None
    }
}

/// Returns the decisions that affect the values of rows.
fn reading_of(decisions: &ImportDecisions) -> ImportDecisions {
    let mut reading = ImportDecisions {
        mode: None,
        account_from_path: None,
        ..remembering::remembered(decisions)
    };
    for choice in reading.columns.values_mut() {
        choice.usage = None;
    }
    reading.columns.retain(|_, choice| *choice != ColumnChoice::default());
    reading
}

/// Returns the columns of a source that a file lacks and that have no constant value.
pub(super) fn missing_columns<'a>(result: &ImportResult, state: &'a State) -> Vec<&'a FoundColumn> {
    let has = |name: &str| result.report.columns.iter().any(|column| column.name == name);
    let is_missing = |column: &&FoundColumn| column.constant.is_none() && !has(&column.name);
    state.columns.iter().filter(is_missing).collect()
}

/// Whether rows without this column are coarser.
pub(super) fn is_level(column: &FoundColumn) -> bool {
    matches!(column.usage, ColumnUse::Dimension | ColumnUse::Account)
}

/// Whether a column has amounts of its own.
pub(super) fn is_amount(column: &FoundColumn) -> bool {
    matches!(column.usage, ColumnUse::Sum | ColumnUse::Last)
}

/// Returns the sums of a first file as changes from nothing.
pub(super) fn first_sums(sums: &[ColumnSum]) -> Vec<SumChange> {
    sums.iter()
        .map(|sum| SumChange {
            column: sum.column.clone(),
            currency: sum.currency.clone(),
            before: "0".to_owned(),
            after: sum.sum.clone(),
            vanished: "0".to_owned(),
        })
        .collect()
}

/// The query for rows and days of a whole table.
pub(super) fn size_query(time: Option<&str>) -> String {
    match time {
        Some(time) => {
            let day = format!("CAST({} AS DATE)", identifier(time));
            format!(
                "SELECT count(*), CAST(min({day}) AS VARCHAR), CAST(max({day}) AS VARCHAR), count(DISTINCT {day}) FROM before"
            )
        }
        None => "SELECT count(*) FROM before".to_owned(),
    }
}

/// Reads the answer to `size_query`.
pub(super) fn read_size(rows: &[serde_json::Value]) -> (u64, Option<DaySpan>) {
    let Some(row) = rows.first() else { return (0, None) };
    let day = |at: usize| row[at].as_str()?.parse().ok();
    let days = match (day(1), day(2)) {
        (Some(first), Some(last)) => Some(DaySpan { first, last, days: whole(&row[3]) }),
        _ => None,
    };
    (whole(&row[0]), days)
}

#[cfg(test)]
mod tests {
    use contract::sources::{ColumnKind, DayRange, FoundColumn, ImportEntry};

    use super::{
        super::storage::{Former, Table},
        *,
    };

    fn days(first: u32, last: u32) -> ImportScope {
        let day = |day| chrono::NaiveDate::from_ymd_opt(2026, 11, day).unwrap();
        let days = Some(DayRange { first: day(first), last: day(last) });
        ImportScope { days, ..ImportScope::default() }
    }

    fn report() -> TableReport {
        let column = |name: &str, kind, usage| FoundColumn {
            name: name.to_owned(),
            kind,
            usage,
            ..FoundColumn::default()
        };
        let columns = vec![
            column("Day", ColumnKind::Day, ColumnUse::Time),
            column("Cost", ColumnKind::Decimal, ColumnUse::Sum),
        ];
        TableReport { columns, ..TableReport::default() }
    }

    fn part(file: &str) -> PartRef {
        let (file, hash) = (file.to_owned(), String::new());
        PartRef { file, rows: 1, hash, columns: Vec::new(), without: Vec::new() }
    }

    /// Adds the state after a file of some days. Returns its parts.
    fn import(chain: &mut Vec<State>, scope: ImportScope) -> Vec<PartRef> {
        let id = format!("import-{}", chain.len());
        let change = ImportChange { scope, ..ImportChange::default() };
        let mut parts = chain.first().map(|state| state.parts.clone()).unwrap_or_default();
        let own = part(&id);
        exclude(&mut parts, &own, &Effect::of(change.clone()), &report(), chain);
        parts.push(own);
        let entry = ImportEntry {
            id,
            at: chrono::DateTime::UNIX_EPOCH,
            by: "terminal".to_owned(),
            report: report(),
            decisions: ImportDecisions::default(),
            change,
        };
        let columns = report().columns;
        let table = Table { parts: parts.clone(), columns, ..Table::default() };
        let state = State::new(None, table, entry, FileStamp::default(), Former::default());
        chain.insert(0, state);
        parts
    }

    #[test]
    fn a_daily_export_of_a_week_excludes_rows_of_the_last_weeks_only() {
        let mut chain = Vec::new();
        let mut parts = Vec::new();
        for last in 7..=28 {
            parts = import(&mut chain, days(last - 6, last));
        }
        assert_eq!(parts.len(), 22, "each former part has one day left");
        let most = parts.iter().map(|part| part.without.len()).max();
        assert!(most <= Some(6), "a manifest does not grow with each import: {most:?}");
        assert_eq!(import(&mut chain, days(1, 28)).len(), 1, "all of them are replaced");
    }

    #[test]
    fn a_wider_exclusion_takes_the_place_of_narrower_ones() {
        let mut chain = Vec::new();
        import(&mut chain, days(1, 20));
        import(&mut chain, days(15, 16));
        let parts = import(&mut chain, days(10, 20));
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].without.len(), 1, "{:?}", parts[0].without);
    }

    #[test]
    fn accounts_that_differ_share_no_rows() {
        let of = |account: &str| {
            let values = [("Account".to_owned(), vec![account.to_owned()])];
            ImportScope { values: values.into(), ..days(1, 2) }
        };
        assert!(!overlaps(&of("One"), &of("Two"), true));
        assert!(overlaps(&of("One"), &of("One"), true));
        assert!(overlaps(&of("One"), &days(2, 3), true), "a file without accounts has all");
        assert!(!overlaps(&days(1, 2), &days(3, 4), true));
        assert!(overlaps(&days(1, 2), &days(3, 4), false));
    }
}
