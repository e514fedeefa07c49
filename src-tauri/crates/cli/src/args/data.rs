//! The command line of `csign data` and `csign import`. The comments of the fields are the help
//! texts.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// A command about sources of data.
#[derive(Debug, Subcommand)]
pub(crate) enum Data {
    /// Import files as a source, or connect a database
    Add(Box<DataAdd>),
    /// Add the fictional sample as sources; only on a terminal
    Sample,
    /// All sources
    List,
    /// The meaning of a source's columns, its definitions and its imports
    Describe(Named),
    /// Figures about the values of each column: empty, different, least, greatest, mean, frequent
    Profile(DataProfile),
    /// Run one SELECT; each source is a table with its name
    Query(DataQuery),
    /// Compute figures by a metric query as JSON: docs/data.md
    Measure(DataMeasure),
    /// Import new and changed files of a source's folder
    Refresh(Named),
    /// Take the newest import of a source back; only on a terminal
    Undo(Named),
    /// Remove a source and erase its rows; only on a terminal
    Remove(Named),
    /// Delete what packs of an older version kept, after its rows became sources; only on a terminal
    RemoveOld,
    /// Compute the figures of a record of the log again and compare
    Verify {
        /// The number of the record
        #[arg(value_name = "RECORD")]
        record: u64,
    },
    /// Show all definitions of a source and approve them; only on a terminal
    Approve {
        #[command(flatten)]
        named: Named,
        /// Approve definitions with this hash without a question: `definitions_hash` of `csign
        /// data describe --json`
        #[arg(long)]
        hash: Option<String>,
    },
    /// Allow imports without a person from a folder; only on a terminal. Without a folder: list them
    Allow {
        /// The folder; `-` stands for pipes
        folder: Option<PathBuf>,
        /// Take the permission back
        #[arg(long, requires = "folder")]
        revoke: bool,
    },
}

/// A source by its name.
#[derive(Debug, clap::Args)]
pub(crate) struct Named {
    /// The name of the source
    pub(crate) name: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DataAdd {
    /// The files, patterns such as 'exports/*.csv', or the address of a database; `-` reads
    /// standard input
    #[arg(required = true, value_name = "FILE|ADDRESS")]
    pub(crate) places: Vec<String>,
    /// The source (default: the one with these columns, else a new one named after the file)
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Show what an import would do; nothing is stored
    #[arg(long)]
    pub(crate) check: bool,
    /// Ask nothing: without a terminal it also needs a folder that a person allowed
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Decisions about a file.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Reading {
    /// The sheet of a workbook or the table of an SQLite file; may be given several times
    #[arg(long, value_name = "SHEET")]
    pub(crate) sheet: Vec<String>,
    /// The line with the headings, counted from 1
    #[arg(long, value_name = "LINE", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) header_line: Option<u64>,
    /// The encoding of the text, such as windows-1250
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,
    /// How dates such as 1/11/2026 are read (default: the file has to show it)
    #[arg(long, value_enum)]
    pub(crate) dates: Option<Dates>,
    /// The sign before decimals (default: the file has to show it)
    #[arg(long, value_enum)]
    pub(crate) decimal: Option<Decimal>,
    /// The time zone of moments without one, such as Europe/Stockholm
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// The account of all rows
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// The part of each file's path that is its account, such as 'clients/{account}/*.csv'
    #[arg(long, value_name = "PATTERN", conflicts_with = "account")]
    pub(crate) account_from_path: Option<String>,
    /// The currency of all amounts, such as EUR
    #[arg(long, value_name = "CODE")]
    pub(crate) currency: Option<String>,
    /// The use or the type of a column, such as Price=ratio or 'Plan=last,EUR': dimension, id, sum,
    /// ratio, last, time, currency, account, other, text, whole, decimal, day, moment or flag; any
    /// other word is the unit
    #[arg(long, value_name = "COLUMN=ROLE")]
    pub(crate) set: Vec<String>,
    /// The column of a field where it is not recognised, such as `spend=How much`
    #[arg(long, value_name = "FIELD=COLUMN")]
    pub(crate) map: Vec<String>,
    /// How the rows are put into a source that has rows (default: replace)
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,
    /// Store the other rows of a file if some are rejected
    #[arg(long)]
    pub(crate) skip_rejected: bool,
    /// The answer to a question of an import, as it prints it
    #[arg(long, value_name = "QUESTION=ANSWER")]
    pub(crate) answer: Vec<String>,
    /// Do not repeat what was decided for earlier files of the source
    #[arg(long)]
    pub(crate) forget_mapping: bool,
}

/// The order of day, month and year.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Dates {
    #[value(name = "day-first")]
    Day,
    #[value(name = "month-first")]
    Month,
    #[value(name = "year-first")]
    Year,
}

/// The sign before decimals.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Decimal {
    /// 1.234,50
    Comma,
    /// 1,234.50
    Point,
}

/// How rows are put into a source that has rows.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// Replace the stored rows of the same accounts and days
    Replace,
    /// Add the rows to the stored rows
    Add,
    /// Replace the stored rows with the same key
    Key,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DataProfile {
    /// The name of the source
    pub(crate) name: String,
    /// A column, with its frequent values and ranges; may be given several times (default: all)
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DataQuery {
    /// The SELECT; `-` reads it from standard input
    pub(crate) sql: String,
    #[command(flatten)]
    pub(crate) printing: Printing,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DataMeasure {
    /// The metric query as JSON; `-` reads it from standard input
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) printing: Printing,
}

/// How a table is printed, if not for people.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Printing {
    /// Print all rows and columns as CSV
    #[arg(long, conflicts_with = "parquet")]
    pub(crate) csv: bool,
    /// Write all rows and columns into a new Parquet file
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
}
