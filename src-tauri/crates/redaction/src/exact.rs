//! Keys and tokens found by their exact value, in every form they take on the way: plain, base64 (both alphabets, every
//! offset), hex, percent, JSON and HTML escapes, broken into lines, and in pieces. It knows no pattern and no placeholder.

mod forms;
mod view;

use std::{
    borrow::Cow,
    iter::{once, successors},
    ops::Range,
};

use aho_corasick::AhoCorasick;
use serde_json::Value;

use forms::Form;
use view::{View, Way};

/// What stands in place of a secret. It has no number: nothing puts a secret back.
pub const MARK: &str = "<secret>";

/// Escapes within escapes that are looked through.
const DEPTH: usize = 3;

/// A matcher for all secrets known at one moment.
#[derive(Default)]
pub struct Exact {
    machine: Option<AhoCorasick>,
    forms: Vec<Form>,
    /// A form has white space in it.
    spaced: bool,
    values: usize,
}

impl std::fmt::Debug for Exact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exact").field("values", &self.values).finish_non_exhaustive()
    }
}

impl Exact {
    /// A matcher for these values. Those of fewer than [`forms::SHORTEST`] bytes are left out: no key is that short, and
    /// looking for "1234" would spoil every figure.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut all, mut count) = (Vec::new(), 0);
        for value in values.into_iter().map(str::trim).filter(|value| value.len() >= forms::SHORTEST) {
            all.extend(forms::of(value));
            count += 1;
        }
        let machine = (!all.is_empty()).then(|| AhoCorasick::new(all.iter().map(|form: &Form| &form.bytes)).ok()).flatten();
        let spaced = all.iter().any(|form| form.bytes.iter().any(u8::is_ascii_whitespace));
        Self { machine, forms: all, spaced, values: count }
    }

    /// Nothing is looked for.
    pub fn is_empty(&self) -> bool {
        self.machine.is_none()
    }

    /// Where secrets stand, in order and apart from each other.
    pub(crate) fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let Some(machine) = self.machine.as_ref().filter(|_| self.contains_secret(text)) else { return Vec::new() };
        let mut found = Vec::new();
        for view in views(text, Way::Kept) {
            self.collect(machine, &view, &mut found);
            if let Some(bytes_without_spaces) = view.without_spaces() {
                self.collect(machine, &bytes_without_spaces, &mut found);
            }
        }
        merge_spans(found, text)
    }

    /// Whether there is a secret in a text. Most texts hold none: they are looked through without keeping the way back to each byte,
    /// and only once where they have white space, because whatever stands in a text stands in it without white space, too.
    pub(crate) fn contains_secret(&self, text: &str) -> bool {
        let Some(machine) = &self.machine else { return false };
        views(text, Way::Lost).any(|view| machine.is_match(&*view.bytes_without_spaces()) || (self.spaced && machine.is_match(view.bytes())))
    }

    /// Whether there is a secret in the texts and names of a value.
    pub(crate) fn value_contains_secret(&self, value: &Value) -> bool {
        !self.is_empty() && crate::json::contains_secret(self, value)
    }

    fn collect(&self, machine: &AhoCorasick, view: &View<'_>, found: &mut Vec<Range<usize>>) {
        for hit in machine.find_overlapping_iter(view.bytes()) {
            let form = &self.forms[hit.pattern().as_usize()];
            found.push(view.range(form.widen(view.bytes(), hit.start()..hit.end())));
        }
    }

    /// A text without secrets.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let spans = self.spans(text);
        if spans.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(insert_marks(text, &spans)) }
    }

    /// A value without secrets in its texts and names, also when one is spread over several texts of a list.
    pub fn scrub_value(&self, value: &mut Value) {
        if self.value_contains_secret(value) {
            crate::json::scrub(self, value);
        }
    }
}

/// A text as it stands, and as it reads with its escapes read.
fn views(text: &str, way: Way) -> impl Iterator<Item = View<'_>> {
    let read = move |marks: &'static [u8]| successors(View::of(text).unescape(marks, way), move |view| view.unescape(marks, way)).take(DEPTH);
    once(View::of(text)).chain(view::escape_families(text).into_iter().flat_map(read))
}

/// Puts the mark in place of every span.
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

/// Spans in order, touching ones as one, widened to whole characters.
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
