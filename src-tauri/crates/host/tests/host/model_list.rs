//! Tests of the models that a server lists before it is configured: which key the server gets, and
//! that a page can reach no other address without a person.

use std::{path::Path, sync::Arc, time::Duration};

use contract::{
    Commands, ConfirmationDecideParams, ConnectionProblem as Problem, Empty, ErrorCode,
    ModelConfirmParams, ModelListParams, ModelListResponse, SecretSetParams, SettingChange,
    SettingsSetParams,
};
use host::{ChatWindow, Host, Options, Person, Terminal};
use kit::model_server::ModelServer;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

const ENTERED: &str = "sk-entered-0123456789";
const STORED: &str = "sk-stored-0123456789";

async fn open(folder: &Path) -> Arc<Host> {
    crate::open(|| Options { data_dir: Some(folder.to_owned()), ..Options::default() }).await
}

/// A server that lists one model to the holder of the entered key, and refuses all others. Returns
/// its base URL.
async fn keyed_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = Vec::new();
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                if socket.read_buf(&mut request).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            let knows = String::from_utf8_lossy(&request).contains(ENTERED);
            let (status, body) =
                if knows { (200, r#"{"data": [{"id": "mine"}]}"#) } else { (401, "{}") };
            let answer = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = socket.write_all(answer.as_bytes()).await;
        }
    });
    base
}

fn at(base_url: &str, key: Option<&str>) -> ModelListParams {
    ModelListParams {
        provider: "openai_compatible".into(),
        base_url: base_url.into(),
        key: key.map(Into::into),
    }
}

async fn list(host: &Host, base_url: &str, key: Option<&str>) -> ModelListResponse {
    host.model_list(at(base_url, key)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listing_models_distinguishes_missing_and_rejected_keys_and_stores_none() {
    let folder = tempfile::tempdir().unwrap();
    let (host, base) = (open(folder.path()).await, keyed_server().await);
    let none = list(&host, &base, None).await;
    assert_eq!((none.problem, none.key_stored), (Some(Problem::KeyMissing), false));
    let wrong = list(&host, &base, Some("sk-wrong")).await;
    assert_eq!(wrong.problem, Some(Problem::Key));
    assert_ne!(none.message, wrong.message);
    let listed = list(&host, &base, Some(ENTERED)).await;
    assert_eq!((listed.problem, listed.models), (None, vec!["mine".to_owned()]));
    assert_eq!(
        list(&host, &base, None).await.problem,
        Some(Problem::KeyMissing),
        "the entered key was used once and is not stored"
    );

    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.model.provider = "openai_compatible".into();
    settings.model.base_url = base.clone();
    host.settings_set(SettingsSetParams { settings }).await.unwrap();
    let key = |value: &str| SecretSetParams {
        name: "OPENAI_API_KEY".into(),
        value: value.into(),
        this_run_only: true,
    };
    host.secret_set(key(STORED)).await.unwrap();
    let stored = list(&host, &base, None).await;
    assert_eq!((stored.problem, stored.key_stored), (Some(Problem::Key), true));
    assert_eq!(list(&host, &base, Some(ENTERED)).await.problem, None, "the entered key goes first");
    host.secret_set(key(ENTERED)).await.unwrap();
    assert_eq!(list(&host, &base, None).await.models, ["mine"], "the stored key is used");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_goes_to_another_computer_if_cloud_models_are_off() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.egress.allowed = false;
    host.settings_set(SettingsSetParams { settings }).await.unwrap();
    assert_eq!(
        list(&host, "https://models.example/v1", Some(ENTERED)).await.problem,
        Some(Problem::CloudModelsOff)
    );
    let here = ModelServer::start([]).await;
    assert_eq!(list(&host, &here.base_url(), None).await.models, ["scripted"]);
    let plain = list(&host, "http://models.example/v1", Some(ENTERED)).await;
    assert_eq!(plain.problem, Some(Problem::CloudModelsOff));
    let unknown = ModelListParams { provider: "offline".into(), ..at("", None) };
    assert_eq!(host.model_list(unknown).await.unwrap_err().code, ErrorCode::InvalidInput);
    host.stop().await;
}

/// Accepts or refuses the change that the chat window requests, as soon as the change is requested.
/// Returns the address that is shown.
async fn decide(host: &Host, accept: bool) -> String {
    loop {
        let waiting = host.confirmations(Empty {}).await.unwrap().confirmations;
        if let Some(asked) = waiting.first() {
            let id = asked.id.clone();
            host.confirmation_decide(ConfirmationDecideParams { id, accept }).await.unwrap();
            assert_eq!(asked.changes[0].setting, "model.list");
            return asked.changes[0].after.clone();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connecting_a_model_asks_once_for_confirmation_of_its_changes() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let server = ModelServer::start([]).await;
    let base = server.base_url();
    let window = ChatWindow::new(Arc::clone(&host));
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.model.provider = "openai_compatible".into();
    settings.model.base_url = base.clone();
    let wanted = ModelConfirmParams { settings: settings.clone(), lists: true, key: true };
    let (asked, shown) = tokio::join!(window.model_confirm(wanted.clone()), sheet(&host, false));
    assert_eq!(asked.unwrap_err().code, ErrorCode::ApprovalRequired);
    for setting in ["model.list", "model.base_url", "key"] {
        assert!(shown.iter().any(|change| change.setting == setting), "{setting}: {shown:?}");
    }
    let key = || SecretSetParams {
        name: "OPENAI_API_KEY".into(),
        value: "sk-once-0123456789abcdef".into(),
        this_run_only: true,
    };
    let (listed, _) = tokio::join!(window.model_list(at(&base, None)), sheet(&host, false));
    assert_eq!(listed.unwrap_err().code, ErrorCode::ApprovalRequired, "a no agrees to no part");

    let (asked, _) = tokio::join!(window.model_confirm(wanted), sheet(&host, true));
    asked.unwrap();
    // None of these requests needs a new confirmation.
    assert_eq!(window.model_list(at(&base, None)).await.unwrap().models, ["scripted"]);
    settings.model.model = "scripted".into();
    window.settings_set(SettingsSetParams { settings: settings.clone() }).await.unwrap();
    window.secret_set(key()).await.unwrap();
    // Another address needs another confirmation.
    settings.model.base_url = "http://127.0.0.1:9/v1".into();
    let other = SettingsSetParams { settings };
    let (refused, shown) = tokio::join!(window.settings_set(other), sheet(&host, false));
    assert_eq!(refused.unwrap_err().code, ErrorCode::ApprovalRequired);
    assert!(shown[0].after.contains("127.0.0.1:9"), "{shown:?}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn confirming_a_model_connection_allows_each_change_once() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let window = ChatWindow::new(Arc::clone(&host));
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.model.provider = "openai_compatible".into();
    settings.model.base_url = "http://127.0.0.1:9/v1".into();
    settings.egress.allowed = false;
    let off = SettingsSetParams { settings: settings.clone() };
    host.settings_set(off.clone()).await.unwrap();
    settings.egress.allowed = true;
    let on = SettingsSetParams { settings: settings.clone() };
    let wanted = ModelConfirmParams { settings: settings.clone(), lists: false, key: true };
    let key = || SecretSetParams {
        name: "OPENAI_API_KEY".into(),
        value: "sk-once-0123456789abcdef".into(),
        this_run_only: true,
    };
    let (asked, _) = tokio::join!(window.model_confirm(wanted.clone()), sheet(&host, true));
    asked.unwrap();
    window.settings_set(on.clone()).await.unwrap();
    window.secret_set(key()).await.unwrap();

    // Both changes are made. Making a change again needs another confirmation.
    window.settings_set(off).await.unwrap();
    let (refused, _) = tokio::join!(window.settings_set(on.clone()), sheet(&host, false));
    assert_eq!(refused.unwrap_err().code, ErrorCode::ApprovalRequired);
    let (refused, _) = tokio::join!(window.secret_set(key()), sheet(&host, false));
    assert_eq!(refused.unwrap_err().code, ErrorCode::ApprovalRequired);

    // The dialog was closed before the changes were made.
    let (asked, _) = tokio::join!(window.model_confirm(wanted), sheet(&host, true));
    asked.unwrap();
    let settings = host.settings_get(Empty {}).await.unwrap().settings;
    let end = ModelConfirmParams { settings, lists: false, key: false };
    window.model_confirm(end).await.unwrap();
    let (refused, _) = tokio::join!(window.settings_set(on), sheet(&host, false));
    assert_eq!(refused.unwrap_err().code, ErrorCode::ApprovalRequired);
    host.stop().await;
}

/// Answers the next confirmation. Returns the changes that it showed.
async fn sheet(host: &Host, accept: bool) -> Vec<SettingChange> {
    loop {
        let waiting = host.confirmations(Empty {}).await.unwrap().confirmations;
        if let Some(asked) = waiting.first() {
            let id = asked.id.clone();
            host.confirmation_decide(ConfirmationDecideParams { id, accept }).await.unwrap();
            return asked.changes.clone();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chat_window_lists_models_of_a_new_address_only_after_a_confirmation() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let server = ModelServer::start([]).await;
    let base = server.base_url();
    let window = ChatWindow::new(Arc::clone(&host));
    let (refused, shown) = tokio::join!(window.model_list(at(&base, None)), decide(&host, false));
    assert_eq!(shown, base);
    assert_eq!(refused.unwrap_err().code, ErrorCode::ApprovalRequired);
    let (listed, _) = tokio::join!(window.model_list(at(&base, None)), decide(&host, true));
    assert_eq!(listed.unwrap().models, ["scripted"]);

    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.model.base_url = base.clone();
    host.settings_set(SettingsSetParams { settings }).await.unwrap();
    let again = window.model_list(at(&format!("{base}/"), None)).await.unwrap();
    assert_eq!(again.models, ["scripted"], "the configured address needs no confirmation");
    let script = Terminal::local(Arc::clone(&host), Person::Absent);
    assert!(script.model_list(at(&base, None)).await.is_err(), "no person, no request");
    host.stop().await;
}
