//! Stopping an answer while a slow model writes it.

use kit::{
    model_server::{ModelServer, Reply},
    webdriver::{key, wait},
};
use serde_json::json;

use crate::world::Journey;

#[test]
fn a_stopped_answer_keeps_its_text_so_far() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let words = (0..400).fold(Reply::new(), |reply, n| reply.wait_ms(50).say(&format!("word{n} ")));
    let server = runtime.block_on(ModelServer::start([
        Reply::route("guardian"),
        words,
        Reply::route("guardian"),
        Reply::text(["Here ", "again."]),
    ]));
    let settings = format!(
        "[model]\nprovider = \"openai_compatible\"\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
        server.base_url()
    );
    let journey = Journey::with("cancel", &settings, &[]);

    journey.chat(|page| {
        page.send("Tell me something long");
        page.says("word5");
        page.says("Tell me something long");
        // Messages sent meanwhile are queued, can be removed, and may have several lines.
        page.send("Never mind");
        page.says("1 message waits");
        page.click("Remove from the queue: Never mind");
        wait("nothing to wait", || (!page.text().contains("1 message waits")).then_some(()));
        page.named("textarea", "Message", true).click().expect("the message field can be clicked");
        page.session.type_text("And now?").expect("typing");
        page.session.press(&[&[key::SHIFT, key::ENTER]]).expect("Shift+Enter");
        page.session.type_text("In a few words.").expect("typing");
        assert_eq!(
            page.script("return document.querySelector('textarea').value;"),
            json!("And now?\nIn a few words."),
            "a new line, and nothing is sent"
        );
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        page.says("1 message waits");
    });
    journey.picture("queue.png");
    journey.chat(|page| {
        page.click("Stop");
        page.says("Stopped.");
    });
    runtime.block_on(async {
        tokio::time::timeout(std::time::Duration::from_secs(30), server.client_left(1))
            .await
            .expect("the model is no longer listened to");
    });
    // The session continues with the queued message.
    journey.chat(|page| {
        page.says("Here again.");
        page.idle();
    });
    journey.picture("stopped.png");
    let items = journey.items();
    let stopped = items
        .iter()
        .find(|item| item["body"]["kind"] == "assistant_text")
        .expect("what was written is kept");
    assert_eq!(stopped["body"]["partial"], true);
    assert!(
        stopped["body"]["text"]
            .as_str()
            .is_some_and(|text| text.contains("word5") && !text.contains("word399"))
    );
    let asked: Vec<&str> = items
        .iter()
        .filter(|item| item["body"]["kind"] == "user_message")
        .filter_map(|item| item["body"]["text"].as_str())
        .collect();
    assert_eq!(asked, ["Tell me something long", "And now?\nIn a few words."]);
    wait("nothing to run", || {
        (journey.call("app_status", json!({})).ok()?["running"] == 0).then_some(())
    });
    assert_eq!(server.violations(), Vec::<String>::new());
    journey.quit();
    journey.assert_log_verifies();
}
