//! Tests of versions and deletions of messages through the command list: pages, exports, and a
//! deletion that ends with the profile.

use std::{fs, path::Path, sync::Arc, time::Duration};

use contract::{
    Commands, Empty, ItemBody, ItemsPageParams, Reason, SessionExportParams, SessionFormat,
    SessionParams, SessionView, TurnId, TurnParams, TurnStartParams,
};
use host::{Host, Options};
use serde_json::Value;

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

const FIRST: &str = "How is account 17 pacing this month?";
const EDITED: &str = "How is account 23 pacing this month?";
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

    let database = folder.path().join("countersign.db");
    let length = fs::metadata(&database).unwrap().len();
    fs::OpenOptions::new().write(true).open(&database).unwrap().set_len(length / 2).unwrap();
    let host = open(folder.path()).await;
    let notices = host.app_status(Empty {}).await.unwrap().notices;
    assert!(notices.iter().any(|notice| notice.code == "database_recovered"), "{notices:?}");
    assert_eq!(questions(&view(&host).await), [LAST]);
    let error = host.turn_restore(of(&first)).await.unwrap_err();
    assert!(error.has_reason(Reason::NotFound), "{error:?}");
    host.stop().await;
}
