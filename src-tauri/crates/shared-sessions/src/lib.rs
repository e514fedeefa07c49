//! Sessions that several gateways share, stored in Redis: a JSON text per session that expires with
//! the session, a lock, and a status per approval. Every step is one script that compares before it
//! sets and may be sent twice, so that a lost reply does no harm. This is a separate crate, because
//! only the gateway needs a client for Redis.
#![forbid(unsafe_code)]

use std::time::Duration;

use async_trait::async_trait;
use contract::{AgentError, ApprovalId, ApprovalStatus, Reason, SessionId, Transition, text};
use engine::ports::{Loaded, Moved, SessionImage, SharedSessions, StoreError};
use redis::{
    Client, Cmd, ConnectionAddr, FromRedisValue, IntoConnectionInfo as _, RedisError,
    aio::{ConnectionManager, ConnectionManagerConfig},
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
};
use serde_json::Value;

/// How long a lock lasts. The owner renews the lock every few seconds, so that the lock of a
/// crashed owner expires after this time.
const LOCK_MS: u64 = 10_000;
const CONNECT_TIME: Duration = Duration::from_secs(2);
const ANSWER_TIME: Duration = Duration::from_secs(3);
/// How long the connection may be silent before the connection is tested.
const SILENCE: Duration = Duration::from_secs(10);

const LOCK: &str = "
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1";
const UNLOCK: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 1";
/// Replaces the session if its text still begins with the expected prefix. KEYS[1] is the session,
/// KEYS[2] its deletion, the other keys are its approvals. A deleted session can only begin anew.
/// ARGV: 1 the expected prefix (empty if there was no text), 2
/// the new text, 3 its prefix, 4 the time to live, 5 the number of approvals to keep. Other
/// approvals are deleted.
const SAVE: &str = "
local function begins(with) return redis.call('GETRANGE', KEYS[1], 0, #with - 1) == with end
if redis.call('EXISTS', KEYS[1]) == 1 and not begins(ARGV[3]) and (ARGV[1] == '' or not begins(ARGV[1])) then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 and ARGV[1] ~= '' then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[4])
redis.call('DEL', KEYS[2])
for n = 3, #KEYS do
  if n - 2 <= tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[n], ARGV[4]) else redis.call('DEL', KEYS[n]) end
end
return 1";
/// Deletes the session, and keeps that it was deleted. KEYS: the session, its deletion. ARGV: the time
/// to live.
const REMOVE: &str = "
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], '1', 'PX', ARGV[1])
return 1";
/// Stores a status with the name of the transition that caused it. The same transition may be sent
/// twice; a different transition fails.
const MOVE: &str = "
local now = redis.call('GET', KEYS[1])
if not now then return '' end
if now == ARGV[2] then return 'moved' end
if string.match(now, '^%a+') ~= ARGV[1] then return now end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 'moved'";

/// The sessions of all gateways with the same address and prefix.
pub struct RedisSessions {
    redis: ConnectionManager,
    prefix: String,
    ttl_ms: u64,
}

impl RedisSessions {
    /// Connects, and checks that the server answers.
    pub async fn open(url: &str, prefix: &str, ttl: Duration) -> Result<Self, AgentError> {
        let wrong = |_| {
            AgentError::invalid("REDIS_URL is not the address of a Redis.")
                .reason("invalid_configuration")
                .hint("It looks like redis://127.0.0.1:6379, with user and password before an @ where they are wanted.")
        };
        let client =
            Client::open(url.into_connection_info().map_err(wrong)?.set_tcp_settings(tcp()))
                .map_err(wrong)?;
        let address = client.get_connection_info().addr();
        if matches!(address, ConnectionAddr::TcpTls { .. }) {
            files::check_certificates().map_err(|why| {
                AgentError::invalid(text!("No encrypted connection can be made: {why}.", why))
                    .reason("invalid_configuration")
                    .hint("Correct the variable SSL_CERT_FILE, or remove it.")
            })?;
        }
        // The address without credentials, which the variable may contain.
        let place = address.to_string();
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(CONNECT_TIME))
            .set_response_timeout(Some(ANSWER_TIME))
            .set_min_delay(Duration::from_millis(20))
            .set_number_of_retries(1);
        let away = |error: &RedisError| {
            AgentError::internal(Reason::SessionsAway, text!("The Redis at {place} does not answer: {why}.", place, why = kind(error)))
                .hint("Start it, or correct REDIS_URL; without SESSION_STORE=redis sessions are kept in the data folder.")
        };
        let redis = ConnectionManager::new_with_config(client, config)
            .await
            .map_err(|error| away(&error))?;
        let shared = Self {
            redis,
            prefix: prefix.to_owned(),
            ttl_ms: u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX),
        };
        match shared.send::<String>(redis::cmd("PING")).await {
            Ok(_) => Ok(shared),
            Err(error) => Err(away(&error)),
        }
    }

    fn key(&self, session: &SessionId) -> String {
        format!("{}{session}", self.prefix)
    }

    /// Returns the key for other data. Names of sessions never begin with a colon, so this key
    /// belongs to no session.
    fn side_key(&self, what: &str, name: &str) -> String {
        format!("{}:{what}:{name}", self.prefix)
    }

    /// Returns the key that says that a session was deleted.
    fn deleted_key(&self, session: &SessionId) -> String {
        self.side_key("deleted", session.as_str())
    }

    /// Returns what a session without an image is.
    async fn without_image(&self, session: &SessionId) -> Result<Loaded, StoreError> {
        let mut exists = redis::cmd("EXISTS");
        exists.arg(self.deleted_key(session));
        let is_deleted: bool = self.ask(exists).await?;
        Ok(if is_deleted { Loaded::Deleted } else { Loaded::Nothing })
    }

    /// Sends a command. Repeats the command once if the connection broke, because only the first
    /// command after an outage detects a broken connection.
    async fn send<T: FromRedisValue>(&self, command: Cmd) -> Result<T, RedisError> {
        let mut redis = self.redis.clone();
        match command.query_async(&mut redis).await {
            Err(error) if error.is_io_error() && !error.is_timeout() => {
                command.query_async(&mut redis).await
            }
            other => other,
        }
    }

    /// Sends a command whose result must be known. Repeats the command once if the connection broke
    /// or no answer came in time.
    async fn send_surely<T: FromRedisValue>(&self, command: Cmd) -> Result<T, RedisError> {
        match self.send(command.clone()).await {
            Err(error) if error.is_timeout() => self.send(command).await,
            other => other,
        }
    }

    async fn ask<T: FromRedisValue>(&self, command: Cmd) -> Result<T, StoreError> {
        self.send(command).await.map_err(|error| unreachable_error(&error))
    }

    async fn forget_unreadable(&self, key: &str, why: &str) -> Result<(), StoreError> {
        tracing::warn!(why, "a shared session could not be read and is deleted");
        let mut delete = redis::cmd("DEL");
        delete.arg(key);
        self.ask(delete).await
    }
}

/// Detects a dead connection within seconds. The system's default is a quarter of an hour.
fn tcp() -> TcpSettings {
    let settings = TcpSettings::default()
        .set_nodelay(true)
        .set_keepalive(TcpKeepalive::new().with_time(SILENCE).with_interval(ANSWER_TIME));
    #[cfg(target_os = "linux")]
    let settings = settings.set_user_timeout(ANSWER_TIME * 2);
    settings
}

fn script(text: &str, keys: &[String]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(text.trim_start()).arg(keys.len()).arg(keys);
    command
}

/// Returns the prefix of a state's text. Returns an empty prefix if there is no state.
fn revision_prefix(rev: &str) -> String {
    if rev.is_empty() { String::new() } else { format!(r#"{{"rev":"{rev}","#) }
}

/// Returns the kind of an error, without the text from the server.
fn kind(error: &RedisError) -> String {
    match error.code() {
        Some(code) => format!("it says {code}"),
        None if error.is_timeout() => "it takes too long".into(),
        None if error.is_io_error() => "nothing can be reached there".into(),
        None => "it does not speak as expected".into(),
    }
}

fn unreachable_error(error: &RedisError) -> StoreError {
    StoreError::Away(kind(error))
}

/// Returns a status as the word used on the wire.
fn status_to_text(status: ApprovalStatus) -> Result<String, StoreError> {
    match serde_json::to_value(status) {
        Ok(Value::String(word)) => Ok(word),
        Ok(other) => Err(StoreError::Failed(format!("not a word: {other}"))),
        Err(error) => Err(StoreError::Failed(error.to_string())),
    }
}

fn status(stored: &str) -> Option<ApprovalStatus> {
    let word = stored.split(' ').next().unwrap_or_default();
    serde_json::from_value(Value::String(word.to_owned())).ok()
}

#[async_trait]
impl SharedSessions for RedisSessions {
    async fn lock(&self, session: &SessionId, holder: &str) -> Result<bool, StoreError> {
        let mut command = script(LOCK, &[self.side_key("lock", session.as_str())]);
        command.arg(holder).arg(LOCK_MS);
        self.ask(command).await
    }

    async fn unlock(&self, session: &SessionId, holder: &str) -> Result<(), StoreError> {
        let mut command = script(UNLOCK, &[self.side_key("lock", session.as_str())]);
        command.arg(holder);
        self.ask(command).await
    }

    async fn load(&self, session: &SessionId, known: &[&str]) -> Result<Loaded, StoreError> {
        let key = self.key(session);
        for rev in known.iter().filter(|rev| !rev.is_empty()) {
            let wanted = revision_prefix(rev);
            let mut begins = redis::cmd("GETRANGE");
            begins.arg(&key).arg(0).arg(wanted.len().saturating_sub(1));
            // This fails for a value of another type. The whole value is requested below then.
            match self.send::<Vec<u8>>(begins).await {
                Ok(found) if found == wanted.as_bytes() => {
                    return Ok(Loaded::Known((*rev).to_owned()));
                }
                Ok(_) => {}
                Err(error) if error.code().is_some() => {}
                Err(error) => return Err(unreachable_error(&error)),
            }
        }
        let mut get = redis::cmd("GET");
        get.arg(&key);
        let found = match self.send::<Option<Vec<u8>>>(get).await {
            Ok(Some(found)) => found,
            Ok(None) => return self.without_image(session).await,
            Err(error) if error.code() == Some("WRONGTYPE") => {
                self.forget_unreadable(&key, "not a text").await?;
                return Ok(Loaded::Nothing);
            }
            Err(error) => return Err(unreachable_error(&error)),
        };
        match serde_json::from_slice::<SessionImage>(&found) {
            Ok(image) if image.session == *session => Ok(Loaded::Other(Box::new(image))),
            Ok(_) => {
                self.forget_unreadable(&key, "another session's").await?;
                Ok(Loaded::Nothing)
            }
            Err(error) => {
                self.forget_unreadable(
                    &key,
                    &format!("{:?} at {}:{}", error.classify(), error.line(), error.column()),
                )
                .await?;
                Ok(Loaded::Nothing)
            }
        }
    }

    async fn save(&self, image: &SessionImage, was: &str) -> Result<bool, StoreError> {
        let body =
            serde_json::to_string(image).map_err(|error| StoreError::Failed(error.to_string()))?;
        let (ended, open): (Vec<_>, Vec<_>) =
            image.approvals.iter().partition(|approval| approval.status.is_final());
        let mut keys = vec![self.key(&image.session), self.deleted_key(&image.session)];
        keys.extend(
            open.iter()
                .chain(&ended)
                .map(|approval| self.side_key("approval", approval.id.as_str())),
        );
        let mut command = script(SAVE, &keys);
        command
            .arg(revision_prefix(was))
            .arg(body)
            .arg(revision_prefix(&image.rev))
            .arg(self.ttl_ms)
            .arg(open.len());
        self.ask(command).await
    }

    async fn remove(&self, session: &SessionId) -> Result<(), StoreError> {
        let mut command = script(REMOVE, &[self.key(session), self.deleted_key(session)]);
        command.arg(self.ttl_ms);
        self.ask(command).await
    }

    async fn approval_put(&self, id: &ApprovalId) -> Result<(), StoreError> {
        let mut command = redis::cmd("SET");
        command
            .arg(self.side_key("approval", id.as_str()))
            .arg(status_to_text(ApprovalStatus::Pending)?)
            .arg("NX")
            .arg("PX")
            .arg(self.ttl_ms);
        self.ask::<Option<String>>(command).await.map(drop)
    }

    async fn approval_move(
        &self,
        id: &ApprovalId,
        transition: Transition,
    ) -> Result<Moved, StoreError> {
        let mine = format!("{} {}", status_to_text(transition.to)?, nonce()?);
        let mut command = script(MOVE, &[self.side_key("approval", id.as_str())]);
        command.arg(status_to_text(transition.from)?).arg(&mine);
        let found: String =
            self.send_surely(command).await.map_err(|error| unreachable_error(&error))?;
        Ok(match found.as_str() {
            "moved" => Moved::Yes,
            "" => Moved::Gone,
            other => status(other).map_or(Moved::Gone, Moved::No),
        })
    }

    async fn approval_status(&self, id: &ApprovalId) -> Result<Option<ApprovalStatus>, StoreError> {
        let mut get = redis::cmd("GET");
        get.arg(self.side_key("approval", id.as_str()));
        let found: Option<String> = self.ask(get).await?;
        Ok(found.as_deref().and_then(status))
    }
}

/// Returns a name for one transition.
fn nonce() -> Result<String, StoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|_| StoreError::Failed("the system gives no randomness".into()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
