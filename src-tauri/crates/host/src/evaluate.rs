//! A pack's acceptance scenarios, run in a throwaway profile with the offline model: no network but the pack's own, no key, nothing of
//! the user's. What comes of a scenario is judged by its checks alone; a check that is not known has failed.

mod checks;

use std::{fs, path::Path, sync::Arc, time::Instant};

use contract::{
    AgentError, Commands as _, ErrorCode, EventBody, ItemBody, PackId, Push, SessionId, SessionParams, Settings, SettingsSetParams, TurnStartParams,
    TurnStatus,
    manifest::{Acceptance, Evidence, Scenario, ScenarioKind, ScenarioResult, ScenarioStatus},
};
use tokio::sync::broadcast;

use crate::{Host, Options};
use checks::Outcome;

/// Runs the scenarios of a pack without faults. `private_network`: its HTTP tools may reach this computer, when they ask for it.
pub async fn evaluate(folder: &Path, acceptance: &Acceptance, id: &PackId, private_network: bool, options: Options) -> Result<Evidence, AgentError> {
    let failed = |e: std::io::Error| {
        AgentError::internal("evaluation", format!("No folder could be made for the scenarios: {e}.")).hint("Free some disk space, then try again.")
    };
    let place = tempfile::Builder::new().prefix("countersign-").tempdir().map_err(failed)?;
    let (data, tools) = (place.path().join("data"), place.path().join("tools"));
    fs::create_dir_all(&data).map_err(failed)?;
    fs::create_dir_all(&tools).map_err(failed)?;
    std::os::unix::fs::symlink(folder.canonicalize().map_err(failed)?, tools.join(id.as_str())).map_err(failed)?;
    let clock = Arc::clone(&options.clock);
    let host = Host::open(Options { data_dir: Some(data), pack_dirs: vec![tools], credentials_from_environment: true, ..options }).await?;
    let mut settings = Settings { language: "en".into(), ..Settings::default() };
    settings.packs.entry(id.to_string()).or_default().private_network = private_network;
    let mut scenarios = Vec::new();
    for (n, scenario) in acceptance.scenarios.iter().enumerate() {
        scenarios.push(run(&host, scenario, &settings, &format!("scenario-{n}")).await);
    }
    host.stop().await;
    host.forget().await;
    let count = |status| u32::try_from(scenarios.iter().filter(|one| one.status == status).count()).unwrap_or(u32::MAX);
    Ok(Evidence {
        agent_id: id.to_string(),
        verified_at: clock.now(),
        passed: count(ScenarioStatus::Passed),
        failed: count(ScenarioStatus::Failed),
        skipped: count(ScenarioStatus::Skipped),
        scenarios,
    })
}

async fn run(host: &Host, scenario: &Scenario, settings: &Settings, session: &str) -> ScenarioResult {
    let started = Instant::now();
    let result = |status, checks, error| ScenarioResult {
        title: scenario.title.clone(),
        priority: scenario.priority,
        status,
        checks,
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        error,
    };
    if matches!(scenario.kind, ScenarioKind::Pipeline | ScenarioKind::Cron | ScenarioKind::Worker | ScenarioKind::Sdk) {
        return result(ScenarioStatus::Skipped, Vec::new(), Some("This app has no adapter of this kind.".into()));
    }
    let settings = Settings { agent_enabled: scenario.agent_enabled, ..settings.clone() };
    if let Err(error) = host.settings_set(SettingsSetParams { settings }).await {
        return result(ScenarioStatus::Failed, Vec::new(), Some(error.message));
    }
    let session = SessionId::from(session);
    let outcome = match scenario.kind {
        ScenarioKind::HttpHealth => health(host),
        ScenarioKind::HttpConversationDebug => {
            let first = send(host, scenario, &session).await;
            Outcome { earlier_messages: Some(first.messages), ..send(host, scenario, &session).await }
        }
        ScenarioKind::HttpRun | ScenarioKind::WsStreaming | ScenarioKind::SseStreaming => send(host, scenario, &session).await,
        ScenarioKind::Pipeline | ScenarioKind::Cron | ScenarioKind::Worker | ScenarioKind::Sdk => Outcome::default(),
    };
    let checks: Vec<_> = scenario.expected_output_checks.iter().map(|check| checks::check(check, &outcome)).collect();
    let passed = checks.iter().all(|check| check.result == ScenarioStatus::Passed);
    result(if passed { ScenarioStatus::Passed } else { ScenarioStatus::Failed }, checks, outcome.error.map(|error| error.message))
}

/// Whether the pack could answer now; nothing is sent.
fn health(host: &Host) -> Outcome {
    let usable = host.tools.packs().iter().all(|pack| pack.faults.is_empty());
    let error = match (usable, engine::ports::Profile::settings(host.profile.as_ref()).agent_enabled) {
        (true, true) => None,
        (_, false) => Some(AgentError::new(ErrorCode::AgentDisabled, "Countersign is switched off.")),
        (false, true) => Some(AgentError::internal("pack_faults", "The pack has faults.")),
    };
    Outcome { output: if error.is_none() { "ok".into() } else { String::new() }, error, ..Outcome::default() }
}

async fn send(host: &Host, scenario: &Scenario, session: &SessionId) -> Outcome {
    let mut heard = host.subscribe();
    let text = scenario.message.clone().unwrap_or_else(|| scenario.when.clone());
    // What is remembered is seen best where a model says what it was shown.
    let model = (scenario.kind == ScenarioKind::HttpConversationDebug && text.contains(models::echo::DEBUG)).then(|| crate::models::ECHO.to_owned());
    let started = host.turn_start(TurnStartParams { session: Some(session.clone()), text, model, headless: true }).await;
    let mut outcome = match started {
        Ok(started) => follow(&mut heard, &started.turn).await,
        Err(error) => Outcome { error: Some(error), ..Outcome::default() },
    };
    if let Ok(view) = host.session_open(SessionParams { session: session.clone() }).await {
        let said = |body: &ItemBody| matches!(body, ItemBody::UserMessage { .. } | ItemBody::AssistantText { .. });
        outcome.messages = view.items.iter().filter(|item| said(&item.body)).count();
    }
    outcome
}

async fn follow(heard: &mut broadcast::Receiver<Push>, turn: &contract::TurnId) -> Outcome {
    let mut outcome = Outcome::default();
    loop {
        let event = match heard.recv().await {
            Ok(Push::Turn { event }) if event.turn == *turn => event.event,
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => continue,
            Err(broadcast::error::RecvError::Closed) => return outcome,
        };
        match event {
            EventBody::ToolEnd { tool, .. } if !outcome.tools.contains(&tool.0) => outcome.tools.push(tool.0),
            EventBody::Final { status, text, error, .. } => {
                outcome.error = match status {
                    TurnStatus::Ok | TurnStatus::Limit => None,
                    TurnStatus::Cancelled | TurnStatus::Error | TurnStatus::ApprovalRequired => {
                        Some(error.unwrap_or_else(|| AgentError::internal("unexpected", text.clone())))
                    }
                };
                outcome.output = text;
                return outcome;
            }
            _ => {}
        }
    }
}
