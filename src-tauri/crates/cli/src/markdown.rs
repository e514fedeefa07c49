//! Formats the Markdown of an answer for a terminal: wrapped paragraphs, aligned tables, lists, and
//! links with their address. Formulas are shown as they are written. The module knows the width of
//! the terminal, but neither reads from nor writes to it.
//!
//! Each piece of the source passes through [`prose`] before the layout. Therefore, all control
//! characters in the result were written by this module.

mod line;
mod table;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use render::{Segmenter, Veiled};

use crate::out::Screen;
use crate::visible::escape_prose;
use crate::width;
use line::{Line, Span, Style, wrap_spans};
use table::Table;

/// An answer that arrives in pieces. Each block is returned once, as soon as it is complete.
#[derive(Debug)]
pub(crate) struct GrowingAnswer {
    segments: Segmenter,
    has_begun: bool,
}

impl GrowingAnswer {
    pub(crate) fn new() -> Self {
        Self { segments: Segmenter::new(), has_begun: false }
    }

    /// Adds a piece. Returns the lines of the blocks that the piece completes.
    pub(crate) fn push(&mut self, text: &str, screen: Screen) -> String {
        self.segments.push(text);
        self.format_closed_blocks(screen)
    }

    /// Completes the open block. Further text begins a new block.
    pub(crate) fn flush(&mut self, screen: Screen) -> String {
        self.segments.finish();
        self.format_closed_blocks(screen)
    }

    /// Completes the open block and ends the answer. Further text begins a new answer.
    pub(crate) fn finish(&mut self, screen: Screen) -> String {
        let rest = self.flush(screen);
        self.has_begun = false;
        rest
    }

    fn format_closed_blocks(&mut self, screen: Screen) -> String {
        let mut lines = String::new();
        for block in self.segments.take_closed() {
            let text = format(&block.text, screen);
            if text.is_empty() {
                continue;
            }
            if std::mem::replace(&mut self.has_begun, true) && !block.is_continued {
                lines.push('\n');
            }
            lines.push_str(&text);
        }
        lines
    }
}

/// Formats complete blocks. Each line of the result has a line end.
pub(crate) fn format(markdown: &str, screen: Screen) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let veiled = Veiled::new(markdown, options);
    let mut writer = Writer {
        screen,
        veiled: &veiled,
        text: String::new(),
        containers: vec![Container::new(false, "", "")],
        numbers: Vec::new(),
        styles: Vec::new(),
        spans: Vec::new(),
        links: Vec::new(),
        code: None,
        table: None,
    };
    for event in Parser::new_ext(veiled.markdown(), options) {
        writer.write_event(event);
    }
    writer.flush_block();
    writer.text
}

struct Writer<'a> {
    screen: Screen,
    /// The text, with placeholders for its formulas.
    veiled: &'a Veiled<'a>,
    text: String,
    /// The open quotes and list items. The first container is the answer itself.
    containers: Vec<Container>,
    /// The next number of each open list; None for a list with bullets.
    numbers: Vec<Option<u64>>,
    styles: Vec<Style>,
    /// The text since the last complete line or cell.
    spans: Vec<Span>,
    /// The address and the text of each open link.
    links: Vec<(String, String)>,
    code: Option<String>,
    table: Option<Table>,
}

/// A block that contains other blocks.
struct Container {
    is_item: bool,
    /// The text at the beginning of the block's first line.
    first: String,
    /// The text at the beginning of the block's other lines.
    rest: String,
    has_lines: bool,
}

impl Container {
    fn new(is_item: bool, first: &str, rest: &str) -> Self {
        Self { is_item, first: first.to_owned(), rest: rest.to_owned(), has_lines: false }
    }

    fn list_item(marker: &str) -> Self {
        Self::new(true, marker, &" ".repeat(width::text_width(marker)))
    }
}

impl Writer<'_> {
    fn write_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start_tag(tag),
            Event::End(tag) => self.end_tag(tag),
            Event::Text(text) | Event::Html(text) => self.add_text(&text),
            Event::InlineHtml(text) if matches!(&*text, "<br>" | "<br/>" | "<br />") => {
                self.add_text("\n")
            }
            Event::InlineHtml(text) | Event::FootnoteReference(text) => self.add_text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                let style = Style { is_code: true, ..self.current_style() };
                self.add_styled(&format!("`{text}`"), style);
            }
            Event::SoftBreak | Event::HardBreak => self.add_text("\n"),
            Event::Rule => {
                self.begin_block();
                let line = Line::plain(&"─".repeat(self.available_width()));
                self.write_line(&line);
            }
            Event::TaskListMarker(done) => self.add_text(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start_tag(&mut self, tag: Tag<'_>) {
        let style = self.current_style();
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            Tag::Heading { .. } => {
                self.begin_block();
                self.styles.push(Style { is_strong: true, ..style });
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.containers.push(Container::new(false, "> ", "> "));
            }
            Tag::CodeBlock(_) => {
                self.begin_block();
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.begin_block();
                self.numbers.push(first);
            }
            Tag::Item => {
                let marker = match self.numbers.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number = number.saturating_add(1);
                        marker
                    }
                    Some(None) | None => "• ".to_owned(),
                };
                self.containers.push(Container::list_item(&marker));
            }
            Tag::Table(alignments) => {
                self.begin_block();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead => {
                self.styles.push(Style { is_strong: true, ..style });
                self.begin_row();
            }
            Tag::TableRow => self.begin_row(),
            Tag::Emphasis => self.styles.push(Style { is_emphasised: true, ..style }),
            Tag::Strong => self.styles.push(Style { is_strong: true, ..style }),
            Tag::Strikethrough => self.styles.push(Style { is_struck: true, ..style }),
            Tag::Link { dest_url, .. } => {
                let address = escape_prose(&self.veiled.source(&dest_url));
                self.links.push((address, String::new()));
            }
            Tag::Image { .. }
            | Tag::TableCell
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end_tag(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush_block(),
            TagEnd::Heading(_) => {
                self.flush_block();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush_block();
                self.containers.pop();
            }
            TagEnd::Item => {
                self.flush_block();
                if self.containers.last().is_some_and(|item| !item.has_lines) {
                    self.write_line(&Line::default());
                }
                self.containers.pop();
            }
            TagEnd::CodeBlock => {
                for line in self.code.take().unwrap_or_default().lines() {
                    self.write_line(&Line::plain(line));
                }
            }
            TagEnd::List(_) => {
                self.numbers.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::TableHead | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Table => {
                let lines =
                    self.table.take().map(|table| table.layout_lines(self.available_width()));
                lines.iter().flatten().for_each(|line| self.write_line(line));
            }
            TagEnd::Link => self.end_link(),
            TagEnd::Image
            | TagEnd::TableRow
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// Adds the address of a link, unless the link's text already shows the address.
    fn end_link(&mut self) {
        let Some((address, text)) = self.links.pop() else { return };
        if !address.is_empty() && address != text && address != format!("mailto:{text}") {
            self.add_text(&format!(" ({address})"));
        }
    }

    fn current_style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn add_text(&mut self, text: &str) {
        self.add_styled(text, self.current_style());
    }

    fn add_styled(&mut self, text: &str, style: Style) {
        let text = escape_prose(&self.veiled.source(text));
        if let Some(code) = &mut self.code {
            code.push_str(&text);
            return;
        }
        for (_, link_text) in &mut self.links {
            link_text.push_str(&text);
        }
        self.spans.push(Span { text, style });
    }

    /// Ends the text before a block, and separates the block from the previous block. Blocks of a
    /// list item are not separated.
    fn begin_block(&mut self) {
        self.flush_block();
        if self.containers.last().is_some_and(|parent| !parent.is_item && parent.has_lines) {
            self.write_line(&Line::default());
        }
    }

    fn begin_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    /// Writes the collected text, wrapped at words. A word longer than a line, such as an address,
    /// is not cut.
    fn flush_block(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        let mut lines = wrap_spans(&spans, self.available_width(), usize::MAX);
        while lines.last().is_some_and(Line::is_empty) {
            lines.pop();
        }
        lines.iter().for_each(|line| self.write_line(line));
    }

    /// Returns the number of columns that the containers leave.
    fn available_width(&self) -> usize {
        let used: usize =
            self.containers.iter().map(|container| width::text_width(&container.rest)).sum();
        self.screen.width.saturating_sub(used).max(1)
    }

    fn write_line(&mut self, line: &Line) {
        let mut text = String::new();
        for container in &mut self.containers {
            let has_lines = std::mem::replace(&mut container.has_lines, true);
            text.push_str(if has_lines { &container.rest } else { &container.first });
        }
        text.push_str(&line.to_text(self.screen.is_styled));
        self.text.push_str(text.trim_end_matches(' '));
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests;
