//! Reads the gateway's settings from flags and the environment. All errors are reported together,
//! before any file or port is opened.

use std::{
    net::{Ipv6Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use axum::http::Uri;
use contract::{AgentError, DESKTOP};
use host::Patience;

use crate::{net::Net, variables::Reader};

/// The maximum lifetime of a demo token in seconds, including tokens signed by others.
pub(crate) const LONGEST_S: u64 = 15 * 60;

/// The command-line flags.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    pub listen: Option<SocketAddr>,
    pub no_token: bool,
    pub allow_remote: bool,
}

/// All settings of the gateway.
#[derive(Clone, Debug)]
pub struct Config {
    pub listen: SocketAddr,
    /// The file with the bearer token. None if no token is required.
    pub token_file: Option<PathBuf>,
    pub allowed_hosts: Vec<String>,
    pub cors_origins: Vec<String>,
    /// Proxies whose information about the client's address is trusted.
    pub trusted_proxies: Vec<Net>,
    pub body_limit: usize,
    pub max_message_chars: usize,
    pub max_message_tokens: usize,
    pub allowed_applications: Vec<String>,
    pub session_ttl: Duration,
    pub session_store: SessionStore,
    pub debug: bool,
    pub debug_runs: Option<DebugRuns>,
    pub simple_auth: Option<SimpleAuth>,
    pub rates: Rates,
    pub max_rounds: u32,
    pub max_calls: u32,
    /// How long the model may be silent before the turn is stopped.
    pub model_timeout: Duration,
    /// The maximum duration of a turn.
    pub turn_timeout: Duration,
    /// The language model set in the environment, which replaces the profile's.
    pub model: Option<String>,
    pub status_seed: Option<String>,
    /// Whether the first answer of a session says that an automated assistant answers.
    pub notice: bool,
    /// The timeouts and retries for a shop behind an address.
    pub patience: Patience,
    pub max_connections: usize,
    /// The timeouts for receiving a request's header and body.
    pub header_time: Duration,
    pub body_time: Duration,
    /// How long a client may accept no data before its connection is closed.
    pub write_time: Duration,
    /// How long running turns may continue after the gateway is told to stop.
    pub grace: Duration,
}

/// The place where sessions are stored.
#[derive(Clone, PartialEq, Eq)]
pub enum SessionStore {
    /// The database in the data folder.
    Sqlite,
    /// Memory, until the process ends.
    Memory,
    /// Redis, where other gateways may share the sessions.
    Redis { url: String, prefix: String },
}

impl std::fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may contain a password, so only the kind is printed.
        f.write_str(match self {
            Self::Sqlite => "Sqlite",
            Self::Memory => "Memory",
            Self::Redis { .. } => "Redis",
        })
    }
}

/// The limits for stored runs.
#[derive(Clone, Copy, Debug)]
pub struct DebugRuns {
    pub most: usize,
    pub ttl: Duration,
}

/// Settings of short-lived tokens for demos in a browser.
#[derive(Clone)]
pub struct SimpleAuth {
    pub secret: String,
    pub ttl_s: u64,
    /// Whether browsers also send the visitor's cookie with requests from pages of other sites.
    pub cookie_crosses_sites: bool,
}

impl std::fmt::Debug for SimpleAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimpleAuth").field("ttl_s", &self.ttl_s).finish_non_exhaustive()
    }
}

/// Limits on requests per minute while simple auth is on.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    pub chat: u32,
    /// The limit for all visitors of one address together, which exists because anyone can get many
    /// tokens.
    pub chat_per_address: u32,
    pub token: u32,
    pub max_keys: usize,
    pub prune: Duration,
}

const LOCAL_ORIGINS: &str = "http://localhost:5173,http://127.0.0.1:5173";
const LOOPBACK: &str = "127.0.0.0/8,::1";
const A_HOST: &str = "write a bare name or address without scheme, port, path or wildcard, such as chat.shop.example.";
const AN_ORIGIN: &str = "write scheme://host, or scheme://host:port for another port than the scheme's, in lower case, without a path, wildcard or slash at the end, such as https://shop.example.";
const NOT_DESKTOP: &str =
    "the application desktop is reserved for the person who owns this profile. Remove it.";
const A_NET: &str = "write an address or a range, such as 10.0.0.0/8.";
/// The maximum length of a message that the engine accepts.
const MESSAGE_CHARS: u64 = 20_000;
/// The variables that configure a shop behind an address. The variables with addresses come first.
const SHOP: [&str; 5] = [
    "NORCE_MCP_BASE_URL",
    "NORCE_OAUTH_TOKEN_URL",
    "NORCE_OAUTH_CLIENT_ID",
    "NORCE_OAUTH_CLIENT_SECRET",
    "NORCE_OAUTH_SCOPE",
];

impl Config {
    /// Whether callers may use this application id. The desktop's id is reserved, because its
    /// sessions and memory belong to the user.
    pub(crate) fn allows(&self, application: &str) -> bool {
        let allowed = &self.allowed_applications;
        application != DESKTOP
            && (allowed.is_empty() || allowed.iter().any(|known| known == application))
    }

    /// Reads all settings from flags and variables. `token_file` is the token's file if a token is
    /// required.
    pub fn read_variables(
        flags: &Flags,
        token_file: PathBuf,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, AgentError> {
        let mut read = Reader::new(variable);
        // These variables are used where the model is created, so only invalid values are reported
        // here.
        read.read_u64("OPENAI_MAX_RETRIES", 2, 0, 10);
        read.check_address(
            "OPENAI_BASE_URL",
            |_| true,
            "a web address, such as https://models.example.com/v1",
        );
        read.read_switch("AGENT_ENABLED");
        let port = read.read_u64("PORT", 3000, 0, 65_535);
        let listen = flags.listen.unwrap_or_else(|| {
            SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).unwrap_or(3000)))
        });
        let simple_auth = simple_auth(&mut read);
        address_rules(&mut read, flags, listen);
        shop_rules(&mut read);
        let session_store = session_store(&mut read);
        let chat = read.read_u32("DEMO_RL_CHAT_PER_MIN", 20, 1, 1_000_000);
        let model = read.read_text("OPENAI_API_KEY").is_some()
            || read.read_text("OPENAI_BASE_URL").is_some();
        let config = Self {
            listen,
            token_file: (!flags.no_token).then_some(token_file),
            allowed_hosts: read.parse_list("ALLOWED_HOSTS", "", host_name, A_HOST),
            cors_origins: read.parse_list("CORS_ORIGINS", LOCAL_ORIGINS, page_origin, AN_ORIGIN),
            trusted_proxies: read.parse_list("TRUSTED_PROXIES", LOOPBACK, Net::parse, A_NET),
            body_limit: read.read_usize("BODY_LIMIT_BYTES", 131_072, 256, 16 << 20),
            max_message_chars: read.read_usize("MAX_MESSAGE_CHARS", 4_000, 1, MESSAGE_CHARS),
            max_message_tokens: read.read_usize("MAX_MESSAGE_TOKENS_EST", 1_200, 1, 1_000_000),
            allowed_applications: read.parse_list(
                "ALLOWED_APPLICATION_IDS",
                "",
                |name| (name != DESKTOP).then(|| name.to_owned()),
                NOT_DESKTOP,
            ),
            session_ttl: read.read_seconds("SESSION_TTL_SECONDS", 3_600, 1, 30 * 86_400),
            session_store,
            debug: read.read_switch("DEBUG"),
            debug_runs: read.read_switch("DEBUG_RUNS_ENABLED").then(|| DebugRuns {
                most: read.read_usize("DEBUG_RUNS_MAX", 200, 1, 10_000),
                ttl: read.read_seconds("DEBUG_RUNS_TTL_SECONDS", 86_400, 1, 30 * 86_400),
            }),
            simple_auth,
            rates: Rates {
                chat,
                chat_per_address: read.read_u32(
                    "DEMO_RL_CHAT_PER_ADDRESS_PER_MIN",
                    3 * u64::from(chat),
                    1,
                    3_000_000,
                ),
                token: read.read_u32("DEMO_RL_TOKEN_PER_MIN", 10, 1, 1_000_000),
                max_keys: read.read_usize("DEMO_RL_MAX_KEYS", 5_000, 10, 1_000_000),
                prune: read.read_milliseconds("DEMO_RL_PRUNE_INTERVAL_MS", 60_000, 100, 86_400_000),
            },
            max_rounds: read.read_u32("AGENT_MAX_ROUNDS", 6, 1, 19),
            max_calls: read.read_u32("AGENT_MAX_TOOL_CALLS_PER_ROUND", 3, 1, 10),
            model_timeout: read.read_milliseconds("OPENAI_TIMEOUT_MS", 120_000, 10, 3_600_000),
            turn_timeout: read.read_milliseconds(
                "OPENAI_STREAM_TIMEOUT_MS",
                300_000,
                10,
                3_600_000,
            ),
            model: model
                .then(|| read.read_text("OPENAI_MODEL").unwrap_or_else(|| "gpt-4o-mini".into())),
            status_seed: read.read_text("NORCE_STATUS_SEED"),
            notice: read.read_text("ASSISTANT_NOTICE").is_none()
                || read.read_switch("ASSISTANT_NOTICE"),
            patience: read_patience(&mut read),
            max_connections: read.read_usize("MAX_CONNECTIONS", 4_096, 1, 100_000),
            header_time: read.read_milliseconds("HEADER_TIMEOUT_MS", 20_000, 10, 600_000),
            body_time: read.read_milliseconds("BODY_TIMEOUT_MS", 15_000, 10, 600_000),
            write_time: read.read_milliseconds("WRITE_TIMEOUT_MS", 60_000, 100, 600_000),
            grace: read.read_seconds("SHUTDOWN_GRACE_SECONDS", 20, 0, 600),
        };
        if read.faults.is_empty() {
            return Ok(config);
        }
        Err(AgentError::invalid(read.faults.join(" "))
            .reason("invalid_configuration")
            .hint("docs/gateway.md lists every setting."))
    }
}

fn simple_auth(read: &mut Reader<'_>) -> Option<SimpleAuth> {
    // Returns the name under which a variable is set: the new name or the old name.
    let named = |read: &Reader<'_>, new: &'static str, old: &'static str| {
        if read.read_text(new).is_some() || read.read_text(old).is_none() {
            return new;
        }
        tracing::warn!("{old} is the old name of {new}");
        old
    };
    let enabled = named(read, "SIMPLE_AUTH_ENABLED", "DEMO_AUTH_ENABLED");
    if !read.read_switch(enabled) {
        return None;
    }
    let secret = read
        .read_text(named(read, "SIMPLE_AUTH_JWT_SECRET", "DEMO_JWT_SECRET"))
        .unwrap_or_default();
    if secret.chars().count() < 32 {
        read.faults.push("SIMPLE_AUTH_JWT_SECRET must have at least 32 characters.".into());
    }
    let ttl = named(read, "SIMPLE_AUTH_JWT_TTL_SECONDS", "DEMO_JWT_TTL_SECONDS");
    let cookie_crosses_sites = match read
        .read_text("SIMPLE_AUTH_COOKIE_SAME_SITE")
        .unwrap_or_default()
        .to_ascii_lowercase()
        .as_str()
    {
        "" | "lax" => false,
        "none" => true,
        _ => {
            read.faults.push("SIMPLE_AUTH_COOKIE_SAME_SITE must be lax or none.".into());
            false
        }
    };
    Some(SimpleAuth { secret, ttl_s: read.read_u64(ttl, 600, 1, LONGEST_S), cookie_crosses_sites })
}

/// Returns a host name in the form in which requests contain it.
fn host_name(entry: &str) -> Option<String> {
    let bare = entry.strip_prefix('[').map_or(Some(entry), |rest| rest.strip_suffix(']'))?;
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return Some(format!("[{address}]"));
    }
    let is_name = !entry.is_empty()
        && entry.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    is_name.then(|| entry.to_ascii_lowercase())
}

/// Returns a page's origin in the form that browsers send.
fn page_origin(entry: &str) -> Option<String> {
    let (scheme, rest) = entry.split_once("://")?;
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        Some(_) | None => (rest, None),
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte)
        });
    let own = if scheme == "https" { 443 } else { 80 };
    let is_port = port.is_none_or(|port| {
        port.parse::<u16>().is_ok_and(|number| number.to_string() == port && number != own)
    });
    (is_scheme && is_port && host_name(host).as_deref() == Some(host)).then(|| entry.to_owned())
}

fn address_rules(read: &mut Reader<'_>, flags: &Flags, listen: SocketAddr) {
    if listen.ip().to_canonical().is_loopback() {
        return;
    }
    if flags.no_token {
        read.faults.push(format!(
            "--no-token is for addresses of this machine only, and {listen} is none."
        ));
    }
    if !flags.allow_remote {
        read.faults.push(format!(
            "{listen} can be reached by other machines. Add --allow-remote if that is meant."
        ));
    }
}

fn session_store(read: &mut Reader<'_>) -> SessionStore {
    match read.read_text("SESSION_STORE").unwrap_or_default().to_ascii_lowercase().as_str() {
        "" | "sqlite" => SessionStore::Sqlite,
        "memory" => SessionStore::Memory,
        "redis" => {
            let url = read.read_text("REDIS_URL");
            if url.is_none() {
                read.faults.push(
                    "SESSION_STORE=redis needs REDIS_URL, such as redis://127.0.0.1:6379.".into(),
                );
            }
            let prefix = read.read_text("REDIS_PREFIX").unwrap_or_else(|| "agent:sess:".into());
            SessionStore::Redis { url: url.unwrap_or_default(), prefix }
        }
        _ => {
            read.faults.push("SESSION_STORE must be sqlite, memory or redis.".into());
            SessionStore::Sqlite
        }
    }
}

/// Checks that the variables of the user's own shop are either all set or all missing, and that the
/// chosen shop exists.
fn shop_rules(read: &mut Reader<'_>) {
    let missing: Vec<&str> =
        SHOP.into_iter().filter(|name| read.read_text(name).is_none()).collect();
    if missing.len() == SHOP.len() {
        return;
    }
    if !missing.is_empty() {
        read.faults.push(format!(
            "These variables are missing: {}. Without any NORCE_ variable the demo shop is used.",
            missing.join(", ")
        ));
    }
    for name in &SHOP[..2] {
        read.check_address(name, is_shop_address, "a web address that can be reached, without a name or password, such as https://shop.example.com/mcp");
    }
}

fn is_shop_address(uri: &Uri) -> bool {
    let ip = uri.host().and_then(|host| host.trim_matches(['[', ']']).parse().ok());
    let is_nobodys = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    is_nobodys && ip.is_none_or(|ip| contract::address::may_reach(ip, true))
}

/// Reads the timeouts and retries for a shop behind an address.
fn read_patience(read: &mut Reader<'_>) -> Patience {
    let ms = Duration::from_millis;
    Patience {
        call: ms(read.read_u64("MCP_CALL_TIMEOUT_MS", 10_000, 10, 600_000)),
        token: ms(read.read_u64("OAUTH_TIMEOUT_MS", 5_000, 10, 600_000)),
        retries: read.read_u32("RETRY_MAX_ATTEMPTS", 2, 0, 10),
        base: ms(read.read_u64("RETRY_BASE_DELAY_MS", 500, 0, 60_000)),
        jitter: ms(read.read_u64("RETRY_JITTER_MS", 200, 0, 60_000)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
