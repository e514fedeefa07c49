use super::*;

#[test]
fn chat_api_20_default_settings_equal_those_of_the_contract() {
    let config =
        Config::read_variables(&Flags::default(), PathBuf::from("token"), &|_| None).unwrap();
    assert_eq!(config.listen, SocketAddr::from(([127, 0, 0, 1], 3000)));
    assert_eq!(
        (config.body_limit, config.max_message_chars, config.max_message_tokens),
        (131_072, 4_000, 1_200)
    );
    assert_eq!((config.max_rounds, config.max_calls, config.session_ttl.as_secs()), (6, 3, 3_600));
    assert_eq!(
        (config.model_timeout.as_millis(), config.turn_timeout.as_millis()),
        (120_000, 300_000)
    );
    assert_eq!(
        (
            config.rates.chat,
            config.rates.chat_per_address,
            config.rates.token,
            config.rates.max_keys
        ),
        (20, 60, 10, 5_000)
    );
    assert_eq!(config.rates.prune.as_millis(), 60_000);
    assert_eq!(config.cors_origins, ["http://localhost:5173", "http://127.0.0.1:5173"]);
    assert!(
        !config.debug
            && config.debug_runs.is_none()
            && config.simple_auth.is_none()
            && config.allowed_applications.is_empty()
    );
    assert_eq!((config.model, config.status_seed, config.notice), (None, None, true));
    let on = |name: &str| {
        matches!(name, "DEBUG_RUNS_ENABLED" | "OPENAI_API_KEY").then(|| "1".to_owned())
    };
    let config = Config::read_variables(&Flags::default(), PathBuf::from("token"), &on).unwrap();
    assert_eq!(config.debug_runs.map(|runs| (runs.most, runs.ttl.as_secs())), Some((200, 86_400)));
    assert_eq!(config.model.as_deref(), Some("gpt-4o-mini"));
}

#[test]
fn chat_api_20_a_shop_address_must_be_a_valid_https_or_local_url() {
    let is_taken = |address: &'static str| {
        let set = move |name: &str| {
            SHOP.contains(&name)
                .then(|| if name.ends_with("_URL") { address } else { "set" }.to_owned())
        };
        Config::read_variables(&Flags::default(), PathBuf::from("token"), &set).is_ok()
    };
    for fits in [
        "https://shop.example.com/mcp",
        "http://127.0.0.1:8787/mcp",
        "http://[::1]:8787/mcp",
        "https://shop.example.com/mcp?to=me@here",
    ] {
        assert!(is_taken(fits), "{fits}");
    }
    for wrong in [
        "shop.example.com",
        "ftp://shop.example.com/mcp",
        "https://me:pw@shop.example.com/mcp",
        "https://0.0.0.0/mcp",
        "https://[ff02::1]/mcp",
        "https://224.0.0.1/",
    ] {
        assert!(!is_taken(wrong), "{wrong}");
    }
}

#[test]
fn chat_api_20_default_settings_of_the_server_and_its_shop_are_applied() {
    let config =
        Config::read_variables(&Flags::default(), PathBuf::from("token"), &|_| None).unwrap();
    assert_eq!(
        (config.patience.call.as_millis(), config.patience.token.as_millis()),
        (10_000, 5_000)
    );
    assert_eq!(
        (
            config.patience.retries,
            config.patience.base.as_millis(),
            config.patience.jitter.as_millis()
        ),
        (2, 500, 200)
    );
    assert_eq!((config.grace.as_secs(), config.max_connections), (20, 4_096));
    assert_eq!(
        (
            config.header_time.as_millis(),
            config.body_time.as_millis(),
            config.write_time.as_millis()
        ),
        (20_000, 15_000, 60_000)
    );
    assert!(config.session_store == SessionStore::Sqlite);
    let redis = |name: &str| match name {
        "SESSION_STORE" => Some("redis".to_owned()),
        "REDIS_URL" => Some("redis://127.0.0.1:6379".to_owned()),
        _ => None,
    };
    let config = Config::read_variables(&Flags::default(), PathBuf::from("token"), &redis).unwrap();
    assert!(
        config.session_store
            == SessionStore::Redis {
                url: "redis://127.0.0.1:6379".into(),
                prefix: "agent:sess:".into()
            }
    );
}

#[test]
fn chat_api_20_a_switch_is_on_only_with_1_or_true() {
    for (value, on) in [
        ("1", true),
        ("true", true),
        ("0", false),
        ("false", false),
        ("no", false),
        ("Off", false),
        ("2", false),
        ("yes", false),
        ("on", false),
        ("", false),
    ] {
        for enabled in ["SIMPLE_AUTH_ENABLED", "DEMO_AUTH_ENABLED"] {
            let of = |name: &str| match name {
                "DEBUG" | "DEBUG_RUNS_ENABLED" => Some(value.to_owned()),
                "SIMPLE_AUTH_JWT_SECRET" => Some("s".repeat(32)),
                name => (name == enabled).then(|| value.to_owned()),
            };
            let config = Config::read_variables(&Flags::default(), PathBuf::from("token"), &of);
            if matches!(value, "2" | "yes" | "on") {
                // An unclear value is an error, because nobody should believe that tokens or traces
                // are on while they are off.
                let told = config.unwrap_err().message;
                assert!(
                    [enabled, "DEBUG must", "DEBUG_RUNS_ENABLED"]
                        .iter()
                        .all(|name| told.contains(name)),
                    "{enabled}={value}: {told}"
                );
                continue;
            }
            let config = config.unwrap();
            assert_eq!(
                (config.debug, config.debug_runs.is_some(), config.simple_auth.is_some()),
                (on, on, on),
                "{enabled}={value}"
            );
        }
    }
    for (value, fits) in
        [("false", true), ("1", true), ("0", true), ("maybe", false), ("on", false)]
    {
        let of = |name: &str| (name == "AGENT_ENABLED").then(|| value.to_owned());
        let told = Config::read_variables(&Flags::default(), PathBuf::from("token"), &of)
            .map_err(|error| error.message);
        assert!(
            told.as_ref().map_or_else(|told| !fits && told.contains("AGENT_ENABLED"), |_| fits),
            "{value}: {told:?}"
        );
    }
}

#[test]
fn an_invalid_model_address_is_refused() {
    for (value, fits) in [
        ("https://models.example/v1", true),
        ("http://127.0.0.1:11434/v1", true),
        ("foo", false),
        ("ftp://models.example", false),
    ] {
        let of = |name: &str| (name == "OPENAI_BASE_URL").then(|| value.to_owned());
        let told = Config::read_variables(&Flags::default(), PathBuf::from("token"), &of)
            .map_err(|error| error.message);
        assert!(
            told.as_ref()
                .map_or_else(|told| !fits && told.contains("OPENAI_BASE_URL must be"), |_| fits),
            "{value}: {told:?}"
        );
    }
}

#[test]
fn an_allow_list_entry_that_can_never_match_is_reported() {
    let of = |name: &'static str, value: &'static str| {
        Config::read_variables(&Flags::default(), PathBuf::from("token"), &|variable| {
            (variable == name).then(|| value.to_owned())
        })
    };
    for (name, values) in [
        (
            "ALLOWED_HOSTS",
            &[
                "https://chat.other.example",
                "chat.other.example:443",
                "chat.other.example/v1",
                "*.other.example",
                "[2001:db8::1]:443",
                "ett två",
            ][..],
        ),
        (
            "CORS_ORIGINS",
            &[
                "*",
                "null",
                "other.example",
                "https://other.example/",
                "https://other.example/page",
                "https://Other.example",
                "https://other.example:443",
                "http://other.example:80",
                "https://other.example:",
                "https://other.example:99999",
                "https://ana@other.example",
                "https://",
            ],
        ),
        ("TRUSTED_PROXIES", &["::ffff:10.0.0.0/95"]),
        ("ALLOWED_APPLICATION_IDS", &["desktop", "shop-web, desktop"]),
    ] {
        for value in values {
            let fault = of(name, value).unwrap_err();
            assert!(
                fault.message.contains(name) && !fault.message.contains("other.example"),
                "{value}: {fault:?}"
            );
        }
    }
    let fault = of("CORS_ORIGINS", "https://shop.example, *").unwrap_err();
    assert!(fault.message.contains("entry 2"), "{fault:?}");
    assert_eq!(
        of("ALLOWED_HOSTS", "Chat.shop.example, 192.0.2.7, 2001:DB8::1, [::1]")
            .unwrap()
            .allowed_hosts,
        ["chat.shop.example", "192.0.2.7", "[2001:db8::1]", "[::1]"]
    );
    let pages =
        "https://shop.example, http://localhost:5173, http://[::1]:8080, capacitor://localhost";
    assert_eq!(of("CORS_ORIGINS", pages).unwrap().cors_origins.join(", "), pages);
}

#[test]
fn chat_api_20_the_port_comes_from_the_listen_flag_or_the_port_variable() {
    let of = |listen: Option<SocketAddr>, port: &'static str| {
        let variable = move |name: &str| (name == "PORT").then(|| port.to_owned());
        Config::read_variables(
            &Flags { listen, ..Flags::default() },
            PathBuf::from("token"),
            &variable,
        )
        .map(|config| config.listen.to_string())
    };
    assert_eq!(of(None, "8123").unwrap(), "127.0.0.1:8123");
    assert_eq!(
        of(Some(SocketAddr::from(([127, 0, 0, 1], 9001))), "8123").unwrap(),
        "127.0.0.1:9001"
    );
    for wrong in ["65536", "-1", "http", "80 80"] {
        assert!(of(None, wrong).unwrap_err().message.contains("PORT"), "{wrong}");
    }
}
