use std::fs;

use super::*;
use crate::keys::API_KEY;

fn environment(may_choose: bool, variables: &[(&str, &str)]) -> Environment {
    Environment::read_with(may_choose, |name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

fn profile(folder: &std::path::Path, settings: &str, env: Environment) -> LiveProfile {
    let paths = Paths::new(Some(folder.to_owned()));
    fs::write(paths.settings(), settings).unwrap();
    LiveProfile::read_profile(paths, env)
}

const URL: (&str, &str) = ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
const MODEL: (&str, &str) = ("OPENAI_MODEL", "mine");
const KEY: (&str, &str) = (API_KEY, "sk-x");

/// Whether variables may choose a server, the variables, the expected provider, and the variable
/// that chose it.
type Case<'a> = (bool, &'a [(&'a str, &'a str)], &'a str, Option<&'a str>);

#[test]
fn environment_variables_select_the_model_server_in_a_terminal() {
    let table: [Case<'_>; 7] = [
        (true, &[URL, MODEL], "openai_compatible", Some("OPENAI_BASE_URL")),
        (true, &[URL], "openai_compatible", Some("OPENAI_BASE_URL")),
        (true, &[MODEL, KEY], "openai_compatible", Some("OPENAI_MODEL")),
        (true, &[MODEL], "offline", None),
        (true, &[KEY], "offline", None),
        (true, &[("OPENAI_BASE_URL", " ")], "offline", None),
        (false, &[URL, MODEL, KEY], "offline", None),
    ];
    for (may_choose, variables, provider, by) in table {
        let folder = tempfile::tempdir().unwrap();
        let profile = profile(folder.path(), "", environment(may_choose, variables));
        let settings = profile.settings();
        assert_eq!(settings.model.provider, provider, "{variables:?}");
        assert_eq!(
            profile.overridden_settings().get("model.provider").map(String::as_str),
            by,
            "{variables:?}"
        );
        if variables.contains(&URL) {
            assert_eq!(settings.model.base_url, URL.1);
        }
        profile.write_settings((*settings).clone()).unwrap();
        assert_eq!(
            profile.stored_settings(),
            Settings::default(),
            "{variables:?}: nothing of it is stored"
        );
    }
}

#[test]
fn environment_variables_do_not_replace_a_provider_chosen_in_the_settings() {
    for (provider, url) in [("anthropic", "https://api.openai.com/v1"), ("openai_responses", URL.1)]
    {
        let folder = tempfile::tempdir().unwrap();
        let lines = format!("[model]\nprovider = \"{provider}\"\n");
        let profile = profile(folder.path(), &lines, environment(true, &[URL, KEY]));
        let model = &profile.settings().model;
        assert_eq!((model.provider.as_str(), model.base_url.as_str()), (provider, url));
        assert_eq!(profile.overridden_settings().get("model.provider"), None);
    }
}

#[test]
fn another_provider_can_be_chosen_while_environment_variables_select_one() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile(folder.path(), "", environment(true, &[URL]));
    let mut settings = (*profile.settings()).clone();
    settings.model.provider = "gemini".into();
    profile.write_settings(settings).unwrap();
    assert_eq!(profile.stored_settings().model.provider, "gemini");
    assert_eq!(profile.settings().model.provider, "gemini");
}

#[test]
fn more_model_retries_than_the_settings_page_offers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile(folder.path(), "", environment(true, &[]));
    let mut settings = (*profile.settings()).clone();
    settings.model.max_retries = 10;
    assert!(profile.check_settings(&settings).is_ok());
    settings.model.max_retries = 11;
    let error = profile.check_settings(&settings).unwrap_err();
    assert!(error.message.contains("model.max_retries must be 0 to 10"), "{error}");
}
