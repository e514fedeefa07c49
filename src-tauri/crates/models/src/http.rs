//! The transport of all wires: connections, trust, retries, the idle timer, and error messages. The
//! module does not know the contents of requests and answers.

mod between;
pub(crate) mod call;
mod check;
pub(crate) mod failure;
mod foreign;
mod known;
pub(crate) mod once;
mod reading;
mod refusal;
mod retry;
mod server_message;

use std::collections::HashMap;

use parking_lot::Mutex;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use contract::Text;
use contract::address::{Origin, can_resolve_to, is_private};
use engine::ports::{ModelError, ToolsRefused};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Host;

pub use check::{ConnectionCheck, Diagnosis};
pub(crate) use check::{check_connection as check, list_models};

use crate::wire::{Leaves, Part};

/// The maximum time for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a part of requests is omitted after a server refused it. The server may have changed
/// after this time.
const PLAIN_PERIOD: TimeDelta = TimeDelta::hours(1);
/// How long a model counts as a model without tools.
const NO_TOOLS_PERIOD: TimeDelta = TimeDelta::hours(24);

/// The shared HTTP clients, which own the connection pools. The type is opaque, so that a host can
/// keep the clients without naming the library.
#[derive(Clone, Debug)]
pub struct HttpClient {
    /// The client for requests through the system's proxy, if there is one.
    outward: reqwest::Client,
    /// The client for requests to this computer, without a proxy.
    pub(crate) here: reqwest::Client,
    plainly: PlainRequests,
}

/// Which servers refused a part of a request and answered without that part. For a while, the part
/// is not sent to these servers. Shared by all calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainRequests(Arc<Mutex<Learned>>);

/// The refusals by server and part.
type Learned = HashMap<(String, Part), Refused>;

/// When a part was refused, and the server's error text.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) at: DateTime<Utc>,
    pub(crate) said: Option<Text>,
}

impl PlainRequests {
    /// Returns the parts that are omitted now. `by` identifies server, model and kind of request.
    pub(crate) fn refused_by(&self, by: &str, now: DateTime<Utc>) -> Leaves {
        let is_left_out = |part: &Part| self.refusal(by, *part, now).is_some();
        Part::ALL.into_iter().filter(is_left_out).fold(Leaves::default(), Leaves::with)
    }

    /// Returns the latest refusal of tools, if it has not expired.
    pub(crate) fn tools_refused(&self, by: &str, now: DateTime<Utc>) -> Option<ToolsRefused> {
        let Refused { at, said } = self.refusal(by, Part::Tools, now)?;
        Some(ToolsRefused { at, said })
    }

    fn refusal(&self, by: &str, part: Part, now: DateTime<Utc>) -> Option<Refused> {
        let period = if part == Part::Tools { NO_TOOLS_PERIOD } else { PLAIN_PERIOD };
        let learned = self.0.lock();
        let refused = learned.get(&(by.to_owned(), part))?;
        (TimeDelta::zero()..period).contains(&(now - refused.at)).then(|| refused.clone())
    }

    /// Takes over a refusal that another process recorded.
    fn take_over(&self, by: String, part: Part, at: DateTime<Utc>) {
        let mut learned = self.0.lock();
        let known = learned.entry((by, part)).or_insert(Refused { at, said: None });
        known.at = at.max(known.at);
    }

    pub(crate) fn remember_refusal(&self, by: String, part: Part, refused: Refused) {
        tracing::info!(by, ?part, "a model's server refuses a part: it is left out for a while");
        self.0.lock().insert((by, part), refused);
    }
}

/// Returns the identity of server, model and kind of request. The kind matters, because a server
/// may refuse a schema and accept everything else.
pub(crate) fn request_kind(maker: &str, is_structured: bool) -> String {
    format!("{maker} {is_structured}")
}

/// Creates the clients. The clients follow no redirects, so that the key and the conversation are
/// sent to no other server, and they trust the system's certificates. Creating the clients reads no
/// file.
pub fn http_client() -> Result<HttpClient, ModelError> {
    let tls = trust::client_config().map_err(|_| failure::no_tls())?;
    let builder = || {
        reqwest::Client::builder()
            .tls_backend_preconfigured(tls.clone())
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .tcp_nodelay(true)
    };
    let outward = builder().build().map_err(|_| failure::no_tls())?;
    let here = builder()
        .no_proxy()
        .dns_resolver(Arc::new(ThisComputer))
        .build()
        .map_err(|_| failure::no_tls())?;
    Ok(HttpClient { outward, here, plainly: PlainRequests::default() })
}

/// Resolves the names of this computer to this computer, whatever the system's resolver returns,
/// because keys are sent to these names without encryption.
struct ThisComputer;

impl Resolve for ThisComputer {
    fn resolve(&self, name: Name) -> Resolving {
        let both = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].into_iter();
        let found: Vec<SocketAddr> = both
            .filter(|ip| can_resolve_to(name.as_str(), *ip))
            .map(|ip| SocketAddr::new(ip, 0))
            .collect();
        Box::pin(async move { Ok(Box::new(found.into_iter()) as Addrs) })
    }
}

impl HttpClient {
    pub(crate) fn client_for(&self, url: &Url) -> reqwest::Client {
        if is_loopback(url) { self.here.clone() } else { self.outward.clone() }
    }

    pub(crate) fn tools_refused(&self, maker: &str, now: DateTime<Utc>) -> Option<ToolsRefused> {
        self.plainly.tools_refused(&request_kind(maker, false), now)
    }

    pub(crate) fn note_refused_tools(&self, maker: &str, at: DateTime<Utc>) {
        self.plainly.take_over(request_kind(maker, false), Part::Tools, at);
    }

    /// Forgets the refusals of servers, so that the next request is complete again.
    pub fn forget_refusals(&self) {
        self.plainly.0.lock().clear();
    }

    pub(crate) fn plain_requests(&self) -> PlainRequests {
        self.plainly.clone()
    }
}

/// Parses an address, and removes the parts that people often paste along with the address.
pub(crate) fn parse_base_url(text: &str) -> Result<Url, ModelError> {
    const ENDPOINTS: [&str; 4] = ["/chat/completions", "/completions", "/responses", "/messages"];
    let text = text.trim().trim_end_matches('/');
    let text = ENDPOINTS.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    let url = Url::parse(text).map_err(|_| failure::bad_address())?;
    if Origin::of(&url).is_some() { Ok(url) } else { Err(failure::bad_address()) }
}

/// Returns the origin of an address as entered by people, which is the server that requests reach
/// and that a key belongs to.
pub fn origin_of(text: &str) -> Option<Origin> {
    Origin::of(&parse_base_url(text).ok()?)
}

/// Whether an address, as entered by people, is on this computer.
pub fn is_loopback_address(text: &str) -> bool {
    parse_base_url(text).is_ok_and(|url| is_loopback(&url))
}

/// Whether an address, as entered by people, is on this computer or in the local network.
pub fn is_nearby_address(text: &str) -> bool {
    const ENDINGS: [&str; 4] = [".local", ".lan", ".internal", ".home.arpa"];
    let Ok(url) = parse_base_url(text) else { return false };
    let is_near = match url.host() {
        // Servers print the unspecified address when they start. The address leads to this
        // computer.
        Some(Host::Ipv4(ip)) => is_private(ip.into()) || ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => is_private(ip.into()) || ip.is_unspecified(),
        Some(Host::Domain(name)) => {
            !name.contains('.') || ENDINGS.iter().any(|ending| name.ends_with(ending))
        }
        None => false,
    };
    is_near || is_loopback(&url)
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    Origin::of(url).is_some_and(|origin| origin.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_server_addresses_are_reduced_to_the_base_url() {
        for text in [
            "http://127.0.0.1:8080/v1",
            "http://127.0.0.1:8080/v1/",
            " http://127.0.0.1:8080/v1/chat/completions ",
            "http://127.0.0.1:8080/v1/messages",
            "http://127.0.0.1:8080/v1/completions",
        ] {
            assert_eq!(
                parse_base_url(text).unwrap().as_str(),
                "http://127.0.0.1:8080/v1",
                "{text}"
            );
        }
        for text in ["", "api.openai.com", "ftp://x/v1", "https://me:key@host/v1"] {
            assert!(parse_base_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_loopback_addresses_count_as_this_machine() {
        let local = |text: &str| is_loopback(&parse_base_url(text).unwrap());
        assert!(
            local("http://localhost:11434/v1")
                && local("http://127.0.0.2/v1")
                && local("http://[::1]:1/v1")
        );
        assert!(!local("https://api.openai.com/v1") && !local("http://localhost.example.com/v1"));
        assert!(
            is_nearby_address("http://0.0.0.0:1234/v1") && is_nearby_address("http://nas:1/v1")
        );
        assert!(!is_nearby_address("https://api.openai.com/v1"));
    }
}
