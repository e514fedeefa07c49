use serde_json::json;

use super::*;

#[test]
fn each_http_status_has_an_error_kind_and_says_whether_to_retry() {
    let table = [
        (400, ModelErrorKind::BadRequest, false),
        (401, ModelErrorKind::Unauthorized, false),
        (403, ModelErrorKind::Unauthorized, false),
        (404, ModelErrorKind::BadRequest, false),
        (408, ModelErrorKind::Unavailable, true),
        (409, ModelErrorKind::Unavailable, true),
        (429, ModelErrorKind::RateLimited, true),
        (500, ModelErrorKind::Unavailable, true),
        (503, ModelErrorKind::Unavailable, true),
        (529, ModelErrorKind::Unavailable, true),
    ];
    for (status, kind, retry) in table {
        let failure = from_status("host", StatusCode::from_u16(status).unwrap(), "", &[]);
        assert_eq!((failure.error.kind, failure.retry), (kind, retry), "{status}");
        assert!(failure.error.hint.is_some(), "{status} says what to do");
    }
}

#[test]
fn error_messages_quote_the_server_but_never_a_key() {
    let body = json!({"error": {"message": "gemma does not support tools"}}).to_string();
    let failed = from_status("host", StatusCode::BAD_REQUEST, &body, &[]);
    assert_eq!(
        failed.error.message_with_quote().as_str(),
        "host refused the request (status 400). The server said: “gemma does not support tools”"
    );
    assert!(failed.error.hint.unwrap().contains("supports tools"));
    assert_eq!(failed.answer.may_refuse, [Part::Kept, Part::Tools]);
    assert!(
        parse_stream_error(&json!({"message": "engine died"}))
            .message_with_quote()
            .contains("engine died")
    );
    // A text about a key may contain a part of the key.
    let body = json!({"error": {"message": "Incorrect API key provided: sk-SECRET", "code": "invalid_api_key"}}).to_string();
    for status in [400, 401, 404, 429, 500] {
        let error = from_status("host", StatusCode::from_u16(status).unwrap(), &body, &[]).error;
        assert!(!format!("{error:?}").contains("SECRET"), "{status}");
    }
    let stream = json!({"message": "SECRET", "type": "authentication_error"});
    assert!(!format!("{:?}", parse_stream_error(&stream)).contains("SECRET"));
}

#[test]
fn error_messages_quote_the_server_for_every_cause_except_a_key() {
    for (status, error, part) in [
        (400, json!({"code": "context_length_exceeded", "message": "5000 of 4096 tokens"}), "5000"),
        (402, json!({"message": "Add more at openrouter.example"}), "Add more"),
        (429, json!({"code": "insufficient_quota", "message": "the plan ended"}), "the plan ended"),
        (403, json!({"type": "request_forbidden", "message": "Region not supported"}), "Region"),
        (403, json!({"message": "blocked by the company's gateway"}), "gateway"),
    ] {
        let body = json!({ "error": error }).to_string();
        let failed = from_status("host", StatusCode::from_u16(status).unwrap(), &body, &[]);
        assert!(failed.error.message_with_quote().contains(part), "{status}: {:?}", failed.error);
        assert!(!failed.retry, "{status}");
    }
    let stream = json!({"code": "insufficient_quota", "message": "the plan ended"});
    let failed = classify(parse_stream_error(&stream));
    assert!(
        failed.error.message_with_quote().contains("the plan ended") && !failed.retry,
        "{failed:?}"
    );
    let keyless = from_status("host", StatusCode::FORBIDDEN, r#"{"detail": "Origin"}"#, &[]);
    assert!(keyless.with_missing_key("host").error.message_with_quote().contains("Origin"));
    // The text may contain a part of the key.
    let body = json!({"error": {"message": "key SECRET may not do this"}}).to_string();
    let failed = from_status("host", StatusCode::FORBIDDEN, &body, &[]);
    assert!(!format!("{:?}", failed.error).contains("SECRET"));
}

#[test]
fn a_403_from_a_content_filter_is_not_a_key_error() {
    let body = json!({"error": {"code": 403, "message": "Input flagged by moderation"}});
    let failed = from_status("host", StatusCode::FORBIDDEN, &body.to_string(), &[]);
    assert_eq!(failed.error.kind, ModelErrorKind::BadRequest);
    assert!(failed.error.hint.as_ref().unwrap().contains("Word the message"), "{failed:?}");
}

#[test]
fn an_internal_server_error_is_not_called_an_overload() {
    let error = parse_stream_error(&json!({"code": 500, "message": "CUDA out of memory"}));
    assert!(!error.message.contains("overloaded"), "{error:?}");
    assert!(error.hint.as_ref().unwrap().contains("smaller model"), "{error:?}");
}

#[test]
fn the_error_hint_names_the_missing_path_of_an_address() {
    let base = Url::parse("http://127.0.0.1:1234").unwrap();
    let unexpected = json!("Unexpected endpoint or method. (POST /chat/completions)");
    let status =
        |code| from_status("host", StatusCode::from_u16(code).unwrap(), "404 page not found", &[]);
    for failed in [classify(parse_stream_error(&unexpected)), status(404), status(405)] {
        let named = failed.clone().with_missing_path(&base);
        assert!(!named.retry && named.error.hint.unwrap().contains("http://127.0.0.1:1234/v1"));
        let whole = Url::parse("http://127.0.0.1:1234/v1").unwrap();
        assert_eq!(failed.clone().with_missing_path(&whole), failed);
    }
}

#[test]
fn missing_rejected_and_restricted_keys_have_different_errors() {
    let of = |status: u16, body: &Value| {
        from_status("host", StatusCode::from_u16(status).unwrap(), &body.to_string(), &[])
    };
    let rejected = of(401, &json!({"error": {"type": "authentication_error"}}));
    let restricted = of(403, &json!({"error": {"type": "permission_error"}}));
    for (failure, problem) in [
        (rejected.clone(), Problem::Key),
        (of(403, &json!({"error": {"code": "invalid_api_key"}})), Problem::Key),
        (of(401, &json!({"error": {"code": 401}})), Problem::Key),
        (restricted.clone(), Problem::KeyPermission),
        (
            of(403, &json!([{"error": {"code": 403, "status": "PERMISSION_DENIED"}}])),
            Problem::KeyPermission,
        ),
        (
            of(
                401,
                &json!({"error": {"message": "You have insufficient permissions for this operation."}}),
            ),
            Problem::KeyPermission,
        ),
        (rejected.clone().with_missing_key("host"), Problem::KeyMissing),
        (restricted.clone().with_missing_key("host"), Problem::KeyMissing),
    ] {
        assert_eq!((failure.problem, failure.error.kind), (problem, ModelErrorKind::Unauthorized));
    }
    let sentences: Vec<String> = [rejected.clone(), restricted, rejected.with_missing_key("host")]
        .map(|f| f.error.message.to_string())
        .into();
    assert_eq!(
        sentences,
        [
            "host rejected the API key.",
            "host does not allow this API key to use the model.",
            "host requires an API key, and none is stored."
        ]
    );
    let busy = from_status("host", StatusCode::SERVICE_UNAVAILABLE, "", &[]);
    assert_eq!(
        busy.clone().with_missing_key("host"),
        busy,
        "another failure has nothing to do with keys"
    );
}

#[test]
fn googles_status_400_for_an_invalid_key_is_a_key_error() {
    let body = json!([{"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}]).to_string();
    let failure = from_status("host", StatusCode::BAD_REQUEST, &body, &[]);
    assert_eq!((failure.error.kind, failure.problem), (ModelErrorKind::Unauthorized, Problem::Key));
}

#[test]
fn the_context_length_error_of_each_server_is_recognised() {
    for error in [
        json!({"error": {"message": "no", "type": "invalid_request_error", "code": "context_length_exceeded"}}),
        json!({"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it", "type": "exceed_context_size_error"}}),
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"}}),
        json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}),
        json!({"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 5000.", "code": 400}),
        json!({"error": "the input length exceeds the context length"}),
        json!({"error": "Trying to keep the first 5120 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens."}),
        json!({"error": {"message": "Reached context length of 4096 tokens with model, but this model does not support overflow."}}),
        json!({"error": "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length."}),
        json!({"error": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}),
        json!({"code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 131072 but the request contains 136973 tokens."}),
        json!({"error": {"type": "invalid_request_error", "message": "Your request exceeded model token limit: 131072 (requested: 140000)"}}),
        json!({"object": "error", "message": "The input (61709 tokens) is longer than the model's context length (40960 tokens).", "type": "BadRequestError", "code": 400}),
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}),
    ] {
        let failure = from_status("host", StatusCode::BAD_REQUEST, &error.to_string(), &[]);
        assert_eq!(
            (failure.error.kind, failure.retry),
            (ModelErrorKind::TooLong, false),
            "{error}"
        );
        assert!(failure.error.message.contains("too long"), "{error}");
    }
    // The requested answer is too long. Removing messages may make room, so no new session is
    // needed.
    let bound = json!({"object": "error", "code": 400, "message": "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens"});
    let failure = from_status("host", StatusCode::BAD_REQUEST, &bound.to_string(), &[]);
    assert_eq!(failure.error.kind, ModelErrorKind::TooLong);
    assert!(
        failure.error.message.contains("so long an answer")
            && failure.error.hint.unwrap().contains("Budgets")
    );
    let other =
        json!({"error": {"message": "max_tokens is too large", "type": "invalid_request_error"}})
            .to_string();
    assert_eq!(
        from_status("host", StatusCode::BAD_REQUEST, &other, &[]).error.kind,
        ModelErrorKind::BadRequest
    );
}

#[test]
fn only_a_refusal_of_the_tools_is_reported_as_one() {
    let message = |error: Value| {
        from_status("host", StatusCode::BAD_REQUEST, &json!({"error": error}).to_string(), &[])
            .error
            .message
    };
    let type_ = "invalid_request_error";
    assert!(message(json!({"type": type_, "param": "tools[0].function.parameters", "code": "invalid_function_parameters"})).contains("tools"));
    assert!(
        !message(json!({"type": type_, "param": "messages[2]", "message": "about tools"}))
            .contains("refused the tools")
    );
}

#[test]
fn a_refused_optional_part_of_a_request_is_recognised() {
    let refused = |body: &str| {
        from_status("host", StatusCode::BAD_REQUEST, body, &["thinking"]).answer.may_refuse
    };
    assert_eq!(refused("thinking is not supported on this model"), [Part::Optional, Part::Kept]);
    assert_eq!(refused("no such model"), [Part::Kept]);
    assert_eq!(refused("Use 'max_completion_tokens' instead"), [Part::Kept, Part::Bound]);
    assert_eq!(
        refused(r#"{"error": {"code": "context_length_exceeded", "message": "tools"}}"#),
        []
    );
}

#[test]
fn the_error_for_a_too_long_message_suggests_a_shorter_one() {
    let words =
        "request (2754 tokens) exceeds the available context size (2048 tokens), try increasing it";
    let error = json!({"code": 400, "type": "exceed_context_size_error", "message": words});
    let body = json!({ "error": error }).to_string();
    let error = from_status("host", StatusCode::BAD_REQUEST, &body, &[]).error;
    assert_eq!(error.kind, ModelErrorKind::TooLong);
    assert!(error.message_with_quote().contains(words), "{error:?}");
    assert!(error.hint.unwrap().contains("shorter message"));
}

#[test]
fn missing_credit_is_not_retried_although_its_status_is_429() {
    let body = json!({"error": {"code": "insufficient_quota"}}).to_string();
    assert!(!from_status("host", StatusCode::TOO_MANY_REQUESTS, &body, &[]).retry);
}

#[test]
fn error_objects_in_a_stream_have_the_right_error_kind() {
    let table = [
        (json!({"code": 429}), ModelErrorKind::RateLimited),
        (json!({"type": "authentication_error"}), ModelErrorKind::Unauthorized),
        (
            json!({"code": "context_length_exceeded", "type": "invalid_request_error"}),
            ModelErrorKind::TooLong,
        ),
        (json!({"type": "overloaded_error"}), ModelErrorKind::Unavailable),
        (json!("something"), ModelErrorKind::Unavailable),
    ];
    for (error, kind) in table {
        assert_eq!(parse_stream_error(&error).kind, kind, "{error}");
    }
}
