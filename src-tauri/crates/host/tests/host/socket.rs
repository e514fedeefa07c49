//! Tests of the local socket from a client's side: the greeting comes first, a host is served only
//! once, and the socket's files are removed. Also tests which commands the chat window may run
//! without a confirmation.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use contract::{
    AgentError, AllowanceParams, Commands, Confirmation, ConfirmationDecideParams, Destination,
    DestinationKind, Empty, RedactionLevel, SecretSetParams, Settings, SettingsSetParams,
    SwitchSetParams, SwitchTarget,
};
use host::{ChatWindow, Host, Options, Paths};

async fn open(folder: &Path) -> Arc<Host> {
    crate::open(|| Options {
        data_dir: Some(folder.join("data")),
        pack_dirs: vec![folder.join("packs")],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await
}

const CLIENTS: usize = 6;
const CALLS: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_client_receives_the_greeting_before_any_event() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let served = host::serve_host(&host).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let telling = tokio::spawn({
        let (host, done) = (Arc::clone(&host), Arc::clone(&done));
        async move {
            let mut on = false;
            while !done.load(Ordering::Acquire) {
                host.switch_set(SwitchSetParams {
                    target: SwitchTarget::Tool("cart.addItem".into()),
                    on,
                })
                .await
                .unwrap();
                on = !on;
            }
        }
    });
    let paths = Paths::new(Some(folder.path().join("data")));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let paths = paths.clone();
            tokio::spawn(async move {
                for _ in 0..CALLS {
                    let (client, _pushes) = host::client::connect(&paths, false).await.unwrap();
                    client.app_status(Empty {}).await.unwrap();
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    done.store(true, Ordering::Release);
    telling.await.unwrap();
    drop(served);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_attempt_to_serve_a_profile_fails_and_keeps_the_first_running() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let token = folder.path().join("data/socket-token");
    let paths = Paths::new(Some(folder.path().join("data")));
    let served = host::serve_host(&host).unwrap();
    let first = fs::read_to_string(&token).unwrap();
    assert_eq!(fs::metadata(&token).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(host::serve_host(&host).is_err(), "a second server of one profile");
    host::client::connect(&paths, false).await.unwrap();
    drop(served);
    assert!(!token.exists(), "the token goes with the socket");
    assert!(host::client::connect(&paths, false).await.is_err());
    let served = host::serve_host(&host).unwrap();
    assert_ne!(fs::read_to_string(&token).unwrap(), first, "each time another token");
    host::client::connect(&paths, false).await.unwrap();
    drop(served);
    host.stop().await;
}

/// Waits until a change is pending in the approval window. Returns the change.
async fn waiting(host: &Host) -> Confirmation {
    loop {
        if let Some(found) =
            host.confirmations(Empty {}).await.unwrap().confirmations.into_iter().next()
        {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Lets the chat window change settings. Returns its result, and the text that a person read in the
/// approval window before answering `accept`.
async fn request_change(
    host: &Arc<Host>,
    change: impl Fn(&mut Settings),
    accept: bool,
) -> (Result<(), AgentError>, Vec<String>) {
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    change(&mut settings);
    let window = ChatWindow::new(Arc::clone(host));
    let changing =
        tokio::spawn(
            async move { window.settings_set(SettingsSetParams { settings }).await.map(drop) },
        );
    let found = waiting(host).await;
    assert!(!changing.is_finished(), "it waits");
    host.confirmation_decide(ConfirmationDecideParams { id: found.id, accept }).await.unwrap();
    let told = changing.await.unwrap();
    assert!(host.confirmations(Empty {}).await.unwrap().confirmations.is_empty());
    (
        told,
        found
            .changes
            .into_iter()
            .map(|change| format!("{}: {} -> {}", change.setting, change.before, change.after))
            .collect(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chat_window_widens_permissions_only_after_confirmation_in_the_approval_window() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let elsewhere = |settings: &mut Settings| {
        settings.model.provider = "openai_compatible".into();
        settings.model.base_url = "https://models.example/v1".into();
        settings.egress.redaction = RedactionLevel::None;
        settings.theme = "dark".into();
    };
    let (told, read) = request_change(&host, elsewhere, false).await;
    assert_eq!(told.unwrap_err().reason_text(), Some("not_confirmed"));
    let before = host.settings_get(Empty {}).await.unwrap().settings;
    assert_eq!(before, Settings::default(), "nothing of it was changed");
    let expected = [
        "model.base_url: https://api.openai.com/v1 -> https://models.example/v1",
        "model.provider: offline -> openai_compatible",
        "egress.redaction: basic -> none",
    ];
    assert_eq!(read, expected);
    let (told, _) = request_change(&host, elsewhere, true).await;
    told.unwrap();
    let now = host.settings_get(Empty {}).await.unwrap().settings;
    assert_eq!(
        (now.model.base_url.as_str(), now.egress.redaction, now.theme.as_str()),
        ("https://models.example/v1", RedactionLevel::None, "dark")
    );

    // A change that does not widen access needs no confirmation.
    let window = ChatWindow::new(Arc::clone(&host));
    let mut narrower = now.clone();
    narrower.egress.redaction = RedactionLevel::Strict;
    narrower.theme = "light".into();
    assert_eq!(
        window
            .settings_set(SettingsSetParams { settings: narrower.clone() })
            .await
            .unwrap()
            .settings,
        narrower
    );

    // For a key, its destination is shown, but never the key itself.
    let window = Arc::new(window);
    let storing = tokio::spawn({
        let window = Arc::clone(&window);
        async move {
            window
                .secret_set(SecretSetParams {
                    name: "OPENAI_API_KEY".into(),
                    value: "sk-shown-nowhere".into(),
                    this_run_only: true,
                })
                .await
        }
    });
    let found = waiting(&host).await;
    assert_eq!((found.changes.len(), found.changes[0].setting.as_str()), (1, "key"));
    assert!(
        found.changes[0].after.contains("https://models.example")
            && !format!("{found:?}").contains("shown-nowhere"),
        "{found:?}"
    );
    host.confirmation_decide(ConfirmationDecideParams { id: found.id.clone(), accept: true })
        .await
        .unwrap();
    storing.await.unwrap().unwrap();
    assert!(
        host.confirmation_decide(ConfirmationDecideParams { id: found.id, accept: true })
            .await
            .is_err(),
        "once"
    );
    assert_eq!(host.settings_get(Empty {}).await.unwrap().secrets_set, ["OPENAI_API_KEY"]);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chat_window_allows_a_destination_only_after_confirmation() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let destination = Destination::new(DestinationKind::Host, "Docs.example");
    for accept in [false, true] {
        let window = ChatWindow::new(Arc::clone(&host));
        let params = AllowanceParams { destination: destination.clone(), session: None };
        let giving = tokio::spawn(async move { window.allowance_give(params).await });
        let found = waiting(&host).await;
        let [change] = found.changes.as_slice() else { panic!("{found:?}") };
        let asked = (change.setting.as_str(), change.after.as_str());
        assert_eq!(asked, ("destination.always", "host:Docs.example"));
        let answer = ConfirmationDecideParams { id: found.id.clone(), accept };
        host.confirmation_decide(answer).await.unwrap();
        assert_eq!(giving.await.unwrap().is_ok(), accept);
        let listed = host.allowances_list(Empty {}).await.unwrap().allowances;
        let names: Vec<&str> = listed.iter().map(|one| one.destination.name.as_str()).collect();
        assert_eq!(names, if accept { vec!["docs.example"] } else { vec![] });
    }
    host.stop().await;
}
