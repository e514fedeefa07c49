//! Which values must never reach a model: what the keyring has handed out or taken in since the start, what it holds when a turn's first
//! words go out (a tool could find it in another way), and the credentials of the environment.

use std::{collections::BTreeSet, sync::Arc};

use engine::ports::Secrets;
use secrecy::SecretString;
use secrets::Keyring;

use crate::{credentials, models, servers};

/// Parts of variable names that say that the value is a credential.
const WORDS: [&str; 9] = ["KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS"];
/// Shorter values of variables that only sound like credentials are settings ("1", "none").
const SHORTEST: usize = 8;

/// The secrets of this process.
pub(crate) struct KnownSecrets {
    keyring: Arc<Keyring>,
    environment: Vec<SecretString>,
}

impl KnownSecrets {
    /// `declared` are the variables that packs name as credentials; any other counts by its name.
    pub(crate) fn new(keyring: Arc<Keyring>, declared: &BTreeSet<String>, variables: impl Iterator<Item = (String, String)>) -> Self {
        let environment = variables.filter(|(name, value)| declared.contains(name) || is_credential(name, value));
        Self { keyring, environment: environment.map(|(_, value)| SecretString::from(value)).collect() }
    }
}

impl Secrets for KnownSecrets {
    fn generation(&self) -> u64 {
        self.keyring.handed_out_count()
    }

    fn values(&self) -> Vec<SecretString> {
        self.environment.iter().cloned().chain(self.keyring.handed_out()).collect()
    }
}

/// Reads what the keyring holds for packs, servers and models; another program of the profile may have stored it since the last turn.
pub(crate) async fn learn(keyring: &Keyring) {
    for (name, value) in keyring.read_all(is_entry).await {
        if name.starts_with(servers::TOKENS) {
            servers::note_tokens(keyring, &value);
        }
    }
}

/// Whether a keyring entry holds a secret of a pack, a server or a model: not the log's own, of which the mark is none.
fn is_entry(name: &str) -> bool {
    name.starts_with(credentials::OF_PACKS) || name.starts_with(servers::TOKENS) || name.split_once('@').is_some_and(|(key, _)| key == models::API_KEY)
}

/// Whether a variable's name says that it holds a credential.
pub(crate) fn names_credential(name: &str) -> bool {
    name.to_ascii_uppercase().split('_').any(|part| WORDS.contains(&part))
}

fn is_credential(name: &str, value: &str) -> bool {
    // A path to a file with a key in it is no key, and would take that folder out of every text.
    names_credential(name) && value.trim().len() >= SHORTEST && !value.starts_with(['/', '~', '.']) && !value.contains(":\\")
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        process::{Command, Stdio},
    };

    use contract::KeyringState;
    use kit::desktop::{ON_BUS, keyring_is_there};
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn entries_of_packs_servers_and_models_are_secrets() {
        let all = [credentials::entry("post", "TOKEN"), servers::tokens_entry(&"post".into(), "far"), "OPENAI_API_KEY@api.example.com".to_owned()];
        assert!(all.iter().all(|name| is_entry(name)), "{all:?}");
        assert!(!is_entry("audit-mark") && !is_entry("audit-signing-key"));
    }

    /// Starts this program anew with a bus of its own, so that nothing is shared with the machine's session.
    #[test]
    fn what_lies_unread_in_the_keyring_is_known_before_words_go_out() {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new("dbus-run-session");
        command.arg("--").arg(std::env::current_exe().unwrap()).args(["--exact", "known::tests::inside_a_session", "--ignored"]);
        command.env("HOME", home.path()).env("XDG_RUNTIME_DIR", home.path()).env("XDG_DATA_HOME", home.path());
        let status = command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("GNOME_KEYRING_CONTROL").status();
        assert!(status.expect("dbus-run-session is needed: apt-get install dbus-daemon gnome-keyring").success());
    }

    #[tokio::test]
    #[ignore = "runs inside a private session"]
    async fn inside_a_session() {
        let mut daemon = Command::new("gnome-keyring-daemon");
        daemon.args(["--foreground", "--components=secrets", "--unlock"]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut daemon = daemon.spawn().expect("gnome-keyring-daemon is needed: apt-get install gnome-keyring");
        daemon.stdin.take().unwrap().write_all(b"password").unwrap();
        kit::webdriver::wait("the keyring", || keyring_is_there(Command::new(ON_BUS)).then_some(()));
        let other = Keyring::new("profile");
        assert_eq!(other.state().await, KeyringState::Ready);
        let tokens = r#"{"token_response": {"access_token": "access-1"}}"#;
        let kept = [("audit-mark", "mark-1"), ("credential/post/TOKEN", "token-1"), ("oauth/post/far", tokens), ("OPENAI_API_KEY@api.example.com", "key-1")];
        for (name, value) in kept {
            other.set(name, SecretString::from(value)).await.unwrap();
        }
        let keyring = Arc::new(Keyring::new("profile"));
        let known = KnownSecrets::new(Arc::clone(&keyring), &BTreeSet::new(), std::iter::empty());
        assert!(known.values().is_empty());
        learn(&keyring).await;
        let values: BTreeSet<String> = known.values().iter().map(|value| value.expose_secret().to_owned()).collect();
        assert_eq!(values, BTreeSet::from(["access-1", "key-1", "token-1", tokens].map(str::to_owned)));
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }

    #[test]
    fn credentials_of_the_environment_are_known_by_their_names() {
        let variables = [
            ("OPENAI_API_KEY", "sk-1234567890"),
            ("shop_token", "abcdefgh1"),
            ("PACK_LOGIN", "declared-one"),
            ("PWD", "/home/ana/work"),
            ("KEYBOARD", "swedish-layout"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ana/key.json"),
            ("DEBUG_TOKEN", "1"),
        ];
        let declared = BTreeSet::from(["PACK_LOGIN".to_owned()]);
        let keyring = Arc::new(Keyring::new("test"));
        keyring.set_for_this_run("x", SecretString::from("entered-by-hand"));
        let known = KnownSecrets::new(Arc::clone(&keyring), &declared, variables.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned())));
        let values: Vec<String> = known.values().iter().map(|value| value.expose_secret().to_owned()).collect();
        assert_eq!(values, ["sk-1234567890", "abcdefgh1", "declared-one", "entered-by-hand"]);
        let before = known.generation();
        keyring.set_for_this_run("x", SecretString::from("entered-by-hand"));
        assert_eq!(known.generation(), before, "nothing new");
        keyring.set_for_this_run("x", SecretString::from("another one"));
        assert_ne!(known.generation(), before);
        assert_eq!(known.values().len(), 5, "the old one stays secret");
    }
}
