//! The current language of native texts: that of the settings, or that of the locale.

use parking_lot::Mutex;
use tauri::{AppHandle, Manager};

use super::text::Language;

/// The language in which native texts are shown.
pub(crate) struct CurrentLanguage(Mutex<Language>);

impl CurrentLanguage {
    /// Creates the state with the language of the locale, which is used until the settings are
    /// read.
    pub(crate) fn of_locale() -> Self {
        Self(Mutex::new(locale_language()))
    }
}

/// Returns the current language.
pub(crate) fn current(app: &AppHandle) -> Language {
    *app.state::<CurrentLanguage>().0.lock()
}

/// Applies the language setting; `system` means the language of the locale.
pub(crate) fn apply_setting(app: &AppHandle, setting: &str) {
    let language = if setting == "system" { locale_language() } else { Language::of(setting) };
    *app.state::<CurrentLanguage>().0.lock() = language;
}

fn locale_language() -> Language {
    Language::of(&std::env::var("LANG").unwrap_or_default())
}
