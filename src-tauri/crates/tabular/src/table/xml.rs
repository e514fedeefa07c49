//! Reads attributes of the markup of workbooks.

use quick_xml::{XmlVersion, events::BytesStart};

use crate::limits::MAX_CELL;

/// Returns the value of an attribute, by its name with its prefix.
pub(crate) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    find(start, |key| key == name)
}

/// Returns the value of an attribute, whatever its prefix is.
pub(crate) fn attribute_without_prefix(start: &BytesStart<'_>, name: &str) -> Option<String> {
    find(start, |key| key.rsplit(':').next() == Some(name))
}

fn find(start: &BytesStart<'_>, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let mut attributes = start.attributes();
    let attributes = attributes.with_checks(false).flatten();
    let mut found = attributes.filter(|attribute| is_wanted(attribute.key.as_ref()));
    let value = found.next()?.normalized_value(XmlVersion::Implicit1_0).ok()?;
    (value.len() <= MAX_CELL).then(|| value.into_owned())
}

/// Returns the number in an attribute, at least 1, and 1 without the attribute.
pub(crate) fn count(start: &BytesStart<'_>, name: &str) -> u32 {
    attribute(start, name).and_then(|value| value.trim().parse().ok()).unwrap_or(1).max(1)
}

/// Whether an attribute says yes.
pub(crate) fn is_set(start: &BytesStart<'_>, name: &str) -> bool {
    attribute(start, name).is_some_and(|value| value == "1" || value == "true")
}
