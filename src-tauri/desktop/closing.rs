//! Decides what closing the chat window does: quit, hide in the tray, or ask. Owns the question to
//! the user, and the check whether the desktop shows tray icons. Must not know what is pending,
//! only how many items are.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tauri::{AppHandle, Manager as _, Window};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons};
use zbus::blocking::{Connection, fdo::DBusProxy};

use super::{language, tray};

/// The name on the session bus of the service that shows tray icons.
const TRAY_WATCHER: &str = "org.kde.StatusNotifierWatcher";

/// The longest wait for the bus. Without an answer there is no tray.
const LONGEST_LOOK: Duration = Duration::from_secs(2);

/// The effect of closing the chat window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    Quit,
    HideInTray,
    Ask,
}

/// Closing quits the app if nothing waits for the user. Otherwise it hides the window if there is a
/// tray, and asks the user if there is none, because quitting cancels waiting actions.
fn decide_closing(waiting: u32, has_tray: bool) -> Closing {
    match (waiting, has_tray) {
        (0, _) => Closing::Quit,
        (_, true) => Closing::HideInTray,
        (_, false) => Closing::Ask,
    }
}

/// Whether the question is open, so that a second click on close does not ask it again.
#[derive(Default)]
pub(crate) struct Question(AtomicBool);

/// Closes the chat window. Returns whether the window stays open for now.
pub(crate) fn close(window: &Window, waiting: u32) -> bool {
    let app = window.app_handle().clone();
    if decide_closing(waiting, false) == Closing::Quit {
        app.exit(0);
        return false;
    }
    let window = window.clone();
    tauri::async_runtime::spawn(async move {
        let has_tray = tray::is_built(&app) && shows_tray_icons().await;
        match decide_closing(waiting, has_tray) {
            Closing::Quit => app.exit(0),
            Closing::HideInTray => drop(window.hide()),
            Closing::Ask => ask_to_close(&app, waiting),
        }
    });
    true
}

fn ask_to_close(app: &AppHandle, waiting: u32) {
    if app.state::<Question>().0.swap(true, Ordering::AcqRel) {
        return;
    }
    let (language, handle) = (language::current(app), app.clone());
    app.dialog()
        .message(language.quit_question(waiting))
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
    fn closing_never_cancels_pending_actions_without_asking() {
        let table = [
            (0, true, Closing::Quit),
            (0, false, Closing::Quit),
            (1, true, Closing::HideInTray),
            (7, true, Closing::HideInTray),
            (1, false, Closing::Ask),
            (7, false, Closing::Ask),
        ];
        for (waiting, has_tray, does) in table {
            assert_eq!(
                decide_closing(waiting, has_tray),
                does,
                "{waiting} waiting, tray: {has_tray}"
            );
        }
    }
}
