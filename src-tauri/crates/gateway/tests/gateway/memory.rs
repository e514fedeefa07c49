//! Tests of a session's memory of products: simple searches, the numbers on the screen, comparison,
//! and the choice of a variant before the cart.

use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::world::{Gateway, SHOE, message_of, model};

fn search(query: &str) -> Reply {
    Reply::call("product_search", json!({"query": query}))
}

fn add(part: &str) -> Reply {
    Reply::call("cart_add_item", json!({"partNo": part, "quantity": 1}))
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["cards"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|card| card["productId"].as_str().unwrap())
        .collect()
}

/// Returns the host's hints before the newest message.
pub(crate) fn hints(server: &ModelServer, request: usize) -> Vec<String> {
    let body = server.seen()[request].body.clone();
    let messages = body["messages"].as_array().unwrap().clone();
    let user = messages.iter().rfind(|message| message["role"] == "user").unwrap();
    let blocks = user["content"].as_str().unwrap().split("<host_instructions>\n").skip(1);
    let blocks = blocks.map(|block| block.split("\n</host_instructions>").next().unwrap());
    // The hint with the time precedes every message.
    blocks.filter(|block| !block.contains("The user's local time")).map(str::to_owned).collect()
}

/// Returns the products that were described to the model before the newest message.
pub(crate) fn told(server: &ModelServer, request: usize) -> Value {
    let hints = hints(server, request);
    let first = hints.first().unwrap_or_else(|| panic!("a memory of products"));
    serde_json::from_str(first.split_once('\n').unwrap().1).unwrap()
}

pub(crate) fn result(server: &ModelServer, request: usize) -> Value {
    let body = server.seen()[request].body.clone();
    let message = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .rfind(|message| message["role"] == "tool")
        .unwrap()
        .clone();
    result_in(&message)
}

/// Reads the JSON result in a message. The host's instructions may precede the result.
pub(crate) fn result_in(message: &Value) -> Value {
    let content = message["content"].as_str().unwrap();
    let result = content.rsplit_once("</host_instructions>\n").map_or(content, |(_, rest)| rest);
    serde_json::from_str(result).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_14_and_19_a_search_is_simplified_and_debug_output_shows_how() {
    let server =
        model([search("warm red rain jacket size M under 9000"), Reply::text(["Here."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let (_, answer) =
        gateway.post("/v1/chat?debug=1", &message_of("s", "something for rain")).await;
    let trace = &answer["debug"]["toolTrace"][0];
    assert_eq!(
        trace["args"]["query"], "warm red rain jacket size M under 9000",
        "as the model gave it"
    );
    let told = &trace["querySimplification"];
    assert_eq!(
        (told["effectiveQuery"].as_str(), told["wasSimplified"].as_bool()),
        (Some("warm rain jacket"), Some(true)),
        "{told}"
    );
    assert_eq!(told["droppedTokens"], json!(["red", "size", "M", "under", "9000"]));
    assert_eq!(
        result(&server, 1)["querySimplification"],
        *told,
        "the model knows what was looked for"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_14_a_search_without_hits_is_broadened_once() {
    let server = model([search("tent sock"), Reply::text(["Tents."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let (_, answer) =
        gateway.post("/v1/chat?debug=1", &message_of("s", "a sock for my tent")).await;
    let told = &answer["debug"]["toolTrace"][0]["querySimplification"];
    assert_eq!(
        (told["fallbackRetryAttempted"].as_bool(), told["broadenedQuery"].as_str()),
        (Some(true), Some("tent"))
    );
    assert!(!ids(&answer).is_empty() && answer.get("refinements").is_none(), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_16_and_22_10_numbers_in_a_message_refer_to_the_shown_products() {
    let server = model([
        search("tents"),
        Reply::text(["Tents."]),
        Reply::text(["It is green."]),
        Reply::text(["Yes."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let shown = gateway.say("s", "tents").await;
    let given: Vec<String> = result(&server, 1)["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["productId"].to_string())
        .collect();
    let cards = ids(&shown);
    assert_eq!(given[..cards.len()], cards, "the model reads them in the order of the screen");
    gateway.say("s", "Tell me more about option 2").await;
    let told = hints(&server, 2);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].contains("\"lastResults\":[{")
            && told[0].contains(&format!("\"id\":\"{}\"", cards[1])),
        "{told:?}"
    );
    assert!(told[1].contains(&format!("productId {} (number 2 ", cards[1])), "{told:?}");
    gateway.say("s", "Is it light?").await;
    assert_eq!(hints(&server, 3).len(), 1, "there is one memory, however many turns there were");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_13_only_the_requested_products_are_compared() {
    let server = model([search("tents"), Reply::text(["Tents."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let shown = gateway.say("s", "tents").await;
    let cards = ids(&shown);
    let look = |reply: Reply, at: usize| reply.ask("product_get", &json!({"productId": cards[at]}));
    server.push(look(look(look(Reply::new(), 0), 1), 2));
    server.push(Reply::text(["The third."]));
    let answer = gateway.say("s", "Compare 1 and 3, please").await;
    assert!(
        hints(&server, 2).iter().any(|hint| hint.contains(&format!("{}, {}", cards[0], cards[2]))
            && hint.contains("product_get"))
    );
    assert_eq!(answer["comparison"]["productIds"], json!([cards[0], cards[2]]), "{answer}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_13_and_22_13_comparison_highlights_are_computed_without_a_model_call() {
    let server = model([search("tents"), Reply::text(["Tents."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let shown = gateway.say("s", "tents").await;
    let cards = shown["cards"].as_array().unwrap();
    let price = |card: &Value| card["price"].as_str().unwrap().parse::<f64>().unwrap();
    let dearer =
        cards.iter().position(|card| (price(card) - price(&cards[0])).abs() > 1.0).unwrap();
    let look = |reply: Reply, at: usize| {
        reply.ask("product_get", &json!({"productId": cards[at]["productId"]}))
    };
    server.push(look(look(Reply::new(), 0), dearer));
    server.push(Reply::text(["Well."]));
    let answer = gateway.say("s", "compare them").await;
    let items = answer["comparison"]["items"].as_array().unwrap();
    let cheapest: Vec<bool> =
        items.iter().map(|item| item["highlights"].to_string().contains("lowest price")).collect();
    assert_eq!(cheapest.iter().filter(|cheapest| **cheapest).count(), 1, "{items:?}");
    assert_eq!(server.seen().len(), 4, "nobody was asked for them");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_14_product_details_are_fetched_only_on_request() {
    let server = model([
        search("trail shoes"),
        Reply::text(["Those."]),
        search("trail shoes"),
        Reply::text(["These."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let plain = gateway.say("a", "trail shoes").await;
    assert!(
        plain["cards"].as_array().unwrap().iter().all(|card| card.get("dimensionHints").is_none()),
        "{plain}"
    );
    let asked = gateway.say("b", "which sizes do the trail shoes come in?").await;
    let cards = asked["cards"].as_array().unwrap();
    let hinted = cards.iter().filter(|card| card["dimensionHints"].is_object()).count();
    assert!((1..=3).contains(&hinted), "{asked}");
    assert_eq!(ids(&plain), ids(&asked), "the order of the screen stays");
    assert!(asked.get("comparison").is_none());
    let records = |kind: &str| {
        let page = gateway.csign(&["audit", "list", "--type", kind, "--limit", "100"]);
        page["records"].as_array().unwrap().clone()
    };
    let runs: Vec<_> = records("run_started").iter().map(|run| run["turn"].clone()).collect();
    let reads = records("tool_intent");
    let details: Vec<&Value> = reads
        .iter()
        .filter(|read| read["tool"].as_str().unwrap().ends_with("product.get"))
        .collect();
    assert!((1..=3).contains(&details.len()), "{reads:?}");
    for read in details {
        assert!(runs.contains(&read["turn"]), "inside its run: {read}");
        assert!(read["fields"]["correlation_id"].is_string(), "{read}");
    }
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_12_and_22_4_a_parent_product_is_never_added_to_the_cart() {
    for parent in ["FJS-TR1001", "fjs-tr1001", "1001"] {
        let server = model([add(parent)]).await;
        let gateway = Gateway::with(&server, &[]).await;
        let asked = gateway.say("s", "add the trail shoe").await;
        assert_eq!(
            (asked["choices"]["kind"].as_str(), asked.get("pendingAction")),
            (Some("variant"), None),
            "{parent}: {asked}"
        );
        let part = asked["choices"]["options"][0]["meta"]["partNo"].as_str().unwrap();
        let chosen = gateway.say("s", "1").await;
        assert!(
            chosen["pendingAction"]["description"].as_str().unwrap().contains(part),
            "{chosen}"
        );
        server.assert_clean();
    }
    // A variant may also be identified by its own id.
    let server = model([add(SHOE)]).await;
    let gateway = Gateway::with(&server, &[]).await;
    assert_eq!(gateway.say("s", "that one").await["pendingAction"]["tool"], "cart_add_item");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_8_choices_expire_once_used_or_when_other_products_are_shown() {
    let server = model([
        add("FJS-TR1001"),
        search("tents"),
        Reply::text(["Tents."]),
        Reply::text(["A tent."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let asked = gateway.say("s", "add the trail shoe").await;
    let option = asked["choices"]["options"][0]["id"].as_str().unwrap().to_owned();
    gateway.say("s", "rather show me tents").await;
    let later = gateway.say("s", "option 1").await;
    assert_eq!(
        (later["text"].as_str(), later.get("pendingAction")),
        (Some("A tent."), None),
        "the screen shows tents"
    );
    server.push(Reply::text(["No shoe."]));
    let named = gateway.say("s", &format!("what was {option} again?")).await;
    assert_eq!((named["text"].as_str(), named.get("pendingAction")), (Some("No shoe."), None));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_2_adding_without_a_part_number_is_not_proposed() {
    for arguments in [
        json!({"quantity": 1}),
        json!({"partNo": null, "quantity": 1}),
        json!({"partNo": "", "quantity": 1}),
    ] {
        let server =
            model([Reply::call("cart_add_item", arguments.clone()), Reply::text(["Which one?"])])
                .await;
        let gateway = Gateway::with(&server, &[]).await;
        let answer = gateway.say("s", "add it").await;
        assert_eq!(
            (answer["text"].as_str(), answer.get("pendingAction")),
            (Some("Which one?"), None),
            "{arguments}: {answer}"
        );
        server.assert_clean();
    }
    // A product id identifies the product but not the variant, so the shop's choices are offered.
    let server = model([
        Reply::call("cart_add_item", json!({"productId": "1001"})),
        Reply::text(["Which one?"]),
    ])
    .await;
    let answer = Gateway::with(&server, &[]).await.say("s", "add it").await;
    assert!(
        answer["choices"]["options"].is_array() && answer.get("pendingAction").is_none(),
        "{answer}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_and_22_16_product_memory_survives_a_restart() {
    let server = model([search("tents"), Reply::text(["Tents."]), Reply::text(["Green."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let shown = gateway.say("s", "tents").await;
    let url = server.base_url();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ];
    let gateway = gateway.restart(&["--no-token"], &env).await;
    gateway.say("s", "and number 1?").await;
    let told = hints(&server, 2);
    assert!(told.len() == 2 && told[1].contains(ids(&shown)[0]), "{told:?}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_the_model_reads_a_shortlist_of_at_most_ten_distinct_products() {
    let look = |ids: [u32; 3]| {
        ids.iter().fold(Reply::new(), |reply, id| {
            reply.ask("product_get", &json!({"productId": id.to_string()}))
        })
    };
    let rounds = [
        look([1005, 1002, 1005]),
        look([1001, 1003, 1004]),
        look([1006, 1007, 1008]),
        look([1012, 1013, 1014]),
    ];
    let server =
        model(rounds.into_iter().chain([Reply::text(["Many."]), Reply::text(["Yes."])])).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "look at all of these").await;
    gateway.say("s", "well?").await;
    let told = told(&server, 5);
    assert_eq!(
        told["shortlist"],
        json!(["1005", "1002", "1001", "1003", "1004", "1006", "1007", "1008", "1012", "1013"])
    );
    let sizes: Vec<usize> = told["lastResults"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|known| known["dimensions"]["Size"].as_array())
        .map(Vec::len)
        .collect();
    assert!(
        !sizes.is_empty() && sizes.iter().all(|count| (1..=5).contains(count)),
        "five values of a dimension at most: {told}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_hints_precede_the_message_in_the_order_memory_reference_comparison() {
    let server = model([
        search("tents"),
        Reply::text(["Tents."]),
        Reply::text(["Both."]),
        Reply::text(["Well."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "tents").await;
    gateway.say("s", "compare option 1 with option 3").await;
    let told = hints(&server, 2);
    insta::assert_snapshot!(kit::redact(&told.join("\n\n")));
    let messages = server.seen()[2].body["messages"].as_array().unwrap().clone();
    let last = messages.last().unwrap();
    assert_eq!(last["role"], "user");
    assert!(last["content"].as_str().unwrap().ends_with("\ncompare option 1 with option 3"));
    gateway.say("s", "thanks").await;
    assert_eq!(hints(&server, 3).len(), 1, "only the memory is for every message");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_13_and_16_hints_do_not_contradict_their_message() {
    let server = model([search("tents"), Reply::text(["Tents."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let cards =
        ids(&gateway.say("s", "tents").await).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let told = async |message: &str| {
        server.push(Reply::text(["Well."]));
        gateway.say("s", message).await;
        hints(&server, server.seen().len() - 1)[1..].join("|")
    };
    let meant = |places: &[usize]| {
        let named: Vec<String> = places
            .iter()
            .map(|place| format!("productId {} (number {place} on the screen)", cards[place - 1]))
            .collect();
        format!("The message below means {}.", named.join(" and "))
    };
    assert_eq!(told("add the first two to my cart").await, meant(&[1, 2]));
    assert_eq!(told("add 1 and 3 to my cart").await, meant(&[1, 3]));
    assert_eq!(told("I need 2 or 3 of them").await, "", "that is how many");
    assert_eq!(told("finns den i andra färger?").await, "", "other colours are no second product");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_made_by_the_host_are_not_part_of_the_conversation() {
    let server = model([
        search("trail shoes"),
        Reply::text(["Those."]),
        add("FJS-TR1001"),
        Reply::text(["Well."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let hinted = gateway.say("s", "which sizes do the trail shoes come in?").await;
    assert!(hinted["cards"][0]["dimensionHints"].is_object(), "it has looked: {hinted}");
    assert!(gateway.say("s", "put it in").await["choices"].is_object());
    gateway.say("s", "thanks").await;
    let heard = server.seen().pop().unwrap().body["messages"].clone();
    let called: Vec<&Value> = heard
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["tool_calls"].as_array().into_iter().flatten())
        .collect();
    let names: Vec<&str> =
        called.iter().filter_map(|call| call["function"]["name"].as_str()).collect();
    assert_eq!(names, ["product_search", "cart_add_item"], "what the model asked for");
    assert!(
        gateway.csign(&["audit", "list", "--all"]).to_string().contains("product.get"),
        "the log knows of it"
    );
    server.assert_clean();
}
