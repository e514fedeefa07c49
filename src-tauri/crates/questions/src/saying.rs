//! Says a metric query in words that the reader reads as the same query. It says what the reader can
//! read, and nothing of a query beyond that.

use std::collections::BTreeMap;

use analytics::SourceModel;
use contract::{
    definitions::Calculation,
    metric_query::{
        Condition, Group, GroupBy, MeasureUse, MetricQuery, Scalar, StepCalculation, Test,
    },
};

use crate::numbers::as_number;

mod assuming;
mod forms;
mod times;

/// The words of a language for a query over a source.
pub(crate) struct Saying<'a> {
    /// The words.
    pub words: &'a BTreeMap<String, String>,
    /// The source.
    pub source: &'a SourceModel,
    /// The language.
    pub language: &'a str,
}

impl Saying<'_> {
    fn word(&self, key: &str) -> Option<&str> {
        self.words.get(key).map(String::as_str)
    }

    /// Returns a query in words. None if it has a member that questions cannot ask for.
    pub fn say(&self, query: &MetricQuery) -> Option<String> {
        if !query.what_if.is_empty() {
            return self.assuming(query);
        }
        if let Some(said) = self.form(query) {
            return said;
        }
        if is_beyond(query) {
            return None;
        }
        if query.rows {
            return self.rows(query);
        }
        let mut parts = Vec::new();
        if self.ranks_its_groups(query) {
            parts.push(self.ranked(query)?);
        } else {
            parts.push(self.figures(query)?);
        }
        if query.explain.is_none() {
            parts.extend(self.groups(query)?);
        }
        for condition in &query.conditions {
            parts.push(self.condition(condition)?);
        }
        if let Some(period) = &query.period {
            parts.push(self.period(period)?);
        }
        if let Some(compare) = &query.compare {
            parts.push(self.compare(compare)?);
        }
        if !self.ranks_its_groups(query) {
            parts.extend(self.order(query)?);
        }
        let source = self.source.name().as_str().replace('_', " ");
        parts.push(format!("{} {source}", self.word("source")?));
        Some(parts.join(" "))
    }

    /// Whether a query is the first groups of one dimension by its only measure, so that "top 5 campaigns by
    /// spend" says it. Another language says it with its groups and its order, which need no plural.
    fn ranks_its_groups(&self, query: &MetricQuery) -> bool {
        let ([used], [group], [order]) =
            (query.measures.as_slice(), query.by.as_slice(), query.order.as_slice())
        else {
            return false;
        };
        let is_plain =
            used.measure.as_ref() == Some(&order.by) && *used == MeasureUse::named(&order.by);
        is_plain && self.plural(group).is_some() && query.limit.is_some() && query.then.is_none()
    }

    fn ranked(&self, query: &MetricQuery) -> Option<String> {
        let (group, order) = (query.by.first()?, query.order.first()?);
        let rank = self.word(if order.descending { "top" } else { "bottom" })?;
        let limit = query.limit?;
        let group = if limit == 1 { self.group(group)? } else { self.plural(group)? };
        Some(format!("{rank} {limit} {group} {} {}", self.word("by")?, self.name(&order.by)))
    }

    /// Returns the name of a dimension in the plural. None in a language whose plural does not follow
    /// from the spelling, and if something else has that name.
    fn plural(&self, group: &Group) -> Option<String> {
        let GroupBy::Dimension(name) = &group.by else { return None };
        let noun = (self.language == "en").then(|| plural_of(&self.name(name)))?;
        let definitions = &self.source.definitions;
        let mut names = definitions.measures.keys().chain(definitions.dimensions.keys());
        let is_taken = names.any(|other| other != name && plain(other) == noun);
        (!is_taken).then_some(noun)
    }

    /// Returns a query for single rows in words.
    fn rows(&self, query: &MetricQuery) -> Option<String> {
        let is_plain = query.measures.is_empty() && query.by.is_empty() && query.columns.is_empty();
        let list = self.word("rows")?;
        let time = self.source.definitions.time.as_ref().map(|time| time.column.as_str());
        let mut parts = match (query.order.as_slice(), query.limit) {
            ([], None) => vec![list.to_owned()],
            ([order], Some(limit)) if order.descending && Some(order.by.as_str()) == time => {
                vec![format!("{} {limit} {}", self.word("latest")?, self.word("records")?)]
            }
            _ => return None,
        };
        for condition in &query.conditions {
            parts.push(self.condition(condition)?);
        }
        if let Some(period) = &query.period {
            parts.push(self.period(period)?);
        }
        let source = plain(self.source.name().as_str());
        parts.push(format!("{} {source}", self.word("source")?));
        is_plain.then(|| parts.join(" "))
    }

    /// Returns the figures, with the groups that are counted or averaged over.
    fn figures(&self, query: &MetricQuery) -> Option<String> {
        if let Some(explain) = &query.explain {
            let names: Vec<String> = explain.by.iter().map(|name| self.name(name)).collect();
            let by = self.list(&names)?;
            let measure = self.name(&explain.measure);
            return Some(format!("{} {measure} {} {by}", self.word("explain")?, self.word("by")?));
        }
        if let Some(then) = &query.then {
            let [step] = then.measures.as_slice() else { return None };
            let [group] = query.by.as_slice() else { return None };
            let name = self.group(group)?;
            return match &step.calculation {
                StepCalculation::Count(_) => {
                    let is_name = matches!(group.by, GroupBy::Dimension(_));
                    let count = format!("{} {name}", self.word("how_many")?);
                    (is_name && query.measures.len() == 1).then_some(count)
                }
                StepCalculation::Average(_) => {
                    let figure = self.figure(query.measures.first()?)?;
                    let words = (self.word("average")?, self.word("per")?);
                    Some(format!("{} {figure} {} {name}", words.0, words.1))
                }
                _ => None,
            };
        }
        let figures: Option<Vec<String>> =
            query.measures.iter().map(|used| self.figure(used)).collect();
        self.list(&figures?)
    }

    fn figure(&self, used: &MeasureUse) -> Option<String> {
        if !used.conditions.is_empty() {
            return None;
        }
        if let Some(calculation) = &used.calculation {
            return self.calculation(calculation);
        }
        let name = self.name(used.measure.as_deref()?);
        if !used.share_of.is_empty() {
            let share = format!("{} {name}", self.word("share")?);
            return match used.share_of.as_slice() {
                [all] if all == "total" => Some(share),
                [parent] => Some(format!("{share} {} {}", self.word("within")?, self.name(parent))),
                _ => None,
            };
        }
        if used.running {
            return Some(format!("{} {name}", self.word("running")?));
        }
        if let Some(span) = used.rolling {
            return Some(format!("{} {} {name}", self.word("rolling")?, self.span(span)?));
        }
        match used.per {
            Some(unit) => {
                let words = (self.word("average")?, self.word("per")?, self.unit(unit)?);
                Some(format!("{} {name} {} {}", words.0, words.1, words.2))
            }
            None => Some(name),
        }
    }

    fn calculation(&self, calculation: &Calculation) -> Option<String> {
        match calculation {
            Calculation::Ratio([a, b]) => {
                Some(format!("{} {} {}", self.name(a), self.word("per")?, self.name(b)))
            }
            Calculation::Minus([a, b]) => {
                Some(format!("{} {} {}", self.name(a), self.word("minus")?, self.name(b)))
            }
            Calculation::Plus(names) => match names.as_slice() {
                [a, b] => Some(format!("{} {} {}", self.name(a), self.word("plus")?, self.name(b))),
                _ => None,
            },
            Calculation::Distinct(name) => {
                let words = (self.word("how_many")?, self.word("different")?);
                Some(format!("{} {} {}", words.0, words.1, self.name(name)))
            }
            Calculation::Greatest(_) | Calculation::Least(_) => None,
            Calculation::Average(column) | Calculation::Median(column) => {
                let measures = &self.source.definitions.measures;
                let is_own = |found: &Calculation| match found {
                    Calculation::Sum(own) | Calculation::Average(own) => own == column,
                    _ => false,
                };
                let (name, _) = measures.iter().find(|(_, m)| is_own(&m.calculation))?;
                let is_average = matches!(calculation, Calculation::Average(_));
                let word = self.word(if is_average { "average" } else { "median" })?;
                Some(format!("{word} {}", self.name(name)))
            }
            _ => None,
        }
    }

    fn groups(&self, query: &MetricQuery) -> Option<Option<String>> {
        let is_within = |group: &&Group| {
            let parents = query.measures.iter().flat_map(|used| &used.share_of);
            let names: Vec<&String> = parents.collect();
            !matches!(&group.by, GroupBy::Dimension(name) if names.contains(&name))
        };
        if query.then.is_some() {
            return Some(None);
        }
        if let Some(top) = &query.top {
            let of = top.of.as_deref()?;
            let per = top.per.iter().map(|name| self.name_or_grain(name));
            let per = self.list(&per.collect::<Option<Vec<_>>>()?)?;
            let rank = self.word(if top.lowest { "bottom" } else { "top" })?;
            let by = self.name(top.by.as_deref()?);
            let words = (self.word("per")?, self.word("by")?);
            let of = self.name(of);
            return Some(Some(format!("{rank} {} {of} {} {per} {} {by}", top.n, words.0, words.1)));
        }
        if self.ranks_its_groups(query) {
            return Some(None);
        }
        let names: Option<Vec<String>> =
            query.by.iter().filter(is_within).map(|group| self.group(group)).collect();
        let names = names?;
        if names.is_empty() {
            return Some(None);
        }
        Some(Some(format!("{} {}", self.word("by")?, self.list(&names)?)))
    }

    fn name_or_grain(&self, name: &str) -> Option<String> {
        let is_own = self.source.definitions.dimensions.contains_key(name);
        if is_own { Some(self.name(name)) } else { self.word(name).map(str::to_owned) }
    }

    fn group(&self, group: &Group) -> Option<String> {
        match &group.by {
            GroupBy::Dimension(name) => Some(self.name(name)),
            GroupBy::Time(grain) => {
                let key = serde_json::to_value(grain).ok()?;
                self.word(key.as_str()?).map(str::to_owned)
            }
            GroupBy::Define(_) => None,
        }
    }

    fn condition(&self, condition: &Condition) -> Option<String> {
        let Condition::Is { name, test } = condition else { return None };
        match test {
            Test::Starts(texts) => self.texts("starts", name, texts),
            Test::Ends(texts) => self.texts("ends", name, texts),
            Test::Contains(texts) => self.texts("contains", name, texts),
            // A yes is said by the name of what holds: "at risk".
            Test::OneOf(values) if values.as_slice() == [Scalar::Flag(true)] => {
                Some(self.name(name))
            }
            Test::NoneOf(values) if values.as_slice() == [Scalar::Flag(true)] => {
                Some(format!("{} {}", self.word("not")?, self.name(name)))
            }
            Test::OneOf(values) => {
                Some(format!("{} {}", self.word("in")?, self.values_of(name, values)?))
            }
            Test::NoneOf(values) => {
                Some(format!("{} {}", self.word("not")?, self.values_of(name, values)?))
            }
            Test::Bounds(bounds) => {
                let sides = [
                    ("above", &bounds.above),
                    ("from", &bounds.from),
                    ("below", &bounds.below),
                    ("to", &bounds.to),
                ];
                let mut given =
                    sides.into_iter().filter_map(|(key, side)| Some((key, side.as_ref()?)));
                let ((key, Scalar::Number(number)), None) = (given.next()?, given.next()) else {
                    return None;
                };
                let words = (self.word("with")?, self.word(key)?);
                let Some(own) = name.strip_suffix("_growth") else {
                    return Some(format!("{} {} {} {number}", words.0, self.name(name), words.1));
                };
                let percent = as_number(100.0 * number.as_f64()?)?;
                let growth = self.word("growth")?;
                Some(format!("{} {} {growth} {} {percent} %", words.0, self.name(own), words.1))
            }
            _ => None,
        }
    }

    fn texts(&self, key: &str, name: &str, texts: &[String]) -> Option<String> {
        let texts: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
        let texts = texts.join(&format!(" {} ", self.word("or")?));
        Some(format!("{} {} {} {texts}", self.word("in")?, self.name(name), self.word(key)?))
    }

    /// Returns values of a dimension, as it names them for people.
    fn values_of(&self, dimension: &str, values: &[Scalar]) -> Option<String> {
        let named = |value: &Scalar| match value {
            Scalar::Text(text) => self.source.value_name(dimension, text).map(|named| {
                let own = named.names.get(self.language).cloned();
                Scalar::Text(own.unwrap_or(named.text))
            }),
            Scalar::Null | Scalar::Flag(_) | Scalar::Number(_) => None,
        };
        let values: Vec<Scalar> =
            values.iter().map(|value| named(value).unwrap_or_else(|| value.clone())).collect();
        self.values(&values)
    }

    pub(super) fn values(&self, values: &[Scalar]) -> Option<String> {
        let text = |value: &Scalar| match value {
            Scalar::Text(text) => Some(format!("\"{text}\"")),
            _ => None,
        };
        self.list(&values.iter().map(text).collect::<Option<Vec<_>>>()?)
    }

    fn order(&self, query: &MetricQuery) -> Option<Option<String>> {
        let Some(order) = query.order.first() else { return Some(None) };
        let ending = |key: &str| order.by.strip_suffix(key).filter(|_| query.compare.is_some());
        let by = match (ending("_change"), ending("_growth")) {
            (Some(name), _) => format!("{} {}", self.name(name), self.word("change")?),
            (_, Some(name)) => format!("{} {}", self.name(name), self.word("growth")?),
            (None, None) => self.name(&order.by),
        };
        Some(Some(match query.limit {
            Some(limit) => {
                let rank = self.word(if order.descending { "top" } else { "bottom" })?;
                format!("{rank} {limit} {} {by}", self.word("by")?)
            }
            None => {
                let direction = if order.descending { "descending" } else { "ascending" };
                format!("{} {by} {}", self.word("sorted")?, self.word(direction)?)
            }
        }))
    }

    /// Returns a name as people write it: in another language than English by its first synonym, if
    /// nothing else has that name.
    pub(super) fn name(&self, name: &str) -> String {
        let definitions = &self.source.definitions;
        let all = || {
            let measures = definitions.measures.iter().map(|(name, m)| (name, &m.synonyms));
            measures.chain(definitions.dimensions.iter().map(|(name, d)| (name, &d.synonyms)))
        };
        let own = all().find(|(own, _)| *own == name);
        let word = own.and_then(|(_, synonyms)| synonyms.get(self.language)?.first());
        let is_other = |word: &String| {
            all().any(|(own, synonyms)| {
                own != name && (own == word || synonyms.values().flatten().any(|one| one == word))
            })
        };
        match word.filter(|word| self.language != "en" && !is_other(word)) {
            Some(word) => word.clone(),
            None => plain(name),
        }
    }

    /// Returns a list with "and" between its parts.
    fn list(&self, parts: &[String]) -> Option<String> {
        (!parts.is_empty()).then_some(())?;
        Some(parts.join(&format!(" {} ", self.word("and")?)))
    }
}

/// Whether a query has a member that questions do not ask for.
fn is_beyond(query: &MetricQuery) -> bool {
    query.fill
        || query.totals
        || query.pivot.is_some()
        || query.in_currency.is_some()
        || !query.what_if.is_empty()
        || query.order.len() > 1
        || (query.limit.is_some() && query.order.is_empty())
        || (!query.columns.is_empty() && !query.rows)
        || (query.top.as_ref().is_some_and(|top| top.others || top.per.is_empty()))
        || (query.measures.is_empty() && query.explain.is_none() && !query.rows)
}

/// Returns an English noun in the plural. One that is a plural, or no word, stays.
fn plural_of(noun: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| noun.ends_with(ending));
    let is_word = noun.ends_with(char::is_alphabetic);
    if !is_word || (noun.ends_with('s') && !ends(&["ss", "us", "is"])) {
        return noun.to_owned();
    }
    let before_y = noun.strip_suffix('y').filter(|rest| !rest.ends_with(['a', 'e', 'i', 'o', 'u']));
    match before_y {
        Some(rest) => format!("{rest}ies"),
        None if ends(&["s", "x", "z", "ch", "sh"]) => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

/// Returns a name as people write it.
fn plain(name: &str) -> String {
    let own = name.rsplit_once('.').map_or(name, |(_, own)| own);
    own.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plural_of_a_name_follows_its_spelling() {
        for (one, many) in [
            ("campaign", "campaigns"),
            ("country", "countries"),
            ("day", "days"),
            ("status", "statuses"),
            ("ad class", "ad classes"),
            ("tax box", "tax boxes"),
            ("accounts", "accounts"),
            ("level 2", "level 2"),
        ] {
            assert_eq!(plural_of(one), many);
        }
    }
}
