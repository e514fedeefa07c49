//! Tests that a key is sent only to the server that it belongs to, however an address is written.

use std::net::IpAddr;

use contract::address::Origin;
use models::{Config, Provider, ServerKey, origin_of};
use proptest::prelude::*;
use secrecy::SecretString;

use crate::support::{config, world};

/// Generates addresses from pieces: schemes, separators, user names, hosts in many spellings,
/// ports, paths.
fn spelled() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec![
        "https", "http", "HTTPS", "hTTp", "ht\ttps", "\nhttps", " http", "ftp", "",
    ]);
    let between =
        prop::sample::select(vec!["://", ":", ":/", ":///", ":\\\\", ":/\\", ":\t//", "//"]);
    let user = prop::sample::select(vec![
        "",
        "",
        "",
        "api.openai.com@",
        "me:word@",
        "%61pi.openai.com:443@",
        "@",
    ]);
    let host = prop::sample::select(vec![
        "api.openai.com",
        "API.OpenAI.com",
        "api.openai.com.",
        "api%2Eopenai%2ecom",
        "api\u{3002}openai.com",
        "\u{ff41}pi.openai.com",
        "api.open\u{ad}ai.com",
        "\u{430}pi.openai.com",
        "xn--pi-6kc.openai.com",
        "api.openai.com.evil.example",
        "evil.example",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "localhost.evil.example",
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0177.0.0.1",
        "2130706433",
        "0",
        "10.0.0.1",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[2001:db8::1]",
        "b\u{fc}cher.example",
        "",
    ]);
    let port =
        prop::sample::select(vec!["", "", ":443", ":80", ":8443", ":00443", ":", ":0", ":99999"]);
    let path = prop::sample::select(vec![
        "",
        "/",
        "/v1",
        "/x://api.openai.com/v1",
        "\\x://api.openai.com/v1",
        "/#://api.openai.com/v1",
        "?://api.openai.com/v1",
        "#@api.openai.com/v1",
        "\\@api.openai.com/v1",
        "/../../@api.openai.com",
        "/v1/chat/completions",
        "/messages\n",
    ]);
    (scheme, between, user, host, port, path).prop_map(
        |(scheme, between, user, host, port, path)| {
            format!("{scheme}{between}{user}{host}{port}{path}")
        },
    )
}

/// Whether a second URL parser agrees that the connection is encrypted or within this computer.
fn is_private(url: &url::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    url.scheme() == "https"
        || address.is_some_and(|ip| ip.is_loopback())
        || host == "localhost"
        || host.ends_with(".localhost")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_is_sent_only_to_its_own_server_for_any_spelling_of_an_address(text in spelled()) {
        let with_key = |server: Origin| {
            let api_key = Some(ServerKey { server, key: SecretString::from("sk-test-SECRET") });
            Provider::new(Config { base_url: text.clone(), api_key, ..config("") }, world())
        };
        let own = Origin::parse("https://api.openai.com").unwrap();
        let asked = origin_of(&text);
        prop_assert_eq!(with_key(own.clone()).is_ok(), asked == Some(own), "{:?} leads to {:?}", &text, &asked);
        let Some(asked) = asked else { return Ok(()) };
        // The server that requests reach, according to the library that sends the requests.
        let url = url::Url::parse(text.trim().trim_end_matches('/')).unwrap();
        prop_assert_eq!(url.origin().ascii_serialization(), asked.to_string());
        prop_assert!(url.username().is_empty() && url.password().is_none());
        prop_assert_eq!(with_key(asked.clone()).is_ok(), is_private(&url), "{:?}", &text);
        // Keyring names of version 0.1 lead to the same server or to no server.
        let typed = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest).split(['/', '?']).next().unwrap_or_default();
        if asked.had_legacy_name(typed) {
            let named = url::Url::parse(&format!("https://{typed}")).unwrap();
            prop_assert_eq!((named.host_str(), named.port_or_known_default()), (url.host_str(), url.port_or_known_default()));
        }
    }
}
