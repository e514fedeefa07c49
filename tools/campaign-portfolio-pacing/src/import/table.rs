//! Decides how a file is read: with our own columns, or with a mapping from a layout, from a person
//! or from an earlier file. Reads no rows.

use std::{io, path::Path};

use contract::{ImportProblem, data::ImportOptions};
use tabular::{
    DateFormat, Decisions, Formats, Limit, Mapping, MappingError, Memory, Survey, TableError,
    limits,
};

use super::{
    columns::{self, Header},
    fields, schema,
};

/// A file, and the way in which it is read.
pub(super) struct Table {
    pub(super) survey: Survey<'static>,
    pub(super) decisions: Decisions,
    pub(super) way: Way,
}

/// The way in which a file is read.
pub(super) enum Way {
    /// With our own columns.
    Own(Header),
    /// With a mapping that has all required fields.
    Mapped(Mapping),
    /// The file cannot be read. Has the columns with their problems.
    Refused(Vec<(String, ImportProblem)>),
}

impl Table {
    /// Opens a file and decides how it is read. A problem concerns the whole file.
    pub(super) fn open(
        path: &Path,
        options: &ImportOptions,
        memory: &Memory,
    ) -> Result<Self, ImportProblem> {
        let survey = Survey::from_file(path, schema::delivery()).map_err(problem)?;
        let decisions = memory.merge_earlier_decisions(&survey.column_names(), options);
        let way = find_way(&survey, &decisions.options);
        Ok(Self { survey, decisions, way })
    }

    /// Returns the mapping as far as it is known, for a person who completes it.
    pub(super) fn suggestion(&self) -> Result<Mapping, ImportProblem> {
        let options = &self.decisions.options;
        let mapping = self.survey.suggest_mapping(&options.columns, &options.constants);
        match mapping {
            Ok(mapping) => Ok(complete_account(&self.survey, mapping, options)),
            Err(error) => Err(problem_of_mapping(&error, &self.survey).1),
        }
    }

    /// Returns how days and amounts are written. The order of day and month comes from a person, or
    /// else from the file, or else from an earlier file.
    pub(super) fn formats(&self, mapping: &Mapping) -> Result<Formats, (String, ImportProblem)> {
        let mut formats =
            self.survey.formats(mapping).map_err(|error| (String::new(), problem(error)))?;
        let is_open = formats.days.is_ambiguous();
        let earlier = self.decisions.earlier_order.filter(|_| is_open);
        let decided = self.decisions.options.date_order.or(earlier);
        if let Some(order) = decided.filter(|order| formats.days.allows(*order)) {
            formats.days = DateFormat::with_order(order);
        } else if is_open || formats.days.has_conflict() {
            let column = mapping.columns.get("day").map(|at| &self.survey.columns[*at]);
            let heading = column.map(|c| c.heading.clone()).unwrap_or_default();
            let text = column.and_then(|c| c.samples.first().cloned()).unwrap_or_default();
            return Err((heading, ImportProblem::DayAmbiguous { text }));
        }
        Ok(formats)
    }

    /// Whether empty amounts are 0: platforms leave the spend of a day without delivery empty.
    pub(super) fn blank_is_zero(&self) -> bool {
        self.survey.layout.is_some_and(|layout| layout.id != "delivery")
    }
}

fn is_named(options: &ImportOptions) -> bool {
    !options.columns.is_empty() || !options.constants.is_empty()
}

fn find_way(survey: &Survey<'_>, options: &ImportOptions) -> Way {
    let headings = headings(survey);
    let is_named = is_named(options);
    let own_problems = match Header::read(&headings) {
        Ok(header) if !is_named => return Way::Own(header),
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    };
    let is_doubled = own_problems.iter().any(|(_, p)| *p == ImportProblem::ColumnTwice);
    match survey.map(&options.columns, &options.constants) {
        Ok(mapping) if is_named || !is_doubled => {
            Way::Mapped(complete_account(survey, mapping, options))
        }
        Err(MappingError::FieldMissing(_)) if is_named || own_problems.is_empty() => {
            Way::Refused(vec![(String::new(), columns::unknown(&headings))])
        }
        Ok(_) | Err(MappingError::FieldMissing(_)) => Way::Refused(own_problems),
        Err(error) => Way::Refused(vec![problem_of_mapping(&error, survey)]),
    }
}

/// Uses the account name that a person entered as the account's id, if the file has no other id. An
/// account that the layout names keeps the layout's id.
fn complete_account(survey: &Survey<'_>, mut mapping: Mapping, options: &ImportOptions) -> Mapping {
    let is_open = !options.constants.contains_key("account_id")
        && !mapping.columns.contains_key("account_id");
    let default = survey.layout.and_then(|layout| layout.constants.get("account"));
    let named = options.constants.get("account").filter(|a| !a.is_empty() && Some(*a) != default);
    if let Some(account) = named.filter(|_| is_open) {
        mapping.constants.insert("account_id".to_owned(), account.clone());
    }
    mapping
}

fn headings(survey: &Survey<'_>) -> Vec<String> {
    survey.columns.iter().map(|column| column.heading.clone()).collect()
}

fn problem_of_mapping(error: &MappingError, survey: &Survey<'_>) -> (String, ImportProblem) {
    let headings = headings(survey);
    match error {
        MappingError::FieldMissing(_) => (String::new(), columns::unknown(&headings)),
        MappingError::NoColumn(heading) => {
            let found = columns::list_columns(&headings);
            (heading.clone(), ImportProblem::NoSuchColumn { found })
        }
        MappingError::NoField(field) => {
            (field.clone(), ImportProblem::NoSuchField { known: fields::list() })
        }
    }
}

/// Converts an error of reading to the problem of a file.
pub(super) fn problem(error: TableError) -> ImportProblem {
    match error {
        TableError::Empty => ImportProblem::EmptyFile,
        TableError::Workbook(_) => ImportProblem::Spreadsheet,
        TableError::Text(reason) => ImportProblem::BrokenOff { reason },
        TableError::NotAFile => ImportProblem::NotAFile,
        TableError::Limit(limit) => problem_of_limit(limit),
        TableError::Io(error) => match error.kind() {
            io::ErrorKind::NotFound => ImportProblem::Missing,
            io::ErrorKind::PermissionDenied => ImportProblem::Forbidden,
            io::ErrorKind::IsADirectory => ImportProblem::IsFolder,
            _ => ImportProblem::Unreadable { reason: error.to_string() },
        },
    }
}

fn problem_of_limit(limit: Limit) -> ImportProblem {
    let number = |most: u64| u32::try_from(most).unwrap_or(u32::MAX);
    let count = |most: usize| u32::try_from(most).unwrap_or(u32::MAX);
    match limit {
        Limit::File => ImportProblem::FileTooLarge { most: number(limits::MAX_FILE >> 20) },
        Limit::Line { line } => {
            ImportProblem::LineTooLong { start: number(line), most: number(limits::MAX_LINE >> 10) }
        }
        Limit::Columns => ImportProblem::TooManyColumns { most: count(limits::MAX_COLUMNS) },
        Limit::Cell => ImportProblem::CellTooLong { most: count(limits::MAX_CELL >> 10) },
        Limit::Sheet => ImportProblem::SheetTooLarge { most: count(limits::MAX_CELLS) },
        Limit::Sheets => ImportProblem::TooManySheets { most: count(limits::MAX_SHEETS) },
        Limit::Unpacked => {
            ImportProblem::UnpacksTooLarge { most: number(limits::MAX_UNPACKED >> 20) }
        }
    }
}
