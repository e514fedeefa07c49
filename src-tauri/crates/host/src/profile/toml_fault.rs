//! Words for faults of TOML files of the profile. Must not know what the files mean.

use files::fault;

/// Describes a fault of a TOML text: its place and its kind, and no value of the text.
pub(crate) fn describe_toml_fault(text: &str, error: &toml::de::Error) -> String {
    let (line, column) = fault::line_and_column(text, error.span().map_or(0, |span| span.start));
    format!("line {line}, column {column}: {}", fault::without_values(error.message()))
}
