//! Makes a summary by a fixed rule: the beginnings of the messages, in order, within a token
//! budget. This method needs no model, never fails, and gives the same summary for the same input.

use crate::conversation::{entries::Entry, window};

/// The number of characters to which each message is first shortened.
const FIRST: usize = 200;
/// The number of characters to which messages are shortened at most before the oldest lines are
/// removed.
const LEAST: usize = 40;
const DROPPED: &str = "- …";

/// Returns the new summary, which consists of the old summary's lines and the new messages. First
/// the longest lines are shortened, then the oldest lines are removed.
pub(crate) fn summary(before: &str, entries: &[Entry], max_tokens: u32) -> String {
    let old = before
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && *line != DROPPED)
        .map(str::to_owned);
    let new = entries.iter().filter_map(|entry| line(entry, FIRST));
    let lines: Vec<String> = old.chain(new).collect();
    let mut most = FIRST;
    loop {
        let shorter: Vec<String> = lines.iter().map(|line| clip(line, most)).collect();
        let text = shorter.join("\n");
        if window::tokens(&text) <= u64::from(max_tokens) {
            return text;
        }
        if most <= LEAST {
            return keep_newest_lines(shorter, max_tokens);
        }
        most /= 2;
    }
}

fn keep_newest_lines(mut lines: Vec<String>, max_tokens: u32) -> String {
    let mut sum: u64 = lines.iter().map(|line| line.chars().count() as u64 + 1).sum();
    let most =
        u64::from(max_tokens).saturating_mul(4).saturating_sub(DROPPED.chars().count() as u64 + 1);
    let gone = lines
        .iter()
        .take_while(|line| {
            let over = sum > most;
            if over {
                sum -= line.chars().count() as u64 + 1;
            }
            over
        })
        .count();
    lines.drain(..gone);
    lines.insert(0, DROPPED.to_owned());
    lines.join("\n")
}

fn line(entry: &Entry, most: usize) -> Option<String> {
    let text = entry.text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| clip(&format!("- {}: {text}", entry.role), most))
}

fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most - 1).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(role: &'static str, text: &str) -> Entry {
        Entry { role, text: text.into() }
    }

    #[test]
    fn a_heuristic_summary_fits_its_limit_and_is_reproducible() {
        let said: Vec<Entry> = (0..60)
            .map(|n| {
                entry(
                    if n % 2 == 0 { "user" } else { "assistant" },
                    &format!("message {n} {}", "word ".repeat(40)),
                )
            })
            .collect();
        for max_tokens in [20, 100, 800, 4_000] {
            let one = summary("", &said, max_tokens);
            assert_eq!(one, summary("", &said, max_tokens));
            assert!(
                window::tokens(&one) <= u64::from(max_tokens),
                "{max_tokens}: {}",
                window::tokens(&one)
            );
            assert!(one.contains("59") || max_tokens == 20, "the newest stays: {one}");
            let two = summary(&one, &[entry("user", "and then?")], max_tokens);
            assert!(two.ends_with("- user: and then?"), "{two}");
            assert!(window::tokens(&two) <= u64::from(max_tokens));
        }
        assert_eq!(
            summary("- user: a", &[entry("assistant", " b\n c ")], 100),
            "- user: a\n- assistant: b c"
        );
    }
}
