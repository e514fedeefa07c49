//! Text of SQL that this program writes itself: identifiers and literals of DuckDB.

/// Returns an identifier in quotes.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a text as a literal.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns identifiers in quotes, with commas between them.
pub fn identifiers<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(identifier).collect::<Vec<_>>().join(", ")
}

/// Returns literals in brackets: a list of texts.
pub fn list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    format!("[{}]", texts.into_iter().map(literal).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_inside_names_and_texts_are_doubled() {
        assert_eq!(identifier("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("it's \\"), "'it''s \\'");
        assert_eq!(list(["a", "b'"]), "['a', 'b''']");
        assert_eq!(identifiers(["a", "b"]), "\"a\", \"b\"");
    }
}
