//! Tests of questions about the product: they are answered with a section of the handbook or
//! declined by name, and questions for the packs are not. The expected sections were written before
//! the index was tried.

use contract::Choice;

use super::world::{Turn, World};
use crate::{
    handbook::{self, Answer},
    reader::Talk,
    social::Social,
    texts::Text,
};

/// Questions in English, with the ids of their sections.
const ENGLISH: &[(&str, &str)] = &[
    ("How do I approve a pending action?", "approve"),
    ("how can I reject a proposal", "approve"),
    ("How do I change the values of an action before I approve it?", "edit-action"),
    ("what happens if an approval expires?", "expired"),
    ("how do I revoke a permission", "permissions"),
    ("how do i make a rule that blocks a tool", "rules"),
    ("How do I import an Excel workbook?", "add-file"),
    ("can I connect a Postgres database?", "database"),
    ("how do I undo an import", "refresh-source"),
    ("how do I remove a source", "remove-source"),
    ("how can i correct the definition of a column", "definitions"),
    ("How do I save a chart as SVG?", "export-table"),
    ("where can I download the table as csv", "export-table"),
    ("how do I pin a result to a board", "pin"),
    ("how do i create a dashboard", "boards"),
    ("How do I rename a conversation?", "conversations"),
    ("how do I archive a chat", "conversations"),
    ("delete my last conversation", "delete-conversation"),
    ("export this chat", "export-conversation"),
    ("change the language", "language"),
    ("how do I search old messages", "find"),
    ("how do I see the previous version of a question", "versions"),
    ("how do I make you forget a note", "memories"),
    ("How do I connect Ollama?", "model"),
    ("where is the API key stored", "keys"),
    ("how do I work without internet", "offline"),
    ("how do i verify the audit log", "audit-verify"),
    ("How do I export the audit log for an auditor?", "audit-export"),
    ("how do I restore a backup", "backups"),
    ("how do I add an MCP server", "servers"),
    ("how do I switch to dark mode", "appearance"),
    ("how do I open the command palette", "keyboard"),
    ("how do I limit what models cost", "cost"),
    ("can i use it on a mac", "limits"),
];

/// Questions in Swedish, with the ids of their sections.
const SWEDISH: &[(&str, &str)] = &[
    ("Hur tar jag bort en konversation?", "delete-conversation"),
    ("hur byter jag språk", "language"),
    ("Hur lägger jag till en fil?", "add-file"),
    ("kan man exportera en konversation?", "export-conversation"),
    ("var hittar jag granskningsloggen", "audit-verify"),
    ("Hur fäster jag ett diagram på en tavla?", "pin"),
    ("hur ansluter jag en databas", "database"),
    ("hur gör jag en säkerhetskopia", "backups"),
    ("hur byter jag modell", "model"),
    ("ta bort min senaste konversation", "delete-conversation"),
];

/// Messages that are no questions about the product, or about something that the handbook lacks.
const NOT_IN_THE_HANDBOOK: &[&str] = &[
    "How do I make a pivot table with slicers?",
    "how do I cook rice",
    "how do I invite my team to a workspace",
    "how can I calculate ROAS",
    "how do I add something to the cart?",
    "what happens if I remove it?",
    "hur lägger man något i varukorgen?",
    "how is account 17 pacing this month?",
    "which campaigns of account 17 are behind",
    "can I return the shoes",
    "add a headlamp to my cart",
    "remove the backpack",
    "what is in my cart?",
    "change the quantity to 3",
    "increase the budget of account 17 to 300k",
];

/// Questions of people who do not know the headings, with the ids of their sections.
const PRODUCT: &str = include_str!("product.tsv");

/// The fewest of these questions that are answered with their section.
const LEAST: usize = 51;

/// Returns the id of the section that answers a message.
fn section_of(turn: &Turn) -> Option<&'static str> {
    match &turn.said.talk {
        Some(Talk::Handbook(Answer::Section(section))) => Some(section.id()),
        _ => None,
    }
}

fn answer(text: &str) -> Turn {
    World::new().say(text)
}

#[test]
fn questions_about_the_product_are_answered_with_their_section() {
    let mut wrong = Vec::new();
    for (text, id) in ENGLISH.iter().chain(SWEDISH) {
        let turn = answer(text);
        assert_eq!(turn.calls, [], "{text}");
        if section_of(&turn) != Some(*id) {
            wrong.push(format!("{text}: {id}, not {:?}", turn.said.talk));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn most_questions_in_other_words_are_answered_with_their_section() {
    let (mut all, mut missed) = (0, Vec::new());
    for line in PRODUCT.lines().filter(|line| !line.starts_with('#')) {
        let [_, text, id] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        all += 1;
        let turn = answer(text);
        if section_of(&turn) != Some(id) {
            missed.push(format!("{text}: {id}, not {:?}", turn.said.talk));
        }
    }
    assert!(all - missed.len() >= LEAST, "of {all} these fail:\n{}", missed.join("\n"));
}

#[test]
fn a_refusal_offers_the_nearest_sections() {
    let turn = answer("how do I make a board with slicers?");
    assert!(matches!(turn.said.talk, Some(Talk::Handbook(Answer::Missing { .. }))), "{turn:?}");
    assert!((1..=2).contains(&turn.choices.len()), "{:?}", turn.choices);
    let section = answer(&turn.choices[0].message);
    assert!(section_of(&section).is_some(), "{}", section.text);
}

#[test]
fn questions_about_chats_and_small_talk_are_not_answered_about_the_cart() {
    for text in [
        "who's there",
        "delete my last conversation",
        "jag vill radera hela historiken",
        "are you a real person",
        "remove the first chat",
    ] {
        let turn = answer(text);
        assert!(turn.calls.is_empty(), "{text}: {:?}", turn.calls);
        let is_about_cart = turn.text.contains("cart") || turn.text.contains("varukorg");
        assert!(!is_about_cart, "{text}: {}", turn.text);
    }
}

#[test]
fn other_questions_are_declined_or_left_to_the_packs() {
    for text in NOT_IN_THE_HANDBOOK {
        let turn = answer(text);
        assert_eq!(section_of(&turn), None, "{text}: {}", turn.text);
    }
    let turn = answer("How do I make a pivot table with slicers?");
    assert!(turn.text.contains("slicers") && turn.text.lines().count() == 1, "{}", turn.text);
    let turn = World::with_sample().say("how is account 17 pacing this month?");
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
}

#[test]
fn an_answer_is_the_section_with_its_heading_first_and_its_place_last() {
    let turn = answer("how do I rename a conversation");
    let lines: Vec<&str> = turn.text.lines().collect();
    assert_eq!(lines.first(), Some(&"**Start, pin, rename or archive a conversation**"));
    assert_eq!(lines.last(), Some(&"Where: *Chat*, the list of conversations."));
    let turn = answer("wie kann ich eine Unterhaltung löschen?");
    assert!(turn.text.starts_with("**Eine Unterhaltung löschen**"), "{}", turn.text);
}

#[test]
fn each_heading_finds_its_own_section() {
    for section in handbook::all_sections() {
        let turn = answer(section.heading());
        assert_eq!(section_of(&turn), Some(section.id()), "{}", section.heading());
        assert!(turn.text.contains(section.heading()), "in its own language: {}", turn.text);
    }
}

#[test]
fn the_handbook_has_the_same_sections_in_each_language() {
    let ids = |tag: &str| -> Vec<&str> {
        let of_language = |section: &handbook::Section| section.language().tag() == tag;
        handbook::all_sections().filter(of_language).map(|section| section.id()).collect()
    };
    let english = ids("en");
    assert!(english.len() > 40, "{english:?}");
    for language in messages::Language::all() {
        assert_eq!(ids(language.tag()), english, "{}", language.tag());
    }
    for section in handbook::all_sections() {
        let lines = section.text().lines().filter(|line| !line.is_empty()).count();
        assert!((2..=8).contains(&lines), "{} has {lines} lines", section.id());
    }
}

#[test]
fn how_questions_never_get_the_list_of_abilities() {
    let is_list = |turn: &Turn| matches!(turn.said.talk, Some(Talk::Social(Social::Help)));
    for text in [
        "how do I add a file",
        "how do I frobnicate",
        "how do I use this",
        "how do i remove something",
        "hur gör jag det",
        "hur tar man bort något",
    ] {
        let turn = answer(text);
        assert!(!is_list(&turn), "{text}: {}", turn.text);
    }
    for text in ["what can you do?", "help", "vad kan du göra", "vad kan du hjälpa mig med"] {
        let turn = answer(text);
        assert!(is_list(&turn), "{text}: {}", turn.text);
    }
}

#[test]
fn a_question_about_how_to_change_something_offers_requests_of_the_pack() {
    let turn = answer("how do I add something to the cart?");
    assert!(turn.calls.is_empty() && turn.text.contains("approve"), "{}", turn.text);
    assert!(!turn.choices.is_empty());
}

#[test]
fn small_talk_with_a_question_is_not_answered_as_small_talk() {
    let turn = answer("hi, how do I connect a database?");
    assert_eq!(section_of(&turn), Some("database"), "{}", turn.text);
    let turn = World::with_sample().say("thanks, and how is account 17 pacing?");
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
}

#[test]
fn a_question_about_the_product_keeps_an_open_question() {
    let mut world = World::new();
    let choices: Vec<Choice> = world.say("add the brook pace in black").choices;
    let asked = world.say("how do I change the language?");
    assert_eq!(section_of(&asked), Some("language"), "{}", asked.text);
    let turn = world.say(&choices[0].message);
    assert_eq!(turn.calls.iter().filter(|call| call.writes).count(), 1, "{}", turn.text);
}

#[test]
fn callers_get_no_section_of_the_handbook() {
    let mut world = World::for_callers();
    for text in ["how do I delete a conversation", "delete my last conversation"] {
        let turn = world.say(text);
        assert_eq!(section_of(&turn), None, "{text}: {}", turn.text);
    }
}

#[test]
fn a_refusal_is_one_short_line_in_each_language() {
    const REFUSALS: &[Text] = &[
        Text::WholeNumber,
        Text::Negated,
        Text::Unranked,
        Text::UnusedWords,
        Text::UnknownName,
        Text::NoOpenQuestion,
        Text::OffTopic,
        Text::CannotDo,
        Text::Dropped,
        Text::AskAgain,
        Text::NotUnderstood,
        Text::WordsNotUnderstood,
        Text::NotInHandbook,
        Text::ToolOff,
        Text::Unfinished,
        Text::Denied,
        Text::Expired,
        Text::NoCallsLeft,
        Text::UnknownOutcome,
        Text::CannotShowMore,
        Text::NoMoreFound,
        Text::NothingFound,
    ];
    for language in messages::Language::all() {
        for text in REFUSALS {
            let text = text.text(language);
            assert!(text.chars().count() <= 160 && !text.contains('\n'), "{text}");
        }
    }
    for text in [
        "does the turbine hum",
        "asdf qwer zxcv",
        "tell me a joke",
        "VTR for copper kettle campaigns last 14 days",
        "how do I frobnicate the widget",
        "how is contoso pacing?",
        "set the budget of account 17 to 200k",
        "where is my parcel",
        "berätta ett skämt",
        "sänk budgeten i konto 42",
        "är den populär",
    ] {
        let turn = answer(text);
        let is_short = turn.text.chars().count() <= 160 && !turn.text.contains('\n');
        assert!(is_short, "{text}: {}", turn.text);
        assert!(turn.choices.len() <= 6, "{text}: {:?}", turn.choices);
    }
}
