//! Desktop notifications. A notification only informs the user: a click shows the approval window, or
//! the chat window after news of alerts, and never decides.

use contract::alerts::AlertDigest;
use tauri::AppHandle;
use tauri_plugin_notification::NotificationExt;

use super::{language, windows};

/// The identifier of notifications of alerts. A new one takes the place of the one before.
const ALERTS: i32 = 1_414_745_672;

/// Makes a click bring the window to the front that the notification is about.
pub(crate) fn open_window_on_click(app: &AppHandle) {
    let handle = app.clone();
    let listening = app.notification().on_action(move |performed| {
        let is_alerts = performed.notification().is_some_and(|shown| shown.id() == ALERTS);
        if is_alerts { windows::show_main(&handle) } else { windows::show_approval(&handle) }
    });
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

/// Notifies the user of the news of alerts of a day. Desktops may interpret markup, so a line with a
/// character of markup is left out.
pub(crate) fn show_alerts_notification(app: &AppHandle, digest: &AlertDigest) {
    let language = language::current(app);
    let lines: Vec<String> = digest.lines.iter().map(|line| language.host_text(line)).collect();
    let lines: Vec<&str> =
        lines.iter().map(String::as_str).filter(|line| !line.contains('<')).collect();
    let title = language.alerts_title(digest.told.saturating_add(digest.resolved));
    let builder = app.notification().builder().id(ALERTS).title(title).body(lines.join("\n"));
    report(builder.icon("countersign").show());
}

fn show(app: &AppHandle, title: &str, body: &str) {
    report(app.notification().builder().title(title).body(body).icon("countersign").show());
}

fn report(shown: tauri_plugin_notification::Result<()>) {
    if let Err(error) = shown {
        tracing::warn!(%error, "no notification could be shown");
    }
}
