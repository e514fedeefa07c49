//! CSV for spreadsheets. Text that a spreadsheet would run as a formula is made harmless.

/// The header of the days of a result.
pub(crate) const DAYS_HEADER: &str =
    "Date,Account,Advertiser,Spend,Impressions,Budget Target,Daily Variance,Status\r\n";

/// Writes a text cell: quoted if necessary, and with an apostrophe before a character that begins a
/// formula.
pub(crate) fn text_cell(text: &str) -> String {
    let risky = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let safe = if risky { format!("'{text}") } else { text.to_owned() };
    if safe.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", safe.replace('"', "\"\""))
    } else {
        safe
    }
}

/// Returns the text as a part of a file name: letters, digits and hyphens.
pub(crate) fn file_part(text: &str) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect();
    let plain = plain.trim_matches('-').chars().take(40).collect::<String>();
    if plain.is_empty() { "account".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_look_like_formulas_are_made_harmless() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("+46", "'+46"),
            ("-x", "'-x"),
            ("@cmd", "'@cmd"),
            ("\ta", "'\ta"),
            ("Plain", "Plain"),
            ("=a,\"b\"", "\"'=a,\"\"b\"\"\""),
        ] {
            assert_eq!(text_cell(text), cell);
        }
        assert_eq!(file_part("../17 a"), "17-a");
    }
}
