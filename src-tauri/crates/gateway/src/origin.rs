//! Where a request comes from: the name it was sent to, the page it was sent from, the address of who asks.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

use axum::http::{HeaderMap, HeaderValue, header};

use crate::config::Config;

/// The page that a request was sent from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// No browser, or one that does not say.
    None,
    Allowed(HeaderValue),
    Foreign,
}

impl Origin {
    pub(crate) fn of(headers: &HeaderMap, config: &Config) -> Self {
        let mut all = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = all.next() else { return Self::None };
        let known = all.next().is_none() && config.cors_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes());
        if known { Self::Allowed(origin.clone()) } else { Self::Foreign }
    }
}

/// Whether the name a request was sent to is ours: a foreign page may have pointed its own name at this machine.
pub(crate) fn host_is_ours(headers: &HeaderMap, config: &Config) -> bool {
    let mut all = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (all.next(), all.next()) else { return false };
    let Ok(host) = host.to_str() else { return false };
    let name = without_port(host).to_ascii_lowercase();
    if config.allowed_hosts.contains(&name) {
        return true;
    }
    let here = config.listen.ip().to_canonical();
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let address: Option<IpAddr> = bare.parse().ok();
    // No foreign page can give itself such a name.
    let is_this_machine = name == "localhost" || address.is_some_and(|ip| ip.to_canonical().is_loopback());
    if here.is_loopback() || is_this_machine && here.is_unspecified() {
        return is_this_machine;
    }
    // Elsewhere a token is asked for in any case; a list of names narrows it.
    config.allowed_hosts.is_empty() || address.is_some_and(|ip| ip.to_canonical() == here)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) => name,
        Some(_) | None => host,
    }
}

/// The address of the person behind a request: what a trusted proxy says, else the peer's own.
pub(crate) fn client_ip(headers: &HeaderMap, peer: IpAddr, config: &Config) -> IpAddr {
    let peer = peer.to_canonical();
    if !config.trusted_proxies.iter().any(|net| net.contains(peer)) {
        return peer;
    }
    let found = first_address(headers, "x-forwarded-for").or_else(|| first_address(headers, "x-real-ip"));
    found.map_or(peer, |ip| ip.to_canonical())
}

/// The first entry of a header that may come in several lines, which are one list.
fn first_address(headers: &HeaderMap, name: &str) -> Option<IpAddr> {
    let lines: Vec<Cow<'_, str>> = headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
    let first = lines.iter().flat_map(|line| line.split(',')).map(str::trim).find(|entry| !entry.is_empty())?;
    let with_port = || first.parse().map(|address: SocketAddr| address.ip()).ok();
    let in_brackets = || first.strip_prefix('[')?.strip_suffix(']')?.parse().map(|ip: Ipv6Addr| ip.into()).ok();
    first.parse().ok().or_else(with_port).or_else(in_brackets)
}

/// Whether something forwarded the request for somebody else.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    ["x-forwarded-for", "x-real-ip", "forwarded", "via"].iter().any(|name| headers.contains_key(*name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::path::PathBuf;

    use axum::http::HeaderName;

    use super::*;
    use crate::config::Flags;

    fn config(listen: &str, name: &str, value: &str) -> Config {
        let flags = Flags { listen: Some(listen.parse().unwrap()), allow_remote: true, ..Flags::default() };
        Config::read(&flags, PathBuf::from("token"), &|variable| (variable == name).then(|| value.to_owned())).unwrap()
    }

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn who_listens_everywhere_answers_to_the_names_of_its_list_and_of_this_machine() {
        for listen in ["0.0.0.0:3000", "[::]:3000"] {
            let config = config(listen, "ALLOWED_HOSTS", "chat.shop.example, 2001:db8::7");
            for (host, ours) in [
                ("chat.shop.example", true),
                ("Chat.Shop.Example:8443", true),
                ("[2001:db8::7]:3000", true),
                ("localhost:3000", true),
                ("127.0.0.1:3000", true),
                ("[::1]:3000", true),
                ("[::ffff:127.0.0.1]", true),
                ("evil.example", false),
                ("localhost.evil.example", false),
                ("192.0.2.7:3000", false),
            ] {
                assert_eq!(host_is_ours(&headers(&[("host", host)]), &config), ours, "{host} at {listen}");
            }
        }
        // Who listens at one address has no other.
        let config = config("192.0.2.7:3000", "ALLOWED_HOSTS", "chat.shop.example");
        assert!(host_is_ours(&headers(&[("host", "192.0.2.7:3000")]), &config));
        assert!(!host_is_ours(&headers(&[("host", "localhost:3000")]), &config));
    }

    #[test]
    fn section_16_the_first_address_counts_however_proxies_write_it() {
        let (config, peer) = (config("127.0.0.1:3000", "TRUSTED_PROXIES", "10.0.0.1"), "10.0.0.1".parse().unwrap());
        for (lines, ip) in [
            (&[("x-forwarded-for", "203.0.113.9:54321, 10.0.0.2")][..], "203.0.113.9"),
            (&[("x-forwarded-for", "[2001:db8::1]:443")], "2001:db8::1"),
            (&[("x-forwarded-for", "[2001:db8::1]")], "2001:db8::1"),
            (&[("x-forwarded-for", "2001:db8::1")], "2001:db8::1"),
            (&[("x-forwarded-for", "[::ffff:203.0.113.9]:1")], "203.0.113.9"),
            (&[("x-forwarded-for", ""), ("x-forwarded-for", "203.0.113.9"), ("x-forwarded-for", "203.0.113.8")], "203.0.113.9"),
            (&[("x-forwarded-for", "203.0.113.9"), ("x-forwarded-for", "203.0.113.8")], "203.0.113.9"),
            (&[("x-forwarded-for", "unknown, 203.0.113.9"), ("x-real-ip", "203.0.113.7:80")], "203.0.113.7"),
            (&[("x-forwarded-for", "[203.0.113.9")], "10.0.0.1"),
        ] {
            assert_eq!(client_ip(&headers(lines), peer, &config).to_string(), ip, "{lines:?}");
        }
    }

    #[test]
    fn a_trusted_proxy_is_known_by_either_writing_of_its_address() {
        for (trusted, peer, believed) in [
            ("::ffff:10.0.0.1", "10.0.0.1", true),
            ("::ffff:10.0.0.0/104", "::ffff:10.9.9.9", true),
            ("::ffff:10.0.0.0/104", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.9.9.9", true),
        ] {
            let config = config("127.0.0.1:3000", "TRUSTED_PROXIES", trusted);
            let told = client_ip(&headers(&[("x-forwarded-for", "203.0.113.9")]), peer.parse().unwrap(), &config);
            assert_eq!(told.to_string() == "203.0.113.9", believed, "{peer} in {trusted}");
        }
    }
}
