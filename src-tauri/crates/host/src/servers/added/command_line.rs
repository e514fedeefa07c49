//! Command lines of servers: splits a command line into words, finds the program, and writes a
//! command line for a person. Starts no server.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use contract::{AgentError, NewServer, text};

use super::keys::{Found, find_keys, is_variable};

/// The maximum number of characters of a server's name.
pub(super) const LONGEST_NAME: usize = 40;

/// Folders in the user's home that contain programs. They are needed for a window that was not
/// started from a terminal and has a shorter search path.
const BELOW_HOME: [&str; 4] = [".local/bin", ".cargo/bin", ".bun/bin", ".volta/bin"];

/// Programs that start another program, which an argument names.
const RUNNERS: [&str; 14] = [
    "npx", "npm", "node", "bunx", "bun", "deno", "pnpm", "yarn", "tsx", "uvx", "uv", "pipx",
    "python", "docker",
];

/// Reads a command line or an address. Words before the program of the form `NAME=value` are
/// variables.
pub(super) fn parse_command_line(line: &str) -> Result<NewServer, AgentError> {
    let line = line.trim();
    if line.starts_with("https://") || line.starts_with("http://") {
        return Ok(NewServer {
            name: suggest_name(&[], line),
            url: line.into(),
            ..NewServer::default()
        });
    }
    let mut words = split_words(line)?.into_iter().peekable();
    let mut server = NewServer::default();
    while let Some((name, value)) = words.peek().and_then(|word| split_assignment(word)) {
        server.env.insert(name, value);
        words.next();
    }
    server.command = words.next().ok_or_else(|| {
        AgentError::invalid("Neither a command nor an address was entered.")
            .hint("Enter a command such as npx -y @modelcontextprotocol/server-memory, or an address that begins with https://.")
    })?;
    server.args = words.collect();
    server.name = suggest_name(&server.args, &server.command);
    Ok(server)
}

fn split_assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    is_variable(name).then(|| (name.to_owned(), value.to_owned()))
}

/// Returns the argument that names the program or package that a runner starts. A value that may be
/// a key is not returned, because the name of a server is shown and stored in many places.
fn find_package<'a>(args: &'a [String], command: &str) -> Option<&'a str> {
    let program = Path::new(command).file_name()?.to_str()?;
    if !RUNNERS.contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) {
        return None;
    }
    let before = std::iter::once("").chain(args.iter().map(String::as_str));
    let plain = |(option, arg): &(&str, &String)| {
        !arg.starts_with('-') && find_keys(&[option], arg) == Found::Nothing
    };
    before.zip(args).find(plain).map(|(_, arg)| arg.as_str())
}

/// Suggests a name: the name of the package or program, without its owner, version and common
/// prefixes.
pub(super) fn suggest_name(args: &[String], command: &str) -> String {
    let package = find_package(args, command).unwrap_or(command);
    let host = package.split_once("://").map(|(_, rest)| rest.split(['/', ':']).next());
    let last = host.flatten().unwrap_or_else(|| package.rsplit('/').next().unwrap_or(package));
    let plain = last.split('@').next().unwrap_or(last);
    let plain = plain.split_once('=').map_or(plain, |(name, _)| name);
    let plain = plain.trim_end_matches(".py").trim_end_matches(".js").trim_end_matches(".mjs");
    let mut short = plain;
    for prefix in ["mcp-server-", "server-", "mcp-"] {
        short = short.strip_prefix(prefix).unwrap_or(short);
    }
    slug(short)
}

/// Makes a name of lower-case letters, digits and hyphens, at most 40 characters.
pub(crate) fn slug(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name: String = name.chars().take(LONGEST_NAME).collect();
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() { "server".into() } else { name }
}

/// Splits a command line at spaces, with quotes and backslashes as in a shell. Variables and
/// wildcards are not replaced.
pub(super) fn split_words(line: &str) -> Result<Vec<String>, AgentError> {
    // No library is used for splitting, because a library that treats `#` as the start of a comment
    // would lose arguments, and pasted instructions contain spaces that are not ASCII.
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(AgentError::invalid("A quotation mark in the command is not closed."));
    }
    words.extend(word);
    Ok(words)
}

/// Returns the absolute path of a program: `command` is an absolute path, or a name that is
/// searched on the search path and in the common folders below the user's home.
pub(super) fn find_program(command: &str) -> Result<PathBuf, AgentError> {
    let home = env::home_dir().unwrap_or_default();
    let expanded = command.strip_prefix("~/").map(|rest| home.join(rest));
    let path = expanded.unwrap_or_else(|| PathBuf::from(command));
    if path.is_absolute() {
        return if is_program(&path) { Ok(path) } else { Err(program_not_found(command)) };
    }
    if command.is_empty() || command.contains('/') {
        return Err(AgentError::invalid(text!("{command} is not an absolute path.", command))
            .hint("Write the whole path of the program, or a name such as npx or uvx."));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = BELOW_HOME.iter().map(|folder| home.join(folder));
    let node = fs::read_dir(home.join(".nvm/versions/node")).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).chain(usual).collect();
    folders.extend([PathBuf::from("/usr/local/bin"), PathBuf::from("/opt/homebrew/bin")]);
    folders.extend(node.map(|version| version.path().join("bin")));
    let found = folders.into_iter().filter(|folder| folder.is_absolute());
    found
        .map(|folder| folder.join(command))
        .find(|path| is_program(path))
        .ok_or_else(|| program_not_found(command))
}

fn program_not_found(command: &str) -> AgentError {
    let hint = match command {
        "npx" | "node" | "npm" => "Install Node.js, or write the whole path of the program.",
        "uvx" | "uv" => "Install uv, or write the whole path of the program.",
        _ => "Install the program, or write its whole path.",
    };
    AgentError::invalid(text!("The program {command} was not found.", command))
        .reason("program_not_found")
        .hint(hint)
}

/// Whether a path names a program that may be run.
pub(super) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Writes a command for a person, and for a shell: words with special characters are quoted.
pub(super) fn show_command(program: &Path, args: &[String]) -> String {
    let words = std::iter::once(program.display().to_string()).chain(args.iter().cloned());
    words.map(|word| quote_word(&word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell, if it needs quotes.
pub fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-@=:,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_as_in_a_shell() {
        let words = split_words(r#"npx -y "a b" 'c "d' e\ f "" "#).unwrap();
        assert_eq!(words, ["npx", "-y", "a b", "c \"d", "e f", ""]);
        assert!(split_words("npx 'open").is_err());
        assert_eq!(quote_word("it's"), r"'it'\''s'");
        assert_eq!(split_words(&quote_word("it's")).unwrap(), ["it's"]);
    }

    #[test]
    fn variables_before_the_program_are_read_and_the_server_is_named_after_its_package() {
        let server =
            parse_command_line("TOKEN=x npx -y @modelcontextprotocol/server-memory@1.2 --fast")
                .unwrap();
        assert_eq!((server.name.as_str(), server.command.as_str()), ("memory", "npx"));
        assert_eq!(server.env["TOKEN"], "x");
        assert_eq!(server.args, ["-y", "@modelcontextprotocol/server-memory@1.2", "--fast"]);
        assert_eq!(parse_command_line("uvx mcp-server-time").unwrap().name, "time");
        assert_eq!(
            parse_command_line("https://mcp.example.com/mcp").unwrap().name,
            "mcp-example-com"
        );
        assert!(parse_command_line(" ").is_err());
    }

    #[test]
    fn a_key_in_a_command_line_is_not_used_as_the_server_name() {
        let name = |line: &str| parse_command_line(line).unwrap().name;
        assert_eq!(name("/opt/mcp-server-notes --token letmein-please"), "notes");
        assert_eq!(name("npx --token letmein-please -y server-files"), "files");
        assert_eq!(name("python3 -u /opt/notes.py"), "notes");
    }

    #[test]
    fn a_program_is_found_on_the_search_path_or_by_its_absolute_path() {
        assert!(find_program("sh").unwrap().is_absolute());
        assert_eq!(find_program("/bin/sh").unwrap(), Path::new("/bin/sh"));
        let missing = find_program("no-such-program").unwrap_err();
        assert_eq!(missing.reason_text(), Some("program_not_found"));
        assert!(find_program("./server").is_err());
        assert!(find_program("/etc/passwd").is_err());
    }
}
