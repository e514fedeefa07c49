//! Tests the rules of the reference for execution instructions.

use super::*;

const FILE: &str = "# Reading\nQuote figures.\n\n### When the user asks about trends\n**Keywords**: \"last days\", \"going up\"\n- TREND {account_id}\n\n\
    ### When the user asks for calculations\n**Keywords**: \"formula\", \"average\"\n- CALC\n```\n### not a header\n```\n\n### When the user asks about budget status\n- BUDGET\n\n\
    ## In every answer\nName the account.\n";

fn chosen(question: &str) -> Vec<String> {
    Guide::parse(FILE)
        .choose(question)
        .sections
        .into_iter()
        .filter(|section| section.chosen)
        .map(|section| section.title)
        .collect()
}

#[test]
fn guidance_sections_start_at_third_level_headings_and_other_text_is_common() {
    let guide = Guide::parse(FILE);
    assert_eq!(guide.sections.len(), 3, "a header inside a code fence is none");
    assert!(guide.common.contains("Quote figures.") && guide.common.contains("Name the account."));
    let chosen = guide.choose("what is the trend?");
    assert!(
        chosen.text.contains("TREND")
            && !chosen.text.contains("CALC")
            && !chosen.text.contains("BUDGET")
    );
    assert!(chosen.text.trim_end().ends_with("Name the account."), "what is common stands last");
}

#[test]
fn guidance_keywords_match_whole_stemmed_words_and_terms_match_as_phrases() {
    assert_eq!(chosen("Please calculate it"), ["When the user asks for calculations"]);
    assert_eq!(chosen("the calculation, please"), ["When the user asks for calculations"]);
    assert_eq!(
        chosen("What is the average over the LAST 3 days?"),
        ["When the user asks for calculations"],
        "`last days` is a phrase"
    );
    assert_eq!(chosen("is it going up in the last days?"), ["When the user asks about trends"]);
    assert_eq!(
        chosen("TRENDS and budgets"),
        ["When the user asks about trends", "When the user asks about budget status"],
        "in the file's order"
    );
    assert_eq!(chosen("a trendy thing").len(), 3, "no whole word fits: the whole file");
    for words in [
        ["calculate", "calculation"],
        ["calculations", "calculated"],
        ["trend", "trends"],
        ["budgeting", "budget"],
        ["pacing", "paced"],
    ] {
        assert_eq!(stem_word(words[0]), stem_word(words[1]), "{words:?}");
    }
}

#[test]
fn guidance_is_given_as_a_whole_if_no_section_matches() {
    let chosen = Guide::parse(FILE).choose("hello");
    assert!(
        chosen.whole
            && ["TREND", "CALC", "BUDGET", "Quote figures."]
                .iter()
                .all(|text| chosen.text.contains(text))
    );
}

#[test]
fn guidance_headings_give_keywords_of_five_letters_or_more_without_filler_words() {
    let guide = Guide::parse("### When the user asks about delivery\n- x\n### Other\n- y\n");
    let terms: Vec<&str> =
        guide.sections[0].keywords.iter().map(|keyword| keyword.shown.as_str()).collect();
    assert_eq!(terms, ["delivery"], "neither `about` nor `when`");
}

#[test]
fn guidance_that_is_too_long_loses_its_least_matching_sections() {
    let long = "x".repeat(3_500);
    let file = format!("### Trend\n{long}\n### Budget trend\n{long}\n### Risk\n{long}\n");
    let chosen = Guide::parse(&file).choose("trend of the budget, and risk");
    let kept: Vec<&str> = chosen
        .sections
        .iter()
        .filter(|section| section.chosen)
        .map(|section| section.title.as_str())
        .collect();
    assert_eq!(kept, ["Budget trend"], "it fits two words");
    assert!(chosen.text.chars().count() <= BUDGET);
    let common = Guide::parse(&"y".repeat(5_000)).choose("anything");
    assert_eq!(common.text.chars().count(), COMMON);
}

#[test]
fn guidance_placeholders_are_filled_once_and_values_are_not_expanded() {
    let value = |name: &str| match name {
        "question" => Some("a\n### header {account_id}".to_owned()),
        "account_id" => Some("17".to_owned()),
        "advertiser_filter" => Some("None".to_owned()),
        _ => None,
    };
    assert_eq!(
        fill("{question}|{account_id}|{advertiser_filter}|{unknown}|{ x }|{", value),
        "a ### header {account_id}|17|None|{unknown}|{ x }|{"
    );
    assert_eq!(fill("{question}", |_| Some("z".repeat(900))).chars().count(), VALUE);
}
