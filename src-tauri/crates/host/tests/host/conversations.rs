//! Tests of conversations as a whole, through the command list: exports, marks, and deletions that can
//! be undone.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc, time::Duration};

use contract::{
    AuditListParams, Commands, Empty, Reason, RecordType, SessionDeleteParams, SessionExportParams,
    SessionExportResponse, SessionFormat, SessionMarkParams, SessionParams, SessionRenameParams,
    SessionsListParams, TurnStartParams,
};
use host::{Host, Options};
use serde_json::Value;

const HOSTILE: &str = "<script>alert(1)</script> \"><img src=x onerror=alert(1)>";

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

async fn ask(host: &Host, text: &str) {
    let params = TurnStartParams {
        session: Some("s".into()),
        text: text.into(),
        model: None,
        agent: None,
        headless: true,
        replaces: None,
    };
    host.turn_start(params).await.unwrap();
    for _ in 0..1_000 {
        if host.app_status(Empty {}).await.unwrap().running == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the turn does not end");
}

async fn listed(host: &Host, archived: bool) -> Vec<String> {
    let params = SessionsListParams { query: String::new(), offset: 0, limit: 0, archived };
    let page = host.sessions_list(params).await.unwrap();
    page.sessions.into_iter().map(|session| session.id.0).collect()
}

async fn export(host: &Host, into: &Path, format: SessionFormat) -> SessionExportResponse {
    let folder = into.display().to_string();
    let params = SessionExportParams { session: "s".into(), format, folder };
    host.session_export(params).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_exported_in_each_format_with_its_records() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    ask(&host, "What do you remember about account 17?").await;
    ask(&host, HOSTILE).await;
    host.session_rename(SessionRenameParams { session: "s".into(), title: HOSTILE.into() })
        .await
        .unwrap();
    let into = tempfile::tempdir().unwrap();
    let params = AuditListParams {
        record_type: None,
        session: Some("s".into()),
        query: String::new(),
        before: None,
        limit: 500,
    };
    let records = host.audit_list(params).await.unwrap().records;
    let last = &records[0];
    for format in [SessionFormat::Markdown, SessionFormat::Html, SessionFormat::Json] {
        let written = export(&host, into.path(), format).await;
        assert!(written.messages >= 4, "{written:?}");
        let mode = fs::metadata(&written.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "only its owner can read it");
        let text = fs::read_to_string(&written.file).unwrap();
        assert!(text.contains("What do you remember about account 17?"), "{format:?}");
        assert!(text.contains(&last.leaf), "the newest record before the export: {format:?}");
        match format {
            SessionFormat::Html => {
                for tag in ["<script", "<img", "http-equiv=\"refresh"] {
                    assert!(!text.contains(tag), "{tag}");
                }
                assert!(text.contains("default-src 'none'") && text.contains("&lt;script"));
            }
            SessionFormat::Json => {
                let value: Value = serde_json::from_str(&text).unwrap();
                assert!(value["records"].as_array().unwrap().len() >= records.len());
                assert_eq!(value["summary"]["title"], HOSTILE);
            }
            SessionFormat::Markdown => assert!(text.contains("\n> ")),
        }
    }
    let params = AuditListParams {
        record_type: Some(RecordType::SessionExported),
        session: Some("s".into()),
        query: String::new(),
        before: None,
        limit: 9,
    };
    assert_eq!(host.audit_list(params).await.unwrap().records.len(), 3);
    let missing = SessionExportParams {
        session: "none".into(),
        format: SessionFormat::Json,
        folder: into.path().display().to_string(),
    };
    host.session_export(missing).await.unwrap_err();
    assert!(host.audit_verify(Empty {}).await.unwrap().ok);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_cannot_be_recorded_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    ask(&host, "What do you remember about account 17?").await;
    let into = tempfile::tempdir().unwrap();
    let log = rusqlite::Connection::open(folder.path().join("audit.db")).unwrap();
    log.execute_batch(
        "CREATE TRIGGER full BEFORE INSERT ON audit_record BEGIN SELECT RAISE(ABORT, 'full'); END",
    )
    .unwrap();
    for format in [SessionFormat::Markdown, SessionFormat::Html, SessionFormat::Json] {
        let folder = into.path().display().to_string();
        let params = SessionExportParams { session: "s".into(), format, folder };
        let refused = host.session_export(params).await.unwrap_err();
        assert!(refused.has_reason(Reason::AuditUnavailable), "{refused:?}");
        assert_eq!(fs::read_dir(into.path()).unwrap().count(), 0, "{format:?}");
    }
    log.execute_batch("DROP TRIGGER full").unwrap();
    let written = export(&host, into.path(), SessionFormat::Json).await;
    assert!(Path::new(&written.file).exists());
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_conversation_returns_by_an_undo_and_never_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    ask(&host, "What do you remember about account 17?").await;
    let delete = || SessionDeleteParams { session: "s".into(), undo: true };
    let session = || SessionParams { session: "s".into() };
    assert!(host.session_delete(delete()).await.unwrap().undo_seconds >= 10);
    assert_eq!(listed(&host, false).await, [""; 0]);
    host.session_restore(session()).await.unwrap();
    assert_eq!(listed(&host, false).await, ["s"]);
    host.session_delete(delete()).await.unwrap();
    host.stop().await;
    drop(host);

    let host = open(folder.path()).await;
    assert_eq!(listed(&host, false).await, [""; 0]);
    host.session_restore(session()).await.unwrap_err();
    host.session_open(session()).await.unwrap_err();
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archived_conversation_is_listed_apart_and_keeps_its_mark() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    ask(&host, "What do you remember about account 17?").await;
    let mark = SessionMarkParams { session: "s".into(), pinned: Some(true), archived: Some(true) };
    host.session_mark(mark).await.unwrap();
    assert_eq!((listed(&host, false).await, listed(&host, true).await), (vec![], vec!["s".into()]));
    host.stop().await;
    drop(host);
    let host = open(folder.path()).await;
    let view = host.session_open(SessionParams { session: "s".into() }).await.unwrap();
    assert!(view.summary.pinned && view.summary.archived);
    host.stop().await;
}
