//! Describes errors in TOML files of the profile. Must not know what the files mean.

use files::fault;

/// Describes an error in a TOML text: its position and its kind, but no value of the text.
pub(crate) fn describe_toml_fault(text: &str, error: &toml::de::Error) -> String {
    let (line, column) = fault::line_and_column(text, error.span().map_or(0, |span| span.start));
    format!("line {line}, column {column}: {}", fault::without_values(error.message()))
}
