//! A connection to a database through ADBC: statements, queries that can be stopped, and loading of
//! batches. Knows no database in particular.

use std::sync::Arc;

use adbc_core::{
    Connection as _, Optionable as _, Statement as _,
    options::{IngestMode, OptionStatement, OptionValue},
};
use adbc_driver_manager::{ManagedConnection, ManagedStatement};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;

use crate::{DataError, cells, stop::Stop};

/// The words of drivers whose database has ended a connection.
const GONE: [&str; 8] = [
    "server closed the connection unexpectedly",
    "terminating connection due to",
    "SSL connection has been closed unexpectedly",
    "SSL error: unexpected eof",
    "SSL SYSCALL error",
    "could not receive data from server",
    "no connection to the server",
    "error reading from server",
];

/// A connection.
pub struct Link {
    connection: ManagedConnection,
    /// Options of each statement, for the driver.
    options: Vec<(String, String)>,
    /// How the engine wants the SQL, if not as this program writes it.
    writing: Option<fn(&str) -> String>,
}

impl Link {
    /// Creates a link whose statements have these options.
    pub fn new(connection: ManagedConnection, options: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { connection, options: options.iter().map(owned).collect(), writing: None }
    }

    /// Writes the SQL of all statements in another way.
    #[must_use]
    pub fn writing(self, writing: Option<fn(&str) -> String>) -> Self {
        Self { writing, ..self }
    }

    /// Runs a statement of this program.
    pub fn run(&mut self, statement: &str) -> Result<(), DataError> {
        let mut prepared = self.statement(statement).map_err(engine)?;
        prepared.execute_update().map_err(engine)?;
        Ok(())
    }

    /// Runs a statement of this program that can be stopped.
    pub fn run_until(&mut self, statement: &str, stop: &Stop) -> Result<(), DataError> {
        let mut prepared = self.statement(statement).map_err(engine)?;
        stop.runs(Some(Arc::from(prepared.get_cancel_handle())))?;
        let result = prepared.execute_update();
        let stopped = stop.runs(None);
        result.map_err(|error| early(stopped, engine(error)))?;
        Ok(())
    }

    /// Asks a query and returns a reader of its rows.
    pub fn ask(&mut self, query: &str, stop: &Stop) -> Result<Rows, DataError> {
        let mut statement = self.statement(query).map_err(failure)?;
        stop.runs(Some(Arc::from(statement.get_cancel_handle())))?;
        match statement.execute() {
            Ok(reader) => Ok(Rows { reader, stop: stop.clone(), _statement: statement }),
            Err(error) => Err(early(stop.runs(None), failure(error))),
        }
    }

    /// Asks a query of this program for one row and returns it as texts. None: the cell is empty.
    pub fn row(&mut self, query: &str, stop: &Stop) -> Result<Vec<Option<String>>, DataError> {
        let mut rows = self.ask(query, stop)?;
        let columns = cells::columns(&rows.schema())?;
        let row = match rows.next_batch()? {
            Some(batch) if batch.num_rows() > 0 => (0..batch.num_columns())
                .map(|at| {
                    let cell = cells::cell(batch.column(at), &columns[at], 0)?;
                    Ok(match cell {
                        serde_json::Value::Null => None,
                        serde_json::Value::String(text) => Some(text),
                        other => Some(other.to_string()),
                    })
                })
                .collect::<Result<_, DataError>>()?,
            _ => Vec::new(),
        };
        Ok(row)
    }

    /// Loads batches into a new table.
    ///
    /// The library takes an error of the reader for the end of its rows. The caller has to compare
    /// the number of rows.
    pub fn load(
        &mut self,
        table: &str,
        batches: Box<dyn RecordBatchReader + Send>,
    ) -> Result<(), DataError> {
        let mut statement = self.connection.new_statement().map_err(engine)?;
        let target = OptionValue::String(table.to_owned());
        statement.set_option(OptionStatement::TargetTable, target).map_err(engine)?;
        let mode = OptionValue::from(IngestMode::Create);
        statement.set_option(OptionStatement::IngestMode, mode).map_err(engine)?;
        statement.bind_stream(batches).map_err(engine)?;
        statement.execute_update().map_err(engine)?;
        Ok(())
    }

    fn statement(&mut self, text: &str) -> adbc_core::error::Result<ManagedStatement> {
        let mut statement = self.connection.new_statement()?;
        for (name, value) in &self.options {
            let value = OptionValue::String(value.clone());
            statement.set_option(OptionStatement::Other(name.clone()), value)?;
        }
        match self.writing {
            Some(write) => statement.set_sql_query(write(text))?,
            None => statement.set_sql_query(text)?,
        }
        Ok(statement)
    }
}

/// The rows of a query.
pub struct Rows {
    reader: Box<dyn RecordBatchReader + Send>,
    stop: Stop,
    // The reader takes its rows from the statement.
    _statement: ManagedStatement,
}

impl Rows {
    /// Returns the columns.
    pub fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }

    /// Returns the next batch of rows.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        self.stop.check()?;
        match self.reader.next().transpose() {
            Ok(batch) => Ok(batch),
            Err(error) => {
                Err(early(self.stop.check(), DataError::from_library(&error.to_string())))
            }
        }
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        // The question goes on with another query, or is over.
        let _ = self.stop.runs(None);
    }
}

/// The cause why a question was stopped, if it was, or else the error of the library.
pub(crate) fn early(stopped: Result<(), DataError>, error: DataError) -> DataError {
    stopped.err().unwrap_or(error)
}

pub(crate) fn engine(error: adbc_core::error::Error) -> DataError {
    match DataError::from_library(&error.message) {
        DataError::Query(cause) => DataError::Engine(cause),
        other => other,
    }
}

fn failure(error: adbc_core::error::Error) -> DataError {
    DataError::from_library(&error.message)
}

impl DataError {
    /// Reads the message of a library about a query.
    pub(crate) fn from_library(message: &str) -> Self {
        if message.contains("Out of Memory") || message.contains("bad_alloc") {
            return Self::TooLarge;
        }
        if let Some(gone) = GONE.iter().find(|gone| message.contains(**gone)) {
            return Self::Gone((*gone).to_owned());
        }
        // The lines from `LINE 1:` on show the query.
        let lines = message.lines().map(str::trim).take_while(|line| !line.starts_with("LINE "));
        let told = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        // PostgreSQL's driver repeats the whole query before the cause.
        let told = told.split_once("ERROR:").map_or(told.as_str(), |(_, cause)| cause.trim());
        // Spark's driver adds its plan behind the code.
        let told = told.split(" SQLSTATE: ").next().unwrap_or_default().trim_end_matches('.');
        // These messages contain values of rows, which are no part of an error.
        let cause = if told.contains("Conversion Error") {
            "a value cannot be converted to the type of the expression"
        } else if told.contains("Out of Range Error") {
            "a number is too large for its type"
        } else if told.is_empty() {
            "the library told no cause"
        } else {
            told
        };
        Self::Query(cause.chars().take(400).collect())
    }
}
