//! The address of a database, and what the driver gets for it.

use contract::AgentError;
use url::Url;

use crate::DataError;

/// Certificates of the system, where distributions keep them.
const CERTIFICATES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
];

/// How certificates are checked, in the words of the driver.
const MODES: [&str; 4] = ["disable", "require", "verify-ca", "verify-full"];

/// Returns the parameters of a connection in the form of libpq.
pub fn parameters(
    address: &str,
    via: Option<&str>,
    password: Option<&str>,
) -> Result<String, DataError> {
    let wrong = |cause: &str| -> DataError {
        AgentError::invalid(contract::text!(
            "The address of the database cannot be read: {cause}.",
            cause = cause
        ))
        .hint("Write it as postgresql://USER@HOST:5432/DATABASE.")
        .into()
    };
    let url = Url::parse(address).map_err(|error| wrong(&error.to_string()))?;
    if !["postgresql", "postgres", "redshift"].contains(&url.scheme()) {
        return Err(wrong("it does not begin with postgresql://"));
    }
    let host = url.host_str().ok_or_else(|| wrong("it has no host"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let decode = |text: &str| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8()
            .map(String::from)
            .map_err(|_| wrong("a name in it is not UTF-8"))
    };
    let mut found: Vec<(&str, String)> = vec![("host", host.to_owned())];
    match via.map(|via| via.rsplit_once(':').ok_or_else(|| wrong("the forwarder has no port"))) {
        Some(via) => {
            let (at, port) = via?;
            let at = at.trim_start_matches('[').trim_end_matches(']');
            found.extend([("hostaddr", at.to_owned()), ("port", port.to_owned())]);
        }
        None => found.push(("port", url.port().unwrap_or(5432).to_string())),
    }
    if !url.username().is_empty() {
        found.push(("user", decode(url.username())?));
    }
    let database = decode(url.path().trim_start_matches('/'))?;
    if !database.is_empty() {
        found.push(("dbname", database));
    }
    if let Some(password) = password {
        found.push(("password", password.to_owned()));
    }
    found.extend(security(&url, host).map_err(|cause| wrong(&cause))?);
    found.push(("connect_timeout", "10".to_owned()));
    found.push(("application_name", "countersign".to_owned()));
    // A password file of the user is no part of the source.
    found.push(("passfile", "/dev/null".to_owned()));
    Ok(found
        .iter()
        .map(|(name, value)| format!("{name}={}", quote(value)))
        .collect::<Vec<_>>()
        .join(" "))
}

/// Returns how the connection is encrypted. Without a word in the address, the certificate of the host
/// is verified, except on this computer.
fn security(url: &Url, host: &str) -> Result<Vec<(&'static str, String)>, String> {
    let (mut mode, mut root) = (None, None);
    for (name, value) in url.query_pairs() {
        match &*name {
            "sslmode" if MODES.contains(&&*value) => mode = Some(value.into_owned()),
            "sslrootcert" if value.starts_with('/') => root = Some(value.into_owned()),
            other => {
                return Err(format!("the parameter {other} is not known or has a wrong value"));
            }
        }
    }
    let is_here = ["localhost", "127.0.0.1", "::1"].contains(&host);
    let mode = mode.unwrap_or_else(|| if is_here { "prefer" } else { "verify-full" }.to_owned());
    let mut found = Vec::new();
    if mode.starts_with("verify") {
        let known = CERTIFICATES.iter().find(|path| std::path::Path::new(path).exists());
        let root = root.or_else(|| known.map(|path| (*path).to_owned()));
        found.extend(root.map(|root| ("sslrootcert", root)));
    }
    found.push(("sslmode", mode));
    Ok(found)
}

fn quote(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Splits the name of a table at its points. Parts with a point stand in double quotes.
pub fn table_parts(name: &str) -> Vec<String> {
    let (mut parts, mut part, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut signs = name.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '"' if is_quoted && signs.peek() == Some(&'"') => {
                signs.next();
                part.push('"');
            }
            '"' => is_quoted = !is_quoted,
            '.' if !is_quoted => parts.push(std::mem::take(&mut part)),
            sign => part.push(sign),
        }
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_verified_unless_the_address_says_otherwise() {
        let far = parameters(
            "postgresql://ann%40x@db.example.com/shop",
            Some("127.0.0.1:7000"),
            Some("a'b\\"),
        )
        .unwrap();
        assert!(far.starts_with("host='db.example.com' hostaddr='127.0.0.1' port='7000' user='ann@x' dbname='shop' password='a\\'b\\\\'"), "{far}");
        assert!(far.contains("sslmode='verify-full'"), "{far}");
        let near = parameters("postgres://ann@localhost:5433/shop", None, None).unwrap();
        assert!(near.contains("port='5433'") && near.contains("sslmode='prefer'"), "{near}");
        let plain = parameters("postgres://db/shop?sslmode=disable", None, None).unwrap();
        assert!(plain.contains("sslmode='disable'"), "{plain}");
        for wrong in [
            "db.example.com",
            "mysql://a/b",
            "postgres://db/x?options=-c",
            "postgres://db/x?sslmode=allow",
        ] {
            assert!(parameters(wrong, None, None).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_table_name_is_split_at_points_outside_of_quotes() {
        assert_eq!(table_parts("public.orders"), ["public", "orders"]);
        assert_eq!(table_parts("\"a.b\".\"c\"\"d\""), ["a.b", "c\"d"]);
        assert_eq!(table_parts("orders"), ["orders"]);
    }
}
