//! Writes one Markdown block as HTML. HTML inside the Markdown is shown as text, images are shown
//! as their description, links show their address, and formulas are drawn. Keeps no state between
//! blocks.

use contract::mail::sanitize_mail_link;
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::clean::{self, SCHEMES};
use crate::escape::escape;
use crate::veil::{Formula, Piece, Veiled};
use crate::{highlight, mathml};

/// Whether the block can still change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The block may still grow, so code is not highlighted yet.
    Open,
    ClosedBlock,
}

/// Renders a block as HTML that is safe to show.
pub(crate) fn render(markdown: &str, state: State, is_continued: bool) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let veiled = Veiled::new(markdown, options);
    let mut writer = Writer {
        html: String::with_capacity(markdown.len() * 3 / 2 + 16),
        veiled: &veiled,
        state,
        is_continued,
        code: None,
        links: Vec::new(),
        columns: Vec::new(),
        column: 0,
        in_head: false,
    };
    for event in Parser::new_ext(veiled.markdown(), options) {
        writer.write_event(event);
    }
    clean::clean(&writer.html)
}

/// Renders the source of a formula whose end has not arrived.
pub(crate) fn open_formula(source: &str) -> String {
    let mut html = "<p>".to_owned();
    formula_source(&mut html, source.trim());
    html.push_str("</p>");
    clean::clean(&html)
}

/// Renders an unfinished code fence from its language and the code so far.
pub(crate) fn open_code(info: &str, code: &str) -> String {
    let mut html = String::with_capacity(code.len() + 64);
    code_start(&mut html, language(info));
    escape(&mut html, code);
    html.push_str("</code></pre>");
    clean::clean(&html)
}

struct Writer<'a> {
    html: String,
    veiled: &'a Veiled<'a>,
    state: State,
    is_continued: bool,
    /// Language and text of the current code block.
    code: Option<(String, String)>,
    links: Vec<OpenLink>,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

struct OpenLink {
    /// The address of the current link. None if the link may not be followed.
    url: Option<String>,
    text: String,
}

impl Writer<'_> {
    fn write_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) => self.text(&text),
            Event::InlineHtml(text) => {
                // Tables need line breaks, so this one element is allowed.
                if matches!(&*text, "<br>" | "<br/>" | "<br />") {
                    self.html.push_str("<br>")
                } else {
                    self.text(&text)
                }
            }
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.html.push_str("<code>");
                self.plain(&self.veiled.source(&text));
                self.html.push_str("</code>");
            }
            // Models mean every line break as a visible line break.
            Event::SoftBreak | Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(done) => {
                self.html.push_str("<span class=\"md-task\">");
                self.html.push_str(if done { "\u{2611}" } else { "\u{2610}" });
                self.html.push_str("</span> ");
            }
            Event::FootnoteReference(name) => self.text(&name),
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(&self.veiled.source(text));
            return;
        }
        for piece in self.veiled.pieces(text) {
            match piece {
                Piece::Text(text) => self.plain(text),
                Piece::Formula(formula) => self.formula(formula),
            }
        }
    }

    fn plain(&mut self, text: &str) {
        for link in &mut self.links {
            link.text.push_str(text);
        }
        escape(&mut self.html, text);
    }

    /// Draws a formula. A formula that cannot be drawn is shown as it is written.
    fn formula(&mut self, formula: &Formula) {
        for link in &mut self.links {
            link.text.push_str(&formula.source);
        }
        match mathml::draw(&formula.tex, formula.is_display) {
            Some(drawn) => self.html.push_str(&drawn),
            None => formula_source(&mut self.html, &formula.source),
        }
    }

    /// Opens an element. An element that continues the previous block gets the class
    /// `md-continued`.
    fn open(&mut self, name: &str, more: &str) {
        self.html.push('<');
        self.html.push_str(name);
        self.html.push_str(more);
        if std::mem::take(&mut self.is_continued) {
            self.html.push_str(" class=\"md-continued\"");
        }
        self.html.push('>');
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.open("p", ""),
            Tag::Heading { level, .. } => self.open(heading(level), ""),
            Tag::BlockQuote(_) => self.html.push_str("<blockquote>"),
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                let info = self.veiled.source(&info);
                self.code = Some((language(&info).to_owned(), String::new()))
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => {
                self.code = Some((String::new(), String::new()))
            }
            Tag::List(None) => self.open("ul", ""),
            Tag::List(Some(1)) => self.open("ol", ""),
            Tag::List(Some(first)) => self.open("ol", &format!(" start=\"{first}\"")),
            Tag::Item => self.html.push_str("<li>"),
            Tag::Table(columns) => {
                self.columns = columns;
                self.html.push_str("<div class=\"md-table\" tabindex=\"0\"><table>");
            }
            Tag::TableHead => {
                (self.in_head, self.column) = (true, 0);
                self.html.push_str("<thead><tr>");
            }
            Tag::TableRow => {
                self.column = 0;
                self.html.push_str("<tr>");
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => self.html.push_str("<em>"),
            Tag::Strong => self.html.push_str("<strong>"),
            Tag::Strikethrough => self.html.push_str("<del>"),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            // Images are not fetched; their descriptions are shown instead.
            Tag::Image { .. } => {}
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        let close = match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => "</p>",
            TagEnd::Heading(level) => {
                self.html.push_str("</");
                self.html.push_str(heading(level));
                ">"
            }
            TagEnd::BlockQuote(_) => "</blockquote>",
            TagEnd::CodeBlock => return self.code_block(),
            TagEnd::List(true) => "</ol>",
            TagEnd::List(false) => "</ul>",
            TagEnd::Item => "</li>",
            TagEnd::Table => "</tbody></table></div>",
            TagEnd::TableHead => {
                self.in_head = false;
                "</tr></thead><tbody>"
            }
            TagEnd::TableRow => "</tr>",
            TagEnd::TableCell => {
                if self.in_head {
                    "</th>"
                } else {
                    "</td>"
                }
            }
            TagEnd::Emphasis => "</em>",
            TagEnd::Strong => "</strong>",
            TagEnd::Strikethrough => "</del>",
            TagEnd::Link => return self.link_end(),
            TagEnd::Image
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => "",
        };
        self.html.push_str(close);
    }

    fn cell(&mut self) {
        let class = match self.columns.get(self.column) {
            Some(Alignment::Left) => " class=\"md-left\"",
            Some(Alignment::Center) => " class=\"md-center\"",
            Some(Alignment::Right) => " class=\"md-right\"",
            Some(Alignment::None) | None => "",
        };
        self.column += 1;
        self.html.push_str(if self.in_head { "<th" } else { "<td" });
        self.html.push_str(class);
        self.html.push('>');
    }

    fn code_block(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        code_start(&mut self.html, &language);
        let coloured = if self.state == State::ClosedBlock {
            highlight::highlight_code(&language, &code)
        } else {
            None
        };
        match coloured {
            Some(html) => self.html.push_str(&html),
            None => escape(&mut self.html, &code),
        }
        self.html.push_str("</code></pre>");
    }

    fn link(&mut self, url: &str) {
        let url = &self.veiled.source(url);
        let url = if is_followable(url) { openable_url(url) } else { None };
        if let Some(url) = &url {
            self.html.push_str("<a href=\"");
            escape(&mut self.html, url);
            self.html.push_str("\">");
        }
        self.links.push(OpenLink { url, text: String::new() });
    }

    /// Closes a link and shows its address, because the link's text may differ from it.
    fn link_end(&mut self) {
        let Some(OpenLink { url: Some(url), text }) = self.links.pop() else { return };
        self.html.push_str("</a>");
        if url != text && url.strip_prefix("mailto:") != Some(&text) {
            self.html.push_str(" <span class=\"md-url\">(");
            escape(&mut self.html, &url);
            self.html.push_str(")</span>");
        }
    }
}

/// Returns the address to open. Fields that a mail link must not fill in are removed.
fn openable_url(url: &str) -> Option<String> {
    if clean::is_mail(url) { sanitize_mail_link(url) } else { Some(url.to_owned()) }
}

/// Whether a link has a known scheme and no character that hides its target.
fn is_followable(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let known = scheme.is_some_and(|scheme| SCHEMES.contains(&scheme.as_str()));
    let hiding = |c: char| {
        c.is_control()
            || c.is_whitespace()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
    };
    known && !url.contains(hiding)
}

fn heading(level: HeadingLevel) -> &'static str {
    // The page around an answer uses the first two heading levels, so the answer starts at the
    // third level.
    match level {
        HeadingLevel::H1 => "h3",
        HeadingLevel::H2 => "h4",
        HeadingLevel::H3 => "h5",
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => "h6",
    }
}

fn language(info: &str) -> &str {
    let word = info.split([' ', ',', '{', '\t', '\n']).next().unwrap_or_default();
    if clean::is_language(word) { word } else { "" }
}

fn code_start(html: &mut String, language: &str) {
    html.push_str("<pre class=\"md-code\" tabindex=\"0\"");
    if !language.is_empty() {
        html.push_str(" data-lang=\"");
        escape(html, language);
        html.push('"');
    }
    html.push_str("><code>");
}

fn formula_source(html: &mut String, source: &str) {
    html.push_str("<code class=\"md-formula\">");
    escape(html, source);
    html.push_str("</code>");
}
