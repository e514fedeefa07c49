//! Reads the settings file, and reports the position and remedy of an error. A file with an error
//! is not used partly, because a restriction with a misspelled name would be missing. Must not know
//! who uses the settings.

use std::{io, ops::RangeInclusive};

use audit::Witness;
use contract::{
    AgentError, AuditSettings, EgressSettings, PolicyMode, Reason, RedactionLevel, Settings, Text,
    text,
};
use files::fault;
use models::Api;

use super::{paths::Paths, toml_fault::describe_toml_fault};

/// The narrowest and the widest column of a table in the window, in characters.
const WIDTHS: RangeInclusive<u16> = 4..=400;

/// The least and the greatest size of a window's content, in percent.
pub(super) const ZOOMS: RangeInclusive<u16> = 80..=200;

/// Reads the settings. If the file has an error, the returned settings allow nothing that the file
/// might forbid.
pub(crate) fn read_settings(paths: &Paths) -> (Settings, Option<AgentError>) {
    let path = paths.settings();
    let file = path.display().to_string();
    let read = match files::read_text(&path, files::BY_HAND) {
        Ok(text) => parse_settings(&text, &file),
        // If the data folder is missing, opening it reports the problem. A link to a missing file
        // is not treated as a missing file.
        Err(e)
            if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
                && !path.is_symlink() =>
        {
            Ok(Settings::default())
        }
        Err(e) => Err(unreadable(text!("{file} cannot be read: {error}.", file, error = e), None)),
    };
    match read {
        Ok(settings) => (settings, None),
        Err(fault) => (restrictive_settings(), Some(fault)),
    }
}

fn parse_settings(text: &str, file: &str) -> Result<Settings, AgentError> {
    let settings: Settings =
        toml::from_str(text).map_err(|error| describe_fault(text, file, &error))?;
    check_settings(&settings).map_err(|error| {
        let field = error.details.get("field").and_then(|field| field.as_str()).unwrap_or_default();
        let provider = typed_provider(&settings, field);
        let near = provider.and_then(|typed| nearest(typed, Api::ALL.map(Api::name)));
        let place = match line_of(text, field) {
            Some(line) => text!("{file}, line {line}:", file, line),
            None => text!("{file}:", file),
        };
        let unknown = provider
            .filter(|typed| is_plain_name(typed))
            .map(|name| text!("There is no provider {name}.", name));
        unreadable(
            Text::join([Some(place), unknown, Some(error.text())].into_iter().flatten()),
            near,
        )
    })?;
    Ok(settings)
}

/// Whether a value may be repeated in a message. A value that may be a key in the wrong place must
/// not be repeated.
fn is_plain_name(value: &str) -> bool {
    value.len() <= 24
        && value.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-".contains(&byte))
}

/// Describes a text that is not TOML, or that contains an unknown name or an invalid value of a
/// setting.
fn describe_fault(text: &str, file: &str, error: &toml::de::Error) -> AgentError {
    let message = error.message();
    let (given, expected) =
        message.rfind(", expected ").map_or((message, ""), |at| message.split_at(at));
    let name = given
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.rsplit_once('`'))
        .map(|(name, _)| name);
    let Some(name) = name else {
        let error = describe_toml_fault(text, error);
        return unreadable(text!("{file} cannot be read: {error}.", file, error), None);
    };
    let at = error.span().map_or(0, |span| span.start);
    let (line, _) = fault::line_and_column(text, at);
    let known = expected.split('`').skip(1).step_by(2);
    let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
    unreadable(
        text!("{file}, line {line}: there is no setting {name} here.", file, line, name = shown),
        nearest(name, known),
    )
}

/// Makes the error that each message, command and check gets until the file is corrected.
fn unreadable(message: Text, near: Option<&str>) -> AgentError {
    let remedy = "Repair the file and start again, or save the settings once to replace it (the old file is kept).";
    let near = near.map(|name| text!("Did you mean {name}?", name));
    AgentError::internal(Reason::SettingsUnreadable, message)
        .hint(Text::join(near.into_iter().chain([Text::from(remedy)])))
}

/// Returns the settings that are used if the file cannot be read. They allow nothing that the file
/// might forbid, and do not show the welcome page.
fn restrictive_settings() -> Settings {
    Settings {
        agent_enabled: false,
        welcomed: true,
        policy: PolicyMode::ReadOnlyOnly,
        egress: EgressSettings { allowed: false, redaction: RedactionLevel::Strict },
        ..Settings::default()
    }
}

/// Returns the provider's name in the settings, if `field` is the setting of a provider.
fn typed_provider<'a>(settings: &'a Settings, field: &str) -> Option<&'a str> {
    match field {
        "model.provider" => Some(&settings.model.provider),
        "model.fallback.provider" => Some(&settings.model.fallback.as_ref()?.provider),
        _ => None,
    }
}

/// Returns the line of a setting, by its dotted name.
fn line_of(text: &str, field: &str) -> Option<usize> {
    let mut section = String::new();
    text.lines()
        .position(|line| {
            let line = line.trim();
            if let Some(header) = line.strip_prefix('[') {
                section = header.split(']').next().unwrap_or_default().trim().to_owned();
                return false;
            }
            let Some((name, _)) = line.split_once('=') else { return false };
            let name = name.trim();
            field == name || field == format!("{section}.{name}")
        })
        .map(|index| index + 1)
}

/// Returns the known name that is most similar to a typed name, if any name is similar enough.
fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let begins = |name: &str| typed.len() > 2 && name.starts_with(typed);
    let cost = |name: &str| if begins(name) { 1 } else { distance(typed, name) };
    known
        .into_iter()
        .map(|name| (cost(name), name))
        .filter(|(cost, name)| cost * 3 <= name.chars().count())
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, name)| name)
}

/// Returns how many letters must be added, removed or replaced (the Levenshtein distance).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut before = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = before + usize::from(from != *to);
            before = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

/// Returns the first setting whose value is not an allowed word, with the rule for it.
fn find_unknown_word(settings: &Settings) -> Option<(&'static str, Text)> {
    let languages: Vec<&str> =
        messages::Language::all().map(messages::Language::tag).chain(["system"]).collect();
    let words = [
        ("theme", &settings.theme, &["contrast", "dark", "light", "system"][..]),
        ("language", &settings.language, &languages[..]),
    ];
    let unknown = words.into_iter().find(|(_, word, known)| !known.contains(&word.as_str()));
    if let Some((field, _, known)) = unknown {
        return Some((field, text!("must be one of {names}", names = known.join(", "))));
    }
    let is_zone =
        settings.time_zone == "system" || settings.time_zone.parse::<chrono_tz::Tz>().is_ok();
    let rule = "must be an IANA name such as Europe/Stockholm";
    (!is_zone).then(|| ("time_zone", rule.into()))
}

pub(super) fn check_settings(settings: &Settings) -> Result<(), AgentError> {
    let limits = settings.limits;
    let bad = |field: &str, rule: Text| {
        Err(AgentError::invalid(text!("{field} {rule}.", field, rule)).with("field", field))
    };
    let range = |least: i64, most: i64| text!("must be {least} to {most}", least, most);
    let seconds = |least: i64, most: i64| text!("must be {least} to {most} seconds", least, most);
    if !(1..=20).contains(&limits.rounds) {
        return bad("limits.rounds", range(1, 20));
    }
    if !(4..=100).contains(&limits.model_calls) {
        return bad("limits.model_calls", range(4, 100));
    }
    if !(1..=12).contains(&limits.hops) {
        return bad("limits.hops", range(1, 12));
    }
    if !(1..=10).contains(&limits.calls_per_round) {
        return bad("limits.calls_per_round", range(1, 10));
    }
    if !(5..=86_400).contains(&limits.approval_expiry_s) {
        return bad("limits.approval_expiry_s", seconds(5, 86400));
    }
    if !(2..=200).contains(&limits.window_messages) {
        return bad("limits.window_messages", range(2, 200));
    }
    if let Some((field, rule)) = settings.conversation.faults().first() {
        return bad(&format!("conversation.{field}"), rule.clone());
    }
    if limits.recorded_turns > 10_000 {
        return bad("limits.recorded_turns", range(0, 10_000));
    }
    if !(500..=200_000).contains(&limits.result_chars) {
        return bad("limits.result_chars", range(500, 200000));
    }
    if !(100..=200_000).contains(&limits.message_chars) {
        return bad("limits.message_chars", range(100, 200000));
    }
    if !(5..=3_600).contains(&limits.deadline_s) {
        return bad("limits.deadline_s", seconds(5, 3600));
    }
    if settings.audit.keep_values_days > 36_500 {
        return bad("audit.keep_values_days", range(0, 36_500));
    }
    if !(1..=100_000_000).contains(&settings.data.snapshot_limit_mb) {
        return bad("data.snapshot_limit_mb", range(1, 100_000_000));
    }
    let budgets = settings.budgets;
    for (field, usd) in [
        ("budgets.run_usd", budgets.run_usd),
        ("budgets.session_usd", budgets.session_usd),
        ("budgets.day_usd", budgets.day_usd),
    ] {
        if !(0.0..=1_000_000.0).contains(&usd) {
            let (least, most) = (0, 1_000_000);
            return bad(field, text!("must be {least} to {most} dollars", least, most));
        }
    }
    if settings.model.max_retries > 10 {
        return bad("model.max_retries", range(0, 10));
    }
    if !(1..=600).contains(&settings.model.idle_timeout_s) {
        return bad("model.idle_timeout_s", seconds(1, 600));
    }
    if !(1..=3_600).contains(&settings.model.local_idle_timeout_s) {
        return bad("model.local_idle_timeout_s", seconds(1, 3_600));
    }
    if let Some((field, rule)) = find_unknown_word(settings) {
        return bad(field, rule);
    }
    if settings.model.runs_here.iter().any(|address| !models::is_loopback_address(address)) {
        return bad(
            "model.runs_here",
            "must have addresses of this computer, such as http://localhost:11434/v1".into(),
        );
    }
    if let Some((field, sizes)) = find_bad_size(settings) {
        return bad(&field, range((*sizes.start()).into(), (*sizes.end()).into()));
    }
    if let Some((field, rule)) = find_bad_witness(&settings.audit) {
        return bad(field, rule);
    }
    let known = |provider: &str| provider == "offline" || Api::from_name(provider).is_some();
    let names = Api::ALL.map(Api::name);
    let (others, last) = names.split_at(names.len() - 1);
    let rule = format!("must be offline, {} or {}", others.join(", "), last.join(""));
    if !known(&settings.model.provider) {
        return bad("model.provider", rule.into());
    }
    if let Some(second) = &settings.model.fallback {
        if !known(&second.provider) {
            return bad("model.fallback.provider", rule.into());
        }
        if second.provider != "offline" && second.model.trim().is_empty() {
            return bad("model.fallback.model", "must name a model".into());
        }
    }
    Ok(())
}

/// Returns the dotted name of a size that a window cannot draw, and the sizes that it can draw.
fn find_bad_size(settings: &Settings) -> Option<(String, RangeInclusive<u16>)> {
    if !ZOOMS.contains(&settings.zoom) {
        return Some(("zoom".to_owned(), ZOOMS));
    }
    let tables = settings.column_widths.iter();
    let mut columns = tables.flat_map(|(table, columns)| {
        columns.iter().map(move |(column, width)| (table, column, width))
    });
    let (table, column, _) = columns.find(|(_, _, width)| !WIDTHS.contains(*width))?;
    Some((format!("column_widths.{table}.{column}"), WIDTHS))
}

/// Returns a setting of the witness or the timestamps that cannot be used, and its rule.
fn find_bad_witness(audit: &AuditSettings) -> Option<(&'static str, Text)> {
    let AuditSettings { witness_url, witness_key, timestamp_url, keep_values_days: _ } = audit;
    for (field, url) in [("audit.witness_url", witness_url), ("audit.timestamp_url", timestamp_url)]
    {
        if !url.is_empty() && models::origin_of(url).is_none() {
            return Some((field, "must be an address that begins with http:// or https://".into()));
        }
    }
    let has_bad_key = !witness_url.is_empty() && Witness::parse(witness_key).is_none();
    has_bad_key
        .then(|| ("audit.witness_key", "must be the key of the witness, as name+id+key".into()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn fault(text: &str) -> (String, String) {
        let error = parse_settings(text, "FILE").unwrap_err();
        assert!(error.has_reason(Reason::SettingsUnreadable), "{error}");
        (error.message.clone(), error.hint_text().unwrap_or_default().to_owned())
    }

    #[test]
    fn a_settings_error_names_its_line_and_suggests_the_intended_setting() {
        for (text, message, near) in [
            ("thme = \"dark\"", "FILE, line 1: there is no setting thme here.", "theme"),
            (
                "theme = \"dark\"\n\n[limits]\nrouns = 3\n",
                "FILE, line 4: there is no setting rouns here.",
                "rounds",
            ),
            (
                "[model]\nprovider = \"anthropc\"\n",
                "FILE, line 2: There is no provider anthropc. model.provider must be offline, openai_compatible, openai_responses, anthropic or gemini.",
                "anthropic",
            ),
            (
                "model.provider = \"openai\"",
                "FILE, line 1: There is no provider openai. model.provider must be offline, openai_compatible, openai_responses, anthropic or gemini.",
                "openai_compatible",
            ),
            (
                "[model.fallback]\nprovider = \"gemni\"\nmodel = \"m\"",
                "FILE, line 2: There is no provider gemni. model.fallback.provider must be offline, openai_compatible, openai_responses, anthropic or gemini.",
                "gemini",
            ),
        ] {
            let (told, hint) = fault(text);
            assert_eq!(told, message);
            assert!(hint.starts_with(&format!("Did you mean {near}? Repair the file")), "{hint}");
        }
        for (text, message) in [
            ("quux = 1", "FILE, line 1: there is no setting quux here."),
            ("[limits]\nrounds = 99", "FILE, line 2: limits.rounds must be 1 to 20."),
            ("zoom = 300", "FILE, line 1: zoom must be 80 to 200."),
            (
                "[column_widths.ads]\nCost = 1",
                "FILE, line 2: column_widths.ads.Cost must be 4 to 400.",
            ),
            ("theme = ", "FILE cannot be read: line 1, column"),
            (
                "theme = \"drak\"",
                "FILE, line 1: theme must be one of contrast, dark, light, system.",
            ),
            ("language = \"klingon\"", "FILE, line 1: language must be one of en, de, sv, system."),
        ] {
            let (told, hint) = fault(text);
            assert!(told.starts_with(message), "{told}");
            assert!(hint.starts_with("Repair the file"), "{hint}");
        }
        assert!(parse_settings("", "FILE").is_ok());
    }

    #[test]
    fn a_dangling_link_in_place_of_the_settings_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::new(Some(folder.path().to_owned()));
        assert!(read_settings(&paths).1.is_none());
        std::os::unix::fs::symlink("/nowhere/countersign.toml", paths.settings()).unwrap();
        let (settings, fault) = read_settings(&paths);
        assert!(fault.is_some() && !settings.agent_enabled);
    }

    #[test]
    fn a_settings_error_contains_no_value_of_the_file() {
        for text in [
            "policy = \"sk-secret-1\"",
            "theme = 5 sk-secret-1",
            "[model]\nprovider = \"sk-secret-1\"",
            "[audit]\nwitness_url = \"x\"\nwitness_key = \"sk-secret-1\"",
        ] {
            let (told, hint) = fault(text);
            assert!(!format!("{told}{hint}").contains("secret"), "{told}");
        }
    }
}
