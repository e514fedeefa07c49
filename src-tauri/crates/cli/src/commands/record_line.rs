//! Formats one record of the log as a line. Knows no command.

use contract::AuditRecordView;

use crate::visible::escape_invisible;

pub(crate) fn record_line(record: &AuditRecordView) -> String {
    let mut parts = vec![format!(
        "{:>6}  {}  {:18}",
        record.seq,
        record.at.format("%Y-%m-%d %H:%M:%S"),
        record_kind(record)
    )];
    parts.extend(
        [&record.tool, &record.status, &record.session]
            .into_iter()
            .flatten()
            .map(|text| escape_invisible(text)),
    );
    parts.join("  ")
}

fn record_kind(record: &AuditRecordView) -> String {
    serde_json::to_value(record.record_type)
        .ok()
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default()
}
