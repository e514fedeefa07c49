//! Sends the host's pushes to the windows that subscribed, through the frame buffer, and to the
//! shell's own parts (approval window, tray, notifications).

use std::{collections::BTreeMap, time::Duration};

use contract::{Approval, EventBody, Push};
use parking_lot::Mutex;
use tauri::{AppHandle, Manager, ipc::Channel};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::Instant,
};

use super::{frames::Frames, guard, notify, tray, windows};

/// The time between two patches of an answer.
const FRAME: Duration = Duration::from_millis(16);

/// The subscribed windows by label. A page that is reloaded replaces its channel.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<BTreeMap<String, Channel<Push>>>);

impl Listeners {
    /// Adds or replaces a window's channel.
    pub(crate) fn set_channel(&self, label: &str, channel: Channel<Push>) {
        self.0.lock().insert(label.to_owned(), channel);
    }

    /// Removes a closed window.
    pub(crate) fn remove_channel(&self, label: &str) {
        self.0.lock().remove(label);
    }

    /// Sends a push to every window that may get it.
    pub(crate) fn send_push(&self, push: &Push) {
        for (label, channel) in self.0.lock().iter() {
            if is_for(label, push) {
                // A closed window removes its channel itself.
                let _ = channel.send(push.clone());
            }
        }
    }
}

/// Whether a window gets a push. The approval window gets only changes of approvals, confirmations,
/// tools of servers and settings (theme, language), and the request to read everything again.
fn is_for(label: &str, push: &Push) -> bool {
    let decides = matches!(
        push,
        Push::Approvals { .. }
            | Push::Confirmations { .. }
            | Push::ServerTools { .. }
            | Push::Settings { .. }
            | Push::Lagged {}
    );
    label == guard::MAIN || (label == guard::APPROVAL && decides)
}

/// Runs until the host has stopped.
pub(crate) async fn forward_pushes(app: AppHandle, mut pushes: broadcast::Receiver<Push>) {
    let mut frames = Frames::default();
    let mut due = Instant::now();
    loop {
        let received = tokio::select! {
            received = pushes.recv() => Some(received),
            () = tokio::time::sleep_until(due), if frames.has_pending_text() => None,
        };
        let ready = match received {
            None => {
                due = Instant::now() + FRAME;
                frames.take_frame()
            }
            Some(Ok(push)) => {
                handle_push(&app, &push);
                frames.accept_push(push)
            }
            Some(Err(RecvError::Lagged(missed))) => {
                tracing::warn!(missed, "the window was too slow");
                frames.reset();
                vec![Push::Lagged {}]
            }
            Some(Err(RecvError::Closed)) => return,
        };
        let listeners = app.state::<Listeners>();
        ready.iter().for_each(|push| listeners.send_push(push));
    }
}

/// Updates the shell's own parts after a push.
fn handle_push(app: &AppHandle, push: &Push) {
    match push {
        Push::Approvals { waiting } => {
            tray::show_waiting_count(app, *waiting);
            windows::set_approval_count(app, *waiting);
        }
        Push::Turn { event } => {
            if let EventBody::ApprovalRequested { approval } = &event.event {
                notify::show_approval_notification(app, describe_approval(approval));
                windows::show_approval(app);
            }
        }
        Push::ApprovalExpired { approval } => {
            notify::show_expiry_notification(app, describe_approval(approval));
        }
        Push::Confirmations { waiting } => windows::set_confirmation_count(app, *waiting),
        Push::Questions { waiting } => windows::set_question_count(app, *waiting),
        Push::Settings { settings } => tray::apply_language(app, &settings.language),
        Push::Session { .. }
        | Push::SessionDeleted { .. }
        | Push::Queue { .. }
        | Push::Import { .. }
        | Push::Server { .. }
        | Push::ServerTools { .. }
        | Push::QuestionDeclined { .. }
        | Push::Audit { .. }
        | Push::AuditVerification { .. }
        | Push::Run { .. }
        | Push::Files { .. }
        | Push::Lagged {} => {}
    }
}

/// Returns the action as the host worded it for the user, or else the tool's name. Desktops may
/// interpret markup, so characters of markup are removed.
fn describe_approval(approval: &Approval) -> &str {
    let summary = approval.preview.as_ref().map(|preview| preview.summary.as_str());
    summary
        .filter(|text| !text.is_empty() && !text.contains('<'))
        .unwrap_or(approval.tool_title.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_approval_window_hears_no_conversation() {
        let audit = Push::Audit { total: 1 };
        let approvals = Push::Approvals { waiting: 1 };
        let tools = Push::ServerTools { waiting: 1 };
        let confirmations = Push::Confirmations { waiting: 1 };
        assert!(is_for(guard::APPROVAL, &confirmations) && !is_for("probe", &confirmations));
        assert!(is_for(guard::MAIN, &audit) && !is_for(guard::APPROVAL, &audit));
        assert!(is_for(guard::MAIN, &approvals) && is_for(guard::APPROVAL, &approvals));
        assert!(is_for(guard::MAIN, &tools) && is_for(guard::APPROVAL, &tools));
        assert!(!is_for("probe", &approvals));
    }
}
