//! Finds keys that an earlier version left in the file of an added server. Values that only look
//! random stay in the file, because the user was not asked about them. Stores nothing.

use super::{
    keys::{KeyStore, KeyValues},
    separating::Separating,
    storage::StoredServer,
};

/// The placeholder for the value of a key that is already in the keyring, so that no other key gets
/// its name.
const STORED: &str = "\0";

/// Returns a server without the keys in its file, and these keys. Returns None if there are no
/// keys.
pub(crate) fn separate_stored_keys(stored: &StoredServer) -> Option<(StoredServer, KeyValues)> {
    let places = ["url".to_owned()].into_iter();
    let places = places.chain((0..stored.args.len()).map(|at| format!("args/{at}")));
    let not_keys: Vec<String> =
        places.chain(stored.env.keys().map(|name| format!("env/{name}"))).collect();
    let known = stored.key_names().into_iter().map(|name| (name, STORED.to_owned())).collect();
    let mut without = stored.clone();
    without.args.clear();
    without.env.clear();
    let mut separating = Separating {
        stored: without,
        keys: KeyStore(known),
        unsure: Vec::new(),
        not_keys: &not_keys,
        said_keys: &[],
    };
    let mut option = String::new();
    for (at, word) in stored.args.iter().enumerate() {
        if word.keys().next().is_some() {
            separating.stored.args.push(word.clone());
            option.clear();
        } else {
            option = separating.add_arg(at, &word.write(str::to_owned), &option);
        }
    }
    for (name, value) in &stored.env {
        if separating.add_variable(name, value).is_err() {
            separating.stored.env.insert(name.clone(), value.clone());
        }
    }
    let url = stored.shown_url();
    if !url.is_empty() && stored.url.keys().next().is_none() {
        // An address that cannot be parsed stays unchanged.
        let _ = separating.add_address(&url);
    }
    let Separating { stored, keys, .. } = separating;
    let fresh: KeyValues = keys.0.into_iter().filter(|(_, value)| value != STORED).collect();
    (!fresh.is_empty()).then_some((stored, fresh))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stored(args: &[&str], env: &[(&str, &str)]) -> StoredServer {
        let env: serde_json::Map<_, _> =
            env.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        serde_json::from_value(json!({
            "name": "old", "program": "/bin/sh", "args": args, "env": env,
            "keys": {"TOKEN": "TOKEN"}, "enabled": true,
        }))
        .unwrap()
    }

    #[test]
    fn keys_that_an_earlier_version_left_in_a_file_are_moved_to_the_keyring() {
        let ghp = format!("ghp_{}", "a1B2".repeat(9));
        let random = "q7Zr0XbN4tLw9Vd2KfP1";
        let old = stored(
            &["--token", "letmein-1", "--account", random, "--port", "8080"],
            &[("ODD", &ghp), ("DB", "postgres://me:letmein-2@db.example/x"), ("MOOD", "fine")],
        );
        let (moved, values) = separate_stored_keys(&old).unwrap();
        assert_eq!(
            values,
            KeyValues::from([
                ("TOKEN_2".into(), "letmein-1".into()),
                ("ODD_KEY".into(), ghp.clone()),
                ("DB_KEY".into(), "postgres://me:letmein-2@db.example/x".into()),
            ]),
            "a key in the keyring keeps its name"
        );
        let text = moved.file().to_string();
        assert!(!text.contains("letmein") && !text.contains("ghp_"), "{text}");
        assert!(text.contains(random) && text.contains("fine") && text.contains("8080"), "{text}");
        assert_eq!(moved.keys["TOKEN"], "TOKEN");
        assert_eq!(separate_stored_keys(&moved), None, "it happens once");
    }

    #[test]
    fn a_key_in_a_stored_address_is_moved_and_an_invalid_address_stays() {
        let with = |url: &str| -> StoredServer {
            serde_json::from_value(json!({"name": "far", "url": url, "enabled": true})).unwrap()
        };
        let (moved, values) =
            separate_stored_keys(&with("https://mcp.example/mcp?api_key=letmein-now&page=1"))
                .unwrap();
        assert_eq!(values["URL_KEY"], "letmein-now");
        assert_eq!(moved.shown_url(), "https://mcp.example/mcp?api_key=secret:URL_KEY&page=1");
        assert_eq!(separate_stored_keys(&with("not an address")), None);
    }
}
