//! Text and values that may go to a model. Code outside this crate cannot create one from a text
//! known only at run time.

use std::{fmt, ops::Deref, sync::Arc};

use serde::{Serialize, Serializer};
use serde_json::Value;

/// Text that the redactor has processed, or that is part of the program, and is cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Outbound(Arc<str>);

impl Outbound {
    pub(crate) fn new(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// Wraps a text of the program itself, which contains no user data.
    pub fn fixed(text: &'static str) -> Self {
        Self(Arc::from(text))
    }

    /// Joins texts with a separator that is part of the program.
    pub fn joined(parts: &[Self], between: &'static str) -> Self {
        Self::new(&parts.iter().map(Self::as_str).collect::<Vec<_>>().join(between))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Outbound {
    fn default() -> Self {
        Self::fixed("")
    }
}

impl From<&'static str> for Outbound {
    fn from(text: &'static str) -> Self {
        Self::fixed(text)
    }
}

impl Deref for Outbound {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Outbound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl PartialEq<str> for Outbound {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Outbound {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

/// A JSON value that the redactor has processed, and that is cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboundValue(Arc<Value>);

impl OutboundValue {
    pub(crate) fn new(value: Value) -> Self {
        Self(Arc::new(value))
    }

    pub(crate) fn same(value: &Arc<Value>) -> Self {
        Self(Arc::clone(value))
    }

    /// Parses a JSON text of the program itself. Invalid JSON becomes `null`.
    pub fn fixed(text: &'static str) -> Self {
        Self::new(serde_json::from_str(text).unwrap_or_default())
    }

    /// Returns the value.
    pub fn shared(&self) -> &Arc<Value> {
        &self.0
    }
}

impl Default for OutboundValue {
    fn default() -> Self {
        Self::new(Value::Null)
    }
}

impl Serialize for OutboundValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Deref for OutboundValue {
    type Target = Value;
    fn deref(&self) -> &Value {
        &self.0
    }
}
