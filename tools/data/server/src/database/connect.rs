//! Connections of a database process: opened once for each address, read-only, and refused for roles
//! that may do more than read.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use adbc_core::{
    Database as _, Driver as _, Optionable as _,
    options::{OptionConnection, OptionDatabase, OptionValue},
};
use adbc_driver_manager::ManagedDatabase;
use contract::{
    metric_query::DataResult,
    sources::{AskedPlace, Password},
};

use super::{
    address::{parameters, table_parts},
    quotes,
};
use crate::{
    DataError, drivers,
    kept::{Kept, Table},
    link::Link,
    stop::Stop,
};

/// The name of the driver that ships.
pub const POSTGRESQL: &str = "postgresql";

/// The longest time limit that the database takes.
const MOST_MILLIS: u64 = 2_000_000_000;

/// Roles that reach files and programs of the server.
const FILE_ROLES: [&str; 3] =
    ["pg_read_server_files", "pg_write_server_files", "pg_execute_server_program"];

/// The words of databases that refuse a password, in lower case.
const REFUSED: [&str; 6] = [
    "password authentication failed",
    "no password supplied",
    "authentication failed",
    "unauthenticated",
    "incorrect username or password",
    "access denied",
];

/// Settings of sessions, by the scheme of the address. With these, the engine reads standard SQL and
/// computes exactly, or fails.
const SESSIONS: [(&str, &[&str]); 1] = [(
    "sc",
    &[
        "SET spark.sql.ansi.enabled=true",
        "SET spark.sql.ansi.doubleQuotedIdentifiers=true",
        "SET spark.sql.decimalOperations.allowPrecisionLoss=false",
        "SET spark.sql.parser.escapedStringLiterals=true",
        "SET spark.sql.session.timeZone=UTC",
    ],
)];

/// The databases of a process.
pub struct Databases {
    drivers: PathBuf,
    open: Mutex<Option<(String, Arc<ManagedDatabase>)>>,
    pub(super) kept: Kept<Table>,
    pub(super) measured: Kept<DataResult>,
}

/// A table of a database, as a call names it.
pub struct Place<'a> {
    /// The parts of the table's name.
    pub table: Vec<String>,
    /// The driver.
    pub driver: &'a str,
    address: &'a str,
    via: Option<&'a str>,
    password: Option<&'a Password>,
}

impl<'a> Place<'a> {
    /// Reads the place of a source.
    pub fn of(place: &'a AskedPlace) -> Result<Self, DataError> {
        let AskedPlace::Table { table, driver, address, via, password } = place else {
            return Err(DataError::Arguments("the source is no table of a database".to_owned()));
        };
        let mut parts = table_parts(table);
        if parts.len() == 1 && driver == POSTGRESQL {
            // The search path has the built-in functions alone.
            parts.insert(0, "public".to_owned());
        }
        Ok(Self { table: parts, driver, address, via: via.as_deref(), password: password.as_ref() })
    }

    /// Whether the dialect and the checks of PostgreSQL apply.
    pub fn is_postgres(&self) -> bool {
        self.driver == POSTGRESQL
    }

    /// Returns the place as a text without the password.
    pub fn shown(&self) -> String {
        format!("{} {} {:?}", self.driver, self.address, self.table)
    }

    fn options(&self) -> Result<Vec<(OptionDatabase, OptionValue)>, DataError> {
        let password = self.password.map(|password| password.0.as_str());
        let text = |text: &str| OptionValue::String(text.to_owned());
        if self.is_postgres() {
            let parameters = parameters(self.address, self.via, password)?;
            return Ok(vec![(OptionDatabase::Uri, text(&parameters))]);
        }
        let Some(password) = password else {
            return Ok(vec![(OptionDatabase::Uri, text(self.address))]);
        };
        if let Some(address) = with_secret(self.address, password) {
            return Ok(vec![(OptionDatabase::Uri, text(&address))]);
        }
        // Without a place in the address, user and password are options of their own.
        let (user, address) = without_user(self.address);
        let mut options = vec![(OptionDatabase::Uri, text(&address))];
        options.extend(user.map(|user| (OptionDatabase::Username, text(&user))));
        options.push((OptionDatabase::Password, text(password)));
        Ok(options)
    }

    /// Returns the statements that begin a session of another driver.
    fn session(&self) -> &'static [&'static str] {
        let scheme = self.address.split("://").next().unwrap_or_default();
        SESSIONS
            .iter()
            .find(|(known, _)| *known == scheme)
            .map_or(&[], |(_, statements)| statements)
    }

    /// Returns what tells one connection from another.
    fn key(&self) -> String {
        let password = self.password.map_or("", |password| password.0.as_str());
        crate::answer::hash_of(&format!(
            "{}\n{}\n{}\n{password}",
            self.driver,
            self.address,
            self.via.unwrap_or_default()
        ))
    }
}

impl Databases {
    /// Creates the databases of a process, none of them open.
    pub fn new(drivers: PathBuf) -> Self {
        Self { drivers, open: Mutex::new(None), kept: Kept::default(), measured: Kept::default() }
    }

    /// Opens a connection for one question, in a transaction that only reads.
    pub(super) fn connect(
        &self,
        place: &Place<'_>,
        millis: u64,
        stop: &Stop,
    ) -> Result<Link, DataError> {
        let database = self.database(place)?;
        let mut connection =
            database.new_connection().map_err(|error| self.unreachable(place, &error.message))?;
        if !place.is_postgres() {
            // Not all drivers know this option. The check of the text is the wall.
            let _ = connection
                .set_option(OptionConnection::ReadOnly, OptionValue::String("true".to_owned()));
        }
        // The extended protocol runs exactly one statement. The other way would be COPY, whose text
        // contains the query.
        let options: &[(&str, &str)] =
            if place.is_postgres() { &[("adbc.postgresql.use_copy", "false")] } else { &[] };
        let mut link = Link::new(connection, options).writing(quotes::writing(place.address));
        if place.is_postgres() {
            begin(&mut link, millis, stop)?;
        } else {
            for statement in place.session() {
                link.run(statement).map_err(|error| self.at_start(place, error))?;
            }
        }
        Ok(link)
    }

    fn database(&self, place: &Place<'_>) -> Result<Arc<ManagedDatabase>, DataError> {
        let key = place.key();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, database)) = open.as_ref().filter(|(known, _)| *known == key) {
            return Ok(database.clone());
        }
        let mut driver = if place.is_postgres() {
            drivers::load(&self.drivers, drivers::POSTGRESQL)?
        } else {
            drivers::load_other(Path::new(place.driver))?
        };
        let database = driver
            .new_database_with_opts(place.options()?)
            .map_err(|error| self.unreachable(place, &error.message))?;
        let database = Arc::new(database);
        *open = Some((key, database.clone()));
        Ok(database)
    }

    /// Some drivers connect with the first statement.
    fn at_start(&self, place: &Place<'_>, error: DataError) -> DataError {
        match error {
            DataError::Engine(message) => self.unreachable(place, &message),
            other => other,
        }
    }

    /// The error of a connection, without the password and on one line.
    fn unreachable(&self, place: &Place<'_>, message: &str) -> DataError {
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let message = match place.password {
            Some(password) if !password.0.is_empty() => message.replace(&password.0, "…"),
            _ => message,
        };
        // libpq names the server before the cause, which is where the host leads it.
        let cause = message.rsplit_once("failed: ").map_or(message.as_str(), |(_, cause)| cause);
        let cause = cause.strip_prefix("FATAL: ").unwrap_or(cause);
        let cause = cause.trim().trim_end_matches(['.', '?']).chars().take(400).collect();
        let lower = message.to_lowercase();
        if REFUSED.iter().any(|refused| lower.contains(refused)) {
            return DataError::Password(cause);
        }
        DataError::Connection(cause)
    }
}

/// Returns the user of an address that names one without a password, and the address without it.
fn without_user(address: &str) -> (Option<String>, String) {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let end = rest.find(['/', '?', ';']).unwrap_or(rest.len());
    match rest.get(..end).and_then(|authority| authority.rsplit_once('@')) {
        Some((user, _)) if !user.is_empty() && !user.contains(':') => {
            let rest = rest.get(user.len() + 1..).unwrap_or_default();
            (Some(user.to_owned()), format!("{scheme}://{rest}"))
        }
        _ => (None, address.to_owned()),
    }
}

/// Puts a secret into an address, in place of the sign that stands for it, or behind the user. FlightSQL
/// has options for both.
fn with_secret(address: &str, secret: &str) -> Option<String> {
    let secret = percent_encoding::utf8_percent_encode(secret, percent_encoding::NON_ALPHANUMERIC);
    if let Some((before, after)) = address.split_once(":*@") {
        return Some(format!("{before}:{secret}@{after}"));
    }
    if !address.starts_with("grpc")
        && let (Some(user), rest) = without_user(address)
        && let Some((scheme, rest)) = rest.split_once("://")
    {
        return Some(format!("{scheme}://{user}:{secret}@{rest}"));
    }
    let at = address.match_indices("=*").map(|(at, _)| at).find(|at| {
        let after = address.get(at + 2..).unwrap_or_default();
        after.is_empty() || after.starts_with(['&', ';', '?'])
    })?;
    Some(format!("{}={secret}{}", address.get(..at)?, address.get(at + 2..)?))
}

/// Begins a transaction that only reads, and checks the role.
fn begin(link: &mut Link, millis: u64, stop: &Stop) -> Result<(), DataError> {
    for statement in [
        "SET default_transaction_read_only = on".to_owned(),
        // The watch of the question comes first. This ends a query whose process was killed.
        format!("SET statement_timeout = {}", millis.saturating_add(2_000).min(MOST_MILLIS)),
        "SET standard_conforming_strings = on".to_owned(),
        "SET search_path = pg_catalog".to_owned(),
        "SET TimeZone = 'UTC'".to_owned(),
        "BEGIN TRANSACTION READ ONLY".to_owned(),
    ] {
        link.run(&statement)?;
    }
    let roles: Vec<String> = FILE_ROLES.iter().map(|role| format!("'{role}'")).collect();
    let query = format!(
        "SELECT CAST(r.rolname AS text), CAST(r.rolsuper AS text), (SELECT CAST(min(CAST(g.rolname AS text)) AS text) \
         FROM pg_catalog.pg_roles g WHERE g.rolname IN ({}) AND pg_catalog.pg_has_role(r.oid, g.oid, 'MEMBER')) \
         FROM pg_catalog.pg_roles r WHERE r.rolname = current_user",
        roles.join(", ")
    );
    let row = link.row(&query, stop)?;
    let cell = |at: usize| row.get(at).and_then(Option::as_deref);
    let Some(role) = cell(0).map(str::to_owned) else {
        return Err(DataError::Connection("the role of the connection is not known".to_owned()));
    };
    if cell(1) != Some("false") {
        return Err(DataError::TooMuchRight { role, right: "a superuser".to_owned() });
    }
    match cell(2) {
        Some(group) => Err(DataError::TooMuchRight { role, right: format!("a member of {group}") }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_takes_the_place_of_its_sign() {
        let put = |address: &str| with_secret(address, "a=b@").unwrap_or_default();
        assert_eq!(put("snowflake://ann:*@acme/DB"), "snowflake://ann:a%3Db%40@acme/DB");
        assert_eq!(put("sc://h:1/;token=*;use_ssl=true"), "sc://h:1/;token=a%3Db%40;use_ssl=true");
        assert_eq!(put("trino://h:1/c?password=*"), "trino://h:1/c?password=a%3Db%40");
        assert_eq!(put("redshift://ann@h:1/c"), "redshift://ann:a%3Db%40@h:1/c");
        for address in ["trino://h:1/c?q=*x", "grpc+tls://ann@h:1"] {
            assert_eq!(put(address), "");
        }
        let parts = (Some("ann".to_owned()), "grpc+tls://h:1".to_owned());
        assert_eq!(without_user("grpc+tls://ann@h:1"), parts);
    }
}
