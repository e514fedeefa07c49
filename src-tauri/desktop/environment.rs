//! Prepares the process before the first window: locale, TLS provider, log, panics. This module
//! knows nothing of the app.

use std::{ffi::OsStr, io::IsTerminal};

/// Prepares the process. Call it first in `main`, while there is one thread.
pub(crate) fn prepare_environment() {
    if let Some(language) = replacement_language(|name| {
        std::env::var_os(name).and_then(|value| value.into_string().ok())
    }) {
        for name in ["LANG", "LC_ALL"] {
            // SAFETY: no other thread exists yet, so no code reads the environment at the same
            // time.
            unsafe { std::env::set_var(name, OsStr::new(language)) };
        }
    }
    // Two TLS providers may be compiled in. Without a choice, the first use would panic.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let filter = std::env::var("COUNTERSIGN_LOG")
        .ok()
        .and_then(|wanted| log_filter(&wanted))
        .or_else(|| log_filter("warn"))
        .unwrap_or_default();
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(
            place,
            "a part of the app failed: {}",
            panic.payload_as_str().unwrap_or("no message")
        );
    }));
}

/// Excludes the protocol library, which would log servers' error texts, unless the filter names it.
fn log_filter(wanted: &str) -> Option<tracing_subscriber::EnvFilter> {
    tracing_subscriber::EnvFilter::try_new(format!("rmcp=off,{wanted}")).ok()
}

/// Returns a language to set instead of the C locale, under which WebKit makes `navigator.language`
/// "C" and every `Intl` formatter of the pages throws. None if the locale names a language.
fn replacement_language(variable: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()));
    let names_one = locale.is_some_and(|value| {
        let language = value.split(['.', '@', '_']).next().unwrap_or_default();
        language.len() >= 2 && !language.eq_ignore_ascii_case("POSIX")
    });
    (!names_one).then_some("en_US.UTF-8")
}

#[cfg(test)]
mod tests {
    use super::replacement_language;

    fn with(all: Option<&str>, lang: Option<&str>) -> Option<&'static str> {
        replacement_language(|name| match name {
            "LC_ALL" => all.map(str::to_owned),
            "LANG" => lang.map(str::to_owned),
            _ => None,
        })
    }

    #[test]
    fn a_locale_without_a_language_is_replaced() {
        for value in [None, Some(""), Some("C"), Some("C.UTF-8"), Some("POSIX")] {
            assert_eq!(with(None, value), Some("en_US.UTF-8"), "LANG={value:?}");
        }
        assert_eq!(
            with(Some("C"), Some("sv_SE.UTF-8")),
            Some("en_US.UTF-8"),
            "LC_ALL wins over LANG"
        );
    }

    #[test]
    fn a_locale_with_a_language_is_kept() {
        for value in ["sv_SE.UTF-8", "en_GB", "de", "pt_BR@euro"] {
            assert_eq!(with(None, Some(value)), None, "LANG={value}");
        }
    }
}
