//! Why a file cannot be read as a table, and what a person can do about it.

use std::io;

use contract::{Text, sources::FileFormat, text};

use crate::limits::{Limit, MAX_COLUMNS};

/// Why a file cannot be read as a table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The operating system refused.
    #[error("the file cannot be read: {0}")]
    Io(io::Error),
    /// The file has no content.
    #[error("the file is empty")]
    Empty,
    /// The file has no line with headings and no rows.
    #[error("the file has no table")]
    NoTable,
    /// The file has headings and no rows.
    #[error("the file has no rows")]
    NoRows,
    /// The file is of a format that another reader reads.
    #[error("the file is {0:?}")]
    Other(FileFormat),
    /// The file is of a format that is recognised but not read.
    #[error("the file is {0}")]
    Unreadable(Unreadable),
    /// The workbook is damaged.
    #[error("the workbook cannot be read: {0}")]
    Workbook(String),
    /// The compressed content is damaged.
    #[error("the compressed content cannot be read: {0}")]
    Packed(String),
    /// A compressed file contains several files.
    #[error("the file contains several files")]
    SeveralFiles(Vec<String>),
    /// The workbook has no sheet with the name.
    #[error("there is no sheet {name}")]
    NoSheet {
        /// The name.
        name: String,
        /// The sheets that there are.
        sheets: Vec<String>,
    },
    /// A sheet that a decision names does not have the headings of the first one.
    #[error("the sheet {name} has other headings than {first}")]
    OtherHeadings {
        /// The name of the sheet.
        name: String,
        /// The name of the first sheet.
        first: String,
    },
    /// A decision names a column that the file does not have.
    #[error("there is no column {name}")]
    NoColumn {
        /// The name.
        name: String,
        /// The columns that there are.
        columns: Vec<String>,
    },
    /// A decision answers a question with a value that the question does not have.
    #[error("{id} cannot be {answer}")]
    UnknownAnswer {
        /// The question.
        id: String,
        /// The answer.
        answer: String,
        /// The values of the question.
        values: Vec<String>,
    },
    /// A decision names an encoding that is not known.
    #[error("there is no encoding {0}")]
    NoEncoding(String),
    /// The text is not in the encoding that a person chose.
    #[error("the text is not in this encoding")]
    NotThisEncoding,
    /// A decision names a line with headings that the file does not have.
    #[error("the file has no line {0}")]
    NoLine(u64),
    /// Quotes are opened in many lines and never closed.
    #[error("line {line}: a quote is not closed")]
    Quotes {
        /// The last line that was looked at.
        line: u64,
    },
    /// The file exceeds a bound.
    #[error("the file exceeds {0:?}")]
    Limit(Limit),
    /// A question about the file has no answer yet, so that no rows are given.
    #[error("a question is open")]
    Undecided,
    /// The file is not the one that was inspected.
    #[error("the file changed while it was read")]
    Changed,
    /// The caller stopped the reading.
    #[error("stopped")]
    Stopped,
    /// The caller could not take the rows.
    #[error("the rows cannot be stored: {0}")]
    Sink(Box<dyn std::error::Error + Send + Sync>),
}

/// Formats that are recognised but not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A workbook or an archive with a password.
    #[error("protected by a password")]
    Password,
    /// A web page, often with the ending `.xls`.
    #[error("a web page")]
    Html,
    /// The XML format of old Excel versions.
    #[error("an XML spreadsheet")]
    XmlSpreadsheet,
    /// The binary format `.xlsb`.
    #[error("a binary workbook")]
    Xlsb,
    /// A document of Apple Numbers.
    #[error("a Numbers document")]
    Numbers,
    /// A PDF document.
    #[error("a PDF document")]
    Pdf,
    /// An archive or compression that is not read.
    #[error("an archive")]
    Archive,
    /// A picture, a program or something else that is no text.
    #[error("not a text file")]
    Binary,
}

impl From<io::Error> for TableError {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(own) => own,
            Err(error) => Self::Io(error),
        }
    }
}

impl From<TableError> for io::Error {
    fn from(error: TableError) -> Self {
        Self::other(error)
    }
}

impl From<Limit> for TableError {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

impl TableError {
    /// Returns the sentence for a person.
    pub fn message(&self) -> Text {
        match self {
            Self::Io(error) => text!("The file cannot be read: {error}", error = error.to_string()),
            Self::Empty => text!("The file is empty."),
            Self::NoTable => text!("The file has no table: no line with headings was found."),
            Self::NoRows => text!("The file has headings, but no rows."),
            Self::Other(_) => text!("The file has another format."),
            Self::Unreadable(what) => what.message(),
            Self::Workbook(error) => {
                text!("The workbook is damaged: {error}", error = error.clone())
            }
            Self::Packed(error) => {
                text!("The compressed file is damaged: {error}", error = error.clone())
            }
            Self::SeveralFiles(names) => {
                text!("The archive contains several files: {names}.", names = names.join(", "))
            }
            Self::NoSheet { name, .. } => {
                text!("The workbook has no sheet with the name {name}.", name = name.clone())
            }
            Self::OtherHeadings { name, first } => text!(
                "The sheet {name} does not have the headings of the sheet {first}.",
                name = name.clone(),
                first = first.clone()
            ),
            Self::NoColumn { name, .. } => {
                text!("The file has no column with the name {name}.", name = name.clone())
            }
            Self::UnknownAnswer { id, answer, .. } => {
                text!("{id} cannot be {answer}.", id = id.clone(), answer = answer.clone())
            }
            Self::NoEncoding(name) => text!("There is no encoding {name}.", name = name.clone()),
            Self::NotThisEncoding => text!("The text is not in the encoding that was chosen."),
            Self::NoLine(line) => text!("The file has no line {line}.", line = *line),
            Self::Quotes { line } => {
                text!("Quotes are opened and not closed up to line {line}.", line = *line)
            }
            Self::Limit(limit) => limit_message(*limit),
            Self::Undecided => text!("Questions about the file are open."),
            Self::Changed => text!("The file changed while it was read."),
            Self::Stopped => text!("The import was stopped."),
            Self::Sink(error) => {
                text!("The rows cannot be stored: {error}", error = error.to_string())
            }
        }
    }

    /// Returns what a person can do, if there is something.
    pub fn hint(&self) -> Option<Text> {
        Some(match self {
            Self::Unreadable(what) => what.hint(),
            Self::Workbook(_) => {
                text!("Open it in a spreadsheet program, and save it as .xlsx or .csv.")
            }
            Self::SeveralFiles(_) => text!("Unpack it, and import the files one by one."),
            Self::NoTable => {
                text!("Say which line has the headings (in a terminal: --header-line N).")
            }
            Self::NoSheet { sheets, .. } => {
                text!("The sheets are: {sheets}.", sheets = sheets.join(", "))
            }
            Self::OtherHeadings { .. } => {
                text!("Import the sheets one by one (in a terminal: --sheet NAME).")
            }
            Self::NoColumn { columns, .. } => {
                text!("The columns are: {columns}.", columns = columns.join(", "))
            }
            Self::UnknownAnswer { id, values, .. } => {
                let each: Vec<String> =
                    values.iter().map(|value| format!("--answer {id}={value}")).collect();
                text!("Use one of: {options}", options = each.join(", "))
            }
            Self::NotThisEncoding => {
                text!("Leave the encoding out, and it is found by the content.")
            }
            Self::NoEncoding(_) => text!("Examples are utf-8, windows-1252 and windows-1250."),
            Self::Quotes { .. } => {
                text!("Export the file again with each quote inside of a text doubled.")
            }
            Self::Packed(_) | Self::Changed => text!("Export or copy the file again."),
            Self::Limit(_) => text!("Export fewer columns or a shorter period."),
            _ => return None,
        })
    }
}

impl Unreadable {
    fn message(self) -> Text {
        match self {
            Self::Password => text!("The file is protected by a password."),
            Self::Html => text!("The file is a web page, not a workbook."),
            Self::XmlSpreadsheet => text!("The file is an XML spreadsheet, which is not read."),
            Self::Xlsb => text!("The file is a binary workbook (.xlsb), which is not read."),
            Self::Numbers => text!("The file is a Numbers document, which is not read."),
            Self::Pdf => text!("The file is a PDF document, not a table."),
            Self::Archive => text!("The file is an archive of a kind that is not read."),
            Self::Binary => text!("The file is not a text file, a workbook or a table."),
        }
    }

    fn hint(self) -> Text {
        match self {
            Self::Password => {
                text!("Open it with its password, save a copy without one, and import the copy.")
            }
            Self::Archive => text!("Unpack it, and import the file in it."),
            Self::Pdf | Self::Binary => text!("Export the table as .csv or .xlsx."),
            _ => text!("Open it in a spreadsheet program, and save it as .xlsx or .csv."),
        }
    }
}

fn limit_message(limit: Limit) -> Text {
    match limit {
        Limit::File => text!("The file is larger than 4 GB."),
        Limit::Line { line } => {
            text!("Line {line} is longer than 1 MB.", line = line)
        }
        Limit::Columns => {
            text!("The table has more than {most} columns.", most = MAX_COLUMNS)
        }
        Limit::Cell => text!("A cell is larger than 256 kB."),
        Limit::Sheet => text!("A sheet has more cells or text than can be read."),
        Limit::Sheets => text!("The workbook has more than 100 sheets."),
        Limit::Unpacked => text!("The file unpacks to more than can be read."),
    }
}
