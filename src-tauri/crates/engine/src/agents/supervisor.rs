//! Decides which specialists answer a turn. The supervisor model chooses one specialist after the
//! other, within limits on hops and on visits to the same specialist. The reply is a specialist's
//! answer or a synthesis that names its sources. With one specialist or none, no supervisor is
//! asked.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use contract::{
    AgentId, Choice, EventBody, PromptTrace, ToParam as _, ToolSpec, TurnStatus, label_text,
};

use crate::{
    agents::{
        answer::AnswerBuilder,
        executor::ToolExecutor,
        model_call::ModelCaller,
        prompts::PromptWriter,
        rounds::{RoundLoop, Run, RunEnd},
        route::{self, Answered, Next},
        route_tool::{self, RouteTool},
        services::CallServices,
        tool_limit,
    },
    context::{
        egress::EgressSession,
        history,
        prompt::{self, AgentPart, Prompt, Voice},
    },
    conversation::{recall::Recollections, recalled::Recalled},
    ports::{Agent, Message, Purpose, Supervision},
    texts::Text,
    tools::scope::Scope,
    turn::{context::TurnContext, outcome::End, run_context::RunContext},
};

/// The fewest model calls of a hop: the decision, the specialist's answer, and the closing call.
const CALLS_OF_A_HOP: u32 = 3;

/// The most model calls of an assistant that may ask specialists: two to obtain a decision, like a
/// supervisor, and one to answer.
const CALLS_OF_AN_ASSISTANT: u32 = 3;

/// The messages at the beginning of every run of a turn.
pub(super) struct Opening {
    /// The messages of earlier turns, with tool calls and results.
    pub(super) window: Vec<Message>,
    /// Hints for this turn from the caller, such as the products to which the message refers.
    pub(super) hints: Vec<Message>,
    pub(super) question: Message,
}

/// The task of a specialist.
pub(super) enum Task<'a> {
    /// The whole message.
    All,
    /// The instruction of a supervisor.
    Ordered(&'a str),
    /// The whole message, except the part that the specialist routes to others with the tool.
    AllButRouted(RouteTool),
}

/// How the hops of the supervisor ended.
pub(super) enum SupervisorEnd {
    /// All required answers exist. If no specialist has answered, the reply is this text.
    Finish(String),
    Ended(End),
}

/// The answers so far, with the choices and the limit flag of the newest answer.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) answered: Vec<Answered>,
    choices: Vec<Choice>,
    limit: bool,
    pub(super) runs: HashMap<AgentId, Run>,
}

impl Progress {
    /// Adds the answer of a specialist. Any other end is returned.
    pub(super) fn add(&mut self, agent: &Arc<Agent>, end: End) -> Result<(), End> {
        let End::Answer { text, choices, status } = end else { return Err(end) };
        self.answered.push(Answered { agent: Arc::clone(agent), text });
        self.choices = choices;
        self.limit |= status == TurnStatus::Limit;
        Ok(())
    }
}

/// Returns the specialist if there is exactly one.
pub(crate) fn single_agent(agents: &[Arc<Agent>]) -> Option<&Agent> {
    match agents {
        [one] => Some(one),
        _ => None,
    }
}

/// Runs a turn: chooses the specialists, runs them, and builds the answer.
pub(crate) struct Supervisor<'t> {
    pub(super) context: Arc<TurnContext>,
    pub(super) words: Arc<EgressSession>,
    recollections: &'t mut Recollections,
    pub(super) rounds: RoundLoop<'t>,
}

impl<'t> Supervisor<'t> {
    pub(crate) fn new(
        context: &Arc<TurnContext>,
        calls: &CallServices,
        words: &Arc<EgressSession>,
        answer: &'t mut AnswerBuilder,
        recollections: &'t mut Recollections,
    ) -> Self {
        let rounds = RoundLoop::new(
            context,
            words,
            ModelCaller::new(context, words, answer),
            ToolExecutor::new(calls, context, Scope::default(), Some(Arc::clone(words))),
        );
        Self { context: Arc::clone(context), words: Arc::clone(words), recollections, rounds }
    }

    /// Sets the specialist that works from now on. `None` means that no specialist works.
    pub(super) fn set_current_agent(&mut self, agent: Option<&Arc<Agent>>) {
        let recalled = self.recollections.seen_by(agent.map(AsRef::as_ref));
        self.rounds.executor.dispatcher_mut().scope = Scope { agent: agent.cloned(), recalled };
        self.answer().agent = agent.cloned();
        // Another specialist has not read what this one was told.
        self.answer().instructed.lines.clear();
    }

    pub(super) fn answer(&mut self) -> &mut AnswerBuilder {
        self.rounds.model.answer
    }

    pub(super) fn prompts(&self) -> PromptWriter<'_> {
        let recalled = self.rounds.executor.dispatcher().scope.recalled.as_deref();
        let remembered = &self.recollections.remembered;
        PromptWriter { context: &self.context, words: &self.words, recalled, remembered }
    }

    /// Answers the message. The earlier messages must have been recalled before.
    pub(crate) async fn answer_message(
        mut self,
        agents: &[Arc<Agent>],
        recalled: &Recalled,
    ) -> End {
        let opening = self.opening(recalled);
        self.words.forget_unused();
        let is_generalist = self.context.is_generalist();
        match agents {
            [] if self.context.world().roster.agents().is_empty() => {
                self.answer_alone(&opening, Voice::Alone { is_generalist }).await
            }
            [] => self.answer_without_specialist(&opening).await,
            [one] => {
                let end = self.run_specialist(&opening, one, Task::All, &mut HashMap::new()).await;
                end.without_route()
            }
            _ if is_generalist && self.can_route() => self.assist(&opening, agents, recalled).await,
            // Specialists work with tools, which this model does not support.
            _ if is_generalist && self.context.model.refuses_tools() => {
                self.answer_without_specialist(&opening).await
            }
            _ => self.answer_by_routing(&opening, agents).await,
        }
    }

    /// Whether the model can route a message with a tool. The built-in model routes by the packs
    /// instead.
    fn can_route(&self) -> bool {
        self.context.can_route()
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
        let hints = self.context.run_with_listener().map_or(&[] as &[String], RunContext::hints);
        if !hints.is_empty() {
            self.context.sources.add_remembered_text(&hints.join(" "));
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
                let recalled = self.recollections.recall(&self.context, Some(agent)).await?;
                self.recollections.show_memory(&self.context, &recalled).await;
                recalled
            }
        };
        Ok(Some(Opening { question: shared.question.clone(), ..self.opening(&recalled) }))
    }

    /// Answers a message that needs no specialist.
    async fn answer_without_specialist(&mut self, opening: &Opening) -> End {
        let voice = match self.context.supervision() {
            Supervision::Assistant => Voice::Assistant { route: None },
            Supervision::Contract => Voice::Orchestrator,
        };
        self.answer_alone(opening, voice).await
    }

    /// Answers without a specialist, with the tools that belong to no specialist.
    async fn answer_alone(&mut self, opening: &Opening, voice: Voice<'_>) -> End {
        self.set_current_agent(None);
        let context = Arc::clone(&self.context);
        let specs: Vec<&ToolSpec> = context
            .offered()
            .into_iter()
            .filter(|spec| self.rounds.executor.dispatcher().scope.allows_tool(&context, spec))
            .collect();
        let specs = self.fit_tools(specs).await;
        let prompt = self.prompts().of_run(&voice, &specs, None);
        // An assistant beside specialists has no subject of its own and therefore no tools.
        let is_only = matches!(voice, Voice::Alone { .. });
        let mut run = Run {
            messages: initial_messages(&prompt, opening),
            earlier: opening.window.len(),
            passing: prompt.passing(),
            tools: prompt::tool_defs(specs, &self.words),
            purpose: match is_only {
                true => Purpose::Answer,
                false => Purpose::Part { tools: Vec::new() },
            },
            rounds: match is_only {
                true => self.context.settings.limits.rounds.clamp(1, 20),
                false => 2,
            },
            route: None,
        };
        trace(&self.context, None, &prompt);
        self.rounds.run(&mut run).await.without_route()
    }

    /// Lets the model answer, or route the message to specialists with the tool.
    pub(super) async fn answer_or_route(&mut self, opening: &Opening, route: RouteTool) -> RunEnd {
        self.set_current_agent(None);
        let voice = Voice::Assistant { route: Some(route_tool::name(&self.context.specs)) };
        let prompt = self.prompts().of_run(&voice, &[], None);
        let mut messages = vec![Message::System { text: prompt.text() }];
        messages.extend(
            opening.window.iter().filter_map(|message| self.message_for_supervisor(message)),
        );
        let earlier = messages.len() - 1;
        messages.extend(opening.hints.iter().cloned());
        messages.push(opening.question.clone());
        let mut run = Run {
            messages,
            earlier,
            passing: prompt.passing(),
            tools: Vec::new(),
            purpose: route.purpose(&self.context.specs),
            rounds: CALLS_OF_AN_ASSISTANT,
            route: Some(route),
        };
        trace(&self.context, None, &prompt);
        self.rounds.run(&mut run).await
    }

    /// Runs a specialist. A second visit continues the conversation of the first visit.
    pub(super) async fn run_specialist(
        &mut self,
        opening: &Opening,
        agent: &Arc<Agent>,
        task: Task<'_>,
        runs: &mut HashMap<AgentId, Run>,
    ) -> RunEnd {
        self.set_current_agent(Some(agent));
        let own = match self.own_opening(agent, opening).await {
            Ok(own) => own,
            Err(end) => return RunEnd::Ended(end),
        };
        // The specialist may have recalled earlier messages with its own settings.
        self.set_current_agent(Some(agent));
        self.context
            .emit(EventBody::AgentStart { agent: agent.id.clone(), name: agent.name.clone() });
        let context = Arc::clone(&self.context);
        let specs: Vec<&ToolSpec> =
            context.offered().into_iter().filter(|spec| agent.tools.contains(&spec.id)).collect();
        let specs = self.fit_tools(specs).await;
        let before = runs.remove(&agent.id);
        let mut run =
            self.begin_run(own.as_ref().unwrap_or(opening), (agent, specs), &task, before);
        let end = self.rounds.run(&mut run).await;
        self.context
            .emit(EventBody::AgentEnd { agent: agent.id.clone(), name: agent.name.clone() });
        if matches!(task, Task::Ordered(_))
            && let RunEnd::Ended(End::Answer { text, .. }) = &end
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

    /// Returns as many of the tools as the model's provider accepts, and notifies the user once
    /// of the packs whose tools are omitted.
    async fn fit_tools<'a>(&mut self, specs: Vec<&'a ToolSpec>) -> Vec<&'a ToolSpec> {
        let most = self.context.model.most_tools();
        let fitted = tool_limit::fit(specs, most);
        if fitted.left_out > 0 {
            let text = contract::Text::filled(
                Text::ToolsLeftOut.in_locale(&self.context.locale),
                [
                    ("model", label_text(&self.context.model.label()).to_param()),
                    ("most", most.to_param()),
                    ("left", fitted.left_out.to_param()),
                    ("servers", fitted.of.into_iter().collect::<Vec<_>>().join(", ").to_param()),
                ],
            );
            self.answer().tell_once("tools_left_out", text).await;
        }
        fitted.specs
    }

    /// Returns the run of a visit: the given run with a new prompt, or a new run.
    fn begin_run(
        &self,
        opening: &Opening,
        (agent, specs): (&Arc<Agent>, Vec<&ToolSpec>),
        task: &Task<'_>,
        before: Option<Run>,
    ) -> Run {
        let context = Arc::clone(&self.context);
        let (part, order) = match task {
            Task::All if context.is_generalist() && context.wanted.is_none() => {
                (AgentPart::AllAndGeneral, None)
            }
            Task::All => (AgentPart::All, None),
            Task::Ordered(order) => (AgentPart::Ordered, Some(*order)),
            Task::AllButRouted(_) => {
                (AgentPart::AllButRouted(route_tool::name(&context.specs)), None)
            }
        };
        let prompt = self.prompts().of_run(&Voice::Agent { agent, part }, &specs, order);
        trace(&self.context, Some(agent), &prompt);
        let names = || specs.iter().map(|spec| spec.model_name.clone()).collect();
        let purpose = match task {
            Task::AllButRouted(route) => route.purpose(&context.specs),
            Task::Ordered(_) => Purpose::Part { tools: names() },
            Task::All if context.wanted.is_some() => Purpose::Part { tools: names() },
            Task::All => Purpose::Answer,
        };
        let mut run = before.unwrap_or_else(|| Run {
            messages: initial_messages(&prompt, opening),
            earlier: opening.window.len(),
            passing: prompt.passing(),
            purpose,
            tools: prompt::tool_defs(specs, &self.words),
            rounds: 0,
            route: match task {
                Task::AllButRouted(route) => Some(route.clone()),
                Task::All | Task::Ordered(_) => None,
            },
        });
        if let Some(first) = run.messages.first_mut() {
            *first = Message::System { text: prompt.text() };
        }
        run.passing = prompt.passing();
        // One model call is reserved for the synthesis.
        let left = self.rounds.model.calls_left().saturating_sub(u32::from(order.is_some()));
        run.rounds = context
            .settings
            .limits
            .rounds
            .min(context.bound_unless_remote(agent.max_steps.saturating_add(1)))
            .clamp(1, 20)
            .min(left)
            .max(1);
        run
    }

    /// Asks specialists hop by hop and builds the reply from their answers.
    async fn answer_by_routing(&mut self, opening: &Opening, agents: &[Arc<Agent>]) -> End {
        let mut progress = Progress::default();
        match self.run_hops(opening, agents, &mut progress).await {
            SupervisorEnd::Finish(said) => self.reply(opening, said, progress).await,
            SupervisorEnd::Ended(end) => end,
        }
    }

    /// Creates the reply from the answers. If there is no answer, the reply is the text `said`.
    pub(super) async fn reply(
        &mut self,
        opening: &Opening,
        said: String,
        progress: Progress,
    ) -> End {
        let sources: HashSet<&AgentId> =
            progress.answered.iter().map(|answer| &answer.agent.id).collect();
        let status = if progress.limit { TurnStatus::Limit } else { TurnStatus::Ok };
        match (sources.len(), progress.answered.last()) {
            (0, _) | (_, None) if !said.trim().is_empty() => {
                self.set_current_agent(None);
                self.answer().clear_shown();
                self.answer().show(said.clone());
                End::Answer { text: said, choices: Vec::new(), status }
            }
            (0, _) | (_, None) => self.answer_without_specialist(opening).await,
            (1, Some(last)) => {
                End::Answer { text: last.text.clone(), choices: progress.choices, status }
            }
            (_, Some(_)) => self.synthesis(opening, progress.answered, status).await,
        }
    }

    /// Asks specialists until the supervisor model finishes, or no further hop fits.
    pub(super) async fn run_hops(
        &mut self,
        opening: &Opening,
        agents: &[Arc<Agent>],
        progress: &mut Progress,
    ) -> SupervisorEnd {
        for _ in progress.answered.len()..self.most_hops() {
            if let Err(error) = self.context.services.switches.check_enabled() {
                return SupervisorEnd::Ended(End::Failed { partial: String::new(), error });
            }
            let agents: Vec<Arc<Agent>> = agents
                .iter()
                .filter(|agent| self.context.services.switches.check_agent(&agent.id).is_ok())
                .cloned()
                .collect();
            if agents.is_empty() || self.rounds.model.calls_left() < CALLS_OF_A_HOP {
                return SupervisorEnd::Finish(String::new());
            }
            let (next, decision) = match self.decide(opening, &agents, &progress.answered).await {
                Ok(Some(decided)) => decided,
                Ok(None) => return SupervisorEnd::Finish(String::new()),
                // An answer exists. Only the question whether another specialist is needed failed.
                Err(End::Failed { error, .. }) if !progress.answered.is_empty() => {
                    tracing::warn!(%error, "nobody could be asked who is next");
                    return SupervisorEnd::Finish(String::new());
                }
                Err(end) => {
                    if let Some(before) = progress.answered.last() {
                        self.answer().save_side_text(&before.text).await;
                    }
                    return SupervisorEnd::Ended(end);
                }
            };
            let agent = match next {
                Next::Finish => {
                    self.context.account.entries().is_declined |=
                        route::is_out_of_scope(&decision, &progress.answered);
                    return SupervisorEnd::Finish(decision.instruction);
                }
                Next::Agent(id) => agents
                    .iter()
                    .find(|agent| agent.id == id)
                    .filter(|_| route::may_visit(&id, &decision, &progress.answered)),
            };
            let Some(agent) = agent else { return SupervisorEnd::Finish(String::new()) };
            // The earlier answer is no longer the reply, so it is stored as a separate text.
            if let Some(before) = progress.answered.last() {
                self.answer().save_side_text(&before.text).await;
            }
            let order = route::instruction_for_specialist(&decision);
            let end = self
                .run_specialist(opening, agent, Task::Ordered(&order), &mut progress.runs)
                .await;
            if let Err(end) = progress.add(agent, end.without_route()) {
                return SupervisorEnd::Ended(end);
            }
        }
        SupervisorEnd::Finish(String::new())
    }

    /// Returns the most specialists that a turn may ask.
    pub(super) fn most_hops(&self) -> usize {
        self.context.settings.limits.hops.clamp(1, 12) as usize
    }
}

pub(super) fn trace(context: &TurnContext, agent: Option<&Arc<Agent>>, prompt: &Prompt) {
    context.services.traces.begin(PromptTrace {
        session: context.session.clone(),
        turn: context.id.clone(),
        at: context.world().clock.now(),
        agent: agent.map(|agent| agent.name.clone()),
        parts: prompt.views(),
        instructions: Vec::new(),
    });
}

fn initial_messages(prompt: &Prompt, opening: &Opening) -> Vec<Message> {
    let mut messages = vec![Message::System { text: prompt.text() }];
    messages.extend(opening.window.iter().chain(&opening.hints).cloned());
    messages.push(opening.question.clone());
    messages
}
