//! Parses the values of environment variables and collects errors about these values. The module
//! knows no particular variable.

use std::time::Duration;

use axum::http::Uri;

/// Reads variables and collects errors about their values.
pub(crate) struct Reader<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) faults: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(variable: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { variable, faults: Vec::new() }
    }

    pub(crate) fn read_text(&self, name: &str) -> Option<String> {
        (self.variable)(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    pub(crate) fn read_list(&self, name: &str, default: &str) -> Vec<String> {
        let text = (self.variable)(name).unwrap_or_else(|| default.to_owned());
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    /// Reads a list whose entries have a certain form, described by `wanted`. An entry in another
    /// form is an error, because the entry would never match.
    pub(crate) fn parse_list<T>(
        &mut self,
        name: &str,
        default: &str,
        form: impl Fn(&str) -> Option<T>,
        wanted: &str,
    ) -> Vec<T> {
        let mut all = Vec::new();
        for (at, entry) in self.read_list(name, default).iter().enumerate() {
            match form(entry) {
                Some(one) => all.push(one),
                None => self.faults.push(format!("{name}, entry {}: {wanted}", at + 1)),
            }
        }
        all
    }

    /// Reads an on/off variable. An unclear value is an error, so that no feature is turned off by
    /// mistake.
    pub(crate) fn read_switch(&mut self, name: &str) -> bool {
        let Some(text) = self.read_text(name) else { return false };
        let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        let is_on = is_one_of(&["1", "true"]);
        // Earlier versions accepted `no` and `off`, too.
        if !is_on && !is_one_of(&["0", "false", "no", "off"]) {
            self.faults.push(format!("{name} must be 1 or true to be on, 0 or false to be off."));
        }
        is_on
    }

    /// Checks that a variable, if set, is a valid web address.
    pub(crate) fn check_address(&mut self, name: &str, fits: impl Fn(&Uri) -> bool, wanted: &str) {
        let is_address = |text: &str| {
            text.parse::<Uri>().is_ok_and(|uri| {
                matches!(uri.scheme_str(), Some("https" | "http"))
                    && uri.host().is_some()
                    && fits(&uri)
            })
        };
        if self.read_text(name).is_some_and(|text| !is_address(&text)) {
            self.faults.push(format!("{name} must be {wanted}."));
        }
    }

    pub(crate) fn read_seconds(
        &mut self,
        name: &str,
        default: u64,
        least: u64,
        most: u64,
    ) -> Duration {
        Duration::from_secs(self.read_u64(name, default, least, most))
    }

    pub(crate) fn read_milliseconds(
        &mut self,
        name: &str,
        default: u64,
        least: u64,
        most: u64,
    ) -> Duration {
        Duration::from_millis(self.read_u64(name, default, least, most))
    }

    pub(crate) fn read_u64(&mut self, name: &str, default: u64, least: u64, most: u64) -> u64 {
        let Some(text) = self.read_text(name) else { return default };
        match text.parse() {
            Ok(number) if (least..=most).contains(&number) => number,
            Ok(_) | Err(_) => {
                self.faults.push(format!("{name} must be a number from {least} to {most}."));
                default
            }
        }
    }

    pub(crate) fn read_usize(&mut self, name: &str, default: u64, least: u64, most: u64) -> usize {
        usize::try_from(self.read_u64(name, default, least, most)).unwrap_or(usize::MAX)
    }

    pub(crate) fn read_u32(&mut self, name: &str, default: u64, least: u64, most: u64) -> u32 {
        u32::try_from(self.read_u64(name, default, least, most)).unwrap_or(u32::MAX)
    }
}
