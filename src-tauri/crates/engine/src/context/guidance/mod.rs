//! Layer 2 of the prompt: execution instructions of a tool. Splits the instructions file into
//! sections, keeps the sections that fit the question, and fills in values in one pass. Inserted
//! text is not searched again, so that a value cannot add a section or another placeholder.

mod fitting;
mod stem;

use contract::SectionView;

pub(crate) use fitting::{Names, Told, fitting};
use stem::stem_word;
pub(crate) use stem::words;

/// The most characters of a tool's instructions.
const BUDGET: usize = 6_000;
/// The most characters of the text outside of sections.
const COMMON: usize = 1_500;
/// The most characters of a value that is filled in.
const VALUE: usize = 500;

/// Words that are always keywords if a section's header contains them.
const FIXED: [&str; 6] = ["trend", "risk", "calculate", "average", "pacing", "budget"];
/// Words of headers that are never keywords.
const STOP: [&str; 4] = ["when", "user", "asks", "about"];

/// An instructions file, split into sections.
pub(crate) struct Guide {
    sections: Vec<Section>,
    /// The text before the first section and under headers of level 1 and 2.
    common: String,
}

struct Section {
    title: String,
    /// The text of the section, including its header.
    text: String,
    keywords: Vec<Keyword>,
}

struct Keyword {
    shown: String,
    /// The stemmed words of the keyword.
    term: Vec<String>,
}

/// The parts of the instructions that match a question.
pub(crate) struct Chosen {
    pub(crate) text: String,
    pub(crate) sections: Vec<SectionView>,
    /// Whether no section matches the question, so that all sections are given.
    pub(crate) whole: bool,
}

impl Guide {
    pub(crate) fn parse(text: &str) -> Self {
        let mut guide = Self { sections: Vec::new(), common: String::new() };
        let (mut in_section, mut in_fence) = (false, false);
        for line in text.trim_start_matches('\u{feff}').lines() {
            if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
                in_fence = !in_fence;
            }
            let level = if in_fence { 0 } else { header_level(line) };
            match level {
                3 => {
                    in_section = true;
                    let title = line.trim_start_matches('#').trim().to_owned();
                    guide.sections.push(Section {
                        title,
                        text: String::new(),
                        keywords: Vec::new(),
                    });
                }
                1 | 2 => in_section = false,
                _ => {}
            }
            let into = match guide.sections.last_mut() {
                Some(section) if in_section => &mut section.text,
                _ => &mut guide.common,
            };
            into.push_str(line);
            into.push('\n');
        }
        for section in &mut guide.sections {
            section.keywords = keywords(&section.title, &section.text);
            // The keywords choose the section, and tell the model nothing.
            let lines = section.text.lines().filter(|line| !is_keywords(line));
            section.text = lines.flat_map(|line| [line, "\n"]).collect();
        }
        guide
    }

    /// Returns the sections that match a question, in the order of the file, followed by the common
    /// text.
    pub(crate) fn choose(&self, question: &str) -> Chosen {
        let asked: Vec<String> = words(question).iter().map(|word| stem_word(word)).collect();
        let scores: Vec<u32> = self.sections.iter().map(|section| section.score(&asked)).collect();
        let whole = scores.iter().all(|score| *score == 0);
        let mut kept: Vec<usize> =
            (0..self.sections.len()).filter(|&i| whole || scores[i] > 0).collect();
        let common = cut(self.common.trim(), COMMON);
        let size = |kept: &[usize]| {
            common.chars().count()
                + kept.iter().map(|&i| self.sections[i].text.chars().count() + 1).sum::<usize>()
        };
        while kept.len() > 1 && size(&kept) > BUDGET {
            // Removes the section with the lowest score, or the last of them if there are several.
            let Some(at) =
                (0..kept.len()).min_by_key(|&at| (scores[kept[at]], std::cmp::Reverse(at)))
            else {
                break;
            };
            tracing::info!(
                section = self.sections[kept[at]].title,
                "a section of execution instructions is left out: too long"
            );
            kept.remove(at);
        }
        let mut parts: Vec<&str> = kept.iter().map(|&i| self.sections[i].text.trim_end()).collect();
        if !common.is_empty() {
            parts.push(&common);
        }
        let view = |(i, section): (usize, &Section)| SectionView {
            title: section.title.clone(),
            keywords: section.keywords.iter().map(|keyword| keyword.shown.clone()).collect(),
            score: scores[i],
            chosen: kept.contains(&i),
        };
        Chosen {
            text: cut(&parts.join("\n\n"), BUDGET),
            sections: self.sections.iter().enumerate().map(view).collect(),
            whole,
        }
    }
}

impl Section {
    fn score(&self, asked: &[String]) -> u32 {
        let said =
            |keyword: &&Keyword| asked.windows(keyword.term.len()).any(|part| part == keyword.term);
        u32::try_from(self.keywords.iter().filter(said).count()).unwrap_or(u32::MAX)
    }
}

/// Returns the level of a header line, or 0 for other lines.
fn header_level(line: &str) -> usize {
    let level = line.chars().take_while(|c| *c == '#').count();
    if line[level..].starts_with([' ', '\t']) || (level == 3 && line.len() > 3) { level } else { 0 }
}

fn keywords(title: &str, text: &str) -> Vec<Keyword> {
    let mut found: Vec<Keyword> = Vec::new();
    let mut add = |shown: &str| {
        let term: Vec<String> = words(shown).iter().map(|word| stem_word(word)).collect();
        if !term.is_empty() && !found.iter().any(|known| known.term == term) {
            found.push(Keyword { shown: shown.to_owned(), term });
        }
    };
    let of_title = words(title);
    let in_title = |fixed: &&&str| of_title.iter().any(|word| stem_word(word) == stem_word(fixed));
    FIXED.iter().filter(in_title).for_each(|word| add(word));
    let line = text.lines().find(|line| is_keywords(line));
    line.map(quoted_terms).unwrap_or_default().iter().for_each(|term| add(term));
    of_title
        .iter()
        .filter(|word| word.chars().count() >= 5 && !STOP.contains(&word.as_str()))
        .for_each(|word| add(word));
    found
}

/// Whether a line lists the keywords of its section.
fn is_keywords(line: &str) -> bool {
    line.trim_start_matches(['*', '_', '-', ' ']).to_lowercase().starts_with("keywords")
}

/// Returns the quoted terms of a line.
fn quoted_terms(line: &str) -> Vec<String> {
    let plain = line.replace(['“', '”', '„'], "\"");
    plain.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Replaces each `{name}` by its value. An unknown name is kept unchanged.
pub(crate) fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let name_end = from[1..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .map_or(from.len(), |at| at + 1);
        let is_name = name_end > 1 && from[name_end..].starts_with('}');
        match is_name.then(|| value(&from[1..name_end])).flatten() {
            Some(value) => {
                out.push_str(&one_line(&value));
                rest = &from[name_end + 1..];
            }
            None => {
                out.push('{');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Converts a value to a single line and shortens it to the limit.
fn one_line(value: &str) -> String {
    cut(&value.split_whitespace().collect::<Vec<_>>().join(" "), VALUE)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests;
