//! Inspects a file: scans all records, corrects the plan until it fits all records, and asks the
//! questions that the file leaves open.

use std::{fs::File, io::Read};

use contract::sources::{ImportDecisions, ImportQuestion, TableReport};

use super::{
    added::Added,
    cells::order::DayOrder,
    choose,
    content::Content,
    control::{Progress, TableControl},
    duplicates::{self, Duplicates},
    encoding,
    fault::TableError,
    header::{self, Header},
    origin::Origin,
    plan::Plan,
    questions,
    records::Kept,
    report::{self, Parts},
    revise::{resolve_order, revise},
    rows::{Outcome, RowReader},
    scan::{Findings, scan},
    shared_ids,
    source::Source,
    split_numbers,
    stated::Stated,
    subtotals,
    summed::Subtotal,
    titles::Titles,
    uses::{self, Decided},
    words,
};

/// The maximum number of scans of a file. Each scan improves the plan.
const MAX_SCANS: usize = 8;

/// A file whose table is known.
#[derive(Debug)]
pub struct Inspected {
    pub(crate) source: Source,
    pub(crate) plan: Plan,
    pub(crate) decided: Vec<Decided>,
    pub(crate) added: Vec<Added>,
    /// The statements about the currency of amounts.
    pub(crate) stated: Stated,
    pub(crate) zone: Option<chrono_tz::Tz>,
    /// For each currency column, the only currency that it has, if amounts beside it have none.
    pub(crate) only_currencies: Vec<Option<&'static str>>,
    report: TableReport,
    greatest: Vec<u128>,
}

impl Inspected {
    /// Returns what the file contains, with the questions that a person must answer first.
    pub fn report(&self) -> &TableReport {
        &self.report
    }

    /// Returns the report and drops the rest.
    pub fn into_report(self) -> TableReport {
        self.report
    }

    /// Returns the largest absolute value of a column of numbers, as an integer at the column's
    /// scale. Returns 0 for other columns.
    pub fn greatest(&self, column: usize) -> u128 {
        self.greatest.get(column).copied().unwrap_or(0)
    }
}

/// Opens the decompressed bytes of a file, within the limits. The caller parses the formats that
/// `inspect` reports as `TableError::Other`.
pub fn open_content(file: &File) -> Result<Box<dyn Read + '_>, TableError> {
    match Content::find(file) {
        Ok(content) => content.open(file),
        Err(TableError::Other(_)) => Content::find_packing(file)?.open(file),
        Err(error) => Err(error),
    }
}

/// Inspects a file. Reads all records.
pub fn inspect(
    file: &File,
    name: &str,
    decisions: &ImportDecisions,
    on_progress: &mut dyn FnMut(Progress),
    stop: &dyn Fn() -> bool,
) -> Result<Inspected, TableError> {
    let total_bytes = file.metadata()?.len();
    let mut control = TableControl { on_progress, stop, total_bytes };
    let source = Source::find(file, decisions)?;
    inspect_source(source, file, name, decisions, &mut control)
}

/// Inspects a text with commas that the caller made of another format. `origin` has the records of
/// the original, which all sentences name.
pub fn inspect_flat(
    file: &File,
    name: &str,
    decisions: &ImportDecisions,
    origin: Origin,
    on_progress: &mut dyn FnMut(Progress),
    stop: &dyn Fn() -> bool,
) -> Result<Inspected, TableError> {
    let total_bytes = file.metadata()?.len();
    let mut control = TableControl { on_progress, stop, total_bytes };
    let source = Source::of_flat(file, origin)?;
    inspect_source(source, file, name, decisions, &mut control)
}

fn inspect_source(
    mut source: Source,
    file: &File,
    name: &str,
    decisions: &ImportDecisions,
    control: &mut TableControl<'_>,
) -> Result<Inspected, TableError> {
    let mut open = Vec::new();
    if let Source::Sheets { sheets, found, .. } = &mut source {
        open.extend(choose::choose(sheets, found, decisions)?);
    }
    let (plan, findings, titles) = loop {
        match plan_and_scan(&source, file, decisions, control) {
            // The first byte that is not valid UTF-8 can be far behind the start of the file.
            Err(error) if encoding::is_not_utf8(&error) && decisions.encoding.is_none() => {
                source = Source::find_legacy(*source.content(), file)?;
            }
            Err(error) if encoding::is_not_utf8(&error) => {
                return Err(TableError::NotThisEncoding);
            }
            done => break done?,
        }
    };
    let replaced = source.note_replaced(file, control)?;
    let job = Job { source, file, name, decisions };
    let mut inspected = finish(job, plan, findings, titles, open, control)?;
    if let Some(note) = replaced {
        inspected.report.notes.insert(0, note);
    }
    Ok(inspected)
}

/// The file under inspection, with the decisions about it.
struct Job<'a> {
    source: Source,
    file: &'a File,
    name: &'a str,
    decisions: &'a ImportDecisions,
}

fn plan_and_scan(
    source: &Source,
    file: &File,
    decisions: &ImportDecisions,
    control: &mut TableControl<'_>,
) -> Result<(Plan, Findings, Titles), TableError> {
    let head = source.read_head(file)?;
    if head.iter().all(|kept| kept.record().filled_len() == 0 && kept.fault.is_none()) {
        return Err(if head.is_empty() { TableError::Empty } else { TableError::NoTable });
    }
    let header = header::find(&head, decisions.header_line)?;
    let (above, below): (&[Kept], &[Kept]) = head.split_at(header.records);
    let below = rows_of(below, &header);
    let order = decisions.date_order.map(DayOrder::from);
    let mut titles = Titles::read(&above[..above.len().saturating_sub(1)], order);
    let mut plan = Plan::new(header, &below, decisions)?;
    plan.has_commas = source.has_commas();
    let findings = scan_until_right(source, file, &mut plan, decisions, control)?;
    if let Some(sheet) = findings.sheet_without_headings {
        return Err(source.other_headings(sheet));
    }
    if let Some(time) = plan.time {
        let rows = &findings.columns[time].days;
        let order = resolve_order(&plan, time, &findings, decisions);
        if order.is_some() || rows.open_count == 0 {
            titles.resolve_range(rows.set.range(), order);
        }
    } else {
        titles.resolve_range(None, order);
    }
    Ok((plan, findings, titles))
}

/// Scans all records, and corrects the plan until it fits them.
fn scan_until_right(
    source: &Source,
    file: &File,
    plan: &mut Plan,
    decisions: &ImportDecisions,
    control: &mut TableControl<'_>,
) -> Result<Findings, TableError> {
    let mut scans = 0;
    loop {
        let findings = scan(&mut *source.open(file)?, plan, control)?;
        scans += 1;
        if findings.records == 0 {
            return Err(TableError::NoRows);
        }
        if scans == MAX_SCANS || !revise(plan, &findings, decisions) {
            return Ok(findings);
        }
    }
}

/// Returns the records that are as wide as the headings, without notes between and below them.
fn rows_of(records: &[Kept], header: &Header) -> Vec<Kept> {
    let width = header.headings.len();
    let is_row = |kept: &&Kept| {
        let record = kept.record();
        let filled = (0..record.len()).filter(|at| record.has_value(*at)).count();
        record.len() >= width && (filled > 1 || width < 3)
    };
    records.iter().filter(is_row).cloned().collect()
}

fn finish(
    job: Job<'_>,
    mut plan: Plan,
    mut findings: Findings,
    mut titles: Titles,
    mut open: Vec<ImportQuestion>,
    control: &mut TableControl<'_>,
) -> Result<Inspected, TableError> {
    let Job { source, file, name, decisions } = job;
    let answer = |id: &str| decisions.answers.get(id).map(String::as_str);
    if answer("blank_labels") == Some("repeat") {
        plan.grouped = questions::grouped_labels(&plan, &findings);
        findings = scan(&mut *source.open(file)?, &plan, control)?;
    }
    let (mut subtotals, is_whole) = find_subtotals(&source, file, &plan, &findings, control)?;
    // A name that only ends like that of a total is one if its numbers say so, too.
    let is_row = |found: &Subtotal| !found.is_sum && words::is_weak_total(&found.name);
    let rows = subtotals.iter().filter(|found| is_row(found));
    let rows: Vec<(usize, String)> = rows.map(|found| (found.column, found.name.clone())).collect();
    if !rows.is_empty() {
        plan.kept_names.extend(rows);
        findings = scan_until_right(&source, file, &mut plan, decisions, control)?;
        subtotals.retain(|found| !is_row(found));
    }
    let is_open = |found: &Subtotal| found.is_named && !found.is_sum;
    if answer("total_rows") == Some("keep") && subtotals.iter().any(is_open) {
        plan.keeps_totals = true;
        // Rows that are totals for sure were not asked about.
        leave_out(&mut plan, subtotals.iter().filter(|found| found.is_named && found.is_sum));
        findings = scan_until_right(&source, file, &mut plan, decisions, control)?;
    }
    let mut duplicates = duplicates::find(&findings.hashes);
    findings.hashes = Vec::new();
    let duplicate_lines = find_lines(&source, file, &plan, &duplicates)?;
    let repeated = std::mem::take(&mut duplicates.stored);
    if answer("duplicate_rows") == Some("leave_out") {
        plan.repeated = repeated;
    }
    if answer("total_rows") == Some("leave_out") {
        leave_out(&mut plan, subtotals.iter().filter(|found| !found.is_named));
    }
    let leaves_out = [plan.left_names.len(), plan.left_places.len(), plan.repeated.len()];
    if leaves_out.iter().any(|count| *count > 0) {
        findings = scan(&mut *source.open(file)?, &plan, control)?;
        findings.hashes = Vec::new();
    }
    if shared_ids::can_have(&plan, findings.stored) {
        for (at, found) in shared_ids::find(&mut *source.open(file)?, &plan, control)? {
            findings.columns[at].ids.shared = Some(found);
        }
    }
    findings.skipped_sums = !is_whole && subtotals::has_candidates(&plan, &findings);
    titles.currencies.append(&mut findings.currencies_of_notes);
    let stated = Stated::find(&titles, decisions);
    let decided = uses::decide(&plan, &findings, stated);
    open.extend(ask_rows(&plan, &findings, &subtotals, (&duplicates, &duplicate_lines), decisions));
    let parts = Parts {
        source: &source,
        plan: &plan,
        findings: &findings,
        decided: &decided,
        titles: &titles,
        duplicates: &duplicates,
        duplicate_lines: &duplicate_lines,
        subtotals: &subtotals,
        decisions,
        stated,
    };
    let (mut report, added) = report::make(&parts, open);
    report.file = name.to_owned();
    report.bytes = control.total_bytes;
    let greatest =
        (0..plan.columns.len()).map(|at| report::greatest(&findings, &decided, at)).collect();
    let zone = decisions.zone.as_deref().and_then(|zone| zone.parse().ok());
    let only_currencies = (0..plan.currencies.len())
        .map(|slot| match findings.currencies[slot].as_slice() {
            [(only, _)] if findings.without_currency[slot] > 0 => Some(stated.meant(*only).code()),
            _ => None,
        })
        .collect();
    Ok(Inspected { source, plan, decided, added, stated, zone, only_currencies, report, greatest })
}

/// Leaves out rows that are sums of others.
fn leave_out<'a>(plan: &mut Plan, sums: impl Iterator<Item = &'a Subtotal>) {
    for found in sums {
        if found.places.is_empty() {
            plan.left_names.insert((found.column, found.name.clone()));
        } else {
            plan.left_places.extend(&found.places);
        }
    }
}

/// Returns the questions about rows and formats.
fn ask_rows(
    plan: &Plan,
    findings: &Findings,
    subtotals: &[Subtotal],
    (duplicates, lines): (&Duplicates, &[(u64, String)]),
    decisions: &ImportDecisions,
) -> Vec<ImportQuestion> {
    [
        questions::ask_header(plan, decisions),
        split_numbers::ask(plan, findings, decisions),
        questions::ask_decimal(plan, findings, decisions),
        questions::ask_date_order(plan, findings, decisions),
        super::periods::ask(plan, findings, decisions),
        questions::ask_blank_days(plan, findings, decisions),
        questions::ask_blank_labels(plan, findings, subtotals, decisions),
        questions::ask_total_rows(plan, subtotals, decisions),
        questions::ask_hidden_rows(findings, decisions),
        questions::ask_duplicates(duplicates, lines, decisions),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Finds rows that are sums of other rows, and whether all rows were tested. In a long table, only rows
/// with the name of a total are compared, with all other rows together.
fn find_subtotals(
    source: &Source,
    file: &File,
    plan: &Plan,
    findings: &Findings,
    control: &mut TableControl<'_>,
) -> Result<(Vec<Subtotal>, bool), TableError> {
    if subtotals::is_small(findings.stored) {
        let scales: Vec<u8> = findings.columns.iter().map(|stats| stats.numbers.scale).collect();
        return subtotals::find(&mut *source.open(file)?, plan, &scales, control);
    }
    Ok((subtotals::compare_named(plan, findings), !subtotals::can_have(plan)))
}

/// Returns the lines of rows that are equal to earlier rows.
fn find_lines(
    source: &Source,
    file: &File,
    plan: &Plan,
    found: &Duplicates,
) -> Result<Vec<(u64, String)>, TableError> {
    let mut lines = Vec::new();
    let Some(last) = found.first.last() else { return Ok(lines) };
    let mut reader = RowReader::new(plan);
    let mut records = source.open(file)?;
    for _ in 0..plan.header.records {
        records.next()?;
    }
    let mut stored = 0;
    while stored <= *last
        && let Some(record) = records.next()?
    {
        if reader.read(&record) == Outcome::Stored {
            if found.first.contains(&stored) {
                lines.push((record.line, record.sample()));
            }
            stored += 1;
        }
    }
    Ok(lines)
}
