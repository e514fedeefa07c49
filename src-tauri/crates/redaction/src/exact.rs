//! Finds keys and tokens by their exact value, in every encoding in which they may occur: plain,
//! base64 (both alphabets, every offset), hex, percent, JSON and HTML escapes, broken into lines,
//! and in pieces. It knows no patterns and no placeholders.

mod forms;
mod open_end;
mod view;

use std::{
    borrow::Cow,
    iter::{once, successors},
    ops::Range,
    sync::OnceLock,
};

use aho_corasick::AhoCorasick;

use forms::Form;
use open_end::Beginnings;
use view::{View, Way};

/// Replaces a secret in a text. It has no number, because a secret is never restored.
pub const MARK: &str = "<secret>";

/// Levels of nested escapes that are decoded.
const DEPTH: usize = 3;

/// A matcher for all secrets that are known when it is built.
#[derive(Default)]
pub struct Exact {
    machine: Option<AhoCorasick>,
    forms: Vec<Form>,
    /// Whether a form contains white space.
    spaced: bool,
    values: usize,
    /// Made when the first stream is searched.
    beginnings: OnceLock<Option<Beginnings>>,
}

impl std::fmt::Debug for Exact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exact").field("values", &self.values).finish_non_exhaustive()
    }
}

impl Exact {
    /// Builds a matcher for these values. Values shorter than [`forms::SHORTEST`] bytes are
    /// ignored: no key is that short, and searching for "1234" would damage ordinary numbers.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut all, mut count) = (Vec::new(), 0);
        for value in
            values.into_iter().map(str::trim).filter(|value| value.len() >= forms::SHORTEST)
        {
            all.extend(forms::forms_of_secret(value));
            count += 1;
        }
        let machine = (!all.is_empty())
            .then(|| AhoCorasick::new(all.iter().map(|form: &Form| &form.bytes)).ok())
            .flatten();
        let spaced = all.iter().any(|form| form.bytes.iter().any(u8::is_ascii_whitespace));
        Self { machine, forms: all, spaced, values: count, beginnings: OnceLock::new() }
    }

    fn beginnings(&self) -> Option<&Beginnings> {
        self.beginnings.get_or_init(|| Beginnings::new(&self.forms)).as_ref()
    }

    /// Whether there is no secret to search for.
    pub fn is_empty(&self) -> bool {
        self.machine.is_none()
    }

    /// Returns the ranges of secrets in a text, sorted and not overlapping.
    pub(crate) fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let Some(machine) = self.machine.as_ref().filter(|_| self.contains_secret(text)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for view in views(text, Way::Kept) {
            self.collect(machine, &view, &mut found);
            if let Some(bytes_without_spaces) = view.without_spaces() {
                self.collect(machine, &bytes_without_spaces, &mut found);
            }
        }
        merge_spans(found, text)
    }

    /// Whether a text contains a secret. Most texts contain none, so this check does not map
    /// decoded bytes back to their source. A text with white space is searched only once, with the
    /// white space removed: that search also finds everything that stands in the text itself.
    pub fn contains_secret(&self, text: &str) -> bool {
        let Some(machine) = &self.machine else { return false };
        views(text, Way::Lost).any(|view| {
            machine.is_match(&*view.bytes_without_spaces())
                || (self.spaced && machine.is_match(view.bytes()))
        })
    }

    fn collect(&self, machine: &AhoCorasick, view: &View<'_>, found: &mut Vec<Range<usize>>) {
        for hit in machine.find_overlapping_iter(view.bytes()) {
            let form = &self.forms[hit.pattern().as_usize()];
            found.push(view.range(form.widen(view.bytes(), hit.start()..hit.end())));
        }
    }

    /// Returns the text with every secret replaced by the mark.
    pub fn redact_secrets<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let spans = self.spans(text);
        if spans.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(insert_marks(text, &spans)) }
    }
}

/// Returns the text itself and its unescaped versions.
fn views(text: &str, way: Way) -> impl Iterator<Item = View<'_>> {
    let read = move |marks: &'static [u8]| {
        successors(View::of(text).unescape(marks, way), move |view| view.unescape(marks, way))
            .take(DEPTH)
    };
    once(View::of(text)).chain(view::escape_families(text).into_iter().flat_map(read))
}

/// Replaces every range by the mark.
pub(crate) fn insert_marks(text: &str, spans: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        out.push_str(&text[done..span.start]);
        out.push_str(MARK);
        done = span.end;
    }
    out.push_str(&text[done..]);
    out
}

/// Sorts ranges, merges those that touch, and widens them to character boundaries.
fn merge_spans(mut found: Vec<Range<usize>>, text: &str) -> Vec<Range<usize>> {
    found.sort_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for mut range in found {
        while !text.is_char_boundary(range.start) {
            range.start -= 1;
        }
        while !text.is_char_boundary(range.end) {
            range.end += 1;
        }
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}
