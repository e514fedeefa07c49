//! Tests requests from templates: every value is inserted at its position and changes nothing else.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const NO_KEY: Key<'static> = Key { strategy: IdempotencyStrategy::None, place: None, value: None };

fn call(value: Value) -> HttpCall {
    serde_json::from_value(value).unwrap()
}

fn build_request(template: Value, arguments: Value) -> Result<BuiltRequest, AgentError> {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    build(&call(template), &arguments, NO_KEY)
}

fn json_body(built: &BuiltRequest) -> Value {
    serde_json::from_slice(built.body.as_deref().unwrap()).unwrap()
}

#[test]
fn arguments_are_filled_into_path_query_and_headers() {
    let template = json!({"url": "https://api.example.com/v1/orders/{id}.json", "query": {"q": "{q}", "tag": "{tags}", "none": "{none}", "page": "1"},
        "headers": {"X-Customer": "customer {who}"}});
    let built = build_request(
        template,
        json!({"id": "a b/ö", "q": "x&y=z #", "tags": ["a", "b"], "who": "Åsa"}),
    )
    .unwrap();
    assert_eq!(
        built.url.as_str(),
        "https://api.example.com/v1/orders/a%20b%2F%C3%B6.json?page=1&q=x%26y%3Dz+%23&tag=a&tag=b"
    );
    assert_eq!(built.headers[0].1, "customer %C3%85sa");
    assert!(built.body.is_none());
}

#[test]
fn a_request_body_keeps_json_types_and_omits_absent_values() {
    let template = json!({"method": "POST", "url": "https://h.example/x", "body": {"n": "{n}", "note": "for {who}", "gone": "{gone}", "list": ["{gone}", "{n}"], "fixed": true}});
    let built_ = build_request(template, json!({"n": 3, "who": "\"}{"})).unwrap();
    assert_eq!(json_body(&built_), json!({"n": 3, "note": "for \"}{", "list": [3], "fixed": true}));
    let rest = build_request(
        json!({"method": "POST", "url": "https://h.example/{id}", "query": {"q": "{q}"}}),
        json!({"id": 1, "q": "x", "a": [1], "b": null}),
    )
    .unwrap();
    assert_eq!(json_body(&rest), json!({"a": [1], "b": null}), "what is used nowhere else");
}

#[test]
fn values_that_would_break_a_path_or_header_are_refused() {
    let path = json!({"url": "https://h.example/a/{id}/b"});
    for id in [
        json!(".."),
        json!("."),
        json!(""),
        json!("x/../../admin"),
        json!("..\\x"),
        json!("a\nb"),
        json!(["a"]),
        json!({"a": 1}),
        json!(null),
    ] {
        let error = build_request(path.clone(), json!({"id": id})).unwrap_err();
        assert_eq!(error.reason_text(), Some("unusable_value"), "{id}: {error}");
    }
    let header = json!({"url": "https://h.example/", "headers": {"X-A": "{a}"}});
    for a in ["x\r\nX-Evil: 1", "a\0b", "a\u{7f}b"] {
        assert!(build_request(header.clone(), json!({"a": a})).is_err(), "{a:?}");
    }
}

#[test]
fn the_idempotency_key_is_placed_as_the_strategy_declares() {
    let call = call(json!({"method": "POST", "url": "https://h.example/x"}));
    let with = |strategy, place| {
        build(&call, &Map::new(), Key { strategy, place, value: Some("k1") }).unwrap()
    };
    assert_eq!(with(IdempotencyStrategy::Header, Some("X-Key")).headers[0].0, "x-key");
    assert_eq!(
        with(IdempotencyStrategy::HashPayload, None).headers[0],
        (HeaderName::from_static("idempotency-key"), HeaderValue::from_static("k1"))
    );
    assert_eq!(
        json_body(&with(IdempotencyStrategy::PayloadField, Some("request"))),
        json!({"request": "k1"})
    );
    assert!(with(IdempotencyStrategy::None, None).headers.is_empty());
}

proptest! {
    /// For any values, the request goes to the same host and has the same number of path parts, the
    /// same parameters in the same order and the same headers. A server that decodes the request
    /// gets the original values.
    #[test]
    fn no_argument_value_can_change_other_parts_of_a_request(id in any::<String>(), q in any::<String>(), h in any::<String>(), b in any::<String>()) {
        let template = json!({"method": "POST", "url": "https://api.example.com:8443/a/{id}/z", "query": {"q": "{q}", "fixed": "1"}, "headers": {"X-H": "v{h}"}, "body": {"b": "{b}"}});
        let Ok(built) = build_request(template, json!({"id": id, "q": q, "h": h, "b": b})) else { return Ok(()) };
        let url = &built.url;
        prop_assert_eq!((url.scheme(), url.host_str(), url.port()), ("https", Some("api.example.com"), Some(8443)));
        let parts: Vec<&str> = url.path().split('/').collect();
        prop_assert_eq!(parts.len(), 4);
        prop_assert_eq!((parts[1], parts[3]), ("a", "z"));
        prop_assert_eq!(percent_encoding::percent_decode_str(parts[2]).decode_utf8().unwrap(), id);
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        prop_assert_eq!(pairs, vec![("fixed".to_owned(), "1".to_owned()), ("q".to_owned(), q)]);
        prop_assert!(url.fragment().is_none() && url.username().is_empty());
        prop_assert_eq!(built.headers.len(), 1);
        prop_assert_eq!(json_body(&built), json!({"b": b}));
    }
}
