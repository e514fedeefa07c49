//! Tests that a known key is removed from a model's answer, in every kind of event and every
//! encoding, before the answer is stored, shown, recorded or returned.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use contract::*;
use engine::ports::*;
use serde_json::{Value, json};

use crate::world::{Bench, Say, agent, status_and_text, tool};

const KEY: &str = "Xk29fLm3QpZr81TbVw6Y";

/// Returns the key in the forms in which a model may write it.
fn forms() -> Vec<String> {
    vec![
        KEY.to_owned(),
        STANDARD.encode(format!("a{KEY}z")),
        KEY.bytes().map(|byte| format!("{byte:02x}")).collect(),
        KEY.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        KEY.chars().map(|letter| format!("{letter} ")).collect(),
    ]
}

/// A generator of numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn up_to(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % (most + 1)
    }

    /// Splits a text into up to five pieces.
    fn split<'a>(&mut self, text: &'a str) -> Vec<&'a str> {
        let mut cuts: Vec<usize> = (0..4).map(|_| self.up_to(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
    }
}

fn call(id: &str, name: &str, arguments: String) -> ModelEvent {
    ModelEvent::Call(AskedCall { id: id.into(), name: name.into(), arguments })
}

fn failure(message: &str) -> ModelError {
    ModelError {
        kind: ModelErrorKind::BadRequest,
        message: message.into(),
        hint: Some(message.into()),
        retry_after_ms: None,
        said: None,
    }
}

/// Returns the name of an event's kind. A new kind does not compile here: add it to `carriers` if
/// it contains a text.
fn kind(event: &Result<ModelEvent, ModelError>) -> &'static str {
    match event {
        Ok(ModelEvent::Text(_)) => "text",
        Ok(ModelEvent::Reasoning(_)) => "reasoning",
        Ok(ModelEvent::Call(_)) => "call",
        Ok(ModelEvent::Choices(_)) => "choices",
        Ok(ModelEvent::Opaque(_)) => "opaque",
        Ok(ModelEvent::FellBack { .. }) => "fell back",
        Err(_) => "failure",
        Ok(
            ModelEvent::LocalData
            | ModelEvent::SecretRemoved
            | ModelEvent::WasThought
            | ModelEvent::Loading
            | ModelEvent::Done { .. },
        ) => "without a text",
    }
}

const KINDS: [&str; 7] = ["text", "reasoning", "call", "choices", "opaque", "fell back", "failure"];

/// Returns answers with this text, one for each event member that can contain a text.
fn carriers(form: &str, dice: &mut Dice) -> Vec<Vec<Result<ModelEvent, ModelError>>> {
    let said = format!("It is {form}, as you know.");
    let pieces = |made: fn(String) -> ModelEvent, dice: &mut Dice| {
        dice.split(&said).into_iter().map(|piece| Ok(made(piece.to_owned()))).collect::<Vec<_>>()
    };
    let half = form.len() / 2;
    let suggestions =
        vec![Choice::new(&form[..half], format!("say {form}")), Choice::new(&form[half..], "no")];
    let opaque = Opaque { maker: "script".into(), data: json!({"thought": [said]}).into() };
    let fell_back = ModelEvent::FellBack {
        from: said.clone(),
        to: "script".into(),
        kind: ModelErrorKind::Unavailable,
        why: said.as_str().into(),
    };
    let nested = json!({"q": json!({"inner": form}).to_string()}).to_string();
    vec![
        pieces(ModelEvent::Text, dice),
        pieces(ModelEvent::Reasoning, dice),
        vec![Ok(call("c", "r", nested))],
        vec![Ok(call("c", "r", json!({"q": form}).to_string()))],
        vec![Ok(call("c", "r", json!({form: 1}).to_string()))],
        vec![Ok(call("c", "r", format!("{{\"q\": \"{form}")))],
        vec![Ok(call(form, "r", "{}".into()))],
        vec![Ok(call("c", form, "{}".into()))],
        vec![Ok(ModelEvent::Text("Choose.".into())), Ok(ModelEvent::Choices(suggestions))],
        vec![Ok(ModelEvent::Opaque(opaque)), Ok(call("c", "r", "{}".into()))],
        vec![Ok(fell_back), Ok(ModelEvent::Text("Hello.".into()))],
        vec![Ok(ModelEvent::Text("One moment.".into())), Err(failure(&said))],
    ]
}

/// Returns everything that is stored, shown, recorded or sent.
async fn traces(bench: &Bench) -> Vec<String> {
    let mut all: Vec<String> =
        bench.items().await.iter().map(|item| json!(item).to_string()).collect();
    all.extend(bench.pushed.events.lock().unwrap().iter().map(|event| json!(event).to_string()));
    all.extend(bench.model.requests.lock().unwrap().iter().map(|request| format!("{request:?}")));
    all.extend(bench.sent().iter().map(Value::to_string));
    bench.log.log.flush().await.unwrap();
    for seq in 1.. {
        let Ok(record) = bench.log.log.show(seq).await else { break };
        all.push(json!(record).to_string());
    }
    all
}

async fn notices(bench: &Bench) -> usize {
    let is_told = |item: &Item| matches!(&item.body, ItemBody::Notice { code, .. } if code == "secret_removed");
    bench.items().await.iter().filter(|item| is_told(item)).count()
}

fn bench() -> Bench {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.secrets.0.lock().unwrap().push(KEY.into());
    bench
}

#[tokio::test(start_paused = true)]
async fn a_known_key_in_a_models_answer_is_removed_everywhere_however_it_is_split() {
    let mut dice = Dice(7);
    let mut seen = std::collections::BTreeSet::new();
    for form in forms() {
        for answer in carriers(&form, &mut dice) {
            let bench = bench();
            seen.extend(answer.iter().map(kind));
            let told = format!("{answer:?}");
            bench.model.then(answer.into_iter().map(|e| Say::Event(Box::new(e))).collect());
            let turn = bench.start("what is it?").await.turn;
            bench.final_of(&turn).await;
            for trace in traces(&bench).await {
                assert!(!trace.contains(KEY) && !trace.contains(&form), "{told} left {trace}");
            }
            assert_eq!(notices(&bench).await, 1, "told once of {told}");
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), {
        let mut all = KINDS.to_vec();
        all.sort_unstable();
        all
    });
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_a_key_is_streamed_unchanged_and_without_delay() {
    let bench = bench();
    let go_on = std::sync::Arc::new(tokio::sync::Notify::new());
    bench.model.then(vec![
        Say::Text("The answer is 42. "),
        Say::Until(std::sync::Arc::clone(&go_on)),
        Say::Text("Xk29fL is a part number."),
    ]);
    let turn = bench.start("what is it?").await.turn;
    bench
        .wait_for(|events| {
            let text: String = events
                .iter()
                .filter_map(|event| match &event.event {
                    EventBody::Delta { text } => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            (text == "The answer is 42. ").then_some(())
        })
        .await;
    go_on.notify_one();
    let text = status_and_text(&bench.final_of(&turn).await).1;
    assert_eq!(text, "The answer is 42. Xk29fL is a part number.");
    assert_eq!(notices(&bench).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_turn_has_one_notice_even_if_two_answers_contained_a_key() {
    let bench = bench();
    bench.model.then(vec![Say::Text("I use Xk29fLm3Q"), Say::Call("r", json!({"q": KEY}))]);
    bench.model.then(vec![Say::Text("It was Xk29fLm3Q"), Say::Text("pZr81TbVw6Y.")]);
    let text = status_and_text(&bench.ask("go").await).1;
    assert!(text.ends_with("It was <secret>."), "{text}");
    assert_eq!(bench.sent(), [json!({"q": "<secret>"})]);
    assert_eq!(notices(&bench).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_in_a_routing_decision_is_not_passed_to_specialists() {
    let bench = bench().with(vec![agent("a", &["r"]), agent("b", &[])]);
    let decision = json!({
        "next": "a", "instruction": format!("Use {KEY}."), "reason_code": "in_field",
        "entities": [{"kind": "key", "value": KEY}],
    });
    let text = decision.to_string();
    let pieces = Dice(3).split(&text).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let event = |piece: String| Say::Event(Box::new(Ok(ModelEvent::Text(piece))));
    bench.model.then(pieces.into_iter().map(event).collect());
    bench.ask("go").await;
    for trace in traces(&bench).await {
        assert!(!trace.contains(KEY), "{trace}");
    }
    assert_eq!(notices(&bench).await, 1);
}
