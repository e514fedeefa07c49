//! The values that must never be stored or sent to a model: values read from or written to the
//! keyring since the start; all keyring entries, read again at the start and before each accepted
//! message, because the message may contain an entry's value; and credentials in the environment.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use engine::ports::{Clock, Secrets};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret as _, SecretString};
use secrets::{Keyring, SecretsError};
use serde_json::Value;

use super::{
    cache::CacheStamp,
    names::{API_KEY, OF_PACKS, TOKENS},
};

/// Words in variable names that mark the value as a credential.
const SECRET_WORDS: [&str; 9] = [
    "KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
];
/// The minimum length of a credential in characters. Shorter values are settings such as "1" or
/// "none".
const SHORTEST: usize = 8;
/// How long a keyring that did not answer in time is not asked again, so that messages do not wait
/// for it repeatedly.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(30);

/// The secrets that this process knows.
pub(crate) struct KnownSecrets {
    keyring: Arc<Keyring>,
    environment: Vec<SecretString>,
    clock: Arc<dyn Clock>,
    looked: Mutex<LastRead>,
}

/// When the keyring was last read, and when it last did not answer.
#[derive(Default)]
struct LastRead {
    at: Option<CacheStamp>,
    silent_at: Option<DateTime<Utc>>,
}

impl KnownSecrets {
    /// Makes the list of secrets. `declared` are the variables that packs declare as credentials;
    /// other variables are judged by their names.
    pub(crate) fn new(
        keyring: Arc<Keyring>,
        clock: Arc<dyn Clock>,
        declared: &BTreeSet<String>,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Self {
        Self {
            keyring,
            environment: secrets_of(declared, variables),
            clock,
            looked: Mutex::default(),
        }
    }

    /// Whether the keyring must be read now.
    fn is_due(&self, now: CacheStamp, time: DateTime<Utc>) -> bool {
        let looked = self.looked.lock();
        let is_silent = looked
            .silent_at
            .is_some_and(|at| (TimeDelta::zero()..RETRY_AFTER).contains(&(time - at)));
        !is_silent && !looked.at.is_some_and(|at| at.is_valid_at(now))
    }
}

/// Suffixes of variable names whose values only describe a credential: its address, owner or
/// expiry.
const OF_CREDENTIALS: [&str; 13] = [
    "_URL",
    "_URI",
    "_ENDPOINT",
    "_HOST",
    "_PORT",
    "_AUDIENCE",
    "_ISSUER",
    "_TYPE",
    "_MODE",
    "_NAME",
    "_PROVIDER",
    "_AT",
    "_EXPIRES",
];

/// Finds the secrets in variables.
pub(crate) fn secrets_of(
    declared: &BTreeSet<String>,
    variables: impl Iterator<Item = (String, String)>,
) -> Vec<SecretString> {
    let secrets_of = |(name, value): (String, String)| {
        if declared.contains(&name) || is_credential(&name, &value) {
            vec![value]
        } else {
            secrets_in(&name, &value)
        }
    };
    variables.flat_map(secrets_of).map(SecretString::from).collect()
}

/// Returns the environment variables of this process. A variable that is not valid text is skipped,
/// because it cannot occur in a message.
pub(crate) fn environment_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

impl Secrets for KnownSecrets {
    fn generation(&self) -> u64 {
        self.keyring.exposed_generation()
    }

    fn values(&self) -> Vec<SecretString> {
        self.environment.iter().cloned().chain(self.keyring.exposed()).collect()
    }

    fn reload_secrets(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let time = self.clock.now();
            let now = CacheStamp::new(time, self.keyring.changes());
            if !self.is_due(now, time) {
                return;
            }
            let learned = read_secrets(&self.keyring).await;
            let mut looked = self.looked.lock();
            match learned {
                Err(SecretsError::TimedOut) => looked.silent_at = Some(time),
                // A locked keyring answers quickly, and the user may unlock it before the next
                // message.
                Ok(()) | Err(_) => *looked = LastRead { at: Some(now), silent_at: None },
            }
        })
    }
}

/// Reads the keyring's entries for packs, servers and models, because another program with this
/// profile may have stored new entries since the last turn.
pub(crate) async fn read_secrets(keyring: &Keyring) -> Result<(), SecretsError> {
    let found = keyring
        .read_all(is_entry)
        .await
        .inspect_err(|error| tracing::debug!(%error, "stored keys are not known"))?;
    for (name, value) in found {
        if name.starts_with(TOKENS) {
            note_tokens(keyring, &value);
        }
    }
    Ok(())
}

/// Whether a keyring entry contains a secret of a pack, a server or a model. The log's entries are
/// excluded, because its mark is not secret.
fn is_entry(name: &str) -> bool {
    name.starts_with(OF_PACKS)
        || name.starts_with(TOKENS)
        || name.split_once('@').is_some_and(|(key, _)| key == API_KEY)
}

/// Whether a variable's name marks its value as a credential.
pub(crate) fn is_credential_name(name: &str) -> bool {
    name.to_ascii_uppercase().split('_').any(|part| SECRET_WORDS.contains(&part))
}

fn is_credential(name: &str, value: &str) -> bool {
    // The address of a token endpoint is not secret. The path of a key file is not secret either,
    // and removing the path would change every text that mentions its folder. A key that looks like
    // a path does not name an existing file.
    is_credential_name(name)
        && !OF_CREDENTIALS.iter().any(|end| name.to_ascii_uppercase().ends_with(end))
        && value.trim().len() >= SHORTEST
        && !is_path(value)
}

/// Whether a value is the path of an existing file or folder.
fn is_path(value: &str) -> bool {
    let in_home = value
        .strip_prefix("~/")
        .and_then(|rest| Some(Path::new(&std::env::var_os("HOME")?).join(rest)));
    let begins_so = value.starts_with(['/', '.']) && Path::new(value).exists();
    begins_so || in_home.is_some_and(|path| path.exists()) || value.contains(":\\")
}

/// Returns the secret parts of a variable that is not entirely secret, also in unescaped form.
fn secrets_in(name: &str, value: &str) -> Vec<String> {
    let plain = |text: &str| {
        percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Into::into)
    };
    if name.starts_with("OTEL_EXPORTER_OTLP_") && name.ends_with("HEADERS") {
        let values = value
            .split(',')
            .filter_map(|header| header.split_once('='))
            .map(|(_, value)| plain(value.trim()));
        return values.filter(|value| value.len() >= SHORTEST).collect();
    }
    password_in(value).into_iter().chain(keys_in(value)).map(plain).collect()
}

/// Returns the ranges of the secret parts of a value: the password and the keys in an address.
pub(crate) fn secret_parts(value: &str) -> Vec<std::ops::Range<usize>> {
    let place = |part: &str| {
        let start = part.as_ptr() as usize - value.as_ptr() as usize;
        start..start + part.len()
    };
    password_in(value).into_iter().chain(keys_in(value)).map(place).collect()
}

/// Returns the values of query parameters with a credential's name, as in
/// `https://host/?api_key=…`.
fn keys_in(value: &str) -> impl Iterator<Item = &str> {
    let query = value
        .split_once("://")
        .and_then(|(_, rest)| Some(rest.split_once('?')?.1))
        .unwrap_or_default();
    let pairs = query
        .split('#')
        .next()
        .unwrap_or_default()
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    pairs
        .filter(|(name, value)| {
            is_credential_name(&name.replace('-', "_")) && value.len() >= SHORTEST
        })
        .map(|(_, value)| value)
}

/// Returns the password in an address such as `redis://user:password@host`.
fn password_in(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let (user, _) = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password).filter(|password| !password.is_empty())
}

/// Notes each OAuth token as a secret, so that the token is removed from results.
pub(crate) fn note_tokens(keyring: &Keyring, tokens: &SecretString) {
    let Ok(kept) = serde_json::from_str::<Value>(tokens.expose_secret()) else { return };
    for name in ["access_token", "refresh_token", "id_token"] {
        if let Some(token) =
            kept.pointer(&format!("/token_response/{name}")).and_then(Value::as_str)
        {
            keyring.note(&SecretString::from(token.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        process::{Command, Stdio},
        time::Duration,
    };

    use contract::KeyringState;
    use kit::desktop::{ON_BUS, keyring_is_there};
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::{SystemClock, keys::names};

    #[test]
    fn keyring_entries_of_packs_servers_and_models_count_as_secrets() {
        let all = [
            names::entry_name("post", "TOKEN"),
            names::tokens_entry(&"post".into(), "far"),
            "OPENAI_API_KEY@https://api.example.com".to_owned(),
        ];
        assert!(all.iter().all(|name| is_entry(name)), "{all:?}");
        assert!(!is_entry("audit-mark") && !is_entry("audit-signing-key"));
    }

    /// Starts this program again with its own bus, so that the test does not use the session of
    /// this computer.
    #[test]
    fn unread_keyring_entries_are_loaded_before_text_is_sent() {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new("dbus-run-session");
        command.arg("--").arg(std::env::current_exe().unwrap()).args([
            "--exact",
            "keys::known_secrets::tests::inside_a_session",
            "--ignored",
        ]);
        command
            .env("HOME", home.path())
            .env("XDG_RUNTIME_DIR", home.path())
            .env("XDG_DATA_HOME", home.path());
        let output = command
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("GNOME_KEYRING_CONTROL")
            .output()
            .expect("dbus-run-session is needed: apt-get install dbus-daemon gnome-keyring");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    }

    #[tokio::test]
    #[ignore = "runs inside a private session"]
    async fn inside_a_session() {
        let mut daemon = Command::new("gnome-keyring-daemon");
        daemon
            .args(["--foreground", "--components=secrets", "--unlock"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        let mut daemon =
            daemon.spawn().expect("gnome-keyring-daemon is needed: apt-get install gnome-keyring");
        daemon.stdin.take().unwrap().write_all(b"password").unwrap();
        kit::webdriver::wait("the keyring", || {
            keyring_is_there(Command::new(ON_BUS)).then_some(())
        });
        let other = Keyring::new("profile");
        assert_eq!(other.state().await, KeyringState::Ready);
        let tokens = r#"{"token_response": {"access_token": "access-1"}}"#;
        let kept = [
            ("audit-mark", "mark-1"),
            ("credential/post/TOKEN", "token-1"),
            ("oauth/post/far", tokens),
            ("OPENAI_API_KEY@api.example.com", "key-1"),
        ];
        for (name, value) in kept {
            other.set(name, SecretString::from(value)).await.unwrap();
        }
        let keyring = Arc::new(Keyring::new("profile"));
        let known = KnownSecrets::new(
            Arc::clone(&keyring),
            Arc::new(SystemClock),
            &BTreeSet::new(),
            std::iter::empty(),
        );
        assert!(known.values().is_empty());
        read_secrets(&keyring).await.unwrap();
        let values: BTreeSet<String> =
            known.values().iter().map(|value| value.expose_secret().to_owned()).collect();
        assert_eq!(
            values,
            BTreeSet::from(["access-1", "key-1", "token-1", tokens].map(str::to_owned))
        );
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }

    #[test]
    fn environment_variables_with_credentials_are_recognised_by_name() {
        let variables = [
            ("OPENAI_API_KEY", "sk-1234567890"),
            ("shop_token", "abcdefgh1"),
            ("PACK_LOGIN", "declared-one"),
            ("PWD", "/home/ana/work"),
            ("KEYBOARD", "swedish-layout"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/passwd"),
            ("DEBUG_TOKEN", "1"),
            ("AUTH_TOKEN_AUDIENCE", "shop-web-of-ours"),
            ("TOKEN_EXPIRES_AT", "2026-11-24T10:00:00Z"),
            ("BASE64_KEY", "/k7Qp2x9s+Lm3"),
            ("DOTTED_TOKEN", ".k7Qp2x9s"),
            ("HOME_SECRET", "~k7Qp2x9s"),
        ];
        let declared = BTreeSet::from(["PACK_LOGIN".to_owned()]);
        let keyring = Arc::new(Keyring::new("test"));
        keyring.set_for_this_run("x", SecretString::from("entered-by-hand"));
        let known = KnownSecrets::new(
            Arc::clone(&keyring),
            Arc::new(SystemClock),
            &declared,
            variables.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned())),
        );
        let values: Vec<String> =
            known.values().iter().map(|value| value.expose_secret().to_owned()).collect();
        assert_eq!(
            values,
            [
                "sk-1234567890",
                "abcdefgh1",
                "declared-one",
                "/k7Qp2x9s+Lm3",
                ".k7Qp2x9s",
                "~k7Qp2x9s",
                "entered-by-hand"
            ]
        );
        let before = known.generation();
        keyring.set_for_this_run("x", SecretString::from("entered-by-hand"));
        assert_eq!(known.generation(), before, "nothing new");
        keyring.set_for_this_run("x", SecretString::from("another one"));
        assert_ne!(known.generation(), before);
        assert_eq!(known.values().len(), 8, "the old one stays secret");
        let before = known.generation();
        keyring.note_for(&SecretString::from("token-1"), Duration::ZERO);
        assert_ne!(known.generation(), before);
        assert_eq!(known.values().len(), 9, "a token that has just ended is one, too");
    }

    #[test]
    fn only_passwords_and_keys_inside_an_address_count_as_secrets() {
        let variables = [
            ("NORCE_OAUTH_TOKEN_URL", "https://shop.example/oauth/token"),
            ("token_endpoint", "https://shop.example/oauth/token"),
            ("REDIS_URL", "redis://:p%40ssw0rd-1@10.0.0.7:6379/0"),
            ("API_KEY_URL", "https://ana:hidden-2@shop.example/keys?user=a:b@c"),
            (
                "SEARCH_URL",
                "https://shop.example/?q=long-enough-words&api-key=hidden%2D31&page=1#token=no-key-here",
            ),
            ("PROXY", "http://shop.example/a:b@c"),
            (
                "OTEL_EXPORTER_OTLP_HEADERS",
                "x-key=collector-1, authorization=Bearer%20collector-2,x-flag=1",
            ),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-key=collector-3=="),
        ];
        let variables =
            variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let known = KnownSecrets::new(
            Arc::new(Keyring::new("test")),
            Arc::new(SystemClock),
            &BTreeSet::new(),
            variables,
        );
        let values: Vec<String> =
            known.values().iter().map(|value| value.expose_secret().to_owned()).collect();
        assert_eq!(
            values,
            [
                "p@ssw0rd-1",
                "hidden-2",
                "hidden-31",
                "collector-1",
                "Bearer collector-2",
                "collector-3=="
            ]
        );
    }
}
