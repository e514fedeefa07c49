//! The environment variables that every server gets: those that programs need to find their
//! libraries, their language and a folder for temporary files. Keys, the session bus and the
//! display are excluded.

use std::collections::BTreeMap;

const KEPT_VARIABLES: &[&str] = &["PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

/// Whether a variable leads to the session bus. Servers never get such a variable, even if their
/// manifest names it.
pub(crate) fn leads_to_the_bus(name: &str) -> bool {
    name.starts_with("DBUS_")
}

/// Returns the variables that are kept. `get` reads a variable; in the app, from the process's own
/// environment.
pub fn base_environment(get: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    KEPT_VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), get(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_environment_variables_are_passed_on() {
        let all = |name: &str| Some(format!("value of {name}"));
        let names: Vec<String> = base_environment(all).into_keys().collect();
        assert_eq!(names, ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "TMPDIR", "TZ"]);
        assert!(base_environment(|_| None).is_empty());
    }
}
