//! Writes HTML: escaped text, labelled rows, values. Knows nothing of records.

use std::fmt::Write as _;

use contract::hidden::is_hidden;
use serde_json::Value;

/// The only stylesheet of a page. It is also suitable for printing.
const STYLE: &str = include_str!("page.css");
/// The maximum depth up to which values are laid out. Deeper values are shown as JSON.
const MAX_DEPTH: usize = 6;
/// A page that is being written.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Begins a page. The page may load no resources and run no scripts.
    pub(super) fn begin(language: &str, title: &str) -> Self {
        let (language, title) = (escape(language), escape(title));
        Self(format!(
            "<!doctype html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        ))
    }

    pub(super) fn end(mut self) -> String {
        self.0.push_str("</main>\n</body>\n</html>\n");
        self.0
    }

    pub(super) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.0, "<h2>{}</h2>", escape(text));
    }

    pub(super) fn subheading(&mut self, text: &str) {
        let _ = writeln!(self.0, "<h3>{}</h3>", escape(text));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p>{}</p>", escape(text));
    }

    /// Writes a text by a person or model, with its line breaks.
    pub(super) fn quote(&mut self, text: &str) {
        let _ = writeln!(self.0, "<blockquote>{}</blockquote>", escape_lines(text));
    }

    pub(super) fn command(&mut self, text: &str) {
        let _ = writeln!(self.0, "<pre>{}</pre>", escape_lines(text));
    }

    /// Writes the note that a value was erased.
    pub(super) fn erased(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p class=\"erased\">{}</p>", escape(text));
    }

    pub(super) fn begin_part(&mut self) {
        self.0.push_str("<section>\n");
    }

    pub(super) fn end_part(&mut self) {
        self.0.push_str("</section>\n");
    }

    /// Writes labelled values. Rows without a value are omitted.
    pub(super) fn rows(&mut self, rows: &[(&str, Option<String>)]) {
        self.0.push_str("<table class=\"rows\">\n");
        for (label, value) in rows {
            if let Some(value) = value {
                let (label, value) = (escape(label), escape(value));
                let _ = writeln!(self.0, "<tr><th scope=\"row\">{label}</th><td>{value}</td></tr>");
            }
        }
        self.0.push_str("</table>\n");
    }

    /// Writes a table with a line of headings.
    pub(super) fn table(&mut self, heads: &[&str], lines: &[Vec<String>]) {
        self.0.push_str("<table class=\"lines\">\n<thead><tr>");
        for head in heads {
            let _ = write!(self.0, "<th scope=\"col\">{}</th>", escape(head));
        }
        self.0.push_str("</tr></thead>\n<tbody>\n");
        for line in lines {
            self.0.push_str("<tr>");
            for cell in line {
                let _ = write!(self.0, "<td>{}</td>", escape(cell));
            }
            self.0.push_str("</tr>\n");
        }
        self.0.push_str("</tbody>\n</table>\n");
    }

    /// Writes a value with its whole content.
    pub(super) fn value(&mut self, value: &Value) {
        self.nested(value, MAX_DEPTH);
        self.0.push('\n');
    }

    fn nested(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Object(members) if depth > 0 && !members.is_empty() => {
                self.0.push_str("<table class=\"rows\">");
                for (name, member) in members {
                    let _ = write!(self.0, "<tr><th scope=\"row\">{}</th><td>", escape(name));
                    self.nested(member, depth - 1);
                    self.0.push_str("</td></tr>");
                }
                self.0.push_str("</table>");
            }
            Value::Array(items) if depth > 0 && !items.is_empty() => {
                self.0.push_str("<ol>");
                for item in items {
                    self.0.push_str("<li>");
                    self.nested(item, depth - 1);
                    self.0.push_str("</li>");
                }
                self.0.push_str("</ol>");
            }
            Value::String(text) => {
                let _ = write!(self.0, "<span class=\"text\">{}</span>", escape_lines(text));
            }
            other => {
                let _ = write!(self.0, "<code>{}</code>", escape(&other.to_string()));
            }
        }
    }
}

/// Escapes text on one line. Hidden characters are written as their code point.
fn escape(text: &str) -> String {
    escape_lines(text).replace('\n', "\u{27e8}U+000A\u{27e9}")
}

/// Escapes text that is shown with its line breaks. Other hidden characters are written as their
/// code point.
fn escape_lines(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push(character),
            hidden if is_hidden(hidden) => {
                let _ = write!(escaped, "\u{27e8}U+{:04X}\u{27e9}", u32::from(hidden));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_escaped_and_hidden_characters_are_shown() {
        assert_eq!(escape_lines("<b a='x'>&\"\n"), "&lt;b a=&#39;x&#39;&gt;&amp;&quot;\n");
        assert_eq!(escape("a\u{202e}b\u{0}"), "a\u{27e8}U+202E\u{27e9}b\u{27e8}U+0000\u{27e9}");
    }

    #[test]
    fn a_page_shows_the_hidden_characters_that_window_and_terminal_show() {
        for (first, last) in contract::hidden::HIDDEN {
            for point in [first, last] {
                let Some(hidden) = char::from_u32(point) else { continue };
                let shown = format!("\u{27e8}U+{point:04X}\u{27e9}");
                assert_eq!(escape(&hidden.to_string()), shown);
            }
        }
    }

    #[test]
    fn values_become_html_lists_and_deeply_nested_values_stay_json() {
        let mut page = Html::default();
        page.value(&json!({ "<a>": [1, "x"], "e": {} }));
        let text = page.0;
        assert!(text.contains("&lt;a&gt;") && text.contains("<li><code>1</code></li>"), "{text}");
        let deep = (0..40).fold(json!("<end>"), |value, _| json!([value]));
        let mut page = Html::default();
        page.value(&deep);
        assert!(page.0.contains("[[[") && page.0.contains("&lt;end&gt;"), "{}", page.0);
    }
}
