//! Executes one HTTP call of a tool. The target is checked before every hop, the answer is limited
//! in size and parsed as the manifest says, and every failure gets an error code. The engine
//! handles retries, time limits and schemas.

use std::sync::{Arc, OnceLock};

use contract::{
    AgentError, ErrorCode, Reason, ToolSpec,
    address::{Origin, may_reach},
    json_text,
    manifest::{Answer, AuthKind, HttpCall, HttpMethod},
    text,
};
use engine::ports::{ToolFailure, ToolRequest};
use reqwest::{
    Client, Method, Response, StatusCode,
    header::{self, HeaderName, HeaderValue},
    redirect,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use super::{
    address::{Guarded, Lookup, PrivateAddress, SystemLookup},
    failure::{config, http_error, not_started, possibly_executed_failure},
    request::{self, BuiltRequest, Key},
};

const HOPS: usize = 5;
const DEFAULT_BYTES: u64 = 1024 * 1024;
/// The most characters of an error response that are passed to the model.
const MAX_EXCERPT: usize = 2_000;

/// The permissions and secrets of a call.
#[derive(Clone, Debug, Default)]
pub struct Permit {
    /// Whether the user allows this pack to reach this computer and the local network.
    pub private_network: bool,
    pub secret: Option<SecretString>,
}

/// Sends requests. It has one client for public addresses and one for all addresses; each is
/// created on first use.
pub struct HttpRunner {
    lookup: Arc<dyn Lookup>,
    open: OnceLock<Client>,
    anywhere: OnceLock<Client>,
}

impl Default for HttpRunner {
    fn default() -> Self {
        Self::new(Arc::new(SystemLookup))
    }
}

impl HttpRunner {
    /// Creates a runner that resolves names with `lookup`.
    pub fn new(lookup: Arc<dyn Lookup>) -> Self {
        Self { lookup, open: OnceLock::new(), anywhere: OnceLock::new() }
    }

    /// Runs a single attempt of a call.
    pub async fn run(
        &self,
        call: &HttpCall,
        request: &ToolRequest,
        permit: &Permit,
        cancel: &CancellationToken,
    ) -> Result<Value, ToolFailure> {
        let spec = &request.spec;
        let private = call.private_network && permit.private_network;
        let client = self.client(private).map_err(not_started)?;
        let none = Map::new();
        let key = Key {
            strategy: spec.idempotency,
            place: spec.idempotency_key_ref.as_deref(),
            value: request.idempotency_key.as_deref(),
        };
        let built = request::build(call, request.arguments.as_object().unwrap_or(&none), key)
            .map_err(not_started)?;
        let attempt = Attempt { client, call, spec, private, permit };
        tokio::select! {
            done = attempt.run(built) => done,
            () = cancel.cancelled() => Err(possibly_executed_failure(AgentError::internal("cancelled", text!("{tool} was stopped.", tool = spec.title)))),
        }
    }

    fn client(&self, private: bool) -> Result<&Client, AgentError> {
        let kept = if private { &self.anywhere } else { &self.open };
        if let Some(client) = kept.get() {
            return Ok(client);
        }
        ::files::check_certificates().map_err(super::post::no_certificates)?;
        // A proxy would choose the address, so that it could not be checked.
        let built = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .user_agent(concat!("Countersign/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Arc::new(Guarded { lookup: Arc::clone(&self.lookup), private }))
            .build();
        let client = built.map_err(|_| {
            AgentError::internal("tls", "No encrypted connection can be made on this machine.")
                .hint("Install the package ca-certificates.")
        })?;
        Ok(kept.get_or_init(|| client))
    }
}

struct Attempt<'a> {
    client: &'a Client,
    call: &'a HttpCall,
    spec: &'a ToolSpec,
    private: bool,
    permit: &'a Permit,
}

/// The part of the request that carries the credential.
enum Credential<'a> {
    None,
    Header(HeaderName, HeaderValue),
    Query(&'a str, &'a SecretString),
}

impl Attempt<'_> {
    async fn run(&self, built: BuiltRequest) -> Result<Value, ToolFailure> {
        let origin = built.url.clone();
        let (mut url, mut method, mut body) = (built.url, method(self.call.method), built.body);
        for hop in 0..=HOPS {
            self.check(&url, &origin).map_err(|error| {
                if hop == 0 { not_started(error) } else { possibly_executed_failure(error) }
            })?;
            // A credential is sent only to the server that it belongs to, not to the target of a
            // redirect.
            let credential = if Origin::of(&url) == Origin::of(&origin) {
                self.credential(&url).map_err(not_started)?
            } else {
                Credential::None
            };
            let mut target = url.clone();
            if let Credential::Query(name, secret) = &credential {
                target.query_pairs_mut().append_pair(name, secret.expose_secret());
            }
            let mut sending = self.client.request(method.clone(), target);
            if let Credential::Header(name, value) = credential {
                sending = sending.header(name, value);
            }
            for (name, value) in &built.headers {
                sending = sending.header(name, value);
            }
            if let Some(bytes) = &body {
                sending =
                    sending.header(header::CONTENT_TYPE, "application/json").body(bytes.clone());
            }
            let response = sending
                .header(header::ACCEPT, accept(self.call.response))
                .send()
                .await
                .map_err(|error| self.request_failure(&error))?;
            self.check_peer(&response).map_err(possibly_executed_failure)?;
            match self
                .redirect_target(&response, &url, &method)
                .map_err(possibly_executed_failure)?
            {
                None => return self.read(response).await,
                Some((next, as_get)) => {
                    url = next;
                    if as_get {
                        (method, body) = (Method::GET, None);
                    }
                }
            }
        }
        Err(possibly_executed_failure(
            http_error(text!("{tool} redirects too often.", tool = self.host(&origin)))
                .reason("redirects")
                .retryable(false),
        ))
    }

    /// Checks the URL of a hop.
    fn check(&self, url: &Url, origin: &Url) -> Result<(), AgentError> {
        let host = self.host(url);
        let port = |url: &Url| url.port_or_known_default();
        // The same host on another port is another server, except for the step from http to https.
        let upgraded = (port(origin), port(url)) == (Some(80), Some(443));
        let same = url.host() == origin.host() && (port(url) == port(origin) || upgraded);
        let listed = same || self.call.hosts.iter().any(|allowed| same_host(allowed, url));
        if !listed {
            return Err(http_error(text!(
                "{tool} was redirected to {host}, which this tool may not reach.",
                tool = self.spec.title,
                host
            ))
            .reason("host_not_allowed")
            .retryable(false)
            .hint("If that is right, add the host to `hosts` in the tool's pack.json."));
        }
        let plain_allowed = self.private || url.scheme() == "https";
        if !plain_allowed
            || !matches!(url.scheme(), "https" | "http")
            || !url.username().is_empty()
            || url.password().is_some()
        {
            return Err(self.private_refusal(&host));
        }
        let ip = match url.host() {
            Some(Host::Ipv4(ip)) => Some(ip.into()),
            Some(Host::Ipv6(ip)) => Some(ip.into()),
            Some(Host::Domain(_)) | None => None,
        };
        if ip.is_some_and(|ip| !may_reach(ip, self.private)) {
            return Err(self.private_refusal(&host));
        }
        Ok(())
    }

    /// Checks the actual address of the connection. The resolver already returns only permitted
    /// addresses, so this is a second check.
    fn check_peer(&self, response: &Response) -> Result<(), AgentError> {
        match response.remote_addr() {
            Some(peer) if !may_reach(peer.ip(), self.private) => {
                Err(self.private_refusal(&self.host(response.url())))
            }
            _ => Ok(()),
        }
    }

    fn private_refusal(&self, host: &str) -> AgentError {
        let error =
            http_error(text!("{host} lies on this computer or in the local network, or is reached without encryption; {tool} may not go there.", host, tool = self.spec.title))
                .reason("private_address")
                .retryable(false)
                .with("status", Value::Null);
        if self.call.private_network {
            error.hint("If you trust the pack, allow it in Settings under \u{201c}Keys and access of packs\u{201d}.")
        } else {
            error.hint(
                "The pack does not declare that it needs this; only its author can change that.",
            )
        }
    }

    /// Returns the credential for a URL. Without encryption, only servers on this computer get a
    /// credential.
    fn credential(&self, url: &Url) -> Result<Credential<'_>, AgentError> {
        let (Some(auth), Some(secret)) = (&self.spec.auth, &self.permit.secret) else {
            return Ok(Credential::None);
        };
        if auth.kind != AuthKind::None
            && !Origin::of(url).is_some_and(|server| server.may_carry_key())
        {
            let error = http_error(text!(
                "{title} needs a key, but the connection to {host} would not be encrypted.",
                title = self.spec.title,
                host = self.host(url)
            ));
            return Err(error
                .reason("key_in_plain_text")
                .retryable(false)
                .with("status", Value::Null)
                .hint("Use an address that begins with https://. Without encryption a key goes only to this computer."));
        }
        let (default, value) = match auth.kind {
            AuthKind::None => return Ok(Credential::None),
            AuthKind::BearerToken | AuthKind::Oauth2 | AuthKind::Mtls => {
                ("Authorization", format!("Bearer {}", secret.expose_secret()))
            }
            AuthKind::ApiKey => ("X-API-Key", secret.expose_secret().to_owned()),
        };
        if let (AuthKind::ApiKey, Some(name)) = (auth.kind, &auth.query) {
            return Ok(Credential::Query(name, secret));
        }
        let name = request::header_name(auth.header.as_deref().unwrap_or(default))?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            config(
                "The stored key holds characters that no header can carry.",
                "Enter it again in Settings, without line breaks.",
            )
        })?;
        value.set_sensitive(true);
        Ok(Credential::Header(name, value))
    }

    /// Returns the target of a redirect, and whether it becomes a GET.
    fn redirect_target(
        &self,
        response: &Response,
        from: &Url,
        method: &Method,
    ) -> Result<Option<(Url, bool)>, AgentError> {
        let reads = *method == Method::GET;
        let as_get = match response.status() {
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND if reads => false,
            StatusCode::SEE_OTHER => !reads,
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => false,
            _ => return Ok(None),
        };
        let Some(place) = response.headers().get(header::LOCATION) else { return Ok(None) };
        let next = place.to_str().ok().and_then(|text| from.join(text).ok());
        next.map(|mut url| {
            url.set_fragment(None);
            Some((url, as_get))
        })
        .ok_or_else(|| {
            http_error(text!("{tool} redirects to an invalid address.", tool = self.host(from)))
                .reason("redirects")
                .retryable(false)
        })
    }

    /// Returns the failure of a request without a response. The URL is omitted, because it may
    /// contain a key.
    fn request_failure(&self, error: &reqwest::Error) -> ToolFailure {
        let host = self.host_of_template();
        if caused_by::<PrivateAddress>(error) {
            return not_started(self.private_refusal(&host));
        }
        let (message, certain) = if error.is_connect() {
            (text!("{host} cannot be reached.", host), true)
        } else {
            (text!("{host} did not answer.", host), false)
        };
        let error = http_error(message)
            .retryable(true)
            .with("status", Value::Null)
            .reason("network")
            .hint("Check the connection, then try again.");
        if certain { not_started(error) } else { possibly_executed_failure(error) }
    }

    async fn read(&self, mut response: Response) -> Result<Value, ToolFailure> {
        let status = response.status();
        let host = self.host(response.url());
        let limit = if self.call.max_response_bytes == 0 {
            DEFAULT_BYTES
        } else {
            self.call.max_response_bytes
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (kind, retry_after) = (content_type(&response), retry_after(&response));
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(_) if status.is_success() => {
                    return Err(possibly_executed_failure(
                        http_error(text!("The answer of {host} broke off.", host))
                            .retryable(true)
                            .with("status", status.as_u16())
                            .reason("network"),
                    ));
                }
                Err(_) => break,
            }
            if bytes.len() > limit && status.is_success() {
                let error = http_error(text!(
                    "The answer of {host} is larger than {limit} bytes.",
                    host,
                    limit
                ))
                .retryable(false)
                .with("status", status.as_u16());
                return Err(possibly_executed_failure(
                    error.reason("response_too_large").hint("Ask for less at a time."),
                ));
            }
            if !status.is_success() && bytes.len() > 4 * MAX_EXCERPT {
                break;
            }
        }
        if status.is_success() {
            self.value(&bytes, &kind, &host)
        } else {
            Err(self.status_failure(status, retry_after, &bytes, &host))
        }
    }

    fn value(&self, bytes: &[u8], kind: &str, host: &str) -> Result<Value, ToolFailure> {
        match self.call.response {
            Answer::Text => Ok(json!({"text": String::from_utf8_lossy(bytes)})),
            Answer::Json if bytes.iter().all(u8::is_ascii_whitespace) => Ok(json!({})),
            Answer::Json => json_text::value_or_text(bytes).map_err(|_| {
                let error = AgentError::internal(
                    Reason::InvalidResponse,
                    text!("{host} answered with something that is not JSON ({kind}).", host, kind),
                );
                possibly_executed_failure(error.with("answer", excerpt(bytes)))
            }),
        }
    }

    /// Returns the failure for an error status.
    fn status_failure(
        &self,
        status: StatusCode,
        retry_after: Option<u64>,
        bytes: &[u8],
        host: &str,
    ) -> ToolFailure {
        let number = status.as_u16();
        let said = serde_json::from_slice::<Value>(bytes)
            .ok()
            .filter(|value| value.to_string().len() <= MAX_EXCERPT);
        let mut error = match number {
            429 => {
                AgentError::new(ErrorCode::RateLimited, text!("{host} asks to slow down.", host))
                    .reason(Reason::UpstreamRateLimit)
            }
            401 | 403 if self.spec.auth.is_some() => http_error(text!(
                "{host} refuses the key ({number}).",
                host,
                number
            ))
            .retryable(false)
            .hint(
                "Enter the key again in Settings under \u{201c}Keys and access of packs\u{201d}.",
            ),
            500.. => http_error(text!("{host} failed ({number}).", host, number)).retryable(true),
            _ => http_error(text!("{host} refused the request ({number}).", host, number))
                .retryable(false),
        };
        error = error.with("status", number).with("answer", said.unwrap_or_else(|| excerpt(bytes)));
        if let Some(ms) = retry_after {
            error = error.with("retry_after_ms", ms);
        }
        // After a server error or a redirect, the call may have taken effect; after a refusal, it
        // has not. A 503 is uncertain, because a proxy also sends it after losing the connection to
        // a server that had the request.
        match number {
            501 | 400..=499 => not_started(error),
            _ => possibly_executed_failure(error),
        }
    }

    fn host(&self, url: &Url) -> String {
        url.host_str().unwrap_or("The server").to_owned()
    }

    fn host_of_template(&self) -> String {
        let origin =
            request::split_origin(&self.call.url).and_then(|(origin, _)| Url::parse(origin).ok());
        origin.map_or_else(|| "The server".to_owned(), |url| self.host(&url))
    }
}

fn method(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Post => Method::POST,
        HttpMethod::Put => Method::PUT,
        HttpMethod::Patch => Method::PATCH,
        HttpMethod::Delete => Method::DELETE,
    }
}

fn accept(answer: Answer) -> &'static str {
    match answer {
        Answer::Json => "application/json",
        Answer::Text => "text/plain, text/*;q=0.9, */*;q=0.1",
    }
}

/// Whether a URL matches a host of the list, including the port if the entry has one.
fn same_host(allowed: &str, url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => allowed.eq_ignore_ascii_case(&format!("{host}:{port}")),
        None => allowed.eq_ignore_ascii_case(host),
    }
}

fn content_type(response: &Response) -> String {
    response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .map_or_else(|| "no type given".to_owned(), |text| text.chars().take(60).collect())
}

/// Returns the server's `Retry-After` in milliseconds. The header gives seconds, or a date that is
/// compared with the server's clock.
fn retry_after(response: &Response) -> Option<u64> {
    let text =
        |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let wish = text(header::RETRY_AFTER)?.trim();
    if let Ok(seconds) = wish.parse::<u64>() {
        return Some(seconds.saturating_mul(1_000));
    }
    let date = |text: &str| chrono::DateTime::parse_from_rfc2822(text.trim()).ok();
    let wait = date(wish)? - date(text(header::DATE)?)?;
    Some(u64::try_from(wait.num_milliseconds()).unwrap_or(0))
}

fn excerpt(bytes: &[u8]) -> Value {
    Value::String(String::from_utf8_lossy(bytes).chars().take(MAX_EXCERPT).collect())
}

fn caused_by<E: std::error::Error + 'static>(error: &dyn std::error::Error) -> bool {
    let mut source = error.source();
    while let Some(cause) = source {
        if cause.is::<E>() {
            return true;
        }
        source = cause.source();
    }
    false
}
