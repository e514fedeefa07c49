//! The variables that decide which code a program loads, or where code and data come from. A person
//! is warned about these variables before the program runs. The module contains only the table and
//! the search in it.

use contract::Text;

/// The kinds of effects that a variable has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    LoadsCode,
    FindsPrograms,
    ChangesSource,
    ChangesRoute,
    RunsCommand,
    NamesData,
}

use Change::{ChangesRoute, ChangesSource, FindsPrograms, LoadsCode, NamesData, RunsCommand};

/// The names of variables by families, in capitals. A `*` matches any text. The first matching name
/// is used, so exceptions come before their family. A superfluous name only costs a person one
/// line, but a missing name hides an important variable.
const VARIABLES: &[(&str, Change)] = &[
    // Variables of the system's loaders.
    ("PATH", FindsPrograms),
    ("LD_*", LoadsCode),
    ("DYLD_*", LoadsCode),
    ("*_PRELOAD", LoadsCode),
    ("GLIBC_*", LoadsCode),
    ("OPENSSL_*", LoadsCode),
    // Variables that decide the routes of connections and the trusted certificates.
    ("*PROXY", ChangesRoute),
    ("SSL_*", ChangesRoute),
    ("*_CA_BUNDLE", ChangesRoute),
    ("*_CA_CERTS", ChangesRoute),
    ("*_CAFILE", ChangesRoute),
    ("*_CERT_FILE", ChangesRoute),
    ("*_REJECT_UNAUTHORIZED", ChangesRoute),
    ("*HTTPSVERIFY", ChangesRoute),
    ("*_NO_VERIFY", ChangesRoute),
    ("DOCKER_*", ChangesRoute),
    // Variables of programming languages.
    ("NODE_*", LoadsCode),
    ("TS_NODE_*", LoadsCode),
    ("ELECTRON_*", LoadsCode),
    ("PYTHON*", LoadsCode),
    ("VIRTUAL_ENV", LoadsCode),
    ("RUBY*", LoadsCode),
    ("PERL*", LoadsCode),
    ("PHP*", LoadsCode),
    ("LUA_*", LoadsCode),
    ("JULIA_*", LoadsCode),
    ("ERL_*", LoadsCode),
    ("R_*", LoadsCode),
    ("JAVA_HOME", FindsPrograms),
    ("JAVA_*", LoadsCode),
    ("_JAVA_*", LoadsCode),
    ("JDK_*", LoadsCode),
    ("DOTNET_*", LoadsCode),
    ("CORECLR_*", LoadsCode),
    ("COR_*", LoadsCode),
    ("BASH_*", LoadsCode),
    ("ENV", LoadsCode),
    ("ZDOTDIR", LoadsCode),
    ("PROMPT_COMMAND", LoadsCode),
    ("*_STARTUP_HOOKS", LoadsCode),
    ("*_PLUGINS", LoadsCode),
    ("*OPTIONS", LoadsCode),
    ("*_OPTS", LoadsCode),
    ("*_FLAGS", LoadsCode),
    // Variables of installers and the sources of their code.
    ("NPM_*", ChangesSource),
    ("YARN_*", ChangesSource),
    ("PNPM_*", ChangesSource),
    ("COREPACK_*", ChangesSource),
    ("DENO_*", ChangesSource),
    ("BUN_*", ChangesSource),
    ("UV_*", ChangesSource),
    ("PIP_*", ChangesSource),
    ("PIPX_*", ChangesSource),
    ("POETRY_*", ChangesSource),
    ("CONDA_*", ChangesSource),
    ("PYENV_*", ChangesSource),
    ("GEM_*", ChangesSource),
    ("BUNDLE_*", ChangesSource),
    ("RBENV_*", ChangesSource),
    ("CARGO_*", ChangesSource),
    ("RUSTUP_*", ChangesSource),
    ("MAVEN_*", ChangesSource),
    ("GRADLE_*", ChangesSource),
    ("NUGET_*", ChangesSource),
    ("HOMEBREW_*", ChangesSource),
    ("NIX_*", ChangesSource),
    ("NVM_*", ChangesSource),
    ("ASDF_*", ChangesSource),
    ("GOPRIVATE", ChangesSource),
    ("GOFLAGS", ChangesSource),
    ("GOSUMDB", ChangesSource),
    ("GONO*", ChangesSource),
    ("GOROOT", ChangesSource),
    ("GOENV", ChangesSource),
    ("GOTOOLCHAIN", ChangesSource),
    ("GOINSECURE", ChangesSource),
    ("*_REGISTRY", ChangesSource),
    ("*_INDEX_URL", ChangesSource),
    ("*_MIRROR", ChangesSource),
    ("*HOME", ChangesSource),
    ("XDG_*", ChangesSource),
    // Variables with commands that programs run.
    ("GIT_*", RunsCommand),
    ("SSH_*", RunsCommand),
    ("*_ASKPASS", RunsCommand),
    ("*_COMMAND", RunsCommand),
    ("*_CMD", RunsCommand),
    ("*EDITOR", RunsCommand),
    ("VISUAL", RunsCommand),
    ("*PAGER", RunsCommand),
    ("*SHELL", RunsCommand),
    ("BROWSER", RunsCommand),
    // Variables with lists of folders, such as `CLASSPATH` and `GOPATH`. A name that ends with
    // `_PATH` is about data, unless other words in the name say more.
    ("*_LIB*_PATH", LoadsCode),
    ("*_PLUGIN*_PATH", LoadsCode),
    ("*_MODULE*_PATH", LoadsCode),
    ("*_EXTENSION*_PATH", LoadsCode),
    ("*_LOAD_PATH", LoadsCode),
    ("*_SEARCH_PATH", LoadsCode),
    ("*_EXECUTABLE_PATH", FindsPrograms),
    ("*_BIN*_PATH", FindsPrograms),
    ("*_PATH", NamesData),
    ("*PATH", LoadsCode),
];

/// Whether a variable decides where a program finds other programs or code.
pub(super) fn finds_code(name: &str) -> bool {
    matches!(find_change(name), Some(LoadsCode | FindsPrograms))
}

/// Whether a name contains the parts of a pattern in order, the first at its beginning and the last
/// at its end.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(begin) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(end)
}

fn find_change(name: &str) -> Option<Change> {
    let name = name.to_ascii_uppercase();
    VARIABLES.iter().find(|(pattern, _)| fits(pattern, &name)).map(|(_, change)| *change)
}

/// Returns a warning for a person about a variable, or None.
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
        NamesData => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_name_pattern_matches_its_parts_in_order() {
        for (pattern, name, does) in [
            ("PATH", "PATH", true),
            ("PATH", "PATHS", false),
            ("LD_*", "LD_PRELOAD", true),
            ("*_OPTS", "JAVA_OPTS", true),
            ("*_LIB*_PATH", "X_LIBRARY_PATH", true),
            ("*_LIB*_PATH", "X_LIB_PATH", true),
            ("*_LIB*_PATH", "X_PATH", false),
            ("*_LIB*_PATH", "X_PATH_LIB", false),
        ] {
            assert_eq!(fits(pattern, name), does, "{pattern} {name}");
        }
    }

    #[test]
    fn variables_that_can_load_code_are_recognised() {
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
            "FUTURE_PRELOAD",
            "NODE_SOMETHING_NEW",
            "npm_config_ignore_scripts",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "MAVEN_OPTS",
            "RUBYOPT",
            "RUBYLIB",
            "PYTHONSTARTUP",
            "PERL5LIB",
            "CLASSPATH",
            "GOPATH",
            "QT_PLUGIN_PATH",
            "OTHER_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "UV_DEFAULT_INDEX",
            "OPENSSL_CONF",
            "DOTNET_STARTUP_HOOKS",
            "CORECLR_PROFILER_PATH",
            "ANY_REGISTRY",
            "AWS_CA_BUNDLE",
            "JAVA_HOME",
        ] {
            assert!(find_warning(name).is_some(), "{name}");
        }
        for name in [
            "LOG_LEVEL",
            "MEMORY_FILE_PATH",
            "DB_PATH",
            "GITHUB_TOKEN",
            "GOOGLE_API_KEY",
            "TZ",
            "NOTES_MOOD",
            "REGION",
            "ALLOWED_DIRECTORIES",
        ] {
            assert_eq!(find_warning(name), None, "{name}");
        }
    }
}
