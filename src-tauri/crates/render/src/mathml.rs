//! Draws one formula as MathML. Knows no Markdown. A formula with an error, with definitions of
//! commands, or with very large MathML is not drawn; its source is shown instead.

use std::{io, thread};

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::event::{Content, Dimension, DimensionUnit, Event};
use pulldown_latex::{Parser, ParserError, Storage, write_mathml};

/// The maximum number of open brackets and environments.
const MAX_DEPTH: usize = 32;
/// The maximum number of bytes of the MathML of one formula.
const MAX_BYTES: usize = 64 * 1024;
/// The stack size in bytes of the thread that draws one formula. Memory is only used as needed.
const STACK: usize = 32 << 20;
/// The character that replaces a percent sign while a formula is drawn. This character never occurs
/// in a text.
const PERCENT: char = '\u{fdd2}';
/// Commands that define other commands, which are refused because a short text could become a huge
/// formula.
const DEFINING: [&str; 6] =
    ["def", "let", "futurelet", "newcommand", "renewcommand", "providecommand"];

/// The elements that are used to draw formulas.
pub(crate) const TAGS: [&str; 19] = [
    "math",
    "mfrac",
    "mi",
    "mn",
    "mo",
    "mover",
    "mroot",
    "mrow",
    "mspace",
    "msqrt",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
];
/// The attributes of these elements. Styles are excluded, because an answer may have no styles;
/// colours and distances are styles.
pub(crate) const ATTRIBUTES: [(&str, &[&str]); 19] = [
    ("math", &["display"]),
    ("mfrac", &["linethickness", "displaystyle", "scriptlevel"]),
    ("mi", &["mathvariant", "displaystyle", "scriptlevel"]),
    ("mn", &["displaystyle", "scriptlevel"]),
    ("mo", &["stretchy", "symmetric", "largeop", "movablelimits", "minsize", "maxsize", "class"]),
    ("mover", &["displaystyle", "scriptlevel"]),
    ("mroot", &["displaystyle", "scriptlevel"]),
    ("mrow", &["displaystyle", "scriptlevel", "class"]),
    ("mspace", &["width", "height", "depth"]),
    ("msqrt", &["displaystyle", "scriptlevel"]),
    ("msub", &["displaystyle", "scriptlevel"]),
    ("msubsup", &["displaystyle", "scriptlevel"]),
    ("msup", &["displaystyle", "scriptlevel"]),
    ("mtable", &["class"]),
    ("mtd", &["class"]),
    ("mtext", &["displaystyle", "scriptlevel"]),
    ("mtr", &["class"]),
    ("munder", &["displaystyle", "scriptlevel"]),
    ("munderover", &["displaystyle", "scriptlevel"]),
];
/// The maximum number in a length, whatever the unit.
const MAX_LENGTH: f64 = 100.0;

/// Returns the MathML of a formula, or None if the formula's source has to be shown.
pub(crate) fn draw(tex: &str, is_display: bool) -> Option<String> {
    if defines_commands(tex) || depth(tex) > MAX_DEPTH || tex.contains(PERCENT) {
        return None;
    }
    let tex = &with_percents(tex);
    // The library recurses for a command that is the argument of another command, and panics in
    // states that it considers impossible. The separate thread prevents that a formula from a model
    // ends the program.
    thread::scope(|scope| {
        let drawing = thread::Builder::new().stack_size(STACK);
        let drawing = drawing.spawn_scoped(scope, || write(tex, is_display)).ok()?;
        drawing.join().ok().flatten().map(|html| html.replace(PERCENT, "%"))
    })
}

/// Replaces percent signs, because the library would drop the text after a percent sign as a
/// comment, and would draw the backslash of an escaped percent sign in a text.
fn with_percents(tex: &str) -> String {
    let mut out = String::with_capacity(tex.len());
    let mut chars = tex.chars();
    while let Some(char) = chars.next() {
        match (char, if char == '\\' { chars.next() } else { None }) {
            ('%', _) | ('\\', Some('%')) => out.push(PERCENT),
            (char, escaped) => {
                out.push(char);
                out.extend(escaped);
            }
        }
    }
    out
}

fn write(tex: &str, is_display: bool) -> Option<String> {
    let storage = Storage::new();
    let events: Vec<Event<'_>> = Parser::new(tex, &storage).collect::<Result<_, _>>().ok()?;
    let config = RenderConfig {
        display_mode: if is_display { DisplayMode::Block } else { DisplayMode::Inline },
        ..RenderConfig::default()
    };
    let mut bounded = Bounded(Vec::new());
    let events = events.into_iter().map(with_space).map(Ok::<_, ParserError>);
    write_mathml(&mut bounded, events, config).ok()?;
    String::from_utf8(bounded.0).ok()
}

/// Replaces the library's text for a fixed space, because the library would write that text as
/// letters.
fn with_space(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Content(Content::Text("&nbsp;")) => Event::Space {
            width: Some(Dimension { value: 0.25, unit: DimensionUnit::Em }),
            height: None,
            depth: None,
        },
        event => event,
    }
}

/// A writer that fails when the formula has more bytes than allowed.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether an attribute of a formula has an allowed value.
pub(crate) fn is_fine(name: &str, value: &str) -> bool {
    match name {
        "display" => matches!(value, "inline" | "block"),
        "mathvariant" => value == "normal",
        "scriptlevel" => matches!(value, "0" | "1" | "2"),
        "class" => value.split(' ').all(|class| {
            class == "small"
                || ["menv-", "mop-", "cell-"].iter().any(|begin| class.starts_with(begin))
        }),
        "linethickness" | "minsize" | "maxsize" | "width" | "height" | "depth" => is_length(value),
        _ => matches!(value, "true" | "false"),
    }
}

fn is_length(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let unit = value.len() - number.len();
    unit <= 4 && number.parse::<f64>().is_ok_and(|number| number.abs() <= MAX_LENGTH)
}

fn defines_commands(tex: &str) -> bool {
    tex.split('\\').skip(1).any(|rest| {
        let len = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        rest.get(..len).is_some_and(|name| DEFINING.contains(&name))
    })
}

/// Returns the maximum number of brackets and environments that are open at once.
fn depth(tex: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    let mut rest = tex;
    while let Some(at) = rest.find(['{', '}', '\\']) {
        let tail = rest.get(at..).unwrap_or_default();
        let begins =
            ["{", "\\begin", "\\left", "\\bgroup"].iter().any(|word| tail.starts_with(word));
        let ends = ["}", "\\end", "\\right", "\\egroup"].iter().any(|word| tail.starts_with(word));
        open = if begins { open + 1 } else { open.saturating_sub(usize::from(ends)) };
        most = most.max(open);
        // An escaped bracket is a visible character and opens no group.
        let len = if tail.starts_with("\\{") || tail.starts_with("\\}") { 2 } else { 1 };
        rest = tail.get(len..).unwrap_or_default();
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_mathml() {
        let html = draw("\\frac{a}{b_1} < \\sqrt{2}", false).unwrap();
        for part in ["<math display=\"inline\">", "<mfrac>", "<msub>", "<msqrt>"] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(draw("\\sum_{i=1}^n i", true).unwrap().contains("display=\"block\""));
        assert!(!draw("a\\ b~c", false).unwrap().contains("nbsp"));
        let matrix = "\\begin{pmatrix}1 & 2\\\\3 & 4\\end{pmatrix}";
        assert!(draw(matrix, true).unwrap().contains("<mtable"));
    }

    #[test]
    fn an_invalid_or_oversized_formula_is_not_drawn() {
        let deep = format!("{}x{}", "{".repeat(MAX_DEPTH + 1), "}".repeat(MAX_DEPTH + 1));
        let columns = format!(
            "\\begin{{array}}{{{}}}{}\\end{{array}}",
            "*{9}{|c}".repeat(90),
            "\\\\".repeat(500)
        );
        for tex in [
            "\\frac{a}",
            "\\nosuchcommand",
            "x^2^3",
            "\\begin{matrix} a",
            "\\def\\a{xx}\\a",
            "\\newcommand{\\a}{\\a\\a}\\a",
            "\\let\\a=b",
            deep.as_str(),
            columns.as_str(),
        ] {
            assert_eq!(draw(tex, true), None, "{tex}");
        }
        assert!(draw("\\{a\\} \\left( x \\right)", false).is_some());
    }
}
