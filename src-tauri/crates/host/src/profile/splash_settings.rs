//! The settings that a window needs before the profile is open: the theme, and whether the user has
//! seen the welcome page. Reads only the settings file, without a lock or checks.

use std::path::PathBuf;

use contract::Settings;

use super::paths::Paths;

/// The settings that a window needs before its page is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplashSettings {
    /// The theme: `system`, `light`, `dark` or `contrast`.
    pub theme: String,
    pub welcomed: bool,
}

impl SplashSettings {
    /// Reads the settings of a data folder, or of the user's default folder if None. Returns the
    /// defaults if there is no settings file.
    pub fn read(data_dir: Option<PathBuf>) -> Self {
        let text =
            files::read_text(&Paths::new(data_dir).settings(), files::BY_HAND).unwrap_or_default();
        let settings: Settings = toml::from_str(&text).unwrap_or_default();
        Self { theme: settings.theme, welcomed: settings.welcomed }
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
        assert_eq!(look(), SplashSettings { theme: "system".into(), welcomed: false });
        fs::write(folder.path().join("countersign.toml"), "theme = \"dark\"\nwelcomed = true\n")
            .unwrap();
        assert_eq!(look(), SplashSettings { theme: "dark".into(), welcomed: true });
        fs::write(folder.path().join("countersign.toml"), "theme = [").unwrap();
        assert_eq!(look(), SplashSettings { theme: "system".into(), welcomed: false });
    }
}
