//! One Tauri command for each entry of the command list in `contract`. Each checks the calling
//! window, passes the parameters to the host and renders the result. This module decides nothing.

use std::sync::Arc;

// The list of commands names parameter and answer types without their paths.
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
                guard::check_window(window.label(), stringify!($name))?;
                let answer = commands_for(window.label(), backend.host().await?).$name(params).await?;
                update_after_command(&window, stringify!($name));
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
                shell::save_file,
            ]
        }
    };
}

contract::with_commands!(adapters);

/// Returns the host's commands for a window. The approval window gets all of them. In every other
/// window, changes that widen access must be confirmed first.
fn commands_for(label: &str, host: Arc<Host>) -> Arc<dyn Commands> {
    if label == guard::APPROVAL { host } else { Arc::new(ChatWindow::new(host)) }
}

/// Updates the windows after a successful command.
fn update_after_command(window: &WebviewWindow, command: &str) {
    if matches!(command, "approval_open" | "audit_alarm_open" | "server_tools_open") {
        windows::show_approval(tauri::Manager::app_handle(window));
    }
}
