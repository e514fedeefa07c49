//! Finds the end of a text that a secret could continue: the part of a stream that must wait for
//! the next piece. The caller decides how to hold that part back.

use std::{collections::HashMap, ops::Range};

use aho_corasick::{
    Anchored,
    automaton::{Automaton as _, StateID},
    nfa::noncontiguous::NFA,
};

use super::{
    DEPTH, Exact,
    forms::{Form, is_base64},
    view::{View, Way},
    views,
};

/// An automaton that finds how much of a text's end is the beginning of a form.
pub(super) struct Beginnings {
    machine: NFA,
    start: StateID,
    /// The length of the beginning that each state of the automaton stands for.
    lengths: HashMap<StateID, usize>,
    longest: usize,
}

impl Beginnings {
    /// Builds the automaton for these forms. Returns none if the forms are too many for an
    /// automaton.
    pub(super) fn new(forms: &[Form], any_case: bool) -> Option<Self> {
        let machine = NFA::builder()
            .ascii_case_insensitive(any_case)
            .build(forms.iter().map(|form| &form.bytes))
            .ok()?;
        let start = machine.start_state(Anchored::No).ok()?;
        let mut lengths = HashMap::new();
        for form in forms {
            let mut state = start;
            for (at, byte) in form.bytes.iter().enumerate() {
                state = machine.next_state(Anchored::No, state, *byte);
                lengths.insert(state, at + 1);
            }
        }
        let longest = forms.iter().map(|form| form.bytes.len()).max().unwrap_or_default();
        Some(Self { machine, start, lengths, longest })
    }

    /// Returns the length of the longest suffix of these bytes with which a form begins.
    fn length_at_end(&self, bytes: &[u8]) -> usize {
        let near = &bytes[bytes.len().saturating_sub(self.longest)..];
        let state = near
            .iter()
            .fold(self.start, |state, byte| self.machine.next_state(Anchored::No, state, *byte));
        self.lengths.get(&state).copied().unwrap_or_default()
    }
}

impl Exact {
    /// Returns the position from which on a text must wait for its continuation, and the ranges of
    /// secrets before it.
    pub(crate) fn closed_part(&self, text: &str) -> (usize, Vec<Range<usize>>) {
        let mut end = self.open_from(text);
        let mut spans = self.spans(text);
        loop {
            let before = end;
            end = whole_escapes_before(text, end);
            if let Some(cut) = spans.iter().find(|span| span.start < end && end < span.end) {
                end = cut.start;
            }
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            if end == before {
                break;
            }
        }
        spans.retain(|span| span.end <= end);
        (end, spans)
    }

    /// Returns the first position at which a secret may begin that continues beyond the text.
    fn open_from(&self, text: &str) -> usize {
        let Some(beginnings) = self.beginnings() else { return 0 };
        let mut end = text.len();
        let plain = View::of(text, Way::Kept);
        note_open(&beginnings, &plain, &mut end);
        for marks in plain.escape_families() {
            note_open_escaped(&beginnings, &plain, marks, DEPTH, &mut end);
        }
        end
    }
}

/// Lowers `end` to the position where the last bytes of a view may begin a secret.
fn note_open(beginnings: &[&Beginnings], view: &View<'_>, end: &mut usize) {
    let mut note = |view: &View<'_>| {
        let bytes = view.bytes();
        let open_in = |bytes: &[u8]| {
            let open = beginnings.iter().map(|all| all.length_at_end(bytes)).max();
            bytes.len() - open.unwrap_or_default()
        };
        // An incomplete character at the end may turn out to be invisible.
        let whole = &bytes[..without_cut_char(bytes)];
        let mut start = open_in(bytes).min(open_in(whole));
        // A base64 character before a match carries bits of the secret.
        if start > 0 && is_base64(bytes[start - 1]) {
            start -= 1;
        }
        if start < bytes.len() {
            *end = (*end).min(view.range(start..bytes.len()).start);
        }
    };
    note(view);
    if let Some(spaceless) = view.without_spaces() {
        note(&spaceless);
    }
}

/// Returns the length without an incomplete character at the end.
fn without_cut_char(bytes: &[u8]) -> usize {
    let near = bytes.len().saturating_sub(3);
    match bytes[near..].iter().rposition(|byte| *byte >= 0xc0) {
        Some(at) if std::str::from_utf8(&bytes[near + at..]).is_err() => near + at,
        _ => bytes.len(),
    }
}

/// Does the same for the unescaped versions of a view. If the view ends in a part of an escape,
/// both readings of that part are considered: its bytes unchanged, and an escape that the next
/// piece completes.
fn note_open_escaped(
    beginnings: &[&Beginnings],
    view: &View<'_>,
    marks: &[u8],
    levels: usize,
    end: &mut usize,
) {
    if levels == 0 {
        return;
    }
    let mut go_on = |view: &View<'_>| {
        let decoded = view.unescape(marks, Way::Kept);
        let next = decoded.as_ref().unwrap_or(view);
        note_open(beginnings, next, end);
        note_open_escaped(beginnings, next, marks, levels - 1, end);
    };
    let Some(at) = view.open_escape(marks) else {
        if view.has_any(marks) {
            go_on(view);
        }
        return;
    };
    go_on(view);
    go_on(&view.cut_at(at));
    *end = (*end).min(view.range(at..view.bytes().len()).start);
}

/// Returns the position, or the start of the escape that surrounds the position in some version of
/// the text.
fn whole_escapes_before(text: &str, mut at: usize) -> usize {
    if at == text.len() || View::of(text, Way::Lost).escape_families().is_empty() {
        return at;
    }
    let all: Vec<_> = views(text, Way::Kept).collect();
    loop {
        let lowest = all.iter().map(|view| view.escape_start(at)).min().unwrap_or(at);
        if lowest == at {
            return at;
        }
        at = lowest;
    }
}
