//! Any server that speaks chat completions: OpenAI, gateways, local servers. Owns address, key and dialect of one of them.
//! It knows nothing of turns, tools' meaning or storage; the key is given, never read from anywhere.

mod assemble;
mod check;
mod chunk;
mod failure;
mod reading;
mod request;
mod retry;
mod stream;
mod trust;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use engine::ports::{Clock, Ids, Model, ModelError, ModelEvent, ModelRequest, Random};
use futures::stream::BoxStream;
use reqwest::Url;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

pub use check::Checked;
use request::Dialect;
use stream::Shared;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where and how to ask.
#[derive(Clone, Debug)]
pub struct Config {
    /// Up to and without `/chat/completions`.
    pub base_url: String,
    pub api_key: Option<SecretString>,
    pub model: String,
    /// Time without data after which a stream counts as stalled.
    pub idle_timeout: Duration,
    /// Further attempts after a failure that may pass, as long as nothing of the answer has arrived.
    pub max_retries: u32,
    /// In place of "model at host".
    pub label: Option<String>,
}

/// The client's type, so that a host can keep one without naming the library.
pub type HttpClient = reqwest::Client;

/// What the provider needs of the world.
#[derive(Clone)]
pub struct World {
    /// One client for all providers: it owns the connection pool. See [`http_client`].
    pub http: reqwest::Client,
    pub random: Arc<dyn Random>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// The client to share. It follows no redirects, so that the key and the conversation go nowhere else, and trusts whom the
/// system trusts. Making it reads no file.
pub fn http_client() -> Result<HttpClient, ModelError> {
    let tls = trust::client_config().map_err(|_| failure::no_tls())?;
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .tcp_nodelay(true)
        .build()
        .map_err(|_| failure::no_tls())
}

/// A model behind a chat-completions server.
#[derive(Clone)]
pub struct OpenAi {
    shared: Arc<Shared>,
    base: Url,
    label: String,
    local: bool,
}

impl OpenAi {
    /// Checks address and key for form; nothing is sent.
    pub fn new(config: Config, world: World) -> Result<Self, ModelError> {
        let base = base_url(&config.base_url)?;
        let host = host_of(&base);
        let mut url = base.clone();
        url.set_path(&format!("{}/chat/completions", base.path().trim_end_matches('/')));
        let shared = Shared {
            http: world.http,
            url,
            key: config.api_key.as_ref().map(bearer).transpose()?,
            idle: config.idle_timeout.max(Duration::from_millis(1)),
            max_retries: config.max_retries,
            dialect: Dialect::of_host(base.host_str().unwrap_or_default()),
            random: world.random,
            clock: world.clock,
            ids: world.ids,
            host: host.clone(),
            model: config.model.clone(),
        };
        let label = config.label.unwrap_or_else(|| format!("{} at {host}", config.model));
        Ok(Self { shared: Arc::new(shared), local: is_loopback(&base), base, label })
    }

    /// Asks the server for its models and the model for one word. Nothing is retried.
    pub async fn check(&self) -> Result<Checked, ModelError> {
        check::run(&self.shared, &self.base).await
    }
}

impl Model for OpenAi {
    fn label(&self) -> String {
        self.label.clone()
    }
    fn local(&self) -> bool {
        self.local
    }
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        stream::start(Arc::clone(&self.shared), request)
    }
}

/// The address without what people paste along with it.
fn base_url(text: &str) -> Result<Url, ModelError> {
    let text = text.trim().trim_end_matches('/');
    let text = text.strip_suffix("/chat/completions").unwrap_or(text);
    let url = Url::parse(text).map_err(|_| failure::bad_address())?;
    let usable = matches!(url.scheme(), "http" | "https") && url.host().is_some() && url.username().is_empty() && url.password().is_none();
    if usable { Ok(url) } else { Err(failure::bad_address()) }
}

fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(url::Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    }
}

fn bearer(key: &SecretString) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret().trim())).map_err(|_| failure::bad_key())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_paste_them() {
        for text in ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/", " http://127.0.0.1:8080/v1/chat/completions "] {
            assert_eq!(base_url(text).unwrap().as_str(), "http://127.0.0.1:8080/v1", "{text}");
        }
        for text in ["", "api.openai.com", "ftp://x/v1", "https://me:key@host/v1"] {
            assert!(base_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn loopback_is_local() {
        let local = |text: &str| is_loopback(&base_url(text).unwrap());
        assert!(local("http://localhost:11434/v1") && local("http://127.0.0.2/v1") && local("http://[::1]:1/v1"));
        assert!(!local("https://api.openai.com/v1") && !local("http://localhost.example.com/v1"));
    }

    #[test]
    fn a_key_with_a_line_break_is_refused_and_never_printed() {
        let error = bearer(&SecretString::from("sk-\nx")).unwrap_err();
        assert!(!error.message.contains("sk-"));
        assert!(!format!("{:?}", bearer(&SecretString::from("sk-x")).unwrap()).contains("sk-x"));
    }
}
