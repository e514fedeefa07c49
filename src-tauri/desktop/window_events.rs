//! Events of the windows and of the tray's menu: closing, quitting, and files that are dragged over the chat window.

use contract::Push;
use tauri::{AppHandle, DragDropEvent, Manager, Window, WindowEvent};

use super::{
    backend::Backend,
    closing::{self, Cancelled},
    guard,
    listeners::Listeners,
    windows,
};

/// Handles an event of a window.
pub(crate) fn handle_window_event(window: &Window, event: &WindowEvent) {
    let app = window.app_handle();
    match (window.label(), event) {
        (guard::MAIN, WindowEvent::CloseRequested { api, .. }) => {
            if closing::close(window, cancelled_by_quitting(app)) {
                api.prevent_close();
            }
        }
        // Closing the approval window decides nothing: pending actions stay until they expire.
        (guard::APPROVAL, WindowEvent::CloseRequested { api, .. }) => {
            api.prevent_close();
            let _ = window.hide();
        }
        (label, WindowEvent::Destroyed) => app.state::<Listeners>().remove_channel(label),
        (guard::MAIN, WindowEvent::DragDrop(drag)) => {
            if let Some((over, paths)) = dragged_files(drag) {
                app.state::<Listeners>().send_push(&Push::Files { over, paths });
            }
        }
        (_, _) => {}
    }
}

/// Quits the app, as the menu of the tray does. The user is asked like at closing.
pub(crate) fn quit(app: &AppHandle) {
    closing::quit(app, cancelled_by_quitting(app));
}

fn cancelled_by_quitting(app: &AppHandle) -> Cancelled {
    Cancelled {
        waiting: windows::count_pending(app),
        is_importing: app.try_state::<Backend>().is_some_and(|one| one.is_importing()),
    }
}

fn dragged_files(drag: &DragDropEvent) -> Option<(bool, Vec<String>)> {
    match drag {
        DragDropEvent::Enter { .. } => Some((true, Vec::new())),
        DragDropEvent::Leave => Some((false, Vec::new())),
        DragDropEvent::Drop { paths, .. } => {
            Some((false, paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()))
        }
        // Further moves over the window change nothing, and later kinds of events are unknown.
        _ => None,
    }
}
