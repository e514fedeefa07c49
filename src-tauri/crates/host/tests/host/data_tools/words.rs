//! Tests of questions in words without a language model: the offline model knows the sources, their
//! definitions and the values of their dimensions as they are at each question.

use contract::{
    Commands as _, RunParams, RunResponse, SourceParams, SwitchSetParams, SwitchTarget,
};
use serde_json::{Value, json};

use super::{
    World,
    figures::{Figures, cents},
};

const DEFINITIONS: &str = "source: sales
time: {column: Day}
dimensions:
  channel: {column: Channel}
  country: {column: Country}
  region: {groups: {of: Country, groups: {Nordics: [Sweden, Norway]}, other: Elsewhere}}
measures:
  revenue: {sum: Revenue}
";
/// Two months of which the first one is over.
const SALES: &str = "Day,Country,Channel,Revenue
2026-10-05,Sweden,Web,100.00
2026-10-06,Norway,Web,40.00
2026-10-20,Germany,Store,60.00
2026-11-02,Sweden,Store,30.00
2026-11-03,Norway,Web,20.00
";

impl World {
    /// Asks in a conversation.
    async fn ask(&self, conversation: &str, words: &str) -> RunResponse {
        let request = json!({
            "contract_version": "1.0",
            "request_id": format!("{conversation}: {words}"),
            "conversation_id": conversation,
            "input": words,
        });
        let params = RunParams {
            request: request.to_string(),
            caller: "test".into(),
            correlation_id: None,
            stream: false,
        };
        self.host.run_request(params).await.unwrap()
    }

    /// Switches the tool for figures off or on.
    async fn switch(&self, on: bool) {
        let target = SwitchTarget::Tool("data.measure".into());
        self.host.switch_set(SwitchSetParams { target, on }).await.unwrap();
    }

    /// Asks in a new conversation, and checks the figures of the answer.
    async fn check(&self, words: &str, figures: Figures) {
        self.check_next(words, words, figures).await;
    }

    /// Asks in a conversation, and checks the figures of the answer.
    async fn check_next(&self, conversation: &str, words: &str, figures: Figures) {
        let response = self.ask(conversation, words).await;
        let found = figures_of(&response);
        figures.check(words, &found.unwrap_or_else(|| panic!("{words}: {response:?}")));
    }
}

/// Returns the figures of an answer. None if none were computed.
fn figures_of(response: &RunResponse) -> Option<Value> {
    let results = &response.structured_output.as_ref()?.results;
    let data = results.last()?.data.clone()?;
    Some(data.get("result").cloned().unwrap_or(data))
}

fn by(name: &'static str, rows: &[(&'static str, i128)]) -> Figures {
    Figures::by(name, "revenue", rows.iter().map(|(name, amount)| (*name, cents(*amount))))
}

fn total(amount: i128) -> Figures {
    Figures::single(&["revenue"], vec![cents(amount)])
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_in_words_are_about_the_sources_and_values_that_there_are_now() {
    let world = World::new().await;
    let question = "revenue by country last month";
    let before = world.ask("before", question).await;
    assert_eq!(figures_of(&before), None, "there is no source yet: {before:?}");

    world.add("sales", SALES, Some(DEFINITIONS)).await;
    let october = [("Sweden", 10_000), ("Norway", 4_000), ("Germany", 6_000)];
    world.check_next("sales", question, by("country", &october)).await;
    let november = [("Sweden", 3_000), ("Norway", 2_000)];
    world.check_next("sales", "and in November?", by("country", &november)).await;
    world.check("revenue for Swedn in October", total(10_000)).await;
    world.check("revenue for Nordics last month", total(14_000)).await;

    let denmark = "revenue for Denmark in October";
    let unknown = world.ask("unknown", denmark).await;
    let counted = figures_of(&unknown).is_some_and(|data| data["rows"] == json!([["25.00"]]));
    assert!(!counted, "no row has this value yet: {unknown:?}");
    world.add("sales", &format!("{SALES}2026-10-30,Denmark,Web,25.00\n"), None).await;
    world.check(denmark, total(2_500)).await;

    // Questions at the same time share one reading of what changed.
    let more = "2026-10-30,Denmark,Web,25.00\n2026-10-31,Iceland,Web,15.00\n";
    world.add("sales", &format!("{SALES}{more}"), None).await;
    tokio::join!(
        world.check("revenue for Iceland last month", total(1_500)),
        world.check("revenue for Denmark last month", total(2_500)),
    );

    world.switch(false).await;
    let off = world.ask("off", question).await;
    assert_eq!(figures_of(&off), None, "the tool is switched off: {off:?}");
    world.switch(true).await;

    world.host.source_remove(SourceParams { name: "sales".into() }).await.unwrap();
    let after = world.ask("after", question).await;
    assert_eq!(figures_of(&after), None, "the source is gone: {after:?}");
    world.host.stop().await;
}
