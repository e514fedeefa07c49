//! Writes a page as Markdown. Every line of a foreign text begins with `>`, so that no text can look
//! like a heading of the export.

use render::escape_markdown;

use super::parts::{Content, Kind, Page, Part, time_text};

pub(super) fn write(page: &Page) -> String {
    let mut text = format!("# {}\n\n", escape_markdown(&page.title));
    for line in &page.about {
        text.push_str(&format!("{}  \n", escape_markdown(line)));
    }
    for part in &page.parts {
        text.push('\n');
        write_part(&mut text, part);
    }
    text
}

fn write_part(text: &mut String, part: &Part) {
    if part.kind != Kind::Proof {
        text.push_str(&format!("## {}", escape_markdown(&part.heading)));
        if let Some(at) = part.at {
            text.push_str(&format!(" · {}", time_text(at)));
        }
        text.push_str("\n\n");
    }
    let contents: Vec<String> = part.contents.iter().map(write_content).collect();
    text.push_str(&contents.join("\n"));
}

fn write_content(content: &Content) -> String {
    match content {
        Content::Quote(text) => {
            // Two spaces at the end keep the line break.
            let lines = text.lines().map(|line| format!("{}  ", escape_markdown(line)));
            quoted(&lines.collect::<Vec<_>>().join("\n"))
        }
        Content::Answer(text) => quoted(text),
        Content::Table(text) => text.clone(),
        Content::Line(text) => format!("{}\n", escape_markdown(text)),
        Content::Json(text) => {
            let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
            format!("{fence}json\n{text}\n{fence}\n")
        }
    }
}

fn quoted(text: &str) -> String {
    // A single carriage return ends a line of Markdown, too.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.lines().map(|line| format!("> {line}\n")).collect()
}

/// Returns the length of the longest run of a character.
fn longest_run(text: &str, wanted: char) -> usize {
    let runs = text.split(|c| c != wanted).map(str::len);
    runs.max().unwrap_or_default()
}
