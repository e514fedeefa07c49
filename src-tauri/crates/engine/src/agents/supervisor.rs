//! Decides who answers a turn. The supervisor model chooses one specialist after the other, within
//! limits on hops and on visits to the same specialist. The reply is one specialist's answer or a
//! synthesis that names its sources. With one specialist or none, no supervisor is asked.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use contract::{AgentId, Choice, EventBody, PromptPart, PromptTrace, ToolSpec, TurnStatus};

use crate::{
    agents::{
        model_call::{ModelCallRequest, ModelCaller, Reply},
        prompts::PromptWriter,
        rounds::{RoundLoop, Run},
        route::{self, Answered, Next},
    },
    budget::metering::cut_short_error,
    context::{
        egress::EgressSession,
        history,
        prompt::{self, Prompt, Voice},
    },
    memory::{recall::Recollections, recalled::Recalled, refresh::show_memory},
    ports::{Agent, Finish, Message, Purpose, RouteDecision},
    run::live::RunContext,
    texts::Text,
    tools::{
        dispatch::Dispatcher, executor::ToolExecutor, provenance::UntrustedSources, scope::Scope,
    },
    turn::{
        answer::AnswerBuilder,
        context::TurnContext,
        outcome::{End, sentence_below},
    },
};

/// The model calls that one hop needs at least: the decision, the specialist's answer, and the
/// closing call.
const CALLS_OF_A_HOP: u32 = 3;

/// The messages that every run of a turn begins with.
struct Opening {
    /// The messages of earlier turns, with tool calls and results.
    window: Vec<Message>,
    /// Hints that the caller's host adds for this turn.
    hints: Vec<Message>,
    question: Message,
}

/// How the supervisor's hops ended.
enum SupervisorEnd {
    /// All requested answers exist. If no specialist has answered, the reply is this text.
    Finish(String),
    Ended(End),
}

/// The answers so far, with the choices and the limit flag of the newest answer.
#[derive(Default)]
struct Progress {
    answered: Vec<Answered>,
    choices: Vec<Choice>,
    limit: bool,
    runs: HashMap<AgentId, Run>,
}

/// Returns the specialists that are switched on and that the caller allows.
pub(crate) fn agents_of(context: &TurnContext) -> Vec<Arc<Agent>> {
    let may_be_asked = |agent: &&Agent| {
        context.wanted.as_ref().is_none_or(|id| agent.id == *id)
            && context.engine.check_agent(&agent.id).is_ok()
    };
    context.world().roster.agents().iter().filter(may_be_asked).cloned().map(Arc::new).collect()
}

/// Returns the specialist if there is exactly one.
pub(crate) fn only(agents: &[Arc<Agent>]) -> Option<&Agent> {
    match agents {
        [one] => Some(one),
        _ => None,
    }
}

/// Conducts a turn: chooses the specialists, runs them, and builds the answer.
pub(crate) struct Supervisor<'t> {
    context: Arc<TurnContext>,
    words: Arc<EgressSession>,
    sources: Arc<UntrustedSources>,
    recollections: &'t mut Recollections,
    rounds: RoundLoop<'t>,
}

impl<'t> Supervisor<'t> {
    pub(crate) fn new(
        context: &Arc<TurnContext>,
        words: &Arc<EgressSession>,
        sources: &Arc<UntrustedSources>,
        answer: &'t mut AnswerBuilder,
        recollections: &'t mut Recollections,
    ) -> Self {
        let dispatcher = Dispatcher::new(
            context,
            Arc::clone(sources),
            Scope::default(),
            Some(Arc::clone(words)),
        );
        let rounds = RoundLoop::new(
            context,
            words,
            ModelCaller::new(context, words, answer),
            ToolExecutor::new(dispatcher),
        );
        Self {
            context: Arc::clone(context),
            words: Arc::clone(words),
            sources: Arc::clone(sources),
            recollections,
            rounds,
        }
    }

    /// Sets the specialist that works from now on. `None` means that no specialist works.
    fn work(&mut self, agent: Option<&Arc<Agent>>) {
        let recalled = self.recollections.seen_by(agent.map(AsRef::as_ref));
        self.rounds.executor.dispatcher_mut().scope = Scope { agent: agent.cloned(), recalled };
        self.answer().agent = agent.cloned();
    }

    fn answer(&mut self) -> &mut AnswerBuilder {
        self.rounds.model.answer
    }

    fn prompts(&self) -> PromptWriter<'_> {
        let recalled = self.rounds.executor.dispatcher().scope.recalled.as_deref();
        PromptWriter { context: &self.context, words: &self.words, recalled }
    }

    /// Answers the message. The earlier messages must have been recalled before.
    pub(crate) async fn conduct(mut self, agents: &[Arc<Agent>], recalled: &Recalled) -> End {
        let opening = self.opening(recalled);
        self.words.forget_unused();
        match agents {
            [] if self.context.world().roster.agents().is_empty() => {
                self.alone(&opening, Voice::Alone).await
            }
            [] => self.alone(&opening, Voice::Orchestrator).await,
            [one] => self.visit(&opening, one, None, &mut HashMap::new()).await,
            _ => self.routed(&opening, agents).await,
        }
    }

    fn opening(&mut self, recalled: &Recalled) -> Opening {
        let results = &mut self.rounds.executor.dispatcher_mut().results;
        Opening {
            window: history::messages(&recalled.items, &self.context.specs, results, &self.words),
            hints: self.hints(),
            question: Message::User { text: self.words.text(&self.context.question) },
        }
    }

    /// Returns the caller's hints as messages. Hints quote tool results, so they are marked as
    /// untrusted.
    fn hints(&self) -> Vec<Message> {
        let hints = self.context.caller().map_or(&[] as &[String], RunContext::hints);
        if !hints.is_empty() {
            self.sources.remembered(&hints.join(" "));
        }
        hints.iter().map(|hint| Message::System { text: self.words.text(hint) }).collect()
    }

    /// Returns the opening for a specialist with its own settings for earlier messages. Returns
    /// None if the specialist uses the shared opening.
    async fn own_opening(
        &mut self,
        agent: &Agent,
        shared: &Opening,
    ) -> Result<Option<Opening>, End> {
        if agent.conversation.is_none() {
            return Ok(None);
        }
        let recalled = match self.recollections.of(Some(agent)) {
            Some(recalled) => recalled,
            None => {
                let recalled =
                    self.recollections.recall(&self.context, &self.sources, Some(agent)).await?;
                show_memory(&self.context, &recalled).await;
                recalled
            }
        };
        Ok(Some(Opening { question: shared.question.clone(), ..self.opening(&recalled) }))
    }

    /// Answers without a specialist.
    async fn alone(&mut self, opening: &Opening, voice: Voice<'_>) -> End {
        self.work(None);
        let context = Arc::clone(&self.context);
        let specs: Vec<&ToolSpec> = context
            .offered()
            .into_iter()
            .filter(|spec| self.rounds.executor.dispatcher().scope.has(&context, spec))
            .collect();
        let prompt = self.prompts().of_run(&voice, &specs, None);
        let mut run = Run {
            messages: opened(&prompt, opening),
            earlier: opening.window.len(),
            tools: prompt::tool_defs(specs, &self.words),
            // The orchestrator is responsible for no subject and therefore for no tools.
            purpose: if matches!(voice, Voice::Orchestrator) {
                Purpose::Part { tools: Vec::new() }
            } else {
                Purpose::Answer
            },
            rounds: if matches!(voice, Voice::Orchestrator) {
                2
            } else {
                self.context.settings.limits.rounds.clamp(1, 20)
            },
        };
        trace(&self.context, None, &prompt);
        self.rounds.run(&mut run).await
    }

    /// Runs a specialist. A second visit continues the conversation of the first one.
    async fn visit(
        &mut self,
        opening: &Opening,
        agent: &Arc<Agent>,
        order: Option<&str>,
        runs: &mut HashMap<AgentId, Run>,
    ) -> End {
        self.work(Some(agent));
        let own = match self.own_opening(agent, opening).await {
            Ok(own) => own,
            Err(end) => return end,
        };
        // The specialist may have recalled earlier messages by its own settings.
        self.work(Some(agent));
        self.context
            .emit(EventBody::AgentStart { agent: agent.id.clone(), name: agent.name.clone() });
        let opening = own.as_ref().unwrap_or(opening);
        let context = Arc::clone(&self.context);
        let specs: Vec<&ToolSpec> =
            context.offered().into_iter().filter(|spec| agent.tools.contains(&spec.id)).collect();
        let voice = Voice::Agent { agent, among: order.is_some() };
        let prompt = self.prompts().of_run(&voice, &specs, order);
        trace(&self.context, Some(agent), &prompt);
        let mut run = runs.remove(&agent.id).unwrap_or_else(|| Run {
            messages: opened(&prompt, opening),
            earlier: opening.window.len(),
            purpose: match order.is_some() || self.context.wanted.is_some() {
                true => Purpose::Part {
                    tools: specs.iter().map(|spec| spec.model_name.clone()).collect(),
                },
                false => Purpose::Answer,
            },
            tools: prompt::tool_defs(specs, &self.words),
            rounds: 0,
        });
        if let Some(first) = run.messages.first_mut() {
            *first = Message::System { text: prompt.text() };
        }
        // One model call is kept back for the synthesis.
        let left = self.rounds.model.calls_left().saturating_sub(u32::from(order.is_some()));
        run.rounds = self
            .context
            .settings
            .limits
            .rounds
            .min(self.context.bound_unless_remote(agent.max_steps.saturating_add(1)))
            .clamp(1, 20)
            .min(left)
            .max(1);
        let end = self.rounds.run(&mut run).await;
        self.context
            .emit(EventBody::AgentEnd { agent: agent.id.clone(), name: agent.name.clone() });
        if order.is_some()
            && let End::Answer { text, .. } = &end
        {
            run.messages.push(Message::Assistant {
                text: self.words.text(text),
                calls: Vec::new(),
                opaque: None,
            });
            run.messages.push(Message::System {
                text: "The supervisor asks again: see the new supervisor_instruction.".into(),
            });
            runs.insert(agent.id.clone(), run);
        }
        end
    }

    /// Asks specialists hop by hop and builds the reply from their answers.
    async fn routed(&mut self, opening: &Opening, agents: &[Arc<Agent>]) -> End {
        let mut progress = Progress::default();
        let said = match self.hops(opening, agents, &mut progress).await {
            SupervisorEnd::Finish(said) => said,
            SupervisorEnd::Ended(end) => return end,
        };
        let sources: HashSet<&AgentId> =
            progress.answered.iter().map(|answer| &answer.agent.id).collect();
        let status = if progress.limit { TurnStatus::Limit } else { TurnStatus::Ok };
        match (sources.len(), progress.answered.last()) {
            (0, _) | (_, None) if !said.trim().is_empty() => {
                self.work(None);
                self.answer().clear_shown();
                self.answer().show(said.clone());
                End::Answer { text: said, choices: Vec::new(), status }
            }
            (0, _) | (_, None) => self.alone(opening, Voice::Orchestrator).await,
            (1, Some(last)) => {
                End::Answer { text: last.text.clone(), choices: progress.choices, status }
            }
            (_, Some(_)) => self.synthesis(opening, progress.answered, status).await,
        }
    }

    async fn hops(
        &mut self,
        opening: &Opening,
        agents: &[Arc<Agent>],
        progress: &mut Progress,
    ) -> SupervisorEnd {
        for _ in 0..self.context.settings.limits.hops.clamp(1, 12) {
            if let Err(error) = self.context.engine.check_enabled() {
                return SupervisorEnd::Ended(End::Failed { partial: String::new(), error });
            }
            let agents: Vec<Arc<Agent>> = agents
                .iter()
                .filter(|agent| self.context.engine.check_agent(&agent.id).is_ok())
                .cloned()
                .collect();
            if agents.is_empty() || self.rounds.model.calls_left() < CALLS_OF_A_HOP {
                return SupervisorEnd::Finish(String::new());
            }
            let (next, decision) = match self.decide(opening, &agents, &progress.answered).await {
                Ok(Some(decided)) => decided,
                Ok(None) => return SupervisorEnd::Finish(String::new()),
                // An answer exists. Only the question whether another specialist is needed could
                // not be asked.
                Err(End::Failed { error, .. }) if !progress.answered.is_empty() => {
                    tracing::warn!(%error, "nobody could be asked who is next");
                    return SupervisorEnd::Finish(String::new());
                }
                Err(end) => {
                    if let Some(before) = progress.answered.last() {
                        self.answer().keep_aside(&before.text).await;
                    }
                    return SupervisorEnd::Ended(end);
                }
            };
            let agent = match next {
                Next::Finish => {
                    self.context.account.entries().is_declined |=
                        route::declines(&decision, &progress.answered);
                    return SupervisorEnd::Finish(decision.instruction);
                }
                Next::Agent(id) => agents
                    .iter()
                    .find(|agent| agent.id == id)
                    .filter(|_| route::may_visit(&id, &decision, &progress.answered)),
            };
            let Some(agent) = agent else { return SupervisorEnd::Finish(String::new()) };
            // The earlier answer is no longer the reply, so it is stored as a text of its own.
            if let Some(before) = progress.answered.last() {
                self.answer().keep_aside(&before.text).await;
            }
            match self
                .visit(opening, agent, Some(&route::order(&decision)), &mut progress.runs)
                .await
            {
                End::Answer { text, choices, status } => {
                    progress.answered.push(Answered { agent: Arc::clone(agent), text });
                    progress.choices = choices;
                    progress.limit |= status == TurnStatus::Limit;
                }
                end => return SupervisorEnd::Ended(end),
            }
        }
        SupervisorEnd::Finish(String::new())
    }

    /// Asks the supervisor model for the next specialist. Asks once more if the decision cannot be
    /// parsed.
    async fn decide(
        &mut self,
        opening: &Opening,
        agents: &[Arc<Agent>],
        answered: &[Answered],
    ) -> Result<Option<(Next, RouteDecision)>, End> {
        let own = self.answer().agent.clone();
        self.work(None);
        let prompt = self.prompts().of_supervisor(agents, answered);
        trace(&self.context, None, &prompt);
        let mut messages = vec![Message::System { text: prompt.text() }];
        messages
            .extend(opening.window.iter().filter_map(|message| self.told_to_supervisor(message)));
        let earlier = messages.len() - 1;
        messages.extend(opening.hints.iter().cloned());
        messages.push(opening.question.clone());
        let by_name = |agent: &Arc<Agent>| {
            let names = self
                .context
                .specs
                .iter()
                .filter(|spec| agent.tools.contains(&spec.id))
                .map(|spec| spec.model_name.clone());
            (agent.id.clone(), names.collect())
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
                tools: Vec::new(),
                structured: Some(route::shape(agents, &self.words)),
                purpose: purpose.clone(),
            };
            let reply = self.rounds.model.ask(asked).await?;
            let text =
                reply.calls.first().map_or(reply.text.as_str(), |call| call.arguments.as_str());
            match route::read(text, agents) {
                Ok(decided) => {
                    // If this decision finishes the turn, the answer counts as the last
                    // specialist's answer.
                    self.work(own.as_ref());
                    return Ok(Some(decided));
                }
                // The budget cut this decision; a second attempt would be cut, too.
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
        self.work(own.as_ref());
        Ok(None)
    }

    /// Returns the message as the supervisor sees it. The supervisor sees only the texts. The
    /// built-in offline model also sees calls and results, because it plans with them.
    fn told_to_supervisor(&self, message: &Message) -> Option<Message> {
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

    /// Joins several answers into one text that names their specialists.
    async fn synthesis(
        &mut self,
        opening: &Opening,
        answered: Vec<Answered>,
        status: TurnStatus,
    ) -> End {
        if let Some(last) = answered.last() {
            self.answer().keep_aside(&last.text).await;
        }
        self.work(None);
        let words = Arc::clone(&self.words);
        let mut prompt = Prompt::default();
        prompt.add(
            PromptPart::Base,
            &format!("{}\n\n{}", prompt::base(&Voice::Alone), route::synthesis()),
            true,
            &words,
        );
        prompt.add_up_to(
            self.prompts().room(),
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

fn trace(context: &TurnContext, agent: Option<&Arc<Agent>>, prompt: &Prompt) {
    context.engine.traces.begin(PromptTrace {
        session: context.session.clone(),
        turn: context.id.clone(),
        at: context.world().clock.now(),
        agent: agent.map(|agent| agent.name.clone()),
        parts: prompt.views(),
        instructions: Vec::new(),
    });
}

fn opened(prompt: &Prompt, opening: &Opening) -> Vec<Message> {
    let mut messages = vec![Message::System { text: prompt.text() }];
    messages.extend(opening.window.iter().chain(&opening.hints).cloned());
    messages.push(opening.question.clone());
    messages
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
