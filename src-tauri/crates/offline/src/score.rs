//! Scores how well the facts of a clause fit the slots of a tool. The slots are filled elsewhere.

use contract::manifest::SlotKind;
use language::Token;

use super::{
    facts::Facts,
    reader::Reader,
    slots::{range_side, takes_one_number},
};

/// Returns a score for how well the facts of a clause fit the tool's slots.
pub(super) fn score_slots(
    reader: &Reader<'_>,
    tool: usize,
    tokens: &[Token],
    facts: &Facts,
) -> i32 {
    let data = &reader.book.tools[tool];
    let pack = reader.book.pack_of(tool);
    let mut sum = 0;
    let mut dated = false;
    let mut worded = false;
    let money = takes_one_number(reader, tool) && facts.amounts.iter().any(|amount| amount.marked);
    for ((slot, cues), choices) in data.slots.iter().zip(&data.cues).zip(&data.choices) {
        let cued = || cues.iter().any(|cue| cue.find(tokens, &facts.words).is_some());
        sum += match &slot.kind {
            SlotKind::Entity { entity, .. } => {
                8 * i32::from(
                    facts
                        .named
                        .iter()
                        .any(|named| named.pack == data.pack && named.kind == *entity),
                )
            }
            SlotKind::DateStart | SlotKind::DateEnd if !dated => {
                dated = true;
                4 * i32::from(facts.period.is_some())
            }
            SlotKind::Thing { .. } | SlotKind::Words if !worded => {
                worded = true;
                let foreign = |i: usize| {
                    facts.named.iter().any(|name| {
                        name.pack != data.pack && name.at.len() > 1 && name.at.contains(&i)
                    })
                };
                let of_the_field =
                    facts.words.iter().any(|&i| pack.is_vocabulary(&tokens[i].norm) && !foreign(i));
                4 * i32::from(of_the_field)
            }
            SlotKind::Quantity => 2 * i32::from(facts.quantity.is_some()),
            SlotKind::Number => {
                2 * i32::from(
                    cued()
                        || money
                        || (facts.range.is_some() && range_side(&slot.parameter).is_some()),
                )
            }
            SlotKind::Flag { .. } | SlotKind::Listed { .. } => 2 * i32::from(cued()),
            SlotKind::Verbatim => 4 * i32::from(cued()),
            SlotKind::Choice { .. } => {
                2 * i32::from(
                    choices.iter().any(|(_, phrase)| phrase.find(tokens, &facts.words).is_some()),
                )
            }
            SlotKind::DateStart | SlotKind::DateEnd | SlotKind::Thing { .. } | SlotKind::Words => 0,
        };
    }
    sum
}

/// Returns the tokens of the tool's cues in the clause, with the amounts after them.
pub(super) fn find_cues(
    reader: &Reader<'_>,
    tool: usize,
    tokens: &[Token],
    facts: &Facts,
) -> Vec<usize> {
    let mut used: Vec<usize> = reader.book.tools[tool]
        .cues
        .iter()
        .flatten()
        .filter_map(|cue| cue.find(tokens, &facts.words))
        .flat_map(|hit| hit.used)
        .collect();
    let led = |at: usize| {
        used.iter()
            .any(|&cue| cue < at && (cue + 1..at).all(|i| language::is_stop_word(&tokens[i].norm)))
    };
    let only = takes_one_number(reader, tool);
    let amounts: Vec<usize> = facts
        .amounts
        .iter()
        .filter(|amount| led(amount.at) || (only && amount.marked))
        .flat_map(|amount| amount.at..amount.at + amount.len)
        .collect();
    used.extend(amounts);
    used
}
