//! Looks at a file before it is imported: its columns with samples and suggested fields, its
//! formats, and the result of reading all lines. Stores nothing.

use std::{path::Path, sync::atomic::AtomicBool};

use contract::{
    AgentError, DecimalSign, FileCheck, FileSurvey, ImportProblem, SurveyedColumn, SurveyedDates,
    TextEncoding, data::ImportOptions,
};
use tabular::{Decimals, Encoding, Mapping, Memory};

use super::{
    check::{Amounts, check},
    columns::FileKind,
    fields,
    lines::Lines,
    mapped::Fields,
    schema,
    table::{Table, Way},
};

/// The names of our own kinds of files.
const DELIVERY: &str = "Countersign delivery";
const CAMPAIGNS: &str = "Countersign campaigns";

/// A file whose columns are known.
struct Opened {
    view: FileSurvey,
    table: Table,
    /// None for budgets, whose columns are fixed.
    mapping: Option<Mapping>,
}

/// Reads a file as an import with these options would.
pub(crate) fn survey(
    path: &Path,
    options: &ImportOptions,
    memory: &Memory,
    stop: &AtomicBool,
) -> Result<FileSurvey, AgentError> {
    let Opened { mut view, table, mapping } = match open(path, options, memory) {
        Ok(opened) => opened,
        Err(problem) => return Ok(unreadable(problem)),
    };
    view.check = match (&table.way, &mapping) {
        (Way::Own(header), _) => {
            Some(check(&table.survey, &mut Lines::own(&table, header), None, stop)?)
        }
        (_, Some(mapping)) if view.missing.is_empty() => check_mapped(&table, mapping, stop)?,
        _ => None,
    };
    Ok(view)
}

/// Looks at a file without checking its lines.
pub(crate) fn survey_head(path: &Path, options: &ImportOptions, memory: &Memory) -> FileSurvey {
    open(path, options, memory).map_or_else(unreadable, |opened| opened.view)
}

fn open(path: &Path, options: &ImportOptions, memory: &Memory) -> Result<Opened, ImportProblem> {
    let table = Table::open(path, options, memory)?;
    let mut view = shape_of(&table);
    let mapping = match &table.way {
        Way::Own(header) if header.kind == FileKind::Campaigns => {
            view.is_fixed = true;
            view.fields = fields::of_budgets();
            None
        }
        _ => Some(table.suggestion()?),
    };
    if let Some(mapping) = &mapping {
        put_mapping(&mut view, &table, mapping);
    }
    Ok(Opened { view, table, mapping })
}

/// Reads all lines of a mapped file. Returns None if the order of day and month is unknown.
fn check_mapped(
    table: &Table,
    mapping: &Mapping,
    stop: &AtomicBool,
) -> Result<Option<FileCheck>, AgentError> {
    let Ok(formats) = table.formats(mapping) else { return Ok(None) };
    let fields = Fields::new(mapping);
    let mut lines = Lines::mapped(table, mapping, &fields, formats);
    let amounts = Amounts { source: mapping.source("spend"), format: formats.amounts };
    check(&table.survey, &mut lines, Some(&amounts), stop).map(Some)
}

/// Returns the name of the layout, if no person has to map the columns.
fn layout_of(table: &Table) -> Option<&str> {
    match &table.way {
        Way::Own(header) if header.kind == FileKind::Campaigns => Some(CAMPAIGNS),
        Way::Own(_) => Some(DELIVERY),
        Way::Mapped(_) => table.survey.layout.map(|layout| layout.title.as_str()),
        Way::Refused(_) => None,
    }
}

fn unreadable(problem: ImportProblem) -> FileSurvey {
    FileSurvey { problem: Some(problem), ..FileSurvey::default() }
}

/// Returns the findings that do not depend on the mapping.
fn shape_of(table: &Table) -> FileSurvey {
    let survey = &table.survey;
    FileSurvey {
        encoding: survey.encoding().map(|encoding| match encoding {
            Encoding::Utf8 => TextEncoding::Utf8,
            Encoding::Utf16Le | Encoding::Utf16Be => TextEncoding::Utf16,
            Encoding::Windows1252 => TextEncoding::Windows1252,
        }),
        separator: survey.separator().map(String::from),
        header_line: survey.header_line,
        title_lines: survey.title_lines,
        layout: layout_of(table).map(str::to_owned),
        shape: survey.column_names(),
        is_remembered: table.decisions.is_remembered,
        columns: survey
            .columns
            .iter()
            .map(|column| SurveyedColumn {
                heading: column.heading.clone(),
                samples: column.samples.clone(),
                field: None,
            })
            .collect(),
        ..FileSurvey::default()
    }
}

/// Adds the fields of the columns, and the formats of those that are mapped.
fn put_mapping(view: &mut FileSurvey, table: &Table, mapping: &Mapping) {
    for (field, place) in &mapping.columns {
        let column = &mut view.columns[*place];
        if column.field.is_none() {
            column.field = Some(field.clone());
        }
    }
    view.fields = fields::of_mapping(&table.survey, mapping);
    let missing = mapping.missing(schema::delivery());
    view.missing = missing.into_iter().map(str::to_owned).collect();
    let Ok(formats) = table.survey.formats(mapping) else { return };
    if let Some(place) = mapping.columns.get("day") {
        let days = formats.days;
        let earlier = table.decisions.earlier_order.filter(|_| days.is_ambiguous());
        view.dates = Some(SurveyedDates {
            order: table
                .decisions
                .options
                .date_order
                .or(earlier)
                .filter(|order| days.allows(*order))
                .or(days.order),
            is_ambiguous: days.is_ambiguous() || days.has_conflict(),
            example: view.columns[*place].samples.first().cloned().unwrap_or_default(),
        });
    }
    if mapping.columns.contains_key("spend") {
        view.decimals = Some(match formats.amounts.decimals {
            Decimals::Point => DecimalSign::Point,
            Decimals::Comma => DecimalSign::Comma,
        });
    }
}
