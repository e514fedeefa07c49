//! Finds keys and tokens by their exact value, in every encoding in which they may occur: plain,
//! base64 (both alphabets, every offset), hex, percent, JSON and HTML escapes, broken into lines,
//! and in pieces; also in another case, in fullwidth letters and with invisible characters in
//! between. Patterns and placeholders are handled elsewhere.

mod fold;
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

use fold::fold;
use forms::Form;
use open_end::Beginnings;
use view::{View, Way};

/// Replaces a secret in a text. The mark has no number, because a secret is never restored.
pub const MARK: &str = "<secret>";

/// The most levels of nested escapes that are decoded.
const DEPTH: usize = 3;

/// A matcher for all secrets that are known when it is built.
#[derive(Default)]
pub struct Exact {
    groups: Vec<Group>,
    /// Whether a form contains white space.
    spaced: bool,
    values: usize,
}

/// A group of forms that are searched for together.
struct Group {
    machine: AhoCorasick,
    forms: Vec<Form>,
    /// Whether the search ignores case.
    any_case: bool,
    /// Built when the first stream is searched.
    beginnings: OnceLock<Option<Beginnings>>,
}

impl Group {
    fn new(forms: Vec<Form>, any_case: bool) -> Option<Self> {
        if forms.is_empty() {
            return None;
        }
        let machine = AhoCorasick::builder()
            .ascii_case_insensitive(any_case)
            .build(forms.iter().map(|form| &form.bytes))
            .ok()?;
        Some(Self { machine, forms, any_case, beginnings: OnceLock::new() })
    }

    fn beginnings(&self) -> Option<&Beginnings> {
        self.beginnings.get_or_init(|| Beginnings::new(&self.forms, self.any_case)).as_ref()
    }

    fn collect(&self, view: &View<'_>, found: &mut Vec<Range<usize>>) {
        for hit in self.machine.find_overlapping_iter(view.bytes()) {
            let form = &self.forms[hit.pattern().as_usize()];
            found.push(view.range(form.widen(view.bytes(), hit.start()..hit.end())));
        }
    }
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
            // The texts are folded before the search, so the secrets are folded, too.
            let folded: String = value.chars().filter_map(fold).collect();
            if folded != value && folded.len() >= forms::SHORTEST {
                all.extend(forms::forms_of_secret(&folded));
            }
            count += 1;
        }
        let spaced = all.iter().any(|form: &Form| form.bytes.iter().any(u8::is_ascii_whitespace));
        let (any_case, exact): (Vec<_>, Vec<_>) = all.into_iter().partition(|form| form.any_case);
        let groups = [Group::new(any_case, true), Group::new(exact, false)];
        Self { groups: groups.into_iter().flatten().collect(), spaced, values: count }
    }

    /// Returns what the streams of all groups may begin with. Returns none if a group has too many
    /// forms.
    fn beginnings(&self) -> Option<Vec<&Beginnings>> {
        self.groups.iter().map(Group::beginnings).collect()
    }

    /// Whether there is no secret to search for.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the ranges of secrets in a text, sorted and not overlapping.
    pub(crate) fn spans(&self, text: &str) -> Vec<Range<usize>> {
        if !self.contains_secret(text) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for view in views(text, Way::Kept) {
            let spaceless = view.without_spaces();
            for group in &self.groups {
                group.collect(&view, &mut found);
                if let Some(spaceless) = &spaceless {
                    group.collect(spaceless, &mut found);
                }
            }
        }
        merge_spans(found, text)
    }

    /// Whether a text contains a secret. Most texts contain none, so this check does not map
    /// decoded bytes back to their source. A text with white space is searched only once, with the
    /// white space removed: that search also finds every secret that the text contains unchanged.
    pub fn contains_secret(&self, text: &str) -> bool {
        let is_found = |bytes: &[u8]| self.groups.iter().any(|group| group.machine.is_match(bytes));
        !self.is_empty()
            && views(text, Way::Lost).any(|view| {
                is_found(&view.bytes_without_spaces()) || (self.spaced && is_found(view.bytes()))
            })
    }

    /// Returns the text with every secret replaced by the mark.
    pub fn redact_secrets<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let spans = self.spans(text);
        if spans.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(insert_marks(text, &spans)) }
    }
}

/// Returns the text itself and its unescaped versions, all folded.
fn views(text: &str, way: Way) -> impl Iterator<Item = View<'_>> {
    let read = move |marks: &'static [u8]| {
        successors(View::of(text, way).unescape(marks, way), move |view| view.unescape(marks, way))
            .take(DEPTH)
    };
    let plain = View::of(text, way);
    let families = plain.escape_families();
    once(plain).chain(families.into_iter().flat_map(read))
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
