//! The tray icon: it shows the number of pending approvals and opens the windows.

use std::sync::atomic::{AtomicU32, Ordering};

use tauri::{
    AppHandle, Manager, Wry,
    menu::{Menu, MenuItem},
    tray::{TrayIcon, TrayIconBuilder},
};

use super::{language, text::Language, windows};

/// The parts of the tray, and the number of pending approvals that it shows.
pub(crate) struct Tray {
    waiting: AtomicU32,
    /// None if the desktop has no tray.
    parts: Option<Parts>,
}

struct Parts {
    icon: TrayIcon,
    show: MenuItem<Wry>,
    approvals: MenuItem<Wry>,
    quit: MenuItem<Wry>,
}

/// Creates the icon. Its menu calls `quit`. A desktop without a tray is not an error.
pub(crate) fn prepare_tray(app: &AppHandle, quit: fn(&AppHandle)) {
    let parts = build_tray(app, language::current(app), quit)
        .inspect_err(|error| tracing::warn!(%error, "no tray icon"))
        .ok();
    app.manage(Tray { waiting: AtomicU32::new(0), parts });
}

/// Whether the icon was made. The desktop may still not show it.
pub(crate) fn is_built(app: &AppHandle) -> bool {
    app.try_state::<Tray>().is_some_and(|tray| tray.parts.is_some())
}

fn build_tray(
    app: &AppHandle,
    language: Language,
    on_quit: fn(&AppHandle),
) -> tauri::Result<Parts> {
    let show = MenuItem::with_id(app, "show", language.show_label(), true, None::<&str>)?;
    let approvals =
        MenuItem::with_id(app, "approvals", language.approvals_label(0), true, None::<&str>)?;
    let quit = MenuItem::with_id(app, "quit", language.quit_label(), true, None::<&str>)?;
    let menu = Menu::with_items(app, &[&show, &approvals, &quit])?;
    let mut builder = TrayIconBuilder::with_id("countersign")
        .menu(&menu)
        .tooltip(language.tray_tooltip(0))
        .on_menu_event(move |app, event| match event.id().as_ref() {
            "show" => windows::show_main(app),
            "approvals" => windows::show_approval(app),
            "quit" => on_quit(app),
            other => tracing::warn!(other, "an unknown menu entry"),
        });
    if let Some(icon) = app.default_window_icon() {
        builder = builder.icon(icon.clone());
    }
    Ok(Parts { icon: builder.build(app)?, show, approvals, quit })
}

/// Shows the tray's texts in the current language.
pub(crate) fn refresh_language(app: &AppHandle) {
    if let Some(tray) = app.try_state::<Tray>() {
        refresh_tray(app, &tray);
    }
}

/// Shows the number of pending approvals.
pub(crate) fn show_waiting_count(app: &AppHandle, waiting: u32) {
    let Some(tray) = app.try_state::<Tray>() else { return };
    tray.waiting.store(waiting, Ordering::Relaxed);
    refresh_tray(app, &tray);
}

fn refresh_tray(app: &AppHandle, tray: &Tray) {
    let Some(parts) = &tray.parts else { return };
    let (language, waiting) = (language::current(app), tray.waiting.load(Ordering::Relaxed));
    // Linux trays show a title beside the icon and have no tooltips. On other systems it is the
    // reverse.
    let changes = [
        parts.icon.set_title((waiting > 0).then(|| waiting.to_string())),
        parts.icon.set_tooltip(Some(language.tray_tooltip(waiting))),
        parts.show.set_text(language.show_label()),
        parts.approvals.set_text(language.approvals_label(waiting)),
        parts.quit.set_text(language.quit_label()),
    ];
    for error in changes.into_iter().filter_map(Result::err) {
        tracing::debug!(%error, "the tray could not be updated");
    }
}
