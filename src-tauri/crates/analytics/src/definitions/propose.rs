//! Proposes definitions for a new source, from the names, types and values of its columns.

use std::collections::BTreeMap;

use language::headings::{Role, role_of_words};

use contract::{
    SourceName,
    definitions::{
        Calculation, CurrencyOf, Definitions, Dimension, DimensionKind, Grain, LastValue, Measure,
        NameRule, Synonyms, TimeColumn, Unit,
    },
    sources::{ColumnKind, ColumnUse, FoundColumn, TableReport},
};

mod pacing;
mod plan;

pub use pacing::propose_pacing;

/// Proposes definitions. A person approves those with a risk.
pub fn propose(source: &SourceName, report: &TableReport) -> Definitions {
    let mut definitions = Definitions::new(source.clone());
    let columns = &report.columns;
    let time = columns
        .iter()
        .find(|column| column.usage == ColumnUse::Time && is_time(column))
        .or_else(|| columns.iter().find(|column| is_time(column)));
    definitions.time = time.map(|time| TimeColumn {
        covers: report.row_covers.clone(),
        ..TimeColumn::new(time.name.clone())
    });
    let currency_column = columns.iter().find(|column| column.usage == ColumnUse::Currency);
    let roles: Vec<Option<Role>> =
        columns.iter().map(|column| role_of_words(&column.heading)).collect();
    for (column, role) in columns.iter().zip(&roles) {
        if time.is_some_and(|time| time.name == column.name) {
            continue;
        }
        if let Some(measure) = measure_of(column, *role, columns, &roles, currency_column) {
            insert(&mut definitions.measures, column, *role, measure);
        } else if is_dimension(column) {
            let dimension = dimension_of(column, *role, columns, &roles);
            insert(&mut definitions.dimensions, column, *role, dimension);
        }
    }
    propose_ratios(&mut definitions);
    plan::propose_plan(&mut definitions, columns);
    let is_lookup = time.is_none() && definitions.measures.is_empty();
    let one_per = if is_lookup { key_of_lookup(columns) } else { grain(columns, time) };
    definitions.rows = Grain { one_per };
    definitions
}

fn is_time(column: &FoundColumn) -> bool {
    matches!(column.kind, ColumnKind::Day | ColumnKind::Moment)
}

fn is_number(column: &FoundColumn) -> bool {
    matches!(column.kind, ColumnKind::Whole | ColumnKind::Decimal)
}

fn is_dimension(column: &FoundColumn) -> bool {
    match column.usage {
        ColumnUse::Dimension | ColumnUse::Id | ColumnUse::Currency | ColumnUse::Account => true,
        ColumnUse::Time => true,
        // Ratios of the file cannot be added up, and are computed from sums instead.
        ColumnUse::Ratio | ColumnUse::Sum | ColumnUse::Last | ColumnUse::Other => false,
    }
}

/// Adds a definition under the usual name of its role, else under that of its column.
fn insert<T>(
    definitions: &mut BTreeMap<String, T>,
    column: &FoundColumn,
    role: Option<Role>,
    value: T,
) {
    let usual =
        role.map(|role| role.name().to_owned()).filter(|name| !definitions.contains_key(name));
    let mut name = usual.unwrap_or_else(|| name_for(&column.name));
    let plain = name.clone();
    let mut number = 2;
    while definitions.contains_key(&name) {
        name = format!("{plain}_{number}");
        number += 1;
    }
    definitions.insert(name, value);
}

/// Returns the name of a definition for a column: lower case, with `_` between words.
pub(crate) fn name_for(column: &str) -> String {
    let mut name = String::new();
    for letter in column.chars() {
        if letter.is_alphanumeric() {
            name.extend(letter.to_lowercase());
        } else if !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() { "column".to_owned() } else { name.to_owned() }
}

/// Adds the heading as a synonym, so that it is found in the language of the file.
fn synonyms(column: &FoundColumn, role: Option<Role>) -> Synonyms {
    let name = role.map_or_else(|| name_for(&column.name), |role| role.name().to_owned());
    let heading = column.heading.trim();
    if heading.is_empty() || heading.to_lowercase() == name {
        return Synonyms::new();
    }
    let mut found = Synonyms::new();
    found.insert("file".to_owned(), vec![heading.to_owned()]);
    found
}

fn measure_of(
    column: &FoundColumn,
    role: Option<Role>,
    columns: &[FoundColumn],
    roles: &[Option<Role>],
    currency_column: Option<&FoundColumn>,
) -> Option<Measure> {
    if !is_number(column) {
        return None;
    }
    let is_budget = role == Some(Role::Budget) && column.usage != ColumnUse::Sum;
    let calculation = match column.usage {
        ColumnUse::Last => last_of(column, columns, roles),
        _ if is_budget => last_of(column, columns, roles),
        ColumnUse::Sum => Calculation::Sum(column.name.clone()),
        // People who were reached are counted once in each row, and again in the next one.
        ColumnUse::Ratio if role == Some(Role::Reach) => Calculation::Single(column.name.clone()),
        ColumnUse::Dimension
        | ColumnUse::Id
        | ColumnUse::Ratio
        | ColumnUse::Time
        | ColumnUse::Currency
        | ColumnUse::Account
        | ColumnUse::Other => return None,
    };
    let mut measure = Measure::of(calculation);
    measure.synonyms = synonyms(column, role);
    let unit = column.unit.as_deref();
    let code = unit.filter(|unit| is_currency(unit));
    let is_money =
        code.is_some() || column.currency_column.is_some() || role.is_some_and(Role::is_money);
    if is_money {
        measure.unit = Some(Unit::Money);
        let own = column.currency_column.clone();
        let own = own.or_else(|| currency_column.map(|column| column.name.clone()));
        measure.currency = match (own, code) {
            (Some(column), _) => Some(CurrencyOf::Column { column }),
            (None, Some(code)) => Some(CurrencyOf::Constant(code.to_owned())),
            (None, None) => None,
        };
    } else if let Some(unit) = unit.filter(|unit| *unit != "percent") {
        measure.unit = Some(Unit::Named(unit.to_owned()));
    }
    if role == Some(Role::Conversions) {
        measure.settles_after = Some(30);
    }
    Some(measure)
}

fn is_currency(unit: &str) -> bool {
    unit.len() == 3 && unit.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns the last value of each campaign, or of whatever the file has in its place.
fn last_of(column: &FoundColumn, columns: &[FoundColumn], roles: &[Option<Role>]) -> Calculation {
    let wanted = [Role::CampaignId, Role::Campaign, Role::Account];
    let key = wanted.iter().find_map(|wanted| {
        let mut with_roles = columns.iter().zip(roles);
        let (column, _) = with_roles
            .find(|(column, role)| **role == Some(*wanted) && column.usage != ColumnUse::Other)?;
        Some(column.name.clone())
    });
    Calculation::Last(LastValue { column: column.name.clone(), per: key.into_iter().collect() })
}

fn dimension_of(
    column: &FoundColumn,
    role: Option<Role>,
    columns: &[FoundColumn],
    roles: &[Option<Role>],
) -> Dimension {
    let mut dimension = Dimension::of_kind(DimensionKind::Column(column.name.clone()));
    dimension.synonyms = synonyms(column, role);
    // Of several columns with names of the same kind, such as accounts and their advertisers, an id
    // belongs to the first.
    let mut with_role = columns.iter().zip(roles).filter(|(_, other)| **other == role);
    let is_first = with_role.next().is_some_and(|(first, _)| first.name == column.name);
    let id = role.filter(|_| is_first).and_then(Role::id);
    let key = id.and_then(|id| {
        let mut with_roles = columns.iter().zip(roles);
        let (column, _) =
            with_roles.find(|(column, role)| **role == Some(id) && can_be_key(column))?;
        Some(column)
    });
    // An id with empty cells identifies only some of the rows.
    if let Some(key) = key.filter(|key| key.empty == 0) {
        dimension.key = Some(key.name.clone());
        dimension.name = Some(NameRule::Latest);
    }
    dimension
}

/// Whether a value of the column stands for one thing only. The import gives rounded and ambiguous
/// ids another use.
fn can_be_key(column: &FoundColumn) -> bool {
    matches!(column.usage, ColumnUse::Id | ColumnUse::Account)
}

/// Adds the ratios that follow from the sums that a source has.
fn propose_ratios(definitions: &mut Definitions) {
    let ratios = [
        ("ctr", "clicks", "impressions", Some(Unit::Percent), None),
        ("cpc", "spend", "clicks", Some(Unit::Money), Some(contract::definitions::Better::Lower)),
        (
            "cpa",
            "spend",
            "conversions",
            Some(Unit::Money),
            Some(contract::definitions::Better::Lower),
        ),
        ("roas", "revenue", "spend", None, Some(contract::definitions::Better::Higher)),
        ("conversion_rate", "conversions", "clicks", Some(Unit::Percent), None),
        ("average_order_value", "revenue", "orders", Some(Unit::Money), None),
    ];
    for (name, above, below, unit, better) in ratios {
        let has = |name: &str| definitions.measures.contains_key(name);
        if has(above) && has(below) && !has(name) {
            let pair = [above.to_owned(), below.to_owned()];
            let mut measure = Measure::of(Calculation::Ratio(pair));
            measure.unit = unit;
            measure.better = better;
            definitions.measures.insert(name.to_owned(), measure);
        }
    }
}

/// Returns the key of a table that only describes things: its id, else its first name.
fn key_of_lookup(columns: &[FoundColumn]) -> Vec<String> {
    let first = |usage: ColumnUse| {
        columns.iter().find(|column| column.usage == usage && column.constant.is_none())
    };
    let key = first(ColumnUse::Id).or_else(|| first(ColumnUse::Dimension));
    key.map(|column| column.name.clone()).into_iter().collect()
}

/// Returns the columns that tell rows apart: the time and all dimensions. Names whose id is there are
/// left out.
fn grain(columns: &[FoundColumn], time: Option<&FoundColumn>) -> Vec<String> {
    let is_first = |column: &FoundColumn, role: Role| {
        let mut with_role = columns.iter();
        let first = with_role.find(|other| role_of_words(&other.heading) == Some(role));
        first.is_some_and(|first| first.name == column.name)
    };
    let has_id = |column: &FoundColumn| {
        let role = role_of_words(&column.heading).filter(|role| is_first(column, *role));
        let id = role.and_then(Role::id);
        let is_id = |other: &FoundColumn, id| {
            role_of_words(&other.heading) == Some(id) && can_be_key(other)
        };
        id.is_some_and(|id| columns.iter().any(|other| is_id(other, id)))
    };
    let is_part = |column: &&FoundColumn| {
        time.is_some_and(|time| time.name == column.name)
            || (is_dimension(column)
                && column.usage != ColumnUse::Currency
                && column.constant.is_none()
                && !has_id(column))
    };
    columns.iter().filter(is_part).map(|column| column.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::write::write_definitions;

    pub(super) fn column(name: &str, kind: ColumnKind, usage: ColumnUse) -> FoundColumn {
        FoundColumn {
            name: name.to_owned(),
            heading: name.to_owned(),
            kind,
            scale: 2,
            usage,
            ..FoundColumn::default()
        }
    }

    #[test]
    fn an_id_that_the_import_does_not_trust_is_no_key_of_a_name_and_no_part_of_the_rows() {
        for (usage, is_key) in
            [(ColumnUse::Id, true), (ColumnUse::Other, false), (ColumnUse::Dimension, false)]
        {
            let report = TableReport {
                columns: vec![
                    column("Day", ColumnKind::Day, ColumnUse::Time),
                    column("Campaign ID", ColumnKind::Text, usage),
                    column("Campaign name", ColumnKind::Text, ColumnUse::Dimension),
                    column("Budget", ColumnKind::Decimal, ColumnUse::Last),
                ],
                ..TableReport::default()
            };
            let definitions = propose(&"meta".into(), &report);
            let campaign = &definitions.dimensions["campaign"];
            assert_eq!(campaign.key.is_some(), is_key, "{usage:?}");
            assert_eq!(campaign.name.is_some(), is_key, "{usage:?}");
            let one_per = &definitions.rows.one_per;
            assert_eq!(one_per.contains(&"Campaign name".to_owned()), !is_key, "{usage:?}");
            let is_stored_only = usage == ColumnUse::Other;
            assert_eq!(one_per.contains(&"Campaign ID".to_owned()), !is_stored_only, "{usage:?}");
            let Calculation::Last(last) = &definitions.measures["budget"].calculation else {
                panic!("{definitions:?}");
            };
            let per = if is_stored_only { "Campaign name" } else { "Campaign ID" };
            assert_eq!(last.per, [per], "{usage:?}");
        }
    }

    #[test]
    fn the_id_of_an_account_is_no_key_of_its_advertisers() {
        let named = |name: &str| column(name, ColumnKind::Text, ColumnUse::Account);
        let report = TableReport {
            columns: vec![
                column("Day", ColumnKind::Day, ColumnUse::Time),
                column("Account ID", ColumnKind::Text, ColumnUse::Id),
                named("Account"),
                named("Advertiser"),
                column("Cost", ColumnKind::Decimal, ColumnUse::Sum),
            ],
            ..TableReport::default()
        };
        let definitions = propose(&"ads".into(), &report);
        assert_eq!(definitions.dimensions["account"].key.as_deref(), Some("Account ID"));
        assert_eq!(definitions.dimensions["advertiser"].key, None);
        assert_eq!(definitions.rows.one_per, ["Day", "Account ID", "Advertiser"]);
    }

    #[test]
    fn a_swedish_export_gets_the_usual_names_with_its_headings_as_synonyms() {
        let mut cost = column("Kostnad", ColumnKind::Decimal, ColumnUse::Sum);
        cost.unit = Some("SEK".to_owned());
        let report = TableReport {
            columns: vec![
                column("Dag", ColumnKind::Day, ColumnUse::Time),
                column("Kampanj", ColumnKind::Text, ColumnUse::Dimension),
                column("Kampanj-id", ColumnKind::Text, ColumnUse::Id),
                column("Enhet", ColumnKind::Text, ColumnUse::Dimension),
                cost,
                column("Klick", ColumnKind::Whole, ColumnUse::Sum),
                column("Visningar", ColumnKind::Whole, ColumnUse::Sum),
                column("CTR", ColumnKind::Decimal, ColumnUse::Ratio),
                column("Konverteringar", ColumnKind::Decimal, ColumnUse::Sum),
            ],
            ..TableReport::default()
        };
        let definitions = propose(&"google_ads".into(), &report);
        insta::assert_snapshot!(write_definitions(&definitions).unwrap());
    }
}
