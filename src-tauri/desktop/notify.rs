//! Desktop notifications. They only inform the user: a click shows the approval window and never
//! decides.

use tauri::AppHandle;
use tauri_plugin_notification::NotificationExt;

use super::{tray, windows};

/// Makes a click bring the approval window to the front.
pub(crate) fn open_approvals_on_click(app: &AppHandle) {
    let handle = app.clone();
    let listening = app.notification().on_action(move |_| windows::show_approval(&handle));
    if let Err(error) = listening {
        tracing::warn!(%error, "clicks on notifications are not heard");
    }
}

/// Notifies the user of a pending approval.
pub(crate) fn show_approval_notification(app: &AppHandle, tool: &str) {
    let language = tray::language_of(app);
    let shown = app
        .notification()
        .builder()
        .title(language.approval_title())
        .body(language.approval_body(tool))
        .icon("countersign")
        .show();
    if let Err(error) = shown {
        tracing::warn!(%error, "no notification could be shown");
    }
}
