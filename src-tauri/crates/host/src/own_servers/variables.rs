//! The variables that decide which code a program loads, or where code and data come from. A person
//! is told of them before the program runs. Only data, and the search in it.

use contract::Text;

/// The kinds of changes that a variable makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    LoadsCode,
    FindsPrograms,
    ChangesSource,
    ChangesRoute,
    RunsCommand,
}

use Change::{ChangesRoute, ChangesSource, FindsPrograms, LoadsCode, RunsCommand};

/// Names of variables, in capitals. One that ends in `*` stands for all names that begin so, and
/// one that begins with `*` for all that end so. The first that fits counts.
const VARIABLES: &[(&str, Change)] = &[
    ("PATH", FindsPrograms),
    ("LD_*", LoadsCode),
    ("DYLD_*", LoadsCode),
    ("GCONV_PATH", LoadsCode),
    ("NODE_OPTIONS", LoadsCode),
    ("NODE_PATH", LoadsCode),
    ("NODE_EXTRA_CA_CERTS", ChangesRoute),
    ("NODE_TLS_REJECT_UNAUTHORIZED", ChangesRoute),
    ("PYTHONHTTPSVERIFY", ChangesRoute),
    ("PYTHON*", LoadsCode),
    ("VIRTUAL_ENV", LoadsCode),
    ("RUBYOPT", LoadsCode),
    ("RUBYLIB", LoadsCode),
    ("GEM_*", ChangesSource),
    ("BUNDLE_*", ChangesSource),
    ("PERL5*", LoadsCode),
    ("JAVA_TOOL_OPTIONS", LoadsCode),
    ("_JAVA_OPTIONS", LoadsCode),
    ("JDK_JAVA_OPTIONS", LoadsCode),
    ("CLASSPATH", LoadsCode),
    ("DOTNET_STARTUP_HOOKS", LoadsCode),
    ("CORECLR_*", LoadsCode),
    ("BASH_ENV", LoadsCode),
    ("ENV", LoadsCode),
    ("PROMPT_COMMAND", LoadsCode),
    ("DENO_*", ChangesSource),
    ("BUN_*", ChangesSource),
    ("NPM_CONFIG_*", ChangesSource),
    ("YARN_*", ChangesSource),
    ("PNPM_*", ChangesSource),
    ("COREPACK_*", ChangesSource),
    ("UV_*", ChangesSource),
    ("PIP_*", ChangesSource),
    ("PIPX_*", ChangesSource),
    ("POETRY_*", ChangesSource),
    ("CARGO_*", ChangesSource),
    ("RUSTUP_*", ChangesSource),
    ("GOPROXY", ChangesSource),
    ("GOFLAGS", ChangesSource),
    ("GOSUMDB", ChangesSource),
    ("GIT_*", RunsCommand),
    ("SSH_ASKPASS", RunsCommand),
    ("EDITOR", RunsCommand),
    ("VISUAL", RunsCommand),
    ("PAGER", RunsCommand),
    ("BROWSER", RunsCommand),
    ("*_PROXY", ChangesRoute),
    ("SSL_CERT_*", ChangesRoute),
    ("REQUESTS_CA_BUNDLE", ChangesRoute),
    ("CURL_CA_BUNDLE", ChangesRoute),
    ("DOCKER_*", ChangesRoute),
    ("HOME", ChangesSource),
    ("XDG_*", ChangesSource),
];

/// Whether a variable says where a program finds other programs or code.
pub(super) fn finds_code(name: &str) -> bool {
    matches!(find_change(name), Some(LoadsCode | FindsPrograms))
}

fn find_change(name: &str) -> Option<Change> {
    let name = name.to_ascii_uppercase();
    let fits = |pattern: &str| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(begin)) => name.starts_with(begin),
        (None, None) => name == pattern,
    };
    VARIABLES.iter().find(|(pattern, _)| fits(pattern)).map(|(_, change)| *change)
}

/// Returns what a person should know about a variable before the program runs, or None.
pub(super) fn find_warning(name: &str) -> Option<Text> {
    Some(Text::from(match find_change(name)? {
        LoadsCode => "This variable can make the program load other code.",
        FindsPrograms => "This variable decides which programs are found and started.",
        ChangesSource => {
            "This variable can change where the program gets its code and its settings from."
        }
        ChangesRoute => {
            "This variable can send the program's connections through somebody else, or make it trust somebody else."
        }
        RunsCommand => "This variable can make the program run other commands.",
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_decide_about_code_are_named() {
        for name in [
            "NODE_OPTIONS",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "PATH",
            "PYTHONPATH",
            "npm_config_registry",
            "UV_INDEX_URL",
            "PIP_INDEX_URL",
            "https_proxy",
            "ALL_PROXY",
            "GIT_SSH_COMMAND",
            "BASH_ENV",
        ] {
            assert!(find_warning(name).is_some(), "{name}");
        }
        for name in ["LOG_LEVEL", "MEMORY_FILE_PATH", "GITHUB_TOKEN", "TZ", "NOTES_MOOD"] {
            assert_eq!(find_warning(name), None, "{name}");
        }
    }
}
