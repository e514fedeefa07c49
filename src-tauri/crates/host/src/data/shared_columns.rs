//! The columns by which a file and a source are compared: those that tell rows apart, and those that
//! add up. Pure: it reads and stores nothing.

use contract::sources::{ColumnKind, ColumnUse, FoundColumn};

/// The columns by which a file and a source are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shared {
    /// The columns whose values tell rows apart, in both tables.
    pub(super) keys: Vec<String>,
    /// The names of things whose id is a key: the place of the id in `keys`, and the column.
    pub(super) names: Vec<(usize, String)>,
    /// The numbers that add up, in both tables. Amounts of money come first.
    pub(super) sums: Vec<String>,
    /// How many of `sums` are amounts of money.
    pub(super) amounts: usize,
    /// The time column of both.
    pub(super) time: Option<Time>,
    /// The column with names of things, such as campaigns.
    pub(super) label: Option<String>,
    /// The column with the currency of the amounts.
    pub(super) currency: Option<String>,
    /// Whether only one of both has a column with currencies, so that amounts are not added.
    pub(super) has_mixed_currency: bool,
    /// Whether only one of both has some column that tells rows apart, so that a row of one may be
    /// several of the other.
    pub(super) is_other_grain: bool,
}

/// A time column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) column: String,
}

impl Shared {
    /// Finds the shared columns of a file and a source.
    pub(super) fn find(file: &[FoundColumn], before: &[FoundColumn]) -> Self {
        let pairs: Vec<(&FoundColumn, &FoundColumn)> = file
            .iter()
            .filter_map(|column| {
                Some((column, before.iter().find(|other| other.name == column.name)?))
            })
            .collect();
        let is_key = |(column, _): &&(&FoundColumn, &FoundColumn)| tells_apart(column);
        let lacks = |columns: &[FoundColumn], name: &str| !columns.iter().any(|c| c.name == name);
        let is_own = |columns: &[FoundColumn], others: &[FoundColumn]| {
            let mut keys = columns.iter().filter(|c| tells_apart(c) && c.constant.is_none());
            keys.any(|column| lacks(others, &column.name))
        };
        let names =
            |use_of: ColumnUse| pairs.iter().filter(move |(column, _)| column.usage == use_of);
        let ids: Vec<(&str, String)> = names(ColumnUse::Id)
            .filter_map(|(column, _)| Some((column.name.as_str(), named_by_id(&column.name)?)))
            .collect();
        // A thing with an id is the same thing under another name.
        let id_of = |column: &FoundColumn| {
            let mut ids = ids.iter().filter(|_| column.usage == ColumnUse::Dimension);
            ids.find(|(_, named)| *named == column.name.to_lowercase()).map(|(id, _)| *id)
        };
        let (with_id, keys): (Vec<&FoundColumn>, Vec<&FoundColumn>) = pairs
            .iter()
            .filter(is_key)
            .map(|(column, _)| *column)
            .partition(|c| id_of(c).is_some());
        let keys: Vec<String> = keys.into_iter().map(|column| column.name.clone()).collect();
        let place_of_id = |column: &FoundColumn| {
            let id = id_of(column)?;
            keys.iter().position(|key| key == id)
        };
        let named = with_id
            .into_iter()
            .filter_map(|column| Some((place_of_id(column)?, column.name.clone())))
            .collect();
        let mut sums: Vec<&FoundColumn> = pairs
            .iter()
            .filter(|(column, other)| column.usage == ColumnUse::Sum && is_number(other))
            .map(|(column, _)| *column)
            .collect();
        sums.sort_by_key(|column| !is_money(column));
        let amounts = sums.iter().filter(|column| is_money(column)).count();
        let time = names(ColumnUse::Time)
            .find(|(column, other)| is_time(column) && is_time(other))
            .map(|(column, _)| Time { column: column.name.clone() });
        let label = names(ColumnUse::Dimension).find(|(column, _)| column.kind == ColumnKind::Text);
        Self {
            names: named,
            keys,
            sums: sums.into_iter().map(|column| column.name.clone()).collect(),
            amounts,
            time,
            label: label.map(|(column, _)| column.name.clone()),
            currency: names(ColumnUse::Currency).next().map(|(column, _)| column.name.clone()),
            has_mixed_currency: has_currency(file) != has_currency(before),
            is_other_grain: is_own(file, before) || is_own(before, file),
        }
    }
}

/// Whether the values of a column tell rows apart.
fn tells_apart(column: &FoundColumn) -> bool {
    matches!(
        column.usage,
        ColumnUse::Dimension
            | ColumnUse::Id
            | ColumnUse::Time
            | ColumnUse::Currency
            | ColumnUse::Account
    )
}

/// Returns the name of the thing whose id a column has: `campaign` for `Campaign ID`.
fn named_by_id(column: &str) -> Option<String> {
    let name = column.to_lowercase();
    let ending = [" id", "_id", "-id", "id"].iter().find_map(|ending| name.strip_suffix(ending));
    ending.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn is_number(column: &FoundColumn) -> bool {
    matches!(column.kind, ColumnKind::Whole | ColumnKind::Decimal)
}

fn is_time(column: &FoundColumn) -> bool {
    matches!(column.kind, ColumnKind::Day | ColumnKind::Moment)
}

fn is_money(column: &FoundColumn) -> bool {
    column.currency_column.is_some()
        || column.unit.as_deref().is_some_and(|unit| {
            unit.len() == 3 && unit.chars().all(|letter| letter.is_ascii_uppercase())
        })
}

fn has_currency(columns: &[FoundColumn]) -> bool {
    columns.iter().any(|column| column.usage == ColumnUse::Currency)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: ColumnKind, usage: ColumnUse) -> FoundColumn {
        FoundColumn { name: name.to_owned(), kind, usage, ..FoundColumn::default() }
    }

    #[test]
    fn a_thing_with_an_id_is_compared_by_the_id_and_not_by_its_name() {
        let id = column("Campaign ID", ColumnKind::Text, ColumnUse::Id);
        let name = column("Campaign", ColumnKind::Text, ColumnUse::Dimension);
        let day = column("Day", ColumnKind::Day, ColumnUse::Time);
        let cost = column("Cost", ColumnKind::Decimal, ColumnUse::Sum);
        let both = [day.clone(), id, name.clone(), cost.clone()];
        let shared = Shared::find(&both, &both);
        assert_eq!(shared.keys, ["Day", "Campaign ID"]);
        assert_eq!(shared.names, [(1, "Campaign".to_owned())]);
        let without = [day, name, cost];
        let shared = Shared::find(&both, &without);
        assert_eq!(shared.keys, ["Day", "Campaign"]);
        assert_eq!(shared.sums, ["Cost"]);
    }
}
