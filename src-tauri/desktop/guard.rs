//! Decides which window may call which command. Tauri's capabilities already decide this; this
//! second check still applies if a capability file is changed by mistake.

use contract::{AgentError, ErrorCode};

use super::shell_commands::SHELL;

/// The label of the chat window.
pub(crate) const MAIN: &str = "main";
/// The label of the approval window.
pub(crate) const APPROVAL: &str = "approval";

/// Commands that the approval window needs besides its own: theme, language, pushes, and the tools
/// of servers.
const SHARED: &[&str] = &["settings_get", "server_tools", "subscribe", "window_ready"];

/// Returns an error if a window may not call a command.
pub(crate) fn check_window(label: &str, command: &str) -> Result<(), AgentError> {
    let allowed = match label {
        MAIN => contract::commands::CHAT_COMMANDS.contains(&command) || SHELL.contains(&command),
        APPROVAL => {
            contract::commands::APPROVAL_COMMANDS.contains(&command) || SHARED.contains(&command)
        }
        _ => false,
    };
    if allowed {
        return Ok(());
    }
    tracing::warn!(label, command, "a window called a command that is not for it");
    Err(AgentError::new(ErrorCode::InvalidInput, "This window may not do that.")
        .reason("window_not_allowed"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use contract::commands::{ACCESS, APPROVAL_COMMANDS, Access, CHAT_COMMANDS};

    use super::*;

    fn granted_commands(capability: &str) -> BTreeSet<String> {
        let value: serde_json::Value = serde_json::from_str(capability).unwrap();
        let permissions = value["permissions"].as_array().unwrap();
        permissions
            .iter()
            .map(|p| p.as_str().unwrap().strip_prefix("allow-").unwrap().replace('-', "_"))
            .collect()
    }

    #[test]
    fn capabilities_and_guard_allow_the_same_commands() {
        let all: BTreeSet<&str> =
            [CHAT_COMMANDS, APPROVAL_COMMANDS, SHELL, SHARED].concat().into_iter().collect();
        let files = [
            (MAIN, include_str!("../capabilities/main.json")),
            (APPROVAL, include_str!("../capabilities/approval.json")),
        ];
        for (label, file) in files {
            let by_guard: BTreeSet<String> = all
                .iter()
                .filter(|command| check_window(label, command).is_ok())
                .map(|command| (*command).to_owned())
                .collect();
            assert_eq!(
                granted_commands(file),
                by_guard,
                "capabilities/{label}.json against the guard"
            );
        }
    }

    #[test]
    fn each_command_of_a_window_has_an_access_level() {
        // The chat window may request commands that widen access, because `host::ChatWindow` has
        // them confirmed in the approval window first.
        let of_approval = ACCESS.iter().filter(|(command, _)| APPROVAL_COMMANDS.contains(command));
        let reads: Vec<&str> = of_approval
            .filter(|(_, level)| *level != Access::Widens)
            .map(|(command, _)| *command)
            .collect();
        assert_eq!(
            reads,
            ["approval_pending", "approval_form", "audit_alarm", "confirmations"],
            "everything else of the approval window widens"
        );
        for (label, file) in [
            (MAIN, include_str!("../capabilities/main.json")),
            (APPROVAL, include_str!("../capabilities/approval.json")),
        ] {
            let listed: BTreeSet<&str> = ACCESS.iter().map(|(command, _)| *command).collect();
            let unknown: Vec<String> = granted_commands(file)
                .into_iter()
                .filter(|name| !listed.contains(name.as_str()) && !SHELL.contains(&name.as_str()))
                .collect();
            assert!(
                unknown.is_empty(),
                "capabilities/{label}.json grants what has no level: {unknown:?}"
            );
        }
    }

    #[test]
    fn a_window_with_an_unknown_label_may_call_no_command() {
        for command in [CHAT_COMMANDS, APPROVAL_COMMANDS, SHELL].concat() {
            assert!(
                check_window("probe", command).is_err(),
                "{command} from a window of an unknown label"
            );
        }
    }

    #[test]
    fn only_the_approval_window_can_approve() {
        for command in APPROVAL_COMMANDS {
            assert!(check_window(MAIN, command).is_err(), "{command} from the chat window");
            assert!(check_window(APPROVAL, command).is_ok(), "{command} from the approval window");
        }
    }

    #[test]
    fn each_capability_file_names_one_window_and_no_remote_origin() {
        let files = [
            (MAIN, include_str!("../capabilities/main.json")),
            (APPROVAL, include_str!("../capabilities/approval.json")),
        ];
        for (label, file) in files {
            let value: serde_json::Value = serde_json::from_str(file).unwrap();
            assert_eq!(value["windows"], serde_json::json!([label]));
            assert!(
                value.get("remote").is_none() && value.get("webviews").is_none(),
                "capabilities/{label}.json"
            );
        }
    }
}
