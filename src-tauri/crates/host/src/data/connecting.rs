//! Connects a table of a database, or reads its columns again: what only a person can decide, the
//! first look at the table, and the storage of the source. This module must not know how a driver
//! connects.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use contract::{
    AgentError, CallerKind, Reason, SourceAddParams, SourceName, Text,
    sources::{
        AskedPlace, AskedSource, ColumnKind, ColumnUse, Described as Values, FoundColumn,
        ImportDecisions, ImportQuestion, ImportResult, SourceKind, StoredColumn, TableReport,
    },
    text,
};
use secrecy::SecretString;
use secrets::SecretsError;
use serde::Deserialize;
use serde_json::json;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{
    Inner,
    addresses::{Address, POSTGRES},
    change_record,
    database_questions::{ask_driver, ask_hosts, ask_library, ask_password, ask_table, read_hosts},
    databases::{key_of, read_library},
    drivers::{Acceptance, Library, driver_name, find_installed},
    importer::stopped,
    naming::{free_name, name_from},
    questions::{find_unknown, unknown_question},
    storage::StoredSource,
};

/// The time limit of a first connection.
const CONNECT: Duration = Duration::from_secs(180);

/// The answer to `data.tables`.
#[derive(Deserialize)]
struct Tables {
    tables: Vec<String>,
}

/// A connection that is being made.
struct Connecting {
    address: Address,
    source: StoredSource,
    is_new: bool,
    /// The password that was typed, or else the stored one.
    password: Option<SecretString>,
    is_typed: bool,
    answers: BTreeMap<String, String>,
    /// The library of a driver that a person accepted.
    library: Option<PathBuf>,
}

/// The result of reading a database.
enum Read {
    /// No data, because the database requires a password.
    Password,
    Tables(Vec<String>),
    Columns(Vec<FoundColumn>),
}

impl Inner {
    /// Connects a table of a database, or reads its columns again. The source is stored only if the
    /// table can be read.
    pub(super) async fn connect(
        &self,
        params: &SourceAddParams,
        by: &CallerKind,
        is_survey: bool,
        stop: &CancellationToken,
    ) -> Result<Vec<ImportResult>, AgentError> {
        let _changing = self.changing.lock().await;
        let Some(unknown) = find_unknown(&params.decisions.answers) else {
            return self.connect_table(params, by, is_survey, stop).await;
        };
        // The error names the questions that are open.
        let open = self.connect_table(params, by, true, stop).await?;
        Err(unknown_question(unknown, &open))
    }

    async fn connect_table(
        &self,
        params: &SourceAddParams,
        by: &CallerKind,
        is_survey: bool,
        stop: &CancellationToken,
    ) -> Result<Vec<ImportResult>, AgentError> {
        let mut connecting = self.begin(params).await?;
        let mut decisions = params.decisions.clone();
        decisions.answers.remove("password");
        let mut result = empty_result(&connecting, decisions);
        result.questions = self.prepare_driver(&mut connecting, by).await?;
        if !result.questions.is_empty() {
            return Ok(vec![result]);
        }
        let read = tokio::select! {
            read = self.read(&connecting) => read,
            () = stop.cancelled() => Err(stopped()),
        };
        match read {
            Ok(Read::Tables(tables)) => result.questions.push(ask_table(&tables)),
            Ok(Read::Password) => result.questions.push(ask_password(&connecting.address.host)),
            Ok(Read::Columns(columns)) => {
                result.report.notes = compare(&connecting.source.columns, &columns);
                result.report.columns = columns;
            }
            Err(error) => {
                self.forget_new(&connecting).await;
                return Err(error);
            }
        }
        if is_survey || !result.questions.is_empty() {
            self.forget_new(&connecting).await;
            return Ok(vec![result]);
        }
        self.store_connection(connecting, &mut result, by).await?;
        Ok(vec![result])
    }

    /// Ends the process of a new source that is not stored. The process of a stored source may be
    /// answering a question.
    async fn forget_new(&self, connecting: &Connecting) {
        if connecting.is_new {
            self.processes.forget_database(&connecting.source.name).await;
        }
    }

    /// Finds out what a person wants to connect.
    async fn begin(&self, params: &SourceAddParams) -> Result<Connecting, AgentError> {
        let mut answers = params.decisions.answers.clone();
        let is_other =
            answers.contains_key("library") || self.has_other_driver(params.name.as_ref());
        let address = Address::parse(&params.place, is_other)?;
        let table = address.table.clone().or_else(|| answers.get("table").cloned());
        let known = self.known_database(params.name.as_ref(), &address, table.as_deref())?;
        let is_new = known.is_none();
        let driver = match answers.get("library") {
            Some(library) => library.clone(),
            None if address.scheme == POSTGRES && !is_other => POSTGRES.to_owned(),
            None => String::new(),
        };
        let mut source = match known {
            Some(known) => known,
            None => StoredSource::new(
                self.new_name(params.name.as_ref(), &address, table.as_deref())?,
                SourceKind::Database {
                    address: String::new(),
                    driver: String::new(),
                    table: String::new(),
                },
                self.clock.now(),
            ),
        };
        if let SourceKind::Database { address: text, driver: own, table: former } = &mut source.kind
        {
            text.clone_from(&address.text);
            if !driver.is_empty() && (own.is_empty() || answers.contains_key("library")) {
                *own = driver;
            }
            if let Some(table) = table {
                *former = table;
            }
        }
        let typed = answers.remove("password").filter(|typed| !typed.is_empty());
        let typed = address.password.clone().or(typed).map(SecretString::from);
        let is_typed = typed.is_some();
        let password = match typed {
            Some(typed) => Some(typed),
            None if is_new => None,
            None => self.stored_password(&source.name, &address).await?,
        };
        Ok(Connecting { address, source, is_new, password, is_typed, answers, library: None })
    }

    /// Whether a stored source has another driver than the included one.
    fn has_other_driver(&self, name: Option<&SourceName>) -> bool {
        let source = name.and_then(|name| self.storage.read(name).ok());
        source.is_some_and(|source| {
            matches!(source.kind, SourceKind::Database { driver, .. } if driver != POSTGRES)
        })
    }

    /// Returns the source of a database that is connected again.
    fn known_database(
        &self,
        name: Option<&SourceName>,
        address: &Address,
        table: Option<&str>,
    ) -> Result<Option<StoredSource>, AgentError> {
        for one in self.storage.names() {
            if name.is_some_and(|name| *name != one) {
                continue;
            }
            let source = self.storage.read(&one)?;
            let SourceKind::Database { address: text, table: own, .. } = &source.kind else {
                continue;
            };
            let is_same = *text == address.text && table.is_none_or(|table| table == own);
            // Without a name, the table says which source is meant.
            if is_same && (name.is_some() || table.is_some()) {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    fn new_name(
        &self,
        name: Option<&SourceName>,
        address: &Address,
        table: Option<&str>,
    ) -> Result<SourceName, AgentError> {
        let taken = self.storage.names();
        let base = table.unwrap_or(if address.database.is_empty() {
            &address.host
        } else {
            &address.database
        });
        let base = name_from(base.rsplit('.').next().unwrap_or(base));
        let name = name.cloned().unwrap_or_else(|| free_name(&base, &taken));
        if taken.contains(&name) || name_from(name.as_str()) != name {
            return Err(AgentError::invalid(text!(
                "{name} cannot be the name of the source.",
                name
            ))
            .reason("bad_name")
            .hint("Choose another name (in a terminal: --name NAME)."));
        }
        Ok(name)
    }

    /// Prepares the driver of a connection. Returns the questions that a person must answer first.
    async fn prepare_driver(
        &self,
        connecting: &mut Connecting,
        by: &CallerKind,
    ) -> Result<Vec<ImportQuestion>, AgentError> {
        let Connecting { address, source, answers, .. } = &*connecting;
        let SourceKind::Database { driver, .. } = &source.kind else { return Ok(Vec::new()) };
        if driver == POSTGRES {
            return Ok(Vec::new());
        }
        let path = Some(PathBuf::from(driver)).filter(|path| !path.as_os_str().is_empty());
        let Some(path) = path.or_else(|| find_installed(&address.scheme)) else {
            return Ok(vec![ask_library(&address.scheme, driver_name(&address.scheme))]);
        };
        let hosts = match answers.get("hosts") {
            Some(answer) => read_hosts(answer)?,
            None if source.hosts.is_empty() && connecting.is_new => match &address.to {
                Some(to) => vec![to.clone()],
                None => return Ok(vec![ask_hosts()]),
            },
            None => source.hosts.clone(),
        };
        let library = read_library(path).await?;
        let accepted = match library.acceptance(&self.storage)? {
            Acceptance::Accepted(copy) => copy,
            state if answers.get("driver") == Some(&library.hash) => {
                tracing::info!(?state, path = %library.path.display(), "a driver was accepted");
                self.accept_library(&source.name, &library, by).await?
            }
            state => {
                let is_changed = state == Acceptance::Changed;
                let path = library.path.display().to_string();
                return Ok(vec![ask_driver(&path, &library.hash, &hosts, is_changed)]);
            }
        };
        let path = library.path.display().to_string();
        if let SourceKind::Database { driver, .. } = &mut connecting.source.kind {
            *driver = path;
        }
        connecting.source.hosts = hosts;
        connecting.library = Some(accepted);
        Ok(Vec::new())
    }

    async fn accept_library(
        &self,
        source: &SourceName,
        library: &Library,
        by: &CallerKind,
    ) -> Result<PathBuf, AgentError> {
        let draft = change_record("driver_accepted", source)
            .field("driver_hash", library.hash.as_str())
            .commit("driver", library.path.display().to_string());
        self.record(draft, by).await?;
        let (storage, library) = (self.storage.clone(), library.clone());
        let accepted = spawn_blocking(move || library.accept(&storage)).await;
        accepted.map_err(|_| AgentError::internal("data_dir", "The driver cannot be kept."))?
    }

    /// Reads the columns of the table, or lists the tables if no table was named.
    async fn read(&self, connecting: &Connecting) -> Result<Read, AgentError> {
        let Connecting { address, source, password, library, .. } = connecting;
        let place = self.place_of(source, address, library.clone(), password.as_ref()).await?;
        let read = self.read_table(source, place).await;
        match read {
            // A stored password is no longer right, or none was given.
            Err(error) if !connecting.is_typed && asks_for_password(&error) => Ok(Read::Password),
            read => read,
        }
    }

    async fn read_table(
        &self,
        source: &StoredSource,
        place: AskedPlace,
    ) -> Result<Read, AgentError> {
        let (name, cancel) = (&source.name, CancellationToken::new());
        if matches!(&source.kind, SourceKind::Database { table, .. } if table.is_empty()) {
            let ask = json!({ "place": place });
            let found: Tables =
                self.processes.ask_database(name, "data.tables", &ask, CONNECT, cancel).await?;
            return Ok(Read::Tables(found.tables));
        }
        let source = AskedSource {
            name: name.clone(),
            columns: Vec::new(),
            place,
            definitions: None,
            approved: Vec::new(),
            covered: None,
            exports: Vec::new(),
            version: None,
        };
        // A large table takes a while at first.
        let limits = json!({ "millis": u64::try_from(CONNECT.as_millis()).unwrap_or(u64::MAX) });
        let ask = json!({ "source": source, "samples": 3, "limits": limits });
        let values: Values =
            self.processes.ask_database(name, "data.describe", &ask, CONNECT, cancel).await?;
        let columns = values.columns.iter().map(|column| found_column(column, &values)).collect();
        Ok(Read::Columns(columns))
    }

    /// Stores a source whose table was read, with its password and proposed definitions.
    async fn store_connection(
        &self,
        connecting: Connecting,
        result: &mut ImportResult,
        by: &CallerKind,
    ) -> Result<(), AgentError> {
        let Connecting { address, mut source, is_new, password, is_typed, .. } = connecting;
        let name = source.name.clone();
        if let Some(password) = password.filter(|_| is_typed) {
            result.report.notes.extend(self.keep_password(&name, &address, password).await?);
        }
        let gone = missing(&result.report.columns, &source.columns);
        source.columns.clone_from(&result.report.columns);
        source.place = Some(address.text.clone());
        let action = if is_new { "connected" } else { "connected_again" };
        let draft = change_record(action, &name).commit("address", address.text.clone());
        self.record(draft, by).await?;
        self.storage.write(&source)?;
        self.note_table_columns(&source, &result.report, is_new, &gone)?;
        result.is_stored = true;
        Ok(())
    }

    /// Keeps a password in the keyring. Returns a note if there is no keyring.
    async fn keep_password(
        &self,
        name: &SourceName,
        address: &Address,
        password: SecretString,
    ) -> Result<Option<Text>, AgentError> {
        let (keyring, key) = (&self.keys.keyring, key_of(name, address));
        match keyring.set(&key, password.clone()).await {
            Ok(()) => Ok(None),
            Err(SecretsError::Missing) => {
                keyring.set_for_this_run(&key, password);
                Ok(Some(
                    "There is no keyring, so the password is forgotten when the app ends.".into(),
                ))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn empty_result(connecting: &Connecting, decisions: ImportDecisions) -> ImportResult {
    ImportResult {
        source: connecting.source.name.clone(),
        is_new_source: connecting.is_new,
        report: TableReport::default(),
        decisions,
        change: None,
        questions: Vec::new(),
        is_stored: false,
    }
}

/// Returns the names of the columns of `some` that `all` lacks.
pub(super) fn missing(all: &[FoundColumn], some: &[FoundColumn]) -> Vec<String> {
    let is_missing = |one: &&FoundColumn| !all.iter().any(|other| other.name == one.name);
    some.iter().filter(is_missing).map(|one| one.name.clone()).collect()
}

/// Returns what has changed in the columns of a table.
fn compare(before: &[FoundColumn], now: &[FoundColumn]) -> Vec<Text> {
    if before.is_empty() {
        return Vec::new();
    }
    let changed: Vec<&str> = now
        .iter()
        .filter(|one| before.iter().any(|other| other.name == one.name && other.kind != one.kind))
        .map(|one| one.name.as_str())
        .collect();
    let (new, gone) = (missing(before, now).join(", "), missing(now, before).join(", "));
    let mut notes = Vec::new();
    if !new.is_empty() {
        notes.push(text!("New columns: {columns}.", columns = new));
    }
    if !gone.is_empty() {
        notes.push(text!(
            "Columns that are gone, with their definitions: {columns}.",
            columns = gone
        ));
    }
    if !changed.is_empty() {
        notes.push(text!("Columns with another type: {columns}.", columns = changed.join(", ")));
    }
    notes
}

fn found_column(column: &StoredColumn, values: &Values) -> FoundColumn {
    let name = column.name.to_lowercase();
    let is_code = name == "id" || name.ends_with("_id") || name.ends_with("_code");
    let usage = match column.kind {
        ColumnKind::Day | ColumnKind::Moment => ColumnUse::Time,
        ColumnKind::Whole | ColumnKind::Decimal if !is_code => ColumnUse::Sum,
        _ if is_code => ColumnUse::Id,
        _ => ColumnUse::Dimension,
    };
    FoundColumn {
        name: column.name.clone(),
        heading: column.name.clone(),
        samples: values.samples.get(&column.name).cloned().unwrap_or_default(),
        kind: column.kind,
        scale: column.scale,
        usage,
        ..FoundColumn::default()
    }
}

/// Whether a connection failed because of its password.
fn asks_for_password(error: &AgentError) -> bool {
    error.has_reason(Reason::DatabasePassword)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_columns_of_a_table_are_told() {
        let column = |name: &str, kind: ColumnKind| FoundColumn {
            name: name.to_owned(),
            kind,
            ..FoundColumn::default()
        };
        let before = [column("net", ColumnKind::Decimal), column("day", ColumnKind::Day)];
        let now = [column("gross", ColumnKind::Decimal), column("day", ColumnKind::Text)];
        let told: Vec<String> = compare(&before, &now).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "New columns: gross.",
                "Columns that are gone, with their definitions: net.",
                "Columns with another type: day."
            ]
        );
        assert!(compare(&[], &now).is_empty() && compare(&now, &now).is_empty());
    }
}
