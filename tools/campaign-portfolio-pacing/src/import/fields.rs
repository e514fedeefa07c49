//! The fields of a delivery row that a column can be mapped to, with their names for people.

use contract::SurveyedField;
use tabular::{Mapping, Survey};

use super::schema;

/// A field as it is known before a file is surveyed.
struct Field {
    name: &'static str,
    label: &'static str,
    /// Whether a person may enter one value for all rows.
    takes_constant: bool,
    /// Another field that makes this one unnecessary.
    instead: Option<&'static str>,
}

const fn field(name: &'static str, label: &'static str) -> Field {
    Field { name, label, takes_constant: false, instead: None }
}

/// The fields, in the order in which people read them.
const FIELDS: [Field; 14] = [
    field("day", "Day"),
    Field { instead: Some("campaign_id"), ..field("campaign", "Campaign") },
    field("spend", "Spend"),
    field("impressions", "Impressions"),
    field("line_item", "Line item"),
    Field { takes_constant: true, instead: Some("account_id"), ..field("account", "Account") },
    Field { takes_constant: true, ..field("advertiser", "Advertiser") },
    Field { takes_constant: true, ..field("currency", "Currency") },
    field("campaign_id", "Campaign ID"),
    field("line_item_id", "Line item ID"),
    field("account_id", "Account ID"),
    field("time_zone", "Time zone"),
    field("hour", "Hour"),
    field("last_day", "Last day"),
];

/// The fields of a file with budgets, which is not mapped.
const BUDGET_FIELDS: [Field; 9] = [
    field("campaign", "Campaign"),
    field("budget", "Budget"),
    field("flight_start", "Flight start"),
    field("flight_end", "Flight end"),
    field("account", "Account"),
    field("advertiser", "Advertiser"),
    field("currency", "Currency"),
    field("campaign_id", "Campaign ID"),
    field("account_id", "Account ID"),
];

/// Returns the names of the fields.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|field| field.name)
}

/// Lists the names of the fields for a message.
pub(super) fn list() -> String {
    let names: Vec<&str> = names().filter(|name| *name != "last_day").collect();
    names.join(", ")
}

/// Returns the fields of a file that is mapped.
pub(super) fn of_mapping(survey: &Survey<'_>, mapping: &Mapping) -> Vec<SurveyedField> {
    FIELDS
        .iter()
        .map(|field| SurveyedField {
            is_required: schema::delivery().is_required(field.name),
            takes_constant: field.takes_constant
                && survey.stated_constant(field.name, mapping).is_none(),
            value: mapping.constants.get(field.name).cloned(),
            ..plain(field)
        })
        .collect()
}

/// Returns the fields of a file with budgets.
pub(super) fn of_budgets() -> Vec<SurveyedField> {
    BUDGET_FIELDS.iter().map(plain).collect()
}

fn plain(field: &Field) -> SurveyedField {
    SurveyedField {
        name: field.name.to_owned(),
        label: field.label.into(),
        is_required: false,
        takes_constant: false,
        instead: field.instead.map(str::to_owned),
        value: None,
    }
}
