//! Reads a message that answers an open question or refers to a shown list: "the second one", "42",
//! "no, the blue". All other messages are read by `understand`.

use language::Token;
use serde_json::{Value, json};

use super::{
    facts::{self, Facts, Position, Quantity},
    fill,
    goal::{Doubt, Goal, Listing, Target},
    reader::{Match, Reader, Talk},
    social::{self, Social},
    state::Pending,
    things,
};

type Read = (Vec<Goal>, Option<Talk>);

/// Reads the message as an answer. Returns none if the message is a separate request.
pub(super) fn resume(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    socials: &[Social],
) -> Option<Read> {
    match &reader.state.pending {
        Some(pending) => read_answer(reader, pending, tokens, facts, socials)
            .map(|read| add_waiting_goals(pending, read)),
        None => read_place_request(reader, tokens, facts),
    }
}

/// Adds the goals that were waiting for the answer.
fn add_waiting_goals(pending: &Pending, (mut goals, talk): Read) -> Read {
    if !goals.is_empty() {
        goals.extend(pending.later.iter().cloned());
    }
    (goals, talk)
}

/// Reads a message such as "the second one" after a list without a question as a request for
/// details.
fn read_place_request(reader: &Reader<'_>, tokens: &[Token], facts: &Facts) -> Option<Read> {
    let mut places = facts.places.clone();
    if facts.words.len() == 1 {
        places.extend(facts.lone_number(tokens).map(Position::Nth));
    }
    let best = reader.best_candidate(tokens, facts).filter(|best| best.strong);
    let used = best
        .as_ref()
        .filter(|best| is_search(reader, best))
        .map(|best| best.used.clone())
        .unwrap_or_default();
    if places.is_empty()
        || !facts.unused_content_words(tokens, &used, usize::MAX).is_empty()
        || best.is_some_and(|best| !is_search(reader, &best))
    {
        return None;
    }
    let reads = |listing: &Listing| {
        reader.book.tools.iter().position(|tool| {
            tool.pack == listing.pack
                && !tool.is_write()
                && !tool.intents.is_empty()
                && tool.thing().is_some_and(|(_, thing, _)| thing == listing.thing)
        })
    };
    let (listing, tool) =
        reader.state.listings.iter().find_map(|listing| Some((listing, reads(listing)?)))?;
    if facts.places.is_empty()
        && places.iter().any(
            |place| matches!(place, Position::Nth(place) if *place as usize > listing.shown_items().len()),
        )
    {
        return None;
    }
    // Several positions mean a comparison.
    let beside = reader.book.tools[tool]
        .intents
        .iter()
        .position(|intent| intent.several)
        .filter(|_| places.len() > 1);
    let goal = Goal {
        tool,
        intent: beside.unwrap_or(0),
        args: serde_json::Map::new(),
        target: Target { places, ..Target::default() },
        chosen: Vec::new(),
        doubt: None,
        is_named: false,
        unused: Vec::new(),
        ranking: None,
        excluded: Vec::new(),
        count: None,
    };
    Some((vec![goal], None))
}

/// Whether the request is a search. "Show me the second one" resembles a search, but without search
/// words it refers to a list.
fn is_search(reader: &Reader<'_>, found: &Match) -> bool {
    reader.book.tools[found.tool]
        .has_slot(|kind| matches!(kind, contract::manifest::SlotKind::Words))
}

fn read_answer(
    reader: &Reader<'_>,
    pending: &Pending,
    tokens: &[Token],
    facts: &Facts,
    socials: &[Social],
) -> Option<Read> {
    if let Some(read) = read_button(reader, pending, tokens) {
        return Some(read);
    }
    let content = facts.unused_content_words(
        tokens,
        &social::matched_tokens(tokens, &facts.words),
        reader.book.tools[pending.goal.tool].pack,
    );
    let mut used = Vec::new();
    if let Some(found) = reader.best_candidate(tokens, facts) {
        let other = found.tool != pending.goal.tool;
        let recount =
            other && found.strong && changes_quantity(reader, pending, tokens, facts, &found);
        if recount {
            return Some(set_quantity(pending, facts));
        }
        let points = !facts.places.is_empty()
            && is_search(reader, &found)
            && facts.unused_content_words(tokens, &found.used, usize::MAX).is_empty();
        if other && !points && (found.strong || !facts.named.is_empty() || facts.period.is_some()) {
            return None;
        }
        if !other && found.strong && names_another_thing(reader, &found, tokens, facts) {
            return None;
        }
        if found.strong {
            used = found.used;
        }
    }
    let silent =
        content.is_empty() && facts.places.is_empty() && facts.lone_number(tokens).is_none();
    if (socials.contains(&Social::No) && silent) || withdraws_change(reader, pending, tokens, facts)
    {
        return Some((Vec::new(), Some(Talk::Dropped)));
    }
    if let Some(doubt) = &pending.goal.doubt {
        return resolve_doubt(reader, pending, doubt, tokens, facts);
    }
    if socials.contains(&Social::Yes) && silent {
        return Some(match &pending.listing.items[..] {
            [only] => (vec![choose_item(pending, only.clone())], None),
            _ => (Vec::new(), Some(Talk::AskAgain)),
        });
    }
    if socials.iter().any(|social| {
        matches!(social, Social::Help | Social::Identity | Social::Data | Social::OffTopic)
    }) || (silent && !socials.is_empty())
    {
        return None;
    }
    select_from_question(reader, pending, tokens, facts, &used)
}

/// Whether the message withdraws the pending change. Such a message contains only a negation and
/// words of the change ("No, don't add it").
fn withdraws_change(
    reader: &Reader<'_>,
    pending: &Pending,
    tokens: &[Token],
    facts: &Facts,
) -> bool {
    let tool = pending.goal.tool;
    let denied =
        facts.negations.iter().any(|&i| !tokens[i].any(&["no", "but", "men", "without", "utan"]));
    if !denied
        || !reader.book.tools[tool].is_write()
        || !facts.places.is_empty()
        || facts.lone_number(tokens).is_some()
    {
        return false;
    }
    let hits = reader
        .book
        .triggers
        .find(tokens, &facts.words)
        .into_iter()
        .filter(|((found, _), ..)| *found == tool);
    let asked: Vec<usize> = hits.flat_map(|(_, hit, _)| hit.used).collect();
    let verb = |&i: &usize| facts::is_order(&tokens[i]) || tokens[i].any(&["dont", "never"]);
    if asked.is_empty() && !facts.words.iter().any(verb) {
        return false;
    }
    let mut used = social::matched_tokens(tokens, &facts.words);
    used.extend(asked);
    facts
        .unused_content_words(tokens, &used, reader.book.tools[tool].pack)
        .iter()
        .all(|i| facts.negations.contains(i))
}

/// Reads the message of a button, such as "The second one: Black, 44 …". The words after the colon
/// only repeat the list.
fn read_button(reader: &Reader<'_>, pending: &Pending, tokens: &[Token]) -> Option<Read> {
    let colon = tokens.iter().position(|token| token.fold == ":")?;
    let facts = reader.facts_of(&tokens[..colon]);
    match facts.places[..] {
        [Position::Nth(place)] if colon <= 4 => {
            Some(select_place(reader, pending, &Facts::default(), place as usize, &[]))
        }
        _ => None,
    }
}

/// Whether the message changes the quantity of the pending request. While the user is choosing a
/// thing to order, "make it three" does not refer to the cart.
fn changes_quantity(
    reader: &Reader<'_>,
    pending: &Pending,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
) -> bool {
    let both = [found.tool, pending.goal.tool].iter().all(|&tool| {
        reader.book.tools[tool]
            .has_slot(|kind| matches!(kind, contract::manifest::SlotKind::Quantity))
    });
    let bare = facts
        .unused_content_words(tokens, &found.used, reader.book.tools[found.tool].pack)
        .is_empty()
        && facts.places.is_empty();
    both && bare && matches!(facts.quantity, Some(Quantity::Whole(1..)))
}

/// Asks the same question again with another quantity.
fn set_quantity(pending: &Pending, facts: &Facts) -> Read {
    let mut goal = pending.goal.clone();
    let listing = &pending.listing;
    if !listing.items.is_empty() {
        goal.chosen.push((format!("{}*", listing.thing), json!(listing.items)));
    }
    apply_count(&mut goal, facts);
    (vec![goal], None)
}

fn apply_count(goal: &mut Goal, facts: &Facts) {
    if let Some(Quantity::Whole(count @ 1..)) = facts.quantity {
        goal.args.insert("quantity".to_owned(), json!(count));
    }
}

/// Whether the message makes the same kind of request for another thing and names the kind of the
/// thing.
fn names_another_thing(
    reader: &Reader<'_>,
    found: &Match,
    tokens: &[Token],
    facts: &Facts,
) -> bool {
    let pack = reader.book.pack_of(found.tool);
    facts
        .unused_content_words(tokens, &found.used, reader.book.tools[found.tool].pack)
        .iter()
        .any(|&i| pack.is_vocabulary(&tokens[i].norm))
}

fn choose_item(pending: &Pending, item: Value) -> Goal {
    let mut goal = pending.goal.clone();
    goal.target.places.clear();
    goal.target.first = None;
    goal.chosen.push((pending.listing.thing.clone(), item));
    goal
}

fn resolve_doubt(
    reader: &Reader<'_>,
    pending: &Pending,
    doubt: &Doubt,
    tokens: &[Token],
    facts: &Facts,
) -> Option<Read> {
    let mut goal = pending.goal.clone();
    let data = &reader.book.tools[goal.tool];
    goal.doubt = None;
    match doubt {
        Doubt::UnknownName(_) => {
            let found = Match {
                tool: goal.tool,
                intent: goal.intent,
                score: 0,
                used: Vec::new(),
                strong: true,
            };
            if facts.named.is_empty() {
                return None;
            }
            let said = fill::build_goal(reader, tokens, facts, &found, None);
            goal.args.extend(said.args);
        }
        Doubt::Negated | Doubt::Unused(_) | Doubt::Unranked => return None,
        Doubt::Quantity | Doubt::Missing(_) => {
            let content: Vec<&str> = facts
                .unused_content_words(tokens, &[], data.pack)
                .into_iter()
                .map(|i| tokens[i].norm.as_str())
                .collect();
            let missing =
                if let Doubt::Missing(parameter) = doubt { parameter } else { "quantity" };
            let parameter = missing.to_owned();
            let slot = data.slots.iter().find(|slot| slot.parameter == parameter)?;
            match &slot.kind {
                contract::manifest::SlotKind::Quantity => {
                    let Some(Quantity::Whole(count @ 1..)) = facts.quantity else { return None };
                    goal.args.insert(parameter, json!(count));
                }
                contract::manifest::SlotKind::Words if !content.is_empty() => {
                    goal.args.insert(parameter, json!(content.join(" ")));
                }
                _ => return None,
            }
        }
    }
    Some((vec![goal], None))
}

/// Chooses an item from the question's list, or takes the words that the question asked for.
fn select_from_question(
    reader: &Reader<'_>,
    pending: &Pending,
    tokens: &[Token],
    facts: &Facts,
    used: &[usize],
) -> Option<Read> {
    let listing = &pending.listing;
    let own = reader.book.tools[pending.goal.tool].pack;
    let mut words: Vec<String> = facts
        .unused_content_words(tokens, used, own)
        .into_iter()
        .map(|i| tokens[i].norm.clone())
        .collect();
    if listing.items.is_empty() {
        if words.is_empty() {
            return None;
        }
        let mut goal = pending.goal.clone();
        goal.target.groups = vec![words];
        apply_count(&mut goal, facts);
        return Some((vec![goal], None));
    }
    if !facts.negations.is_empty() {
        // "Not the 44" or "anything but black" does not say which of the remaining items is meant.
        return Some((Vec::new(), Some(Talk::AskAgain)));
    }
    let pack = &reader.book.packs[listing.pack];
    let thing = pack.thing(&listing.thing)?;
    let items: Vec<Vec<String>> =
        listing.items.iter().map(|item| things::words_of(thing, item)).collect();
    let is_value = |number: u32| items.iter().any(|item| item.contains(&number.to_string()));
    let numbers: Vec<u32> = facts.words.iter().filter_map(|&i| tokens[i].int()).collect();
    let values: Vec<u32> = numbers.iter().copied().filter(|number| is_value(*number)).collect();
    // If the second item is black, "the second one in green" names two different things.
    let contradicts = |place: usize| {
        let describes = |word: &&String| pack.is_attribute(pack.canonical_word(word));
        place.checked_sub(1).and_then(|i| items.get(i)).is_some_and(|item| {
            words.iter().filter(describes).any(|word| !things::fits_item(pack, word, item))
        })
    };
    if facts.places.len() > 1 || facts.choice {
        return Some((Vec::new(), Some(Talk::AskAgain)));
    }
    let last = listing.shown_items().len();
    if facts.places.len() == 1
        && facts.places.iter().any(|place| {
            contradicts(if let Position::Nth(place) = place { *place as usize } else { last })
        })
    {
        return Some((Vec::new(), Some(Talk::AskAgain)));
    }
    if let [Position::Nth(place)] = facts.places[..] {
        // "2" is ambiguous if 2 is also a size in the list.
        return Some(select_place(reader, pending, facts, place as usize, &values));
    }
    if let [Position::Last] = facts.places[..] {
        return Some(select_place(reader, pending, facts, last, &[]));
    }
    if words.is_empty()
        && values.is_empty()
        && let Some(place) = facts.lone_number(tokens)
    {
        return Some(select_place(reader, pending, facts, place as usize, &[]));
    }
    words.retain(|word| word.parse::<u32>().is_err());
    let labelled =
        facts.unused_content_words(tokens, used, own).into_iter().filter_map(|i| tokens[i].int());
    words.extend(values.iter().copied().chain(labelled).map(|number| number.to_string()));
    words.dedup();
    if words.is_empty() {
        return None;
    }
    let mut goal = pending.goal.clone();
    if facts.counted
        && let Some(Quantity::Whole(count @ 1..)) = facts.quantity
        && !values.contains(&count)
    {
        goal.args.insert("quantity".to_owned(), json!(count));
    }
    narrow_question(reader, pending, goal, &items, words)
}

fn select_place(
    reader: &Reader<'_>,
    pending: &Pending,
    facts: &Facts,
    place: usize,
    values: &[u32],
) -> Read {
    let Some(item) = place.checked_sub(1).and_then(|i| pending.listing.shown_items().get(i)) else {
        return (Vec::new(), Some(Talk::AskAgain));
    };
    let mut goal = choose_item(pending, item.clone());
    let counted = reader.book.tools[goal.tool]
        .has_slot(|kind| matches!(kind, contract::manifest::SlotKind::Quantity));
    if counted
        && facts.counted
        && let Some(Quantity::Whole(number)) = facts.quantity
        && number as usize != place
        && !values.contains(&number)
    {
        apply_count(&mut goal, facts);
    }
    (vec![goal], None)
}

fn narrow_question(
    reader: &Reader<'_>,
    pending: &Pending,
    mut goal: Goal,
    items: &[Vec<String>],
    words: Vec<String>,
) -> Option<Read> {
    let listing = &pending.listing;
    let pack = &reader.book.packs[listing.pack];
    let mut words = words;
    // Words that do not describe a thing are skipped, as in "go for 44".
    words.retain(|word| {
        says_something(pack, word) || items.iter().any(|item| things::fits_item(pack, word, item))
    });
    if words.is_empty() {
        return Some((Vec::new(), Some(Talk::AskAgain)));
    }
    let found = things::filter_best_matches(pack, items, &words);
    let fits_all = found.hits == words.len();
    if fits_all && found.best.len() == 1 {
        return Some((
            vec![choose_item(pending, listing.items[found.best[0]].clone())]
                .into_iter()
                .map(|mut chosen| {
                    chosen.args = goal.args.clone();
                    chosen
                })
                .collect(),
            None,
        ));
    }
    if words.iter().any(|word| pack.is_vocabulary(word)) && !fits_all {
        // The words name another thing, so a new search is made.
        goal.target = Target { groups: vec![words], ..Target::default() };
        goal.chosen.clear();
        return Some((vec![goal], None));
    }
    if fits_all {
        // Fewer items match than before, but still several. The words are kept and the shorter list
        // is shown.
        goal.target.groups.push(words);
        goal.target.places.clear();
        goal.chosen.push((
            format!("{}*", listing.thing),
            json!(found.best.iter().map(|&i| listing.items[i].clone()).collect::<Vec<_>>()),
        ));
        return Some((vec![goal], None));
    }
    Some((Vec::new(), Some(Talk::AskAgain)))
}

fn says_something(pack: &crate::book::Pack, word: &str) -> bool {
    pack.is_vocabulary(word)
        || pack.is_attribute(pack.canonical_word(word))
        || word.parse::<u32>().is_ok()
}

/// Returns the shorter list after an answer that matches several items.
pub(super) fn cut_list(goal: &Goal, listing_pack: usize, thing: &str) -> Option<Listing> {
    let name = format!("{thing}*");
    let items = goal.chosen.iter().rev().find(|(kind, _)| *kind == name)?.1.as_array()?.clone();
    Some(Listing::new(listing_pack, thing, items))
}
