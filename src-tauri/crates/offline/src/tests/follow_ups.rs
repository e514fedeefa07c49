//! Tests which parts of the previous message apply to the next message: limits, list positions, and
//! words that only look like positions.

use serde_json::json;

use super::world::{Turn, World};

fn tools(turn: &Turn) -> Vec<&str> {
    turn.calls.iter().map(|call| call.tool.as_str()).collect()
}

#[test]
fn a_search_limit_applies_only_to_follow_ups_of_the_same_subject() {
    let backpacks = || {
        let mut world = World::new();
        world.say("show me backpacks under 1000 kr");
        world
    };
    let search = |world: &mut World, text: &str| {
        world.say(text).calls.into_iter().next().map(|call| call.arguments)
    };
    assert_eq!(
        search(&mut backpacks(), "show me tents"),
        Some(json!({"query": "tents"})),
        "another subject has no limit yet"
    );
    assert_eq!(
        search(&mut backpacks(), "do you have rain jackets?"),
        Some(json!({"query": "rain jackets"}))
    );
    for (text, query, limit) in [
        ("only the blue ones", "blue backpacks", 1000),
        ("the black ones", "black backpacks", 1000),
        ("under 800 instead", "backpacks", 800),
        ("under 800 kr", "backpacks", 800),
    ] {
        assert_eq!(
            search(&mut backpacks(), text),
            Some(json!({"query": query, "filters": {"maxPrice": limit}})),
            "{text}"
        );
    }
    let mut world = World::new();
    world.say("visa ryggsäckar i lager under 1000 kr");
    assert_eq!(search(&mut world, "visa tält"), Some(json!({"query": "tält"})));
}

#[test]
fn the_swedish_word_andra_meaning_others_is_not_read_as_second() {
    let told = |text: &str| {
        let mut world = World::new();
        world.say("visa tält");
        world.say(text)
    };
    let second = told("berätta mer om den andra").calls;
    for text in [
        "har ni andra?",
        "visa några andra",
        "finns den i andra färger?",
        "finns det andra färger?",
        "har ni andra tält?",
    ] {
        assert_ne!(told(text).calls, second, "{text}");
    }
    for text in ["finns den i andra färger?", "har ni andra?", "vilka andra färger finns?"] {
        let mut world = World::new();
        world.say("lägg till brook pace i svart");
        let turn = world.say(text);
        assert!(turn.calls.iter().all(|call| !call.writes), "{text}: {:?}", turn.calls);
    }
}

#[test]
fn an_ordinal_refers_to_the_items_shown_in_the_text() {
    let after = |text: &str| {
        let mut world = World::new();
        let shown = world.say("show me jackets").text;
        assert!(
            shown.contains("\n9. ")
                && !shown.contains("\n10. ")
                && shown.contains("The first 9 are shown"),
            "{shown}"
        );
        world.say(text)
    };
    let ninth = after("tell me more about number 9").calls;
    assert_eq!(tools(&after("tell me more about number 9")), ["product.get"]);
    assert_eq!(
        after("tell me more about the last one").calls,
        ninth,
        "the last one that is on the screen"
    );
    assert_eq!(after("the last one").calls, ninth);
    assert_eq!(
        tools(&after("tell me more about number 10")),
        ["product.get"],
        "cards beside the text number all that was found"
    );
    let beyond = after("tell me more about number 11");
    assert!(beyond.calls.is_empty() && beyond.text.contains("There is no number 11"), "{beyond:?}");
}

#[test]
fn an_ordinal_after_a_question_refers_to_its_options() {
    let mut world = World::new();
    let asked = world.say("add a jacket to my cart");
    assert!(
        asked.text.contains("\n9. ") && asked.text.contains(" more. Say more words"),
        "{}",
        asked.text
    );
    for text in ["number 10", "the 11th"] {
        let turn = world.say(text);
        assert!(turn.calls.is_empty(), "{text}: {turn:?}");
    }
}

#[test]
fn questions_about_several_requests_are_asked_one_at_a_time() {
    let mut world = World::new();
    let first = world.say("add trail shoes and a tent to my cart");
    assert_eq!(first.text.matches("Which one do you mean?").count(), 1, "{}", first.text);
    assert!(first.text.ends_with("After that I go on with: tent."), "{}", first.text);
    let shoes = first.choices[0].clone();
    let mut turn = world.say(&shoes.message);
    // Each question is answered with its first option, until both changes are proposed.
    for _ in 0..4 {
        assert!(
            turn.calls.iter().all(|call| !call.writes) || turn.choices.is_empty(),
            "nothing changes beside a question: {turn:?}"
        );
        let Some(choice) = turn.choices.first().cloned() else { break };
        turn = world.say(&choice.message);
    }
    let writes: Vec<_> = turn
        .calls
        .iter()
        .filter(|call| call.writes)
        .map(|call| call.arguments["partNo"].to_string())
        .collect();
    assert!(
        writes.len() == 2 && writes.iter().filter(|part| part.contains("TR10")).count() == 1,
        "{turn:?}"
    );
    let mut world = World::new();
    let swedish = world.say("lägg till terrängskor och ett tält");
    assert!(swedish.text.ends_with("Sedan går jag vidare med: tält."), "{}", swedish.text);
}

#[test]
fn several_changes_of_the_same_kind_are_proposed_together() {
    let mut world = World::new();
    let added = world.say("add juniper stove and ridge pot to my cart");
    let last: Vec<&str> = tools(&added).into_iter().rev().take(2).collect();
    assert_eq!(last, ["cart.addItem", "cart.addItem"], "{added:?}");
    let removed = world.say("remove juniper stove and ridge pot");
    assert_eq!(
        tools(&removed).iter().filter(|tool| **tool == "cart.removeItem").count(),
        2,
        "{removed:?}"
    );
}

#[test]
fn numbers_refer_to_the_product_list_even_after_the_cart_was_shown() {
    let mut world = World::new();
    world.say("find trail shoes");
    let third = world.say("tell me more about option 3").calls[0].arguments.clone();
    world.say("add ridge runner black 42");
    let after = world.say("add option 3 to cart");
    assert_eq!(after.calls[0].arguments, third, "{after:?}");
    let mut world = World::new();
    world.say("find trail shoes");
    let beyond = world.say("add option 30 to cart");
    assert!(beyond.calls.is_empty() && beyond.text.contains("There is no number 30"), "{beyond:?}");
    let mut world = World::new();
    world.say("add ridge runner black 42");
    let without = world.say("add option 3 to cart");
    assert!(
        without.calls.is_empty() && without.text.contains("Which product do you mean?"),
        "{without:?}"
    );
}

#[test]
fn several_numbers_refer_to_list_positions_while_a_list_is_shown() {
    for text in [
        "compare 1 and 3",
        "jämför 1 och 3",
        "1 vs 3",
        "compare #1 & #3",
        "compare option 1 and 3",
        "1 and 3",
    ] {
        let mut world = World::new();
        world.say("show me trail shoes");
        let turn = world.say(text);
        let ids: Vec<_> = turn
            .calls
            .iter()
            .map(|call| (call.tool.as_str(), call.arguments["productId"].as_u64()))
            .collect();
        assert_eq!(
            ids,
            [("product.get", Some(1001)), ("product.get", Some(1003))],
            "{text}: {turn:?}"
        );
        assert!(
            turn.text.contains("| Price |") || turn.text.contains("| Pris |"),
            "{text}: {}",
            turn.text
        );
    }
    for text in [
        "add 1 and 3 to my cart",
        "lägg 1 och 3 i varukorgen",
        "add the options 1 and 3 to my cart",
    ] {
        let mut world = World::new();
        world.say("show me trail shoes");
        let turn = world.say(text);
        assert_eq!(turn.calls[0].arguments["productId"], 1001, "{text}: {turn:?}");
        assert!(
            turn.text.contains("number 3.") || turn.text.contains("nummer 3."),
            "{text}: {}",
            turn.text
        );
    }
    let mut world = World::new();
    world.say("show me tents");
    assert_eq!(
        world.say("show me tents for 2 or 3 persons").calls[0].tool,
        "product.search",
        "how many, not which"
    );
    for text in ["add 2 or 3 to my cart", "jag vill ha 2 och 3 av dem"] {
        assert!(
            world.say(text).calls.iter().all(|call| !call.writes),
            "one of two is no order: {text}"
        );
    }
}

#[test]
fn numbers_in_a_range_a_size_or_a_choice_are_not_list_positions() {
    let places = |text: &str| {
        let mut world = World::new();
        world.say("show me trail shoes");
        world
            .say(text)
            .calls
            .iter()
            .filter_map(|call| call.arguments["productId"].as_u64())
            .collect::<Vec<_>>()
    };
    for text in [
        "show me something between 10 and 20",
        "visa något mellan 10 och 20",
        "something from 1 and 3",
        "add 1, 2 or 3 to my cart",
        "lägg 1, 2 eller 3 i varukorgen",
        "add 1, 2, or 3",
        "do you have size 8, 9 and 10?",
    ] {
        assert!(places(text).len() < 2, "{text}: {:?}", places(text));
    }
    assert_eq!(places("compare 1, 2 and 3").len(), 3);
}

#[test]
fn numbers_and_the_word_more_refer_to_the_current_subject() {
    for text in ["show more", "visa resten", "more"] {
        let mut world = World::new();
        world.say("show me jackets");
        world.say("what do you remember about Anna?");
        let said = world.say(text);
        assert!(
            !said.text.contains("10. ") && !said.text.contains("a search brings"),
            "{text}: {said:?}"
        );
        assert!(said.calls.iter().all(|call| call.tool != "product.get"), "{text}: {said:?}");
    }
    let mut world = World::new();
    world.say("show me jackets");
    world.say("what do you remember about Anna?");
    let compared = world.say("compare 17 and 23");
    assert!(compared.calls.iter().all(|call| call.tool != "product.get"), "{compared:?}");
    world.say("show me jackets");
    let last = world.say("show more");
    assert!(last.text.starts_with("10. "), "{last:?}");
    assert!(
        world.say("show more").text.contains("only its first ones"),
        "nobody says that there are no others"
    );
}

#[test]
fn the_word_more_shows_the_rest_of_a_list_without_a_search() {
    for (search, more) in [
        ("show me jackets", "show more"),
        ("show me jackets", "show the rest"),
        ("visa jackor", "visa fler"),
        ("visa jackor", "visa resten"),
    ] {
        let mut world = World::new();
        world.say(search);
        let rest = world.say(more);
        assert!(rest.calls.is_empty() && rest.text.starts_with("10. "), "{more}: {rest:?}");
        let none = world.say(more);
        assert!(none.calls.is_empty() && !none.text.contains("10. "), "{more}: {none:?}");
        assert_eq!(tools(&world.say("tell me more about number 10")), ["product.get"]);
    }
    let mut world = World::new();
    world.say("visa tält");
    world.say("visa fler");
    let query = world.say("gröna").calls[0].arguments["query"].to_string();
    assert!(!query.contains("fler") && query.contains("tält"), "{query}");
    let mut world = World::new();
    let asked = world.say("add a jacket to my cart");
    assert!(asked.text.contains("… and more. "), "how many more is not known: {}", asked.text);
    assert!(world.say("show more").text.starts_with("10. "));
    assert!(!world.say("number 10").calls.is_empty(), "what was shown can be chosen");
}

#[test]
fn the_word_more_continues_only_the_newest_answer() {
    let all = |said: &Turn| {
        said.calls.is_empty()
            && (said.text == "That is all there is." || said.text == "Det är allt som finns.")
    };
    for (before, text) in [
        ("show me ridge runner", "more"),
        ("what's in my cart?", "is there any more?"),
        ("lägg till juniper stove", "visa fler"),
    ] {
        let mut world = World::new();
        if text == "is there any more?" {
            world.say("add juniper stove");
        }
        world.say(before);
        let said = world.say(text);
        assert!(all(&said), "{before}, {text}: {said:?}");
    }
    for between in ["show me kayaks", "what's in my cart?", "what do you remember about Anna?"] {
        for text in ["more", "show the rest", "visa resten", "visa fler"] {
            let mut world = World::new();
            world.say("show me jackets");
            world.say(between);
            let said = world.say(text);
            assert!(
                said.calls.is_empty()
                    && !said.text.contains("10. ")
                    && !said.text.contains("a search brings"),
                "{between}, {text}: {said:?}"
            );
        }
    }
    let mut world = World::new();
    world.say("show me jackets");
    world.say("thanks");
    assert!(world.say("more").text.starts_with("10. "), "a pleasantry is no answer");
}

#[test]
fn a_list_position_can_be_named_even_after_another_subject() {
    let after = |text: &str| {
        let mut world = World::new();
        world.say("show me jackets");
        let ids = [1, 3].map(|place| {
            world.say(&format!("tell me about number {place}")).calls[0].arguments["productId"]
                .clone()
        });
        world.say("what do you remember about Anna?");
        (world.say(text), ids)
    };
    for text in ["compare 1 and 3", "jämför 1 och 3"] {
        let (said, ids) = after(text);
        assert_eq!(
            said.calls.iter().map(|call| call.arguments["productId"].clone()).collect::<Vec<_>>(),
            ids,
            "{text}: {said:?}"
        );
    }
    let (said, ids) = after("add 1 and 3 to my cart");
    assert!(
        said.calls[0].arguments["productId"] == ids[0] && said.text.contains("number 3."),
        "{said:?}"
    );
    assert!(
        said.calls.iter().all(|call| call.tool == "product.get"),
        "nothing is searched for: {said:?}"
    );
}

#[test]
fn a_comparison_question_with_two_numbers_compares_these_two_items() {
    for (text, wanted) in [
        ("what's the difference between 2 and 4?", &[1002, 1004][..]),
        ("vad är skillnaden mellan 2 och 4?", &[1002, 1004]),
        ("what is the difference between 4 and 2?", &[1004, 1002]),
        ("which is better, 1 or 3?", &[1001, 1003]),
        ("which is best, 1, 2 or 3?", &[1001, 1002, 1003]),
        ("vilken är bäst, 1 eller 3?", &[1001, 1003]),
        ("should i buy 1 or 3?", &[1001, 1003]),
    ] {
        let mut world = World::new();
        world.say("show me trail shoes");
        let said = world.say(text);
        let ids: Vec<_> =
            said.calls.iter().filter_map(|call| call.arguments["productId"].as_u64()).collect();
        assert!(ids == wanted && said.calls.len() == wanted.len(), "{text}: {said:?}");
    }
    for text in
        ["add 1 or 3 to my cart", "add 1 or 3", "lägg 1 eller 3 i varukorgen", "remove 1 or 3"]
    {
        let mut world = World::new();
        world.say("show me trail shoes");
        let said = world.say(text);
        assert!(
            said.calls.iter().all(|call| !call.writes && call.tool != "product.search"),
            "{text}: {said:?}"
        );
    }
}

#[test]
fn the_word_it_after_a_comparison_refers_to_none_of_the_products() {
    for (text, bought) in [
        ("add 2", false),
        ("add it to my cart", false),
        ("lägg till den", false),
        ("add it to my cart", true),
        ("lägg till den", true),
    ] {
        let mut world = World::new();
        if bought {
            assert!(world.say("add juniper stove").calls.iter().any(|call| call.writes));
        }
        world.say("show me stoves");
        world.say("compare 1 and 3");
        let asked = world.say(text);
        assert!(
            asked.calls.is_empty()
                && asked.text.contains("Which one do you mean?")
                    | asked.text.contains("Vilken menar du?"),
            "{text}: {asked:?}"
        );
        assert_eq!(asked.choices.len(), 2, "{text}: {asked:?}");
    }
}

#[test]
fn the_word_more_after_a_comparison_is_refused() {
    for (search, compare, more) in [
        ("show me jackets", "compare 1 and 3", "show more"),
        ("visa jackor", "jämför 1 och 3", "visa fler"),
    ] {
        let mut world = World::new();
        world.say(search);
        world.say(compare);
        let said = world.say(more);
        assert!(
            said.calls.is_empty()
                && said.text.contains("more of that") | said.text.starts_with("Mer av det"),
            "{more}: {said:?}"
        );
    }
    let after = |question: &str| {
        let mut world = World::new();
        assert!(!world.say(question).choices.is_empty(), "{question}");
        let said = world.say("show more").text;
        if said.starts_with("10. ") { world.say("show more").text } else { said }
    };
    assert_eq!(
        after("add a stove to my cart"),
        "That is all there is.",
        "the search brought them all"
    );
    assert!(after("add a jacket to my cart").contains("only its first ones"));
}

#[test]
fn adding_one_of_several_named_positions_asks_which_one() {
    for text in [
        "add number 1 or number 3 to my cart",
        "add the first or the third",
        "add the first, second or the last one",
        "add 1, 2 or the last",
        "add 1 or 3",
        "add the first or a blue one",
        "lägg till 1 eller 3",
        "lägg till den första eller den tredje",
        "lägg till den första eller andra",
    ] {
        let mut world = World::new();
        world.say("show me juniper stove");
        world.say("show me stoves");
        world.say("tell me about number 2");
        let asked = world.say(text);
        assert!(asked.calls.is_empty(), "{text}: {asked:?}");
        assert!(
            asked.text.contains("Which one do you mean?")
                || asked.text.contains("Vilken menar du?"),
            "{text}: {asked:?}"
        );
        let again = world.say("the first or the second");
        assert!(again.calls.is_empty(), "{text}: {again:?}");
        let counted = world.say("make it one");
        assert!(
            counted.calls.iter().all(|call| !call.writes),
            "{text}: a count names none of them: {counted:?}"
        );
        let chosen = world.say("the second one");
        assert!(
            chosen
                .calls
                .iter()
                .filter(|call| call.writes)
                .all(|call| call.arguments["quantity"] == 1),
            "{text}: {chosen:?}"
        );
        assert!(!chosen.calls.is_empty(), "{text}: {chosen:?}");
    }
    let mut world = World::new();
    world.say("show me trail shoes");
    let last = world.say("tell me more about the last one").calls[0].arguments["productId"].clone();
    let said = world.say("which is best, 1, 2 or the last?");
    let ids: Vec<_> = said.calls.iter().map(|call| call.arguments["productId"].clone()).collect();
    assert_eq!(ids, [json!(1001), json!(1002), last], "who only asks means them all: {said:?}");
}
