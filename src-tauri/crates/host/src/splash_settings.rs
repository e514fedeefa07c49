//! The settings that a window needs before the profile is open: the theme, and whether the user has
//! been here before. Only reads the settings file; it locks, checks and reports nothing, because
//! opening the profile does that.

use std::{fs, path::PathBuf};

use contract::Settings;

use crate::Paths;

/// The appearance of a window before its page is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplashSettings {
    /// As in the settings: `system`, `light`, `dark` or `contrast`.
    pub theme: String,
    pub welcomed: bool,
}

impl SplashSettings {
    /// Reads the settings of a data folder (the user's own if None). Returns the defaults if there
    /// are none yet.
    pub fn of(data_dir: Option<PathBuf>) -> Self {
        let text = fs::read_to_string(Paths::new(data_dir).settings()).unwrap_or_default();
        let settings: Settings = toml::from_str(&text).unwrap_or_default();
        Self { theme: settings.theme, welcomed: settings.welcomed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_looked_at_and_anything_else_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let look = || SplashSettings::of(Some(folder.path().to_owned()));
        assert_eq!(look(), SplashSettings { theme: "system".into(), welcomed: false });
        fs::write(folder.path().join("countersign.toml"), "theme = \"dark\"\nwelcomed = true\n")
            .unwrap();
        assert_eq!(look(), SplashSettings { theme: "dark".into(), welcomed: true });
        fs::write(folder.path().join("countersign.toml"), "theme = [").unwrap();
        assert_eq!(look(), SplashSettings { theme: "system".into(), welcomed: false });
    }
}
