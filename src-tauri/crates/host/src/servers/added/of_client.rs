//! The command lines with which other clients add a server: `claude mcp add`, `codex mcp add`,
//! `gemini mcp add`, `code --add-mcp`. Many instructions show only these. Starts no server.

use contract::NewServer;
use serde_json::Value;

use super::command_line::{slug, split_words, suggest_name};

/// Options with a value that is not used here.
const OTHERS: [&str; 6] = ["-s", "--scope", "-t", "--transport", "--type", "--timeout"];
/// The options of a variable and of a header.
const VARIABLES: [&str; 2] = ["-e", "--env"];
const HEADERS: [&str; 2] = ["-H", "--header"];

/// Returns the server that a client would add. Returns None if the text is not such a command line.
pub(super) fn read_addition(line: &str) -> Option<NewServer> {
    let words = split_words(line.trim()).ok()?;
    let [_, mcp, add, words @ ..] = words.as_slice() else { return None };
    if mcp != "mcp" || add != "add" {
        return None;
    }
    let mut server = NewServer::default();
    let (mut rest, mut words) = (Vec::new(), words.iter());
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let is_known = [&OTHERS[..], &VARIABLES, &HEADERS].iter().any(|all| all.contains(&option));
        if word == "--" {
            rest.extend(words.cloned());
            break;
        }
        // The words after the program belong to the program.
        if !is_known || (rest.len() > 1 && !is_address(&rest[1])) {
            rest.push(word.clone());
            continue;
        }
        let value = joined.or_else(|| words.next().cloned()).unwrap_or_default();
        if VARIABLES.contains(&option) {
            let (name, value) = value.split_once('=')?;
            server.env.insert(name.to_owned(), value.to_owned());
        } else if HEADERS.contains(&option) {
            let (name, value) = value.split_once(':')?;
            server.headers.insert(name.trim().to_owned(), value.trim().to_owned());
        }
    }
    let mut rest = rest.into_iter();
    let (name, target) = (rest.next()?, rest.next()?);
    if is_address(&target) {
        server.url = target;
    } else {
        server.command = target;
        server.args = rest.collect();
    }
    server.name =
        if name.is_empty() { suggest_name(&server.args, &server.command) } else { slug(&name) };
    Some(server)
}

/// Returns the settings in a command line that adds a server with settings. Returns None for other
/// texts.
pub(super) fn settings_in(line: &str) -> Option<String> {
    if !["mcp add-json ", "--add-mcp "].iter().any(|part| line.contains(part)) {
        return None;
    }
    let words = split_words(line).ok()?;
    let settings = words.iter().find(|word| word.starts_with('{'))?;
    match words.get(1)?.as_str() {
        "--add-mcp" => Some(settings.clone()),
        "mcp" => {
            let name = words.get(3..)?.iter().find(|word| !word.starts_with(['-', '{']))?;
            Some(format!("{{{}: {settings}}}", Value::from(name.as_str())))
        }
        _ => None,
    }
}

fn is_address(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_inside_a_clients_add_command_are_found() {
        let found = settings_in(r#"claude mcp add-json notes '{"command": "npx"}' -s user"#);
        assert_eq!(found.as_deref(), Some(r#"{"notes": {"command": "npx"}}"#));
        let found = settings_in(r#"code --add-mcp '{"name": "notes", "command": "npx"}'"#);
        assert_eq!(found.as_deref(), Some(r#"{"name": "notes", "command": "npx"}"#));
        for other in ["claude mcp add-json", "npx -y notes", "x mcp add-json a b"] {
            assert_eq!(settings_in(other), None, "{other}");
        }
    }

    #[test]
    fn an_add_command_of_another_client_is_read_as_the_server_that_it_adds() {
        let far = read_addition(
            r#"claude mcp add --transport http Ref https://api.example/mcp --header "x-key: abc""#,
        )
        .unwrap();
        assert_eq!((far.name.as_str(), far.url.as_str()), ("ref", "https://api.example/mcp"));
        assert_eq!((far.headers["x-key"].as_str(), far.command.as_str()), ("abc", ""));
        for line in [
            "claude mcp add notes -s user -e TOKEN=a=b -- npx -y notes --env x",
            "codex mcp add notes --env TOKEN=a=b -- npx -y notes --env x",
            "gemini mcp add --env=TOKEN=a=b notes npx -y notes --env x",
        ] {
            let near = read_addition(line).unwrap();
            assert_eq!((near.name.as_str(), near.command.as_str()), ("notes", "npx"), "{line}");
            assert_eq!(near.args, ["-y", "notes", "--env", "x"], "{line}");
            assert_eq!(near.env["TOKEN"], "a=b", "{line}");
        }
        for other in ["npx -y mcp add", "claude mcp list", "claude mcp add notes", "uvx mcp"] {
            assert_eq!(read_addition(other).map(|server| server.command), None, "{other}");
        }
    }
}
