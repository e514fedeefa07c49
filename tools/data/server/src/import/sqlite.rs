//! SQLite files: a table of the file becomes a flat file. The file may be hostile, so it is opened
//! read-only, without functions of its schema, and checked first.

use std::path::Path;

use contract::{
    AgentError, Reason,
    sources::{ImportQuestion, QuestionChoice, SheetFound},
    text,
};
use rusqlite::{Connection, OpenFlags, config::DbConfig, limits::Limit, types::ValueRef};

use super::{
    flat::{Flat, FlatWriter},
    input::Input,
    work::Work,
};
use crate::{DataError, sql::identifier};

/// The longest value in bytes.
const LONGEST_VALUE: i32 = 16 << 20;
/// The most columns.
const MOST_COLUMNS: i32 = 2_000;

/// The tables of a file, and the one that is read.
pub struct Found {
    /// Whether the program that writes the file keeps its newest rows in another file.
    pub has_log: bool,
    /// The tables, as the report lists them.
    pub tables: Vec<SheetFound>,
    /// The chosen table, or the question which one it is.
    pub chosen: Result<FlatTable, Box<ImportQuestion>>,
}

/// A table as a flat file.
pub struct FlatTable {
    /// The file.
    pub flat: Flat,
    /// Texts that are not UTF-8. Their wrong bytes are replaced.
    pub malformed: Option<Malformed>,
}

/// Texts with bytes that are no characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The number of texts.
    pub count: u64,
    /// The row of the first, from 1 on.
    pub row: u64,
}

/// Reads the table that was chosen, or the only one.
pub fn flatten(work: &Work<'_, '_>) -> Result<Found, DataError> {
    let (input, decisions) = (work.input, &work.job.decisions);
    let database = open(&input.path).map_err(refused)?;
    let mut tables = tables(&database).map_err(refused)?;
    if tables.is_empty() {
        return Err(AgentError::invalid("The SQLite file has no table.")
            .reason(Reason::NoTable)
            .into());
    }
    let wanted = decisions.sheets.first().or_else(|| decisions.answers.get("sheets"));
    let name = match (wanted, tables.as_slice()) {
        (Some(wanted), _) => wanted.clone(),
        (None, [one]) => one.name.clone(),
        (None, _) => {
            let question = Box::new(question(&tables));
            return Ok(Found { has_log: false, tables, chosen: Err(question) });
        }
    };
    let Some(table) = tables.iter_mut().find(|table| table.name == name) else {
        let known: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        return Err(AgentError::invalid(text!(
            "The SQLite file has no table {name}. It has: {known}.",
            name = name.as_str(),
            known = known.join(", ")
        ))
        .reason(Reason::NoTable)
        .into());
    };
    table.is_read = true;
    let flat = write(&database, &name, work)?;
    Ok(Found { has_log: has_log(input)?, tables, chosen: Ok(flat) })
}

/// Whether the header of the file says that changes are first written into a log beside it.
fn has_log(input: &Input) -> Result<bool, DataError> {
    use std::io::Read as _;
    let mut header = [0; 20];
    input.open()?.read_exact(&mut header).map_err(DataError::file("the copy of the file"))?;
    Ok(header[18..20] == [2, 2])
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    database.set_limit(Limit::SQLITE_LIMIT_COLUMN, MOST_COLUMNS)?;
    database.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    database.pragma_update(None, "cell_size_check", true)?;
    let check: String = database.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if check != "ok" {
        return Err(rusqlite::Error::InvalidParameterName(check));
    }
    Ok(database)
}

fn refused(error: rusqlite::Error) -> DataError {
    AgentError::invalid(text!(
        "The SQLite file cannot be read: {cause}.",
        cause = error.to_string()
    ))
    .reason("sqlite_unreadable")
    .hint("Close the program that writes the file, or export the table as CSV.")
    .into()
}

fn tables(database: &Connection) -> rusqlite::Result<Vec<SheetFound>> {
    let mut statement = database.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
         AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
    )?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    names
        .map(|name| {
            let name = name?;
            let query = format!("SELECT count(*) FROM {}", identifier(&name));
            let rows: i64 = database.query_row(&query, [], |row| row.get(0))?;
            let rows = u64::try_from(rows).unwrap_or(0);
            Ok(SheetFound { name, rows, is_hidden: false, is_read: false })
        })
        .collect()
}

fn question(tables: &[SheetFound]) -> ImportQuestion {
    ImportQuestion {
        id: "sheets".to_owned(),
        text: text!("The file has {count} tables. Which one?", count = tables.len() as u64),
        choices: tables
            .iter()
            .map(|table| QuestionChoice {
                value: table.name.clone(),
                label: match table.rows {
                    1 => text!("{name} (1 row)", name = table.name.as_str()),
                    rows => text!("{name} ({rows} rows)", name = table.name.as_str(), rows),
                },
            })
            .collect(),
        option: "--sheet NAME".to_owned(),
    }
}

fn write(database: &Connection, table: &str, work: &Work<'_, '_>) -> Result<FlatTable, DataError> {
    let mut statement =
        database.prepare(&format!("SELECT * FROM {}", identifier(table))).map_err(refused)?;
    let headings: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut writer = FlatWriter::create(work.folder, &headings)?;
    let mut rows = statement.query([]).map_err(refused)?;
    let (mut number, mut cells) = (0_u64, vec![(String::new(), false); headings.len()]);
    let mut malformed: Option<Malformed> = None;
    while let Some(row) = rows.next().map_err(refused)? {
        number += 1;
        work.check_records(number)?;
        for (at, cell) in cells.iter_mut().enumerate() {
            let value = row.get_ref(at).map_err(refused)?;
            let is_number = match value {
                ValueRef::Integer(_) => true,
                ValueRef::Real(number) => number.is_finite(),
                _ => false,
            };
            if is_malformed(value) {
                malformed.get_or_insert(Malformed { count: 0, row: number }).count += 1;
            }
            *cell = (text_of(value), is_number);
        }
        let cells = cells.iter().map(|(cell, is_number)| (cell.as_str(), *is_number));
        writer.record(number, cells)?;
        work.teller.progress(number, 0, 0);
    }
    Ok(FlatTable { flat: writer.finish()?, malformed })
}

/// Whether a value is a text that is not UTF-8.
fn is_malformed(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Text(text) if std::str::from_utf8(text).is_err())
}

fn text_of(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => real(number),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("x{digits}")
        }
    }
}

/// Writes a number with the 15 digits that SQLite itself shows, so that 0.1 + 0.2 is 0.3.
fn real(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_sqlite_shows() {
        assert_eq!(real(0.1 + 0.2), "0.3");
        assert_eq!(real(1234.5), "1234.5");
        assert_eq!(real(2.0), "2");
        assert_eq!(real(-1e-7), "-0.0000001");
        assert_eq!(text_of(ValueRef::Blob(&[0, 255])), "x00ff");
    }
}
