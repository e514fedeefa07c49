//! Joins the answers of several specialists into the reply, which names its sources. The answers
//! are created elsewhere.

use std::sync::Arc;

use contract::{PromptPart, RunAnswer, TurnStatus};

use crate::{
    agents::{
        model_call::{ModelCallRequest, Reply},
        route::{self, Answered},
        supervisor::{Opening, Supervisor, trace},
    },
    context::prompt::{self, Prompt, Voice},
    ports::{Message, Outbound, Purpose},
    texts::Text,
    turn::outcome::{End, sentence_below},
};

impl Supervisor<'_> {
    /// Joins several answers into one text that names their specialists.
    pub(super) async fn synthesis(
        &mut self,
        opening: &Opening,
        answered: Vec<Answered>,
        status: TurnStatus,
    ) -> End {
        self.context.account.entries().answers = answered.iter().map(run_answer).collect();
        if let Some(last) = answered.last() {
            self.answer().save_side_text(&last.text).await;
        }
        self.set_current_agent(None);
        let words = Arc::clone(&self.words);
        let mut prompt = Prompt::default();
        prompt.add(
            PromptPart::Base,
            &format!(
                "{}\n\n{}",
                prompt::base(&Voice::Alone { is_generalist: false }),
                route::synthesis()
            ),
            true,
            &words,
        );
        prompt.add_up_to(
            self.prompts().max_answers_len(),
            PromptPart::Memories,
            &route::answers(&answered),
            &words,
        );
        prompt.add(PromptPart::DateTime, &self.prompts().date_time(), true, &words);
        trace(&self.context, None, &prompt);
        let said = |answer: &Answered| (answer.agent.name.clone(), words.text(&answer.text));
        let asked = ModelCallRequest {
            messages: &[Message::System { text: prompt.text() }, opening.question.clone()],
            earlier: 0,
            passing: Outbound::default(),
            tools: Vec::new(),
            structured: None,
            purpose: Purpose::Synthesis { answers: answered.iter().map(said).collect() },
        };
        let reply = match self.rounds.model.ask(asked).await {
            Ok(reply) => reply,
            // The answers exist. Only the text that joins them failed.
            Err(End::Failed { partial, error }) => {
                tracing::warn!(%error, "the answers could not be brought together");
                Reply { text: partial, ..Default::default() }
            }
            Err(end) => return end,
        };
        // If the synthesis is empty, the specialists' answers above it form the reply.
        self.answer().is_in_parts = reply.text.trim().is_empty();
        let text = self.answer().mark_cut(reply.text, reply.finish);
        let by = format!(
            "*{} {}.*",
            Text::AnsweredBy.in_locale(&self.context.locale),
            self.joined(&names(&answered))
        );
        let added = sentence_below(&text, &by);
        self.answer().show(added.clone());
        End::Answer { text: format!("{text}{added}"), choices: Vec::new(), status }
    }

    fn joined(&self, names: &[&str]) -> String {
        match names {
            [rest @ .., last] if !rest.is_empty() => {
                format!("{} {} {last}", rest.join(", "), Text::And.in_locale(&self.context.locale))
            }
            _ => names.concat(),
        }
    }
}

/// Returns an answer in the form for the program that sent the request. The synthesis does not repeat
/// tables and lists, so that a program needs the answers themselves.
fn run_answer(answer: &Answered) -> RunAnswer {
    RunAnswer {
        agent: answer.agent.id.clone(),
        name: answer.agent.name.clone(),
        text: answer.text.clone(),
    }
}

/// Returns the names of the specialists that answered, each once, in order.
fn names(answered: &[Answered]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for answer in answered {
        if !names.contains(&answer.agent.name.as_str()) {
            names.push(&answer.agent.name);
        }
    }
    names
}
