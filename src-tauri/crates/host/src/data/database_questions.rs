//! The questions of a connection to a database that only a person can answer: its password, its table
//! and its driver, and the answer about hosts. Pure: it does not know when they are asked.

use contract::{AgentError, Text, sources::ImportQuestion, text};
use guard::{NetworkRestriction, network_restriction};

use super::questions::{answer_option, choice};

/// The maximum number of tables in a question.
const TABLES: usize = 200;
/// The answer by which a driver reaches no network.
const NO_HOSTS: &str = "none";

/// Asks for the password of a database.
pub(super) fn ask_password(host: &str) -> ImportQuestion {
    ImportQuestion {
        id: "password".to_owned(),
        text: text!("The password for {host}. It is kept in the keyring.", host),
        choices: Vec::new(),
        option: "a password in the address".to_owned(),
    }
}

/// Asks which table of a database is the source. Without a list, its name is typed.
pub(super) fn ask_table(tables: &[String]) -> ImportQuestion {
    let choices = tables.iter().take(TABLES).map(|table| choice(table, table.as_str())).collect();
    ImportQuestion {
        id: "table".to_owned(),
        text: "Which table or view is the source?".into(),
        choices,
        option: "?table=SCHEMA.TABLE in the address".to_owned(),
    }
}

/// Asks for the library of a driver that is not installed.
pub(super) fn ask_library(scheme: &str, driver: &str) -> ImportQuestion {
    ImportQuestion {
        id: "library".to_owned(),
        text: text!(
            "There is no driver for {scheme} addresses. Install one with `dbc install {driver}`, or give the path of the library of an ADBC driver.",
            scheme,
            driver
        ),
        choices: Vec::new(),
        option: answer_option("library", "PATH"),
    }
}

/// Asks which hosts a driver may reach, if the address does not name one.
pub(super) fn ask_hosts() -> ImportQuestion {
    ImportQuestion {
        id: "hosts".to_owned(),
        text: "Which hosts may the driver reach? Write each with its port, such as lake.example.com:443, or none.".into(),
        choices: Vec::new(),
        option: answer_option("hosts", "HOST:PORT"),
    }
}

/// Reads the hosts that a person names.
pub(super) fn read_hosts(answer: &str) -> Result<Vec<String>, AgentError> {
    let answer = answer.trim();
    if answer.eq_ignore_ascii_case(NO_HOSTS) {
        return Ok(Vec::new());
    }
    let is_host = |place: &&str| {
        place.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok()
        })
    };
    let places: Vec<&str> =
        answer.split([',', ' ']).map(str::trim).filter(|place| !place.is_empty()).collect();
    if places.is_empty() || !places.iter().all(is_host) {
        return Err(AgentError::invalid(text!("{answer} is not a list of hosts.", answer))
            .reason("bad_hosts")
            .hint("Write each host with its port, such as lake.example.com:443."));
    }
    Ok(places.into_iter().map(str::to_owned).collect())
}

/// Asks whether a library that the app does not bring may be loaded.
pub(super) fn ask_driver(
    path: &str,
    hash: &str,
    hosts: &[String],
    is_changed: bool,
) -> ImportQuestion {
    let what = if is_changed {
        text!(
            "The driver {file} has changed since it was accepted. Its SHA-256 is now {hash}.",
            file = path,
            hash
        )
    } else {
        text!(
            "The driver {file} does not come with Countersign. Its SHA-256 is {hash}.",
            file = path,
            hash
        )
    };
    let may = describe_rights(hosts, network_restriction());
    ImportQuestion {
        id: "driver".to_owned(),
        text: text!("{what} {may} Load it?", what, may),
        choices: vec![choice(hash, "Yes, load this library")],
        option: answer_option("driver", hash),
    }
}

/// Returns what the program of a driver may do, with the hosts that it may reach.
fn describe_rights(hosts: &[String], restriction: NetworkRestriction) -> Text {
    let named = hosts.join(", ");
    match (hosts, restriction) {
        ([], _) => {
            text!(
                "It runs as a program without your files and without a network, and gets the rows of this source."
            )
        }
        (_, NetworkRestriction::Missing) => text!(
            "It runs as a program without your files, and gets the password and the rows of this source. It may reach {hosts}, and this system cannot keep it from other addresses.",
            hosts = named
        ),
        _ => text!(
            "It runs as a program without your files, reaches only {hosts}, and gets the password and the rows of this source.",
            hosts = named
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_with_their_ports() {
        let hosts = read_hosts("lake.example.com:443, store.example.com:443").unwrap();
        assert_eq!(hosts, ["lake.example.com:443", "store.example.com:443"]);
        assert!(read_hosts("None").unwrap().is_empty());
        for wrong in ["", "lake.example.com", "a:b", "http://a:1"] {
            assert!(read_hosts(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_hosts_of_a_driver_are_named_also_if_the_system_cannot_keep_it_to_them() {
        let hosts = ["lake.example.com:443".to_owned(), "store.example.com:443".to_owned()];
        let told = describe_rights(&hosts, NetworkRestriction::Missing).to_string();
        assert!(told.contains("lake.example.com:443, store.example.com:443"), "{told}");
        assert!(told.contains("cannot keep it from other addresses"), "{told}");
        let question = ask_driver("/opt/lib.so", "ab12", &hosts, false).text.to_string();
        for part in ["/opt/lib.so", "ab12", "lake.example.com:443, store.example.com:443"] {
            assert!(question.contains(part), "{question}");
        }
    }
}
