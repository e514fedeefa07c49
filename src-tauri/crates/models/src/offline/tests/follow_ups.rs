//! What a message takes over from the one before it, and what it does not: limits, places in a list, words that only look like places.

use serde_json::json;

use super::world::{Turn, World};

fn tools(turn: &Turn) -> Vec<&str> {
    turn.calls.iter().map(|call| call.tool.as_str()).collect()
}

#[test]
fn a_limit_belongs_to_what_it_was_said_of() {
    let backpacks = || {
        let mut world = World::new();
        world.say("show me backpacks under 1000 kr");
        world
    };
    let search = |world: &mut World, text: &str| world.say(text).calls.into_iter().next().map(|call| call.arguments);
    assert_eq!(search(&mut backpacks(), "show me tents"), Some(json!({"query": "tents"})), "another subject has no limit yet");
    assert_eq!(search(&mut backpacks(), "do you have rain jackets?"), Some(json!({"query": "rain jackets"})));
    for (text, query, limit) in [
        ("only the blue ones", "blue backpacks", 1000),
        ("the black ones", "black backpacks", 1000),
        ("under 800 instead", "backpacks", 800),
        ("under 800 kr", "backpacks", 800),
    ] {
        assert_eq!(search(&mut backpacks(), text), Some(json!({"query": query, "filters": {"maxPrice": limit}})), "{text}");
    }
    let mut world = World::new();
    world.say("visa ryggsäckar i lager under 1000 kr");
    assert_eq!(search(&mut world, "visa tält"), Some(json!({"query": "tält"})));
}

#[test]
fn swedish_others_are_not_the_second() {
    let told = |text: &str| {
        let mut world = World::new();
        world.say("visa tält");
        world.say(text)
    };
    let second = told("berätta mer om den andra").calls;
    for text in ["har ni andra?", "visa några andra", "finns den i andra färger?", "finns det andra färger?", "har ni andra tält?"] {
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
fn a_place_means_what_the_text_showed() {
    let after = |text: &str| {
        let mut world = World::new();
        let shown = world.say("show me jackets").text;
        assert!(shown.contains("\n9. ") && !shown.contains("\n10. ") && shown.contains("The first 9 are shown"), "{shown}");
        world.say(text)
    };
    let ninth = after("tell me more about number 9").calls;
    assert_eq!(tools(&after("tell me more about number 9")), ["product.get"]);
    assert_eq!(after("tell me more about the last one").calls, ninth, "the last one that is on the screen");
    assert_eq!(after("the last one").calls, ninth);
    assert_eq!(tools(&after("tell me more about number 10")), ["product.get"], "cards beside the text number all that was found");
    let beyond = after("tell me more about number 11");
    assert!(beyond.calls.is_empty() && beyond.text.contains("There is no number 11"), "{beyond:?}");
}

#[test]
fn a_place_in_a_question_means_what_it_showed() {
    let mut world = World::new();
    let asked = world.say("add a jacket to my cart");
    assert!(asked.text.contains("\n9. ") && asked.text.contains(" more. Say more words"), "{}", asked.text);
    for text in ["number 10", "the 11th"] {
        let turn = world.say(text);
        assert!(turn.calls.is_empty(), "{text}: {turn:?}");
    }
}
