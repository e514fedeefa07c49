//! The address of a database, without its secret: what the driver gets, where it leads, and which
//! table it names. Pure: it does not connect.

use std::path::PathBuf;

use contract::{AgentError, text};
use percent_encoding::percent_decode_str;

/// The driver that is included in the app.
pub(super) const POSTGRES: &str = "postgresql";
const POSTGRES_PORT: u16 = 5_432;

/// Options with a secret.
const SECRETS: [&str; 8] = [
    "access_token",
    "auth_token",
    "client_secret",
    "passcode",
    "password",
    "pwd",
    "secret",
    "token",
];
/// The sign that stands for the secret in a stored address.
const SECRET: &str = "*";

/// Schemes of addresses that name a file. These files are imported.
const FILES: [&str; 4] = ["duckdb", "file", "sqlite", "sqlite3"];

/// The address of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The scheme, such as `postgresql`.
    pub(super) scheme: String,
    /// The address without the secret and the table. `*` stands for a secret that only the driver
    /// of another database can read.
    pub(super) text: String,
    /// The host and port that the driver connects to. None if the address does not name them.
    pub(super) to: Option<String>,
    /// The host, or the whole place if there is none.
    pub(super) host: String,
    pub(super) database: String,
    pub(super) password: Option<String>,
    pub(super) table: Option<String>,
}

/// Whether a place is the address of a database.
pub(super) fn is_address(place: &str) -> bool {
    let scheme = place.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        !scheme.is_empty()
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '+')
    })
}

impl Address {
    /// Reads an address that a person wrote, or a stored one. `is_other` says that another driver
    /// than the included one gets it.
    pub(super) fn parse(place: &str, is_other: bool) -> Result<Self, AgentError> {
        let (scheme, rest) = place.split_once("://").unwrap_or_default();
        match scheme {
            "postgresql" | "postgres" if !is_other => Self::of_postgres(rest),
            scheme if FILES.contains(&scheme) => Err(is_file(rest)),
            scheme => Self::of_other(scheme, rest),
        }
    }

    /// Returns the file with the certificates of authorities that the address names.
    pub(super) fn certificates(&self) -> Option<PathBuf> {
        let (_, options) = self.text.split_once('?')?;
        let value = options.split('&').find_map(|option| option.strip_prefix("sslrootcert="))?;
        Some(PathBuf::from(decode(value))).filter(|path| path.is_absolute())
    }

    fn of_postgres(rest: &str) -> Result<Self, AgentError> {
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = match user.split_once(':') {
            Some((user, password)) => (user, Some(decode(password))),
            None => (user, None),
        };
        let (host, port) = split_port(place);
        let port = port.map_or(Ok(POSTGRES_PORT), |port| port.parse().map_err(|_| no_host()))?;
        if host.is_empty() {
            return Err(no_host());
        }
        let mut table = Some(decode(fragment)).filter(|table| !table.is_empty());
        let mut options = Vec::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("table", name)) => table = Some(decode(name)),
                // Each of these options overrides the server or the password of the address.
                Some(("host" | "hostaddr" | "port" | "passfile" | "service" | "password", _)) => {
                    return Err(bad_option(option.split('=').next().unwrap_or_default()));
                }
                _ => options.push(option.to_owned()),
            }
        }
        if !options.iter().any(|option| option.starts_with("sslmode=")) && !is_here(host) {
            options.push("sslmode=verify-full".to_owned());
        }
        let user = if user.is_empty() { String::new() } else { format!("{user}@") };
        let options =
            if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
        let bare = host.trim_matches(['[', ']']);
        Ok(Self {
            scheme: POSTGRES.to_owned(),
            text: format!("postgresql://{user}{host}:{port}/{database}{options}"),
            to: Some(join(bare, port)),
            host: bare.to_owned(),
            database: decode(database),
            password,
            table,
        })
    }

    /// Reads an address for another driver. Only the secret and the table are understood.
    fn of_other(scheme: &str, rest: &str) -> Result<Self, AgentError> {
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let mut table = Some(decode(fragment)).filter(|table| !table.is_empty());
        let mut passwords = Vec::new();
        let end = rest.find(['/', '?', ';']).unwrap_or(rest.len());
        let (authority, options) = rest.split_at(end);
        let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let mut text = format!("{scheme}://");
        match user.split_once(':') {
            Some((user, password)) => {
                if password != SECRET {
                    passwords.push(decode(password));
                }
                text.push_str(&format!("{user}:{SECRET}@"));
            }
            None if user.is_empty() => {}
            None => text.push_str(&format!("{user}@")),
        }
        text.push_str(place);
        let mut owed = None;
        for (sign, option) in options_of(options) {
            // The first option that stays follows the question mark.
            let sign = if sign == "&" { owed.take().unwrap_or(sign) } else { sign };
            match option.split_once('=') {
                Some(("table", name)) => {
                    table = Some(decode(name));
                    owed = (sign == "?").then_some(sign);
                }
                Some((name, value)) if SECRETS.contains(&name.to_lowercase().as_str()) => {
                    if value != SECRET {
                        passwords.push(decode(value));
                    }
                    text.push_str(&format!("{sign}{name}={SECRET}"));
                }
                _ => text.push_str(&format!("{sign}{option}")),
            }
        }
        if passwords.len() > 1 {
            return Err(AgentError::invalid("The address has more than one secret.")
                .reason("bad_address")
                .hint("Use a way to sign in that has one secret."));
        }
        let (host, port) = split_port(place);
        let port = port.and_then(|port| port.parse().ok());
        let bare = host.trim_matches(['[', ']']);
        let path = options.split(['?', ';']).next().unwrap_or_default().trim_matches('/');
        Ok(Self {
            scheme: scheme.to_owned(),
            text,
            to: port.filter(|_| !bare.is_empty()).map(|port| join(bare, port)),
            host: if bare.is_empty() { scheme.to_owned() } else { bare.to_owned() },
            database: decode(path.rsplit('/').next().unwrap_or_default()),
            password: passwords.pop(),
            table,
        })
    }

    /// Returns the port if the address leads to this computer.
    pub(super) fn port_here(&self) -> Option<u16> {
        let (host, port) = self.to.as_ref()?.rsplit_once(':')?;
        port.parse().ok().filter(|_| is_here(host))
    }
}

/// Splits what follows the place of an address into parts, each with the sign before it.
fn options_of(text: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (sign, after) = rest.split_at(1);
        let end = after.find(['?', '&', ';']).unwrap_or(after.len());
        parts.push((sign, &after[..end]));
        rest = &after[end..];
    }
    parts
}

fn is_here(host: &str) -> bool {
    host == "localhost" || host.starts_with("127.") || host.trim_matches(['[', ']']) == "::1"
}

fn join(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn split_port(place: &str) -> (&str, Option<&str>) {
    match place.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (place, None),
    }
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn no_host() -> AgentError {
    AgentError::invalid("The address names no host and port.")
        .reason("bad_address")
        .hint("Write it as postgresql://USER@HOST:PORT/DATABASE?table=SCHEMA.TABLE.")
}

fn bad_option(option: &str) -> AgentError {
    AgentError::invalid(text!("The address must not have the option {option}.", option))
        .reason("bad_address")
}

fn is_file(rest: &str) -> AgentError {
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    AgentError::invalid("The address names a file, which is imported and not asked.")
        .reason("is_file")
        .hint(text!("Import the file in Data, or with: csign data add {file}", file = path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(place: &str) -> Result<Address, AgentError> {
        Address::parse(place, false)
    }

    #[test]
    fn an_address_loses_its_password_and_gains_tls() {
        let address =
            parse("postgres://ana:p%40ss@db.example.com/shop?table=public.orders").unwrap();
        assert_eq!(address.text, "postgresql://ana@db.example.com:5432/shop?sslmode=verify-full");
        assert_eq!(address.password.as_deref(), Some("p@ss"));
        assert_eq!(address.table.as_deref(), Some("public.orders"));
        assert_eq!(address.to.as_deref(), Some("db.example.com:5432"));
        assert_eq!(parse(&address.text).unwrap().text, address.text);
        let local = parse("postgresql://127.0.0.1:5433/x").unwrap();
        assert_eq!(local.text, "postgresql://127.0.0.1:5433/x");
        assert_eq!(local.port_here(), Some(5433));
        let own =
            parse("postgresql://db/x?sslmode=verify-ca&sslrootcert=/etc/own%20ca.pem").unwrap();
        assert_eq!(own.certificates(), Some("/etc/own ca.pem".into()));
        assert_eq!((address.certificates(), local.certificates()), (None, None));
        let library = Address::parse("postgresql://ana:p@db:1/x", true).unwrap();
        assert_eq!(library.text, "postgresql://ana:*@db:1/x");
        let six = parse("postgresql://[2001:db8::1]:5433/x").unwrap();
        assert_eq!(six.to.as_deref(), Some("[2001:db8::1]:5433"));
    }

    #[test]
    fn the_address_of_another_driver_keeps_all_but_its_secret_and_table() {
        for (written, text, password, to) in [
            (
                "sc://lake.example.com:443/;token=abc%3D;use_ssl=true?table=sales.orders",
                "sc://lake.example.com:443/;token=*;use_ssl=true",
                Some("abc="),
                Some("lake.example.com:443"),
            ),
            (
                "snowflake://ann:s3%40t@acme-eu/SHOP/PUBLIC?warehouse=W&table=ORDERS",
                "snowflake://ann:*@acme-eu/SHOP/PUBLIC?warehouse=W",
                Some("s3@t"),
                None,
            ),
            ("grpc+tls://lake:443#orders", "grpc+tls://lake:443", None, Some("lake:443")),
            ("trino://h:1/c?table=t&x=1&y=2", "trino://h:1/c?x=1&y=2", None, Some("h:1")),
            ("sc://lake:1/;token=*", "sc://lake:1/;token=*", None, Some("lake:1")),
        ] {
            let address = parse(written).unwrap();
            assert_eq!(address.text, text);
            assert_eq!((address.password.as_deref(), address.to.as_deref()), (password, to));
            assert!(address.text.contains("token=*;use") || !written.contains("abc"));
            assert_eq!(parse(&address.text).unwrap().text, text);
        }
        assert_eq!(parse("grpc://lake:1/a#orders").unwrap().table.unwrap(), "orders");
        assert!(parse("trino://a:b@h:1/c?password=d").is_err());
    }

    #[test]
    fn an_address_that_leads_elsewhere_is_refused() {
        for place in [
            "postgresql:///shop",
            "postgresql://db.example.com/shop?hostaddr=10.0.0.1",
            "postgresql://db.example.com/shop?passfile=/etc/shadow",
            "sqlite:///home/ana/shop.db",
            "duckdb://shop.duckdb",
        ] {
            assert!(parse(place).is_err(), "{place}");
        }
        assert!(
            is_address("postgresql://x/y") && !is_address("/tmp/a.csv") && !is_address("a*.csv")
        );
    }
}
