//! Writes a page as one HTML file for printing, without script and without anything to load. All
//! Markdown goes through the renderer of the window, and all other text is escaped.

use messages::Language;
use render::{blocks, escape_html};

use super::parts::{Content, Kind, Page, Part, time_text};

/// The only stylesheet of a page.
const STYLE: &str = include_str!("page.css");

pub(super) fn write(page: &Page, language: Language) -> String {
    let (tag, title) = (escape_html(language.tag()), escape_html(&page.title));
    let about: String =
        page.about.iter().map(|line| format!("<p>{}</p>\n", escape_html(line))).collect();
    let parts: String = page.parts.iter().map(write_part).collect();
    format!(
        "<!doctype html>\n<html lang=\"{tag}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1 dir=\"auto\">{title}</h1>\n\
         <header>\n{about}</header>\n{parts}</main>\n</body>\n</html>\n"
    )
}

fn write_part(part: &Part) -> String {
    let class = match part.kind {
        Kind::User => "user",
        Kind::Assistant => "assistant",
        Kind::Call => "call",
        Kind::Approval => "approval",
        Kind::Note => "note",
        Kind::Proof => "proof",
    };
    let contents: String = part.contents.iter().map(write_content).collect();
    if part.kind == Kind::Proof {
        return format!("<p class=\"{class}\">{contents}</p>\n");
    }
    let time = part.at.map_or_else(String::new, |at| format!(" <time>{}</time>", time_text(at)));
    let heading = escape_html(&part.heading);
    format!(
        "<section class=\"{class}\">\n<h2 dir=\"auto\">{heading}{time}</h2>\n{contents}</section>\n"
    )
}

fn write_content(content: &Content) -> String {
    match content {
        Content::Quote(text) => {
            format!("<p class=\"text\" dir=\"auto\">{}</p>\n", escape_html(text))
        }
        Content::Answer(text) | Content::Table(text) => {
            let html = |block: contract::Block| format!("<div dir=\"auto\">{}</div>\n", block.html);
            blocks(text).into_iter().map(html).collect()
        }
        Content::Line(text) => format!("<span class=\"line\">{}</span>\n", escape_html(text)),
        Content::Json(text) => format!("<pre>{}</pre>\n", escape_html(text)),
    }
}
