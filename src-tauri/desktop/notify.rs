//! Desktop notifications. A notification only informs the user: a click shows the approval window
//! and never decides.

use tauri::AppHandle;
use tauri_plugin_notification::NotificationExt;

use super::{language, windows};

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
    let language = language::current(app);
    show(app, &language.approval_title(), &language.approval_body(tool));
}

/// Notifies the user of an action that nobody decided about in time.
pub(crate) fn show_expiry_notification(app: &AppHandle, tool: &str) {
    let language = language::current(app);
    show(app, &language.expiry_title(), &language.expiry_body(tool));
}

fn show(app: &AppHandle, title: &str, body: &str) {
    let shown = app.notification().builder().title(title).body(body).icon("countersign").show();
    if let Err(error) = shown {
        tracing::warn!(%error, "no notification could be shown");
    }
}
