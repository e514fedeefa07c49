//! Tests of exported conversations: foreign markup stays text, tables, records, and cuts.

use contract::{
    CallId, Effect, Item, ItemBody, NoticeLevel, ResultView, SessionFormat, SessionSummary,
    ToolOutcome,
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
