//! Separates thoughts from the answer in a text that contains both: `<think>` blocks at the
//! beginning of a message or on separate lines, even if the template has opened the block and the
//! text contains only its end. Tags within a line, in code or in a quotation are text. The module
//! knows nothing of chunks and calls.

/// The tags around thoughts.
const TAGS: [(&str, &str); 11] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
];
/// The tag before an answer, which does not belong to the answer.
const ANSWER: [&str; 2] = ["<|START_RESPONSE|>", "<|begin_of_solution|>"];

/// The first characters of all tags.
const FIRST: [char; 3] = ['<', '[', '◁'];
/// The maximum number of bytes of a tag.
const LONGEST_TAG: usize = 32;
/// The maximum number of bytes of a block within an answer. A longer block is text.
const LONGEST_ASIDE: usize = 64 * 1024;
/// The maximum number of blocks at the beginning of an answer. Later blocks stay text.
const MOST_BLOCKS: usize = 32;

/// The characters around a tag that is only mentioned.
const MARKS: [char; 3] = ['`', '"', '\''];

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Thought(String),
    /// The text so far consisted of thoughts.
    WasThought,
}

enum State {
    /// Only white space, or the beginning of a tag, has arrived.
    Opening,
    /// The text is inside a block that ends with this tag.
    Thinking(&'static str),
    Answering,
    /// The text is inside a block within the answer, between these two tags. The whole block is
    /// held back, because it is text if it does not end.
    Aside(&'static str, &'static str),
}

pub(super) struct Splitter {
    state: State,
    /// Text that is held back until its kind is known.
    held: String,
    /// The properties of the text so far.
    said: Said,
    /// Whether the text so far may turn out to be thoughts.
    is_open: bool,
    /// How many blocks of thoughts there were so far.
    blocks: usize,
}

impl Splitter {
    pub(super) fn new() -> Self {
        Self {
            state: State::Opening,
            held: String::new(),
            said: Said::default(),
            is_open: true,
            blocks: 0,
        }
    }

    /// Reads a piece of the message.
    pub(super) fn push(&mut self, piece: &str) -> Vec<Piece> {
        self.held.push_str(piece);
        let mut out = Vec::new();
        while self.step(&mut out, false) {}
        out
    }

    /// Reads the end of the message.
    pub(super) fn end(&mut self) -> Vec<Piece> {
        let mut out = Vec::new();
        while self.step(&mut out, true) {}
        let rest = std::mem::take(&mut self.held);
        match self.state {
            State::Thinking(_) => push_piece(&mut out, Piece::Thought(rest)),
            State::Opening | State::Answering | State::Aside(..) => {
                push_piece(&mut out, Piece::Text(rest));
            }
        }
        out
    }

    /// Passes on the part of the held text whose kind is known. Returns whether the state has
    /// changed.
    fn step(&mut self, out: &mut Vec<Piece>, is_end: bool) -> bool {
        match self.state {
            State::Opening => self.open(is_end),
            State::Thinking(close) => self.think(close, out, is_end),
            State::Answering => self.answer(out, is_end),
            State::Aside(open, close) => self.end_aside(open, close, out),
        }
    }

    fn open(&mut self, is_end: bool) -> bool {
        let words = self.held.trim_start();
        if let Some((tag, close)) = TAGS.iter().find(|(tag, _)| begins_with(words, tag)) {
            self.held = words[tag.len()..].to_owned();
            self.is_open = false;
            self.state = State::Thinking(close);
            return true;
        }
        if let Some(tag) = ANSWER.iter().find(|tag| begins_with(words, tag)) {
            self.held = words[tag.len()..].to_owned();
            return true;
        }
        let mut tags = TAGS.iter().map(|tag| tag.0).chain(ANSWER);
        let may_open = words.is_empty() || tags.any(|tag| begins_with(tag, words));
        if may_open && !is_end {
            return false;
        }
        if !self.is_open {
            // White space between the thoughts and the answer belongs to neither.
            self.held = self.held.trim_start().to_owned();
        }
        self.state = State::Answering;
        true
    }

    fn think(&mut self, close: &str, out: &mut Vec<Piece>, is_end: bool) -> bool {
        let mut is_open = false;
        let ends = |before: &str, after: &str| {
            let mark = before.chars().next_back().filter(|c| MARKS.contains(c));
            is_open = mark.is_some() && after.is_empty() && !is_end;
            is_open || mark.is_none_or(|mark| !after.starts_with(mark))
        };
        let ended = find_tag(&self.held, close, ends);
        if is_open {
            return false;
        }
        let Some(at) = ended else {
            // The character before the tag must also be kept.
            let before = &self.held[..self.held.len() - tail_of(&self.held, close)];
            let safe = before.char_indices().next_back().map_or(0, |(at, _)| at);
            push_piece(out, Piece::Thought(self.held.drain(..safe).collect()));
            return false;
        };
        push_piece(out, Piece::Thought(self.held[..at].to_owned()));
        self.held.drain(..at + close.len());
        // Some models write several blocks of thoughts.
        self.blocks += 1;
        self.state = if self.blocks < MOST_BLOCKS { State::Opening } else { State::Answering };
        true
    }

    fn answer(&mut self, out: &mut Vec<Piece>, is_end: bool) -> bool {
        // Whether a tag closes the block can only be decided with the character after the tag.
        let open = |tag: &str, is_whole: bool| {
            let last = self.held.len().checked_sub(tag.len()).filter(|_| is_whole);
            let whole = last.filter(|at| self.held.is_char_boundary(*at));
            match whole.filter(|at| begins_with(&self.held[*at..], tag)) {
                Some(_) => tag.len(),
                None => tail_of(&self.held, tag),
            }
        };
        let ends = TAGS.iter().map(|tag| open(tag.0, false).max(open(tag.1, true)));
        let kept = if is_end { 0 } else { ends.max().unwrap_or(0) };
        let end = self.held.len() - kept;
        let mut from = 0;
        for (at, _) in self.held.match_indices(FIRST) {
            let rest = &self.held[at..];
            let is = |tag: &str| begins_with(rest, tag);
            let Some(kind) = TAGS.iter().position(|tag| is(tag.0) || is(tag.1)) else { continue };
            let (opening, close) = TAGS[kind];
            self.said.push(&self.held[from..at]);
            from = at;
            let closes = is(close);
            let is_aside = !closes && self.blocks < MOST_BLOCKS && self.said.may_begin_aside();
            let was_thought =
                closes && self.is_open && self.said.ends_thoughts(kind, &rest[close.len()..]);
            if !is_aside && !was_thought {
                continue;
            }
            push_piece(out, Piece::Text(self.held[..at].to_owned()));
            self.is_open = false;
            if is_aside {
                self.state = State::Aside(opening, close);
                self.held.drain(..at);
            } else {
                out.push(Piece::WasThought);
                self.state = State::Opening;
                self.held.drain(..at + close.len());
            }
            return true;
        }
        self.said.push(self.held.get(from..end).unwrap_or_default());
        push_piece(out, Piece::Text(self.held.drain(..end).collect()));
        false
    }

    /// Passes on a block within the answer when the end of the block has arrived.
    fn end_aside(&mut self, open: &str, close: &str, out: &mut Vec<Piece>) -> bool {
        match find_tag(&self.held, close, |_, _| true) {
            Some(at) => {
                push_piece(out, Piece::Thought(self.held[open.len()..at].to_owned()));
                self.held.drain(..at + close.len());
                self.blocks += 1;
            }
            None if self.held.len() > LONGEST_ASIDE => self.blocks = MOST_BLOCKS,
            None => return false,
        }
        self.state = State::Answering;
        true
    }
}

/// The properties of a text that decide the meaning of a tag after the text.
#[derive(Default)]
struct Said {
    last: Option<char>,
    /// The first character of the current line that is not white space.
    line_start: Option<char>,
    /// The number of backticks at the end.
    backticks: usize,
    is_in_block: bool,
    is_in_span: bool,
    /// Which opening tags have occurred.
    opened: [bool; TAGS.len()],
    /// The end of the text, which may contain the beginning of an opening tag.
    tail: String,
}

impl Said {
    fn push(&mut self, text: &str) {
        for c in text.chars() {
            self.last = Some(c);
            self.backticks = if c == '`' { self.backticks + 1 } else { 0 };
            self.is_in_block ^= c == '`' && self.backticks.is_multiple_of(3);
            self.is_in_span = c != '\n' && self.is_in_span ^ (c == '`');
            self.line_start = match self.line_start {
                _ if c == '\n' => None,
                None if !c.is_whitespace() => Some(c),
                start => start,
            };
        }
        self.tail.push_str(text);
        for ((open, _), is_open) in TAGS.iter().zip(&mut self.opened) {
            *is_open = *is_open || find_tag(&self.tail, open, |_, _| true).is_some();
        }
        let mut cut = self.tail.len().saturating_sub(LONGEST_TAG);
        while !self.tail.is_char_boundary(cut) {
            cut -= 1;
        }
        self.tail.drain(..cut);
    }

    /// Whether a closing tag of this kind, after this text, ends thoughts.
    fn ends_thoughts(&self, kind: usize, after: &str) -> bool {
        let at_line = matches!(self.last, None | Some('\n')) || after.starts_with(['\n', '\r']);
        // A tag that is only mentioned follows a space.
        let ends_words = self.last.is_some_and(|last| {
            last.is_alphanumeric() || ['.', '!', '?', '…', '。', '！', '？'].contains(&last)
        });
        (at_line || ends_words) && !self.opened[kind] && !self.is_quoted()
    }

    /// Whether an opening tag after this text begins thoughts within the answer.
    fn may_begin_aside(&self) -> bool {
        self.last == Some('\n') && !self.is_in_block
    }

    /// Whether the end of the text is in code or in a quotation.
    fn is_quoted(&self) -> bool {
        self.is_in_block
            || self.is_in_span
            || self.line_start == Some('>')
            || self.last.is_some_and(|last| ['"', '\'', '“', '‘', '«'].contains(&last))
    }
}

fn push_piece(out: &mut Vec<Piece>, piece: Piece) {
    let is_empty = matches!(&piece, Piece::Text(text) | Piece::Thought(text) if text.is_empty());
    if !is_empty {
        out.push(piece);
    }
}

/// Whether the text begins with these characters. Ignores the case of ASCII letters.
fn begins_with(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

/// Returns the position of the first tag that `counts` accepts, given the text before and after the
/// tag.
fn find_tag(text: &str, tag: &str, mut counts: impl FnMut(&str, &str) -> bool) -> Option<usize> {
    let first = tag.chars().next()?;
    text.match_indices(first)
        .map(|(at, _)| at)
        .find(|at| begins_with(&text[*at..], tag) && counts(&text[..*at], &text[*at + tag.len()..]))
}

/// Returns the length of the end of the text that may be the beginning of the tag.
fn tail_of(text: &str, tag: &str) -> usize {
    (1..tag.len())
        .rev()
        .find(|len| {
            text.len() >= *len
                && text.is_char_boundary(text.len() - len)
                && begins_with(tag, &text[text.len() - len..])
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the answer and the thoughts of a text that arrives in pieces of this length.
    fn split(text: &str, len: usize) -> (String, String) {
        let (mut answer, mut thoughts) = (String::new(), String::new());
        let mut splitter = Splitter::new();
        let letters: Vec<char> = text.chars().collect();
        let mut pieces: Vec<Piece> = letters
            .chunks(len)
            .flat_map(|piece| splitter.push(&piece.iter().collect::<String>()))
            .collect();
        pieces.extend(splitter.end());
        for piece in pieces {
            match piece {
                Piece::Text(text) => answer.push_str(&text),
                Piece::Thought(text) => thoughts.push_str(&text),
                Piece::WasThought => thoughts.push_str(&std::mem::take(&mut answer)),
            }
        }
        (answer, thoughts)
    }

    #[test]
    fn thoughts_in_tags_are_separated_from_the_answer_with_any_chunk_sizes() {
        let table = [
            ("<think>\nHm.\n</think>\n\nYes.", "Yes.", "\nHm.\n"),
            ("\n <Thinking>a < b</thinking>Yes.", "Yes.", "a < b"),
            ("<think>a</think>\n<reasoning>b</reasoning>\nc", "c", "ab"),
            ("<think>\n\n</think>\n\nYes.", "Yes.", "\n\n"),
            ("Hm, so.\n</think>\n\nYes.", "Yes.", "Hm, so.\n"),
            ("Hm, so.</think>\nYes.", "Yes.", "Hm, so."),
            ("<think>It says `</think>` here.</think>Yes.", "Yes.", "It says `</think>` here."),
            ("<think>never ends", "", "never ends"),
            ("Yes. <think>no</think>\nSo.", "Yes. <think>no</think>\nSo.", ""),
            ("The tag </think> ends it.", "The tag </think> ends it.", ""),
            ("```\n</think>\n```\nSo.", "```\n</think>\n```\nSo.", ""),
            ("> </think>\nSo.", "> </think>\nSo.", ""),
            ("`<think>` begins.", "`<think>` begins.", ""),
            ("<thinker>å</thinker>", "<thinker>å</thinker>", ""),
            ("[THINK]a[/THINK]b", "b", "a"),
            ("◁think▷a◁/think▷b", "b", "a"),
            ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b", "b", "a"),
            ("a < b, å", "a < b, å", ""),
            ("å\n```\n</think>\n```\nSo.\n</think>\nb", "b", "å\n```\n</think>\n```\nSo.\n"),
            ("``` `\n</think>\n", "``` `\n</think>\n", ""),
            ("a [think] b\n</think>\nc", "c", "a [think] b\n"),
            ("  indented", "  indented", ""),
            ("Briefly.</think>391", "391", "Briefly."),
            ("是。</think>好", "好", "是。"),
            ("</think>Yes.", "Yes.", ""),
            ("(</think>) and **</think>** end it.", "(</think>) and **</think>** end it.", ""),
            ("<|channel|>final<|message|>Yes.", "Yes.", ""),
            ("<|channel>thought\nHm.<channel|>Yes.", "Yes.", "\nHm."),
            ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b", "b", "a"),
            ("I look.\n<think>\nHm.\n</think>\nYes.", "I look.\n\nYes.", "\nHm.\n"),
            ("<think>a</think>b\n<think>c</think>d", "b\nd", "ac"),
            ("So:\n<Think>\nit stays", "So:\n<Think>\nit stays", ""),
            ("So:\n```\n<think>a</think>\n```", "So:\n```\n<think>a</think>\n```", ""),
        ];
        for (text, answer, thoughts) in table {
            for len in [1, 2, 3, 7, 1_000] {
                let expected = (answer.to_owned(), thoughts.to_owned());
                assert_eq!(split(text, len), expected, "{text} in pieces of {len}");
            }
        }
    }

    /// This would take minutes if the text were searched again for each tag.
    #[test]
    fn many_closing_tags_are_read_in_linear_time() {
        let text = format!("```{}", "\n</think>".repeat(30_000));
        for len in [4_096, usize::MAX] {
            assert_eq!(split(&text, len), (text.clone(), String::new()));
        }
        assert!(TAGS.iter().all(|(open, _)| open.len() <= LONGEST_TAG));
        assert!(TAGS.iter().all(|tag| tag.0.starts_with(FIRST) && tag.1.starts_with(FIRST)));
    }

    #[test]
    fn a_long_thought_block_within_an_answer_stays_text() {
        let text = format!("a\n<think>{}", "b <think>\n".repeat(LONGEST_ASIDE / 8));
        assert_eq!(split(&text, 4_096), (text.clone(), String::new()));
    }

    #[test]
    fn thought_blocks_beyond_the_limit_stay_text() {
        let (answer, thoughts) = split(&"<think>a</think>".repeat(MOST_BLOCKS + 1), 1_000);
        assert_eq!((answer.as_str(), thoughts.len()), ("<think>a</think>", MOST_BLOCKS));
    }
}
