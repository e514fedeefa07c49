//! Tests of versions and deletions of messages through the command list: pages, exports, and a
//! deletion that ends with the profile.

use std::{fs, path::Path, sync::Arc, time::Duration};

use contract::{
    Approval, ApprovalDecideParams, ApprovalStatus, ApprovalsListParams, Commands, Decision, Empty,
    ErrorCode, ItemBody, ItemsPageParams, Reason, SessionDeleteParams, SessionExportParams,
    SessionFormat, SessionParams, SessionView, ToolCallParams, TurnId, TurnParams, TurnStartParams,
};
use host::{Host, Options};
use serde_json::{Value, json};

async fn open(folder: &Path) -> Arc<Host> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools");
    crate::open(|| Options {
        data_dir: Some(folder.to_owned()),
        pack_dirs: vec![tools.clone()],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await
}

async fn until_idle(host: &Host) {
    for _ in 0..1_000 {
        if host.app_status(Empty {}).await.unwrap().running == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the turn does not end");
}

async fn ask(host: &Host, text: &str, replaces: Option<&TurnId>) -> TurnId {
    let params = TurnStartParams {
        session: Some("s".into()),
        text: text.into(),
        model: None,
        agent: None,
        headless: true,
        replaces: replaces.cloned(),
    };
    let turn = host.turn_start(params).await.unwrap().turn;
    until_idle(host).await;
    turn
}

/// Waits until the conversation has this title, which it gets after the end of a turn.
async fn until_titled(host: &Host, title: &str) {
    for _ in 0..1_000 {
        if view(host).await.summary.title == title {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the title is {:?}", view(host).await.summary.title);
}

async fn view(host: &Host) -> SessionView {
    host.session_open(SessionParams { session: "s".into() }).await.unwrap()
}

fn questions(view: &SessionView) -> Vec<String> {
    let text = |body: &ItemBody| match body {
        ItemBody::UserMessage { text } => Some(text.clone()),
        _ => None,
    };
    view.items.iter().filter_map(|item| text(&item.body)).collect()
}

fn of(turn: &TurnId) -> TurnParams {
    TurnParams { session: "s".into(), turn: turn.clone() }
}

async fn export(host: &Host, into: &Path, format: SessionFormat) -> (String, [u64; 2]) {
    let folder = into.display().to_string();
    let params = SessionExportParams { session: "s".into(), format, folder };
    let written = host.session_export(params).await.unwrap();
    (fs::read_to_string(written.file).unwrap(), [written.other_versions, written.deleted])
}

const FIRST: &str = "What do you remember about account 17?";
const EDITED: &str = "What do you remember about account 23?";
const LAST: &str = "And account 41?";

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_listed_switched_and_exported_as_they_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let first = ask(&host, FIRST, None).await;
    ask(&host, LAST, None).await;
    until_titled(&host, FIRST).await;
    let edited = ask(&host, EDITED, Some(&first)).await;
    until_titled(&host, EDITED).await;
    let shown = view(&host).await;
    assert_eq!(questions(&shown), [EDITED]);
    assert_eq!(shown.versions.len(), 1);
    assert_eq!((&shown.versions[0].turn, shown.versions[0].chosen), (&edited, 1));
    let page = ItemsPageParams { session: "s".into(), before: u64::MAX, limit: 9 };
    assert_eq!(host.items_page(page).await.unwrap().versions, shown.versions);

    let into = tempfile::tempdir().unwrap();
    for format in [SessionFormat::Markdown, SessionFormat::Html, SessionFormat::Json] {
        let (text, counts) = export(&host, into.path(), format).await;
        assert!(text.contains(EDITED) && !text.contains(FIRST), "{format:?}");
        assert_eq!(counts, [2, 0]);
    }
    let (page, _) = export(&host, into.path(), SessionFormat::Markdown).await;
    assert!(page.contains("Not in this file"), "{page}");

    host.turn_show(of(&first)).await.unwrap();
    assert_eq!(questions(&view(&host).await), [FIRST, LAST]);
    assert!(host.audit_verify(Empty {}).await.unwrap().ok);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_message_is_restored_at_once_and_gone_after_the_profile_was_closed() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let first = ask(&host, FIRST, None).await;
    let edited = ask(&host, EDITED, Some(&first)).await;
    ask(&host, LAST, None).await;
    let deleted = host.turn_delete(of(&edited)).await.unwrap();
    assert_eq!((deleted.undo_seconds, deleted.other_versions), (engine::UNDO_SECONDS, 1));
    assert_eq!(questions(&view(&host).await), [LAST]);
    host.turn_restore(of(&edited)).await.unwrap();
    assert_eq!(questions(&view(&host).await), [EDITED, LAST]);
    host.turn_delete(of(&edited)).await.unwrap();
    host.stop().await;
    drop(host);

    let host = open(folder.path()).await;
    let error = host.turn_restore(of(&edited)).await.unwrap_err();
    assert!(error.has_reason(Reason::NotFound), "{error:?}");
    assert_eq!(questions(&view(&host).await), [LAST]);
    assert!(view(&host).await.versions.is_empty());
    let into = tempfile::tempdir().unwrap();
    let (text, counts) = export(&host, into.path(), SessionFormat::Json).await;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["deleted"], counts), (&Value::from(1), [0, 1]));
    let rows = rusqlite::Connection::open(folder.path().join("countersign.db")).unwrap();
    for text in [FIRST, EDITED] {
        let found: i64 = rows
            .query_row("SELECT count(*) FROM item WHERE instr(body, ?1) > 0", [text], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(found, 0, "{text}");
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_message_does_not_return_with_a_copy_of_a_damaged_database() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let first = ask(&host, FIRST, None).await;
    ask(&host, LAST, None).await;
    // The first end of a profile makes a copy of its database.
    host.stop().await;
    drop(host);
    let host = open(folder.path()).await;
    host.turn_delete(of(&first)).await.unwrap();
    host.stop().await;
    drop(host);

    damage(&folder.path().join("countersign.db"));
    let host = open(folder.path()).await;
    let notices = host.app_status(Empty {}).await.unwrap().notices;
    assert!(notices.iter().any(|notice| notice.code == "database_recovered"), "{notices:?}");
    assert_eq!(questions(&view(&host).await), [LAST]);
    let error = host.turn_restore(of(&first)).await.unwrap_err();
    assert!(error.has_reason(Reason::NotFound), "{error:?}");
    host.stop().await;
}

/// Proposes a note in a conversation of its own. Nobody waits for the decision.
async fn propose_note(host: &Host) -> Approval {
    let arguments = json!({ "text": "Account 17 reports in CET" });
    let session = Some("notes".into());
    let params = ToolCallParams { tool: "remember".into(), arguments, session, headless: true };
    let waiting = host.tool_call(params).await.unwrap_err();
    assert_eq!(waiting.code, ErrorCode::ApprovalRequired, "{waiting:?}");
    host.approval_pending(Empty {}).await.unwrap().approvals.remove(0)
}

async fn approve(host: &Host, approval: &Approval) -> Result<(), contract::AgentError> {
    let decision = Decision::ApproveOnce { confirm_word: None };
    let (id, hash) = (approval.id.clone(), approval.hash.clone());
    host.approval_decide(ApprovalDecideParams { id, hash, decision }).await.map(drop)
}

/// Cuts the database, so that the next start replaces it by its copy.
fn damage(database: &Path) {
    let length = fs::metadata(database).unwrap().len();
    fs::OpenOptions::new().write(true).open(database).unwrap().set_len(length / 2).unwrap();
}

/// Puts the copy in the place of the database, as a person would.
fn put_back(database: &Path) {
    let copies = fs::read_dir(database.with_file_name("backups")).unwrap().flatten();
    let is_ours = |name: &str| name.starts_with("countersign-") && name.ends_with(".db");
    let mut paths = copies.map(|entry| entry.path());
    let copy =
        paths.find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_ours));
    fs::copy(copy.unwrap(), database).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_returns_neither_a_deleted_conversation_nor_an_action_that_ran() {
    for replace in [damage as fn(&Path), put_back] {
        let folder = tempfile::tempdir().unwrap();
        let host = open(folder.path()).await;
        ask(&host, FIRST, None).await;
        let approval = propose_note(&host).await;
        host.stop().await;
        drop(host);
        let host = open(folder.path()).await;
        approve(&host, &approval).await.unwrap();
        let delete = SessionDeleteParams { session: "s".into(), undo: true };
        host.session_delete(delete).await.unwrap();
        host.stop().await;
        drop(host);

        replace(&folder.path().join("countersign.db"));
        for _ in 0..2 {
            let host = open(folder.path()).await;
            host.session_open(SessionParams { session: "s".into() }).await.unwrap_err();
            assert!(host.approval_pending(Empty {}).await.unwrap().approvals.is_empty());
            let all = ApprovalsListParams { include_decided: true };
            let all = host.approvals_list(all).await.unwrap().approvals;
            let ends: Vec<_> = all.iter().map(|one| (&one.id, one.status)).collect();
            assert_eq!(ends, [(&approval.id, ApprovalStatus::Done)]);
            let again = approve(&host, &approval).await.unwrap_err();
            assert!(again.has_reason(Reason::NotPending), "{again:?}");
            assert!(host.audit_verify(Empty {}).await.unwrap().ok);
            host.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_failed_is_not_repeated_in_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("countersign.db");
    let host = open(folder.path()).await;
    ask(&host, FIRST, None).await;
    let rows = rusqlite::Connection::open(&database).unwrap();
    rows.execute_batch(
        "CREATE TRIGGER refuse BEFORE DELETE ON session BEGIN SELECT RAISE(ABORT, 'no'); END;",
    )
    .unwrap();
    let delete = SessionDeleteParams { session: "s".into(), undo: false };
    host.session_delete(delete).await.unwrap_err();
    rows.execute_batch("DROP TRIGGER refuse;").unwrap();
    drop(rows);
    host.stop().await;
    drop(host);

    put_back(&database);
    let host = open(folder.path()).await;
    assert_eq!(questions(&view(&host).await), [FIRST]);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_was_made_before_an_undo_has_what_was_restored() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let first = ask(&host, FIRST, None).await;
    ask(&host, LAST, None).await;
    propose_note(&host).await;
    host.turn_delete(of(&first)).await.unwrap();
    let delete = SessionDeleteParams { session: "s".into(), undo: true };
    host.session_delete(delete).await.unwrap();
    // An erasure makes a new copy at once.
    host.session_erase(SessionParams { session: "notes".into() }).await.unwrap();
    host.session_restore(SessionParams { session: "s".into() }).await.unwrap();
    host.turn_restore(of(&first)).await.unwrap();
    host.stop().await;
    drop(host);

    put_back(&folder.path().join("countersign.db"));
    let host = open(folder.path()).await;
    assert_eq!(questions(&view(&host).await), [FIRST, LAST]);
    host.stop().await;
}
