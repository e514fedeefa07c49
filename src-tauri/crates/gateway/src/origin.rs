//! Where a request comes from: the name it was sent to, the page it was sent from, the address of who asks.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

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
    if here.is_loopback() {
        return name == "localhost" || address.is_some_and(|ip| ip.to_canonical().is_loopback());
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
    let said = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()?.split(',').next()?.trim().parse::<IpAddr>().ok());
    let found = said(HeaderName::from_static("x-forwarded-for")).or_else(|| said(HeaderName::from_static("x-real-ip")));
    found.map_or(peer, |ip| ip.to_canonical())
}

/// Whether something forwarded the request for somebody else.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    ["x-forwarded-for", "x-real-ip", "forwarded", "via"].iter().any(|name| headers.contains_key(*name))
}
