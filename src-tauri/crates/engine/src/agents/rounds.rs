//! Runs the rounds of a specialist: ask the model, run the tools it calls, and repeat until it
//! answers or the limit of rounds is reached. A run always ends with an answer.

use std::sync::Arc;

use crate::{
    agents::model_call::{ModelCallRequest, ModelCaller},
    context::{egress::EgressSession, instructions::guidance, prompt},
    ports::{Finish, Message, Purpose, ToolDef},
    tools::executor::ToolExecutor,
    turn::{context::TurnContext, outcome::End},
};

/// One run of rounds by a specialist, or by the only assistant if there are no specialists.
pub(crate) struct Run {
    /// The messages to send; the first one is the prompt.
    pub(crate) messages: Vec<Message>,
    /// The number of messages from earlier turns. They stand directly after the prompt.
    pub(crate) earlier: usize,
    pub(crate) tools: Vec<ToolDef>,
    pub(crate) purpose: Purpose,
    /// The highest number of model calls. The last call is made without tools.
    pub(crate) rounds: u32,
}

/// Runs the rounds of a turn for each of its specialists in turn.
pub(crate) struct RoundLoop<'t> {
    context: Arc<TurnContext>,
    words: Arc<EgressSession>,
    pub(crate) model: ModelCaller<'t>,
    pub(crate) executor: ToolExecutor,
}

impl<'t> RoundLoop<'t> {
    pub(crate) fn new(
        context: &Arc<TurnContext>,
        words: &Arc<EgressSession>,
        model: ModelCaller<'t>,
        executor: ToolExecutor,
    ) -> Self {
        Self { context: Arc::clone(context), words: Arc::clone(words), model, executor }
    }

    /// Runs the rounds until there is an answer.
    pub(crate) async fn run(&mut self, run: &mut Run) -> End {
        let words = Arc::clone(&self.words);
        let limits = self.context.settings.limits;
        let rounds = run.rounds.min(self.model.calls_left()).max(1);
        let mut nudged = false;
        for round in 1..=rounds {
            // The user may have switched the specialist off since the last call.
            let enabled = match &self.model.answer.agent {
                Some(agent) => self.context.engine.check_agent(&agent.id),
                None => self.context.engine.check_enabled(),
            };
            if let Err(error) = enabled {
                return End::failed(error);
            }
            let last = round == rounds
                || nudged
                || self.executor.is_tools_off()
                || self.context.is_out_of_time();
            let tools = if last { Vec::new() } else { self.with_read_result(&run.tools) };
            run.messages = words.redact_again(std::mem::take(&mut run.messages));
            let asked = ModelCallRequest {
                messages: &run.messages,
                earlier: run.earlier,
                tools,
                structured: None,
                purpose: run.purpose.clone(),
            };
            let reply = match self.model.ask(asked).await {
                Ok(reply) => reply,
                Err(end) => return end,
            };
            let calls = if last { Vec::new() } else { reply.calls };
            if calls.is_empty() {
                // An answer that was cut before its first word would be cut again, so it is not
                // asked for again.
                if reply.text.trim().is_empty() && !last && reply.finish != Some(Finish::Length) {
                    nudged = true;
                    run.messages
                        .push(Message::System { text: "Answer the user now, in text.".into() });
                    continue;
                }
                let text = self.model.answer.mark_cut(reply.text, reply.finish);
                return self.model.answer.end(text, reply.choices, round == rounds && !nudged);
            }
            if !reply.text.trim().is_empty() {
                self.model.answer.keep_aside(&reply.text).await;
            }
            let sent = calls.iter().map(|call| words.call(call)).collect();
            run.messages.push(Message::Assistant {
                text: words.text(&reply.text),
                calls: sent,
                opaque: reply.opaque,
            });
            match self.executor.run_calls(calls).await {
                Ok(done) => {
                    let guidance =
                        guidance(&self.context, &mut self.model.answer.instructed, &done, &words);
                    for result in done {
                        self.model.answer.note_call(&result);
                        run.messages.push(result.message(
                            limits.result_chars as usize,
                            &mut self.executor.dispatcher_mut().results,
                            &words,
                        ));
                    }
                    run.messages.extend(guidance);
                }
                Err(end) => return end,
            }
        }
        self.model.answer.end(String::new(), Vec::new(), true)
    }

    /// Returns the tools of a round. Adds the tool that reads long results once a long result
    /// exists.
    fn with_read_result(&self, defs: &[ToolDef]) -> Vec<ToolDef> {
        let mut defs = defs.to_vec();
        let reader = self.executor.dispatcher().results.tool();
        defs.extend(
            reader
                .as_slice()
                .iter()
                .flat_map(|spec| prompt::tool_defs(std::slice::from_ref(spec), &self.words)),
        );
        defs
    }
}
