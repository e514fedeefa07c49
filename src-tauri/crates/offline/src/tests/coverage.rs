//! Tests of the coverage rule: unused words that would change the question prevent an answer, other
//! unused words are reported, and a message can be explained.

use serde_json::json;

use super::world::{World, model, now};
use crate::goal::{Doubt, Outcome};

/// Returns the unused words that prevented an answer to a message, if any.
fn refused(text: &str) -> Vec<String> {
    let turn = World::new().say(text);
    let words = turn.said.outcomes.iter().flat_map(|(_, outcome)| match outcome {
        Outcome::Doubt(Doubt::Unused(words)) => words.clone(),
        Outcome::Doubt(Doubt::UnknownName(name)) => vec![name.clone()],
        _ => Vec::new(),
    });
    let words: Vec<String> = words.collect();
    assert!(words.is_empty() || turn.calls.is_empty(), "{text}: {:?}", turn.calls);
    words
}

#[test]
fn a_question_with_an_unsupported_word_that_changes_its_meaning_is_not_answered() {
    for (text, word) in [
        ("VTR for copper kettle campaigns last 14 days", "VTR"),
        ("break down fjord routes by shoe size", "by shoe"),
        ("which campaigns are not profitable", "not"),
        ("which Glacier Tents campaigns don't end before Christmas", "don't"),
        ("how much did northwind spend on 31 september", "31"),
        ("is account 17 more than 15% over pace", "15%"),
        ("what share of Kestrel Travel's November spend comes from Juniper Stays?", "share"),
        ("how is the winter cruises campaign pacing", "winter cruises"),
        ("everything except glacier tents, spend in november", "except"),
    ] {
        let words = refused(text);
        assert!(words.iter().any(|found| found.contains(word)), "{text}: {words:?}");
    }
}

#[test]
fn an_answer_about_today_says_that_the_day_is_not_over() {
    let turn = World::new().say("how much has account 17 spent today");
    assert!(turn.text.contains("so far"), "{}", turn.text);
    let turn = World::new().say("how much did account 17 spend yesterday");
    assert!(!turn.text.contains("so far"), "{}", turn.text);
}

#[test]
fn number_words_in_a_search_are_converted_to_digits() {
    let all = calls("two person tent under 5000 kr that's in stock");
    assert_eq!(all[0].1["query"], "2 person tent", "{all:?}");
}

#[test]
fn unused_words_are_listed_below_the_answer() {
    let turn = World::new().say("how is account 17 pacing this month for the board");
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
    assert!(turn.text.contains("I did not use “board”."), "{}", turn.text);
}

#[test]
fn text_in_quotation_marks_is_not_read_as_a_request() {
    for text in [
        "How do you say \"the budget is spent\" in Swedish?",
        "översätt \"we are slightly behind plan\" till svenska",
    ] {
        assert_eq!(calls(text), [], "{text}");
    }
    let all = calls("how is the \"Glacier Tents\" campaign pacing");
    assert_eq!(all.len(), 1, "{all:?}");
}

#[test]
fn a_message_outside_all_packs_is_not_reported_as_an_unknown_name() {
    for text in [
        "book a flight to Oslo next Wednesday, not before noon",
        "can you help me write a mail to my boss about being sick tomorrow",
        "why does my sql give \"column must appear in the GROUP BY clause\"",
    ] {
        assert_eq!(refused(text), Vec::<String>::new(), "{text}");
        let turn = World::new().say(text);
        assert!(turn.text.contains("no installed pack covers it"), "{}", turn.text);
    }
}

#[test]
fn a_reference_such_as_of_them_that_is_ignored_is_reported() {
    let turn = World::new().say("how many campaigns are live, and how many of them are behind");
    assert!(turn.text.contains("I did not use “of them”."), "{}", turn.text);
    let turn = World::new().say("how many campaigns are live, and how many are behind");
    assert!(!turn.text.contains("I did not use"), "{}", turn.text);
}

#[test]
fn a_period_with_only_an_end_starts_with_the_month() {
    let text = "which campaigns in account 42 will run out of budget before the end of the month";
    let all = calls(text);
    let dates = |name: &str| all[0].1[name].as_str().unwrap_or_default().to_owned();
    assert_eq!(dates("campaign_start"), "2026-11-01", "{all:?}");
    assert_eq!(dates("campaign_end"), "2026-11-30", "{all:?}");
    // A past period has no month to begin with.
    let all = calls("spend of account 42 until 15 october");
    assert_eq!(all[0].1, json!({"account_id": "42", "campaign_end": "2026-10-15"}));
    // Campaigns requested by their end date end in the future.
    let all = calls("which campaigns of account 42 end before 15 february");
    assert_eq!(all[0].1["ends_until"], "2027-02-14", "{all:?}");
}

#[test]
fn a_hyphen_in_a_name_is_not_read_as_a_minus_sign() {
    let all = calls("what happens if we raise the budget of Juniper Stays - Cabins by 20%");
    assert_eq!(all[0].1["budget_change_percent"], 20, "{all:?}");
}

#[test]
fn a_number_with_a_unit_is_not_read_as_a_price() {
    for text in [
        "i need a head torch with at least 400 lumens under 700",
        "which backpacks hold more than 50 litres?",
    ] {
        let all = calls(text);
        let has_price = all.iter().any(|(_, args)| args["filters"].get("minPrice").is_some());
        assert!(!has_price, "{text}: {all:?}");
    }
}

#[test]
fn a_question_about_sizes_or_colours_of_a_product_is_answered_for_them() {
    for (text, answer) in [
        ("is the Ridge Shell available in XL orange", "**Ridge Shell** in XL orange is"),
        ("is the Ridge Trek available in size 60", "No: **Ridge Trek** does not come in 60."),
        (
            "what colours does the Brook Mid come in and do you have it in 42",
            "No: **Brook Mid** does not come in 42.",
        ),
        ("how much is the Ridge Trek in brown", "I did not use “brown”."),
        ("what do two Ridge Bottles cost", "**2 × Ridge Bottle** cost 218.00\u{a0}SEK"),
        ("tell me about three Ridge Bottles", "I did not use “3”."),
        ("how many Ridge Socks are left in pink 39-41?", "in pink 39 41 is in stock"),
        ("how much does the Ridge Down weigh?", "Weight:"),
        ("how much are the Ridge Shell and the Ridge Trek together", "“Trek” and “together”."),
    ] {
        let turn = World::new().say(text);
        assert!(turn.text.contains(answer), "{text}: {}", turn.text);
    }
    let mut world = World::new();
    world.locale = "sv".into();
    let turn = world.say("finns Ridge Trek i storlek 44 i brunt");
    assert!(turn.text.contains("**Ridge Trek** i 44 brunt finns i lager."), "{}", turn.text);
    assert!(!turn.text.contains("Svart"), "{}", turn.text);
}

#[test]
fn search_limits_are_read_from_alternative_wordings() {
    for (text, arguments) in [
        (
            "jackor mellan 1000 och 2000 kronor",
            json!({"query": "jackor", "filters": {"minPrice": 1000, "maxPrice": 2000}}),
        ),
        ("tents that aren't sold out", json!({"query": "tents", "filters": {"inStock": true}})),
        ("show me jakcets", json!({"query": "jackets"})),
        ("how many tents do you have", json!({"query": "tents"})),
    ] {
        assert_eq!(calls(text), [("product.search".into(), arguments)], "{text}");
    }
    let turn = World::new().say("4 person tent for less than 5000 kr");
    assert!(!turn.text.contains("No result names"), "{}", turn.text);
}

#[test]
fn a_search_with_an_unsupported_comparison_is_not_made() {
    for (text, words) in [
        ("show me tents that weigh under 2.5 kg", "under 2.5 kg"),
        ("stoves that weigh less than 300 g", "less than 300 g"),
        ("show me a warmer sleeping bag", "warmer"),
        ("red or blue trekking poles max 1000kr", "red or blue"),
        ("I need a tent and a sleeping bag for under 5000 total", "tent and sleeping"),
        ("behöver byxor och vandringsstavar, båda svarta", "byxor och vandringsstavar"),
        ("which tent is the lightest", "lightest"),
    ] {
        assert!(refused(text).contains(&words.to_owned()), "{text}: {:?}", refused(text));
    }
}

#[test]
fn a_number_after_in_means_an_account_only_in_pacing_questions() {
    let all = calls("which campaigns in 23 are overspending right now");
    let expected = json!({"account_id": "23", "status": "overspending"});
    assert_eq!(all, [("analyze_portfolio_pacing".into(), expected)]);
    let all = calls("do you have trail shoes in 42");
    assert_eq!(all[0].0, "product.search", "{all:?}");
    assert_eq!(all[0].1["query"], "trail shoes 42", "{all:?}");
}

#[test]
fn a_what_if_question_uses_the_given_budget_or_daily_rate() {
    for (text, arguments) in [
        (
            "what if Glacier Tents spends 600 USD per day",
            json!({"account_id": "17", "advertiser_filter": "Glacier Tents", "daily_rate": 600}),
        ),
        (
            "what if we raise the budget of account 17 to 31200",
            json!({"account_id": "17", "campaign_budget": 31200}),
        ),
        (
            "what if the budget of account 42 is raised by 2000 EUR",
            json!({"account_id": "42", "budget_change_amount": 2000}),
        ),
    ] {
        let all = calls(text);
        assert_eq!(all, [("analyze_portfolio_pacing".into(), arguments)], "{text}");
    }
}

#[test]
fn periods_days_and_orders_are_read_from_alternative_wordings() {
    for (text, arguments) in [
        (
            "spend of account 17 compared to october",
            json!({"account_id": "17", "compare_start": "2026-10-01", "compare_end": "2026-10-31"}),
        ),
        (
            "daily spend of account 42 this week",
            json!({"account_id": "42", "by": "day", "campaign_start": "2026-11-16", "campaign_end": "2026-11-22"}),
        ),
        ("list campaigns of account 17 by last day", json!({"account_id": "17", "order": "ends"})),
    ] {
        let all = calls(text);
        assert_eq!(all, [("analyze_portfolio_pacing".into(), arguments)], "{text}");
    }
    let all = calls("Display vs Native in Living Room Refresh: spend and CPM");
    let pacing: Vec<_> = all.iter().filter(|(tool, _)| tool != "product.search").collect();
    assert!(pacing.iter().all(|(_, args)| args["campaign"] == "c118"), "{all:?}");
    let all = calls("What did Glacier Tents spend in October vs September?");
    assert_eq!(all[0].1["compare_start"], "2026-09-01", "{all:?}");
    let all = calls("How much would Island Hopping end at if we cut daily spend by 15%?");
    assert_eq!(all[0].1["daily_rate_change_percent"], -15, "{all:?}");
    let turn = World::new().say("hur mycket har Bluebell Home spenderat hittills i november?");
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
    let turn = World::new().say("Did City Breaks spend more on weekends than weekdays in October?");
    assert!(turn.calls[0].arguments["by"] == "weekday", "{}", turn.text);
    let turn = World::new().say("snitt CPM för Kestrel Travel per månad sedan juni");
    assert!(turn.text.contains("| Per tusen |"), "{}", turn.text);
    let turn = World::new().say("which day had the highest spend in october for account 17");
    assert!(turn.text.contains("was the day with the highest spend"), "{}", turn.text);
}

#[test]
fn numbers_of_a_search_that_no_result_contains_are_reported() {
    let turn = World::new().say("waterproof boots size 30");
    assert!(turn.text.contains("“30”"), "{}", turn.text);
    let turn = World::new().say("waterproof boots size 41");
    assert!(!turn.text.contains("“41”"), "{}", turn.text);
}

#[test]
fn pacing_changes_lists_and_periods_are_read_from_the_message() {
    for (text, arguments) in [
        (
            "what happens if we raise the daily budget of account 17 by 20%",
            vec![json!({"account_id": "17", "daily_rate_change_percent": 20})],
        ),
        (
            "what if we cut the budget of account 17 by 10 percent",
            vec![json!({"account_id": "17", "budget_change_percent": -10})],
        ),
        ("how is 23 and 42 pacing", vec![json!({"account_id": "23"}), json!({"account_id": "42"})]),
        (
            "spend for bluebell and kestrel in october",
            ["23", "42"]
                .map(|id| {
                    json!({
                        "account_id": id,
                        "campaign_start": "2026-10-01",
                        "campaign_end": "2026-10-31",
                    })
                })
                .to_vec(),
        ),
    ] {
        let turn = World::new().say(text);
        let made: Vec<_> = turn.calls.iter().map(|call| call.arguments.clone()).collect();
        assert_eq!(made, arguments, "{text}: {}", turn.text);
    }
}

#[test]
fn a_question_about_all_accounts_gets_one_combined_answer() {
    let turn = World::new().say("How are all accounts pacing this month?");
    assert_eq!(turn.calls[0].tool, "compare_accounts");
    for part in ["Northwind Outdoor", "Bluebell Home", "Kestrel Travel", "USD", "GBP", "EUR"] {
        assert!(turn.text.contains(part), "{part} is missing in\n{}", turn.text);
    }
}

#[test]
fn explain_shows_corrections_clauses_intents_and_goals_of_a_message() {
    let text = "spend for bluebel and kestrel in october for the board";
    let explained = model().explain(text, now(), "Europe/Stockholm", None);
    assert_eq!(explained.corrected.len(), 1, "{explained:?}");
    assert_eq!(explained.clauses.len(), 2, "{explained:?}");
    assert!(explained.clauses[0].intents[0].is_chosen);
    let [first, second] = &explained.goals[..] else { panic!("{explained:?}") };
    assert_eq!(first.arguments["campaign_start"], "2026-10-01");
    assert_eq!(second.arguments["account_id"], "42");
    assert_eq!(second.unused, ["board"], "{second:?}");
    assert!(explained.otherwise.is_none());
    let other = model().explain("asdfgh jkl", now(), "Europe/Stockholm", None);
    assert_eq!(other.otherwise.as_deref(), Some("not_understood"));
}

/// Returns the calls that a message leads to.
fn calls(text: &str) -> Vec<(String, serde_json::Value)> {
    let turn = World::new().say(text);
    turn.calls.into_iter().map(|call| (call.tool, call.arguments)).collect()
}

#[test]
fn a_list_question_without_an_account_covers_all_or_the_last_mentioned_one() {
    let all = json!({"detail": "campaigns", "status": "behind"});
    assert_eq!(calls("which campaigns are behind"), [("compare_accounts".into(), all.clone())]);
    let mut world = World::new();
    world.say("how is account 23 doing");
    let turn = world.say("which campaigns are behind");
    assert_eq!(turn.calls[0].arguments["account_id"], "23", "{}", turn.text);
    let turn = world.say("and which campaigns are behind in all accounts");
    assert_eq!(turn.calls[0].tool, "compare_accounts", "{}", turn.text);
    let turn = world.say("which campaigns have ended");
    assert_eq!(turn.calls[0].tool, "compare_accounts", "{}", turn.text);
    assert_eq!(
        calls("top 5 campaigns by spend, all three accounts"),
        [("compare_accounts".into(), json!({"detail": "campaigns", "order": "spend", "limit": 5}))]
    );
}

#[test]
fn bounds_and_exclusions_are_assigned_to_the_right_argument() {
    for (text, arguments) in [
        (
            "campaigns of kestrel with less than 2 weeks left and more than 30% of budget remaining",
            json!({"account_id": "42", "ends_until": "2026-12-04", "exclude": "ended", "used_max": 70}),
        ),
        (
            "which campaigns of account 17 are between 95 and 105 percent",
            json!({"account_id": "17", "pace_min": 95, "pace_max": 105}),
        ),
        (
            "the three worst campaigns of account 17, but not the ones that have ended",
            json!({"account_id": "17", "order": "worst", "limit": 3, "exclude": "ended"}),
        ),
        (
            "campaigns of account 17 that are not behind",
            json!({"account_id": "17", "exclude": "behind"}),
        ),
    ] {
        assert_eq!(calls(text), [("analyze_portfolio_pacing".into(), arguments)], "{text}");
    }
}

#[test]
fn an_ambiguous_campaign_name_selects_all_matches() {
    let three = calls("brand always on pacing");
    let campaigns: Vec<_> = three.iter().map(|(_, args)| &args["campaign"]).collect();
    assert_eq!(campaigns, ["c107", "c123", "c135"]);
    let one = calls("brand always on of bluebell");
    assert_eq!(
        one,
        [("analyze_portfolio_pacing".into(), json!({"account_id": "23", "campaign": "c123"}))]
    );
}

#[test]
fn unknown_words_are_reported() {
    let turn = World::new().say("does the turbine hum");
    assert!(turn.text.contains("I did not understand “turbine” and “hum”."), "{}", turn.text);
    let turn = World::new().say("show me waterproof boots for astronauts");
    assert!(turn.text.contains("No result names “astronauts”."), "{}", turn.text);
    let turn = World::new().say("do you have a blue sweater in size m");
    assert!(turn.text.contains("nothing") && turn.text.contains("sweater"), "{}", turn.text);
    let turn = World::new().say("do you have it in large");
    assert_eq!(turn.calls, [], "{}", turn.text);
}
