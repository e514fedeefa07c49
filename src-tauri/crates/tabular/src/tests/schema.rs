//! The schema of the tests: delivery rows, with the layouts of the pack that reads them.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::Schema;

const FIELDS: [&str; 14] = [
    "day",
    "last_day",
    "hour",
    "campaign",
    "campaign_id",
    "line_item",
    "line_item_id",
    "spend",
    "impressions",
    "currency",
    "time_zone",
    "advertiser",
    "account",
    "account_id",
];

macro_rules! layout {
    ($name:literal) => {
        include_str!(concat!("../../../../../tools/campaign-portfolio-pacing/layouts/", $name))
    };
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let owned = |fields: &[&str]| fields.iter().map(|field| (*field).to_owned()).collect();
    let layouts = [layout!("delivery.json"), layout!("google-ads.json"), layout!("meta-ads.json")];
    Schema {
        fields: owned(&FIELDS),
        required: vec![owned(&["day"]), owned(&["campaign", "campaign_id"]), owned(&["spend"])],
        day: "day".to_owned(),
        amount: "spend".to_owned(),
        constants: BTreeMap::from([("currency".to_owned(), "spend".to_owned())]),
        totals: owned(&["campaign", "campaign_id"]),
        layouts: layouts.iter().map(|file| serde_json::from_str(file).unwrap()).collect(),
    }
});

/// Returns the schema of delivery rows.
pub(crate) fn delivery() -> &'static Schema {
    &SCHEMA
}
