//! Values that a person enters for the records of a pack's data, such as the budgets of campaigns.
//! The pack defines the fields.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{PackId, Text, data::ImportProblem};

/// Requests the records that take values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataEntriesParams {
    /// The pack that owns the data.
    pub pack: PackId,
    /// A part of a title or group to search for; empty lists all.
    pub query: String,
}

/// The records that take values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataEntries {
    /// The fields that take values, in display order.
    pub fields: Vec<EntryField>,
    /// The first records, by group and title.
    pub entries: Vec<DataEntry>,
    /// The number of all matching records.
    pub total: u64,
}

/// A value that can be entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct EntryField {
    /// The name in `DataEntry::values`.
    pub name: String,
    /// The label shown to people.
    pub label: Text,
    /// The kind of value.
    pub kind: EntryKind,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// An amount of money.
    Amount,
    /// A calendar day, written `2026-11-30`.
    Day,
}

/// A record and its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataEntry {
    /// The identifier of the record.
    pub id: String,
    /// The name of the record, such as a campaign.
    pub title: String,
    /// The name of the record's group, such as an account.
    pub group: String,
    /// The currency of the record's amounts; empty if unknown.
    pub currency: String,
    /// The known values.
    pub values: BTreeMap<String, String>,
}

/// Stores the values of a record. A value that is absent or empty is removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataEntryParams {
    /// The pack that owns the data.
    pub pack: PackId,
    /// The identifier of the record.
    pub id: String,
    /// The values by field name.
    pub values: BTreeMap<String, String>,
}

/// The result of storing values. If there are problems, no value was stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataEntryResponse {
    /// The problem of each invalid field.
    pub problems: BTreeMap<String, ImportProblem>,
}
