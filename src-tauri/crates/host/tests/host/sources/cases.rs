//! The import cases with their right values: each file is imported with the options of its command,
//! and its figure is asked for as `data measure` asks. The files are those of the cases of
//! `tabular`.

use std::{collections::BTreeSet, fs, path::PathBuf};

use contract::{
    AgentError, Commands as _, SourceName,
    definitions::Calculation,
    metric_query::DataResult,
    params::SourceAddParams,
    result::ColumnUnit,
    sources::{ColumnUse, DateOrder, ImportDecisions, ImportResult},
};
use serde_json::{Value, json};

use super::{World, named, questions};

/// The options of a command, without the dashes.
type Options = &'static [(&'static str, &'static str)];

/// The end of an import.
enum End {
    /// The rows are stored. A note has these words.
    Stored(&'static str),
    /// A question of this name is asked, with these words. No row is stored.
    Asks(&'static str, &'static str),
    /// The file is refused with these words.
    Refused(&'static str),
}

/// A command of a case.
struct Step {
    file: &'static str,
    options: Options,
    end: End,
}

/// A case: commands, and the figure over the first source that they store.
struct Case {
    id: &'static str,
    steps: Vec<Step>,
    /// The column that is added up. Empty: no row is stored.
    column: &'static str,
    by: Vec<&'static str>,
    period: Option<(&'static str, &'static str)>,
    /// The rows of the answer: the group, the amount and its currency.
    rows: Vec<&'static str>,
}

impl Case {
    /// Creates a case whose figure is that of November.
    fn new<const N: usize, const M: usize>(
        id: &'static str,
        steps: [Step; N],
        column: &'static str,
        rows: [&'static str; M],
    ) -> Self {
        let period = Some(("2026-11-01", "2026-11-30"));
        Self { id, steps: steps.into(), column, by: Vec::new(), period, rows: rows.into() }
    }

    /// Creates a case of which no row is stored.
    fn without_rows(id: &'static str, step: Step) -> Self {
        Self::new(id, [step], "", [])
    }

    fn by(self, column: &'static str) -> Self {
        Self { by: vec![column], ..self }
    }

    fn during(self, from: &'static str, to: &'static str) -> Self {
        Self { period: Some((from, to)), ..self }
    }

    fn of_all_days(self) -> Self {
        Self { period: None, ..self }
    }
}

fn stored(file: &'static str) -> Step {
    noted(file, "")
}

fn noted(file: &'static str, words: &'static str) -> Step {
    Step { file, options: &[], end: End::Stored(words) }
}

fn stored_with(file: &'static str, options: Options) -> Step {
    Step { file, options, end: End::Stored("") }
}

fn asks(file: &'static str, id: &'static str, words: &'static str) -> Step {
    Step { file, options: &[], end: End::Asks(id, words) }
}

fn refused(file: &'static str, words: &'static str) -> Step {
    Step { file, options: &[], end: End::Refused(words) }
}

/// Returns the cases of one file.
fn of_one_file() -> Vec<Case> {
    [of_lines_and_currencies(), of_workbooks(), of_numbers_and_days(), of_other_files()]
        .into_iter()
        .flatten()
        .collect()
}

fn of_lines_and_currencies() -> Vec<Case> {
    let (twice, microsoft) = ("44-concatenated.csv", "66b-microsoft-day.csv");
    let cells = "Line 3 has 4 cells under 3 headings";
    vec![
        Case::without_rows("01b", asks("01b-unquoted-thousands-last.csv", "rejected", cells)),
        Case::without_rows("18", asks("18-lone-quote.tsv", "rejected", "A quote in line 2")),
        Case::new("67", [stored("67-total-with-last-day.csv")], "Cost", ["210"]),
        Case::new(
            "44",
            [
                asks(twice, "duplicate_rows", ""),
                stored_with(twice, &[("answer", "duplicate_rows=leave_out")]),
            ],
            "Cost",
            ["460"],
        ),
        Case::new(
            "03",
            [stored("03-two-currencies-one-file.csv")],
            "Cost",
            ["200 GBP", "40000 JPY"],
        ),
        Case::new("41", [stored("41-mixed-signs.csv")], "Cost", ["150 EUR", "150 USD"]),
        Case::new("66b", [stored(microsoft)], "Spend", ["210 SEK"]),
        Case::new(
            "15",
            [noted("15-rounded-ids.csv", "rounded the identifiers")],
            "Amount spent (EUR)",
            ["Elm 100 EUR", "Oak 210 EUR"],
        )
        .by("Campaign name"),
    ]
}

fn of_workbooks() -> Vec<Case> {
    let sheets = "11-sheet-per-month.xlsx";
    vec![
        Case::new("10", [stored("10-merged-cells.xlsx")], "Cost", ["200"]),
        Case::new(
            "11",
            [asks(sheets, "sheets", ""), stored_with(sheets, &[("answer", "sheets=*")])],
            "Cost",
            ["600"],
        )
        .during("2026-10-01", "2026-11-30"),
        Case::new("11b", [noted("11b-notes-sheet-first.xlsx", "The sheet About")], "Cost", ["200"]),
        Case::without_rows("13", refused("13-formulas-no-values.xlsx", "has no stored value")),
        Case::without_rows("33f", refused("33f-password.xlsx", "protected by a password")),
    ]
}

fn of_numbers_and_days() -> Vec<Case> {
    let (points, french) = ("14-dot-thousands.tsv", "25-french.csv");
    let mapped: Options =
        &[("map", "day=Jour"), ("map", "campaign=Campagne"), ("map", "spend=Coût")];
    let weeks: Options = &[
        ("map", "day=Reporting starts"),
        ("map", "campaign=Objective"),
        ("map", "spend=Amount spent (EUR)"),
    ];
    vec![
        Case::new(
            "14",
            [asks(points, "decimal", ""), stored_with(points, &[("answer", "decimal=comma")])],
            "Cost",
            ["14600"],
        ),
        Case::new("27", [stored("27-whole-yen.csv")], "Cost", ["20545 JPY"]),
        Case::new("79", [stored("79-real.csv")], "Cost", ["1284.75 BRL"]),
        Case::new("98", [stored("98-decimal-counts.csv")], "Impressions", ["1011"]),
        Case::new("76", [stored("76-rounded-prices.csv")], "Cost", ["0.49"]),
        Case::new("22", [stored("22-credits.csv")], "Cost", ["200"]),
        Case::new("25", [stored_with(french, mapped)], "spend", ["1469.06 EUR"])
            .during("2026-02-01", "2026-02-28"),
        Case::new("30", [stored("30-weekday-names.csv")], "Cost", ["22"])
            .during("2026-02-01", "2026-02-28"),
        Case::without_rows(
            "99",
            Step {
                options: weeks,
                ..asks("99-period-rows.csv", "period_rows", "Each line covers up to 7 days")
            },
        ),
    ]
}

fn of_other_files() -> Vec<Case> {
    vec![
        Case::new("100", [noted("100-missing-only-day.csv", "has no day")], "Cost", ["100"])
            .of_all_days(),
        Case::new("101", [stored("101-no-campaign.csv")], "Cost", ["210"]),
        Case::new("40b", [stored("40b-budget-simple.csv")], "Budget", ["3500"]),
        Case::new(
            "34b",
            [noted("34b-windows-1250.csv", "windows-1250")],
            "Cost",
            ["Łódź święta 210"],
        )
        .by("Campaign"),
        // The words of this answer belong to pacing. Here, no amount of other days is told.
        Case::new("87", [stored("87-old-data.csv")], "Cost", ["null"]),
    ]
}

/// Returns the cases of two files, of which each gets a profile of its own.
fn of_two_files() -> Vec<Case> {
    let (corrected, renamed) = ("20b-corrected-export.csv", "104b-after-rename.csv");
    let first_client: Options = &[
        ("currency", "EUR"),
        ("account", "Client One"),
        ("map", "day=When"),
        ("map", "campaign=What"),
        ("map", "spend=How much"),
    ];
    let day_first: Options = &[
        ("dates", "day-first"),
        ("map", "day=When"),
        ("map", "campaign=What"),
        ("map", "spend=How much"),
    ];
    let replace: Options = &[("answer", "vanished=replace")];
    vec![
        Case::new(
            "06",
            [stored("06a-by-campaign.csv"), stored("06b-by-ad-group.csv")],
            "Cost",
            ["220"],
        ),
        Case::new("07", [stored("07a-without-id.csv"), stored("07b-with-id.csv")], "Cost", ["220"]),
        Case::new(
            "05",
            [stored("05a-client-one.csv"), asks("05b-client-two.csv", "whose_data", "")],
            "Cost",
            ["210"],
        ),
        Case::new(
            "16",
            [
                stored_with("16a-first-client.csv", first_client),
                asks("16b-second-client.csv", "same_account", "Client One"),
            ],
            "spend",
            ["210 EUR"],
        ),
        Case::new(
            "17",
            [
                stored_with("17a-day-first.csv", day_first),
                asks("17b-month-first.csv", "date_order", ""),
            ],
            "spend",
            ["210"],
        ),
        Case::new(
            "104",
            [
                stored("104a-before-rename.csv"),
                asks(renamed, "vanished", "Oak deluxe"),
                stored_with(renamed, replace),
            ],
            "Cost",
            ["330 EUR"],
        ),
        Case::new(
            "20",
            [
                stored("20a-first-export.csv"),
                asks(corrected, "vanished", "Mistake"),
                stored_with(corrected, replace),
            ],
            "Cost",
            ["205"],
        ),
        // Which campaign has a budget is told by pacing.
        Case::new(
            "85",
            [stored("85-delivery-two-campaigns.csv"), stored("85-budget-part.csv")],
            "Cost",
            ["6500"],
        ),
    ]
}

/// Returns the decisions that the options of a command express.
fn decisions(options: Options) -> ImportDecisions {
    let mut decisions = ImportDecisions::default();
    for (option, value) in options {
        let pair = value.split_once('=');
        match (*option, pair) {
            ("account", None) => decisions.account = Some((*value).to_owned()),
            ("currency", None) => decisions.currency = Some((*value).to_owned()),
            ("dates", None) => decisions.date_order = Some(DateOrder::DayFirst),
            ("answer", Some((id, answer))) => {
                decisions.answers.insert(id.to_owned(), answer.to_owned());
            }
            ("map", Some((field, heading))) => {
                let choice = decisions.columns.entry(heading.to_owned()).or_default();
                choice.name = Some(field.to_owned());
                choice.usage = Some(match field {
                    "day" => ColumnUse::Time,
                    "spend" => ColumnUse::Sum,
                    _ => ColumnUse::Dimension,
                });
                if field == "spend" {
                    choice.unit.clone_from(&decisions.currency);
                }
            }
            _ => panic!("{option} {value}"),
        }
    }
    decisions
}

/// Imports a new copy of a file, so that the files of a case have their order in time.
async fn import(
    world: &World,
    name: Option<&SourceName>,
    step: &Step,
) -> Result<ImportResult, AgentError> {
    let host = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let files = host.parent().unwrap().join("tabular/tests/cases/files");
    let path = world.folder.path().join(step.file);
    fs::copy(files.join(step.file), &path).unwrap();
    let params = world.params(&path, decisions(step.options));
    let view = world.run(SourceAddParams { name: name.cloned(), ..params }).await;
    match view.failure {
        Some(error) => Err(error),
        None => Ok(view.results.unwrap().remove(0)),
    }
}

/// Compares the end of an import with the expected one. Returns the source of stored rows.
fn compare(
    step: &Step,
    found: Result<ImportResult, AgentError>,
) -> Result<Option<SourceName>, String> {
    let fault = format!("{}: {found:?}", step.file);
    let (is_right, source) = match (&step.end, found) {
        (End::Stored(words), Ok(result)) => {
            let is_told = result.report.notes.iter().any(|note| note.contains(words));
            (result.is_stored && (is_told || words.is_empty()), Some(result.source))
        }
        (End::Asks(id, words), Ok(result)) => {
            let is_asked = questions(&result) == [*id];
            (is_asked && !result.is_stored && result.questions[0].text.contains(words), None)
        }
        (End::Refused(words), Err(error)) => (error.message.contains(words), None),
        (_, _) => (false, None),
    };
    if is_right { Ok(source) } else { Err(fault) }
}

/// Runs the commands of a case and asks for its figure. `name` is the name of its source.
async fn check(world: &World, name: Option<&SourceName>, case: &Case) -> Result<(), String> {
    let mut source = None;
    for step in &case.steps {
        let found = import(world, name, step).await;
        source = source.or(compare(step, found)?);
    }
    let rows = match &source {
        Some(source) => figure(world, source, case).await?,
        None => Vec::new(),
    };
    if rows == case.rows { Ok(()) } else { Err(format!("{rows:?} in place of {:?}", case.rows)) }
}

/// Asks for the sum of a case's column. Returns the rows in words.
async fn figure(world: &World, source: &SourceName, case: &Case) -> Result<Vec<String>, String> {
    let described = world.host.source_describe(named(source)).await.unwrap();
    let measures = described.definitions.measures;
    let sum = Calculation::Sum(case.column.to_owned());
    let found = measures.iter().find(|(_, measure)| measure.calculation == sum);
    let Some((measure, _)) = found else { return Err(format!("{measures:?}")) };
    let mut query = json!({"source": source, "measures": [measure], "by": case.by});
    if let Some((from, to)) = case.period {
        query["period"] = json!({"from": from, "to": to});
    }
    let params = serde_json::from_value(json!({"query": query})).unwrap();
    let result = world.host.source_measure(params).await;
    result.map(|result| in_words(&result)).map_err(|error| format!("{error:?}"))
}

/// Writes each row as its group, its amount and the currency of the amount.
fn in_words(result: &DataResult) -> Vec<String> {
    let text = |cell: &Value| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
    let unit = result.columns.last().and_then(|column| column.unit.as_ref());
    let words = |row: &Vec<Value>| {
        let (currency, place) = match unit {
            Some(ColumnUnit::Fixed(code)) => (Some(code.clone()), None),
            Some(ColumnUnit::Within(within)) => {
                let place: usize = within.at.trim_start_matches('/').parse().unwrap();
                (Some(text(&row[place])), Some(place))
            }
            None => (None, None),
        };
        let cells = row.iter().enumerate().filter(|(at, _)| Some(*at) != place);
        let cells = cells.map(|(_, cell)| text(cell)).chain(currency);
        cells.collect::<Vec<_>>().join(" ")
    };
    result.rows.iter().map(words).collect()
}

#[test]
fn the_cases_are_all_that_were_written_down() {
    let cases = of_one_file().into_iter().chain(of_two_files());
    let ids: BTreeSet<&str> = cases.map(|case| case.id).collect();
    assert_eq!(ids.len(), 35, "{ids:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cases_of_one_file_have_their_figure_their_question_or_their_refusal() {
    let world = World::new().await;
    let mut faults = Vec::new();
    for case in of_one_file() {
        // Most have the same columns, so that each is named.
        let name = SourceName::new(format!("case_{}", case.id));
        if let Err(fault) = check(&world, Some(&name), &case).await {
            faults.push(format!("{}: {fault}", case.id));
        }
        let is_stored = world.names().await.contains(&name.0);
        if is_stored == case.column.is_empty() {
            faults.push(format!("{}: there is a source: {is_stored}", case.id));
        }
    }
    world.host.stop().await;
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn cases_of_two_files_keep_apart_what_is_apart_and_count_nothing_twice() {
    let mut faults = Vec::new();
    for case in of_two_files() {
        let world = World::new().await;
        if let Err(fault) = check(&world, None, &case).await {
            faults.push(format!("{}: {fault}", case.id));
        }
        world.host.stop().await;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
