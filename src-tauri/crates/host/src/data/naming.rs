//! Names of sources. Each is also the name of a table and of a folder. Pure: it reads and stores
//! nothing.

use std::path::Path;

use contract::SourceName;

/// The most characters of a source's name.
const LONGEST_NAME: usize = 63;

/// Returns a name that a table and a folder can have: lower case letters, digits and underscores,
/// beginning with a letter.
pub(super) fn name_from(text: &str) -> SourceName {
    let mut name = String::new();
    for letter in text.chars() {
        match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_alphanumeric() => name.push(letter),
            _ if !name.is_empty() && !name.ends_with('_') => name.push('_'),
            _ => {}
        }
    }
    let name = name.trim_end_matches('_');
    let begins = name.chars().next().is_some_and(|first| first.is_ascii_lowercase());
    let name = if begins { name.to_owned() } else { format!("data_{name}") };
    let short: String = name.trim_end_matches('_').chars().take(LONGEST_NAME).collect();
    SourceName::new(short)
}

/// Returns the name for the source of a file: that of the file, without dates and numbers at its end.
pub(super) fn base_name(file: &Path) -> SourceName {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    // `ads.csv.gz` is `ads`.
    let stem = stem.split('.').next().unwrap_or_default();
    let short = stem.trim_end_matches(|letter: char| {
        letter.is_ascii_digit() || ['-', '_', ' ', '(', ')', '.'].contains(&letter)
    });
    name_from(if short.is_empty() { stem } else { short })
}

/// Returns a name like this one that no source has.
pub(super) fn free_name(base: &SourceName, taken: &[SourceName]) -> SourceName {
    if !taken.contains(base) {
        return base.clone();
    }
    let numbered = (2..).map(|number| SourceName::new(format!("{base}_{number}")));
    numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or_else(|| base.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sources_are_names_of_tables_and_folders() {
        for (text, name) in [
            ("Google Ads (2026)", "google_ads_2026"),
            ("2026-11", "data_2026_11"),
            ("../../etc", "etc"),
            ("Kampanj – översikt", "kampanj_versikt"),
            ("", "data"),
        ] {
            assert_eq!(name_from(text).as_str(), name);
            assert_eq!(name_from(name).as_str(), name, "a name stays as it is");
        }
    }

    #[test]
    fn a_new_source_is_named_after_its_file_without_dates() {
        let taken = [SourceName::new("google_ads")];
        let named = |file: &str| free_name(&base_name(Path::new(file)), &taken).0;
        assert_eq!(named("/tmp/Meta Ads 2026-11-30 (1).csv"), "meta_ads");
        assert_eq!(named("google-ads.csv.gz"), "google_ads_2");
        assert_eq!(named("2026.csv"), "data_2026");
    }
}
