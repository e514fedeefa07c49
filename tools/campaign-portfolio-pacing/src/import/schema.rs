//! The data that the import reads from tables: the fields of a delivery row, and the exports of
//! advertising platforms that are recognised without any mapping by a person.

use std::{collections::BTreeMap, sync::LazyLock};

use tabular::{Layout, Schema};

use super::{fields, layouts::LAYOUTS};

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let owned = |fields: &[&str]| fields.iter().map(|field| (*field).to_owned()).collect();
    Schema {
        fields: fields::names().map(str::to_owned).collect(),
        required: vec![owned(&["day"]), owned(&["campaign", "campaign_id"]), owned(&["spend"])],
        day: "day".to_owned(),
        amount: "spend".to_owned(),
        constants: BTreeMap::from([("currency".to_owned(), "spend".to_owned())]),
        totals: owned(&["campaign", "campaign_id"]),
        layouts: LAYOUTS
            .iter()
            .filter_map(|file| serde_json::from_str::<Layout>(file).ok())
            .collect(),
    }
});

/// Returns the schema of delivery rows.
pub(super) fn delivery() -> &'static Schema {
    &SCHEMA
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_import_layout_uses_only_fields_of_the_schema() {
        assert_eq!(delivery().layouts.len(), LAYOUTS.len());
        for layout in &delivery().layouts {
            for field in layout.columns.keys().chain(layout.constants.keys()) {
                assert_eq!(delivery().field(field), Some(field.as_str()), "{}", layout.id);
            }
        }
    }

    #[test]
    fn required_fields_and_fields_of_totals_exist() {
        let schema = delivery();
        for field in schema.required.iter().flatten().chain(&schema.totals) {
            assert!(schema.field(field).is_some(), "{field}");
        }
        assert!(schema.is_required("campaign") && !schema.is_required("campaign_id"));
    }
}
