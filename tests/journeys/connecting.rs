//! Connecting a language model in its dialog, from the first page to the model's answer: an address
//! without a server, the right address with its key, the listed model, and the test.

use std::net::TcpListener;

use kit::{
    model_server::{ModelServer, Reply},
    webdriver::wait,
};
use serde_json::json;

use crate::world::Journey;

const KEY: &str = "sk-journey-0123456789abcdef";

#[test]
fn a_new_user_connects_a_model() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let server = runtime.block_on(ModelServer::start([
        Reply::text(["OK"]),
        Reply::text(["OK"]),
        Reply::route("guardian"),
        Reply::text(["Hello ", "from ", "the model."]),
    ]));
    let nobody = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port that nobody serves");
    let journey = Journey::prepare("connect", &[]);
    journey.open();
    journey.chat(|page| {
        page.click("Connect a model");
        page.named("h1", "Settings", true);
        page.click("Another server");
        page.fill("Server address", &format!("http://{nobody}/v1"));
        page.click("Continue");
    });
    // A page may send no request to an address that no person has confirmed.
    journey.confirm(&format!("http://{nobody}/v1"));
    journey.chat(|page| page.says("Can't connect to"));
    journey.picture("connect-failed.png");
    journey.chat(|page| {
        page.fill("Server address", &server.base_url());
        page.fill("API key", KEY);
        page.click("Continue");
    });
    // One sheet asks for all of them: the address, the settings and the key.
    journey.confirm_all(&[
        &server.base_url(),
        "Ask this address for its models",
        "Address of the model",
        "Save a key",
    ]);
    journey.chat(|page| {
        page.says("scripted");
        page.click("Save and test");
    });
    journey.chat(|page| page.says("Connected: scripted answers from now on."));
    journey.picture("connected.png");
    journey.chat(|page| {
        page.click("Done");
        page.says("A key is stored");
        page.click("Test connection");
        wait("the model to be reached", || {
            let said = page.script("return [...document.querySelectorAll('[role=status]')].map((e) => e.innerText).join(' ');");
            said.as_str().is_some_and(|said| said.contains("uses tools") || said.contains("context")).then_some(())
        });
        page.go("Chat");
    });
    let answer = journey.ask("Hello?");
    assert!(answer.contains("Hello from the model."), "{answer}");
    journey.chat(|page| page.says("scripted"));
    assert!(
        server.seen().iter().all(|seen| seen.headers["authorization"] == format!("Bearer {KEY}")),
        "the key goes to its server"
    );
    assert_eq!(server.violations(), Vec::<String>::new());
    let settings = journey.call("settings_get", json!({})).expect("settings");
    assert!(!settings.to_string().contains(KEY), "the page never sees the key again");
    journey.quit();
    journey.assert_in_no_file(KEY);
}
