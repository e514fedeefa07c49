//! Checks an installation. Each check has a result and, if something is wrong, a remedy.

use contract::{
    AgentError, Amount, CheckState, ComparedWith, CredentialState, DoctorCheck, DoctorResponse,
    Isolation, KeyringState, PackView, ServerState, Text, label_text, text,
};
use engine::ports::{Models, Profile};
use mcp::Hidden;

use crate::{
    host::Host,
    models::ConnectionTest,
    packs::{apply_settings, is_unknown_setting},
    profile::{Paths, settings_fault},
    servers::{self, SessionSockets},
};

/// The text of the file that tests whether the data folder can be written. The text is long,
/// because a shorter text may still fit on a disk that is too full for a database.
const PROBE: &[u8] = &[b'\n'; 64 << 10];

/// Checks everything that an installation depends on.
pub(crate) async fn examine_installation(host: &Host) -> DoctorResponse {
    let mut checks = vec![
        check_folder(host.profile.paths()),
        check_settings(host),
        check_rules(host),
        check_keyring(host).await,
        check_log(host).await,
        check_packs(host),
        check_credentials(host).await,
        check_isolation(),
        check_server_isolation(host).await,
        check_servers(host),
    ];
    checks.extend(host.sources.examine());
    checks.extend([check_lists(host), check_model(host).await]);
    DoctorResponse { ok: checks.iter().all(|check| check.state != CheckState::Failed), checks }
}

/// Makes the possible checks of a profile that could not be opened, for example because the disk is
/// full. `why` is the error of the opening.
pub fn examine_unopened(paths: &Paths, why: &AgentError) -> DoctorResponse {
    let settings = match settings_fault(paths) {
        Some(fault) => failed_check("settings", CheckState::Failed, &fault),
        None => settings_are_readable(),
    };
    let mut profile = failed_check("profile", CheckState::Failed, why);
    if why.has_reason(contract::Reason::AuditUnavailable) {
        // The hint of this error refers to the same check, so it is removed.
        profile.hint = None;
    }
    let checks = vec![check_folder(paths), settings, profile];
    DoctorResponse { ok: false, checks }
}

fn make_check(
    name: &str,
    state: CheckState,
    message: impl Into<Text>,
    hint: Option<&str>,
) -> DoctorCheck {
    DoctorCheck { name: name.into(), state, message: message.into(), hint: hint.map(Text::from) }
}

/// Makes the result of a check that failed with an error.
fn failed_check(name: &str, state: CheckState, error: &AgentError) -> DoctorCheck {
    DoctorCheck { name: name.into(), state, message: error.text(), hint: error.hint_as_text() }
}

fn check_folder(paths: &Paths) -> DoctorCheck {
    let probe = paths.data.join(".write-test");
    let folder = paths.data.display();
    let written = files::write(&probe, PROBE).and_then(|()| std::fs::remove_file(&probe));
    if written.is_err() {
        // The file is removed even after an error, because an empty file would stay on a full disk.
        let _ = std::fs::remove_file(&probe);
    }
    match written {
        Ok(()) if paths.is_open_to_others() => make_check(
            "data folder",
            CheckState::Warning,
            text!(
                "{folder} can be written, and other users of this computer may enter it.",
                folder
            ),
            Some("Close it with chmod 700."),
        ),
        Ok(()) => make_check(
            "data folder",
            CheckState::Ok,
            text!("{folder} can be written.", folder),
            None,
        ),
        Err(e) => make_check(
            "data folder",
            CheckState::Failed,
            text!("{folder} cannot be written: {error}.", folder, error = e),
            Some("Free some space or make the folder writable."),
        ),
    }
}

fn check_settings(host: &Host) -> DoctorCheck {
    if let Some(fault) = host.settings_fault() {
        return failed_check("settings", CheckState::Failed, &fault);
    }
    if let Some(fault) = apply_settings(&host.profile.settings(), &host.packs.tools).first() {
        let (text, hint) = if is_unknown_setting(fault) {
            (
                text!("{fault} It has no effect.", fault = fault.text()),
                "Remove it from countersign.toml.",
            )
        } else {
            (
                text!("{fault} Its default is used.", fault = fault.text()),
                "Correct it on the pack's card in Tools, or in countersign.toml.",
            )
        };
        return make_check("settings", CheckState::Warning, text, Some(hint));
    }
    if !host.profile.settings().agent_enabled {
        return make_check(
            "settings",
            CheckState::Warning,
            "Countersign is switched off.",
            Some("Switch it on in Settings; if AGENT_ENABLED is set to false, unset it."),
        );
    }
    settings_are_readable()
}

fn settings_are_readable() -> DoctorCheck {
    make_check("settings", CheckState::Ok, "The settings are readable.", None)
}

fn check_rules(host: &Host) -> DoctorCheck {
    let rules = host.profile.rules();
    match rules.faults.first() {
        Some(fault) => make_check(
            "rules",
            CheckState::Warning,
            text!(
                "policy.json has a fault at {place}: {problem}. Until it is corrected, every call needs approval.",
                place = fault.place,
                problem = fault.problem
            ),
            Some(
                "Correct policy.json in the data folder. The page Tools > Policy lists every fault.",
            ),
        ),
        None => make_check("rules", CheckState::Ok, "The rules are readable.", None),
    }
}

async fn check_keyring(host: &Host) -> DoctorCheck {
    let view = host.keyring_view().await;
    match view.state {
        KeyringState::Ready => make_check("keyring", CheckState::Ok, view.message, None),
        KeyringState::Locked => make_check(
            "keyring",
            CheckState::Warning,
            view.message,
            Some("Unlock the keyring. Until then keys can be entered for this run only."),
        ),
        KeyringState::Missing => make_check(
            "keyring",
            CheckState::Warning,
            view.message,
            Some(
                "Start a Secret Service (for example gnome-keyring). Until then keys can be entered for this run only.",
            ),
        ),
    }
}

/// Verifies the whole log. A partial check could miss a change.
async fn check_log(host: &Host) -> DoctorCheck {
    let report = match host.verify().await {
        Ok(report) => report,
        Err(error) => {
            return failed_check("audit log", CheckState::Failed, &error);
        }
    };
    if let Some(alarm) = host.alarm() {
        return failed_check("audit log", CheckState::Failed, &alarm);
    }
    if let Some(problem) = report.problems.first() {
        return make_check(
            "audit log",
            CheckState::Failed,
            text!("Verification failed: {why}.", why = problem.message),
            Some("Run `csign audit verify`."),
        );
    }
    let records = Amount::whole(report.records);
    if let Some(warning) = host.log.warnings().first() {
        let message = text!("Records verified: {records}, but: {warning}.", records, warning);
        return make_check(
            "audit log",
            CheckState::Warning,
            message,
            Some("Check that the state folder is writable, and make the keyring available."),
        );
    }
    let with = match report.compared_with {
        ComparedWith::Keyring => "the keyring",
        ComparedWith::State => "the state folder only",
        ComparedWith::Nothing => {
            return make_check(
                "audit log",
                CheckState::Warning,
                text!(
                    "Records verified: {records}, but there was nothing outside the log to compare with.",
                    records
                ),
                Some("Check that the state folder is writable, and make the keyring available."),
            );
        }
    };
    if host.log.has_values_kept_for_clock().await.unwrap_or_default() {
        return make_check(
            "audit log",
            CheckState::Warning,
            "Old values are kept, because the clock does not agree with the times of the records.",
            Some(
                "Correct the clock. If it is right, the values expire when Countersign runs tomorrow.",
            ),
        );
    }
    if host.log.anchored() {
        return make_check(
            "audit log",
            CheckState::Ok,
            text!(
                "Records verified: {records}, compared with {with} and signed with the keyring's key.",
                records,
                with
            ),
            None,
        );
    }
    make_check(
        "audit log",
        CheckState::Warning,
        text!(
            "Records verified: {records}, compared with {with} and signed with a key of this run only (not anchored).",
            records,
            with
        ),
        Some("Make the keyring available and start again."),
    )
}

fn check_packs(host: &Host) -> DoctorCheck {
    let packs = host.packs.tools.packs();
    let faulty: Vec<String> = packs.iter().filter_map(unusable_reason).collect();
    let tools: usize = packs.iter().map(|p| p.tools.len()).sum();
    if let Some(error) = host.missing_packs_error() {
        let state = if packs.is_empty() { CheckState::Failed } else { CheckState::Warning };
        return failed_check("packs", state, &error);
    }
    if !faulty.is_empty() {
        return make_check(
            "packs",
            CheckState::Warning,
            text!("Not used: {packs}.", packs = faulty.join(", ")),
            Some("`csign packs list` and `csign packs check FOLDER` show every fault."),
        );
    }
    if tools == 0 {
        return make_check(
            "packs",
            CheckState::Failed,
            "The packs have no tools that can be used.",
            Some("`csign packs list` shows them."),
        );
    }
    make_check(
        "packs",
        CheckState::Ok,
        text!("Packs: {packs}, tools: {tools}.", packs = packs.len(), tools),
        None,
    )
}

/// Describes a pack's error in a few words. An error in the pack's data is reported separately.
fn unusable_reason(pack: &PackView) -> Option<String> {
    match pack.faults.as_slice() {
        [] => None,
        [one] if !pack.tools.is_empty() => {
            Some(format!("{} ({})", pack.id, one.problem.trim_end_matches('.')))
        }
        [_] => Some(format!("{} (1 fault)", pack.id)),
        more => Some(format!("{} ({} faults)", pack.id, more.len())),
    }
}

/// Checks whether the keys of packs' tools are present.
async fn check_credentials(host: &Host) -> DoctorCheck {
    let views = host.packs.tools.credential_views().await;
    let missing: Vec<String> = views
        .iter()
        .filter(|view| view.state == CredentialState::Missing)
        .map(|view| format!("{} ({})", view.env_var, view.pack_title))
        .collect();
    if missing.is_empty() {
        return make_check(
            "keys of packs",
            CheckState::Ok,
            if views.is_empty() {
                "No pack needs a key."
            } else {
                "Every key that a pack needs is there."
            },
            None,
        );
    }
    // A missing key is not an error of the installation, because the tool reports it when it is
    // used.
    let hint = "Enter them in Settings under \u{201c}Keys and access of packs\u{201d} when you need them; csign also reads variables of these names.";
    make_check(
        "keys of packs",
        CheckState::Ok,
        text!("Not entered: {keys}.", keys = missing.join(", ")),
        Some(hint),
    )
}

/// Reports how well programs of packs are isolated.
fn check_isolation() -> DoctorCheck {
    let found = ::packs::run::isolation();
    match found.level {
        Isolation::Full => make_check("isolation", CheckState::Ok, found.message, None),
        Isolation::Partial | Isolation::Limits => make_check(
            "isolation",
            CheckState::Warning,
            found.message,
            Some(
                "Use packs with programs only from people you trust, or a kernel with Landlock (6.2 or newer).",
            ),
        ),
    }
}

/// Checks whether servers of packs can reach sockets of the desktop session. Tests every socket
/// that is open now.
async fn check_server_isolation(host: &Host) -> DoctorCheck {
    const HINT: &str = "Use packs with servers only from people you trust, or allow programs to make user namespaces on this system.";
    let mut hidden = Hidden {
        folders: vec![host.profile.paths().data.clone(), host.profile.paths().state.clone()],
        ..Hidden::default()
    };
    let own = crate::profile::socket_path(host.profile.paths()).ok();
    let looked = tokio::task::spawn_blocking(move || {
        let doors = SessionSockets::from_environment();
        doors.hide_sockets(&mut hidden, &[]);
        doors.find_reachable(&hidden, own)
    });
    let warning =
        |message: Text| make_check("server isolation", CheckState::Warning, message, Some(HINT));
    match looked.await.map_err(std::io::Error::other).and_then(|looked| looked) {
        Ok(open) if !open.is_empty() => {
            warning(text!("Servers of packs can reach keys, or Countersign itself, through sockets that this system does not close: {sockets}.", sockets = open.join(", ")))
        }
        Ok(_) if !mcp::covers_work() => {
            warning("This system cannot close the session bus and the keyring to servers of packs. None of their sockets is open now.".into())
        }
        Ok(_) => {
            make_check("server isolation", CheckState::Ok, "Servers of packs reach neither the session bus and the keyring nor Countersign's own socket.", None)
        }
        Err(error) => warning(text!("Countersign cannot test how well pack servers are isolated: {error}.", error)),
    }
}

fn check_servers(host: &Host) -> DoctorCheck {
    let failed: Vec<String> = host
        .servers
        .views()
        .iter()
        .filter(|s| s.state == ServerState::Failed)
        .map(|s| format!("{}: {}", s.name, s.message.clone().unwrap_or_default()))
        .collect();
    if failed.is_empty() {
        return check_definitions(host);
    }
    make_check(
        "servers",
        CheckState::Failed,
        failed.join("; "),
        Some("Look at the server in Tools; it is tried again with the next call."),
    )
}

/// Lists the tools of servers, the manifests and the files of added servers that a person must
/// accept.
fn check_definitions(host: &Host) -> DoctorCheck {
    let waiting: Vec<String> = host
        .packs
        .tools
        .server_tools()
        .iter()
        .filter(|tool| servers::needs_acceptance(tool))
        .map(|tool| format!("{} ({})", tool.name, tool.pack))
        .collect();
    if waiting.is_empty() {
        return make_check("servers", CheckState::Ok, "No server has failed.", None);
    }
    make_check(
        "servers",
        CheckState::Warning,
        text!("New or changed, and off until you accept it: {names}.", names = waiting.join(", ")),
        Some("Open Tools in the window to see what changed, or use `csign servers accept`."),
    )
}

/// Lists the tools of servers that cannot be used, or cannot be checked completely.
fn check_lists(host: &Host) -> DoctorCheck {
    const MOST_NOTES: usize = 10;
    let notes = host.servers.pins.notes();
    if notes.is_empty() {
        let fine = "Every tool that a server listed can be used and checked.";
        return make_check("tools of servers", CheckState::Ok, fine, None);
    }
    let told: Vec<String> =
        notes.iter().take(MOST_NOTES).map(|(server, note)| format!("{server}: {note}")).collect();
    make_check(
        "tools of servers",
        CheckState::Warning,
        text!("Servers with tools that are odd: {notes}", notes = told.join(" ")),
        Some("Tell the authors of the server."),
    )
}

async fn check_model(host: &Host) -> DoctorCheck {
    if host.settings_fault().is_some() {
        let why = "Not tried, because the settings that name it cannot be used.";
        return make_check("model", CheckState::Warning, why, None);
    }
    let label = host.models.current(None).label();
    match host.test_model().await {
        None => make_check(
            "model",
            CheckState::Ok,
            text!("{model}: no network needed.", model = label_text(&label)),
            None,
        ),
        Some(ConnectionTest { found: Ok(_), .. }) => make_check(
            "model",
            CheckState::Ok,
            text!("{model} answers.", model = label_text(&label)),
            None,
        ),
        Some(ConnectionTest { found: Err(found), .. }) => DoctorCheck {
            name: "model".into(),
            state: CheckState::Failed,
            message: found.error.message,
            hint: found.error.hint.or_else(|| Some("Look at the model's settings.".into())),
        },
    }
}
