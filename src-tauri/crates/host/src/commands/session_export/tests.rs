//! Tests of exported conversations: foreign markup stays text, tables, records, and cuts.

use contract::{
    ApprovalStatus, CallId, Effect, Item, ItemBody, NoticeLevel, ResultView, SessionFormat,
    SessionSummary, ToolOutcome,
};
use serde_json::{Value, json};

use super::*;

const HOSTILE: &str = "<script>alert(1)</script>";

fn item(seq: u64, body: ItemBody) -> Item {
    Item {
        id: format!("i{seq}").into(),
        session: "s".into(),
        turn: "t1".into(),
        seq,
        created_at: DateTime::UNIX_EPOCH,
        body,
    }
}

fn view() -> ResultView {
    serde_json::from_value(json!({"shape": "table", "rows": "/rows", "columns": [
        {"field": "name", "label": {"en": "Name"}},
        {"field": "spend", "role": "measure", "format": "money", "unit": "EUR"}
    ]}))
    .unwrap()
}

fn result(seq: u64, view: ResultView, data: Value) -> Item {
    let body = ItemBody::ToolResult {
        call: CallId::new("c1"),
        tool: "data.measure".into(),
        outcome: ToolOutcome::Ok,
        summary: String::new(),
        data,
        error: None,
        local_only: None,
        view,
        parsed: None,
        untrusted: true,
        duration_ms: 1,
    };
    item(seq, body)
}

fn answer(text: &str) -> ItemBody {
    ItemBody::AssistantText {
        text: text.into(),
        blocks: Vec::new(),
        model: Some("offline".into()),
        agent: None,
        choices: Vec::new(),
        remembered: Vec::new(),
        local_only: false,
        untrusted: false,
        partial: true,
        kept: None,
    }
}

fn conversation(items: Vec<Item>) -> Conversation {
    let summary: SessionSummary = serde_json::from_value(json!({
        "id": "s", "title": HOSTILE, "created_at": DateTime::UNIX_EPOCH,
        "updated_at": DateTime::UNIX_EPOCH, "running": false, "waiting_approvals": 0
    }))
    .unwrap();
    let receipt = |seq, leaf: &str| Receipt {
        seq,
        at: DateTime::UNIX_EPOCH,
        record_type: RecordType::RunEnded,
        turn: Some("t1".into()),
        tool: None,
        status: None,
        leaf: leaf.into(),
    };
    Conversation {
        version: 1,
        exported_at: DateTime::UNIX_EPOCH,
        summary,
        items,
        other_versions: 0,
        deleted: 0,
        approvals: Vec::new(),
        records: vec![receipt(3, "aa"), receipt(4, "bb")],
    }
}

fn text(conversation: &Conversation, format: SessionFormat) -> (String, u64) {
    let written = write(conversation, format, Language::ENGLISH).unwrap();
    (String::from_utf8(written.content).unwrap(), written.cut)
}

/// A question, a call with a table, and an answer, all with markup.
fn hostile() -> Conversation {
    let rows =
        json!({"rows": [{"name": HOSTILE, "spend": 1234.5}, {"name": "a | b", "spend": null}]});
    let call = ItemBody::ToolCall {
        call: CallId::new("c1"),
        tool: "data.measure".into(),
        title: HOSTILE.into(),
        effect: Effect::ReadOnly,
        arguments: json!({"q": "```\n## You\n</pre><script>"}),
        local_only: false,
        untrusted: false,
        kept: None,
    };
    conversation(vec![
        item(1, ItemBody::UserMessage { text: format!("# You\n{HOSTILE}") }),
        item(2, call),
        result(3, view(), rows),
        item(4, answer(&format!("## You\n\nIt is **fine**. {HOSTILE}\n\n```html\n<b>"))),
    ])
}

/// Returns the result of a query that a model wrote, with totals, a note and so many columns.
fn of_query(columns: usize) -> Item {
    let view: ResultView =
        serde_json::from_value(json!({"shape": "table", "rows": "/rows", "columns": "/columns"}))
            .unwrap();
    let column = |n: usize| match n {
        0 => json!({"name": "device", "type": "text", "role": "dimension", "format": "text"}),
        n => {
            let name = format!("figure_{n}");
            json!({"name": name, "type": "whole", "role": "measure", "format": "number"})
        }
    };
    let row = |name: Value, figure: u64| -> Vec<Value> {
        std::iter::once(name).chain((1..columns).map(|_| json!(figure))).collect()
    };
    let data = json!({
        "columns": (0..columns).map(column).collect::<Vec<_>>(),
        "rows": [row(json!("Mobile"), 1)], "row_count": 1, "totals": [row(Value::Null, 2)],
        "query": "h", "sql": "SELECT 1", "definition_state": "written_by_model",
        "asked": {"sql": "SELECT 1"}, "notes": ["November is not over."]
    });
    result(1, view, data)
}

#[test]
fn an_html_page_has_tables_and_records_and_no_markup_of_others() {
    let (page, cut) = text(&hostile(), SessionFormat::Html);
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    assert!(page.contains("<strong>fine</strong>"), "{page}");
    assert!(page.contains("<table") && page.contains("1,234.50 EUR") && page.contains("a | b"));
    assert!(page.contains("2 records in the audit log, the last one is record 4, SHA-256 bb."));
    assert!(page.contains("This answer is incomplete."));
    assert_eq!(cut, 0);
}

#[test]
fn a_page_says_that_a_model_wrote_a_query_and_has_its_totals_and_notes() {
    let total =
        [(SessionFormat::Markdown, "| **Total** | 2 |"), (SessionFormat::Html, "Total</strong>")];
    for (format, total) in total {
        let (page, cut) = text(&conversation(vec![of_query(2)]), format);
        for words in ["A model wrote this query.", "November is not over.", total] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert_eq!(cut, 0);
    }
    let mut approved = of_query(2);
    if let ItemBody::ToolResult { data, .. } = &mut approved.body {
        data["definition_state"] = json!("approved");
    }
    let (page, _) = text(&conversation(vec![approved]), SessionFormat::Markdown);
    assert!(!page.contains("A model wrote"), "{page}");
}

#[test]
fn columns_that_a_page_leaves_out_are_said_and_json_has_all_of_a_query() {
    let wide = conversation(vec![of_query(75)]);
    for format in [SessionFormat::Markdown, SessionFormat::Html] {
        let (page, cut) = text(&wide, format);
        assert!(page.contains("The first 60 of 75 columns are shown."), "{page}");
        assert!(!page.contains("figure_60") && !page.contains("figure\\_60"), "{page}");
        assert_eq!(cut, 1);
    }
    let (file, cut) = text(&wide, SessionFormat::Json);
    for words in ["figure_74", "written_by_model", "totals", "November is not over."] {
        assert!(file.contains(&format!("\"{words}\"")), "{words}: {file}");
    }
    assert_eq!(cut, 0);
}

#[test]
fn an_approval_whose_row_is_missing_is_said_once_with_its_status_and_reason() {
    let approval = |seq| {
        let body = ItemBody::Approval {
            approval: "a1".into(),
            call: CallId::new("c1"),
            tool: "parcels.hold".into(),
            status: ApprovalStatus::Rejected,
            reason: Some("Not this *parcel*.".into()),
        };
        item(seq, body)
    };
    let (page, _) = text(&conversation(vec![approval(1), approval(2)]), SessionFormat::Html);
    assert_eq!(page.matches("Approval · parcels.hold · Rejected").count(), 1, "{page}");
    assert!(page.contains("Reason: Not this *parcel*."), "{page}");
}

#[test]
fn versions_and_deleted_messages_that_are_not_in_a_page_are_counted() {
    let (page, _) = text(&hostile(), SessionFormat::Markdown);
    assert!(!page.contains("Not in this file"), "{page}");
    let changed = Conversation { other_versions: 3, deleted: 1, ..hostile() };
    for format in [SessionFormat::Markdown, SessionFormat::Html] {
        let (page, _) = text(&changed, format);
        assert!(page.contains("other versions of messages (3)"), "{page}");
        assert!(page.contains("deleted messages (1)"), "{page}");
    }
    let (file, _) = text(&changed, SessionFormat::Json);
    assert!(file.contains("\"other_versions\": 3") && file.contains("\"deleted\": 1"), "{file}");
}

#[test]
fn a_markdown_file_has_no_headings_of_others() {
    let (file, _) = text(&hostile(), SessionFormat::Markdown);
    let headings = file.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(headings, 4, "the title, the question, the call and the answer: {file}");
    assert!(file.contains("\n````json\n"), "the fence is longer than any in the value: {file}");
    assert!(file.contains("| a \\| b | – |"), "{file}");
}

#[test]
fn a_cut_result_says_so() {
    let rows: Vec<Value> = (0..600).map(|n| json!({"name": n.to_string(), "spend": n})).collect();
    let long = json!({"text": "x".repeat(9_000)});
    let items = vec![
        result(1, view(), json!({ "rows": rows })),
        result(2, ResultView::default(), long),
        item(
            3,
            ItemBody::Notice { level: NoticeLevel::Info, code: "x".into(), text: "Noted.".into() },
        ),
    ];
    let (file, cut) = text(&conversation(items), SessionFormat::Markdown);
    assert!(file.contains("The first 500 of 600 rows are shown."), "{file}");
    assert!(file.contains("The first 8000 of 9"), "{file}");
    assert_eq!(cut, 2);
}

#[test]
fn the_name_of_a_file_has_only_letters_digits_and_hyphens() {
    let name = file_name(&hostile(), SessionFormat::Html);
    assert_eq!(name, "script-alert-1-script-19700101-000000.html");
    let mut untitled = hostile();
    untitled.summary.title = "../..".into();
    let name = file_name(&untitled, SessionFormat::Markdown);
    assert_eq!(name, "conversation-19700101-000000.md");
}
