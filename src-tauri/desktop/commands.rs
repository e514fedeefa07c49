//! One Tauri command per entry of the one list in `contract`. Each checks the calling window, hands the parameters to the
//! host and renders what comes back; nothing is decided here.

use std::sync::Arc;

// The list names parameter and answer types without their paths.
use contract::*;
use host::{ChatWindow, Host};
use tauri::{State, WebviewWindow, Wry, ipc::Invoke};

use super::{backend::Backend, guard, items, shell, windows};

macro_rules! adapters {
    (
        chat { $($name:ident($params:ty) -> $response:ty, $level:ident, $help:literal;)+ }
        approval { $($aname:ident($aparams:ty) -> $aresponse:ty, $alevel:ident, $ahelp:literal;)+ }
    ) => {
        adapters! { @each $($name($params) -> $response, $help;)+ $($aname($aparams) -> $aresponse, $ahelp;)+ }
    };
    (@each $($name:ident($params:ty) -> $response:ty, $help:literal;)+) => {
        $(
            #[doc = $help]
            #[tauri::command]
            async fn $name(window: WebviewWindow, backend: State<'_, Backend>, params: $params) -> Result<$response, AgentError> {
                guard::check(window.label(), stringify!($name))?;
                let answer = commands_for(window.label(), backend.host().await?).$name(params).await?;
                after_command(&window, stringify!($name));
                Ok(items::render_items(answer))
            }
        )+

        /// Routes calls of the pages to the commands.
        pub(crate) fn handler() -> impl Fn(Invoke<Wry>) -> bool + Send + Sync + 'static {
            tauri::generate_handler![
                $($name,)+
                shell::subscribe,
                shell::window_ready,
                shell::open_link,
                shell::pick_files,
                shell::pick_folder,
            ]
        }
    };
}

contract::with_commands!(adapters);

/// The host as a window has it: the approval window has all of it, every other one asks there before it widens.
fn commands_for(label: &str, host: Arc<Host>) -> Arc<dyn Commands> {
    if label == guard::APPROVAL { host } else { Arc::new(ChatWindow::new(host)) }
}

/// What a command means for the windows, once the host has agreed.
fn after_command(window: &WebviewWindow, command: &str) {
    if matches!(command, "approval_open" | "audit_alarm_open" | "server_tools_open") {
        windows::show_approval(tauri::Manager::app_handle(window));
    }
}
