//! Creates the title of a conversation from its messages, and decides which message gives it. Knows
//! no greetings: a message has a subject if its turn called a tool, or if it is long.

use contract::{Item, ItemBody};

const TITLE_CHARS: usize = 60;
/// A message with so many letters and digits has a subject even if its turn called no tool.
const LONG: usize = 40;

/// Returns the first line of a message that has letters, without its markup, shortened to the length
/// of a title.
pub(crate) fn title_of(text: &str) -> String {
    let plain = text.lines().map(without_markup).find(|line| letters(line) > 0);
    shorten(&plain.unwrap_or_else(|| text.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// Returns the text of an item that is a message of a person.
fn question_of(item: &Item) -> Option<&str> {
    match &item.body {
        ItemBody::UserMessage { text } => Some(text.as_str()),
        _ => None,
    }
}

/// Whether an item is a message of a person whose text gives this title.
pub(crate) fn is_title_of(title: &str, item: &Item) -> bool {
    let Some(question) = question_of(item) else { return false };
    if title_of(question) == title {
        return true;
    }
    // Earlier versions of the program left other marks out, but kept the letters.
    let (given, said) = (only_letters(title), only_letters(question));
    !given.is_empty() && (given == said || title.ends_with('…') && said.starts_with(&given))
}

/// Returns the title that the items from the beginning of a conversation give, as if they came one
/// after the other, and whether no later message may replace it.
pub(crate) fn title_of_conversation(items: &[&Item]) -> Option<(String, bool)> {
    let mut title = items.iter().find_map(|item| question_of(item)).map(title_of)?;
    for item in items {
        let Some(question) = question_of(item) else { continue };
        let called = items.iter().any(|other| {
            other.turn == item.turn && matches!(other.body, ItemBody::ToolCall { .. })
        });
        match better_title(&title, question, called) {
            Some((better, true)) => return Some((better, true)),
            Some((better, false)) => title = better,
            None => {}
        }
    }
    Some((title, false))
}

/// Returns the title that replaces `current` after a turn, and whether no later message may replace
/// it. `called` is whether the turn called a tool.
pub(crate) fn better_title(current: &str, question: &str, called: bool) -> Option<(String, bool)> {
    let stays = called || letters(question) >= LONG;
    let title = title_of(question);
    // A short reply to a question of the assistant does not replace the question that it is about.
    let is_better = letters(&title) > letters(current);
    (stays || is_better).then(|| (if is_better { title } else { current.to_owned() }, stays))
}

fn only_letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Returns a line of Markdown as plain words: without the marks of headings, lists, quotations,
/// emphasis and code, without the addresses of links and the signs before names.
fn without_markup(line: &str) -> String {
    // A fence only names the language of its code.
    if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
        return String::new();
    }
    let linked = without_addresses(line);
    let mut words = linked.split_whitespace().peekable();
    while words.next_if(|word| is_block_mark(word)).is_some() {}
    // A name at the beginning says who is asked. It is no part of the subject.
    let is_addressed = |word: &&str| word.len() > 1 && word.starts_with('@');
    let asked = words.next_if(is_addressed).filter(|_| words.peek().is_none());
    let words = asked.into_iter().chain(words);
    let plain: Vec<&str> = words.map(without_marks).filter(|word| !word.is_empty()).collect();
    plain.join(" ").replace(['`'], "").replace("**", "")
}

/// Whether a word at the beginning of a line marks a heading, a quotation or an entry of a list.
fn is_block_mark(word: &str) -> bool {
    let is_number = word.strip_suffix(['.', ')']).is_some_and(|number| {
        (1..=2).contains(&number.len()) && number.chars().all(|c| c.is_ascii_digit())
    });
    is_number || matches!(word, "-" | "*" | "+") || word.chars().all(|c| matches!(c, '#' | '>'))
}

/// Returns a word without the marks around it. A mark inside a word is a part of it.
fn without_marks(word: &str) -> &str {
    let marks = ['`', '*'];
    let word = word.strip_prefix('@').filter(|name| !name.is_empty()).unwrap_or(word);
    let trimmed = word.trim_matches(marks);
    // A single mark between two words is an operator.
    if trimmed.is_empty() { word } else { trimmed }
}

/// Replaces `[text](address)` by the text.
fn without_addresses(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(text, target)| {
            let (_, behind) = target.split_once(')')?;
            (!text.contains('[')).then_some((text, behind))
        });
        plain.push_str(before);
        match link {
            Some((text, behind)) => {
                plain.push_str(text);
                rest = behind;
            }
            None => {
                plain.push('[');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// Cuts a title at the end of a word, if one ends in its second half.
fn shorten(line: &str) -> String {
    if line.chars().count() <= TITLE_CHARS {
        return line.to_owned();
    }
    let cut: String = line.chars().take(TITLE_CHARS - 1).collect();
    let whole_words = cut.rsplit_once(char::is_whitespace).map(|(words, _)| words);
    let kept = whole_words.filter(|words| words.chars().count() >= TITLE_CHARS / 2);
    let kept = kept.unwrap_or(&cut).trim_end_matches(|c: char| !c.is_alphanumeric());
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_with_words_without_markup() {
        for (message, title) in [
            ("How is account 17 pacing?", "How is account 17 pacing?"),
            ("\n\n## Spend **by week**\nfor Bluebell", "Spend by week"),
            ("> 1. - Spend of `Bluebell`", "Spend of Bluebell"),
            ("```sql\nSELECT spend_usd FROM t\n```", "SELECT spend_usd FROM t"),
            ("@Guardian how is [account 17](https://x.example/17)?", "how is account 17?"),
            ("@Guardian", "Guardian"),
            ("Ask @Guardian about spend", "Ask Guardian about spend"),
            ("what is 5 * 3 [1]", "what is 5 * 3 [1]"),
            ("2026 spend", "2026 spend"),
            ("10. spend", "spend"),
            ("支出は?", "支出は?"),
            ("???", "???"),
            ("- - -", "- - -"),
        ] {
            assert_eq!(title_of(message), title, "{message}");
        }
    }

    #[test]
    fn a_long_title_ends_with_a_whole_word() {
        let words = "Compare the spend of all accounts of this quarter with the plan of last year";
        assert_eq!(title_of(words), "Compare the spend of all accounts of this quarter with the…");
        let one = "x".repeat(200);
        assert_eq!(title_of(&one), format!("{}…", "x".repeat(TITLE_CHARS - 1)));
        assert!(title_of(&"支".repeat(200)).chars().count() <= TITLE_CHARS);
    }

    #[test]
    fn the_first_message_with_a_tool_call_or_with_many_letters_gives_the_title() {
        let long = "Please explain how the pacing of a campaign is computed";
        for (current, question, called, expected) in [
            ("hi", "How is account 17 pacing?", true, Some("How is account 17 pacing?")),
            ("hi", long, false, Some(long)),
            ("hi", "hi", true, Some("hi")),
            ("Spend by week", "Yes", true, Some("Spend by week")),
        ] {
            let better = better_title(current, question, called);
            assert_eq!(better, expected.map(|title| (title.to_owned(), true)), "{question}");
        }
        let until_then = better_title("hi", "What is a CPM?", false);
        assert_eq!(until_then, Some(("What is a CPM?".to_owned(), false)));
        assert_eq!(better_title("What is a CPM?", "thanks", false), None);
    }

    fn item(turn: &str, text: &str) -> Item {
        Item {
            id: text.into(),
            session: "s".into(),
            turn: turn.into(),
            seq: 1,
            created_at: chrono::DateTime::UNIX_EPOCH,
            body: ItemBody::UserMessage { text: text.into() },
        }
    }

    #[test]
    fn a_title_is_recognised_in_its_message_also_as_earlier_versions_made_it() {
        let long = "x".repeat(200);
        for (title, message, is_its) in [
            ("Spend by week", "## Spend **by week**\nfor Bluebell", true),
            ("@Guardian how is it", "@Guardian **how** is it?", true),
            (&*format!("{}…", &long[..50]), &*long, true),
            ("Spend", "Spend by week", false),
            ("Spend by week…", "Spend by month", false),
            ("", "???", false),
        ] {
            assert_eq!(is_title_of(title, &item("t", message)), is_its, "{title}: {message}");
        }
    }

    #[test]
    fn a_conversation_has_the_title_that_its_messages_gave_one_after_the_other() {
        let said = ["hi", "What is a CPM?", "thanks"].map(|text| item(text, text));
        let all: Vec<&Item> = said.iter().collect();
        assert_eq!(title_of_conversation(&all), Some(("What is a CPM?".to_owned(), false)));
        assert_eq!(title_of_conversation(&all[..1]), Some(("hi".to_owned(), false)));
        assert_eq!(title_of_conversation(&[]), None);
    }
}
