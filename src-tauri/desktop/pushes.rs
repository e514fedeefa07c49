//! Sends the host's pushes to the windows that subscribed, through the frame buffer, and to the
//! shell's own parts (approval window, tray, notifications).

use std::time::Duration;

use contract::{Approval, EventBody, Push};
use tauri::{AppHandle, Manager};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::Instant,
};

use super::{frames::Frames, language, listeners::Listeners, notify, tray, windows};

/// The time between two patches of an answer.
const FRAME: Duration = Duration::from_millis(16);

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
        Push::Alerts { digest: Some(digest), .. } => notify::show_alerts_notification(app, digest),
        Push::Confirmations { waiting } => windows::set_confirmation_count(app, *waiting),
        Push::Questions { waiting } => windows::set_question_count(app, *waiting),
        Push::Settings { settings } => {
            language::apply_setting(app, &settings.language);
            tray::refresh_language(app);
            windows::set_zoom(app, settings.zoom);
        }
        Push::Session { .. }
        | Push::SessionDeleted { .. }
        | Push::ItemsChanged { .. }
        | Push::Queue { .. }
        | Push::Server { .. }
        | Push::ServerTools { .. }
        | Push::QuestionDeclined { .. }
        | Push::Audit { .. }
        | Push::AuditVerification { .. }
        | Push::Run { .. }
        | Push::Files { .. }
        | Push::Sources {}
        | Push::Alerts { digest: None, .. }
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
