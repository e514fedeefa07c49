//! The windows that subscribed to pushes, and which pushes each of them may get.

use std::collections::BTreeMap;

use contract::Push;
use parking_lot::Mutex;
use tauri::ipc::Channel;

use super::guard;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_window_gets_only_the_events_meant_for_it() {
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
