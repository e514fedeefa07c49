//! Real and realistic exports of many platforms, languages and makers: each has the rows, sums and
//! left out lines that another program computed, or the expected question or refusal.
//! `tests/corpus/README.md` says how to add a file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::{Path, PathBuf},
};

use contract::{
    AgentError,
    sources::{
        ColumnKind, ColumnUse, ImportDecisions, ImportEvent, ImportJob, ImportLimits, JOB_FILE,
        PART_FILE, PartRef, TableReport,
    },
};
use csign_data::{
    DataError,
    duck::{Duck, Settings},
    link::Link,
    sql,
    stop::Stop,
};
use serde::Deserialize;

use crate::world;

/// A file of the corpus.
#[derive(Deserialize)]
struct Case {
    file: String,
    platform: String,
    language: String,
    maker: String,
    #[serde(default)]
    source: Option<Source>,
    #[serde(default)]
    decisions: ImportDecisions,
    expected: Expected,
}

/// The public repository that a file comes from.
#[derive(Deserialize)]
struct Source {
    repository: String,
    path: String,
    commit: String,
}

/// The expected result of importing a file.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Expected {
    /// `stored`, `question`, `rejected`, `refused`, `refused_or_question`, `refused_or_empty`.
    result: String,
    /// Other results that are right, too.
    any_result: Vec<String>,
    /// The identifiers of the question, of which one must be asked.
    any_of: Vec<String>,
    /// A part of the refusal's sentence.
    says: String,
    rows: u64,
    sums: Vec<Wanted>,
    /// Sums of stored columns that the report does not add up, such as budgets.
    stored_sums: BTreeMap<String, String>,
    columns: BTreeMap<String, String>,
    /// The number of columns.
    column_count: Option<usize>,
    /// Columns that do not add up.
    not_sums: Vec<String>,
    /// Sums that would be wrong.
    never_sums: Vec<Unwanted>,
    /// Columns whose currency may be told or not.
    any_currency: Vec<String>,
    left_out: BTreeMap<String, u64>,
    stated_range: Option<(String, String)>,
    days: Option<(String, String)>,
    /// The lines of rejected records, by cause.
    causes: BTreeMap<String, Vec<u64>>,
    notes_required: bool,
}

#[derive(Deserialize)]
struct Wanted {
    column: String,
    currency: Option<String>,
    sum: String,
}

#[derive(Deserialize)]
struct Unwanted {
    column: String,
    currency: String,
}

/// The actual result of the importer.
enum Outcome {
    Refused(AgentError),
    Read(Box<TableReport>, Option<PartRef>),
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(corpus().join("corpus.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Runs the importer on a file as the host does.
fn import(case: &Case, folder: &Path) -> Outcome {
    let job = ImportJob {
        name: case.file.clone(),
        decisions: case.decisions.clone(),
        report_only: false,
        limits: ImportLimits::default(),
    };
    std::fs::write(folder.join(JOB_FILE), serde_json::to_string(&job).unwrap()).unwrap();
    let input = File::open(corpus().join("files").join(&case.file)).unwrap();
    let total = input.metadata().unwrap().len();
    let mut output = Vec::new();
    assert!(csign_data::import::run_in(folder, &world::drivers(), input, total, &mut output));
    let text = String::from_utf8(output).unwrap();
    match serde_json::from_str(text.lines().last().unwrap()).unwrap() {
        ImportEvent::Result { report, part } => Outcome::Read(report, part),
        ImportEvent::Failure { error } => Outcome::Refused(error),
        ImportEvent::Progress { .. } => panic!("{}: no result", case.file),
    }
}

/// Returns the number without zeros at its end, so that 2.50 equals 2.5.
fn plain(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Collects what differs.
struct Faults(Vec<String>);

impl Faults {
    fn check(&mut self, is_right: bool, fault: impl FnOnce() -> String) {
        if !is_right {
            self.0.push(fault());
        }
    }
}

/// Compares an import with what is expected.
fn compare(case: &Case, outcome: &Outcome, folder: &Path, faults: &mut Faults) {
    let wanted = &case.expected;
    let (result, words) = match outcome {
        Outcome::Refused(error) => {
            ("refused", format!("{:?}: {}", error.reason_text(), error.message))
        }
        Outcome::Read(report, _) if !report.questions.is_empty() => {
            let asked = report.questions.iter();
            (
                "question",
                asked.map(|q| format!("{}: {}", q.id, q.text)).collect::<Vec<_>>().join(" | "),
            )
        }
        Outcome::Read(report, _)
            if !report.rejected.is_empty() && !case.decisions.skip_rejected =>
        {
            let causes = report.rejected.iter();
            (
                "rejected",
                causes
                    .map(|r| format!("{} {:?}: {} ({})", r.cause, r.lines, r.reason, r.sample))
                    .collect::<Vec<_>>()
                    .join(" | "),
            )
        }
        Outcome::Read(report, _) if report.stored == 0 => ("empty", String::new()),
        Outcome::Read(..) => ("stored", String::new()),
    };
    let right: Vec<&str> =
        wanted.result.split("_or_").chain(wanted.any_result.iter().map(String::as_str)).collect();
    faults.check(right.contains(&result), || format!("{result} in place of {right:?}: {words}"));
    match outcome {
        Outcome::Refused(error) => {
            let message = format!("{} {}", error.message, error.hint_text().unwrap_or_default());
            faults.check(message.contains(&wanted.says), || format!("the refusal is: {message}"));
        }
        Outcome::Read(report, part) => {
            compare_law(report, faults);
            match result {
                "empty" => faults.check(part.is_none(), || "a part without rows".to_owned()),
                "question" if right[0] == "question" => compare_question(wanted, report, faults),
                "rejected" if right[0] == "rejected" => compare_rejected(wanted, report, faults),
                "stored" if right.contains(&"stored") => {
                    compare_report(wanted, report, faults);
                    compare_part(wanted, report, part.as_ref(), folder, faults);
                }
                _ => {}
            }
        }
    }
}

/// Every record is stored, left out or rejected.
fn compare_law(report: &TableReport, faults: &mut Faults) {
    let left: u64 = report.left_out.iter().filter(|l| l.rule != "title").map(|l| l.count).sum();
    let rejected: u64 = report.rejected.iter().map(|r| r.count).sum();
    faults.check(report.records == report.stored + left + rejected, || {
        format!(
            "{} records are {} stored, {left} left out, {rejected} rejected",
            report.records, report.stored
        )
    });
}

fn compare_question(wanted: &Expected, report: &TableReport, faults: &mut Faults) {
    let asked: Vec<&str> = report.questions.iter().map(|q| q.id.as_str()).collect();
    let is_right =
        wanted.any_of.is_empty() || asked.iter().all(|id| wanted.any_of.iter().any(|w| w == id));
    faults.check(is_right, || format!("asks {asked:?} in place of {:?}", wanted.any_of));
}

fn compare_rejected(wanted: &Expected, report: &TableReport, faults: &mut Faults) {
    let found: BTreeMap<String, Vec<u64>> =
        report.rejected.iter().map(|r| (r.cause.clone(), r.lines.clone())).collect();
    faults.check(found == wanted.causes, || {
        format!("rejects {found:?} in place of {:?}", wanted.causes)
    });
}

fn compare_report(wanted: &Expected, report: &TableReport, faults: &mut Faults) {
    faults.check(report.stored == wanted.rows, || {
        format!("{} rows in place of {}", report.stored, wanted.rows)
    });
    for sum in &wanted.sums {
        let found: Vec<_> = report.sums.iter().filter(|s| s.column == sum.column).collect();
        let is_right = found.iter().any(|s| {
            plain(&s.sum) == sum.sum
                && (s.currency == sum.currency || wanted.any_currency.contains(&s.column))
        });
        faults.check(is_right, || {
            let found: Vec<_> = found
                .iter()
                .map(|s| format!("{} {}", s.sum, s.currency.as_deref().unwrap_or("-")))
                .collect();
            format!(
                "{}: {found:?} in place of {} {}",
                sum.column,
                sum.sum,
                sum.currency.as_deref().unwrap_or("-")
            )
        });
    }
    compare_other_sums(wanted, report, faults);
    for column in &wanted.not_sums {
        let is_summed = report.sums.iter().any(|s| &s.column == column);
        faults.check(!is_summed, || format!("{column} does not add up"));
    }
    for never in &wanted.never_sums {
        let is_wrong = report
            .sums
            .iter()
            .any(|s| s.column == never.column && s.currency.as_ref() == Some(&never.currency));
        faults.check(!is_wrong, || format!("{} is not in {}", never.column, never.currency));
    }
    compare_columns(wanted, report, faults);
    let left: BTreeMap<&str, u64> =
        report.left_out.iter().map(|l| (l.rule.as_str(), l.count)).collect();
    for (rule, count) in &wanted.left_out {
        let found = left.get(rule.as_str()).copied().unwrap_or(0);
        faults.check(found == *count, || format!("{found} lines of {rule} in place of {count}"));
    }
    let range = report.stated_range.map(|r| (r.first.to_string(), r.last.to_string()));
    faults.check(wanted.stated_range.is_none() || wanted.stated_range == range, || {
        format!("states {range:?} in place of {:?}", wanted.stated_range)
    });
    let days = report.days.map(|d| (d.first.to_string(), d.last.to_string()));
    faults.check(wanted.days.is_none() || wanted.days == days, || {
        format!("days {days:?} in place of {:?}", wanted.days)
    });
    faults.check(!wanted.notes_required || !report.notes.is_empty(), || "says nothing".to_owned());
}

/// A column has no amounts in a currency that is not expected.
fn compare_other_sums(wanted: &Expected, report: &TableReport, faults: &mut Faults) {
    for found in report.sums.iter().filter(|found| plain(&found.sum) != "0") {
        let mut listed = wanted.sums.iter().filter(|sum| sum.column == found.column).peekable();
        let is_listed = listed.peek().is_some();
        let is_any = wanted.any_currency.contains(&found.column);
        let is_wanted = listed
            .any(|sum| sum.sum == plain(&found.sum) && (sum.currency == found.currency || is_any));
        faults.check(is_wanted || !is_listed, || {
            let currency = found.currency.as_deref().unwrap_or("-");
            format!("{}: {} {currency} is one sum too many", found.column, found.sum)
        });
    }
}

fn compare_columns(wanted: &Expected, report: &TableReport, faults: &mut Faults) {
    for (name, kind) in &wanted.columns {
        let found = report.columns.iter().find(|c| &c.name == name);
        let found = found.map(|c| match c.kind {
            ColumnKind::Whole | ColumnKind::Decimal => "number",
            ColumnKind::Text => "text",
            ColumnKind::Day => "day",
            ColumnKind::Moment => "moment",
            ColumnKind::Flag => "flag",
        });
        faults.check(found == Some(kind.as_str()), || {
            format!("{name} is {found:?} in place of {kind}")
        });
    }
    if let Some(count) = wanted.column_count {
        faults.check(report.columns.len() == count, || format!("{} columns", report.columns.len()));
    }
    let names: BTreeSet<String> = report.columns.iter().map(|c| c.name.to_lowercase()).collect();
    faults.check(names.len() == report.columns.len(), || "two columns have one name".to_owned());
    let times = report.columns.iter().filter(|c| c.usage == ColumnUse::Time).count();
    faults.check(times <= 1 || report.days.is_some(), || {
        format!("{times} columns of days, but no days")
    });
}

/// Compares the stored rows with the report and the expected sums, as DuckDB adds them up.
fn compare_part(
    wanted: &Expected,
    report: &TableReport,
    part: Option<&PartRef>,
    folder: &Path,
    faults: &mut Faults,
) {
    let Some(part) = part else {
        faults.check(false, || "no part was written".to_owned());
        return;
    };
    faults.check(part.rows == report.stored, || format!("the part has {} rows", part.rows));
    let scratch = folder.join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let duck = Duck::open(&Settings {
        drivers: world::drivers(),
        folders: vec![folder.to_owned()],
        scratch,
        memory_bytes: 256 << 20,
        spill_bytes: 1 << 30,
        threads: 1,
    })
    .unwrap();
    let mut link = duck.connect().unwrap();
    let from = sql::literal(&folder.join(PART_FILE).display().to_string());
    let mut sums: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for sum in &wanted.sums {
        let currency = sum.currency.clone().unwrap_or_default();
        sums.entry(&sum.column).or_default().push((currency, sum.sum.clone()));
    }
    for (column, sum) in &wanted.stored_sums {
        sums.entry(column).or_default().push((String::new(), sum.clone()));
    }
    for (column, mut all) in sums {
        let is_mixed = all.len() > 1;
        let found = report.columns.iter().find(|found| found.name == column);
        let currency = found.and_then(|found| found.currency_column.as_deref());
        faults.check(currency.is_some() || !is_mixed, || {
            format!("{column} has several sums and no column of their currencies")
        });
        if !is_mixed {
            all[0].0.clear();
        }
        all.sort_unstable();
        match stored_sums(&mut link, &from, column, currency.filter(|_| is_mixed)) {
            Ok(stored) => faults.check(stored == all, || {
                format!("{column}: {stored:?} is stored in place of {all:?}")
            }),
            Err(error) => faults.check(false, || format!("{column} cannot be added up: {error}")),
        }
    }
}

/// Returns the sum of a stored column, or its sums by the values of a column of currencies.
fn stored_sums(
    link: &mut Link,
    from: &str,
    column: &str,
    currency: Option<&str>,
) -> Result<Vec<(String, String)>, DataError> {
    let name = sql::identifier(column);
    let Some(currency) = currency.map(sql::identifier) else {
        let query =
            format!("SELECT CAST(coalesce(sum({name}), 0) AS VARCHAR) FROM read_parquet({from})");
        let row = link.row(&query, &Stop::never())?;
        let sum = row[0].as_deref().map(plain).unwrap_or_default().to_owned();
        return Ok(vec![(String::new(), sum)]);
    };
    let query = format!(
        "SELECT string_agg(code_ || ' ' || sum_, ',' ORDER BY code_) FROM (\
         SELECT coalesce(CAST({currency} AS VARCHAR), '') AS code_, CAST(sum({name}) AS VARCHAR) AS sum_ \
         FROM read_parquet({from}) WHERE {name} IS NOT NULL GROUP BY 1)"
    );
    let row = link.row(&query, &Stop::never())?;
    let all = row.into_iter().flatten().next().unwrap_or_default();
    let all = all.split(',').filter_map(|one| one.split_once(' '));
    let sums = all.map(|(code, sum)| (code.to_owned(), plain(sum).to_owned()));
    // Zeros without a currency are no sum.
    Ok(sums.filter(|(code, sum)| !code.is_empty() || sum != "0").collect())
}

#[test]
fn every_file_of_the_corpus_has_its_rows_and_sums_or_its_question() {
    let mut all = Vec::new();
    let mut right = 0;
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let mut faults = Faults(Vec::new());
        let outcome = import(&case, folder.path());
        compare(&case, &outcome, folder.path(), &mut faults);
        if faults.0.is_empty() {
            right += 1;
        } else {
            all.push(format!("{}:\n    {}", case.file, faults.0.join("\n    ")));
        }
    }
    assert!(all.is_empty(), "{right} right, {} wrong:\n{}", all.len(), all.join("\n"));
}

#[test]
fn the_corpus_has_the_platforms_languages_makers_and_public_files_it_promises() {
    let cases = cases();
    let set = |of: fn(&Case) -> &str| cases.iter().map(of).collect::<BTreeSet<_>>();
    let files = set(|case| &case.file);
    assert!(files.len() >= 60, "{}", files.len());
    let on_disk = std::fs::read_dir(corpus().join("files")).unwrap().count();
    assert_eq!(files.len(), on_disk, "a file without a case, or a case without a file");
    let public: BTreeSet<&str> = cases
        .iter()
        .filter(|case| {
            case.source.as_ref().is_some_and(|s| {
                s.repository.contains('/') && !s.path.is_empty() && s.commit.len() == 40
            })
        })
        .map(|case| case.file.as_str())
        .collect();
    assert!(public.len() >= 30, "{}", public.len());
    for platform in [
        "Google Ads",
        "Meta Ads",
        "Pinterest",
        "TikTok",
        "Spotify",
        "Shopify",
        "Microsoft Advertising",
        "LinkedIn",
        "Snapchat",
        "Amazon Ads",
        "GA4",
        "Adjust",
        "AppsFlyer",
        "Budget",
        "Bank",
        "Expenses",
    ] {
        assert!(set(|case| &case.platform).contains(platform), "{platform}");
    }
    for language in ["en", "sv", "de", "fr", "es", "pt"] {
        assert!(set(|case| &case.language).contains(language), "{language}");
    }
    // Workbooks whose markup was written by hand have no maker.
    let is_made = |case: &&Case| case.file.ends_with(".xlsx") && !case.maker.starts_with("by hand");
    let program = |case: &Case| case.maker.split(" (").next().unwrap_or_default().to_owned();
    let makers: BTreeSet<String> = cases.iter().filter(is_made).map(program).collect();
    assert!(makers.len() >= 5, "{makers:?}");
}
