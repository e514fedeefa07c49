//! Reaches a server by its address. The rules check the resolved IP address, not the name. A
//! redirect must stay on the server. A server outside of this computer and the local network is
//! reached through the system's proxy, like models; a name that resolves to this computer or the
//! local network is never requested through the proxy. Each server gets only its own credentials.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};

use contract::{
    AgentError, Text,
    address::{Origin, can_resolve_to, is_localhost, may_reach},
    manifest::{Auth, AuthKind},
    text,
};
use http::{HeaderName, HeaderValue};
use reqwest::{
    Client,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::{ExposeSecret as _, SecretString};
use trust::CertificateFault;
use url::{Host, Url, form_urlencoded::byte_serialize};

use crate::{Address, Word, tokens::tokens_in, transport::LONGEST_LINE};

const HOPS: usize = 5;

/// The address is private, and the pack may not reach private addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address lies on this computer or in the local network")]
pub(crate) struct PrivateAddress;

struct Guarded {
    private: bool,
    /// The host names of proxies, which may be in the local network.
    proxies: Vec<String>,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let (private, is_proxy) = (self.private, self.proxies.iter().any(|of| of == name.as_str()));
        Box::pin(async move {
            let found: Vec<IpAddr> = tokio::net::lookup_host((name.as_str(), 0))
                .await?
                .map(|address| address.ip())
                .collect();
            // The proxy decides where a request goes, and the proxy's own address says nothing
            // about that.
            if is_proxy {
                return Ok(Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs);
            }
            let allowed: Vec<SocketAddr> = found
                .iter()
                // The addresses are checked at each resolution, because a name may resolve to
                // another address the next time.
                .filter(|ip| may_reach(**ip, private) && can_resolve_to(name.as_str(), **ip))
                .map(|ip| SocketAddr::new(*ip, 0))
                .collect();
            if allowed.is_empty() {
                return Err(if found.is_empty() {
                    io::Error::from(io::ErrorKind::NotFound).into()
                } else {
                    PrivateAddress.into()
                });
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Creates a client that reaches only allowed addresses, without a proxy. Redirects within the
/// server are followed if `redirects` is true.
pub(crate) fn client(private: bool, redirects: bool) -> Result<Client, Text> {
    build(Guarded { private, proxies: Vec::new() }, redirects, reqwest::ClientBuilder::no_proxy)
}

fn build(
    resolver: Guarded,
    redirects: bool,
    routed: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
) -> Result<Client, Text> {
    const NO_TLS: &str =
        "No encrypted connection can be made on this machine. Install the package ca-certificates.";
    files::check_certificates()
        .map_err(|why| text!("No encrypted connection can be made: {why}.", why))?;
    let within = redirect::Policy::custom(|attempt| {
        let same =
            attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
        // A redirect to another server is not followed, because the request would carry this
        // server's key.
        if !same || attempt.previous().len() > HOPS { attempt.stop() } else { attempt.follow() }
    });
    let builder = Client::builder()
        .tls_backend_preconfigured(trust::client_config().map_err(|_| NO_TLS)?)
        .redirect(if redirects { within } else { redirect::Policy::none() })
        // The address may contain a key, which the next server must not read.
        .referer(false)
        .user_agent(concat!("Countersign/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(Arc::new(resolver));
    routed(builder).build().map_err(|_| NO_TLS.into())
}

/// The clients of a server: one client without a proxy, and one with the system's proxy, if there
/// is one.
pub(crate) struct Clients {
    private: bool,
    direct: Client,
    outward: Option<Client>,
}

impl Clients {
    pub(crate) fn new(private: bool, redirects: bool) -> Result<Self, Text> {
        let proxies = proxies(|name| std::env::var(name).ok());
        let outward = (!proxies.is_empty())
            .then(|| build(Guarded { private, proxies }, redirects, |builder| builder))
            .transpose()?;
        Ok(Self { private, direct: client(private, redirects)?, outward })
    }

    /// Returns the client for a URL. A proxy resolves names itself, so the name is looked up here
    /// first. If the name resolves to this computer or the local network, it is reached without the
    /// proxy, if at all. If only the proxy can resolve the name, the proxy is used.
    pub(crate) async fn of(&self, url: &Url) -> Result<&Client, Text> {
        let Some(outward) = &self.outward else { return Ok(&self.direct) };
        let inside = |ip: &IpAddr| !may_reach(*ip, false);
        let is_inside = match url.host() {
            Some(Host::Ipv4(ip)) => inside(&ip.into()),
            Some(Host::Ipv6(ip)) => inside(&ip.into()),
            Some(Host::Domain(name)) => {
                let found = tokio::net::lookup_host((name, 0)).await;
                // A name that must not be resolved here must not be resolved by a proxy either.
                is_localhost(name)
                    || !can_resolve_to(name, Ipv4Addr::LOCALHOST.into())
                    || found.is_ok_and(|mut all| all.any(|at| inside(&at.ip())))
            }
            None => true,
        };
        match (is_inside, self.private) {
            (false, _) => Ok(outward),
            (true, true) => Ok(&self.direct),
            (true, false) => Err(refusal_text(url.host_str().unwrap_or_default())),
        }
    }
}

/// Returns the client for the server's address.
pub(crate) async fn client_for(address: &Address) -> Result<Client, Text> {
    let clients = Clients::new(address.may_reach_private(), true)?;
    clients.of(&address.url()?).await.cloned()
}

/// Returns the hosts of the proxies that are set in the environment.
fn proxies(get: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let names = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"];
    let names = names.iter().flat_map(|name| [(*name).to_owned(), name.to_ascii_lowercase()]);
    let values = names.filter_map(|name| get(&name)).filter(|value| !value.trim().is_empty());
    values
        .map(|value| {
            // Proxies are often given without a scheme.
            let whole = if value.contains("://") { value } else { format!("http://{value}") };
            let host =
                Url::parse(whole.trim()).ok().and_then(|url| url.host_str().map(str::to_owned));
            host.unwrap_or_default()
        })
        .collect()
}

/// The reason why a request did not reach a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    Certificate(CertificateFault),
    Tls(String),
    Name,
    Proxy,
    ProxySignIn,
    NoConnection,
}

impl Obstacle {
    /// Returns the obstacle that prevented a request from being sent, or None if the request was
    /// sent.
    pub(crate) fn of(error: &reqwest::Error) -> Option<Self> {
        if let Some(fault) = trust::certificate_fault(error) {
            return Some(Self::Certificate(fault));
        }
        if !error.is_connect() {
            return None;
        }
        Some(match trust::tls_problem(error) {
            Some(why) => Self::Tls(why),
            None if error.is_dns() => Self::Name,
            None if trust::is_proxy_problem(error) => Self::Proxy,
            None => Self::NoConnection,
        })
    }

    /// Returns the sentence for a person.
    pub(crate) fn text(&self, host: &str) -> Text {
        match self {
            Self::Certificate(CertificateFault::Issuer(issuer)) => text!(
                "The certificate of {host} was issued by {issuer}, which this machine does not trust. On a company network, install its root certificate, or name it in SSL_CERT_FILE.",
                host,
                issuer
            ),
            Self::Certificate(CertificateFault::Expired) => text!(
                "The certificate of {host} has expired. Check this machine's clock; otherwise the server must renew it.",
                host
            ),
            Self::Certificate(CertificateFault::NotYetValid) => text!(
                "The certificate of {host} is not valid yet. Check this machine's clock.",
                host
            ),
            Self::Certificate(CertificateFault::OtherName) => text!(
                "The certificate belongs to another server than {host}. Check the address.",
                host
            ),
            Self::Certificate(CertificateFault::Authority) => text!(
                "The certificate of {host} is that of an authority (CA:TRUE) and not of a server. Make one for the server, signed by that authority.",
                host
            ),
            Self::Certificate(CertificateFault::Other) => text!(
                "The certificate of {host} cannot be verified. Check the address and the system's certificates.",
                host
            ),
            Self::Tls(why) => text!("No encrypted connection to {host}: {why}.", host, why),
            Self::Name => text!(
                "The name {host} cannot be resolved. Check the address, and whether a proxy is needed (HTTPS_PROXY).",
                host
            ),
            Self::Proxy => text!(
                "The proxy before {host} could not be reached or refused the connection. Check HTTPS_PROXY and NO_PROXY.",
                host
            ),
            Self::ProxySignIn => text!(
                "The proxy before {host} asks for a name and password. Put them into its address (HTTPS_PROXY).",
                host
            ),
            Self::NoConnection => {
                text!("{host} cannot be reached. Check the connection and the address.", host)
            }
        }
    }
}

/// Checks a URL before it is resolved. The resolver later checks the addresses of names.
pub(crate) fn check(url: &Url, private: bool) -> Result<(), Text> {
    let host = url.host_str().unwrap_or("that address");
    if !url.username().is_empty() || url.password().is_some() {
        return Err(text!(
            "The address of {host} holds a name or a password. Take them out of it.",
            host
        ));
    }
    let ip = match url.host() {
        Some(Host::Ipv4(ip)) => Some(ip.into()),
        Some(Host::Ipv6(ip)) => Some(ip.into()),
        Some(Host::Domain(_)) | None => None,
    };
    if !matches!(url.scheme(), "https" | "http") || ip.is_some_and(|ip| !may_reach(ip, true)) {
        return Err(text!(
            "No server can be reached at {host}. Enter its own address, such as https://mcp.example.com/mcp.",
            host
        ));
    }
    let open = url.scheme() == "https" && ip.is_none_or(|ip| may_reach(ip, false));
    if open || private { Ok(()) } else { Err(refusal_text(host)) }
}

/// Checks whether keys and tokens may be sent to a URL: only encrypted, or within this computer.
pub(crate) fn check_key(url: &Url) -> Result<(), Text> {
    if Origin::of(url).is_some_and(|server| server.may_carry_key()) {
        return Ok(());
    }
    let host = url.host_str().unwrap_or("that address");
    Err(text!(
        "The key is not sent to {host}, because the connection would not be encrypted. Use an address that begins with https://; without encryption a key goes only to this computer.",
        host
    ))
}

/// Returns the message that says why an address is not allowed.
pub(crate) fn refusal_text(host: &str) -> Text {
    text!(
        "{host} lies on this computer or in the local network, or is reached without encryption. If you trust the pack and it declares that it needs this, allow it in Settings under \u{201c}Keys and access of packs\u{201d}.",
        host
    )
}

impl Address {
    /// Whether the server may be on this computer or in the local network: the pack must declare
    /// this and the user must allow it.
    pub(crate) fn may_reach_private(&self) -> bool {
        self.http.private_network && self.access.private_network()
    }

    /// Whether requests to the server carry a key or a token.
    fn has_credentials(&self) -> bool {
        let by_auth = self.http.auth.as_ref().is_some_and(|auth| auth.kind != AuthKind::None);
        let in_url = self.keyed_url.as_ref().is_some_and(|url| url.keys().next().is_some());
        let by_name = !self.http.headers.is_empty() || in_url;
        by_auth || by_name || self.http.oauth.is_some()
    }

    pub(crate) fn url(&self) -> Result<Url, Text> {
        let url = Url::parse(&self.http.url)
            .map_err(|_| text!("{address} is not a web address.", address = self.http.url))?;
        check(&url, self.may_reach_private())?;
        Ok(url)
    }

    /// Returns the values of all keys and tokens for this server, so that they can be removed from
    /// its messages.
    pub(crate) async fn read_secrets(&self) -> Vec<SecretString> {
        let by_auth = self.http.auth.as_ref().and_then(|auth| auth.env_var.as_deref());
        let in_url = self.keyed_url.iter().flat_map(Word::keys);
        let in_headers = self.http.headers.values().map(String::as_str);
        let mut found = Vec::new();
        for name in by_auth.into_iter().chain(in_url).chain(in_headers) {
            found.extend(self.access.credential(name).await.ok());
        }
        if self.http.oauth.is_some()
            && let Ok(Some(tokens)) = self.access.tokens().await
        {
            found.extend(tokens_in(&tokens));
        }
        found
    }

    /// Inserts the values of the keys into the address. The keys cannot change the server's host.
    async fn fill_url(&self, keyed: &Word, plain: &Url) -> Result<Url, AgentError> {
        let mut values = HashMap::new();
        for name in keyed.keys() {
            let value = self.access.credential(name).await?;
            let encoded: String = byte_serialize(value.expose_secret().as_bytes()).collect();
            // A plus sign means a space in parameters only.
            values.insert(name, encoded.replace('+', "%20"));
        }
        let filled = keyed.write(|name| values.get(name).cloned().unwrap_or_default());
        let url = Url::parse(&filled).ok().filter(|url| url.origin() == plain.origin());
        url.ok_or_else(|| {
            AgentError::internal(
                "tool_config_error",
                "The key does not fit into the address of the server.",
            )
        })
    }

    /// Returns the address and headers of a connection. Credentials are read now and kept for this
    /// connection only.
    pub(crate) async fn transport_config(
        &self,
    ) -> Result<StreamableHttpClientTransportConfig, AgentError> {
        let mut url = self.url().map_err(|why| AgentError::internal("private_address", why))?;
        if self.has_credentials() {
            check_key(&url).map_err(|why| AgentError::internal("key_in_plain_text", why))?;
        }
        if let Some(keyed) = &self.keyed_url {
            url = self.fill_url(keyed, &url).await?;
        }
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
            .reinit_on_expired_session(true);
        config.max_sse_event_size = LONGEST_LINE;
        let mut headers = HashMap::new();
        for (name, credential) in &self.http.headers {
            headers
                .insert(header_name(name)?, value(&self.access.credential(credential).await?, "")?);
        }
        match self.http.auth.as_ref() {
            Some(Auth {
                kind: AuthKind::BearerToken, env_var: Some(name), header: None, ..
            }) => {
                config = config.auth_header(self.access.credential(name).await?.expose_secret());
            }
            Some(Auth {
                kind: AuthKind::BearerToken,
                env_var: Some(name),
                header: Some(header),
                ..
            }) => {
                headers.insert(
                    header_name(header)?,
                    value(&self.access.credential(name).await?, "Bearer ")?,
                );
            }
            Some(Auth { kind: AuthKind::ApiKey, env_var: Some(name), header, .. }) => {
                headers.insert(
                    header_name(header.as_deref().unwrap_or("X-API-Key"))?,
                    value(&self.access.credential(name).await?, "")?,
                );
            }
            // Tokens are added later to each request.
            Some(Auth {
                kind:
                    AuthKind::Oauth2
                    | AuthKind::Mtls
                    | AuthKind::None
                    | AuthKind::BearerToken
                    | AuthKind::ApiKey,
                ..
            })
            | None => {}
        }
        Ok(config.custom_headers(headers))
    }
}

fn header_name(name: &str) -> Result<HeaderName, AgentError> {
    HeaderName::try_from(name).map_err(|_| {
        AgentError::internal(
            "tool_config_error",
            text!("{name} is not the name of a header.", name),
        )
    })
}

fn value(secret: &SecretString, scheme: &str) -> Result<HeaderValue, AgentError> {
    let mut value =
        HeaderValue::from_str(&format!("{scheme}{}", secret.expose_secret())).map_err(|_| {
            AgentError::internal(
                "tool_config_error",
                "The stored key holds characters that no header can carry.",
            )
            .hint("Enter it again in Settings, without line breaks.")
        })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_from_the_environment() {
        let of = |name: &str, value: &str| {
            let (name, value) = (name.to_owned(), value.to_owned());
            proxies(move |asked| (asked == name).then(|| value.clone()))
        };
        assert_eq!(of("HTTPS_PROXY", "http://user:word@proxy.corp:3128"), ["proxy.corp"]);
        assert_eq!(of("http_proxy", "proxy:3128"), ["proxy"]);
        assert_eq!(of("all_proxy", "socks5h://10.0.0.1:1080"), ["10.0.0.1"]);
        assert!(of("HTTPS_PROXY", " ").is_empty() && of("NO_PROXY", "a").is_empty());
    }

    #[tokio::test]
    async fn a_request_to_a_forbidden_address_is_not_sent_through_a_proxy() {
        let clients = |private| Clients {
            private,
            direct: client(private, false).unwrap(),
            outward: Some(Client::new()),
        };
        let is_outward = async |private, url: &str| {
            let clients = clients(private);
            let found = clients.of(&Url::parse(url).unwrap()).await;
            found.map(|found| std::ptr::eq(found, clients.outward.as_ref().unwrap()))
        };
        for url in
            ["http://localhost/", "https://127.0.0.1/", "https://10.0.0.7/", "https://[::1]/"]
        {
            assert!(is_outward(false, url).await.is_err(), "{url}");
            assert_eq!(is_outward(true, url).await, Ok(false), "{url}");
        }
        assert!(is_outward(false, "https://metadata.google.internal/").await.is_err());
        for private in [false, true] {
            assert_eq!(is_outward(private, "https://8.8.8.8/").await, Ok(true));
            assert_eq!(is_outward(private, "https://mcp.invalid/").await, Ok(true));
        }
    }

    #[test]
    fn private_addresses_of_servers_need_permission() {
        let open = |text: &str| check(&Url::parse(text).unwrap(), false).is_ok();
        let private = |text: &str| check(&Url::parse(text).unwrap(), true).is_ok();
        for text in ["https://mcp.example.com/mcp", "https://8.8.8.8/mcp"] {
            assert!(open(text) && private(text), "{text}");
        }
        for text in [
            "http://mcp.example.com/mcp",
            "http://127.0.0.1:3000/mcp",
            "https://127.0.0.1/mcp",
            "https://[::1]/",
            "http://10.0.0.7/",
        ] {
            assert!(!open(text) && private(text), "{text}");
        }
        let never = [
            ("https://0.0.0.0/", "No server can be reached"),
            ("ftp://mcp.example.com/", "No server can be reached"),
            ("https://224.0.0.1/", "No server can be reached"),
            ("https://user:word@mcp.example.com/", "holds a name or a password"),
            ("https://user@127.0.0.1/", "holds a name or a password"),
        ];
        for (text, why) in never {
            for private in [false, true] {
                let said = check(&Url::parse(text).unwrap(), private).unwrap_err();
                assert!(
                    said.contains(why) && !said.contains("user") && !said.contains("word@"),
                    "{text}: {said}"
                );
            }
        }
    }
}
