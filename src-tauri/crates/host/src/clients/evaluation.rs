//! Runs a pack's acceptance scenarios in a temporary profile with the offline model, without a
//! network (except the pack's own requests), keys or user data. Only the checks of a scenario
//! decide its result; an unknown check fails.

mod checks;

use std::{fs, io, os::unix::fs::symlink, path::Path, sync::Arc, time::Instant};

use contract::{
    AgentError, CONTRACT_VERSION, Commands as _, ErrorCode, ItemBody, PackId, Reason, ResponseMode,
    RunOptions, RunParams, RunRequest, RunResponse, SessionId, SessionParams, Settings,
    SettingsSetParams,
    manifest::{Acceptance, Evidence, Scenario, ScenarioKind, ScenarioResult, ScenarioStatus},
    text,
};

use crate::{host::Host, profile::Options};
use checks::Outcome;

/// Runs the scenarios of a valid pack. `private_network` says whether the pack's HTTP tools may
/// reach this computer, if they ask for it.
pub async fn evaluate(
    folder: &Path,
    acceptance: &Acceptance,
    id: &PackId,
    private_network: bool,
    options: Options,
) -> Result<Evidence, AgentError> {
    let failed = |e: io::Error| {
        AgentError::internal(
            "evaluation",
            text!("No folder could be made for the scenarios: {error}.", error = e),
        )
        .hint("Free some disk space, then try again.")
    };
    let place = tempfile::Builder::new().prefix("countersign-").tempdir().map_err(failed)?;
    let (data, tools) = (place.path().join("data"), place.path().join("tools"));
    fs::create_dir_all(&data).map_err(failed)?;
    fs::create_dir_all(&tools).map_err(failed)?;
    link_packs(folder, id, &tools).map_err(failed)?;
    let clock = Arc::clone(&options.clock);
    let host = Host::open(Options {
        data_dir: Some(data),
        pack_dirs: vec![tools],
        credentials_from_environment: true,
        ..options
    })
    .await?;
    let mut settings = Settings { language: "en".into(), ..Settings::default() };
    settings.packs.entry(id.to_string()).or_default().private_network = private_network;
    let mut scenarios = Vec::new();
    for (n, scenario) in acceptance.scenarios.iter().enumerate() {
        scenarios.push(run_scenario(&host, scenario, &settings, &format!("scenario-{n}")).await);
    }
    host.stop().await;
    host.delete_outside_data().await;
    let count = |status| {
        u32::try_from(scenarios.iter().filter(|one| one.status == status).count())
            .unwrap_or(u32::MAX)
    };
    Ok(Evidence {
        agent_id: id.to_string(),
        verified_at: clock.now(),
        passed: count(ScenarioStatus::Passed),
        failed: count(ScenarioStatus::Failed),
        skipped: count(ScenarioStatus::Skipped),
        scenarios,
    })
}

/// Links a pack into a folder, and the packs beside it whose tools its specialist calls.
fn link_packs(folder: &Path, id: &PackId, into: &Path) -> io::Result<()> {
    let folder = folder.canonicalize()?;
    symlink(&folder, into.join(id.as_str()))?;
    let loaded = packs::check_folder(&folder);
    let used = loaded.pack.iter().flat_map(|pack| packs::used_packs(&pack.manifest));
    for other in used {
        let beside = folder.with_file_name(other.as_str());
        if beside.is_dir() {
            symlink(beside, into.join(other.as_str()))?;
        }
    }
    Ok(())
}

async fn run_scenario(
    host: &Host,
    scenario: &Scenario,
    settings: &Settings,
    session: &str,
) -> ScenarioResult {
    let started = Instant::now();
    let result = |status, checks, error| ScenarioResult {
        title: scenario.title.clone(),
        priority: scenario.priority,
        status,
        checks,
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        error,
    };
    if matches!(
        scenario.kind,
        ScenarioKind::Pipeline | ScenarioKind::Cron | ScenarioKind::Worker | ScenarioKind::Sdk
    ) {
        return result(
            ScenarioStatus::Skipped,
            Vec::new(),
            Some("This app has no adapter of this kind.".into()),
        );
    }
    let settings = Settings { agent_enabled: scenario.agent_enabled, ..settings.clone() };
    if let Err(error) = host.settings_set(SettingsSetParams { settings }).await {
        return result(ScenarioStatus::Failed, Vec::new(), Some(error.message));
    }
    let session = SessionId::from(session);
    let outcome = match scenario.kind {
        ScenarioKind::HttpHealth => check_health(host),
        ScenarioKind::HttpConversationDebug => {
            let first = send_message(host, scenario, &session, 1).await;
            Outcome {
                earlier_messages: Some(first.messages),
                ..send_message(host, scenario, &session, 2).await
            }
        }
        ScenarioKind::HttpRun | ScenarioKind::WsStreaming | ScenarioKind::SseStreaming => {
            send_message(host, scenario, &session, 1).await
        }
        ScenarioKind::Pipeline | ScenarioKind::Cron | ScenarioKind::Worker | ScenarioKind::Sdk => {
            Outcome::default()
        }
    };
    let checks: Vec<_> = scenario
        .expected_output_checks
        .iter()
        .map(|check| checks::check(check, &outcome))
        .collect();
    let passed = checks.iter().all(|check| check.result == ScenarioStatus::Passed);
    result(
        if passed { ScenarioStatus::Passed } else { ScenarioStatus::Failed },
        checks,
        outcome.error.map(|error| error.message),
    )
}

/// Checks whether the pack could answer now. Sends no request.
fn check_health(host: &Host) -> Outcome {
    let usable = host.packs.tools.packs().iter().all(|pack| pack.faults.is_empty());
    let error =
        match (usable, engine::ports::Profile::settings(host.profile.as_ref()).agent_enabled) {
            (true, true) => None,
            (_, false) => {
                Some(AgentError::new(ErrorCode::AgentDisabled, "Countersign is switched off."))
            }
            (false, true) => Some(AgentError::internal("pack_faults", "The pack has faults.")),
        };
    let version = Some(CONTRACT_VERSION.to_owned());
    Outcome {
        output: if error.is_none() { "ok".into() } else { String::new() },
        error,
        version,
        ..Outcome::default()
    }
}

/// Sends one message through the run contract, and returns the response or the error.
async fn send_message(host: &Host, scenario: &Scenario, session: &SessionId, n: u32) -> Outcome {
    let stream = matches!(scenario.kind, ScenarioKind::WsStreaming | ScenarioKind::SseStreaming);
    let request = RunRequest {
        contract_version: CONTRACT_VERSION.to_owned(),
        request_id: format!("{session}-{n}"),
        input: scenario.message.clone().unwrap_or_else(|| scenario.when.clone()),
        conversation_id: Some(session.to_string()),
        context: serde_json::Map::new(),
        options: RunOptions {
            response_mode: if stream { ResponseMode::Streaming } else { ResponseMode::Blocking },
            max_output_tokens: None,
        },
    };
    // The echo model repeats its input, so its answer shows the content of the memory.
    let echoes = scenario.kind == ScenarioKind::HttpConversationDebug
        && request.input.contains(models::echo::DEBUG);
    let text = serde_json::to_string(&request).unwrap_or_default();
    let params =
        RunParams { request: text, caller: "scenario".into(), correlation_id: None, stream };
    let answer = host.engine.runs.run_with(params, echoes.then_some(crate::models::ECHO)).await;
    let mut outcome = match answer {
        Ok(response) => outcome_of(&request, response),
        Err(error) => Outcome {
            version: Some(error.contract_version.clone()),
            error: Some(error),
            ..Outcome::default()
        },
    };
    if let Ok(view) = host.session_open(SessionParams { session: session.clone() }).await {
        let said = |body: &ItemBody| {
            matches!(body, ItemBody::UserMessage { .. } | ItemBody::AssistantText { .. })
        };
        outcome.messages = view.items.iter().filter(|item| said(&item.body)).count();
    }
    outcome
}

/// Converts a response to an outcome. A response to another request counts as an error.
fn outcome_of(request: &RunRequest, response: RunResponse) -> Outcome {
    let fits = response.request_id == request.request_id && !response.output.trim().is_empty();
    Outcome {
        output: response.output,
        version: Some(response.contract_version),
        tools: response
            .metadata
            .tools_used
            .unwrap_or_default()
            .into_iter()
            .map(|tool| tool.0)
            .collect(),
        error: (!fits).then(|| {
            AgentError::internal(
                Reason::InvalidResponse,
                "The response does not keep to the run contract.",
            )
        }),
        ..Outcome::default()
    }
}
