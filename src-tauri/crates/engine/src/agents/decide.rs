//! Asks the supervisor model which specialist handles the next part of a message, and reads the
//! decision. `supervisor` acts on the decision.

use std::sync::Arc;

use crate::{
    agents::{
        model_call::ModelCallRequest,
        route::{self, Answered, Next},
        route_tool,
        supervisor::{Opening, Supervisor, trace},
    },
    budget::metering::cut_short_error,
    ports::{Agent, Finish, Message, Outbound, Purpose, RouteDecision},
    turn::outcome::End,
};

impl Supervisor<'_> {
    /// Asks the supervisor model for the next specialist. If the decision cannot be parsed, asks a
    /// second time.
    pub(super) async fn decide(
        &mut self,
        opening: &Opening,
        agents: &[Arc<Agent>],
        answered: &[Answered],
    ) -> Result<Option<(Next, RouteDecision)>, End> {
        let own = self.answer().agent.clone();
        self.set_current_agent(None);
        let prompt = self.prompts().of_supervisor(agents, answered);
        trace(&self.context, None, &prompt);
        let mut messages = vec![Message::System { text: prompt.text() }];
        messages.extend(
            opening.window.iter().filter_map(|message| self.message_for_supervisor(message)),
        );
        let earlier = messages.len() - 1;
        messages.extend(opening.hints.iter().cloned());
        messages.push(opening.question.clone());
        let by_name = |agent: &Arc<Agent>| {
            (agent.id.clone(), route_tool::tool_names(agent, &self.context.specs))
        };
        let purpose = Purpose::Route {
            agents: agents.iter().map(by_name).collect(),
            answered: answered.iter().map(|a| a.agent.id.clone()).collect(),
        };
        for _ in 0..2 {
            let sent = self.words.redact_again(messages.clone());
            let asked = ModelCallRequest {
                messages: &sent,
                earlier,
                passing: Outbound::default(),
                tools: Vec::new(),
                structured: Some(route::decision_format(agents, &self.words)),
                purpose: purpose.clone(),
            };
            let reply = self.rounds.model.ask(asked).await?;
            let text =
                reply.calls.first().map_or(reply.text.as_str(), |call| call.arguments.as_str());
            match route::read(text, agents) {
                Ok(decided) => {
                    // If this decision finishes the turn, the answer belongs to the last
                    // specialist.
                    self.set_current_agent(own.as_ref());
                    return Ok(Some(decided));
                }
                // The budget cut off this decision and would cut off a second attempt, too.
                Err(_)
                    if reply.finish == Some(Finish::Length)
                        && self.context.account.entries().is_cut =>
                {
                    let refusal = cut_short_error(&self.context.locale);
                    self.context.account.entries().refusal = Some(refusal.clone());
                    return Err(End::Failed { partial: String::new(), error: refusal });
                }
                Err(problem) => {
                    let said = if text.trim().is_empty() { "(nothing)" } else { text };
                    messages.push(Message::Assistant {
                        text: self.words.text(said),
                        calls: Vec::new(),
                        opaque: None,
                    });
                    messages.push(Message::System { text: self.words.text(&problem) });
                }
            }
        }
        self.set_current_agent(own.as_ref());
        Ok(None)
    }

    /// Returns the message as the supervisor sees it. The supervisor sees only the texts. The
    /// built-in offline model also sees calls and results, because its planning needs them.
    pub(super) fn message_for_supervisor(&self, message: &Message) -> Option<Message> {
        match message {
            Message::User { .. } => Some(message.clone()),
            Message::Assistant { text, calls, .. } if !self.context.model.in_process() => (calls
                .is_empty()
                && !text.trim().is_empty())
            .then(|| Message::Assistant { text: text.clone(), calls: Vec::new(), opaque: None }),
            Message::Assistant { .. } => Some(message.clone()),
            Message::System { .. } | Message::Tool { .. } => {
                self.context.model.in_process().then(|| message.clone())
            }
        }
    }
}
