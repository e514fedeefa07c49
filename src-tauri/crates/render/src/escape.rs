//! Escapes text for HTML.

/// Appends text with the special characters of HTML escaped.
pub(crate) fn escape(html: &mut String, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let entity = match byte {
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'&' => "&amp;",
            b'"' => "&quot;",
            _ => continue,
        };
        html.push_str(text.get(from..at).unwrap_or_default());
        html.push_str(entity);
        from = at + 1;
    }
    html.push_str(text.get(from..).unwrap_or_default());
}
