//! An import at one glance for people: what was read, stored, replaced, left out and rejected. Only
//! what is not as it should be has a colour. Knows no host.

use contract::sources::{
    ColumnSum, ColumnUse, DayRange, DaySpan, FoundColumn, ImportChange, ImportMode, ImportResult,
    LeftOut, RejectedRows, SumChange, TableReport,
};
use host::quote_word;

use super::{
    decisions::{account_of, show_answers},
    figures::{count_of, names_unit, show_difference, show_sum, show_whole},
    paragraph::Paragraph,
    program_output::is_used,
};
use crate::out::{Out, Tone};

/// The most line numbers that are printed for one rule or cause.
const LINES: usize = 5;
/// The width of the labels.
const LABEL: usize = 10;

/// A line of the glance.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fact {
    label: &'static str,
    text: String,
    is_bad: bool,
}

fn fact(label: &'static str, text: String) -> Fact {
    Fact { label, text, is_bad: false }
}

fn fault(label: &'static str, text: String) -> Fact {
    Fact { label, text, is_bad: true }
}

impl Fact {
    fn paragraph(&self) -> Paragraph {
        let text = Paragraph::new(&self.text).after(format!("  {:LABEL$} ", self.label));
        if self.is_bad { text.tone(Tone::Bad) } else { text }
    }
}

/// Prints what an import found and did.
pub(super) fn print_glance(out: Out, result: &ImportResult, is_check: bool) {
    Paragraph::new(title_of(result)).tone(Tone::Strong).indent(2).print_line(out);
    for fact in facts_of(result) {
        fact.paragraph().print_line(out);
    }
    if result.is_stored && !is_check && !is_database(&result.report) {
        let name = quote_word(result.source.as_str());
        let undo = Paragraph::new(format!("To undo this import: csign data undo {name}"));
        undo.tone(Tone::Quiet).indent(2).print_note(out);
    }
}

/// The part of a file that a person has seen before its questions. It is not shown again with the
/// next question.
#[derive(Debug, Default)]
pub(super) struct Shown {
    title: Option<String>,
    facts: Vec<Fact>,
}

impl Shown {
    pub(super) fn is_used(&self) -> bool {
        self.title.is_some()
    }

    /// Prints what a person must know of a file to answer its questions.
    pub(super) fn print_before_questions(&mut self, out: Out, result: &ImportResult) {
        let title = title_of(result);
        let is_new = self.title.as_ref() != Some(&title);
        let facts = facts_before(result).into_iter();
        let facts: Vec<Fact> = facts.filter(|fact| is_new || !self.facts.contains(fact)).collect();
        if self.is_used() && (is_new || !facts.is_empty()) {
            out.print_note("");
        }
        if is_new {
            Paragraph::new(&title).tone(Tone::Strong).indent(2).print_note(out);
            *self = Self { title: Some(title), facts: Vec::new() };
        }
        facts.iter().for_each(|fact| fact.paragraph().print_note(out));
        self.facts.extend(facts);
    }
}

/// Returns what a person must know before the questions. Those of a file alone say their lines
/// themselves; those about stored rows need the difference.
fn facts_before(result: &ImportResult) -> Vec<Fact> {
    let wanted: &[&str] = match &result.change {
        Some(_) => &["account", "days", "rows", "replaces", "adds", "changes", "rows are"],
        None => &["account", "days", "rows", "rejected"],
    };
    facts_of(result).into_iter().filter(|fact| wanted.contains(&fact.label)).collect()
}

/// Returns one line about a file that was imported.
pub(super) fn summarise(result: &ImportResult) -> String {
    let report = &result.report;
    let mut parts = vec![count_of(report.stored, "row")];
    parts.extend(report.days.map(show_span));
    parts.extend(report.sums.first().map(show_column_sum));
    let (file, source) = (&report.file, result.source.as_str());
    format!("{file} is in the source {source}: {}.", parts.join(", "))
}

fn show_column_sum(sum: &ColumnSum) -> String {
    let ColumnSum { column, currency, sum } = sum;
    format!("{column} {}", show_sum(column, sum, currency.as_deref()))
}

fn title_of(result: &ImportResult) -> String {
    let state = if result.is_new_source { " (new source)" } else { "" };
    let from = if is_database(&result.report) { "database" } else { &result.report.file };
    format!("{from} → {}{state}", result.source)
}

/// Whether the rows stay in a database, so that no file was read.
fn is_database(report: &TableReport) -> bool {
    report.file.is_empty()
}

fn facts_of(result: &ImportResult) -> Vec<Fact> {
    let report = &result.report;
    if is_database(report) {
        let notes = report.notes.iter().map(|note| fact("note", note.to_string()));
        return columns_of(&report.columns).into_iter().chain(notes).collect();
    }
    let mut facts: Vec<Fact> =
        account_of(result).map(|account| fact("account", account.to_owned())).into_iter().collect();
    facts.extend(days_of(report));
    // Before a table is chosen, nothing is read.
    facts.extend((!report.columns.is_empty()).then(|| rows_of(report)));
    facts.extend(sums_of(report));
    if let Some(change) = &result.change {
        facts.extend(changes_of(result, change));
    }
    facts.extend(report.left_out.iter().map(|rule| fact("left out", show_left_out(rule))));
    facts.extend(report.rejected.iter().map(|cause| fault("rejected", show_rejected(cause))));
    facts.extend(sheets_of(report));
    facts.extend(columns_of(&report.columns));
    facts.push(fact("read as", show_format(result)));
    let decided = show_answers(&result.decisions, &result.questions);
    facts.extend(decided.map(|text| fact("decided", text)));
    facts.extend(report.notes.iter().map(|note| fact("note", note.to_string())));
    facts
}

fn days_of(report: &TableReport) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(days) = report.days {
        facts.push(fact("days", show_span(days)));
    }
    if let Some(stated) = report.stated_range
        && report.days.is_none_or(|days| (days.first, days.last) != (stated.first, stated.last))
    {
        facts.push(fact("range", format!("{} by the file's title", show_range(stated))));
    }
    facts
}

pub(super) fn show_range(range: DayRange) -> String {
    if range.first == range.last {
        range.first.to_string()
    } else {
        format!("{} to {}", range.first, range.last)
    }
}

pub(super) fn show_span(span: DaySpan) -> String {
    let all = (span.last - span.first).num_days().unsigned_abs() + 1;
    let range = show_range(DayRange { first: span.first, last: span.last });
    if all == span.days {
        range
    } else {
        format!("{range} ({} of {} days)", show_whole(span.days), show_whole(all))
    }
}

fn rows_of(report: &TableReport) -> Fact {
    // Lines above the headings count as left out, but are no records.
    let of_title = |rule: &&LeftOut| rule.rule != "title";
    let left_out: u64 = report.left_out.iter().filter(of_title).map(|rule| rule.count).sum();
    let rejected: u64 = report.rejected.iter().map(|cause| cause.count).sum();
    let mut text =
        format!("{} of {}", show_whole(report.stored), count_of(report.records, "record"));
    if left_out > 0 {
        text.push_str(&format!(", {} left out", show_whole(left_out)));
    }
    if rejected > 0 {
        text.push_str(&format!(", {} rejected", show_whole(rejected)));
    }
    Fact { label: "rows", text, is_bad: rejected > 0 }
}

/// Returns the sums, each compared with the file's own total line.
fn sums_of(report: &TableReport) -> Vec<Fact> {
    let checks = report.file_total.iter().flat_map(|total| &total.columns);
    let (mut agreed, mut sums, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    let line = report.file_total.as_ref().map_or(0, |total| total.line);
    for sum in &report.sums {
        let shown = show_column_sum(sum);
        match checks.clone().find(|check| check.column == sum.column) {
            Some(check) if check.agrees => agreed.push(shown),
            Some(check) => faults.push(fault(
                "total",
                format!(
                    "{}: line {line} says {}, the rows add up to {}",
                    check.column,
                    show_sum(&check.column, &check.stated, None),
                    show_sum(&check.column, &check.computed, None)
                ),
            )),
            None => sums.push(shown),
        }
    }
    if let Some(last) = agreed.pop() {
        let each = if agreed.is_empty() { "as" } else { "each as" };
        agreed.push(format!("{last} ({each} line {line} says)"));
    }
    agreed.extend(sums);
    let sums = (!agreed.is_empty()).then(|| fact("sums", agreed.join("; ")));
    sums.into_iter().chain(faults).collect()
}

fn changes_of(result: &ImportResult, change: &ImportChange) -> Vec<Fact> {
    if change.is_same_content {
        return vec![fact("same", "This content is stored already. Nothing changes.".to_owned())];
    }
    if result.is_new_source {
        return Vec::new();
    }
    let mut facts = Vec::new();
    let label = if change.mode == ImportMode::Add { "adds" } else { "replaces" };
    facts.push(fact(label, show_scope(change)));
    facts.extend(show_changes(change).map(|text| fact("changes", text)));
    let counts = [
        (change.new_rows, "new"),
        (change.changed_rows, "changed"),
        (change.vanished_rows, "vanished"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{} {word}", show_whole(*number)))
        .collect();
    if !counts.is_empty() {
        let text = counts.join(", ");
        facts.push(Fact { label: "rows are", text, is_bad: change.vanished_rows > 0 });
    }
    facts
}

/// Returns the sums before and after, and the columns whose sums stay.
fn show_changes(change: &ImportChange) -> Option<String> {
    let (mut parts, mut same) = (Vec::new(), Vec::new());
    for SumChange { column, currency, before, after, .. } in &change.sums {
        let currency = currency.as_deref();
        let show = |sum: &str| show_sum(column, sum, currency);
        match show_difference(before, after, currency) {
            Some(difference) => {
                parts.push(format!("{column} {} → {} ({difference})", show(before), show(after)))
            }
            None => same.push(format!("{column} {}", show(after))),
        }
    }
    if !same.is_empty() {
        parts.push(format!("as before: {}", same.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn show_scope(change: &ImportChange) -> String {
    let scope = &change.scope;
    let mut parts: Vec<String> = scope.days.map(show_range).into_iter().collect();
    for (column, values) in &scope.values {
        let named: Vec<&str> = values.iter().map(|value| show_value(value)).take(LINES).collect();
        let more = if values.len() > LINES { ", ..." } else { "" };
        parts.push(format!("{column}: {}{more}", named.join(", ")));
    }
    if parts.is_empty() {
        parts.push("all rows".to_owned());
    }
    let how = match change.mode {
        ImportMode::Replace => "",
        ImportMode::Add => "; the rows that are there stay",
        ImportMode::Key => "; only rows with the same key, others stay",
    };
    format!("{}{how}", parts.join("; "))
}

fn show_value(value: &str) -> &str {
    if value.is_empty() { "(empty)" } else { value }
}

fn show_lines(lines: &[u64], total: u64) -> String {
    let mut shown: Vec<String> = lines.iter().take(LINES).map(u64::to_string).collect();
    if total > shown.len() as u64 {
        shown.push("...".to_owned());
    }
    let noun = if total == 1 { "line" } else { "lines" };
    if lines.is_empty() { String::new() } else { format!(" ({noun} {})", shown.join(", ")) }
}

fn show_left_out(rule: &LeftOut) -> String {
    let lines = show_lines(&rule.lines, rule.count);
    let reason = rule.reason.trim_end_matches('.');
    format!("{} x {reason}{lines}{}", show_whole(rule.count), show_sample(&rule.sample))
}

fn show_sample(sample: &str) -> String {
    if sample.trim().is_empty() { String::new() } else { format!(": {sample}") }
}

fn show_rejected(cause: &RejectedRows) -> String {
    let column =
        if cause.column.is_empty() { String::new() } else { format!("{}: ", cause.column) };
    let lines = show_lines(&cause.lines, cause.count);
    let reason = cause.reason.trim_end_matches('.');
    let sample = show_sample(&cause.sample);
    format!("{} x {column}{reason}{lines}{sample}", show_whole(cause.count))
}

fn sheets_of(report: &TableReport) -> Option<Fact> {
    let named = |is_read: bool| -> Vec<String> {
        let sheets = report.sheets.iter().filter(|sheet| sheet.is_read == is_read);
        sheets
            .map(|sheet| match (is_read, sheet.is_hidden) {
                (true, _) => sheet.name.clone(),
                (false, true) => {
                    format!("{} (hidden, {})", sheet.name, count_of(sheet.rows, "row"))
                }
                (false, false) => format!("{} ({})", sheet.name, count_of(sheet.rows, "row")),
            })
            .collect()
    };
    let (read, others) = (named(true), named(false));
    if read.is_empty() && others.is_empty() {
        return None;
    }
    let parts = [("read", &read), ("not read", &others)];
    let named = parts.iter().filter(|(_, names)| !names.is_empty());
    let text: Vec<String> =
        named.map(|(word, names)| format!("{word}: {}", names.join(", "))).collect();
    Some(Fact { label: "sheets", text: text.join("; "), is_bad: !others.is_empty() })
}

/// Returns the columns by their use, those of no use apart.
fn columns_of(columns: &[FoundColumn]) -> Vec<Fact> {
    let of_use = |usage: ColumnUse| -> Vec<String> {
        columns.iter().filter(|column| column.usage == usage).map(show_column).collect()
    };
    let groups = [
        ("time", ColumnUse::Time),
        ("sums", ColumnUse::Sum),
        ("ratios", ColumnUse::Ratio),
        ("last values", ColumnUse::Last),
        ("account", ColumnUse::Account),
        ("currency", ColumnUse::Currency),
        ("group by", ColumnUse::Dimension),
        ("ids", ColumnUse::Id),
    ];
    let groups = groups.iter().map(|(word, usage)| (word, of_use(*usage)));
    let shown: Vec<String> = groups
        .filter(|(_, names)| !names.is_empty())
        .map(|(word, names)| format!("{word}: {}", names.join(", ")))
        .collect();
    let unused: Vec<String> =
        columns.iter().filter(|column| !is_used(column)).map(show_column).collect();
    let mut facts = Vec::new();
    if !shown.is_empty() {
        facts.push(fact("columns", shown.join("; ")));
    }
    if !unused.is_empty() {
        facts.push(fact("not used", unused.join(", ")));
    }
    facts
}

fn show_column(column: &FoundColumn) -> String {
    let mut more = Vec::new();
    more.extend(column.unit.clone().filter(|unit| !names_unit(&column.name, unit)));
    match &column.constant {
        Some(value) if column.is_added => {
            more.push(format!("{value} in all rows, not in the file"))
        }
        Some(value) => more.push(format!("always {}", show_value(value))),
        None => {}
    }
    if column.empty > 0 && column.constant.is_none() {
        more.push(format!("{} empty", show_whole(column.empty)));
    }
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
    format!("{}{more}", column.name)
}

fn show_format(result: &ImportResult) -> String {
    let report = &result.report;
    let separator = report.separator.as_deref().map(|separator| match separator {
        "," => "comma between cells".to_owned(),
        ";" => "semicolon between cells".to_owned(),
        "\t" => "tab between cells".to_owned(),
        other => format!("{other} between cells"),
    });
    let word = |value: Option<String>, after: &str| value.map(|value| format!("{value}{after}"));
    let parts = [
        report.compression.clone(),
        report.encoding.clone(),
        separator,
        word(json_word(&report.decimal), " before decimals"),
        word(json_word(&report.date_order).map(|word| word.replace('_', " ")), ""),
        (report.header_line > 0).then(|| format!("headings in line {}", report.header_line)),
        result.decisions.zone.as_ref().map(|zone| format!("moments in {zone}")),
    ];
    let shown: Vec<String> = parts.into_iter().flatten().collect();
    if shown.is_empty() {
        json_word(&Some(report.format)).unwrap_or_default()
    } else {
        shown.join(", ")
    }
}

/// Returns a value as the word that JSON has for it.
pub(super) fn json_word(value: &Option<impl serde::Serialize>) -> Option<String> {
    let value = serde_json::to_value(value.as_ref()?).ok()?;
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
