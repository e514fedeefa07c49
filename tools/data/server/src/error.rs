//! The errors of this program, and the sentences that people read.

use contract::{AgentError, ErrorCode, Reason, text};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A library of a database is missing or cannot be loaded.
    #[error("the library {library} cannot be loaded: {cause}")]
    Driver { library: String, cause: String },
    /// A driver that a person accepted cannot be loaded.
    #[error("the driver {library} cannot be loaded: {cause}")]
    OtherDriver { library: String, cause: String },
    /// The database library refused a statement of this program.
    #[error("the database library failed: {0}")]
    Engine(String),
    /// A query is not valid for the engine.
    #[error("the query failed: {0}")]
    Query(String),
    /// A query is not one that may run.
    #[error("the query may not run: {0}")]
    Refused(Refusal),
    /// The arguments of a call cannot be read.
    #[error("the arguments do not fit: {0}")]
    Arguments(String),
    /// A question took longer than its limit.
    #[error("the question took longer than {0} ms")]
    TooLong(u64),
    /// A question needs more memory or disk than its limit.
    #[error("the question needs more memory than its limit")]
    TooLarge,
    /// The caller cancelled the call.
    #[error("the call was cancelled")]
    Cancelled,
    /// A value of the result cannot be written.
    #[error("the column {column} has the type {kind}")]
    Kind { column: String, kind: String },
    /// A page of a result was asked for that is no longer there.
    #[error("the result is gone")]
    ResultGone,
    /// The database refused the connection.
    #[error("the database cannot be reached: {0}")]
    Connection(String),
    /// The database refused the password.
    #[error("the database refused the sign-in: {0}")]
    Password(String),
    /// The database ended the connection while it answered.
    #[error("the database ended the connection: {0}")]
    Gone(String),
    /// A table is not as its source knows it.
    #[error("the table has changed: {0}")]
    TableChanged(String),
    /// The role of the connection may do too much.
    #[error("the role {role} is {right}")]
    TooMuchRight { role: String, right: String },
    /// The content of a compressed file has another format than its reader expects.
    #[error("the content has the format {0:?}")]
    OtherFormat(contract::sources::FileFormat),
    /// A file of this program cannot be read or written.
    #[error("{what}: {cause}")]
    File { what: String, cause: std::io::Error },
    /// An error with its sentence.
    #[error("{}", .0.message)]
    Told(Box<AgentError>),
}

/// Why a query may not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The engine's parser found an error.
    Syntax(String),
    /// The text has no SELECT, or more than one.
    NotOne(usize),
    /// A table is no source of the call.
    Table { name: String, known: Vec<String> },
    /// A function is not on the list.
    Function(String),
    /// A part of SQL that is not allowed.
    Construct(String),
    /// A function whose result could be very long.
    Length(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Syntax(cause) => write!(f, "syntax: {cause}"),
            Self::NotOne(count) => write!(f, "{count} statements"),
            Self::Table { name, .. } => write!(f, "table {name}"),
            Self::Function(name) => write!(f, "function {name}"),
            Self::Construct(name) => write!(f, "construct {name}"),
            Self::Length(name) => write!(f, "length of {name}"),
        }
    }
}

impl DataError {
    /// Takes the error of a query of this program for a change of the table, if it is one.
    #[must_use]
    pub fn of_table(self) -> Self {
        match self {
            Self::Query(cause)
                if [
                    "does not exist",
                    "permission denied",
                    "cannot be found",
                    "UNRESOLVED_COLUMN",
                ]
                .iter()
                .any(|told| cause.contains(told)) =>
            {
                Self::TableChanged(cause)
            }
            other => other,
        }
    }

    /// Creates the error of a file.
    pub fn file(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |cause| Self::File { what, cause }
    }
}

impl From<AgentError> for DataError {
    fn from(error: AgentError) -> Self {
        Self::Told(Box::new(error))
    }
}

impl From<DataError> for AgentError {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Told(told) => *told,
            DataError::Refused(refusal) => refused(&refusal),
            DataError::Driver { library, cause } => AgentError::internal(
                "driver_missing",
                text!("The library {library} cannot be loaded: {cause}.", library, cause),
            )
            .hint("Install Countersign again. If you built it yourself, run `make drivers`."),
            DataError::OtherDriver { library, cause } => AgentError::invalid(text!(
                "The driver {library} cannot be loaded: {cause}.",
                library,
                cause
            ))
            .reason("driver_unusable")
            .hint("Check that the file is an ADBC driver for this system, then connect the database again."),
            DataError::Engine(cause) => AgentError::internal(
                "data_engine",
                text!("The database library failed: {cause}.", cause),
            ),
            DataError::Query(cause) => {
                AgentError::invalid(text!("The query cannot be computed: {cause}.", cause))
                    .reason("query_failed")
            }
            DataError::Arguments(cause) => {
                AgentError::invalid(text!("The arguments do not fit: {cause}.", cause))
            }
            DataError::TooLong(millis) => AgentError::new(
                ErrorCode::ToolTimeout,
                text!("The question took longer than {seconds} s and was stopped.", seconds = millis.div_ceil(1000)),
            )
            .reason("question_too_long")
            .hint("Ask for a shorter period or fewer groups."),
            DataError::TooLarge => AgentError::invalid(
                "The question needs more memory than its limit and was stopped.",
            )
            .reason("question_too_large")
            .hint("Ask for a shorter period or fewer groups."),
            DataError::Cancelled => {
                AgentError::new(ErrorCode::ToolTimeout, "The question was cancelled.")
                    .reason("cancelled")
                    .retryable(false)
            }
            DataError::Kind { column, kind } => AgentError::invalid(text!(
                "The column {column} has the type {kind}, which a result cannot have.",
                column,
                kind
            ))
            .hint("Turn it into text: CAST(column AS VARCHAR), or connect a view that does."),
            DataError::ResultGone => {
                AgentError::invalid("The result of this query is no longer kept.")
                    .reason("result_gone")
                    .hint("Ask the question again.")
            }
            DataError::Connection(cause) => AgentError::new(
                ErrorCode::ToolHttpError,
                text!("The database cannot be reached: {cause}.", cause),
            )
            .reason(Reason::DatabaseUnreachable)
            .hint("Check that the database runs, and the address and the certificate of the source."),
            DataError::Password(cause) => AgentError::new(
                ErrorCode::ToolHttpError,
                text!("The database refused the sign-in: {cause}.", cause),
            )
            .reason(Reason::DatabasePassword)
            .hint("Check user and password."),
            DataError::Gone(cause) => AgentError::new(
                ErrorCode::ToolHttpError,
                text!("The database ended the connection: {cause}.", cause),
            )
            .reason(Reason::DatabaseGone)
            .hint("Ask again when the database runs.")
            .retryable(true),
            DataError::TableChanged(cause) => AgentError::invalid(text!(
                "The database does not give the table as the source knows it: {cause}.",
                cause
            ))
            .reason(Reason::TableChanged)
            .hint("Check the name of the table and the rights of the role."),
            DataError::TooMuchRight { role, right } => AgentError::invalid(text!(
                "The database role {role} is {right}, so questions could read or change more than the source.",
                role,
                right
            ))
            .reason("role_too_powerful")
            .hint("Connect with a role that may only read the table."),
            DataError::OtherFormat(_) => {
                AgentError::invalid("The format of the file is not known.").reason("file_unreadable")
            }
            DataError::File { what, cause } => AgentError::internal(
                "data_file",
                text!("{what}: {cause}.", what, cause = cause.to_string()),
            ),
        }
    }
}

fn refused(refusal: &Refusal) -> AgentError {
    match refusal {
        Refusal::Syntax(cause) => {
            AgentError::invalid(text!("The query is not valid SQL: {cause}.", cause = cause))
        }
        Refusal::NotOne(count) => AgentError::invalid(text!(
            "A query is exactly one SELECT; this text has {count} statements.",
            count = count
        )),
        Refusal::Table { name, known } if known.is_empty() => {
            AgentError::invalid(text!("There is no source named {name}.", name = name))
        }
        Refusal::Table { name, known } => AgentError::invalid(text!(
            "There is no source named {name}. The query may use: {known}.",
            name = name,
            known = known.join(", ")
        )),
        Refusal::Function(name) => AgentError::invalid(text!(
            "The function {name} is not available in queries.",
            name = name
        )),
        Refusal::Construct(name) => AgentError::invalid(text!(
            "{construct} is not available in queries. A query is one SELECT that only reads sources.",
            construct = name
        )),
        Refusal::Length(name) => AgentError::invalid(text!(
            "The function {name} can make a very long text. Write its length or width as a number of at most {most}.",
            name = name,
            most = crate::check::LONGEST_RESULT
        )),
    }
    .reason("query_refused")
}
