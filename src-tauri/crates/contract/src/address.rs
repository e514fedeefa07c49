//! Defines two rules about addresses: which addresses a pack's request may connect to, and to which
//! server a key belongs. A key belongs to an origin, which is read from the parsed URL. Keys are
//! stored, selected and sent by origin. The module is pure: names are resolved and connections are
//! made elsewhere.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// A server as the target of requests: scheme, host and port of a parsed `http` or `https` URL.
/// Keys belong to origins. All code that stores, selects or sends a key uses this type instead of
/// parsing an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    scheme: Scheme,
    /// The host as the URL parser writes it: lower case, punycode, decimal IPv4, IPv6 in brackets.
    host: String,
    port: u16,
    loopback: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn text(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn usual_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Origin {
    /// Returns None if the URL is not `http` or `https`, or carries a user name or a password.
    pub fn of(url: &Url) -> Option<Self> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        if !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let loopback = match url.host()? {
            Host::Domain(name) => is_localhost(name),
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.is_loopback(),
        };
        Some(Self {
            scheme,
            host: url.host_str()?.to_owned(),
            port: url.port().unwrap_or(scheme.usual_port()),
            loopback,
        })
    }

    /// Returns the origin of an address, read by the parser that requests use.
    pub fn parse(text: &str) -> Option<Self> {
        Self::of(&Url::parse(text).ok()?)
    }

    /// Whether a request to this server may carry a key, because the request is encrypted or stays
    /// on this computer.
    pub fn may_carry_key(&self) -> bool {
        self.scheme == Scheme::Https || self.loopback
    }

    /// Whether the address itself says that the server is on this computer.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// Returns host and port, without the scheme's usual port.
    pub fn host_and_port(&self) -> String {
        if self.port == self.scheme.usual_port() {
            self.host.clone()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Whether `name` is the keyring entry of version 0.1 for this server: the host as it was
    /// typed, with a port if one was typed, and without the scheme. An entry without a scheme is
    /// not used for an unencrypted connection on the default port, because the entry may have been
    /// made for https.
    pub fn had_legacy_name(&self, name: &str) -> bool {
        let read_as = |scheme: Scheme| Self::parse(&format!("{}://{name}", scheme.text()));
        let same = |found: Option<Self>| {
            found.is_some_and(|found| found.host == self.host && found.port == self.port)
        };
        // If both schemes give the name the same port, the name contains the port.
        let fits = same(read_as(Scheme::Https))
            && (self.scheme == Scheme::Https || same(read_as(Scheme::Http)));
        self.may_carry_key() && !name.contains(['/', '\\', '?', '#', '@']) && fits
    }
}

/// Writes the origin as in the keyring: with the scheme, without the scheme's default port.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.text(), self.host_and_port())
    }
}

/// Whether a name stands for this computer only. Resolvers enforce this with `can_resolve_to`.
pub fn is_localhost(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "localhost" || name.strip_suffix(".localhost").is_some_and(|label| !label.is_empty())
}

/// Whether a name may resolve to an address. A name of this computer may resolve only to this
/// computer, whatever address a resolver returns. A name of a cloud's metadata service may not
/// resolve at all.
pub fn can_resolve_to(name: &str, ip: IpAddr) -> bool {
    !is_metadata(name) && (!is_localhost(name) || ip.is_loopback())
}

/// Names of the metadata services from which machines in a cloud get their own keys.
const METADATA_NAMES: [&str; 8] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.azure.com",
    "metadata.tencentyun.com",
    "instance-data",
    "instance-data.ec2.internal",
];

fn is_metadata(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    METADATA_NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether an address may be connected to. `private` also allows this computer and the local
/// network.
pub fn may_reach(ip: IpAddr, private: bool) -> bool {
    match unwrap_embedded_v4(ip) {
        IpAddr::V4(v4) => !is_forbidden_v4(v4) && (private || !is_private(ip)),
        IpAddr::V6(v6) => !is_forbidden_v6(v6) && (private || !is_private(ip)),
    }
}

/// Whether an address is on this computer, in the local network or in a carrier's internal network.
pub fn is_private(ip: IpAddr) -> bool {
    match unwrap_embedded_v4(ip) {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            let shared = a == 100 && (64..128).contains(&b);
            let protocol = a == 192 && b == 0 && c == 0;
            let measured = a == 198 && (b == 18 || b == 19);
            v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || shared
                || protocol
                || measured
        }
        IpAddr::V6(v6) => {
            let first = v6.segments()[0];
            let unique_local = first & 0xfe00 == 0xfc00;
            let link_local = first & 0xffc0 == 0xfe80;
            let site_local = first & 0xffc0 == 0xfec0;
            v6.is_loopback() || unique_local || link_local || site_local
        }
    }
}

/// Whether a connection to an address is never allowed. Forbidden addresses are unspecified (which
/// means this computer), broadcast, multicast, reserved, or belong to a metadata service that gives
/// out keys: the whole link-local network, which most clouds use, and the addresses of Alibaba,
/// Oracle and Azure.
fn is_forbidden_v4(v4: Ipv4Addr) -> bool {
    const METADATA: [[u8; 4]; 3] = [[100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16]];
    let [first, ..] = v4.octets();
    first == 0
        || v4.is_broadcast()
        || v4.is_multicast()
        || first >= 240
        || v4.is_link_local()
        || METADATA.contains(&v4.octets())
}

fn is_forbidden_v6(v6: Ipv6Addr) -> bool {
    let [first, second, ..] = v6.segments();
    // Metadata services of Amazon, Google and Oracle.
    let metadata = matches!((first, second), (0xfd00, 0xec2 | 0xc1) | (0xfd20, 0xce));
    let link_local = first & 0xffc0 == 0xfe80;
    // A Teredo address contains another address in a form that cannot be checked here.
    v6.is_unspecified()
        || v6.is_multicast()
        || (first == 0x2001 && second == 0)
        || link_local
        || metadata
}

/// Returns the IPv4 address that an IPv6 address embeds, because a connection reaches that address.
fn unwrap_embedded_v4(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    let s = v6.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] => embedded(high, low),
        // IPv4-compatible addresses, except `::` and `::1`.
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 || low > 1 => embedded(high, low),
        [0x64, 0xff9b, 0 | 1, 0, 0, 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        _ => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_recognised_in_every_notation() {
        let private = [
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "198.18.0.1",
            "192.0.0.8",
            "::1",
            "fc00::1",
            "fd12::1",
            "fec0::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
        ];
        for text in private {
            let ip: IpAddr = text.parse().unwrap();
            assert!(is_private(ip) && !may_reach(ip, false) && may_reach(ip, true), "{text}");
        }
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "255.255.255.255",
            "224.0.0.1",
            "240.0.0.1",
            "::",
            "ff02::1",
            "2001:0:1::1",
            "::ffff:0.0.0.0",
            "64:ff9b::e000:1",
        ] {
            let ip: IpAddr = text.parse().unwrap();
            assert!(!may_reach(ip, false) && !may_reach(ip, true), "{text}");
        }
        for text in ["169.254.1.1", "fe80::1", "febf::1"] {
            let ip: IpAddr = text.parse().unwrap();
            assert!(is_private(ip) && !may_reach(ip, false) && !may_reach(ip, true), "{text}");
        }
        for text in [
            "93.184.216.34",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1",
            "64:ff9b::808:808",
            "::ffff:8.8.8.8",
        ] {
            let ip: IpAddr = text.parse().unwrap();
            assert!(may_reach(ip, false), "{text}");
        }
    }

    #[test]
    fn addresses_of_metadata_services_are_blocked_in_every_notation() {
        for text in [
            "http://169.254.169.254/latest/meta-data",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://0251.0376.0251.0376/",
            "http://169.254.43518/",
            "http://169.254.170.2/",
            "http://100.100.100.200/",
            "http://168.63.129.16/",
            "http://192.0.0.192/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[::a9fe:a9fe]/",
            "http://[64:ff9b::169.254.169.254]/",
            "http://[64:ff9b:1::a9fe:a9fe]/",
            "http://[::ffff:0:169.254.169.254]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[fd00:ec2::254]/",
            "http://[fd00:0ec2:0:0:0:0:0:23]/",
            "http://[fd20:ce::254]/",
            "http://[fd00:c1::a9fe:a9fe]/",
            "http://[fe80::a9fe:a9fe]/",
        ] {
            let ip: IpAddr = Url::parse(text)
                .unwrap()
                .host_str()
                .unwrap()
                .trim_matches(['[', ']'])
                .parse()
                .unwrap();
            assert!(!may_reach(ip, true) && !may_reach(ip, false), "{text}");
        }
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        for name in [
            "metadata.google.internal",
            "METADATA.Google.Internal.",
            "metadata",
            "instance-data.ec2.internal",
            "metadata.goog",
        ] {
            let url = Url::parse(&format!("http://{name}/")).unwrap();
            assert!(
                !can_resolve_to(url.host_str().unwrap(), here) && !can_resolve_to(name, here),
                "{name}"
            );
        }
        assert!(
            can_resolve_to("metadata.example.com", here)
                && may_reach("100.100.100.100".parse().unwrap(), true)
        );
    }

    #[test]
    fn an_origin_is_scheme_host_and_port_of_the_parsed_address() {
        let table = [
            ("https://api.openai.com/v1", Some("https://api.openai.com")),
            ("HTTPS://API.OpenAI.com:443/v1", Some("https://api.openai.com")),
            ("https:api.openai.com", Some("https://api.openai.com")),
            ("https:/api.openai.com/v1", Some("https://api.openai.com")),
            ("https:\\\\api.openai.com\\v1", Some("https://api.openai.com")),
            ("ht\ttps://api.open\nai.com/v1", Some("https://api.openai.com")),
            ("http:127.0.0.1:9/x://api.openai.com/v1", Some("http://127.0.0.1:9")),
            ("http://evil.example/#://api.openai.com/v1", Some("http://evil.example")),
            ("http://evil.example\\@api.openai.com/v1", Some("http://evil.example")),
            ("http://0x7f.1:80/", Some("http://127.0.0.1")),
            ("http://017700000001/", Some("http://127.0.0.1")),
            ("http://2130706433:8080/", Some("http://127.0.0.1:8080")),
            ("http://[0:0:0:0:0:0:0:1]:1/", Some("http://[::1]:1")),
            ("https://xn--bcher-kva.example", Some("https://xn--bcher-kva.example")),
            ("https://b\u{fc}cher.example", Some("https://xn--bcher-kva.example")),
            ("https://api%2Eopenai.com", Some("https://api.openai.com")),
            ("https://api.openai.com./v1", Some("https://api.openai.com.")),
            ("https://me:word@api.openai.com", None),
            ("https://me@api.openai.com", None),
            ("ftp://api.openai.com", None),
            ("api.openai.com", None),
            ("", None),
        ];
        for (text, origin) in table {
            assert_eq!(
                Origin::parse(text).map(|origin| origin.to_string()).as_deref(),
                origin,
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_key_may_be_sent_only_over_https_or_to_this_computer() {
        for text in [
            "https://api.example.com",
            "http://127.0.0.1:1",
            "http://127.9.9.9",
            "http://[::1]",
            "http://localhost:11434",
            "http://LOCALHOST",
            "http://a.localhost",
        ] {
            assert!(Origin::parse(text).unwrap().may_carry_key(), "{text}");
        }
        for text in [
            "http://api.example.com",
            "http://10.0.0.1",
            "http://localhost.example.com",
            "http://localhost.",
            "http://notlocalhost",
            "http://[::ffff:127.0.0.1]",
            "http://0.0.0.0",
        ] {
            assert!(!Origin::parse(text).unwrap().may_carry_key(), "{text}");
        }
        let (here, elsewhere) = ("127.0.0.1".parse().unwrap(), "203.0.113.9".parse().unwrap());
        assert!(
            can_resolve_to("localhost", here)
                && !can_resolve_to("LocalHost", elsewhere)
                && !can_resolve_to("a.localhost", elsewhere)
        );
        assert!(can_resolve_to("example.com", elsewhere) && !is_localhost(".localhost"));
    }

    #[test]
    fn legacy_server_names_match_only_their_unambiguous_origin() {
        let counts =
            |origin: &str, name: &str| Origin::parse(origin).unwrap().had_legacy_name(name);
        for (origin, name) in [
            ("https://api.openai.com", "api.openai.com"),
            ("https://api.openai.com", "api.openai.com:443"),
            ("https://api.example.com:8443", "api.example.com:8443"),
            ("http://127.0.0.1:11434", "127.0.0.1:11434"),
            ("http://localhost:1234", "localhost:1234"),
            ("https://xn--bcher-kva.example", "b\u{fc}cher.example"),
        ] {
            assert!(counts(origin, name), "{origin} {name}");
        }
        for (origin, name) in [
            ("http://api.openai.com", "api.openai.com"),
            ("http://gpu.lan:8000", "gpu.lan:8000"),
            ("http://localhost", "localhost"),
            ("http://127.0.0.1:443", "127.0.0.1"),
            ("https://api.openai.com:8443", "api.openai.com"),
            ("https://api.openai.com", "me@api.openai.com"),
            ("https://api.openai.com", "evil.example"),
            ("https://api.openai.com", ""),
            ("https://api.openai.com", "https:api.openai.com"),
        ] {
            assert!(!counts(origin, name), "{origin} {name}");
        }
    }
}
