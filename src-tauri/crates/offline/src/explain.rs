//! Explains how a message is understood: the corrected words, the clauses, the intents of each
//! clause with their scores, the arguments, and the unused words. The explanation is for authors of
//! packs. It plans no calls and uses no earlier messages.

use chrono::NaiveDate;
use contract::{
    CorrectedWord, ExplainedClause, ExplainedGoal, ExplainedIntent, ExplainedReading,
    MessageExplainResponse, metric_query::AsOf,
};
use language::Token;

use super::{
    book::Book,
    data::{Ear, Heard, KnownSources, explain_readings},
    goal::{Doubt, Goal},
    handbook::Answer,
    reader::{Match, Reader, Talk},
    state::State,
};

/// Explains the first message of a conversation.
pub(super) fn explain(
    book: &Book,
    known: Option<&KnownSources>,
    message: &str,
    today: NaiveDate,
    as_of: &AsOf,
) -> MessageExplainResponse {
    let state = State::default();
    let ear = Ear { book, state: &state, today, known, as_of };
    let heard = ear.hear(message);
    let readings = explain_sources(&ear, &heard, message);
    let meaning = heard.meaning;
    let tokens = book.read_words(message);
    let reader = Reader { book, state: &state, today };
    let corrected = tokens
        .iter()
        .filter(|token| token.norm != token.fold)
        .map(|token| CorrectedWord { typed: token.raw.clone(), read_as: token.norm.clone() })
        .collect();
    let clauses = reader
        .read_clauses(&tokens)
        .iter()
        .map(|(clause, chosen, _)| explain_clause(&reader, clause, chosen.as_ref()))
        .collect();
    let goals = meaning.goals.iter().map(|goal| explain_goal(book, goal)).collect();
    MessageExplainResponse {
        language: meaning.lang.map(|language| language.tag().to_owned()),
        corrected,
        clauses,
        goals,
        readings,
        otherwise: meaning.talk.as_ref().map(|talk| describe_talk(book, talk)),
    }
}

/// Returns the ways to read a message as questions about sources, also if packs answer it.
fn explain_sources(ear: &Ear<'_>, heard: &Heard, message: &str) -> Vec<ExplainedReading> {
    let Some(known) = ear.known.filter(|_| ear.book.data.is_some()) else { return Vec::new() };
    let language = heard.meaning.lang.map_or("en", |language| language.tag());
    if heard.parts.is_empty() {
        return explain_readings(known, &ear.read(known, message), false, language);
    }
    explain_readings(known, &heard.parts, true, language)
}

fn explain_clause(
    reader: &Reader<'_>,
    clause: &[Token],
    chosen: Option<&Match>,
) -> ExplainedClause {
    let mut intents: Vec<ExplainedIntent> = reader
        .find_candidates(clause, &reader.facts_of(clause))
        .iter()
        .map(|found| {
            let tool = &reader.book.tools[found.tool];
            ExplainedIntent {
                tool: tool.spec.id.clone(),
                intent: tool.intents[found.intent].name.clone(),
                score: found.score,
                is_chosen: chosen
                    .is_some_and(|one| (one.tool, one.intent) == (found.tool, found.intent)),
            }
        })
        .collect();
    intents.sort_by_key(|intent| (!intent.is_chosen, -intent.score));
    ExplainedClause { text: spell_tokens(clause), intents }
}

fn explain_goal(book: &Book, goal: &Goal) -> ExplainedGoal {
    let tool = &book.tools[goal.tool];
    ExplainedGoal {
        tool: tool.spec.id.clone(),
        intent: tool.intents[goal.intent].name.clone(),
        arguments: goal.args.clone(),
        unused: goal.unused.clone(),
        doubt: goal.doubt.as_ref().map(describe_doubt),
    }
}

/// Returns the words of a clause as typed.
fn spell_tokens(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if !text.is_empty() && !token.glued {
            text.push(' ');
        }
        text.push_str(&token.raw);
    }
    text
}

fn describe_doubt(doubt: &Doubt) -> String {
    match doubt {
        Doubt::UnknownName(name) => format!("unknown_name: {name}"),
        Doubt::Quantity => "quantity".to_owned(),
        Doubt::Negated => "negated".to_owned(),
        Doubt::Unranked => "unranked".to_owned(),
        Doubt::Missing(parameter) => format!("missing: {parameter}"),
        Doubt::Unused(words) => format!("unused: {}", words.join(", ")),
    }
}

fn describe_handbook(answer: &Answer) -> String {
    match answer {
        Answer::Section(section) => format!("handbook: {}", section.heading()),
        Answer::Between([one, other]) => {
            format!("handbook: {}, or {}", one.heading(), other.heading())
        }
        Answer::Request { .. } => "handbook: a request of a pack".to_owned(),
        Answer::Missing { words, .. } => format!("not in the handbook: {}", words.join(", ")),
    }
}

fn describe_talk(book: &Book, talk: &Talk) -> String {
    match talk {
        Talk::Social(social) => format!("social: {social:?}").to_lowercase(),
        Talk::Handbook(answer) => describe_handbook(answer),
        Talk::Cannot { pack, index } => {
            let entries = book.packs[*pack].offline.cannot.len();
            format!("declined: entry {} of {entries} in `offline.cannot`", index + 1)
        }
        Talk::Dropped => "dropped".to_owned(),
        Talk::AskAgain => "ask_again".to_owned(),
        Talk::More => "more".to_owned(),
        Talk::NotUnderstood(_) => "not_understood".to_owned(),
    }
}
