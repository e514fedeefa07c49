//! Checks where a request comes from: the host name it was sent to, the page it was sent from, and
//! the client's address.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

use axum::http::{HeaderMap, HeaderValue, header};

use crate::config::Config;

/// The address at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The origin of the page that sent a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The request was not sent by a page in a browser, or its origin is missing.
    None,
    Allowed(HeaderValue),
    Foreign,
}

impl Origin {
    pub(crate) fn of(headers: &HeaderMap, config: &Config) -> Self {
        let mut all = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = all.next() else { return Self::None };
        let known = all.next().is_none()
            && config.cors_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes());
        if known { Self::Allowed(origin.clone()) } else { Self::Foreign }
    }
}

/// Whether the request was sent to a host name of this gateway. This is checked because a page of
/// another site can make its own host name resolve to this computer.
pub(crate) fn is_own_host(headers: &HeaderMap, config: &Config) -> bool {
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
    // A page of another site cannot use this name.
    let is_this_machine =
        name == "localhost" || address.is_some_and(|ip| ip.to_canonical().is_loopback());
    if here.is_loopback() || is_this_machine && here.is_unspecified() {
        return is_this_machine;
    }
    // At other addresses, a token is required in any case. A list of allowed names restricts the
    // names further.
    config.allowed_hosts.is_empty() || address.is_some_and(|ip| ip.to_canonical() == here)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if !port.is_empty()
                && port.bytes().all(|b| b.is_ascii_digit())
                && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        Some(_) | None => host,
    }
}

/// Returns the client's address: the address that trusted proxies report, or else the peer's
/// address. Each proxy appends the address that it got the request from, so the last address that
/// is neither a trusted proxy nor private is the client's. The client may have written the
/// addresses before it. If there is no such address, returns the last address that is not a trusted
/// proxy.
pub(crate) fn client_ip(headers: &HeaderMap, peer: IpAddr, config: &Config) -> IpAddr {
    let peer = peer.to_canonical();
    let is_trusted = |ip: IpAddr| config.trusted_proxies.iter().any(|net| net.contains(ip));
    if !is_trusted(peer) {
        return peer;
    }
    let forwarded = header_entries(headers, "x-forwarded-for");
    if forwarded.is_empty() {
        let real = header_entries(headers, "x-real-ip");
        return real.last().and_then(|entry| parse_address(entry)).unwrap_or(peer);
    }
    // An entry that cannot be parsed has an unknown author, so no entry before it is trusted.
    let known: Vec<IpAddr> =
        forwarded.iter().rev().map_while(|entry| parse_address(entry)).collect();
    let public = known.iter().find(|ip| !is_trusted(**ip) && !is_private(**ip));
    let private = || known.iter().find(|ip| !is_trusted(**ip));
    public.or_else(private).or(known.last()).copied().unwrap_or(peer)
}

/// Whether an address belongs to a private network, such as the network of a load balancer.
fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let shared = ip.octets()[0] == 100 && ip.octets()[1] & 0b1100_0000 == 64;
            ip.is_private() || ip.is_loopback() || ip.is_link_local() || shared
        }
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_loopback() || ip.is_unicast_link_local(),
    }
}

/// Returns the name under which requests of an address are counted. An IPv6 client has a 64-bit
/// network and can use any of its addresses, so the whole network has one count.
pub(crate) fn network_name(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("{}/64", Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
    }
}

/// Returns the entries of a list header, which may be spread over several header lines.
fn header_entries(headers: &HeaderMap, name: &str) -> Vec<String> {
    let lines: Vec<Cow<'_, str>> =
        headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
    lines
        .iter()
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Parses an address, with or without port and brackets.
fn parse_address(entry: &str) -> Option<IpAddr> {
    let with_port = || entry.parse().map(|address: SocketAddr| address.ip()).ok();
    let in_brackets =
        || entry.strip_prefix('[')?.strip_suffix(']')?.parse().map(|ip: Ipv6Addr| ip.into()).ok();
    entry.parse().ok().or_else(with_port).or_else(in_brackets).map(|ip: IpAddr| ip.to_canonical())
}

/// Returns the caller's correlation id for logs and records: `X-Correlation-Id`, or else the trace
/// id of `traceparent`. Returns None if it is too long or has unusual characters, because it is
/// written to files.
pub(crate) fn correlation(headers: &HeaderMap) -> Option<String> {
    let one = |name: &str| {
        let mut all = headers.get_all(name).iter();
        all.next().filter(|_| all.next().is_none())?.to_str().ok()
    };
    let is_plain = |text: &&str| {
        (1..=128).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte))
    };
    if headers.contains_key("x-correlation-id") {
        return one("x-correlation-id").filter(is_plain).map(str::to_owned);
    }
    let parts: Vec<&str> = one("traceparent")?.split('-').collect();
    let [version, trace, span, flags, ..] = parts[..] else { return None };
    let is_hex = |text: &str, length: usize| {
        text.len() == length
            && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let is_some = |text: &str| text.bytes().any(|byte| byte != b'0');
    let fits = is_hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.len() == 4)
        && is_hex(flags, 2);
    (fits && is_hex(trace, 32) && is_hex(span, 16) && is_some(trace) && is_some(span))
        .then(|| trace.to_owned())
}

/// Whether a proxy forwarded the request.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    ["x-forwarded-for", "x-real-ip", "forwarded", "via"]
        .iter()
        .any(|name| headers.contains_key(*name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::path::PathBuf;

    use axum::http::HeaderName;

    use super::*;
    use crate::config::Flags;

    fn config(listen: &str, name: &str, value: &str) -> Config {
        let flags =
            Flags { listen: Some(listen.parse().unwrap()), allow_remote: true, ..Flags::default() };
        Config::read_variables(&flags, PathBuf::from("token"), &|variable| {
            (variable == name).then(|| value.to_owned())
        })
        .unwrap()
    }

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn a_server_on_all_interfaces_accepts_only_allowed_and_local_host_names() {
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
                assert_eq!(
                    is_own_host(&headers(&[("host", host)]), &config),
                    ours,
                    "{host} at {listen}"
                );
            }
        }
        // A server that listens on one address cannot be reached at another address, so other local
        // names are refused.
        let config = config("192.0.2.7:3000", "ALLOWED_HOSTS", "chat.shop.example");
        assert!(is_own_host(&headers(&[("host", "192.0.2.7:3000")]), &config));
        assert!(!is_own_host(&headers(&[("host", "localhost:3000")]), &config));
    }

    #[test]
    fn chat_api_16_the_client_address_is_the_last_forwarded_one_that_is_no_trusted_proxy() {
        let (config, peer) = (
            config("127.0.0.1:3000", "TRUSTED_PROXIES", "10.0.0.0/30"),
            "10.0.0.1".parse().unwrap(),
        );
        for (lines, ip) in [
            (&[("x-forwarded-for", "203.0.113.9:54321, 10.0.0.2")][..], "203.0.113.9"),
            (
                &[(
                    "x-forwarded-for",
                    "198.51.100.1, 203.0.113.9:54321, 10.0.0.2, ::ffff:10.0.0.3",
                )],
                "203.0.113.9",
            ),
            (&[("x-forwarded-for", "198.51.100.1, 203.0.113.9")], "203.0.113.9"),
            (&[("x-forwarded-for", "198.51.100.1, unknown, 10.0.0.2")], "10.0.0.2"),
            (&[("x-forwarded-for", "10.0.0.3, 10.0.0.2")], "10.0.0.3"),
            // These proxies are in a private network and not in the list.
            (&[("x-forwarded-for", "198.51.100.1, 203.0.113.9, 192.168.7.1")], "203.0.113.9"),
            (
                &[("x-forwarded-for", "203.0.113.9, 172.16.0.9, 100.64.0.1, 10.0.0.2")],
                "203.0.113.9",
            ),
            (&[("x-forwarded-for", "2001:db8::1, fd00::7, fe80::1, ::1")], "2001:db8::1"),
            (&[("x-forwarded-for", "192.168.7.1, 172.16.0.9")], "172.16.0.9"),
            (&[("x-forwarded-for", "192.168.7.1, 172.16.0.9, 10.0.0.2")], "172.16.0.9"),
            (&[("x-forwarded-for", "203.0.113.9, unknown, 192.168.7.1")], "192.168.7.1"),
            (&[("x-real-ip", "203.0.113.7:80")], "203.0.113.7"),
            (&[("x-forwarded-for", "[2001:db8::1]:443")], "2001:db8::1"),
            (&[("x-forwarded-for", "[2001:db8::1]")], "2001:db8::1"),
            (&[("x-forwarded-for", "2001:db8::1")], "2001:db8::1"),
            (&[("x-forwarded-for", "[::ffff:203.0.113.9]:1")], "203.0.113.9"),
            (
                &[
                    ("x-forwarded-for", ""),
                    ("x-forwarded-for", "203.0.113.9"),
                    ("x-forwarded-for", "203.0.113.8"),
                ],
                "203.0.113.8",
            ),
            (
                &[("x-forwarded-for", "203.0.113.9"), ("x-forwarded-for", "203.0.113.8")],
                "203.0.113.8",
            ),
            (
                &[("x-forwarded-for", "unknown, 203.0.113.9"), ("x-real-ip", "203.0.113.7:80")],
                "203.0.113.9",
            ),
            (&[("x-forwarded-for", "unknown"), ("x-real-ip", "203.0.113.7:80")], "10.0.0.1"),
            (&[("x-forwarded-for", "[203.0.113.9")], "10.0.0.1"),
        ] {
            assert_eq!(client_ip(&headers(lines), peer, &config).to_string(), ip, "{lines:?}");
        }
    }

    #[test]
    fn a_correlation_id_is_accepted_only_if_short_and_of_plain_characters() {
        const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
        let whole = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        for (lines, wanted) in [
            (&[("x-correlation-id", "order-4711:a/b.c_d")][..], Some("order-4711:a/b.c_d")),
            (&[("x-correlation-id", "order-1"), ("traceparent", whole)], Some("order-1")),
            (&[("traceparent", whole)], Some(TRACE)),
            (
                &[("traceparent", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more")],
                Some(TRACE),
            ),
            (&[("x-correlation-id", ""), ("traceparent", whole)], None),
            (&[("x-correlation-id", "one"), ("x-correlation-id", "two")], None),
            (&[("x-correlation-id", "a b")], None),
            (&[("x-correlation-id", "\"><script>")], None),
            (&[("traceparent", "00-00000000000000000000000000000000-b7ad6b7169203331-01")], None),
            (&[("traceparent", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01")], None),
            (&[("traceparent", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01")], None),
            (
                &[("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more")],
                None,
            ),
            (&[("traceparent", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")], None),
            (&[("traceparent", "nonsense")], None),
            (&[], None),
        ] {
            assert_eq!(correlation(&headers(lines)).as_deref(), wanted, "{lines:?}");
        }
        let long = HeaderMap::from_iter([(
            HeaderName::from_static("x-correlation-id"),
            HeaderValue::from_str(&"a".repeat(129)).unwrap(),
        )]);
        assert_eq!(correlation(&long), None);
    }

    #[test]
    fn a_trusted_proxy_is_recognised_by_ipv4_or_mapped_ipv6_notation() {
        for (trusted, peer, believed) in [
            ("::ffff:10.0.0.1", "10.0.0.1", true),
            ("::ffff:10.0.0.0/104", "::ffff:10.9.9.9", true),
            ("::ffff:10.0.0.0/104", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.9.9.9", true),
        ] {
            let config = config("127.0.0.1:3000", "TRUSTED_PROXIES", trusted);
            let told = client_ip(
                &headers(&[("x-forwarded-for", "203.0.113.9")]),
                peer.parse().unwrap(),
                &config,
            );
            assert_eq!(told.to_string() == "203.0.113.9", believed, "{peer} in {trusted}");
        }
    }
}
