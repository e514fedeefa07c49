//! Reads the file of definitions. Each error has its line.

use std::collections::BTreeMap;

use contract::{
    definitions::{Definitions, read_definitions},
    members::ShapeProblem,
    text,
};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

use crate::Problem;

/// The most levels of values inside values.
const MAX_DEPTH: usize = 24;
/// The most bytes of a file.
const MAX_BYTES: usize = 1_000_000;

/// Reads definitions from YAML.
pub fn parse_definitions(source: &str) -> Result<Definitions, Problem> {
    let (value, lines) = parse(source)?;
    read_definitions(&value).map_err(|problem| at_line(problem, &lines))
}

/// The line of each value, by its place.
type Lines = BTreeMap<String, u64>;

fn at_line(problem: ShapeProblem, lines: &Lines) -> Problem {
    let mut place = problem.place.0.clone();
    let line = loop {
        if let Some(line) = lines.get(&place.join("\u{0}")) {
            break Some(*line);
        }
        if place.pop().is_none() {
            break None;
        }
    };
    Problem { line, ..Problem::from(problem) }
}

/// Returns the line of a definition in its file.
pub(crate) fn parse(source: &str) -> Result<(Value, Lines), Problem> {
    if source.len() > MAX_BYTES {
        return Err(Problem::new(text!("The file of definitions is larger than 1 MB.")));
    }
    let mut reader = Reader { events: Vec::new(), next: 0, lines: Lines::new() };
    for event in Parser::new_from_str(source) {
        let (event, span) = event.map_err(|error| {
            let line = u64::try_from(error.marker().line()).ok();
            let fault = error.info().to_owned();
            Problem { line, ..Problem::new(text!("This is no YAML: {fault}.", fault)) }
        })?;
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => reader.events.push((Token::Document, span.start.line())),
            Event::Alias(_) => {
                return Err(not_possible("An alias", span.start.line()));
            }
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(anchor, _)
            | Event::MappingStart(anchor, _)
                if anchor != 0 =>
            {
                return Err(not_possible("An anchor", span.start.line()));
            }
            Event::Scalar(text, style, _, _) => {
                let token = Token::Scalar(text.into_owned(), style == ScalarStyle::Plain);
                reader.events.push((token, span.start.line()));
            }
            Event::SequenceStart(_, _) => reader.events.push((Token::List, span.start.line())),
            Event::MappingStart(_, _) => reader.events.push((Token::Map, span.start.line())),
            Event::SequenceEnd | Event::MappingEnd => {
                reader.events.push((Token::End, span.start.line()));
            }
        }
    }
    let value = reader.document()?;
    Ok((value, reader.lines))
}

fn not_possible(thing: &'static str, line: usize) -> Problem {
    Problem {
        line: u64::try_from(line).ok(),
        ..Problem::new(text!("{thing} is not possible here. Write the value itself.", thing))
    }
}

/// A part of a YAML file.
enum Token {
    Document,
    Scalar(String, bool),
    List,
    Map,
    End,
}

struct Reader {
    events: Vec<(Token, usize)>,
    next: usize,
    lines: Lines,
}

impl Reader {
    fn document(&mut self) -> Result<Value, Problem> {
        let documents =
            self.events.iter().filter(|(token, _)| matches!(token, Token::Document)).count();
        if documents != 1 {
            return Err(Problem::new(text!(
                "The file must contain one document with definitions."
            )));
        }
        self.next = 1;
        self.value(&mut Vec::new())
    }

    fn value(&mut self, place: &mut Vec<String>) -> Result<Value, Problem> {
        let Some((token, line)) = self.events.get(self.next) else { return Ok(Value::Null) };
        let line = u64::try_from(*line).unwrap_or(0);
        self.lines.insert(place.join("\u{0}"), line);
        self.next += 1;
        if place.len() > MAX_DEPTH {
            let problem = Problem::new(text!("Values are nested too deeply."));
            return Err(Problem { line: Some(line), ..problem });
        }
        match token {
            Token::Scalar(written, is_plain) => Ok(scalar(written, *is_plain)),
            Token::List => self.list(place),
            Token::Map => self.map(place),
            Token::Document | Token::End => Ok(Value::Null),
        }
    }

    fn is_end(&self) -> bool {
        !matches!(
            self.events.get(self.next),
            Some((Token::Scalar(..) | Token::List | Token::Map, _))
        )
    }

    fn list(&mut self, place: &mut Vec<String>) -> Result<Value, Problem> {
        let mut items = Vec::new();
        while !self.is_end() {
            place.push(items.len().to_string());
            items.push(self.value(place)?);
            place.pop();
        }
        self.next += 1;
        Ok(Value::Array(items))
    }

    fn map(&mut self, place: &mut Vec<String>) -> Result<Value, Problem> {
        let mut members = Map::new();
        while !self.is_end() {
            let line = self.events.get(self.next).and_then(|(_, line)| u64::try_from(*line).ok());
            let Some((Token::Scalar(name, _), _)) = self.events.get(self.next) else {
                let problem = Problem::new(text!("A name must be a text."));
                return Err(Problem { line, ..problem });
            };
            let name = name.clone();
            self.next += 1;
            place.push(name.clone());
            let value = self.value(place)?;
            if let Some(line) = line {
                self.lines.insert(place.join("\u{0}"), line);
            }
            place.pop();
            if members.contains_key(&name) {
                let problem = Problem::new(text!("{name} is there twice.", name));
                return Err(Problem { line, ..problem });
            }
            members.insert(name, value);
        }
        self.next += 1;
        Ok(Value::Object(members))
    }
}

/// Returns a plain word as what it means in YAML 1.2, and a quoted one as a text.
fn scalar(written: &str, is_plain: bool) -> Value {
    if !is_plain {
        return Value::String(written.to_owned());
    }
    match written {
        "" | "~" | "null" => return Value::Null,
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    let body = written.strip_prefix('-').unwrap_or(written);
    let is_number = body.starts_with(|c: char| c.is_ascii_digit())
        && body.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && (body.len() == 1 || !body.starts_with('0') || body.starts_with("0."));
    let number = is_number.then(|| serde_json::from_str::<Number>(written).ok()).flatten();
    number.map_or_else(|| Value::String(written.to_owned()), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_line_and_what_is_possible() {
        let check = |yaml: &str| parse_definitions(yaml).unwrap_err().to_string();
        assert_eq!(
            check("source: a\nmeasures:\n  spend: {summ: Cost}\n"),
            "3: measures.spend: One of these members is needed: sum, count, distinct, average, weighted, last, least, greatest, median, percentile, single, ratio, plus, minus, of."
        );
        assert_eq!(
            check("source: a\nmeasures:\n  spend:\n    sum: Cost\n    untit: money\n"),
            "3: measures.spend: “untit” is not known. Is “unit” meant? Known: sum, count, distinct, average, weighted, last, least, greatest, median, percentile, single, ratio, plus, minus, of, where, unit, currency, better, settles_after, title, synonyms."
        );
        assert_eq!(check("source: a\nsource: b\n"), "2: source is there twice.");
        assert!(check("source: [a\n").contains("This is no YAML"));
        assert!(check("source: &x a\n").contains("An anchor is not possible"));
        assert_eq!(
            check("source: a\ntime: {column: Day, year_starts: 04-06}\n"),
            "2: time.year_starts: A year begins with the first day of a month, written as \"04-01\", not 04-06."
        );
    }
}
