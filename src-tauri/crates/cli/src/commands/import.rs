//! `csign import`: reads exports into a pack, with a mapping where their columns are not
//! recognised, and prints the rejected lines by cause.

use std::{collections::BTreeMap, path::Path, time::Duration};

use contract::{
    AgentError, DataImportParams, DataLayoutParams, DataSurveyParams, Empty, ImportError,
    ImportNote, ImportParams, ImportProblem, ImportView, PackId,
    data::{DateOrder, ImportOptions},
};
use tabular::group_by_cause;

use crate::args::{Dates, Import};
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, count};
use crate::visible::escape_invisible;

const ASK_EVERY: Duration = Duration::from_millis(100);
/// Line numbers that are printed of one cause.
const LINES: usize = 5;

pub(crate) async fn run(link: &Link, out: Out, args: Import) -> Result<Exit, Failure> {
    let options = import_options(&args)?;
    let paths = args.files.iter().map(|file| absolute_path(file)).collect::<Result<Vec<_>, _>>()?;
    let pack = match &args.pack {
        Some(pack) => pack.as_str().into(),
        None => find_import_pack(link).await?,
    };
    if args.forget_mapping {
        forget_mappings(link, &pack, &paths).await?;
    }
    let files = paths.len();
    let params = DataImportParams { pack, paths, options: Some(options) };
    let job = link.commands.data_import(params).await?.job;
    let view = loop {
        let view = link.commands.data_import_status(ImportParams { job: job.clone() }).await?;
        if view.finished {
            break view;
        }
        tokio::time::sleep(ASK_EVERY).await;
    };
    if let Some(error) = view.failure {
        return Err(error.into());
    }
    let exit = if view.rows_stored > 0 { Exit::Done } else { Exit::Failed };
    if out.json {
        out.print_json(&view);
    } else {
        print_import(out, &view, files);
    }
    Ok(exit)
}

/// Forgets the mappings that were remembered for files with the same columns as these.
async fn forget_mappings(link: &Link, pack: &PackId, paths: &[String]) -> Result<(), Failure> {
    for path in paths {
        let asked = DataSurveyParams { pack: pack.clone(), path: path.clone(), options: None };
        let survey = link.commands.data_survey(asked).await?;
        if survey.is_remembered {
            let params = DataLayoutParams { pack: pack.clone(), shape: survey.shape };
            link.commands.data_layout_forget(params).await?;
        }
    }
    Ok(())
}

fn print_import(out: Out, view: &ImportView, files: usize) {
    // The files are read one after another, so that the errors of a file stand together.
    for errors in view.errors.chunk_by(|a, b| a.file == b.file) {
        print_causes(out, errors, files > 1);
    }
    let rows = |number: u64| count(usize::try_from(number).unwrap_or(usize::MAX), "row");
    out.print_line(format!("{} stored, {} read.", rows(view.rows_stored), rows(view.rows_read)));
    if view.notes.contains(&ImportNote::LayoutRemembered) {
        out.print_note(
            "The columns were read as you named them for an earlier file. --map names others.",
        );
    }
    if view.error_count > 0 && view.rows_stored == 0 {
        out.print_note(if view.rows_read == 0 {
            "Nothing was stored."
        } else {
            "Nothing was stored. With --skip-rejected the other lines are stored."
        });
    }
}

/// Prints the causes of the rejected lines of one file.
fn print_causes(out: Out, errors: &[ImportError], names_file: bool) {
    let file = match errors.first() {
        Some(error) if names_file => format!("{}: ", error.file),
        _ => String::new(),
    };
    for cause in group_by_cause(errors) {
        let column =
            if cause.column.is_empty() { String::new() } else { format!("{}: ", cause.column) };
        let mut lines: Vec<String> =
            cause.lines.iter().filter(|line| **line > 0).take(LINES).map(u64::to_string).collect();
        if cause.lines.len() > LINES {
            lines.push("...".to_owned());
        }
        let place =
            if lines.is_empty() { String::new() } else { format!(" (line {})", lines.join(", ")) };
        out.print_line(escape_invisible(&format!(
            "{file}{} x {column}{}{place}",
            cause.lines.len(),
            describe_problem(&cause.example)
        )));
    }
}

/// Describes a problem and its remedy in one line.
fn describe_problem(problem: &ImportProblem) -> String {
    match problem {
        ImportProblem::UnknownHeader { found, campaigns, .. } => format!(
            "the columns for day, campaign and spend were not recognised. The file has: {found}. Name them with --map day=COLUMN --map campaign=COLUMN --map spend=COLUMN. Files with budgets have: {campaigns}."
        ),
        ImportProblem::NoSuchColumn { found } => {
            format!("there is no such column. The file has: {found}.")
        }
        ImportProblem::NoSuchField { known } => {
            format!("there is no such field. The fields are: {known}.")
        }
        ImportProblem::DayAmbiguous { text } => format!(
            "{text} can be read with the day or the month first. Add --dates day-first or --dates month-first."
        ),
        ImportProblem::ColumnMissing => "the column is missing".to_owned(),
        ImportProblem::Spreadsheet => {
            "the workbook cannot be opened. Remove its password or save it as CSV.".to_owned()
        }
        ImportProblem::NotAFile => "this is a pipe, a socket or a device. Name a file.".to_owned(),
        ImportProblem::FileTooLarge { most } => {
            format!("the file is larger than {most} MiB. Split it into several files.")
        }
        ImportProblem::LineTooLong { start, most } => format!(
            "the text that begins in line {start} has no end within {most} KiB. Close the quotes there, or export the file again."
        ),
        ImportProblem::TooManyColumns { most } => {
            format!("the table has more than {most} columns. Delete those that are not needed.")
        }
        ImportProblem::CellTooLong { most } => {
            format!("a cell is longer than {most} KiB. Shorten it, or save the sheet as CSV.")
        }
        ImportProblem::SheetTooLarge { most } => format!(
            "the sheet has more than {most} cells, or cells that lie too far apart. Delete what is not needed, or save the sheet as CSV."
        ),
        ImportProblem::TooManySheets { most } => format!(
            "the workbook has more than {most} sheets. Save the one with the data as a file of its own."
        ),
        ImportProblem::UnpacksTooLarge { most } => {
            format!("the workbook unpacks to more than {most} MiB. Save the sheet as CSV.")
        }
        other => format_problem_code(other),
    }
}

/// Describes a problem by its code and its values.
fn format_problem_code(problem: &ImportProblem) -> String {
    let Ok(serde_json::Value::Object(mut members)) = serde_json::to_value(problem) else {
        return "cannot be read".to_owned();
    };
    let code = members.remove("code").and_then(|c| c.as_str().map(|c| c.replace('_', " ")));
    let values: Vec<String> = members
        .iter()
        .map(|(name, value)| match value.as_str() {
            Some(text) => format!("\"{text}\""),
            None => format!("{name} {value}"),
        })
        .collect();
    format!("{} {}", code.unwrap_or_default(), values.join(", ")).trim_end().to_owned()
}

/// Splits `FIELD=COLUMN` pairs, and adds the constants.
fn import_options(args: &Import) -> Result<ImportOptions, Failure> {
    let mut columns = BTreeMap::new();
    for pair in &args.map {
        let Some((field, column)) = pair.split_once('=') else {
            return Err(Failure::usage_error(format!(
                "{} is not FIELD=COLUMN.",
                escape_invisible(pair)
            ))
            .hint("For example: --map spend=\"How much\""));
        };
        columns.insert(field.trim().to_owned(), column.trim().to_owned());
    }
    let mut constants = BTreeMap::new();
    let named = [("account", &args.account), ("account_id", &args.account)];
    let others = [("advertiser", &args.advertiser), ("currency", &args.currency)];
    for (field, value) in named.into_iter().chain(others) {
        if let Some(value) = value {
            constants.insert(field.to_owned(), value.clone());
        }
    }
    let date_order = args.dates.map(|dates| match dates {
        Dates::DayFirst => DateOrder::DayFirst,
        Dates::MonthFirst => DateOrder::MonthFirst,
    });
    Ok(ImportOptions { columns, constants, date_order, skip_rejected: args.skip_rejected })
}

fn absolute_path(file: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(file).map_err(|error| {
        Failure::usage_error(format!("{}: {error}", escape_invisible(&file.display().to_string())))
    })?;
    Ok(path.display().to_string())
}

/// Returns the pack that takes files, if there is only one.
async fn find_import_pack(link: &Link) -> Result<PackId, AgentError> {
    let packs = link.commands.data_list(Empty {}).await?.packs;
    let mut taking = packs.into_iter().filter(|pack| pack.files.is_some());
    match (taking.next(), taking.next()) {
        (Some(only), None) => Ok(only.pack),
        (None, _) => Err(AgentError::invalid("No pack in use takes files.")
            .reason("no_pack_takes_files")
            .hint("csign packs list shows the faults of packs.")),
        (Some(_), Some(_)) => Err(AgentError::invalid("Several packs take files.")
            .reason("several_packs_take_files")
            .hint("Name one with --pack.")),
    }
}
