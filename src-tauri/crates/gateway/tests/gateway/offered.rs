//! Tests of the model's input: the whole request, the six tools with their schemas, and the results
//! in the form that the model receives.

use kit::model_server::Reply;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::memory::result;
use crate::world::{Gateway, SHOE, message_of, model};

/// Returns a schema without its descriptions.
fn shape(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let is_word = |name: &str, value: &Value| name == "description" && value.is_string();
            members
                .iter()
                .filter(|(name, value)| !is_word(name, value))
                .map(|(name, value)| (name.clone(), shape(value)))
                .collect()
        }
        Value::Array(list) => list.iter().map(shape).collect(),
        other => other.clone(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_a_model_request_has_key_name_and_tools_but_no_sampling_parameters() {
    let server = model([Reply::text(["One."]), Reply::text(["Two."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "hello").await;
    gateway.events("/v1/chat/stream", &message_of("s", "again")).await;
    for seen in server.seen() {
        assert_eq!(seen.headers["authorization"], "Bearer sk-test-0123456789abcdef");
        assert_eq!(
            (&seen.body["model"], &seen.body["tool_choice"]),
            (&json!("scripted"), &json!("auto")),
            "{}",
            seen.body
        );
        let roles: Vec<&str> = seen.body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect();
        assert_eq!(
            roles.iter().filter(|role| **role == "system").count(),
            1,
            "one prompt: {roles:?}"
        );
        assert_eq!((roles.first(), roles.last()), (Some(&"system"), Some(&"user")));
        let prompt = seen.body["messages"][0]["content"].as_str().unwrap();
        assert!(prompt.contains("Search first"), "the shop's own prompt");
        assert!(
            !prompt.contains("analysts") && !prompt.contains("window"),
            "a visitor of a shop has no window to approve in: {prompt}"
        );
        for tuned in [
            "temperature",
            "top_p",
            "max_tokens",
            "max_completion_tokens",
            "response_format",
            "functions",
            "user",
        ] {
            assert!(seen.body.get(tuned).is_none(), "{tuned}: {}", seen.body);
        }
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_17_the_closing_model_call_has_neither_tools_nor_tool_choice() {
    let server =
        model([Reply::call("product_search", json!({"query": "tent"})), Reply::text(["Tents."])])
            .await;
    let gateway = Gateway::with(&server, &[("AGENT_MAX_ROUNDS", "1")]).await;
    gateway.say("s", "tents").await;
    let closing = server.seen().pop().unwrap().body;
    assert_eq!(
        (closing.get("tools"), closing.get("tool_choice")),
        (None, None),
        "a choice without tools is refused by real servers"
    );
    assert_eq!(server.seen()[0].body["tool_choice"], "auto");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_18_the_six_tools_have_fixed_schemas_without_caller_parameters() {
    let server = model([Reply::text(["One."])]).await;
    let gateway = Gateway::with(&server, &[("NORCE_STATUS_SEED", "7")]).await;
    gateway.say("s", "hello").await;
    let tools = server.seen()[0].body["tools"].as_array().unwrap().clone();
    let offered: Vec<Value> = tools
        .iter()
        .map(|tool| {
            json!([tool["type"], tool["function"]["name"], shape(&tool["function"]["parameters"])])
        })
        .collect();
    let object = |properties: Value| json!({"type": "object", "additionalProperties": false, "properties": properties});
    let with = |mut schema: Value, required: Value| {
        schema["required"] = required;
        schema
    };
    let (text, amount) =
        (json!({"type": "string"}), json!({"type": ["number", "string"], "minimum": 0}));
    let size = json!({"type": ["string", "number"]});
    let part = json!({"type": "string", "minLength": 1, "maxLength": 64});
    let pieces = json!({"type": "integer", "minimum": 1, "maximum": 999});
    let filters = json!({"category": text, "brand": text, "color": text, "size": size, "minPrice": amount, "maxPrice": amount, "inStock": {"type": "boolean"}});
    let search = object(json!({
        "query": {"type": "string", "maxLength": 300},
        "filters": {"type": "object", "properties": filters},
        "pageSize": {"type": "integer", "minimum": 1, "default": 10},
    }));
    // One of the two arguments is required. A schema for a model cannot say that at its top level,
    // because providers refuse unions there.
    let get = object(json!({"productId": {"type": ["integer", "string"]}, "partNo": text}));
    let add = object(
        json!({"partNo": part, "quantity": {"type": "integer", "minimum": 1, "maximum": 999, "default": 1}}),
    );
    let expected = [
        json!(["function", "product_search", with(search, json!(["query"]))]),
        json!(["function", "product_get", with(get, json!([]))]),
        json!(["function", "cart_get", object(json!({}))]),
        json!(["function", "cart_add_item", with(add, json!(["partNo"]))]),
        json!([
            "function",
            "cart_set_item_quantity",
            with(
                object(json!({"productId": part, "quantity": pieces})),
                json!(["productId", "quantity"])
            )
        ]),
        json!([
            "function",
            "cart_remove_item",
            with(object(json!({"productId": part})), json!(["productId"]))
        ]),
    ];
    assert_eq!(offered, expected);
    assert!(
        tools.iter().all(|tool| tool["function"]["description"]
            .as_str()
            .is_some_and(|text| text.len() > 20)),
        "each says what it does"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_18_exactly_six_tools_are_offered_even_after_a_truncated_result() {
    let search = Reply::call("product_search", json!({"query": "jacket", "pageSize": 20}));
    let reading = Reply::call("read_result", json!({"handle": "call-1", "offset": 0}));
    let server =
        model([search, Reply::text(["Here."]), reading, Reply::text(["Still these."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "jackets").await;
    gateway.say("s", "and the last one?").await;
    let seen = server.seen();
    let shown = seen[2].body["messages"].to_string();
    assert!(
        shown.contains("narrow the request") && !shown.contains("read_result"),
        "the result of the turn before is shown cut: {shown}"
    );
    for request in &seen {
        assert_eq!(request.body["tools"].as_array().unwrap().len(), 6);
    }
    assert_eq!(result(&server, 3)["error"]["code"], "tool_not_found");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_18_the_model_reads_the_hits_and_the_simplification_of_a_search() {
    let search = |query: &str, size: u32| {
        Reply::call("product_search", json!({"query": query, "pageSize": size}))
    };
    let server = model([
        search("red jackets", 20),
        search("tents", 2),
        search("blue quantum xylophone", 5),
        Reply::text(["Here."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "jackets and tents").await;
    let (many, few, none) = (result(&server, 1), result(&server, 2), result(&server, 3));
    for (told, items, truncated) in [(&many, 10, true), (&few, 2, false), (&none, 0, false)] {
        assert_eq!(
            (told["items"].as_array().unwrap().len(), told["truncated"].as_bool()),
            (items, Some(truncated)),
            "{told}"
        );
        assert!(told["querySimplification"]["effectiveQuery"].is_string(), "{told}");
        assert_eq!(
            told["totalCount"].as_u64().is_some_and(|total| total > items as u64),
            items > 0,
            "{told}"
        );
        for empty in ["refinements", "emptySearchMessage"] {
            assert_eq!(told.get(empty).is_some(), items == 0, "{empty}: {told}");
        }
    }
    assert!(
        none["emptySearchMessage"].as_str().unwrap().len() > 10
            && none["refinements"][0]["payload"]["type"] == "search_retry",
        "{none}"
    );
    let item = &many["items"][0];
    for named in ["name", "partNo", "price", "currency", "brand"] {
        assert!(item[named].is_string(), "{named}: {item}");
    }
    assert!(item["productId"].is_u64() && item["onHand"]["value"].is_number(), "{item}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_18_the_model_reads_a_product_with_its_variants_and_a_cart_with_its_lines() {
    let look = Reply::call("product_get", json!({"productId": "1001"}));
    let add = Reply::call("cart_add_item", json!({"partNo": SHOE, "quantity": 2}));
    let server = model([
        look,
        Reply::text(["That."]),
        add,
        Reply::call("cart_get", json!({})),
        Reply::text(["Two."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "tell me about 1001").await;
    let product = result(&server, 1);
    assert_eq!(
        (&product["productId"], product["name"].is_string(), product["priceIncVat"].is_string()),
        (&json!(1001), true, true),
        "{product}"
    );
    for variant in product["variants"].as_array().unwrap() {
        assert!(
            variant["partNo"].is_string()
                && variant["isBuyable"].is_boolean()
                && variant["onHand"]["value"].is_number(),
            "{variant}"
        );
        let named = variant["variantParametrics"].as_array().unwrap();
        assert!(
            !named.is_empty()
                && named.iter().all(|one| one["name"].is_string() && one["value"].is_string()),
            "{variant}"
        );
    }
    gateway.say("s", "two of the black ones in 42").await;
    gateway.say("s", "yes").await;
    let (status, _) = gateway.post("/v1/chat", &message_of("s", "my cart")).await;
    assert_eq!(status, StatusCode::OK);
    let cart = result(&server, 4);
    assert!(
        cart["basketId"].is_u64() && cart["currencyCode"] == "SEK" && cart["subtotal"].is_string(),
        "{cart}"
    );
    let lines = cart["items"].as_array().unwrap();
    assert_eq!(
        (lines.len(), &lines[0]["partNo"], &lines[0]["quantity"]),
        (1, &json!(SHOE), &json!(2)),
        "{cart}"
    );
    server.assert_clean();
}
