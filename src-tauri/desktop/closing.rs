//! Decides what closing the chat window does: quit, hide in the tray, or ask; and what quitting does.
//! Owns the question to the user, and the check whether the desktop shows tray icons. Must not know
//! what is pending or imported, only how many items wait and whether an import runs.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tauri::{AppHandle, Manager as _, Window};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons};
use zbus::blocking::{Connection, fdo::DBusProxy};

use super::{language, text::Language, tray};

/// The name on the session bus of the service that shows tray icons.
const TRAY_WATCHER: &str = "org.kde.StatusNotifierWatcher";

/// The longest wait for the bus. Without an answer there is no tray.
const LONGEST_LOOK: Duration = Duration::from_secs(2);

/// The actions and imports that quitting would cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled {
    /// The number of items that wait for the user.
    pub(crate) waiting: u32,
    /// Whether an import of data runs.
    pub(crate) is_importing: bool,
}

impl Cancelled {
    fn is_nothing(self) -> bool {
        self.waiting == 0 && !self.is_importing
    }

    /// Returns the question to the user, with all that would be cancelled.
    fn question(self, language: Language) -> String {
        let waiting = (self.waiting > 0).then(|| language.quit_question(self.waiting));
        let import = self.is_importing.then(|| language.quit_import_question());
        waiting.into_iter().chain(import).collect::<Vec<_>>().join("\n\n")
    }
}

/// The effect of closing the chat window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    Quit,
    HideInTray,
    Ask,
}

/// Closing quits the app if nothing would be cancelled. Otherwise it hides the window if there is a
/// tray, and asks the user if there is none, because quitting cancels waiting actions and imports.
fn decide_closing(cancelled: Cancelled, has_tray: bool) -> Closing {
    match (cancelled.is_nothing(), has_tray) {
        (true, _) => Closing::Quit,
        (false, true) => Closing::HideInTray,
        (false, false) => Closing::Ask,
    }
}

/// Whether the question is open, so that a second click on close does not ask it again.
#[derive(Default)]
pub(crate) struct Question(AtomicBool);

/// Closes the chat window. Returns whether the window stays open for now.
pub(crate) fn close(window: &Window, cancelled: Cancelled) -> bool {
    let app = window.app_handle().clone();
    if decide_closing(cancelled, false) == Closing::Quit {
        app.exit(0);
        return false;
    }
    let window = window.clone();
    tauri::async_runtime::spawn(async move {
        let has_tray = tray::is_built(&app) && shows_tray_icons().await;
        match decide_closing(cancelled, has_tray) {
            Closing::Quit => app.exit(0),
            Closing::HideInTray => drop(window.hide()),
            Closing::Ask => ask_to_close(&app, cancelled),
        }
    });
    true
}

/// Quits the app. Asks first if that cancels something.
pub(crate) fn quit(app: &AppHandle, cancelled: Cancelled) {
    if cancelled.is_nothing() {
        app.exit(0);
    } else {
        ask_to_close(app, cancelled);
    }
}

fn ask_to_close(app: &AppHandle, cancelled: Cancelled) {
    if app.state::<Question>().0.swap(true, Ordering::AcqRel) {
        return;
    }
    let (language, handle) = (language::current(app), app.clone());
    app.dialog()
        .message(cancelled.question(language))
        .title(language.quit_title())
        .buttons(MessageDialogButtons::OkCancelCustom(
            language.quit_label(),
            language.keep_open_label(),
        ))
        .show(move |quits| {
            handle.state::<Question>().0.store(false, Ordering::Release);
            if quits {
                handle.exit(0);
            }
        });
}

/// Whether the desktop shows tray icons. An icon can be made even if no tray shows it.
async fn shows_tray_icons() -> bool {
    let look = tauri::async_runtime::spawn_blocking(|| {
        let bus = Connection::session().ok()?;
        let names = DBusProxy::new(&bus).ok()?;
        names.name_has_owner(TRAY_WATCHER.try_into().ok()?).ok()
    });
    matches!(tokio::time::timeout(LONGEST_LOOK, look).await, Ok(Ok(Some(true))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_never_cancels_pending_actions_or_imports_without_asking() {
        let table = [
            (0, false, true, Closing::Quit),
            (0, false, false, Closing::Quit),
            (1, false, true, Closing::HideInTray),
            (7, false, true, Closing::HideInTray),
            (1, false, false, Closing::Ask),
            (7, false, false, Closing::Ask),
            (0, true, true, Closing::HideInTray),
            (0, true, false, Closing::Ask),
            (2, true, false, Closing::Ask),
        ];
        for (waiting, is_importing, has_tray, does) in table {
            assert_eq!(
                decide_closing(Cancelled { waiting, is_importing }, has_tray),
                does,
                "{waiting} waiting, import: {is_importing}, tray: {has_tray}"
            );
        }
    }

    #[test]
    fn the_question_names_all_that_would_be_cancelled() {
        let ask = |waiting, is_importing| {
            Cancelled { waiting, is_importing }.question(Language::default())
        };
        assert!(ask(1, false).starts_with("1 action waits") && !ask(1, false).contains("import"));
        assert!(ask(0, true).starts_with("An import is running."));
        assert!(ask(2, true).contains("2 actions wait") && ask(2, true).contains("import"));
    }
}
