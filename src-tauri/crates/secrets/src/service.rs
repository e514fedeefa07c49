//! The Secret Service over D-Bus, blocking. Reads the keyring's state without ever causing a
//! password prompt, and accesses an item only if the keyring is unlocked: the store would wait for
//! a prompt, and would report a locked item as absent.

use std::collections::HashMap;

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

use contract::KeyringState;
use keyring_core::Entry;
use keyring_core::api::CredentialStoreApi as _;
use zbus::blocking::{Connection, Proxy, connection::Builder};
use zbus::zvariant::OwnedObjectPath;
use zbus_secret_service_keyring_store::Store;

const NAME: &str = "org.freedesktop.secrets";
const PATH: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";

/// Why an operation failed. The error contains no secret value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    State(KeyringState),
    Failed(String),
}

/// One profile's part of the keyring. Connections are kept while they work, and replaced when they
/// fail.
pub(crate) struct Service {
    /// The `service` attribute of all items.
    attribute: String,
    timeout: Duration,
    bus: Mutex<Option<Connection>>,
    store: Mutex<Option<Arc<Store>>>,
}

impl Service {
    pub(crate) fn new(attribute: String, timeout: Duration) -> Self {
        Self { attribute, timeout, bus: Mutex::new(None), store: Mutex::new(None) }
    }

    fn connect_bus(&self) -> zbus::Result<Connection> {
        let mut slot = self.bus.lock();
        if let Some(bus) = slot.as_ref() {
            return Ok(bus.clone());
        }
        let bus = Builder::session()?.method_timeout(self.timeout).build()?;
        Ok(slot.insert(bus).clone())
    }

    /// Drops the connections, so that the next call opens new ones.
    pub(crate) fn reset(&self) {
        *self.bus.lock() = None;
        // A call that hangs may hold the lock of the store, so this handle is dropped. The call has
        // its own handle.
        *self.store.lock() = None;
    }

    /// Returns the current state.
    pub(crate) fn state(&self) -> KeyringState {
        match self.is_unlocked() {
            Ok(true) => KeyringState::Ready,
            Ok(false) => KeyringState::Locked,
            Err(_) => {
                // The bus or the keyring may have been restarted, so the call is repeated once over
                // a new connection.
                self.reset();
                match self.is_unlocked() {
                    Ok(true) => KeyringState::Ready,
                    Ok(false) => KeyringState::Locked,
                    Err(error) => {
                        tracing::debug!(%error, "no keyring");
                        KeyringState::Missing
                    }
                }
            }
        }
    }

    /// Whether the default collection exists and is unlocked.
    fn is_unlocked(&self) -> zbus::Result<bool> {
        let bus = self.connect_bus()?;
        let service = Proxy::new(&bus, NAME, PATH, SERVICE)?;
        let default: OwnedObjectPath = service.call("ReadAlias", &"default")?;
        if default.as_str() == "/" {
            return Ok(false);
        }
        let locked: bool = read_property(&bus, &default, COLLECTION, "Locked")?;
        Ok(!locked)
    }

    fn require_ready(&self) -> Result<(), Fault> {
        match self.state() {
            KeyringState::Ready => Ok(()),
            state @ (KeyringState::Locked | KeyringState::Missing) => Err(Fault::State(state)),
        }
    }

    fn store(&self) -> keyring_core::Result<Arc<Store>> {
        let mut slot = self.store.lock();
        if let Some(store) = slot.as_ref() {
            return Ok(Arc::clone(store));
        }
        let store = Store::new()?;
        Ok(Arc::clone(slot.insert(store)))
    }

    /// Runs one operation on an entry. If the store's session died with its keyring, it is replaced
    /// once.
    fn run_on_entry<T>(
        &self,
        name: &str,
        work: impl Fn(&Entry) -> keyring_core::Result<T>,
    ) -> Result<Option<T>, Fault> {
        self.require_ready()?;
        let attempt = || work(&self.store()?.build(&self.attribute, name, None)?);
        let result = match attempt() {
            Err(keyring_core::Error::PlatformFailure(_)) => {
                self.reset();
                attempt()
            }
            other => other,
        };
        match result {
            Ok(value) => Ok(Some(value)),
            // If the keyring was locked in the meantime, the error also says "no such entry".
            Err(keyring_core::Error::NoEntry) => self.require_ready().map(|()| None),
            Err(keyring_core::Error::NoStorageAccess(_)) => Err(Fault::State(KeyringState::Locked)),
            // Some errors contain the stored bytes, so only their kind is reported.
            Err(keyring_core::Error::BadEncoding(_) | keyring_core::Error::BadDataFormat(..)) => {
                Err(Fault::Failed("the stored value is not text".to_owned()))
            }
            Err(keyring_core::Error::Ambiguous(_)) => Err(Fault::Failed(
                "the keyring holds the key twice; remove one in Passwords and Keys".to_owned(),
            )),
            Err(error) => Err(Fault::Failed(error.to_string())),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Result<Option<String>, Fault> {
        self.run_on_entry(name, Entry::get_password)
    }

    pub(crate) fn set(&self, name: &str, value: &str) -> Result<(), Fault> {
        self.run_on_entry(name, |entry| entry.set_password(value))?
            .ok_or_else(|| Fault::Failed("the keyring did not take the value".to_owned()))
    }

    /// Deletes a value. Returns false if the value did not exist.
    pub(crate) fn delete(&self, name: &str) -> Result<bool, Fault> {
        Ok(self.run_on_entry(name, Entry::delete_credential)?.is_some())
    }

    /// Returns the names that have a value. Reads attributes only; no value leaves the keyring.
    pub(crate) fn names(&self) -> Result<Vec<String>, Fault> {
        self.require_ready()?;
        let list = || -> zbus::Result<Vec<String>> {
            let bus = self.connect_bus()?;
            let service = Proxy::new(&bus, NAME, PATH, SERVICE)?;
            let wanted = HashMap::from([("service", self.attribute.as_str())]);
            let (open, closed): (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) =
                service.call("SearchItems", &wanted)?;
            let mut names = Vec::new();
            for item in open.iter().chain(&closed) {
                let mut attributes: HashMap<String, String> =
                    read_property(&bus, item, ITEM, "Attributes")?;
                names.extend(attributes.remove("username"));
            }
            Ok(names)
        };
        list().map_err(|error| Fault::Failed(error.to_string()))
    }
}

/// Reads a property without a cache, because a cache would need signals that some keyrings do not
/// send.
fn read_property<T>(
    bus: &Connection,
    path: &OwnedObjectPath,
    interface: &str,
    name: &str,
) -> zbus::Result<T>
where
    T: TryFrom<zbus::zvariant::OwnedValue>,
    T::Error: Into<zbus::Error>,
{
    let properties = Proxy::new(bus, NAME, path, "org.freedesktop.DBus.Properties")?;
    let value: zbus::zvariant::OwnedValue = properties.call("Get", &(interface, name))?;
    T::try_from(value).map_err(Into::into)
}
