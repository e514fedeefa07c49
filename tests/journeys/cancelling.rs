//! Stopping an answer while it is being written, with a model that writes slowly.

use kit::{
    model_server::{ModelServer, Reply},
    webdriver::wait,
};
use serde_json::json;

use crate::world::Journey;

#[test]
fn an_answer_stopped_half_way_is_kept_as_far_as_it_came() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let words = (0..400).fold(Reply::new(), |reply, n| reply.wait_ms(50).say(&format!("word{n} ")));
    let server = runtime.block_on(ModelServer::start([
        Reply::route("guardian"),
        words,
        Reply::route("guardian"),
        Reply::text(["Here ", "again."]),
        Reply::route("FINISH"),
    ]));
    let settings = format!("[model]\nprovider = \"openai_compatible\"\nbase_url = \"{}\"\nmodel = \"scripted\"\n", server.base_url());
    let journey = Journey::with("cancel", &settings, &[]);

    journey.chat(|page| {
        page.send("Tell me something long");
        page.says("word5");
        page.click("Stop");
        page.idle();
        page.says("Stopped.");
    });
    journey.picture("stopped.png");
    runtime.block_on(async {
        tokio::time::timeout(std::time::Duration::from_secs(30), server.client_left(1)).await.expect("the model is no longer listened to");
    });
    let items = journey.items();
    let answer = items.iter().rev().find(|item| item["body"]["kind"] == "assistant_text").expect("what was written is kept");
    assert_eq!(answer["body"]["partial"], true);
    assert!(answer["body"]["text"].as_str().is_some_and(|text| text.contains("word5") && !text.contains("word399")));

    // The session goes on.
    let answer = journey.ask("And now?");
    assert!(answer.contains("Here again."), "{answer}");
    wait("nothing to run", || (journey.call("app_status", json!({})).ok()?["running"] == 0).then_some(()));
    assert_eq!(server.violations(), Vec::<String>::new());
    journey.quit();
    journey.assert_log_verifies();
}
