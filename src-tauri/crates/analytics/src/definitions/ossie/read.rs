//! Reads a semantic model of Apache Ossie: fields that are columns, and metrics that aggregate one or
//! divide two of these. All else is listed.

use std::collections::BTreeMap;

use contract::{
    SourceName, Text,
    definitions::{
        Calculation, Definitions, Dimension, Grain, Join, Measure, Synonyms, TimeColumn, Unmatched,
        read_definitions,
    },
    text,
};
use serde_json::Value;

use super::VENDOR;
use crate::{Problem, definitions::yaml::parse};

/// Reads the definitions of all datasets of a model. Also returns what was not taken.
pub fn read_ossie(written: &str) -> Result<(Vec<Definitions>, Vec<Text>), Problem> {
    let (value, _) = parse(written)?;
    // Earlier drafts have a list of models.
    let models: Vec<&Value> = match value.get("semantic_model").and_then(Value::as_array) {
        Some(models) => models.iter().collect(),
        None => vec![&value],
    };
    let (mut sources, mut lost) = (Vec::new(), Vec::new());
    for model in models {
        let datasets = list(model, "datasets");
        if datasets.is_empty() {
            return Err(Problem::new(text!("This is no semantic model: it has no datasets.")));
        }
        let mut found = Found { sources: Vec::new(), own: Vec::new(), lost: Vec::new() };
        for dataset in datasets {
            found.dataset(dataset)?;
        }
        list(model, "relationships").iter().for_each(|one| found.relationship(one));
        list(model, "metrics").iter().for_each(|one| found.metric(one));
        sources.append(&mut found.sources);
        lost.append(&mut found.lost);
    }
    Ok((sources, lost))
}

/// Whether a text is a semantic model, not definitions of ours.
pub fn is_ossie(written: &str) -> bool {
    parse(written).is_ok_and(|(value, _)| {
        value.get("datasets").is_some() || value.get("semantic_model").is_some()
    })
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice)
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn words(value: &Value, name: &str) -> Vec<String> {
    list(value, name).iter().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
}

fn synonyms(value: &Value) -> Synonyms {
    let all = value.get("ai_context").map(|context| words(context, "synonyms")).unwrap_or_default();
    if all.is_empty() { Synonyms::new() } else { BTreeMap::from([("file".to_owned(), all)]) }
}

/// Returns the expression in SQL that all engines share.
fn expression(value: &Value) -> &str {
    let dialects = value.get("expression").map_or(&[][..], |one| list(one, "dialects"));
    let shared = dialects.iter().find(|one| word(one, "dialect") == "ANSI_SQL");
    shared.map_or("", |one| word(one, "expression").trim())
}

struct Found {
    sources: Vec<Definitions>,
    /// The sources that were read from our own extension.
    own: Vec<SourceName>,
    lost: Vec<Text>,
}

impl Found {
    fn dataset(&mut self, value: &Value) -> Result<(), Problem> {
        let name = SourceName::new(word(value, "name"));
        let extensions = list(value, "custom_extensions");
        if let Some(own) = extensions.iter().find(|one| word(one, "vendor_name") == VENDOR) {
            let data: Value = serde_json::from_str(word(own, "data")).unwrap_or_default();
            self.sources.push(read_definitions(&data)?);
            self.own.push(name);
            return Ok(());
        }
        let mut source = Definitions::new(name);
        source.rows = Grain { one_per: words(value, "primary_key") };
        for field in list(value, "fields") {
            let name = word(field, "name").to_owned();
            let Some((_, column)) = column_of(expression(field)) else {
                self.lose(&source.source, &name);
                continue;
            };
            let marked = field.get("dimension").and_then(|one| one.get("is_time")?.as_bool());
            let is_day = matches!(word(field, "datatype"), "Date" | "DateTime" | "DateTimeTz");
            if marked.unwrap_or(is_day) && source.time.is_none() {
                source.time = Some(TimeColumn::new(column));
            } else if field.get("dimension").is_some() {
                let dimension =
                    Dimension { synonyms: synonyms(field), ..Dimension::of_column(column) };
                source.dimensions.insert(name, dimension);
            }
        }
        self.sources.push(source);
        Ok(())
    }

    fn lose(&mut self, source: &SourceName, name: &str) {
        self.lost.push(text!("{source}: {name} was not taken.", source, name));
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.iter().any(|own| own.as_str() == name)
    }

    fn relationship(&mut self, value: &Value) {
        let (from, to) = (word(value, "from"), word(value, "to"));
        if self.is_own(from) {
            return;
        }
        let on = words(value, "from_columns").into_iter().zip(words(value, "to_columns"));
        let join = Join { on: on.collect(), unmatched: Unmatched::Show };
        if let Some(source) = self.sources.iter_mut().find(|one| one.source.as_str() == from) {
            source.joins.insert(to.to_owned(), join);
        }
    }

    fn metric(&mut self, value: &Value) {
        if self.own.len() == self.sources.len() {
            return;
        }
        let (name, sql) = (word(value, "name").to_owned(), expression(value));
        let parts: Vec<&str> = sql.splitn(2, '/').map(str::trim).collect();
        let table = parts.iter().find_map(|part| aggregate(part)?.0);
        let only = self.sources.first().map(|one| one.source.to_string());
        let table = table.or(only.filter(|_| self.sources.len() == 1)).unwrap_or_default();
        if self.is_own(&table) {
            return;
        }
        let found = self.sources.iter_mut().find(|one| one.source.as_str() == table);
        let aggregates: Option<Vec<Calculation>> =
            parts.iter().map(|part| aggregate(part).map(|(_, found)| found)).collect();
        let (Some(source), Some(aggregates)) = (found, aggregates) else {
            let source = SourceName::new(table);
            return self.lose(&source, &name);
        };
        let calculation = match aggregates.as_slice() {
            [above, below] => {
                let names = [(above, "above"), (below, "below")];
                Calculation::Ratio(names.map(|(part, word)| part_name(source, &name, part, word)))
            }
            [one, ..] => one.clone(),
            [] => return,
        };
        let measure = Measure { synonyms: synonyms(value), ..Measure::of(calculation) };
        source.measures.insert(name, measure);
    }
}

/// Returns the name of a measure with a calculation, which is added if there is none.
fn part_name(source: &mut Definitions, of: &str, part: &Calculation, word: &str) -> String {
    let known = source
        .measures
        .iter()
        .find(|(_, measure)| measure.calculation == *part && measure.conditions.is_empty());
    if let Some((name, _)) = known {
        return name.clone();
    }
    let name = format!("{of}_{word}");
    source.measures.insert(name.clone(), Measure::of(part.clone()));
    name
}

/// Returns table and column of an expression that is a column.
fn column_of(sql: &str) -> Option<(Option<String>, String)> {
    let mut names = Vec::new();
    let mut rest = sql.trim();
    loop {
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (name, after) = quoted.split_once('"')?;
                (name, after)
            }
            None => {
                let end =
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                rest.split_at(end)
            }
        };
        if name.is_empty() {
            return None;
        }
        names.push(name.to_owned());
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => break,
            None => return None,
        }
    }
    let column = names.pop()?;
    Some((names.pop(), column))
}

/// Returns the table and the calculation of an aggregate of one column.
fn aggregate(sql: &str) -> Option<(Option<String>, Calculation)> {
    let sql = sql.trim();
    let upper = sql.to_uppercase();
    if let Some(inner) = upper.strip_prefix("NULLIF(") {
        let inner = inner.strip_suffix(')')?.strip_suffix('0')?.trim_end().strip_suffix(',')?;
        return aggregate(sql.get("NULLIF(".len()..)?.get(..inner.len())?);
    }
    let open = sql.find('(')?;
    let (function, inner) = (upper.get(..open)?.trim(), sql.get(open + 1..)?.strip_suffix(')')?);
    if function == "COUNT" && inner.trim() == "*" {
        return Some((None, Calculation::Count("rows".to_owned())));
    }
    let distinct = inner.trim().get(..9).filter(|word| word.eq_ignore_ascii_case("DISTINCT "));
    let is_distinct = distinct.is_some();
    let inner = if is_distinct { inner.trim().get(9..)? } else { inner };
    let (table, column) = column_of(inner)?;
    let calculation = match (function, is_distinct) {
        ("SUM", false) => Calculation::Sum(column),
        ("AVG", false) => Calculation::Average(column),
        ("MIN", false) => Calculation::Least(column),
        ("MAX", false) => Calculation::Greatest(column),
        ("COUNT", false) => Calculation::Count(column),
        ("COUNT", true) => Calculation::Distinct(column),
        _ => return None,
    };
    Some((table, calculation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::{
        ossie::write_ossie, write::write_definitions, yaml::parse_definitions,
    };

    const ADS: &str = "source: ads\ntime: {column: Day}\ndimensions:\n  campaign: {column: Campaign, key: id, name: latest}\n  device: {column: Device}\n  brand: {when: {campaign: {contains: brand}}}\nmeasures:\n  budget: {last: {column: Budget, per: [campaign]}}\n  clicks: {sum: Clicks}\n  cpc: {ratio: [spend, clicks], unit: money}\n  mobile: {of: clicks, where: {device: [Mobile]}}\n  spend: {sum: Cost, unit: money, currency: EUR}\n";

    #[test]
    fn a_model_that_was_written_here_is_read_again_without_loss() {
        let ads = parse_definitions(ADS).unwrap();
        let model = write_ossie(std::slice::from_ref(&ads)).unwrap();
        let lost: Vec<String> = model.lost.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(format!("{}\n\n{}", model.text, lost.join("\n")));
        assert_eq!(read_ossie(&model.text).unwrap(), (vec![ads], Vec::new()));
    }

    #[test]
    fn a_foreign_model_is_read_as_far_as_it_can_be_said() {
        let foreign = r#"{"version": "0.2.0.dev0", "semantic_model": [{"name": "shop", "datasets": [
            {"name": "orders", "source": "db.orders", "primary_key": ["id"], "fields": [
                {"name": "day", "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "ordered_on"}]}, "datatype": "Date"},
                {"name": "channel", "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "\"Channel\""}]}, "dimension": {}},
                {"name": "odd", "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "upper(x)"}]}}]}],
            "metrics": [
                {"name": "revenue", "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "SUM(orders.amount)"}]}},
                {"name": "value", "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "SUM(orders.amount) / NULLIF(COUNT(DISTINCT orders.id), 0)"}]}},
                {"name": "strange", "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "SUM(a) OVER ()"}]}}]}]}"#;
        let (sources, lost) = read_ossie(foreign).unwrap();
        let lost: Vec<String> = lost.iter().map(ToString::to_string).collect();
        assert_eq!(lost, ["orders: odd was not taken.", "orders: strange was not taken."]);
        insta::assert_snapshot!(write_definitions(&sources[0]).unwrap());
    }
}
