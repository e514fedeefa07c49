//! Engines that read names in backticks and texts with backslashes: writes the SQL of this program for
//! them. It must not know what a query means.

/// How the SQL for an engine is written.
pub type Writing = fn(&str) -> String;

/// The engines, by the scheme of the address.
const ENGINES: [(&str, Writing); 2] = [("bigquery", for_bigquery), ("databricks", for_databricks)];

/// Returns how the SQL for an address is written. None: as it is.
pub fn writing(address: &str) -> Option<Writing> {
    let scheme = address.split("://").next().unwrap_or_default();
    ENGINES.iter().find(|(known, _)| *known == scheme).map(|(_, writing)| *writing)
}

fn for_databricks(sql: &str) -> String {
    write(sql, str::to_owned)
}

/// BigQuery has a type of its own for numbers with 38 digits.
fn for_bigquery(sql: &str) -> String {
    write(sql, |plain| plain.replace("DECIMAL(", "BIGDECIMAL("))
}

/// Writes names and texts in the quotes of the engine. `change` gets what is outside of quotes.
fn write(sql: &str, change: fn(&str) -> String) -> String {
    let mut written = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find(['"', '\'']) {
        let (plain, quoted) = rest.split_at(at);
        written.push_str(&change(plain));
        let quote = if quoted.starts_with('"') { '"' } else { '\'' };
        let (inside, after) = read_quoted(&quoted[1..], quote);
        if quote == '"' {
            written.push_str(&format!("`{}`", inside.replace('\\', "\\\\").replace('`', "\\`")));
        } else {
            written.push_str(&format!("'{}'", inside.replace('\\', "\\\\").replace('\'', "\\'")));
        }
        rest = after;
    }
    written.push_str(&change(rest));
    written
}

/// Reads up to the closing quote. Two quotes are one. Returns the content and what follows.
fn read_quoted(text: &str, quote: char) -> (String, &str) {
    let mut inside = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(quote) {
        inside.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix(quote) {
            Some(after) => {
                inside.push(quote);
                rest = after;
            }
            None => return (inside, rest),
        }
    }
    inside.push_str(rest);
    (inside, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_written_in_the_quotes_of_the_engine() {
        let sql = r#"SELECT "a""b", 'it''s "x" \\', CAST("n" AS DECIMAL(38, 2)) FROM "t`u""#;
        assert_eq!(
            writing("bigquery:///project").unwrap()(sql),
            r#"SELECT `a"b`, 'it\'s "x" \\\\', CAST(`n` AS BIGDECIMAL(38, 2)) FROM `t\`u`"#
        );
        let write = writing("databricks://h:443").unwrap();
        assert_eq!(write("SELECT 1"), "SELECT 1");
        assert!(write(sql).contains(" AS DECIMAL(38, 2))"));
        assert!(writing("sc://h:1").is_none() && writing("postgresql://h").is_none());
    }
}
