//! The settings that a window needs before the profile is open: theme, zoom, and whether the user
//! has seen the welcome page. Reads only the settings file, without a lock or checks.

use std::path::PathBuf;

use contract::Settings;

use super::{paths::Paths, reading::ZOOMS};

/// The settings that a window needs before its page is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplashSettings {
    /// The theme: `system`, `light`, `dark` or `contrast`.
    pub theme: String,
    /// The size of everything in the window, in percent.
    pub zoom: u16,
    pub welcomed: bool,
}

impl SplashSettings {
    /// Reads the settings of a data folder, or of the user's default folder if None. Returns the
    /// defaults if there is no settings file.
    pub fn read(data_dir: Option<PathBuf>) -> Self {
        let text =
            files::read_text(&Paths::new(data_dir).settings(), files::BY_HAND).unwrap_or_default();
        let settings: Settings = toml::from_str(&text).unwrap_or_default();
        Self {
            theme: settings.theme,
            zoom: settings.zoom.clamp(*ZOOMS.start(), *ZOOMS.end()),
            welcomed: settings.welcomed,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn splash_settings_are_read_and_unreadable_ones_use_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let look = || SplashSettings::read(Some(folder.path().to_owned()));
        let of = |theme: &str, zoom: u16, welcomed: bool| {
            let theme = theme.to_owned();
            SplashSettings { theme, zoom, welcomed }
        };
        let file = folder.path().join("countersign.toml");
        assert_eq!(look(), of("system", 100, false));
        fs::write(&file, "theme = \"dark\"\nzoom = 150\nwelcomed = true\n").unwrap();
        assert_eq!(look(), of("dark", 150, true));
        fs::write(&file, "zoom = 9000").unwrap();
        assert_eq!(look(), of("system", 200, false));
        fs::write(&file, "theme = [").unwrap();
        assert_eq!(look(), of("system", 100, false));
    }
}
