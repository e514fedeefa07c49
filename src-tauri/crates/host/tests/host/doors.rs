//! Tests that a stored key in any input other than a message is refused and is written to no file.

use std::{fs, path::Path, sync::Arc};

use contract::{
    AllowanceParams, AuditListParams, AuditShowParams, BoardSaveParams, BoardTileAddParams,
    Commands, Destination, DestinationKind, Empty, RecordType, RunParams, SecretSetParams,
    SettingsSetParams, SwitchSetParams, SwitchTarget, ToolCallParams, TurnStartParams,
};
use host::{Options, Person, Terminal};
use serde_json::json;

const KEY: &str = "Xk29fLm3QpZr81TbVw6Y";

/// Returns the files below a folder that contain the key.
fn holding(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(holding(&entry.path()));
        } else if fs::read(entry.path())
            .unwrap_or_default()
            .windows(KEY.len())
            .any(|part| part == KEY.as_bytes())
        {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stored_key_is_refused_in_names_ids_and_settings() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools");
    let host = crate::open(|| Options {
        data_dir: Some(folder.path().to_owned()),
        pack_dirs: vec![tools.clone()],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await;
    host.secret_set(SecretSetParams {
        name: "OPENAI_API_KEY".into(),
        value: KEY.into(),
        this_run_only: true,
    })
    .await
    .unwrap();
    let mut refused = Vec::new();

    let stored = host.settings_get(Empty {}).await.unwrap().settings;
    for place in ["model", "base_url"] {
        let mut settings = stored.clone();
        match place {
            "model" => settings.model.model = format!("gpt {KEY}"),
            _ => settings.model.base_url = format!("https://models.example/{KEY}"),
        }
        refused.push(host.settings_set(SettingsSetParams { settings }).await.unwrap_err());
    }
    refused.push(
        host.switch_set(SwitchSetParams { target: SwitchTarget::Tool(KEY.into()), on: false })
            .await
            .unwrap_err(),
    );
    let start = |session: &str, model: Option<String>| TurnStartParams {
        session: Some(session.into()),
        text: "Hello?".into(),
        model,
        agent: None,
        headless: true,
        replaces: None,
    };
    refused.push(host.turn_start(start(KEY, None)).await.unwrap_err());
    refused.push(host.turn_start(start("s", Some(KEY.into()))).await.unwrap_err());
    let call = ToolCallParams {
        tool: "cart.get".into(),
        arguments: json!({}),
        session: Some(KEY.into()),
        headless: true,
    };
    refused.push(host.tool_call(call).await.unwrap_err());
    let request =
        json!({"contract_version": "1.0", "request_id": "r-1", "input": "Hello?"}).to_string();
    let run = |caller: &str, id: Option<&str>| RunParams {
        request: request.clone(),
        caller: caller.into(),
        correlation_id: id.map(Into::into),
        stream: false,
    };
    refused.push(host.run_request(run(KEY, None)).await.unwrap_err());
    refused.push(host.run_request(run("test", Some(KEY))).await.unwrap_err());

    let content = |name: &str, filter: &str| {
        let filters = [json!({"campaign": [filter]})];
        serde_json::from_value(json!({"name": name, "filters": filters, "tiles": []})).unwrap()
    };
    for content in [content(KEY, "A"), content("Weekly", KEY)] {
        let params = BoardSaveParams { id: None, revision: 0, content };
        refused.push(host.board_save(params).await.unwrap_err());
    }
    let tile = json!({"id": "", "title": KEY, "query": {"measures": ["spend"]}, "view": "table", "width": "half"});
    let tile = serde_json::from_value(tile).unwrap();
    let params = BoardTileAddParams { board: None, name: "Weekly".into(), tile };
    refused.push(host.board_tile_add(params).await.unwrap_err());

    let rule = json!({"name": "Spend", "condition": {"no_data_for": {"days": 2}}, "is_on": true,
        "query": {"source": "ads", "measures": ["spend"], "where": {"campaign": [KEY]}}});
    let content = serde_json::from_value(rule).unwrap();
    let params = contract::AlertRuleSaveParams { id: None, revision: 0, content };
    refused.push(host.alert_rule_save(params).await.unwrap_err());

    for error in refused {
        assert_eq!(error.reason_text(), Some("holds_secret"), "{error:?}");
        assert!(!json!(error).to_string().contains(KEY), "{error:?}");
    }
    host.settings_set(SettingsSetParams { settings: stored }).await.unwrap();
    host.stop().await;
    assert_eq!(holding(folder.path()), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_settings_is_recorded_with_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    let host = crate::open(|| Options {
        data_dir: Some(folder.path().to_owned()),
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await;
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.theme = "dark".into();
    host.settings_set(SettingsSetParams { settings: settings.clone() }).await.unwrap();
    let terminal = Terminal::local(Arc::clone(&host), Person::Deciding);
    settings.theme = "light".into();
    terminal.settings_set(SettingsSetParams { settings }).await.unwrap();
    let target = SwitchTarget::Agent("pacer".into());
    terminal.switch_set(SwitchSetParams { target, on: false }).await.unwrap();
    let destination = Destination::new(DestinationKind::Host, "docs.example.com");
    let allowed = || AllowanceParams { destination: destination.clone(), session: None };
    terminal.allowance_give(allowed()).await.unwrap();
    host.allowance_revoke(allowed()).await.unwrap();
    let mut found = Vec::new();
    for kind in [
        RecordType::SettingChanged,
        RecordType::KillSwitch,
        RecordType::GrantCreated,
        RecordType::GrantRevoked,
    ] {
        let list = AuditListParams {
            record_type: Some(kind),
            session: None,
            query: String::new(),
            before: None,
            limit: 10,
        };
        let records = host.audit_list(list).await.unwrap().records;
        found
            .extend(records.iter().rev().filter_map(|record| record.fields.get("origin").cloned()));
        let seq = records[0].seq;
        let shown = host.audit_show(AuditShowParams { seq }).await.unwrap();
        assert!(shown.revealed.contains_key("person"), "{shown:?}");
    }
    assert_eq!(found, ["window", "terminal", "terminal"]);
    host.stop().await;
}
