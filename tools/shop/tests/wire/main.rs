//! Tests of the real server program over both transports, with the protocol library's client, and
//! of the manifest's descriptions, previews and answers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test says what went wrong by panicking"
)]

mod answers;
mod previews;
mod program;
mod results;

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use rmcp::{
    Peer, RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ContentBlock, Implementation,
        ProtocolVersion, ReadResourceRequestParams,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RunningService},
    transport::{StreamableHttpClientTransport, async_rw::AsyncRwTransport},
};
use serde_json::{Value, json};

type Client = RunningService<RoleClient, ClientConfig>;

const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign-shop");

fn me() -> ClientConfig {
    let mut me =
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("wire-test", "1"));
    me.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
    me
}

async fn call(client: &Peer<RoleClient>, tool: &str, arguments: Value) -> Result<Value, String> {
    let params = CallToolRequestParams::new(tool.to_owned())
        .with_arguments(arguments.as_object().unwrap().clone());
    let result = client.call_tool(params).await.unwrap();
    let [ContentBlock::Text(text)] = result.content.as_slice() else { panic!("one text") };
    if result.is_error == Some(true) {
        Err(text.text.clone())
    } else {
        Ok(serde_json::from_str(&text.text).unwrap())
    }
}

/// Makes the same calls over any transport: search, read, add, change, remove.
async fn shop_a_little(client: &Peer<RoleClient>) {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 6);

    let found =
        call(client, "product.search", json!({"query": "black trail shoes"})).await.unwrap();
    let total = found["totalCount"].as_u64().unwrap();
    assert!((2..=8).contains(&total), "{total}");
    let first = &found["items"][0];
    assert_eq!(
        (first["name"].as_str(), first["brand"].as_str(), first["color"].as_str()),
        (Some("Ridge Runner"), Some("Fjällstig"), Some("Black"))
    );

    let product =
        call(client, "product.get", json!({"productId": first["productId"]})).await.unwrap();
    let black: Vec<&Value> = product["variants"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|v| {
            v["variantParametrics"][0]["value"] == "Black"
                && v["onHand"]["value"].as_i64() > Some(1)
        })
        .collect();
    assert!(black.len() >= 3);
    let part = black[0]["partNo"].as_str().unwrap();

    let refused = call(
        client,
        "cart.addItem",
        json!({"partNo": product["partNo"], "quantity": 1, "clientIp": "127.0.0.1"}),
    )
    .await
    .unwrap_err();
    assert!(refused.contains(part), "the choices are named: {refused}");
    let nothing =
        call(client, "cart.addItem", json!({"partNo": part, "quantity": 1})).await.unwrap();
    assert_eq!((nothing.get("basketId"), &nothing["basket"]["items"]), (None, &json!([])));

    let added = call(
        client,
        "cart.addItem",
        json!({"partNo": part, "quantity": 2, "clientIp": "127.0.0.1"}),
    )
    .await
    .unwrap();
    let basket = added["basketId"].as_i64().unwrap();
    assert_eq!(added["basket"]["items"][0]["quantity"], 2);
    let other =
        call(client, "product.search", json!({"query": "camping stove"})).await.unwrap()["items"]
            [0]
        .clone();
    let two = call(client, "cart.addItem", json!({"partNo": other["partNo"], "quantity": 1, "clientIp": "127.0.0.1", "basketId": basket})).await.unwrap();
    assert_eq!(
        (two["basket"]["items"].as_array().unwrap().len(), &two["basket"]["items"][1]["unitPrice"]),
        (2, &other["price"])
    );

    previews::fit(
        &two["basket"],
        &call(client, "product.get", json!({"partNo": part})).await.unwrap(),
        part,
    );

    for bad in [json!(0), json!(1.5), json!(-1), json!(1000), json!("many")] {
        let arguments = json!({"productId": part, "quantity": bad, "basketId": basket});
        assert!(
            call(client, "cart.setItemQuantity", arguments)
                .await
                .unwrap_err()
                .contains("whole number")
        );
    }
    let set = call(
        client,
        "cart.setItemQuantity",
        json!({"productId": part, "quantity": 1, "basketId": basket}),
    )
    .await
    .unwrap();
    assert_eq!(set["basket"]["items"][0]["quantity"], 1);
    let left = call(client, "cart.removeItem", json!({"productId": part, "basketId": basket}))
        .await
        .unwrap();
    assert_eq!(left["basket"]["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        call(client, "cart.get", json!({"basketId": basket})).await.unwrap(),
        left["basket"]
    );
    let swedish =
        json!({"productId": part, "basketId": basket, "context": {"cultureCode": "sv-SE"}});
    assert!(call(client, "cart.removeItem", swedish).await.unwrap_err().contains("varukorgen"));

    let picture =
        client.read_resource(ReadResourceRequestParams::new("shop-image://1001")).await.unwrap();
    assert_eq!(picture.contents.len(), 1);
}

#[tokio::test]
async fn a_shop_works_over_stdio_in_both_protocols_and_its_cart_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        tokio::process::Command::new(PROGRAM)
            .args([
                "--stdio",
                "--data-dir",
                folder.path().to_str().unwrap(),
                "--today",
                "2026-11-21",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    };
    let discover =
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for (lifecycle, lines_before) in [(ClientLifecycleMode::Initialize, 0), (discover, 1)] {
        let mut server = start();
        let transport = AsyncRwTransport::new_client(
            server.stdout.take().unwrap(),
            server.stdin.take().unwrap(),
        );
        let client: Client = me().serve_with_lifecycle(transport, lifecycle).await.unwrap();
        let kept = call(client.peer(), "cart.get", json!({"basketId": 1})).await.unwrap();
        assert_eq!(kept["items"].as_array().unwrap().len(), lines_before);
        shop_a_little(client.peer()).await;
        client.cancel().await.unwrap();
        assert!(server.wait().await.unwrap().success(), "the server goes when its input ends");
    }
}

/// A process that is killed when this value is dropped, also if a test fails.
struct EndedChild(std::process::Child);

impl Drop for EndedChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_shop_works_over_http_and_serves_pictures() {
    let mut server = EndedChild(
        Command::new(PROGRAM)
            .args(["--http", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    let transport = StreamableHttpClientTransport::from_uri(url.clone());
    let client: Client =
        me().serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.unwrap();
    shop_a_little(client.peer()).await;
    client.cancel().await.unwrap();

    let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let get = |path: &str, more: &str| {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{more}\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(get("/img/1001.svg", "").contains("image/svg+xml"));
    assert!(get("/img/nothing.svg", "").starts_with("HTTP/1.1 404"));
    assert!(get("/mcp", "Origin: https://example.com\r\n").starts_with("HTTP/1.1 403"));
}

#[test]
fn the_server_listens_only_on_loopback_addresses() {
    let refused = Command::new(PROGRAM).args(["--http", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("loopback"));
}
