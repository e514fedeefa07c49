//! The numbers that a session's values have got: the same value has the same placeholder in every turn, also after a restart.
//! Only salted digests are kept, in the order of the numbers. Values themselves are never stored a second time.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{Kind, Placeholder, kind};

type Print = [u8; 8];

/// Which value has which number.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Keeps digests of different sessions apart.
    salt: String,
    known: HashMap<(Kind, Print), u32>,
    order: BTreeMap<Kind, Vec<Print>>,
    grown: bool,
}

impl Numbers {
    /// No numbers yet. `salt` is the session's id.
    pub fn new(salt: &str) -> Self {
        Self { salt: salt.to_owned(), ..Self::default() }
    }

    /// The numbers as [`Numbers::stored`] wrote them. What cannot be read is left out.
    pub fn restored(salt: &str, stored: &Value) -> Self {
        let mut numbers = Self::new(salt);
        for (name, list) in stored.as_object().into_iter().flatten() {
            let (Some(kind), Some(list)) = (kind::of_name(name), list.as_array()) else { continue };
            for print in list {
                // An unreadable one keeps its place, so that the others keep their numbers.
                numbers.push(kind, print.as_str().and_then(from_hex).unwrap_or_default());
            }
        }
        numbers.grown = false;
        numbers
    }

    /// What is to be kept.
    pub fn stored(&self) -> Value {
        let of_kind = |prints: &Vec<Print>| Value::Array(prints.iter().map(|print| Value::String(hex(print))).collect());
        Value::Object(self.order.iter().map(|(kind, prints)| (kind.name().to_owned(), of_kind(prints))).collect::<Map<_, _>>())
    }

    /// True once after values were added.
    pub fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// The placeholder of a value.
    pub(crate) fn placeholder(&mut self, kind: Kind, value: &str) -> Placeholder {
        let print = self.print(kind, value);
        let number = self.known.get(&(kind, print)).copied().unwrap_or_else(|| self.push(kind, print));
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

    fn print(&self, kind: Kind, value: &str) -> Print {
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
