//! Reads the servers in a text that a person typed or pasted, and describes the commands that would
//! run. Starts no server.

use contract::{AgentError, ReadServer, ServersReadParams, ServersReadResponse, text};

use super::{
    client_json, command_line,
    confirming::describe_server,
    entry::Found,
    of_client,
    separating::{Separated, separate_keys},
};
use crate::profile::Paths;

/// The maximum number of bytes of a text that is read.
const LONGEST: usize = 256 * 1024;

/// Reads the servers of a text: settings of another client, an address, or a command line.
pub(crate) fn read_servers(
    params: &ServersReadParams,
    paths: &Paths,
) -> Result<ServersReadResponse, AgentError> {
    let text = params.text.as_str();
    check_length(text)?;
    let settings = of_client::settings_in(text);
    let text = settings.as_deref().unwrap_or(text);
    let found = if client_json::is_settings(text) {
        client_json::read_settings(text, &params.values)?
    } else {
        let added = of_client::read_addition(text);
        let server = added.map_or_else(|| command_line::parse_command_line(text), Ok)?;
        vec![Found { server, ..Found::default() }]
    };
    let mut servers: Vec<ReadServer> =
        found.into_iter().map(|found| read_server(found, paths)).collect();
    servers.sort_by(|a, b| a.server.name.cmp(&b.server.name));
    Ok(ServersReadResponse { servers })
}

fn read_server(found: Found, paths: &Paths) -> ReadServer {
    let Found { server, problem, asks, notes } = found;
    match separate_keys(&server) {
        Ok(Separated { stored, unsure, .. }) => ReadServer {
            runs: stored.command_or_url(),
            server,
            problem,
            shows: describe_server(&stored, paths),
            unsure,
            asks,
            notes,
        },
        // The arguments are not shown, because it is unknown which of them are keys.
        Err(error) => ReadServer {
            runs: server.command.clone(),
            server,
            problem: problem.or_else(|| Some(error.text())),
            shows: Vec::new(),
            unsure: Vec::new(),
            asks,
            notes,
        },
    }
}

fn check_length(text: &str) -> Result<(), AgentError> {
    if text.len() <= LONGEST {
        return Ok(());
    }
    Err(AgentError::invalid(text!("The text is longer than {most} kB.", most = LONGEST / 1024))
        .hint("Paste only the part with the servers that you want to add."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_settings_that_are_too_long_are_refused() {
        assert!(check_length(&"a".repeat(LONGEST)).is_ok());
        let refused = check_length(&"a".repeat(LONGEST + 1)).unwrap_err();
        assert!(refused.message.contains("256 kB"), "{refused:?}");
    }
}
