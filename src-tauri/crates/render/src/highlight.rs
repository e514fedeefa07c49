//! Highlights the code of closed code fences, using classes only. The grammars are loaded when the
//! first fence with a known language closes. Long code and code with long lines stay plain, so that
//! the cost is linear.

use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::escape::escape;

/// The number of bytes above which code is not highlighted.
const MAX_BYTES: usize = 64 * 1024;
/// The number of bytes of a line above which code is not highlighted. Grammars are regular
/// expressions, and a line of thousands of characters is not code.
const MAX_LINE: usize = 1000;

/// All classes of highlighted code.
pub(crate) const CLASSES: [&str; 11] = [
    "hl-comment",
    "hl-string",
    "hl-number",
    "hl-constant",
    "hl-keyword",
    "hl-operator",
    "hl-function",
    "hl-type",
    "hl-tag",
    "hl-attribute",
    "hl-variable",
];

/// Scopes and their classes. The innermost listed scope decides; if several rows match, the first
/// row decides.
const SCOPES: [(&str, &str); 24] = [
    ("comment", "hl-comment"),
    ("string", "hl-string"),
    ("constant.numeric", "hl-number"),
    ("constant.character.escape", "hl-constant"),
    ("constant", "hl-constant"),
    ("keyword.operator", "hl-operator"),
    ("keyword", "hl-keyword"),
    ("storage.type.function", "hl-keyword"),
    ("storage", "hl-keyword"),
    ("entity.name.function", "hl-function"),
    ("support.function", "hl-function"),
    ("variable.function", "hl-function"),
    ("entity.name.tag", "hl-tag"),
    ("entity.other.attribute-name", "hl-attribute"),
    ("entity.name", "hl-type"),
    ("entity.other.inherited-class", "hl-type"),
    ("support.type.property-name", "hl-attribute"),
    ("support.type", "hl-type"),
    ("support.class", "hl-type"),
    ("support.constant", "hl-constant"),
    ("variable.parameter", "hl-variable"),
    ("variable.language", "hl-variable"),
    ("markup.inserted", "hl-string"),
    ("markup.deleted", "hl-keyword"),
];

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);
static TABLE: LazyLock<Vec<(Scope, &'static str)>> = LazyLock::new(|| {
    SCOPES
        .iter()
        .filter_map(|(scope, class)| Scope::new(scope).ok().map(|scope| (scope, *class)))
        .collect()
});

/// Highlights code as HTML with classes. Returns None if the code stays plain.
pub(crate) fn highlight_code(language: &str, code: &str) -> Option<String> {
    if language.is_empty()
        || code.len() > MAX_BYTES
        || code.lines().any(|line| line.len() > MAX_LINE)
    {
        return None;
    }
    let syntax = syntax(language)?;
    let mut state = ParseState::new(syntax);
    let mut stack = ScopeStack::new();
    let mut out = Spans::default();
    for line in code.split_inclusive('\n') {
        let mut from = 0;
        for (at, op) in state.parse_line(line, &SYNTAXES).ok()? {
            out.push(class(&stack), line.get(from..at)?);
            from = at;
            stack.apply(&op).ok()?;
        }
        out.push(class(&stack), line.get(from..)?);
    }
    Some(out.finish())
}

fn syntax(language: &str) -> Option<&'static SyntaxReference> {
    let language = language.to_ascii_lowercase();
    let name = match language.as_str() {
        "text" | "txt" | "plain" | "plaintext" | "output" => return None,
        "ts" | "tsx" | "typescript" | "jsx" | "mjs" | "node" => "js",
        "shell" | "console" | "shell-session" | "zsh" | "fish" => "sh",
        "golang" => "go",
        "c++" => "cpp",
        "csharp" | "c#" => "cs",
        "postgresql" | "postgres" | "mysql" | "sqlite" => "sql",
        "jsonc" | "json5" | "jsonl" => "json",
        other => other,
    };
    SYNTAXES.find_syntax_by_token(name)
}

fn class(stack: &ScopeStack) -> Option<&'static str> {
    stack.as_slice().iter().rev().find_map(|scope| {
        TABLE.iter().find(|(known, _)| known.is_prefix_of(*scope)).map(|(_, class)| *class)
    })
}

/// Writes spans. Neighbouring texts of the same class share a span.
#[derive(Default)]
struct Spans {
    html: String,
    class: Option<&'static str>,
}

impl Spans {
    fn push(&mut self, class: Option<&'static str>, text: &str) {
        if text.is_empty() {
            return;
        }
        // White space has no visible colour, so it stays in the open span.
        if class != self.class && !text.trim().is_empty() {
            self.close();
            if let Some(class) = class {
                self.html.push_str("<span class=\"");
                self.html.push_str(class);
                self.html.push_str("\">");
            }
            self.class = class;
        }
        escape(&mut self.html, text);
    }

    fn close(&mut self) {
        if self.class.take().is_some() {
            self.html.push_str("</span>");
        }
    }

    fn finish(mut self) -> String {
        self.close();
        self.html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_known_languages_gets_highlight_classes() {
        let html = highlight_code("rust", "// note\nfn main() { let x = \"<b>\"; }\n").unwrap();
        assert!(html.contains("<span class=\"hl-comment\">// note"), "{html}");
        assert!(
            html.contains("hl-keyword") && html.contains("hl-string") && html.contains("&lt;b&gt;"),
            "{html}"
        );
        assert!(
            highlight_code("ts", "const a = 1;").is_some()
                && highlight_code("SQL", "select 1").is_some()
        );
    }

    #[test]
    fn code_in_unknown_languages_or_with_long_lines_is_not_highlighted() {
        assert_eq!(highlight_code("klingon", "nuqneH"), None);
        assert_eq!(highlight_code("", "x"), None);
        assert_eq!(highlight_code("rust", &"x".repeat(MAX_LINE + 1)), None);
    }
}
