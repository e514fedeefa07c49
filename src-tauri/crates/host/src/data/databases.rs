//! Sources that are tables of a database: where their process finds them, their passwords, and their
//! errors. The database's process does all reading. This module must not know how a driver
//! connects.

use std::path::PathBuf;

use contract::{
    AgentError, ErrorCode, SourceName, Text,
    sources::{AskedPlace, Password, SourceKind},
    text,
};
use guard::{NetworkRestriction, network_restriction};
use secrecy::{ExposeSecret as _, SecretString};
use secrets::SecretsError;
use tokio::task::spawn_blocking;

use super::{
    Inner,
    addresses::{Address, POSTGRES},
    drivers::{Acceptance, Library},
    forwarding::Reachable,
    processes::DatabaseNeeds,
    storage::StoredSource,
};
use crate::keys::entry_name;

/// The pack that the keys of databases belong to.
const PACK: &str = "data";

/// Returns the error for a connection that a program requests.
pub(super) fn needs_person() -> AgentError {
    AgentError::new(ErrorCode::ApprovalRequired, "Only a person may connect a database.")
        .reason("no_terminal")
        .hint("Run this in a terminal, or connect it in the window.")
}

/// Returns the note for a database whose process can reach other addresses than the database.
pub(super) fn network_note() -> Option<Text> {
    (network_restriction() == NetworkRestriction::Missing)
        .then(|| "Network not restricted: this system cannot keep the process of a database from other addresses.".into())
}

impl Inner {
    /// Returns the place where the process of a source finds the source's table.
    pub(super) async fn database_place(
        &self,
        source: &StoredSource,
    ) -> Result<AskedPlace, AgentError> {
        let SourceKind::Database { address, driver, .. } = &source.kind else {
            return Err(not_a_database());
        };
        let address = Address::parse(address, driver != POSTGRES)?;
        let password = self.stored_password(&source.name, &address).await?;
        let library = match driver.as_str() {
            POSTGRES => None,
            path => {
                let library = read_library(PathBuf::from(path)).await?;
                match library.acceptance(&self.storage)? {
                    Acceptance::Accepted(copy) => Some(copy),
                    Acceptance::Changed | Acceptance::Never => {
                        return Err(changed_driver(&source.name, &address, path));
                    }
                }
            }
        };
        self.place_of(source, &address, library, password.as_ref()).await
    }

    /// Returns the password of a source, if it has one.
    pub(super) async fn stored_password(
        &self,
        name: &SourceName,
        address: &Address,
    ) -> Result<Option<SecretString>, AgentError> {
        match self.keys.keyring.get(&key_of(name, address)).await {
            Ok(password) => Ok(password),
            // Without a keyring, a database may need no password.
            Err(SecretsError::Missing) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn place_of(
        &self,
        source: &StoredSource,
        address: &Address,
        library: Option<PathBuf>,
        password: Option<&SecretString>,
    ) -> Result<AskedPlace, AgentError> {
        let SourceKind::Database { table, .. } = &source.kind else {
            return Err(not_a_database());
        };
        let reachable = reachable(address, library.is_some(), &source.hosts);
        let driver = match &library {
            Some(copy) => copy.display().to_string(),
            None => POSTGRES.to_owned(),
        };
        let needs = DatabaseNeeds {
            address: address.text.clone(),
            reachable,
            library,
            certificates: address.certificates(),
        };
        let via = self.processes.prepare_database(&source.name, needs).await?;
        Ok(AskedPlace::Table {
            table: table.clone(),
            driver,
            address: address.text.clone(),
            via,
            password: password.map(|password| Password(password.expose_secret().to_owned())),
        })
    }

    /// Ends the process of a database, and deletes its password. Fails if the password stays in the
    /// keyring.
    pub(super) async fn forget_database(
        &self,
        name: &SourceName,
        address: &str,
        driver: &str,
    ) -> Result<(), AgentError> {
        self.processes.forget_database(name).await;
        let Ok(address) = Address::parse(address, driver != POSTGRES) else { return Ok(()) };
        match self.keys.keyring.delete(&key_of(name, &address)).await {
            Ok(_) | Err(SecretsError::Missing) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

pub(super) async fn read_library(path: PathBuf) -> Result<Library, AgentError> {
    let read = spawn_blocking(move || Library::read(&path)).await;
    read.map_err(|_| AgentError::internal("data_dir", "The driver cannot be read."))?
}

/// Returns what the process of a database may reach.
fn reachable(address: &Address, is_other: bool, hosts: &[String]) -> Reachable {
    let to = address.to.clone().unwrap_or_default();
    if !is_other {
        return Reachable::Instead(to);
    }
    match (hosts, address.port_here()) {
        ([], _) => Reachable::Nothing,
        ([host], Some(port)) if *host == to => Reachable::Here { to, port },
        _ => Reachable::Proxied(hosts.to_vec()),
    }
}

/// Returns the name of the keyring entry of a password. The name contains the place, so that the
/// password is never sent to another one.
pub(super) fn key_of(name: &SourceName, address: &Address) -> String {
    let place = address.to.as_ref().unwrap_or(&address.host);
    format!("{}@{place}", entry_name(PACK, name.as_str()))
}

fn changed_driver(name: &SourceName, address: &Address, path: &str) -> AgentError {
    AgentError::invalid(text!(
        "The driver {file} has changed since a person accepted it, so it is not loaded.",
        file = path
    ))
    .reason("driver_changed")
    .hint(text!(
        "Connect the database again in Data, or with: csign data add \"{address}\" --name {source}",
        address = &address.text,
        source = name
    ))
}

fn not_a_database() -> AgentError {
    AgentError::internal("data_dir", "The source is not a database.")
}

#[cfg(test)]
mod tests {
    use super::{super::processes::explain, *};

    #[test]
    fn a_driver_of_ones_own_reaches_only_the_named_hosts() {
        let far = Address::parse("sc://lake.example.com:443/", true).unwrap();
        let near = Address::parse("sc://127.0.0.1:15002/", true).unwrap();
        let hosts = ["lake.example.com:443".to_owned(), "store.example.com:443".to_owned()];
        assert_eq!(reachable(&far, true, &hosts), Reachable::Proxied(hosts.to_vec()));
        let to = "127.0.0.1:15002".to_owned();
        let here = Reachable::Here { to: to.clone(), port: 15_002 };
        assert_eq!(reachable(&near, true, &[to]), here);
        assert_eq!(reachable(&far, true, &[]), Reachable::Nothing);
        let database = Address::parse("postgresql://db.example.com/shop", false).unwrap();
        let to = "db.example.com:5432".to_owned();
        assert_eq!(reachable(&database, false, &[]), Reachable::Instead(to));
    }

    #[test]
    fn an_error_of_a_database_names_the_remedy() {
        let name = SourceName::new("orders");
        let told = |reason: &str, failure: Option<&str>| {
            let error = AgentError::invalid("It failed.").reason(reason);
            explain(error, &name, "postgresql://a@h:1/d", failure.map(str::to_owned), true)
        };
        let error = told("database_unreachable", Some("Connection refused"));
        assert!(error.message.contains("h:1/d cannot be reached: Connection refused"), "{error}");
        for (reason, remedy) in [
            ("database_password", "csign data add \"postgresql://a@h:1/d\" --name orders"),
            ("table_changed", "csign data refresh orders"),
        ] {
            assert!(told(reason, None).hint_text().unwrap().contains(remedy), "{reason}");
        }
        assert_eq!(told("query_failed", Some("x")).message, "It failed.");
    }
}
