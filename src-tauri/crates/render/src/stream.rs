//! Turns a growing answer into block patches. Closed blocks are rendered once. The open block is
//! rendered for each frame, or only extended where plain text follows plain text or code follows
//! code.

use contract::{Block, BlockPatch};

use crate::html::{self, State};
use crate::lines;
use crate::mend;
use crate::segment::{Kind, Segmenter};

/// The number of bytes from which an open block is rendered again only after it has grown by a
/// fraction of its size.
const STEP_FROM: usize = 8192;
const STEP_PART: usize = 64;
/// The number of bytes of an unfinished line that must have arrived before the line counts as
/// ordinary text.
const SURE: usize = 32;

/// An answer that grows.
#[derive(Debug)]
pub struct Stream {
    segments: Segmenter,
    /// The number of the open block.
    index: u32,
    shown: Option<ShownBlock>,
}

/// The open block as the window shows it.
#[derive(Debug)]
struct ShownBlock {
    html: String,
    /// How many bytes of the open block's text are shown.
    shown_len: usize,
    /// Whether text was appended to the HTML since the last rendering.
    has_appended_text: bool,
    /// How new text can be added to a block.
    grow: GrowthMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrowthMode {
    /// The block must be rendered again for new text.
    Again,
    /// Plain text may be appended without rendering.
    Text,
    /// Code may be appended without rendering.
    Code,
}

impl Default for Stream {
    fn default() -> Self {
        Self::new()
    }
}

impl Stream {
    /// Creates an empty answer.
    pub fn new() -> Self {
        Self { segments: Segmenter::new(), index: 0, shown: None }
    }

    /// Adds a piece of text. No text is rendered until a frame is requested.
    pub fn push(&mut self, delta: &str) {
        self.segments.push(delta);
    }

    /// Returns the changes since the last frame, with the open block in a presentable state. Empty
    /// if nothing changed.
    pub fn frame(&mut self) -> BlockPatch {
        let mut patch = BlockPatch::default();
        self.close_into(&mut patch.blocks);
        self.open_into(&mut patch);
        patch.count = self.index + u32::from(self.shown.is_some());
        patch
    }

    /// Ends the answer and returns the last patch. The blocks then equal those of
    /// [`crate::blocks`].
    pub fn finish(&mut self) -> BlockPatch {
        self.segments.finish();
        self.frame()
    }

    fn close_into(&mut self, blocks: &mut Vec<Block>) {
        for closed in self.segments.take_closed() {
            let html = html::render(&closed.text, State::ClosedBlock, closed.is_continued);
            let known = self
                .shown
                .take()
                .is_some_and(|shown| !shown.has_appended_text && shown.html == html);
            if !known {
                blocks.push(Block { index: self.index, html });
            }
            self.index = self.index.saturating_add(1);
        }
    }

    fn open_into(&mut self, patch: &mut BlockPatch) {
        let open = self.segments.open();
        if let Some(shown) = &mut self.shown {
            if shown.shown_len > open.len() {
                // This case cannot happen while blocks only grow. Rendering again is always
                // correct.
                shown.grow = GrowthMode::Again;
            } else if let Some(end) = find_growth(&self.segments, shown) {
                let text = open.get(shown.shown_len..end).unwrap_or_default();
                shown.shown_len = end;
                shown.has_appended_text |= !text.is_empty();
                patch.append.push_str(text);
                return;
            }
            let grown = open.len().saturating_sub(shown.shown_len);
            if open.len() > STEP_FROM && grown < open.len() / STEP_PART {
                return;
            }
        }
        let Some(render_open) = self.render_open() else { return };
        if self
            .shown
            .as_ref()
            .is_none_or(|shown| shown.has_appended_text || shown.html != render_open.html)
        {
            patch.blocks.push(Block { index: self.index, html: render_open.html.clone() });
        }
        self.shown = Some(render_open);
    }

    /// Renders the open block. Returns None if there is nothing to show.
    fn render_open(&self) -> Option<ShownBlock> {
        let (kind, open, partial) =
            (self.segments.kind(), self.segments.open(), self.segments.partial());
        if let Kind::Fence { mark, .. } = kind {
            let (info, code) = open.split_once('\n').unwrap_or((open, ""));
            let end = code_end(open, partial, mark);
            let start = open.len() - code.len();
            let html = html::open_code(
                info.trim_start_matches([' ', '`', '~']),
                open.get(start..end.max(start)).unwrap_or_default(),
            );
            return Some(ShownBlock {
                html,
                shown_len: end.max(start),
                has_appended_text: false,
                grow: GrowthMode::Code,
            });
        }
        if let Kind::Formula { .. } = kind {
            return Some(ShownBlock {
                html: html::open_formula(open),
                shown_len: text_end(open),
                has_appended_text: false,
                grow: GrowthMode::Again,
            });
        }
        if mend::waits_for_table(kind, open, partial) {
            return None;
        }
        let mended = mend::mend(kind, open, partial);
        if mended.text.trim().is_empty() {
            return None;
        }
        let html = html::render(&mended.text, State::Open, self.segments.is_continued());
        let sure = partial.len() >= SURE || partial.starts_with(|c: char| c.is_alphabetic());
        let paragraph = html
            .strip_prefix("<p>")
            .or(html.strip_prefix("<p class=\"md-continued\">"))
            .and_then(|rest| rest.strip_suffix("</p>"));
        let text_last = paragraph.is_some_and(|inner| !inner.is_empty() && !inner.ends_with('>'));
        let grow = if mended.clean
            && sure
            && text_last
            && !may_combine(open)
            && matches!(kind, Kind::Empty | Kind::Paragraph)
        {
            GrowthMode::Text
        } else {
            GrowthMode::Again
        };
        Some(ShownBlock { html, shown_len: text_end(open), has_appended_text: false, grow })
    }
}

/// Returns the position up to which the new text may be appended, or None if the block must be
/// rendered again.
fn find_growth(segments: &Segmenter, shown: &ShownBlock) -> Option<usize> {
    let open = segments.open();
    match (shown.grow, segments.kind()) {
        (GrowthMode::Code, Kind::Fence { mark, .. }) => {
            Some(code_end(open, segments.partial(), mark).max(shown.shown_len))
        }
        (GrowthMode::Text, Kind::Empty | Kind::Paragraph) => {
            let new = open.get(shown.shown_len..)?;
            let special = |b: u8| {
                matches!(
                    b,
                    b'\n'
                        | b'\\'
                        | b'`'
                        | b'*'
                        | b'_'
                        | b'~'
                        | b'['
                        | b']'
                        | b'<'
                        | b'>'
                        | b'&'
                        | b'$'
                )
            };
            (!new.bytes().any(special)).then(|| text_end(open).max(shown.shown_len))
        }
        (GrowthMode::Again | GrowthMode::Code | GrowthMode::Text, _) => None,
    }
}

/// Returns the end of the text without trailing white space, which is not shown yet.
fn text_end(open: &str) -> usize {
    open.trim_end_matches([' ', '\t', '\n']).len()
}

/// Whether the end of the text and the following plain text could together form a link address or
/// an entity.
fn may_combine(open: &str) -> bool {
    let text = open.trim_end_matches([' ', '\t', '\n']);
    text.ends_with([']', '\\']) || text.bytes().rev().take(40).any(|b| b == b'&')
}

/// Returns the position up to which the code is certain. An unfinished line that may close the
/// fence is excluded.
fn code_end(open: &str, partial: &str, mark: u8) -> usize {
    if lines::may_close_fence(partial, mark) { open.len() - partial.len() } else { open.len() }
}
