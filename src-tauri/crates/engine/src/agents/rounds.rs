//! Runs the rounds of a specialist: ask the model, run the called tools, and repeat until the model
//! answers or the limit of rounds is reached. A run always ends with an answer.

use std::sync::Arc;

use contract::TurnStatus;

use crate::{
    agents::{
        executor::ToolExecutor,
        instructions::guidance,
        model_call::{ModelCallRequest, ModelCaller},
        route_tool::{Decided, RouteTool},
    },
    context::{egress::EgressSession, prompt},
    ports::{AskedCall, Finish, Message, Outbound, Purpose, ToolDef},
    turn::{context::TurnContext, outcome::End},
};

/// A run of rounds by a specialist, or by the only assistant if there are no specialists.
pub(crate) struct Run {
    /// The messages to send; the first one is the prompt.
    pub(crate) messages: Vec<Message>,
    /// The number of messages from earlier turns, which directly follow the prompt.
    pub(crate) earlier: usize,
    /// The end of the prompt, which differs between messages.
    pub(crate) passing: Outbound,
    pub(crate) tools: Vec<ToolDef>,
    pub(crate) purpose: Purpose,
    /// The most model calls. The last call is made without tools.
    pub(crate) rounds: u32,
    /// The tool that routes the message to specialists. It is offered until a decision was made or
    /// another tool was called.
    pub(crate) route: Option<RouteTool>,
}

/// How a run ended.
pub(crate) enum RunEnd {
    Ended(End),
    /// The model routed the message to specialists. `own` is the model's answer to its own part, if
    /// any.
    Routed {
        own: Option<End>,
        to: Vec<Decided>,
    },
}

impl RunEnd {
    /// Returns the end of a run that had no tool for routing.
    pub(crate) fn without_route(self) -> End {
        match self {
            Self::Ended(end) | Self::Routed { own: Some(end), .. } => end,
            Self::Routed { own: None, .. } => {
                End::Answer { text: String::new(), choices: Vec::new(), status: TurnStatus::Ok }
            }
        }
    }
}

/// Runs the rounds of a turn for each of its specialists.
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

    /// Runs the rounds until there is an answer or the model routes the message.
    pub(crate) async fn run(&mut self, run: &mut Run) -> RunEnd {
        let mut to = Vec::new();
        match self.run_rounds(run, &mut to).await {
            None => RunEnd::Routed { own: None, to },
            Some(own @ End::Answer { .. }) if !to.is_empty() => {
                RunEnd::Routed { own: Some(own), to }
            }
            Some(end) => RunEnd::Ended(end),
        }
    }

    /// Runs the rounds and collects the decisions to ask specialists. Returns none if the
    /// specialists answer and the run itself has no answer.
    async fn run_rounds(&mut self, run: &mut Run, to: &mut Vec<Decided>) -> Option<End> {
        let words = Arc::clone(&self.words);
        let limits = self.context.settings.limits;
        let rounds = run.rounds.min(self.model.calls_left()).max(1);
        let mut nudged = false;
        for round in 1..=rounds {
            // The user may have switched the specialist off since the last call.
            let enabled = match &self.model.answer.agent {
                Some(agent) => self.context.services.switches.check_agent(&agent.id),
                None => self.context.services.switches.check_enabled(),
            };
            if let Err(error) = enabled {
                return Some(End::failed(error));
            }
            let last = round == rounds
                || nudged
                || self.executor.is_tools_off()
                || self.context.is_out_of_time();
            let tools = if last { Vec::new() } else { self.offered(run) };
            // A secret may have become known since the last round.
            run.messages = words.redact_again(std::mem::take(&mut run.messages));
            let asked = ModelCallRequest {
                messages: &run.messages,
                earlier: run.earlier,
                passing: run.passing.clone(),
                tools,
                structured: None,
                purpose: run.purpose.clone(),
            };
            let reply = match self.model.ask(asked).await {
                Ok(reply) => reply,
                Err(end) => return Some(end),
            };
            // Some models call tools that were not offered.
            let calls = if last { Vec::new() } else { reply.calls };
            if calls.is_empty() {
                // If an answer was cut off before its first word, another attempt would be cut off,
                // too.
                if reply.text.trim().is_empty() && !last && reply.finish != Some(Finish::Length) {
                    nudged = true;
                    run.messages
                        .push(Message::System { text: "Answer the user now, in text.".into() });
                    continue;
                }
                self.model.answer.kept = reply.opaque.and_then(|opaque| opaque.kept(true, None));
                let text = self.model.answer.mark_cut(reply.text, reply.finish);
                return Some(self.model.answer.end(
                    text,
                    reply.choices,
                    round == rounds && !nudged,
                ));
            }
            if !reply.text.trim().is_empty() {
                self.model.answer.save_side_text(&reply.text).await;
            }
            let sent = calls.iter().map(|call| words.redact_call(call)).collect();
            let stored = calls.iter().enumerate().filter(|(_, call)| !is_route(&run.route, call));
            self.executor.keep_with_calls(stored, reply.opaque.as_ref());
            run.messages.push(Message::Assistant {
                text: words.text(&reply.text),
                calls: sent,
                opaque: reply.opaque,
            });
            let (routing, calls) = split_calls(&run.route, calls);
            if self.take_route_decisions(run, &routing, &calls, to) {
                return None;
            }
            if calls.is_empty() {
                continue;
            }
            run.route = None;
            match self.executor.run_calls(calls).await {
                Ok(done) => {
                    let agent = self.executor.dispatcher().scope.agent.as_deref();
                    let told = &mut self.model.answer.instructed;
                    let guidance = guidance(&self.context, agent, told, &done, &words);
                    for result in done {
                        self.model.answer.note_call(&result);
                        let result = result.offered(&self.context.specs, &words);
                        run.messages.push(result.message(
                            limits.result_chars as usize,
                            &mut self.executor.dispatcher_mut().results,
                            &words,
                        ));
                    }
                    run.messages.extend(guidance);
                }
                Err(end) => return Some(end),
            }
        }
        Some(self.model.answer.end(String::new(), Vec::new(), true))
    }

    /// Reads the decisions in the calls of the route tool and answers these calls. Returns true if
    /// the run ends here because the model made no other calls.
    fn take_route_decisions(
        &self,
        run: &mut Run,
        routing: &[AskedCall],
        others: &[AskedCall],
        to: &mut Vec<Decided>,
    ) -> bool {
        let Some(route) = run.route.clone() else { return false };
        for call in routing {
            let text = match route.read(call) {
                Ok(decided) => {
                    to.push(decided);
                    RouteTool::accepted().to_owned()
                }
                Err(problem) => problem,
            };
            run.messages.push(route.result(call, &text, &self.words));
        }
        !to.is_empty() && others.is_empty()
    }

    /// Returns the tools of a round. Adds the route tool of the run, and, if there is a long
    /// result, the tool for reading long results.
    fn offered(&self, run: &Run) -> Vec<ToolDef> {
        let mut defs = run.tools.clone();
        defs.extend(run.route.as_ref().map(|route| route.definition(&self.words)));
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

/// Separates the calls of the route tool from the others.
fn split_calls(
    route: &Option<RouteTool>,
    calls: Vec<AskedCall>,
) -> (Vec<AskedCall>, Vec<AskedCall>) {
    calls.into_iter().partition(|call| is_route(route, call))
}

fn is_route(route: &Option<RouteTool>, call: &AskedCall) -> bool {
    route.as_ref().is_some_and(|route| route.is_called_by(call))
}
