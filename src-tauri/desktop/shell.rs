//! The commands of the window itself: subscription, readiness, native choosers, links.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use contract::{AgentError, Push, text};
use tauri::{AppHandle, State, WebviewWindow, ipc::Channel};
use tauri_plugin_dialog::{DialogExt, FilePath};
use tokio::sync::oneshot;

use super::{backend::Backend, guard, links, listeners::Listeners, windows};

/// Subscribes this page to all pushes from now on.
#[tauri::command]
pub(crate) async fn subscribe(
    window: WebviewWindow,
    backend: State<'_, Backend>,
    listeners: State<'_, Listeners>,
    channel: Channel<Push>,
) -> Result<(), AgentError> {
    guard::check_window(window.label(), "subscribe")?;
    backend.host().await?;
    listeners.set_channel(window.label(), channel);
    Ok(())
}

/// Tells the shell that the page has something to show.
#[tauri::command]
pub(crate) async fn window_ready(window: WebviewWindow) -> Result<(), AgentError> {
    guard::check_window(window.label(), "window_ready")?;
    windows::show_ready_window(&window);
    Ok(())
}

/// Shows a link in full and opens it outside, if the user agrees.
#[tauri::command]
pub(crate) async fn open_link(
    app: AppHandle,
    window: WebviewWindow,
    url: String,
) -> Result<bool, AgentError> {
    guard::check_window(window.label(), "open_link")?;
    let refused =
        || AgentError::invalid("Only web and mail links can be opened.").reason("link_not_allowed");
    let url = url.parse().map_err(|_| refused())?;
    let (send, answer) = oneshot::channel();
    links::ask_and_open(&app, url, move |opened| {
        let _ = send.send(opened);
    });
    answer.await.ok().flatten().ok_or_else(refused)
}

/// Lets the user choose files. Returns an empty list if the user chose none.
#[tauri::command]
pub(crate) async fn pick_files(
    app: AppHandle,
    window: WebviewWindow,
) -> Result<Vec<String>, AgentError> {
    guard::check_window(window.label(), "pick_files")?;
    let (send, chosen) = oneshot::channel();
    app.dialog().file().set_parent(&window).pick_files(move |files| {
        let _ = send.send(files);
    });
    Ok(chosen.await.ok().flatten().unwrap_or_default().into_iter().filter_map(path).collect())
}

/// Lets the user choose a folder.
#[tauri::command]
pub(crate) async fn pick_folder(
    app: AppHandle,
    window: WebviewWindow,
) -> Result<Option<String>, AgentError> {
    guard::check_window(window.label(), "pick_folder")?;
    let (send, chosen) = oneshot::channel();
    app.dialog().file().set_parent(&window).pick_folder(move |folder| {
        let _ = send.send(folder);
    });
    Ok(chosen.await.ok().flatten().and_then(path))
}

/// Lets the user choose where a file is saved, and writes it there. `content` has the bytes in
/// base64. Returns the path, or None if the user chose none.
#[tauri::command]
pub(crate) async fn save_file(
    app: AppHandle,
    window: WebviewWindow,
    name: String,
    content: String,
) -> Result<Option<String>, AgentError> {
    guard::check_window(window.label(), "save_file")?;
    let content = STANDARD.decode(content).map_err(|error| {
        AgentError::invalid(text!("The parameters do not fit: {error}.", error = error.to_string()))
            .reason("invalid_request")
    })?;
    let (send, chosen) = oneshot::channel();
    app.dialog().file().set_parent(&window).set_file_name(name).save_file(move |file| {
        let _ = send.send(file);
    });
    let Some(place) = chosen.await.ok().flatten().and_then(|file| file.into_path().ok()) else {
        return Ok(None);
    };
    let folder = place.to_string_lossy().into_owned();
    // A table can have some ten megabytes, and its disk can be slow.
    let write = tokio::task::spawn_blocking(move || files::write(&place, &content));
    let written = write.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    written.map_err(|error| {
        AgentError::invalid(text!(
            "{folder} cannot be written: {error}.",
            folder = folder.as_str(),
            error = error.to_string()
        ))
        .reason("file_not_written")
    })?;
    Ok(Some(folder))
}

fn path(file: FilePath) -> Option<String> {
    file.into_path().ok().map(|path| path.to_string_lossy().into_owned())
}
