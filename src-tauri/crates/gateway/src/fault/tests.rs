use super::*;

#[test]
fn chat_api_5_failures_of_models_and_shops_map_to_their_status_and_code() {
    let error = |code, reason: &str, message: &str| AgentError::new(code, message).reason(reason);
    let llm = ErrorCode::LlmError;
    for (error, status, category, code, retryable) in [
        (
            error(ErrorCode::RateLimited, "provider_rate_limit", "quota"),
            429,
            "upstream",
            "OPENAI_RATE_LIMIT",
            true,
        ),
        (
            error(llm, "provider_unavailable", "host sent nothing for 60 seconds."),
            504,
            "upstream",
            "OPENAI_TIMEOUT",
            false,
        ),
        (
            error(llm, "provider_unavailable", "host cannot answer"),
            503,
            "upstream",
            "OPENAI_API_ERROR",
            false,
        ),
        (
            error(llm, "provider_unauthorized", "the token is wrong"),
            503,
            "upstream",
            "OPENAI_API_ERROR",
            false,
        ),
        (
            error(llm, "provider_refused", "host refused the tools as they are described"),
            500,
            "upstream",
            "OPENAI_TOOL_SCHEMA_ERROR",
            false,
        ),
        (
            error(llm, "provider_refused", "host refused the request"),
            503,
            "upstream",
            "OPENAI_API_ERROR",
            false,
        ),
        (error(llm, "provider_protocol", "gibberish"), 503, "upstream", "OPENAI_API_ERROR", false),
        (
            error(llm, "provider_too_long", "the conversation is too long"),
            503,
            "upstream",
            "OPENAI_API_ERROR",
            false,
        ),
        (
            error(ErrorCode::InternalError, "budget_exceeded", "550 tokens of 9000"),
            503,
            "upstream",
            "OPENAI_API_ERROR",
            false,
        ),
        (error(ErrorCode::ToolTimeout, "", "gibberish"), 504, "upstream", "TIMEOUT_REQUEST", true),
        (
            error(ErrorCode::InternalError, "unexpected", "gibberish"),
            500,
            "internal",
            "INTERNAL_ERROR",
            false,
        ),
    ] {
        let fault = Fault::from_error(&error, "en");
        assert_eq!(
            (fault.status.as_u16(), fault.category.name(), fault.code, fault.retryable),
            (status, category, code, retryable),
            "{}",
            error.message
        );
        assert!(!fault.safe_message().contains(&error.message), "its words stay here");
    }
}

#[test]
fn chat_api_5_an_error_message_with_a_confidential_word_is_replaced() {
    for word in HIDDEN {
        for word in [word.to_owned(), word.to_uppercase()] {
            let shown = Fault::invalid(format!("The {word} is 17.")).safe_message();
            assert!(!shown.contains("17") && !shown.is_empty(), "{word}: {shown}");
        }
    }
    assert_eq!(Fault::invalid("The quantity is 17.").safe_message(), "The quantity is 17.");
}

#[test]
fn chat_api_5_error_details_are_short_flat_and_name_no_secret() {
    let names = [
        "token",
        "accessToken",
        "clientSecret",
        "client-id",
        "client_id",
        "Password",
        "API_KEY",
        "api-key",
        "Authorization",
        "bearer",
        "myCredentials",
    ];
    let fault =
        names.iter().fold(Fault::invalid("no"), |fault, name| fault.with_detail(name, "hidden"));
    let fault = fault
        .with_detail("exact", "å".repeat(200))
        .with_detail("long", "å".repeat(201))
        .with_detail("list", json!(["hidden"]))
        .with_detail("nested", json!({"a": "hidden"}));
    let fault =
        fault.with_detail("field", "message").with_detail("limit", 4_000).with_detail("open", true);
    let told = fault.envelope("r", true)["details"].clone();
    let (cut, marker) = ("å".repeat(200), "[object]");
    assert_eq!(
        told,
        json!({"exact": cut, "long": cut, "list": marker, "nested": marker, "field": "message", "limit": 4_000, "open": true})
    );
}

#[test]
fn chat_api_5_an_error_message_has_at_most_500_characters() {
    for (length, told) in [(499, 499), (500, 500), (501, 500)] {
        let message = "å".repeat(length);
        let envelope = Fault::invalid(&message).envelope("r", false);
        assert_eq!(envelope["message"], message.chars().take(told).collect::<String>());
    }
}

#[test]
fn chat_api_5_failures_of_the_shop_map_to_their_status_and_code() {
    let http = |reason: &str| {
        AgentError::new(ErrorCode::ToolHttpError, "The database is on fire.").reason(reason)
    };
    let status = |status: u16| http("mcp_http_status").with("status", status);
    for (error, status, category, code, retryable) in [
        (http("mcp_token"), 503, Category::Auth, "OAUTH_TOKEN_FETCH_FAILED", false),
        (http("mcp_not_connected"), 503, Category::Upstream, "MCP_TRANSPORT_NETWORK_ERROR", true),
        (http("mcp_exception"), 503, Category::Upstream, "MCP_TRANSPORT_NETWORK_ERROR", true),
        (status(500), 503, Category::Upstream, "MCP_TRANSPORT_HTTP_ERROR", true),
        (status(503), 503, Category::Upstream, "MCP_TRANSPORT_HTTP_ERROR", true),
        (status(403), 502, Category::Upstream, "MCP_TRANSPORT_HTTP_ERROR", true),
        (
            AgentError::internal("invalid_response", "odd"),
            502,
            Category::Upstream,
            "MCP_PROTOCOL_INVALID_RESPONSE",
            false,
        ),
        (
            AgentError::internal("invalid_output", "odd"),
            502,
            Category::Upstream,
            "MCP_PROTOCOL_INVALID_RESPONSE",
            false,
        ),
        (http("mcp_init_failed"), 503, Category::Upstream, "MCP_PROTOCOL_INIT_FAILED", true),
        (http("mcp_tool_error"), 502, Category::Upstream, "MCP_TOOL_EXECUTION_FAILED", false),
        (
            http("mcp_exception").with("code", -32_602),
            502,
            Category::Upstream,
            "MCP_TOOL_EXECUTION_FAILED",
            false,
        ),
        (
            http("mcp_refused").with("code", -32_602),
            502,
            Category::Upstream,
            "MCP_TOOL_EXECUTION_FAILED",
            false,
        ),
        (
            AgentError::new(ErrorCode::ToolTimeout, "slow").reason("mcp_timeout"),
            504,
            Category::Upstream,
            "TIMEOUT_REQUEST",
            true,
        ),
    ] {
        let fault = Fault::from_error(&error, "en");
        assert_eq!(
            (fault.status.as_u16(), fault.category, fault.code, fault.retryable),
            (status, category, code, retryable),
            "{error:?}"
        );
        assert!(
            !fault.envelope("r", true).to_string().contains("on fire"),
            "the shop's words stay here"
        );
        assert!(!format!("{:?}", fault.cause).contains("on fire"), "and do not come into the log");
    }
}

#[test]
fn error_messages_and_details_contain_no_secrets_or_long_texts() {
    let fault = Fault::invalid("The Bearer abc was wrong");
    assert_eq!(fault.safe_message(), "The request could not be processed.");
    assert_eq!(Fault::invalid("x".repeat(900)).safe_message().chars().count(), 500);
    let fault = Fault::invalid("no")
        .with_detail("apiKey", "1")
        .with_detail("long", "y".repeat(900))
        .with_detail("nested", json!({"a": 1}));
    assert!(fault.envelope("r", false).get("details").is_none());
    let details = &fault.envelope("r", true)["details"];
    assert_eq!((details.get("apiKey"), details["nested"].as_str()), (None, Some("[object]")));
    assert_eq!(details["long"].as_str().unwrap().len(), 200);
}
