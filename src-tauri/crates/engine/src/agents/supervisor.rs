//! Who answers: one specialist after the other, as the supervisor decides, with bounds on hops and visits; then the one answer,
//! or a synthesis that names its sources. Where there is one specialist or none, nobody is asked who should answer.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::Ordering},
};

use contract::{AgentId, Choice, EventBody, PromptPart, PromptTrace, ToolSpec, TurnStatus};

use crate::{
    agents::{
        rounds::{ModelCallRequest, Run},
        route::{self, Answered, Next},
    },
    budget::metering::cut_short,
    context::{
        egress::EgressSession,
        entities, history,
        prompt::{self, Prompt, Voice},
    },
    memory::Recalled,
    ports::{Agent, Finish, Message, Purpose, RouteDecision},
    texts::Text,
    turn::{
        Turn,
        ending::{End, said_below},
    },
};

/// Model calls that a hop needs at least: the decision, an answer, and the closing one.
const CALLS_OF_A_HOP: u32 = 3;

/// What all runs of a turn begin with.
struct Opening {
    /// Earlier turns, with calls and results.
    window: Vec<Message>,
    /// What the caller's host tells for this turn.
    hints: Vec<Message>,
    question: Message,
}

/// How the supervisor's part ended.
enum SupervisorEnd {
    /// Everything asked for is there; with no answer yet, this one.
    Finish(String),
    Ended(End),
}

/// The answers so far, with what belongs to the newest one.
#[derive(Default)]
struct Progress {
    answered: Vec<Answered>,
    choices: Vec<Choice>,
    limit: bool,
    runs: HashMap<AgentId, Run>,
}

impl Turn {
    /// The specialists that may be asked.
    pub(crate) fn agents(&self) -> Vec<Arc<Agent>> {
        let asked = |agent: &&Agent| self.wanted.as_ref().is_none_or(|id| agent.id == *id) && self.engine.check_agent(&agent.id).is_ok();
        self.world().roster.agents().iter().filter(asked).cloned().map(Arc::new).collect()
    }

    /// The one that nobody has to choose.
    pub(crate) fn only(agents: &[Arc<Agent>]) -> Option<&Agent> {
        match agents {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Answers the message, after what came before it has been recalled.
    pub(crate) async fn conduct(self: Arc<Self>, agents: &[Arc<Agent>], recalled: &Recalled) -> End {
        let words = match self.open_words().await {
            Ok(words) => words,
            Err(end) => return end,
        };
        let opening = self.opening(words, recalled);
        words.forget_older();
        match agents {
            [] if self.world().roster.agents().is_empty() => self.alone(words, &opening, Voice::Alone).await,
            [] => self.alone(words, &opening, Voice::Orchestrator).await,
            [one] => self.visit(words, &opening, one, None, &mut HashMap::new()).await,
            _ => self.routed(words, &opening, agents).await,
        }
    }

    fn opening(&self, words: &EgressSession, recalled: &Recalled) -> Opening {
        Opening {
            window: history::messages(&recalled.items, &self.specs, &self.kept, words),
            hints: self.hints(words),
            question: Message::User { text: words.text(&self.text) },
        }
    }

    /// Hints quote what tools said, so they are no more to be trusted than these.
    fn hints(&self, words: &EgressSession) -> Vec<Message> {
        let hints = self.run.as_ref().map_or(&[] as &[String], |run| run.hints());
        if !hints.is_empty() {
            self.strangers.remembered(&hints.join(" "));
        }
        hints.iter().map(|hint| Message::System { text: words.text(hint) }).collect()
    }

    /// What a specialist begins with that has settings of its own for earlier messages. Nothing: it begins as everybody does.
    async fn own_opening(&self, words: &EgressSession, agent: &Agent, shared: &Opening) -> Result<Option<Opening>, End> {
        if agent.conversation.is_none() {
            return Ok(None);
        }
        let recalled = match self.recollections.of(Some(agent)) {
            Some(recalled) => recalled,
            None => {
                let recalled = self.recall(Some(agent)).await?;
                self.show_memory(&recalled).await;
                recalled
            }
        };
        Ok(Some(Opening { question: shared.question.clone(), ..self.opening(words, &recalled) }))
    }

    /// Whether the one that runs now may call a tool. What belongs to a specialist is that specialist's alone.
    pub(crate) fn in_scope(&self, spec: &ToolSpec) -> bool {
        match self.agent() {
            Some(agent) => agent.tools.contains(&spec.id),
            None => !self.keeps_items || self.world().roster.agents().is_empty(),
        }
    }

    /// A run without a specialist.
    async fn alone(self: &Arc<Self>, words: &EgressSession, opening: &Opening, voice: Voice<'_>) -> End {
        self.work(None);
        let specs: Vec<&ToolSpec> = self.offered().into_iter().filter(|spec| self.in_scope(spec)).collect();
        let prompt = self.prompt(words, &voice, &specs, None);
        let mut run = Run {
            messages: opened(&prompt, opening),
            earlier: opening.window.len(),
            tools: prompt::tool_defs(specs, words),
            // The orchestrator has no field of its own.
            purpose: if matches!(voice, Voice::Orchestrator) { Purpose::Part { tools: Vec::new() } } else { Purpose::Answer },
            rounds: if matches!(voice, Voice::Orchestrator) { 2 } else { self.settings.limits.rounds.clamp(1, 20) },
        };
        self.trace(None, &prompt);
        self.rounds(words, &mut run).await
    }

    /// A specialist's run. A second one goes on where the first ended.
    async fn visit(
        self: &Arc<Self>,
        words: &EgressSession,
        opening: &Opening,
        agent: &Arc<Agent>,
        order: Option<&str>,
        runs: &mut HashMap<AgentId, Run>,
    ) -> End {
        self.work(Some(agent));
        let own = match self.own_opening(words, agent, opening).await {
            Ok(own) => own,
            Err(end) => return end,
        };
        self.emit(EventBody::AgentStart { agent: agent.id.clone(), name: agent.name.clone() });
        let opening = own.as_ref().unwrap_or(opening);
        let specs: Vec<&ToolSpec> = self.offered().into_iter().filter(|spec| agent.tools.contains(&spec.id)).collect();
        let voice = Voice::Agent { agent, among: order.is_some() };
        let prompt = self.prompt(words, &voice, &specs, order);
        self.trace(Some(agent), &prompt);
        let mut run = runs.remove(&agent.id).unwrap_or_else(|| Run {
            messages: opened(&prompt, opening),
            earlier: opening.window.len(),
            purpose: match order.is_some() || self.wanted.is_some() {
                true => Purpose::Part { tools: specs.iter().map(|spec| spec.model_name.clone()).collect() },
                false => Purpose::Answer,
            },
            tools: prompt::tool_defs(specs, words),
            rounds: 0,
        });
        if let Some(first) = run.messages.first_mut() {
            *first = Message::System { text: prompt.text() };
        }
        // One call is kept for the text that brings answers together.
        let left = self.calls_left().saturating_sub(u32::from(order.is_some()));
        run.rounds = self.settings.limits.rounds.min(self.own_bound(agent.max_steps.saturating_add(1))).clamp(1, 20).min(left).max(1);
        let end = self.rounds(words, &mut run).await;
        self.emit(EventBody::AgentEnd { agent: agent.id.clone(), name: agent.name.clone() });
        if order.is_some()
            && let End::Answer { text, .. } = &end
        {
            run.messages.push(Message::Assistant { text: words.text(text), calls: Vec::new(), opaque: None });
            run.messages.push(Message::System { text: "The supervisor asks again: see the new supervisor_instruction.".into() });
            runs.insert(agent.id.clone(), run);
        }
        end
    }

    /// Hop by hop to the end.
    async fn routed(self: &Arc<Self>, words: &EgressSession, opening: &Opening, agents: &[Arc<Agent>]) -> End {
        let mut progress = Progress::default();
        let said = match self.hops(words, opening, agents, &mut progress).await {
            SupervisorEnd::Finish(said) => said,
            SupervisorEnd::Ended(end) => return end,
        };
        let sources: HashSet<&AgentId> = progress.answered.iter().map(|answer| &answer.agent.id).collect();
        let status = if progress.limit { TurnStatus::Limit } else { TurnStatus::Ok };
        match (sources.len(), progress.answered.last()) {
            (0, _) | (_, None) if !said.trim().is_empty() => {
                self.work(None);
                self.shown.lock().clear();
                self.show(Some(said.clone()));
                End::Answer { text: said, choices: Vec::new(), status }
            }
            (0, _) | (_, None) => self.alone(words, opening, Voice::Orchestrator).await,
            (1, Some(last)) => End::Answer { text: last.text.clone(), choices: progress.choices, status },
            (_, Some(_)) => self.synthesis(words, opening, progress.answered, status).await,
        }
    }

    async fn hops(self: &Arc<Self>, words: &EgressSession, opening: &Opening, agents: &[Arc<Agent>], progress: &mut Progress) -> SupervisorEnd {
        for _ in 0..self.settings.limits.hops.clamp(1, 12) {
            if let Err(error) = self.engine.check_enabled() {
                return SupervisorEnd::Ended(End::Failed { partial: String::new(), error });
            }
            let agents: Vec<Arc<Agent>> = agents.iter().filter(|agent| self.engine.check_agent(&agent.id).is_ok()).cloned().collect();
            if agents.is_empty() || self.calls_left() < CALLS_OF_A_HOP {
                return SupervisorEnd::Finish(String::new());
            }
            let (next, decision) = match self.decide(words, opening, &agents, &progress.answered).await {
                Ok(Some(decided)) => decided,
                Ok(None) => return SupervisorEnd::Finish(String::new()),
                // There is an answer; only nobody can say whether more was wanted.
                Err(End::Failed { error, .. }) if !progress.answered.is_empty() => {
                    tracing::warn!(%error, "nobody could be asked who is next");
                    return SupervisorEnd::Finish(String::new());
                }
                Err(end) => {
                    if let Some(before) = progress.answered.last() {
                        self.keep_aside(&before.text).await;
                    }
                    return SupervisorEnd::Ended(end);
                }
            };
            let agent = match next {
                Next::Finish => {
                    self.account.declined.fetch_or(route::declines(&decision, &progress.answered), Ordering::AcqRel);
                    return SupervisorEnd::Finish(decision.instruction);
                }
                Next::Agent(id) => agents.iter().find(|agent| agent.id == id).filter(|_| route::may_visit(&id, &decision, &progress.answered)),
            };
            let Some(agent) = agent else { return SupervisorEnd::Finish(String::new()) };
            // The answer before this one is no longer the reply: it stands for itself.
            if let Some(before) = progress.answered.last() {
                self.keep_aside(&before.text).await;
            }
            match self.visit(words, opening, agent, Some(&route::order(&decision)), &mut progress.runs).await {
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

    /// Asks who is next; a decision that cannot be read is asked for once more.
    async fn decide(
        self: &Arc<Self>,
        words: &EgressSession,
        opening: &Opening,
        agents: &[Arc<Agent>],
        answered: &[Answered],
    ) -> Result<Option<(Next, RouteDecision)>, End> {
        let own = self.agent();
        self.work(None);
        let prompt = self.supervisor_prompt(words, agents, answered);
        self.trace(None, &prompt);
        let mut messages = vec![Message::System { text: prompt.text() }];
        messages.extend(opening.window.iter().filter_map(|message| self.told_to_supervisor(message)));
        let earlier = messages.len() - 1;
        messages.extend(opening.hints.iter().cloned());
        messages.push(opening.question.clone());
        let by_name = |agent: &Arc<Agent>| {
            let names = self.specs.iter().filter(|spec| agent.tools.contains(&spec.id)).map(|spec| spec.model_name.clone());
            (agent.id.clone(), names.collect())
        };
        let purpose = Purpose::Route { agents: agents.iter().map(by_name).collect(), answered: answered.iter().map(|a| a.agent.id.clone()).collect() };
        for _ in 0..2 {
            let sent = words.looked_at_again(messages.clone());
            let asked =
                ModelCallRequest { messages: &sent, earlier, tools: Vec::new(), structured: Some(route::shape(agents, words)), purpose: purpose.clone() };
            let reply = self.ask(asked).await?;
            let text = reply.calls.first().map_or(reply.text.as_str(), |call| call.arguments.as_str());
            match route::read(text, agents) {
                Ok(decided) => {
                    // What is finished with one answer stays that specialist's.
                    self.work(own.as_ref());
                    return Ok(Some(decided));
                }
                // It would be cut again.
                Err(_) if reply.finish == Some(Finish::Length) && self.account.cut.load(Ordering::Acquire) => {
                    let refusal = cut_short(&self.locale);
                    *self.account.refusal.lock() = Some(refusal.clone());
                    return Err(End::Failed { partial: String::new(), error: refusal });
                }
                Err(problem) => {
                    let said = if text.trim().is_empty() { "(nothing)" } else { text };
                    messages.push(Message::Assistant { text: words.text(said), calls: Vec::new(), opaque: None });
                    messages.push(Message::System { text: words.text(&problem) });
                }
            }
        }
        self.work(own.as_ref());
        Ok(None)
    }

    /// The supervisor reads what was said. A model of this program reads calls and results, too: it plans by them.
    fn told_to_supervisor(&self, message: &Message) -> Option<Message> {
        match message {
            Message::User { .. } => Some(message.clone()),
            Message::Assistant { text, calls, .. } if !self.model.in_process() => {
                (calls.is_empty() && !text.trim().is_empty()).then(|| Message::Assistant { text: text.clone(), calls: Vec::new(), opaque: None })
            }
            Message::Assistant { .. } => Some(message.clone()),
            Message::System { .. } | Message::Tool { .. } => self.model.in_process().then(|| message.clone()),
        }
    }

    /// Several answers as one text, with who gave them.
    async fn synthesis(self: &Arc<Self>, words: &EgressSession, opening: &Opening, answered: Vec<Answered>, status: TurnStatus) -> End {
        if let Some(last) = answered.last() {
            self.keep_aside(&last.text).await;
        }
        self.work(None);
        let mut prompt = Prompt::default();
        prompt.add(PromptPart::Base, &format!("{}\n\n{}", prompt::base(&Voice::Alone), route::synthesis()), true, words);
        prompt.add_up_to(self.room(), PromptPart::Memories, &route::answers(&answered), words);
        prompt.add(PromptPart::DateTime, &self.date_time(), true, words);
        self.trace(None, &prompt);
        let said = |answer: &Answered| (answer.agent.name.clone(), words.text(&answer.text));
        let asked = ModelCallRequest {
            messages: &[Message::System { text: prompt.text() }, opening.question.clone()],
            earlier: 0,
            tools: Vec::new(),
            structured: None,
            purpose: Purpose::Synthesis { answers: answered.iter().map(said).collect() },
        };
        let reply = match self.ask(asked).await {
            Ok(reply) => reply,
            // The answers are there; only the text that joins them is not.
            Err(End::Failed { partial, error }) => {
                tracing::warn!(%error, "the answers could not be brought together");
                crate::agents::rounds::Reply { text: partial, ..Default::default() }
            }
            Err(end) => return end,
        };
        // Where nothing came, the answers that stand above are the answer.
        self.account.in_parts.store(reply.text.trim().is_empty(), Ordering::Release);
        let text = self.marked_where_cut(reply.text, reply.finish);
        let by = format!("*{} {}.*", Text::AnsweredBy.in_locale(&self.locale), self.joined(&names(&answered)));
        let added = said_below(&text, &by);
        self.show(Some(added.clone()));
        End::Answer { text: format!("{text}{added}"), choices: Vec::new(), status }
    }

    fn joined(&self, names: &[&str]) -> String {
        match names {
            [rest @ .., last] if !rest.is_empty() => format!("{} {} {last}", rest.join(", "), Text::And.in_locale(&self.locale)),
            _ => names.concat(),
        }
    }

    /// The prompt of a run.
    pub(crate) fn prompt(&self, words: &EgressSession, voice: &Voice<'_>, specs: &[&ToolSpec], order: Option<&str>) -> Prompt {
        let mut prompt = Prompt::default();
        prompt.add(PromptPart::Base, &prompt::base(voice), true, words);
        prompt.add(PromptPart::Policy, &prompt::policy(self.settings.policy, words.level()), true, words);
        prompt.add(PromptPart::Toolkit, &self.engine.toolkits.of(specs), true, words);
        if let Voice::Agent { agent, .. } = voice {
            prompt.add(PromptPart::EntityDefaults, &entities::told(agent), true, words);
        }
        prompt.instruct(order.unwrap_or_default(), words);
        prompt.add(PromptPart::Memories, &self.memories(), false, words);
        prompt.add(PromptPart::DateTime, &self.date_time(), true, words);
        prompt
    }

    /// What the supervisor is told: its rules, who can be asked, what has been answered.
    pub(crate) fn supervisor_prompt(&self, words: &EgressSession, agents: &[Arc<Agent>], answered: &[Answered]) -> Prompt {
        let mut prompt = Prompt::default();
        prompt.add(PromptPart::Base, route::rules(), true, words);
        prompt.add(PromptPart::Toolkit, &route::roster(agents), true, words);
        prompt.add(PromptPart::Memories, &self.memories(), false, words);
        prompt.add_up_to(self.room(), PromptPart::Memories, &route::answers(answered), words);
        prompt.add(PromptPart::DateTime, &self.date_time(), true, words);
        prompt
    }

    /// The summary of what lies before the messages that are sent.
    fn memories(&self) -> String {
        self.recalled().and_then(|recalled| recalled.summary().map(history::remembered)).unwrap_or_default()
    }

    /// Bytes that earlier answers may take: half of what the model can read.
    fn room(&self) -> usize {
        (self.model.capabilities().context_tokens as usize).saturating_mul(3) / 2
    }

    fn date_time(&self) -> String {
        prompt::date_time(self.world().clock.now(), &self.world().profile.time_zone())
    }

    fn work(&self, agent: Option<&Arc<Agent>>) {
        *self.at_work.lock() = agent.cloned();
    }

    fn trace(&self, agent: Option<&Arc<Agent>>, prompt: &Prompt) {
        self.engine.traces.begin(PromptTrace {
            session: self.session.clone(),
            turn: self.id.clone(),
            at: self.world().clock.now(),
            agent: agent.map(|agent| agent.name.clone()),
            parts: prompt.views(),
            instructions: Vec::new(),
        });
    }
}

fn opened(prompt: &Prompt, opening: &Opening) -> Vec<Message> {
    let mut messages = vec![Message::System { text: prompt.text() }];
    messages.extend(opening.window.iter().chain(&opening.hints).cloned());
    messages.push(opening.question.clone());
    messages
}

/// Who answered, each once, in order.
fn names(answered: &[Answered]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for answer in answered {
        if !names.contains(&answer.agent.name.as_str()) {
            names.push(&answer.agent.name);
        }
    }
    names
}
