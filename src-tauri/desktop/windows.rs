//! The chat window and the approval window. Both load only the app's own pages, open nothing else,
//! and share one web context (tests could not control a window with its own data folder).

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU16, AtomicU32, Ordering},
    time::Duration,
};

use host::SplashSettings;
use parking_lot::Mutex;
use tauri::{
    AppHandle, Manager, Theme, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder,
    webview::NewWindowResponse, window::Color,
};

use super::{guard, language, links};

/// The time after which a window is shown even if its page has not reported that it is ready.
const LATEST_APPEARANCE: Duration = Duration::from_millis(1500);

/// The page's background (`--bg` in `ui/src/style/tokens.css`), which a window has until its page
/// is drawn.
const LIGHT: Color = Color(0xf5, 0xf6, 0xf8, 0xff);
const DARK: Color = Color(0x13, 0x16, 0x1a, 0xff);

/// The state that decides when windows are shown.
#[derive(Default)]
pub(crate) struct Windows {
    /// The last known number of pending approvals.
    waiting: AtomicU32,
    /// The last known number of changes that wait for confirmation.
    confirmations: AtomicU32,
    /// The last known number of questions of servers that wait for an answer.
    questions: AtomicU32,
    /// The size of everything in the windows, in percent.
    zoom: AtomicU16,
    /// Labels of windows that have been shown once.
    appeared: Mutex<BTreeSet<String>>,
}

/// Opens the chat window. The window appears at once in the right colours, and gets its content
/// while the host is opened.
pub(crate) fn open_main(app: &AppHandle, look: &SplashSettings) -> tauri::Result<()> {
    let window = open_page(app, guard::MAIN, "index.html")
        .title("Countersign")
        .inner_size(1280.0, 800.0)
        // The page must not read the clipboard, which may hold a password: it shows texts of others.
        .min_inner_size(720.0, 480.0);
    let window = window.initialization_script(build_startup_script(look)).build()?;
    if matches!(look.theme.as_str(), "dark" | "contrast")
        || (look.theme == "system" && window.theme().is_ok_and(|theme| theme == Theme::Dark))
    {
        window.set_background_color(Some(DARK))?;
    }
    app.state::<Windows>().zoom.store(look.zoom, Ordering::Relaxed);
    zoom_window(&window, look.zoom);
    bring_to_front(&window);
    Ok(())
}

/// Returns the script that runs in the page before anything is drawn. It sets the theme, and
/// chooses which of its two first screens `index.html` shows.
fn build_startup_script(look: &SplashSettings) -> String {
    let start = if look.welcomed { "app" } else { "welcome" };
    let theme = match look.theme.as_str() {
        known @ ("light" | "dark" | "contrast") => format!("'{known}'"),
        _ => "matchMedia('(prefers-contrast: more)').matches ? 'contrast' : matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'".to_owned(),
    };
    format!(
        "document.documentElement.dataset.start = '{start}'; document.documentElement.dataset.theme = {theme};"
    )
}

/// Brings the chat window to the front.
pub(crate) fn show_main(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(guard::MAIN) {
        bring_to_front(&window);
    }
}

/// Brings the approval window to the front, and creates it on first use.
pub(crate) fn show_approval(app: &AppHandle) {
    let handle = app.clone();
    // Windows are created on the main thread, and only once for each label.
    let posted = app.run_on_main_thread(move || {
        if let Some(window) = handle.get_webview_window(guard::APPROVAL) {
            bring_to_front(&window);
        } else if let Err(error) = open_approval(&handle) {
            tracing::error!(%error, "the approval window could not be opened; nothing can be approved in it");
        }
    });
    if let Err(error) = posted {
        tracing::debug!(%error, "the app is closing");
    }
}

fn open_approval(app: &AppHandle) -> tauri::Result<()> {
    let title = language::current(app).approval_window();
    let mut builder = open_page(app, guard::APPROVAL, "approval.html")
        .title(title)
        .inner_size(680.0, 720.0)
        .min_inner_size(480.0, 480.0)
        .center();
    if let Some(main) = app.get_webview_window(guard::MAIN) {
        builder = builder.transient_for(&main)?;
    }
    let window = builder.build()?;
    zoom_window(&window, app.state::<Windows>().zoom.load(Ordering::Relaxed));
    show_after_timeout(window);
    Ok(())
}

/// Draws all windows at a size, in percent.
pub(crate) fn set_zoom(app: &AppHandle, percent: u16) {
    if app.state::<Windows>().zoom.swap(percent, Ordering::Relaxed) == percent {
        return;
    }
    for window in app.webview_windows().values() {
        zoom_window(window, percent);
    }
}

fn zoom_window(window: &WebviewWindow, percent: u16) {
    if let Err(error) = window.set_zoom(f64::from(percent) / 100.0) {
        tracing::debug!(%error, "the window is closing");
    }
}

/// Shows a window if its page does not report readiness in time, so that the user sees that
/// something is wrong.
fn show_after_timeout(window: WebviewWindow) {
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(LATEST_APPEARANCE).await;
        show_ready_window(&window);
    });
}

/// For test builds, on request only: opens a window with a label that no capability names.
#[cfg(debug_assertions)]
pub(crate) fn open_probe(app: &AppHandle) -> tauri::Result<()> {
    if std::env::var_os("COUNTERSIGN_TEST_PROBE_WINDOW").is_some() {
        open_page(app, "probe", "index.html").title("probe").inner_size(400.0, 300.0).build()?;
    }
    Ok(())
}

/// Shows the approval window if the number of pending approvals grew, and hides it if there are
/// none.
pub(crate) fn set_approval_count(app: &AppHandle, waiting: u32) {
    let windows = app.state::<Windows>();
    let before = windows.waiting.swap(waiting, Ordering::Relaxed);
    update_approval_window(app, before, waiting, windows.confirmations.load(Ordering::Relaxed));
}

/// Shows the approval window if the number of changes that wait for confirmation grew, and hides it
/// if it has nothing to show.
pub(crate) fn set_confirmation_count(app: &AppHandle, waiting: u32) {
    let windows = app.state::<Windows>();
    let before = windows.confirmations.swap(waiting, Ordering::Relaxed);
    update_approval_window(app, before, waiting, windows.waiting.load(Ordering::Relaxed));
}

/// Stores how many questions of servers wait for an answer.
pub(crate) fn set_question_count(app: &AppHandle, waiting: u32) {
    app.state::<Windows>().questions.store(waiting, Ordering::Relaxed);
}

/// Returns the number of items that wait for the user.
pub(crate) fn count_pending(app: &AppHandle) -> u32 {
    let windows = app.state::<Windows>();
    [&windows.waiting, &windows.confirmations, &windows.questions]
        .iter()
        .fold(0, |sum, count| sum.saturating_add(count.load(Ordering::Relaxed)))
}

fn update_approval_window(app: &AppHandle, before: u32, waiting: u32, others: u32) {
    if waiting > before {
        show_approval(app);
    } else if waiting == 0
        && before > 0
        && others == 0
        && let Some(window) = app.get_webview_window(guard::APPROVAL)
    {
        let _ = window.hide();
    }
}

/// Creates a webview that stays on the app's own pages.
fn open_page<'a>(
    app: &'a AppHandle,
    label: &str,
    file: &str,
) -> WebviewWindowBuilder<'a, tauri::Wry, AppHandle> {
    let (going, opening) = (app.clone(), app.clone());
    WebviewWindowBuilder::new(app, label, WebviewUrl::App(file.into()))
        .visible(false)
        .background_color(LIGHT)
        .on_navigation(move |url| {
            let own = is_own(url);
            if !own {
                links::ask_and_open(&going, url.clone(), drop);
            }
            own
        })
        .on_new_window(move |url, _| {
            links::ask_and_open(&opening, url, drop);
            NewWindowResponse::Deny
        })
        .on_download(|_, _| false)
}

/// Whether a URL is one of the app's own pages or, in development, of the server that builds them.
fn is_own(url: &Url) -> bool {
    let packaged = url.scheme() == "tauri" && url.host_str() == Some("localhost");
    let windows =
        matches!(url.scheme(), "http" | "https") && url.host_str() == Some("tauri.localhost");
    let developing = tauri::is_dev()
        && url.scheme() == "http"
        && url.host_str() == Some("127.0.0.1")
        && url.port() == Some(5183);
    packaged || (cfg!(windows) && windows) || developing
}

/// Shows a window whose page is ready. A visible window keeps its place and does not get the focus.
pub(crate) fn show_ready_window(window: &WebviewWindow) {
    let appeared = window.state::<Windows>().appeared.lock().contains(window.label());
    if !appeared {
        bring_to_front(window);
    }
}

/// Shows a window and gives it the focus.
pub(crate) fn bring_to_front(window: &WebviewWindow) {
    window.state::<Windows>().appeared.lock().insert(window.label().to_owned());
    for step in [window.show(), window.unminimize(), window.set_focus()] {
        if let Err(error) = step {
            tracing::debug!(%error, label = window.label(), "a window could not be brought to the front");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn only_the_apps_own_pages_are_loaded() {
        let own = |text: &str| is_own(&text.parse().unwrap());
        assert!(own("tauri://localhost/index.html"));
        for address in [
            "https://example.org/",
            "file:///etc/passwd",
            "tauri://elsewhere/",
            "about:blank",
            "data:text/html,x",
        ] {
            assert!(!own(address), "{address}");
        }
    }
}
