//! A model for tests of the code around models: it repeats the message. A message with the debug
//! mark is answered with the roles of all messages that the model received, so that the memory can
//! be tested without a network.

use contract::Usage;
use engine::ports::{Finish, Message, Model, ModelError, ModelEvent, ModelRequest};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};

/// A message with this text is answered with the roles of all messages.
pub const DEBUG: &str = "[debug]";

/// A model that is deterministic, local, and without tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct EchoModel;

fn role(message: &Message) -> &'static str {
    match message {
        Message::System { .. } => "system",
        Message::User { .. } => "user",
        Message::Assistant { .. } => "assistant",
        Message::Tool { .. } => "tool",
    }
}

fn echo_answer(request: &ModelRequest) -> String {
    let asked = request.messages.iter().rev().find_map(|message| {
        if let Message::User { text } = message { Some(text.as_str()) } else { None }
    });
    match asked {
        Some(text) if text.contains(DEBUG) => {
            request.messages.iter().map(role).collect::<Vec<_>>().join(" ")
        }
        Some(text) => text.to_owned(),
        None => String::new(),
    }
}

impl Model for EchoModel {
    fn label(&self) -> String {
        "Echo".to_owned()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let done = ModelEvent::Done {
            usage: Usage { model_calls: 1, ..Usage::default() },
            finish: Finish::Stop,
        };
        stream::iter([Ok(ModelEvent::Text(echo_answer(&request))), Ok(done)]).boxed()
    }
}
