//! The questions about stored rows that are not in a file: their words, answers and options. Pure: it
//! does not know when they are asked.

use contract::{Amount, Text, sources::ImportQuestion, text};

use super::{
    comparing::{Renamed, Vanished},
    questions::{KEEP, RENAMED, REPLACE, answer_option, choice},
};

/// The most renamed things that a question names.
const SHOWN: usize = 5;

/// Former rows that are not in a file.
pub(super) struct Leaving {
    /// The number of rows with amounts.
    pub(super) count: u64,
    /// Names that nothing in the file looks like.
    pub(super) examples: Vec<Vanished>,
    /// Names that were probably changed.
    pub(super) renamed: Vec<Renamed>,
    /// Whether the other rows stay in any case.
    pub(super) is_by_key: bool,
    /// The decimals of the sums.
    pub(super) places: u8,
}

/// Asks what becomes of rows that are not in the file.
pub(super) fn ask_vanished(leaving: &Leaving) -> ImportQuestion {
    let Leaving { count, examples, renamed, is_by_key, places } = leaving;
    let is_mixed = !renamed.is_empty() && !examples.is_empty() && !is_by_key;
    let shown = || listed(examples.iter().map(|one| show_vanished(one, *places)));
    let names = || listed(renamed.iter().take(SHOWN).map(show_renamed));
    let text = match renamed.as_slice() {
        [] if *count == 1 => text!(
            "A stored row with an amount is no longer in the file, although it covers its day: {examples}. Take it out?",
            examples = shown()
        ),
        [] => text!(
            "{count} stored rows with amounts are no longer in the file, although it covers their days: {examples}. Take them out?",
            count = *count,
            examples = shown()
        ),
        _ if is_mixed => text!(
            "Names are no longer in the file, but others have the same sums on the same days, so they were probably renamed: {names}. Other stored rows with amounts are not in the file either, although it covers their days: {examples}. Which rows are taken out?",
            names = names(),
            examples = shown()
        ),
        [Renamed { from, to }] => text!(
            "{from} is no longer in the file, but {to} has the same sums on the same days. It was probably renamed. Take the former rows out?",
            from,
            to
        ),
        _ => text!(
            "Names are no longer in the file, but others have the same sums on the same days, so they were probably renamed: {names}. Take the former rows out?",
            names = names()
        ),
    };
    let choices = if is_mixed {
        vec![
            choice(REPLACE, "All of them: the file is complete"),
            choice(RENAMED, "Only those of the renamed"),
            choice(KEEP, "None: the file has only a part"),
        ]
    } else if *is_by_key {
        vec![choice(RENAMED, "Yes, they were renamed"), choice(KEEP, "No, keep them")]
    } else {
        vec![
            choice(REPLACE, "Yes, the file is complete"),
            choice(KEEP, "No, keep them: the file has only a part"),
        ]
    };
    let values: Vec<&str> = choices.iter().map(|choice| choice.value.as_str()).collect();
    let option = answer_option("vanished", &values.join("|"));
    ImportQuestion { id: "vanished".to_owned(), text, choices, option }
}

/// Asks what becomes of rows that are not in the file, if stored rows also come from another file.
pub(super) fn ask_other_file(count: u64, other: &str) -> ImportQuestion {
    ImportQuestion {
        id: "vanished".to_owned(),
        text: text!(
            "Stored rows that are not in the file: {count}. Stored rows also come from {other}. Take the rows out that are not in the file?",
            count,
            other
        ),
        choices: vec![
            choice(REPLACE, "Yes, the file is complete"),
            choice(KEEP, "No, keep them: the file has only a part"),
        ],
        option: answer_option("vanished", "replace|keep"),
    }
}

/// Lists texts, which keep their keys.
fn listed(texts: impl Iterator<Item = Text>) -> Text {
    texts.reduce(|all, next| text!("{all}; {next}", all, next)).unwrap_or_default()
}

fn show_renamed(one: &Renamed) -> Text {
    text!("{from} \u{2192} {to}", from = &one.from, to = &one.to)
}

fn show_vanished(one: &Vanished, places: u8) -> Text {
    let sum = Amount::new(&one.sum, places, one.currency.as_deref());
    let name = &one.name;
    match (&one.first, &one.last) {
        (Some(first), Some(last)) if first != last => {
            text!("{name} ({first} \u{2013} {last}: {sum})", name, first, last, sum)
        }
        (Some(day), _) => text!("{name} ({day}: {sum})", name, day, sum),
        _ => text!("{name} ({sum})", name, sum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_things_and_other_vanished_rows_are_asked_about_apart() {
        let renamed = vec![Renamed { from: "Oak".into(), to: "Elm".into() }];
        let vanished = Vanished {
            name: "Ash".into(),
            first: Some("2026-11-01".into()),
            last: Some("2026-11-02".into()),
            sum: "1234.500".into(),
            currency: Some("EUR".into()),
        };
        let leaving = |examples: Vec<Vanished>, is_by_key| {
            let question = ask_vanished(&Leaving {
                count: 4,
                examples,
                renamed: renamed.clone(),
                is_by_key,
                places: 2,
            });
            let values: Vec<String> =
                question.choices.iter().map(|choice| choice.value.clone()).collect();
            (question.text.to_string(), values)
        };
        let (text, values) = leaving(vec![vanished.clone()], false);
        assert!(text.contains("Oak → Elm"), "{text}");
        assert!(text.contains("Ash (2026-11-01 – 2026-11-02: 1,234.50 EUR)"), "{text}");
        assert_eq!(values, [REPLACE, RENAMED, KEEP]);
        assert_eq!(leaving(Vec::new(), false).1, [REPLACE, KEEP]);
        let (text, values) = leaving(vec![vanished], true);
        assert!(!text.contains("Ash"), "rows with other keys stay: {text}");
        assert_eq!(values, [RENAMED, KEEP]);
    }
}
