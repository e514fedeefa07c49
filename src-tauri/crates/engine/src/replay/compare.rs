//! Compares the records of a turn with the records of its replay, ignoring values that differ in
//! every run: ids, times and durations. Records of concurrent calls have no defined order, so they
//! are compared in the order of their tools and arguments.

use std::collections::HashMap;

use contract::{AuditRecordView, RecordType};
use serde_json::{Map, Value, json};

use crate::ports::RecordDraft;

/// The members that differ in every run, and one that records of earlier versions lack.
const NEVER_EQUAL: [&str; 15] = [
    "approval",
    "call",
    "calls_ids",
    "correlation_id",
    "duration_ms",
    "expires_at",
    "grant",
    "id",
    "item",
    "replaces",
    "request_id",
    "session",
    "turn",
    "unpriced_models",
    "v",
];

/// The first place where a replay differs from its recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The position of the record among the compared records of the turn, from 1.
    pub position: usize,
    /// The number of the record in the log. Absent if the log has no such record.
    pub seq: Option<u64>,
    /// The location within the record, as a JSON pointer.
    pub path: String,
    /// The value in the log.
    pub recorded: Value,
    /// The value in the replay.
    pub replayed: Value,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The number of compared records of the log.
    pub records: usize,
    /// The number of values that were erased from the log, so that they could not be compared.
    pub erased: usize,
    /// The first difference, if any.
    pub difference: Option<Difference>,
}

/// A record prepared for comparison.
struct Comparable {
    seq: Option<u64>,
    /// The id of the call, which groups the records of a call.
    call: String,
    /// The action of the record. The record of a decision does not contain the call's id.
    approval: Option<String>,
    is_call: bool,
    value: Value,
}

/// Compares the records of a turn with the records of its replay, up to the end of the turn.
pub fn compare_runs(recorded: Vec<AuditRecordView>, replayed: Vec<RecordDraft>) -> Comparison {
    let recorded = until_end(recorded.into_iter().map(|record| {
        let kind = record.record_type;
        (kind, comparable(Some(record.seq), kind, record.fields, record.revealed))
    }));
    let replayed = until_end(replayed.into_iter().map(|draft| {
        let kind = draft.record_type;
        let committed = draft.committed.into_iter().collect();
        (kind, comparable(None, kind, draft.fields, committed))
    }));
    let mut erased = 0;
    let mut difference = None;
    let absent = || Comparable {
        seq: None,
        call: String::new(),
        approval: None,
        is_call: false,
        value: Value::Null,
    };
    for position in 0..recorded.len().max(replayed.len()) {
        let (nothing, nothing_too) = (absent(), absent());
        let was = recorded.get(position).unwrap_or(&nothing);
        let is = replayed.get(position).unwrap_or(&nothing_too);
        if let Some((path, recorded, replayed)) =
            first_difference(String::new(), &was.value, &is.value, &mut erased)
        {
            difference =
                Some(Difference { position: position + 1, seq: was.seq, path, recorded, replayed });
            break;
        }
    }
    Comparison { records: recorded.len(), erased, difference }
}

/// Returns the records that belong to the turn itself, in a stable order. Memories are created
/// after a turn, and a later decision has its own records.
fn until_end(records: impl Iterator<Item = (RecordType, Comparable)>) -> Vec<Comparable> {
    let mut all = Vec::new();
    let mut calls_of = HashMap::new();
    for (kind, mut record) in records {
        if let Some(approval) = &record.approval {
            let call = calls_of.entry(approval.clone()).or_insert_with(|| record.call.clone());
            record.call.clone_from(call);
        }
        if kind != RecordType::Memory {
            all.push(record);
        }
        if kind == RecordType::RunEnded {
            break;
        }
    }
    let mut sorted: Vec<Comparable> = Vec::with_capacity(all.len());
    let mut calls: Vec<Comparable> = Vec::new();
    for record in all {
        if record.is_call {
            calls.push(record);
            continue;
        }
        sorted.append(&mut sort_calls(std::mem::take(&mut calls)));
        sorted.push(record);
    }
    sorted.append(&mut sort_calls(calls));
    sorted
}

/// Sorts the records of consecutive calls by the first record of each call.
fn sort_calls(records: Vec<Comparable>) -> Vec<Comparable> {
    let mut groups: Vec<(String, Vec<Comparable>)> = Vec::new();
    let mut index = HashMap::new();
    for record in records {
        let at = *index.entry(record.call.clone()).or_insert_with(|| {
            groups.push((record.value.to_string(), Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(record);
    }
    groups.sort_by(|one, other| one.0.cmp(&other.0));
    groups.into_iter().flat_map(|(_, records)| records).collect()
}

fn comparable(
    seq: Option<u64>,
    kind: RecordType,
    fields: Map<String, Value>,
    values: Map<String, Value>,
) -> Comparable {
    let field = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let call = field("call").unwrap_or_default();
    let is_about_action =
        matches!(kind, RecordType::ApprovalRequested | RecordType::ApprovalResolved);
    let approval = field("approval").filter(|_| is_about_action);
    let without = |members: Map<String, Value>| -> Map<String, Value> {
        members.into_iter().filter(|(name, _)| !NEVER_EQUAL.contains(&name.as_str())).collect()
    };
    let values: Map<String, Value> =
        without(values).into_iter().map(|(name, value)| (name, parsed(value))).collect();
    Comparable {
        seq,
        call,
        approval,
        is_call: is_about_action
            || matches!(kind, RecordType::ToolIntent | RecordType::ToolOutcome),
        value: json!({"type": kind, "fields": without(fields), "values": values}),
    }
}

/// Parses a value that is JSON text. Other values are returned unchanged.
fn parsed(value: Value) -> Value {
    match &value {
        Value::String(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or(value)
        }
        _ => value,
    }
}

fn first_difference(
    path: String,
    recorded: &Value,
    replayed: &Value,
    erased: &mut usize,
) -> Option<(String, Value, Value)> {
    match (recorded, replayed) {
        (Value::Object(was), Value::Object(is)) => {
            let added = is.keys().filter(|name| !was.contains_key(*name));
            for name in was.keys().chain(added) {
                let at = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                let (one, other) = (was.get(name), is.get(name));
                // An erased value is null, whereas a value that never existed is absent.
                if path == "/values" && one == Some(&Value::Null) && other.is_some() {
                    *erased += usize::from(other != Some(&Value::Null));
                    continue;
                }
                let (one, other) = (one.unwrap_or(&Value::Null), other.unwrap_or(&Value::Null));
                if let Some(found) = first_difference(at, one, other, erased) {
                    return Some(found);
                }
            }
            None
        }
        (Value::Array(was), Value::Array(is)) => {
            for at in 0..was.len().max(is.len()) {
                let one = was.get(at).unwrap_or(&Value::Null);
                let other = is.get(at).unwrap_or(&Value::Null);
                if let Some(found) = first_difference(format!("{path}/{at}"), one, other, erased) {
                    return Some(found);
                }
            }
            None
        }
        _ if recorded == replayed => None,
        _ => Some((path, recorded.clone(), replayed.clone())),
    }
}
