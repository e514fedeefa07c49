//! Numbers for the redacted values of a session. The same value has the same placeholder in every
//! turn, also after a restart. Only salted digests are stored, ordered by number; the map stores no
//! values.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{Kind, Placeholder, placeholder::kind_from_name};

type Print = [u8; 8];

/// Maps the redacted values of a session to their numbers.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Makes the digests of different sessions differ.
    salt: String,
    known: HashMap<(Kind, Print), u32>,
    order: BTreeMap<Kind, Vec<Print>>,
    grown: bool,
}

impl Numbers {
    /// Creates an empty map. `salt` is the session's id.
    pub fn new(salt: &str) -> Self {
        Self { salt: salt.to_owned(), ..Self::default() }
    }

    /// Reads numbers written by [`Numbers::stored`]. Entries that cannot be read are ignored.
    pub fn restored(salt: &str, stored: &Value) -> Self {
        let mut numbers = Self::new(salt);
        for (name, list) in stored.as_object().into_iter().flatten() {
            let (Some(kind), Some(list)) = (kind_from_name(name), list.as_array()) else {
                continue;
            };
            for print in list {
                // An unreadable entry keeps its position, so that later numbers do not change.
                numbers.push(kind, print.as_str().and_then(from_hex).unwrap_or_default());
            }
        }
        numbers.grown = false;
        numbers
    }

    /// Returns the numbers as JSON, to be stored with the session.
    pub fn stored(&self) -> Value {
        let of_kind = |prints: &Vec<Print>| {
            Value::Array(prints.iter().map(|print| Value::String(hex(print))).collect())
        };
        Value::Object(
            self.order
                .iter()
                .map(|(kind, prints)| (kind.name().to_owned(), of_kind(prints)))
                .collect::<Map<_, _>>(),
        )
    }

    /// Returns true if values were added since the last call.
    pub fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// Returns the placeholder of a value. A new value is added first.
    pub(crate) fn placeholder(&mut self, kind: Kind, value: &str) -> Placeholder {
        let print = self.fingerprint(kind, value);
        let number =
            self.known.get(&(kind, print)).copied().unwrap_or_else(|| self.push(kind, print));
        Placeholder { kind, number }
    }

    fn push(&mut self, kind: Kind, print: Print) -> u32 {
        let list = self.order.entry(kind).or_default();
        list.push(print);
        let number = u32::try_from(list.len()).unwrap_or(u32::MAX);
        self.known.insert((kind, print), number);
        self.grown = true;
        number
    }

    fn fingerprint(&self, kind: Kind, value: &str) -> Print {
        let mut hash = Sha256::new();
        for part in [self.salt.as_str(), kind.name(), value] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let whole = hash.finalize();
        let mut print = Print::default();
        print.copy_from_slice(&whole[..8]);
        print
    }
}

fn hex(print: &Print) -> String {
    print.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Print> {
    u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16).map(u64::to_be_bytes)
}
