//! Tests of the formatting of answers.

use super::{GrowingAnswer, Screen};
use crate::width::text_width;

const PLAIN: Screen = Screen { width: 40, is_styled: false };
const STYLED: Screen = Screen { width: 40, is_styled: true };

fn formatted(markdown: &str, screen: Screen) -> String {
    let mut answer = GrowingAnswer::new();
    let begun = answer.push(markdown, screen);
    begun + &answer.finish(screen)
}

#[track_caller]
fn shows(markdown: &str, screen: Screen, lines: &[&str]) {
    let shown = formatted(markdown, screen);
    assert_eq!(shown.lines().collect::<Vec<_>>(), lines, "{markdown:?} is shown as\n{shown}");
}

#[test]
fn markdown_becomes_lines_of_text() {
    let table: &[(&str, &[&str])] = &[
        ("", &[]),
        ("Two\nlines of **one** paragraph", &["Two", "lines of one paragraph"]),
        (r"So $x_1 * y_2$ and \(\frac{a}{b}\) ", &[r"So $x_1 * y_2$ and \(\frac{a}{b}\)"]),
        ("$$\nx_1\n= y_1\n$$\nAfter", &["$$", "x_1", "= y_1", "$$", "", "After"]),
        ("# Title\nText\n\nMore", &["Title", "", "Text", "", "More"]),
        (r"my\_campaign\_1 \*not bold\* 5 \| 6", &["my_campaign_1 *not bold* 5 | 6"]),
        (
            "A line that is longer than the terminal is wide",
            &["A line that is longer than the terminal", "is wide"],
        ),
        ("One  \nTwo<br>Three", &["One", "Two", "Three"]),
        ("- one\n- two\n  - three", &["• one", "• two", "  • three"]),
        ("9. one\n10. two", &["9. one", "10. two"]),
        (
            "- an item that is longer than the terminal is wide\n",
            &["• an item that is longer than the", "  terminal is wide"],
        ),
        ("- [x] done\n- [ ] open", &["• [x] done", "• [ ] open"]),
        ("-\n- b", &["•", "• b"]),
        ("> quoted\n>\n> again", &["> quoted", ">", "> again"]),
        ("See [the guide](https://a.example/g_1).", &["See the guide (https://a.example/g_1)."]),
        ("<https://a.example> and <me@a.example>", &["https://a.example and me@a.example"]),
        ("![A red shoe](https://a.example/p.png)", &["A red shoe"]),
        ("Type `a_b  **c**` now", &["Type `a_b  **c**` now"]),
        (
            "```sql\nSELECT  *\n  FROM a_b -- **x**\n\nEND\n```",
            &["SELECT  *", "  FROM a_b -- **x**", "", "END"],
        ),
        ("a\n\n---\n\nb", &["a", "", "────────────────────────────────────────", "", "b"]),
        ("<b>as text</b> &amp; more", &["<b>as text</b> & more"]),
    ];
    for (markdown, lines) in table {
        shows(markdown, PLAIN, lines);
    }
}

#[test]
fn bold_text_and_headings_are_styled_on_request_only() {
    let table: &[(&str, &[&str])] = &[
        ("**Two words** here", &["\u{1b}[1mTwo words\u{1b}[0m here"]),
        ("# A *b*", &["\u{1b}[1mA\u{1b}[0m \u{1b}[1;3mb\u{1b}[0m"]),
        ("~~gone~~ `code`", &["\u{1b}[9mgone\u{1b}[0m `code`"]),
        (
            "**a paragraph of many words that does not fit**",
            &["\u{1b}[1ma paragraph of many words that does not\u{1b}[0m", "\u{1b}[1mfit\u{1b}[0m"],
        ),
        ("| A |\n|---|\n| **b** |", &["\u{1b}[1mA\u{1b}[0m", "─", "\u{1b}[1mb\u{1b}[0m"]),
    ];
    for (markdown, lines) in table {
        shows(markdown, STYLED, lines);
        assert!(!formatted(markdown, PLAIN).contains('\u{1b}'), "{markdown:?}");
    }
}

#[test]
fn tables_are_aligned_within_the_terminal() {
    let table: &[(&str, &[&str])] = &[
        (
            "| Day | Spend | Share |\n|---|---|---:|\n| 24 Nov | 1,504 USD | – |\n| 3 Nov | 965 USD | −17.4% |",
            &[
                "Day         Spend   Share",
                "──────  ─────────  ──────",
                "24 Nov  1,504 USD       –",
                "3 Nov     965 USD  −17.4%",
            ],
        ),
        (
            "| Name | Place |\n|---|:---:|\n| 東京 | x |\n| A\u{30a}sa |  |\n| a \\| b | y |",
            &["Name   Place", "─────  ─────", "東京     x", "A\u{30a}sa", "a | b    y"],
        ),
        (
            "| Campaign | Advertiser | Spent so far |\n|---|---|---|\n| Glacier Tents - Family Dome | Glacier Tents | 10,954 USD |",
            &[
                "Campaign      Advertiser    Spent so far",
                "────────────  ────────────  ────────────",
                "Glacier       Glacier         10,954 USD",
                "Tents -       Tents",
                "Family Dome",
            ],
        ),
        (
            "| Part | Id |\n|---|---|\n| Shoe | abcdefghijklmnopqrstuvwxyz_0123456789abcdef |",
            &[
                "Part  Id",
                "────  ──────────────────────────────────",
                "Shoe  abcdefghijklmnopqrstuvwxyz_0123456",
                "      789abcdef",
            ],
        ),
        (
            "| First column | Second column | Third column | Fourth column |\n|---|---|---|---|\n| a word or two | b word or two | c word or two | d word or two |\n| e | f | g | h |",
            &[
                "First column: a word or two",
                "Second column: b word or two",
                "Third column: c word or two",
                "Fourth column: d word or two",
                "",
                "First column: e",
                "Second column: f",
                "Third column: g",
                "Fourth column: h",
            ],
        ),
        (
            "- Rows:\n\n  | A | B |\n  |---|---|\n  | a | b |",
            &["• Rows:", "  A  B", "  ─  ─", "  a  b"],
        ),
    ];
    for (markdown, lines) in table {
        shows(markdown, PLAIN, lines);
    }
}

#[test]
fn a_table_fits_every_terminal_and_keeps_its_amounts_whole() {
    let table = "| Campaign | 広告主 | Spent so far |\n|---|---|---:|\n| Glacier Tents - Family Dome | 氷河テント株式会社 | 10,954 USD |";
    for width in 24..=120 {
        let shown = formatted(table, Screen { width, is_styled: false });
        assert!(shown.lines().all(|line| text_width(line) <= width), "at {width}:\n{shown}");
        assert!(shown.contains("10,954 USD"), "at {width}:\n{shown}");
    }
}

#[test]
fn no_control_character_of_the_markdown_source_is_printed() {
    let sources = [
        "a \u{1b}[2J b\u{7}",
        "**a \u{1b}]0;x\u{7}**",
        "entity &#27;[2J and &#x9b;2J",
        "`code \u{1b}[2J`",
        "```\u{1b}[1m\ncode \u{1b}[2J \u{202e}\n```",
        "[text](https://a.example/\u{1b}[2J \"title \u{1b}[2J\")",
        "[text](https://a.example/&#27;[2J)",
        "<b \u{1b}[2J>html</b>",
        "<div>\n\u{1b}[2J\n</div>",
        "| a \u{1b}[2J |\n|---|\n| &#27;[2J \u{202e} |",
    ];
    for source in sources {
        let shown = formatted(source, PLAIN);
        let passed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(passed), "{source:?} is shown as {shown:?}");
        assert!(shown.contains("\\u{"), "{source:?} is shown as {shown:?}");
    }
}

#[test]
fn a_streamed_answer_prints_each_block_once_as_soon_as_it_is_complete() {
    let text = "**Bold** text\nof two lines.\n\n- a\n- b\n\n| A | B |\n|---|---|\n| a | b |\n| c | d |\n\nLast";
    let whole = formatted(text, PLAIN);
    for size in 1..text.len() {
        let mut answer = GrowingAnswer::new();
        let mut shown = String::new();
        for piece in text.as_bytes().chunks(size) {
            shown += &answer.push(std::str::from_utf8(piece).unwrap(), PLAIN);
        }
        shown += &answer.finish(PLAIN);
        assert_eq!(shown, whole, "in pieces of {size}");
    }
    let mut answer = GrowingAnswer::new();
    assert_eq!(answer.push("A paragraph", PLAIN), "");
    assert_eq!(answer.push(" of two pieces.\n\nThe", PLAIN), "A paragraph of two pieces.\n");
    assert_eq!(answer.flush(PLAIN), "\nThe\n");
    assert_eq!(answer.push("next\n\n", PLAIN), "\nnext\n");
    assert_eq!(answer.finish(PLAIN), "");
    assert_eq!(answer.push("Another\n\n", PLAIN), "Another\n");
}

#[test]
fn a_table_with_many_rows_has_one_line_for_each_and_says_what_is_missing() {
    let head = "| Campaign | Cost | Clicks | Comment | More |\n| --- | --: | --: | --- | --- |\n";
    let row = "| Spring sale for all regions | 1,234.50 | 1,200 | nothing to say | more words |\n";
    let shown = formatted(&format!("{head}{}", row.repeat(12)), PLAIN);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "Campaign        Cost  Clicks  Comment");
    assert_eq!(lines[2], "Spring sa…  1,234.50   1,200  nothing t…");
    assert_eq!(lines[2..14], [lines[2]; 12]);
    assert_eq!(
        lines[14..].join(" "),
        "Shortened: Campaign, Comment. Not shown: More. --json has everything."
    );
    assert!(lines.iter().all(|line| text_width(line) <= 40), "{shown}");
    let short = format!("| a | b |\n| --- | --- |\n{}", "| x | 1 |\n".repeat(12));
    assert_eq!(formatted(&short, PLAIN).lines().count(), 14);
}
