//! Tests that the log matches the sent requests: the requests to the shop's server, on this
//! computer and remote, are those in the log and those that a person approved.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::front::{Break, Front};
use crate::remote_shop::open;
use crate::world::{Gateway, SHOE, message_of, model};

const TOOLS: [&str; 6] = [
    "product.search",
    "product.get",
    "cart.get",
    "cart.addItem",
    "cart.setItemQuantity",
    "cart.removeItem",
];

/// Returns a model whose conversation uses every tool of the shop.
async fn script() -> ModelServer {
    let call = |tool: &str, arguments: Value| Reply::call(tool, arguments);
    model([
        call("product_search", json!({"query": "blue unicorn saddle size 42", "pageSize": 7.0})),
        Reply::text(["Nothing."]),
        call("product_search", json!({"query": "red trail shoes"})),
        Reply::text(["These."]),
        call("product_get", json!({"productId": "1001"})),
        Reply::text(["That one."]),
        call("cart_get", json!({})),
        Reply::text(["It is empty."]),
        call("cart_add_item", json!({"partNo": SHOE, "quantity": 2})),
        call("cart_set_item_quantity", json!({"productId": SHOE, "quantity": 3})),
        call("cart_get", json!({})),
        Reply::text(["Three."]),
        call("cart_remove_item", json!({"productId": SHOE})),
    ])
    .await
}

async fn converse(gateway: &Gateway) {
    for message in [
        "a saddle",
        "trail shoes",
        "the first",
        "my cart",
        "two of them",
        "yes",
        "make it three",
        "yes",
        "my cart",
        "take them out",
        "yes",
    ] {
        let mut body = message_of("s", message);
        body["context"] = json!({"cultureCode": "sv-SE", "priceListIds": [7], "customerId": 4});
        let (status, answer) = gateway.post("/v1/chat", &body).await;
        assert!(status.is_success(), "{message}: {answer}");
    }
}

/// Returns the tool and arguments of every sent request that was recorded.
fn recorded_requests(gateway: &Gateway) -> Vec<(String, Value)> {
    let page = gateway.csign(&["audit", "list", "--type", "tool_intent", "--limit", "500"]);
    let one = |record: &Value| {
        let shown = gateway.csign(&["audit", "show", &record["seq"].to_string()]);
        let arguments =
            serde_json::from_str(shown["revealed"]["arguments"].as_str().unwrap()).unwrap();
        (shown["fields"]["sent"] != false)
            .then(|| (shown["fields"]["tool"].as_str().unwrap().to_owned(), arguments))
    };
    page["records"].as_array().unwrap().iter().filter_map(one).collect()
}

/// Reads of a preview may run in parallel, so their order is not compared.
fn of(requests: &[(String, Value)], tool: &str) -> Vec<String> {
    let mut all: Vec<String> = requests
        .iter()
        .filter(|(of, _)| of == tool)
        .map(|(_, arguments)| arguments.to_string())
        .collect();
    all.sort();
    all
}

#[track_caller]
fn assert_equal(gateway: &Gateway, sent: &[(String, Value)]) {
    let recorded = recorded_requests(gateway);
    for tool in TOOLS {
        assert!(!of(sent, tool).is_empty(), "{tool} was asked");
        assert_eq!(of(&recorded, tool), of(sent, tool), "{tool}");
    }
    let approved = gateway.csign(&["approvals", "list", "--all"]);
    let approved: Vec<&Value> =
        approved.as_array().unwrap().iter().filter(|one| one["status"] == "done").collect();
    assert_eq!(approved.len(), 3);
    for approval in approved {
        let shown: Value = serde_json::from_str(approval["arguments"].as_str().unwrap()).unwrap();
        assert!(
            sent.contains(&(approval["tool"].as_str().unwrap().to_owned(), shown.clone())),
            "{shown} was shown and sent"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_records_exactly_the_arguments_sent_to_a_remote_shop() {
    let front = Front::start().await;
    let nothing = || Break::Result(json!({"items": [], "totalCount": 0}));
    front.breaks("product.search", [nothing(), nothing()]);
    let server = script().await;
    let gateway = open(&front, &server, &[("NORCE_STATUS_SEED", "7")]).await;
    converse(&gateway).await;
    let sent: Vec<(String, Value)> = TOOLS
        .iter()
        .flat_map(|tool| {
            front.sent(tool).into_iter().map(|arguments| ((*tool).to_owned(), arguments))
        })
        .collect();
    let queries: Vec<&Value> = sent
        .iter()
        .filter(|(tool, _)| tool == "product.search")
        .map(|(_, arguments)| &arguments["query"])
        .collect();
    assert_eq!(
        queries,
        ["unicorn saddle", "unicorn", "trail shoes"],
        "in plain words, and once more with the first"
    );
    assert!(
        sent.iter().any(|(tool, arguments)| tool == "cart.get" && arguments["basketId"].is_u64()),
        "in the shop's form"
    );
    assert_equal(&gateway, &sent);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_with_a_number_that_would_lose_digits_is_refused() {
    let gateway = Gateway::open().await;
    for (name, value) in [
        ("customerId", json!(9_007_199_254_740_993_u64)),
        ("priceListIds", json!([1, 9_007_199_254_740_993_u64])),
    ] {
        let mut body = message_of("s", "tents");
        body["context"][name] = value;
        let (status, refused) = gateway.post("/v1/chat", &body).await;
        assert_eq!(status.as_u16(), 400, "{refused}");
        assert!(refused.to_string().contains(&format!("context.{name}")), "{refused}");
    }
}

/// Makes a folder for the shipped packs, with a shop whose server records each line before the real
/// server reads the line.
fn with_a_recorder(folder: &Path) {
    let pack = folder.join("packs/shop");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tools/shop");
    for part in ["answers", "messages", "preview"] {
        fs::create_dir_all(pack.join(part)).unwrap();
        for file in fs::read_dir(source.join(part)).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), pack.join(part).join(file.file_name())).unwrap();
        }
    }
    let mut manifest: Value =
        serde_json::from_str(&fs::read_to_string(source.join("pack.json")).unwrap()).unwrap();
    manifest["servers"][0]["command"] = json!("./recorder");
    manifest["servers"][0]["data_dir"] = json!(true);
    fs::write(pack.join("pack.json"), manifest.to_string()).unwrap();
    let script = format!(
        "#!/bin/sh\ntee -a \"$COUNTERSIGN_PACK_DATA/requests.jsonl\" | exec '{}' \"$@\"\n",
        kit::programs::program("countersign-shop").display()
    );
    fs::write(pack.join("recorder"), script).unwrap();
    fs::set_permissions(pack.join("recorder"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_records_exactly_the_arguments_sent_to_the_local_shop() {
    let folder = tempfile::tempdir().unwrap();
    with_a_recorder(folder.path());
    let packs = folder.path().join("packs").display().to_string();
    let server = script().await;
    let url = server.base_url();
    let env = [
        ("COUNTERSIGN_TOOLS_DIR", packs.as_str()),
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ];
    let gateway = Gateway::start_in(folder, &["--no-token"], &env).await;
    converse(&gateway).await;
    let lines = fs::read_to_string(gateway.path("data/packs/shop/requests.jsonl")).unwrap();
    let requests = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|request| request["method"] == "tools/call");
    let sent: Vec<(String, Value)> = requests
        .map(|request| {
            (
                request["params"]["name"].as_str().unwrap().to_owned(),
                request["params"]["arguments"].clone(),
            )
        })
        .collect();
    assert_equal(&gateway, &sent);
    server.assert_clean();
}
