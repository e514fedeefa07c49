//! Makes definitions from definitions: a person's corrections, proposals for new columns, and what is
//! left without columns that are gone. Pure: it reads and stores nothing.

use std::collections::{BTreeMap, BTreeSet};

use analytics::TableColumn;
use contract::{
    AgentError, SourceDefineParams, SourceName, Text,
    definitions::{Definitions, ZONE_BY_ACCOUNT},
    params::DefinitionFault,
    sources::{ColumnChoice, FoundColumn, TableReport},
    text,
};
use serde::Serialize;
use serde_json::Value;

/// The definitions of a source before a change, with its columns.
pub(super) struct Before<'a> {
    pub(super) columns: &'a [FoundColumn],
    pub(super) definitions: &'a Definitions,
    pub(super) text: &'a str,
}

/// Reads definitions and checks them against the columns, if the source has any. Fails with all
/// errors.
pub(super) fn parse(
    text: &str,
    columns: &[FoundColumn],
) -> Result<Definitions, Vec<DefinitionFault>> {
    let fault = |problem: analytics::Problem| DefinitionFault {
        line: problem.line.unwrap_or_default(),
        text: Text::join([Some(problem.message), problem.hint].into_iter().flatten()),
    };
    let definitions = analytics::parse_definitions(text).map_err(|problem| vec![fault(problem)])?;
    if columns.is_empty() {
        return Ok(definitions);
    }
    let columns: Vec<TableColumn> = columns.iter().map(TableColumn::from).collect();
    let mut problems = analytics::validate_definitions(&definitions, &columns);
    problems.extend(unknown_zone(&definitions));
    if problems.is_empty() {
        Ok(definitions)
    } else {
        Err(problems.into_iter().map(fault).collect())
    }
}

/// Returns the problem of a time zone that does not exist. Periods would be those of another one.
fn unknown_zone(definitions: &Definitions) -> Option<analytics::Problem> {
    let zone = definitions.time.as_ref()?.zone.as_deref()?;
    if zone == ZONE_BY_ACCOUNT || zone.parse::<chrono_tz::Tz>().is_ok() {
        return None;
    }
    Some(analytics::Problem::new(text!(
        "time: {zone} is no time zone. Write one such as {example}, or \"by account\" if each account has its own days.",
        zone,
        example = "Europe/Stockholm"
    )))
}

fn read_text(text: &str, columns: &[FoundColumn]) -> Result<Definitions, AgentError> {
    parse(text, columns).map_err(|faults| match faults.first() {
        Some(fault) => faulty(fault),
        None => AgentError::internal("definitions_faulty", "The definitions cannot be read."),
    })
}

/// Returns the error for definitions that cannot be used.
pub(super) fn faulty(fault: &DefinitionFault) -> AgentError {
    let text = match fault.line {
        0 => text!("The definitions have a fault: {problem}", problem = &fault.text),
        line => text!(
            "The definitions have a fault in line {line}: {problem}",
            line,
            problem = &fault.text
        ),
    };
    AgentError::invalid(text).reason("definitions_faulty").with("line", fault.line)
}

/// Returns the definitions and their text after a person's change.
pub(super) fn change(
    before: &Before<'_>,
    params: &SourceDefineParams,
) -> Result<(Definitions, String), AgentError> {
    if let Some(sent) = &params.definitions {
        // The window sends whole definitions for corrections that `ColumnChoice` cannot express.
        let all = Definitions { source: params.name.clone(), ..sent.clone() };
        let text = analytics::write_definitions(&all)?;
        return Ok((read_text(&text, before.columns)?, text));
    }
    if let Some(model) = params.text.as_ref().filter(|text| analytics::is_ossie(text)) {
        let text = text_of_model(model, &params.name)?;
        return Ok((read_text(&text, before.columns)?, text));
    }
    let mut definitions = match &params.text {
        Some(text) => read_text(text, before.columns)?,
        None => before.definitions.clone(),
    };
    definitions.source = params.name.clone();
    let text = if !params.columns.is_empty() {
        definitions = correct(before.columns, definitions, &params.columns)?;
        let text = analytics::write_definitions(&definitions)?;
        read_text(&text, before.columns)?;
        text
    } else {
        // A text that a person wrote keeps its comments and order.
        params.text.clone().unwrap_or_else(|| before.text.to_owned())
    };
    Ok((definitions, text))
}

/// Returns the file of definitions for a semantic model of another tool. Comments at its beginning
/// name the parts that were not taken.
fn text_of_model(model: &str, name: &SourceName) -> Result<String, AgentError> {
    let (mut sources, lost) = analytics::read_ossie(model)?;
    let place = sources.iter().position(|one| one.source == *name);
    let place = place.or_else(|| (sources.len() == 1).then_some(0)).ok_or_else(|| {
        AgentError::invalid(text!("The model has no dataset {name}.", name))
            .reason("definitions_faulty")
    })?;
    let definitions = Definitions { source: name.clone(), ..sources.swap_remove(place) };
    let lost: String = lost.iter().map(|line| format!("# {line}\n")).collect();
    Ok(format!("{lost}{}", analytics::write_definitions(&definitions)?))
}

/// Makes new definitions for corrected columns. Other definitions stay.
fn correct(
    columns: &[FoundColumn],
    definitions: Definitions,
    choices: &BTreeMap<String, ColumnChoice>,
) -> Result<Definitions, AgentError> {
    let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    if let Some(unknown) = choices.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(AgentError::invalid(contract::members::unknown_name(unknown, &known))
            .reason("unknown_column"));
    }
    let mut columns = columns.to_vec();
    choose_uses(&mut columns, choices);
    let report = TableReport { columns, ..TableReport::default() };
    let proposed = analytics::propose(&definitions.source, &report);
    let mut corrected = definitions;
    for name in choices.keys() {
        corrected.measures.retain(|_, measure| !mentions(measure, name));
        corrected.dimensions.retain(|_, dimension| !mentions(dimension, name));
        for (key, measure) in &proposed.measures {
            if mentions(measure, name) {
                corrected.measures.insert(key.clone(), measure.clone());
            }
        }
        for (key, dimension) in &proposed.dimensions {
            if mentions(dimension, name) {
                corrected.dimensions.insert(key.clone(), dimension.clone());
            }
        }
    }
    remove_dangling(&mut corrected);
    if proposed.time != corrected.time && proposed.time.is_some() && corrected.time.is_none() {
        corrected.time = proposed.time;
    }
    Ok(corrected)
}

/// Gives columns the uses and units that a person chose.
pub(super) fn choose_uses(columns: &mut [FoundColumn], choices: &BTreeMap<String, ColumnChoice>) {
    for column in columns {
        let Some(choice) = choices.get(&column.name) else { continue };
        column.usage = choice.usage.unwrap_or(column.usage);
        if choice.unit.is_some() {
            column.unit.clone_from(&choice.unit);
        }
    }
}

/// Removes measures that are computed from measures that do not exist any more. A measure of another
/// source, which has a point in its name, is not known here and stays.
fn remove_dangling(definitions: &mut Definitions) {
    loop {
        let known: BTreeSet<String> = definitions.measures.keys().cloned().collect();
        let before = known.len();
        definitions.measures.retain(|_, measure| {
            let mut parts = analytics::parts_of(&measure.calculation).into_iter();
            parts.all(|name| name.contains('.') || known.contains(name))
        });
        if definitions.measures.len() == before {
            return;
        }
    }
}

/// Adds proposals for columns that the known definitions do not mention.
pub(super) fn add_new(
    known: Definitions,
    proposed: Definitions,
    columns: &[FoundColumn],
) -> Definitions {
    let news: Vec<&str> = columns
        .iter()
        .map(|column| column.name.as_str())
        .filter(|column| !mentions(&known, column))
        .collect();
    let mut all = known;
    for (name, measure) in proposed.measures {
        if news.iter().any(|column| mentions(&measure, column)) {
            all.measures.entry(name).or_insert(measure);
        }
    }
    for (name, dimension) in proposed.dimensions {
        if news.iter().any(|column| mentions(&dimension, column)) {
            all.dimensions.entry(name).or_insert(dimension);
        }
    }
    // Rows of a later file may cover more than a day.
    if let (Some(known), Some(found)) = (&mut all.time, &proposed.time)
        && known.column == found.column
        && known.covers.is_none()
    {
        known.covers.clone_from(&found.covers);
    }
    all.time = all.time.or(proposed.time);
    all
}

/// Drops the definitions of columns that are gone, and those that use them.
pub(super) fn without(mut known: Definitions, gone: &[String]) -> Definitions {
    let mut dropped = gone.to_vec();
    let mut at = 0;
    while let Some(name) = dropped.get(at).cloned() {
        let names: Vec<String> = known
            .measures
            .iter()
            .filter(|(_, measure)| mentions(measure, &name))
            .map(|(own, _)| own.clone())
            .chain(
                known
                    .dimensions
                    .iter()
                    .filter(|(_, dimension)| mentions(dimension, &name))
                    .map(|(own, _)| own.clone()),
            )
            .collect();
        for own in names {
            known.measures.remove(&own);
            known.dimensions.remove(&own);
            dropped.push(own);
        }
        known.time = known.time.filter(|time| time.column != name);
        at += 1;
    }
    known
}

/// Whether a text in a value is the name of a column.
fn mentions(value: &impl Serialize, column: &str) -> bool {
    fn has(value: &Value, column: &str) -> bool {
        match value {
            Value::String(text) => text == column,
            Value::Array(items) => items.iter().any(|item| has(item, column)),
            Value::Object(members) => members.values().any(|member| has(member, column)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    serde_json::to_value(value).is_ok_and(|value| has(&value, column))
}

#[cfg(test)]
mod tests {
    use contract::sources::ColumnKind;

    use super::*;

    #[test]
    fn a_zone_exists_or_is_that_of_each_account() {
        let fault = |zone: &str, kind: ColumnKind| {
            let column = FoundColumn { name: "Day".to_owned(), kind, ..FoundColumn::default() };
            let text = format!("source: ads\ntime: {{column: Day, zone: {zone}}}\n");
            parse(&text, &[column]).err().map(|faults| faults[0].text.to_string())
        };
        assert_eq!(fault("Europe/Stockholm", ColumnKind::Moment), None);
        assert_eq!(fault("by account", ColumnKind::Day), None);
        let unknown = fault("Europe/Stokholm", ColumnKind::Day).unwrap();
        assert!(unknown.starts_with("time: Europe/Stokholm is no time zone."), "{unknown}");
        let moments = fault("by account", ColumnKind::Moment).unwrap();
        assert!(moments.contains("Import each account as a source of its own"), "{moments}");
    }

    #[test]
    fn only_measures_made_of_measures_that_are_gone_are_removed() {
        let text = "source: ads\nmeasures:\n  cost: {sum: Cost}\n  clicks: {sum: Clicks}\n  \
                    per_click: {ratio: [cost, clicks]}\n  of_budget: {ratio: [clicks, plan.budget]}\n";
        let column = |name: &str| FoundColumn {
            name: name.to_owned(),
            kind: ColumnKind::Whole,
            ..FoundColumn::default()
        };
        let mut definitions = parse(text, &[column("Cost"), column("Clicks")]).unwrap();
        definitions.measures.remove("cost");
        remove_dangling(&mut definitions);
        let left: Vec<&str> = definitions.measures.keys().map(String::as_str).collect();
        assert_eq!(left, ["clicks", "of_budget"]);
    }
}
