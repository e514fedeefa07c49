//! Answers a message as a general assistant. The first call answers the message or routes it to
//! specialists with a tool. The specialist that answered last makes the first call. The module
//! `supervisor` implements runs and syntheses.

use std::{collections::HashMap, sync::Arc};

use contract::{Item, ItemBody};

use crate::{
    agents::{
        rounds::RunEnd,
        route::{self, Next},
        route_tool::{self, Decided, RouteTool},
        supervisor::{Opening, Progress, Supervisor, SupervisorEnd, Task},
    },
    conversation::recalled::Recalled,
    ports::Agent,
    turn::outcome::End,
};

/// The fewest model calls to reserve for a specialist: one for its answer and one for the
/// synthesis.
const CALLS_OF_A_VISIT: u32 = 2;

impl Supervisor<'_> {
    /// Answers the message, or lets specialists answer.
    pub(super) async fn assist(
        &mut self,
        opening: &Opening,
        agents: &[Arc<Agent>],
        recalled: &Recalled,
    ) -> End {
        let route = RouteTool::new(agents, &self.context.specs);
        let mut progress = Progress::default();
        let current = last_specialist(&recalled.items, agents);
        let first = match current {
            Some(agent) => {
                let task = Task::AllButRouted(route);
                self.run_specialist(opening, agent, task, &mut HashMap::new()).await
            }
            None => self.answer_or_route(opening, route).await,
        };
        let (own, to) = match first {
            RunEnd::Ended(end) => return end,
            RunEnd::Routed { own, to } => (own, to),
        };
        if let (Some(agent), Some(own)) = (current, own)
            && let Err(end) = progress.add(agent, own)
        {
            return end;
        }
        let has_more = route_tool::has_more(&to);
        let mut said = match self.ask_in_turn(opening, agents, to, &mut progress).await {
            Ok(said) => said,
            Err(end) => return end,
        };
        if has_more && !progress.answered.is_empty() {
            said = match self.run_hops(opening, agents, &mut progress).await {
                SupervisorEnd::Finish(said) => said,
                SupervisorEnd::Ended(end) => return end,
            };
        }
        self.reply(opening, said, progress).await
    }

    /// Asks the chosen specialists one after the other. Returns the model's own answer if its
    /// decision names no specialist.
    async fn ask_in_turn(
        &mut self,
        opening: &Opening,
        agents: &[Arc<Agent>],
        to: Vec<Decided>,
        progress: &mut Progress,
    ) -> Result<String, End> {
        let mut said = String::new();
        for (next, decision) in route_tool::joined(to) {
            self.context.services.switches.check_enabled().map_err(End::failed)?;
            let Next::Agent(id) = next else {
                said = decision.instruction;
                continue;
            };
            let has_room = progress.answered.len() < self.most_hops()
                && self.rounds.model.calls_left() >= CALLS_OF_A_VISIT;
            let chosen = agents
                .iter()
                .find(|agent| agent.id == id)
                .filter(|_| has_room && self.context.services.switches.check_agent(&id).is_ok())
                .filter(|_| route::may_visit(&id, &decision, &progress.answered));
            let Some(agent) = chosen else { continue };
            // The earlier answer is no longer the reply, so it is stored as a separate text.
            if let Some(before) = progress.answered.last() {
                self.answer().save_side_text(&before.text).await;
            }
            let order = route::instruction_for_specialist(&decision);
            let task = Task::Ordered(&order);
            let end = self.run_specialist(opening, agent, task, &mut progress.runs).await;
            progress.add(agent, end.without_route())?;
        }
        Ok(said)
    }
}

/// Returns the specialist that gave the last answer of the conversation, if it can be asked.
fn last_specialist<'a>(items: &[Arc<Item>], agents: &'a [Arc<Agent>]) -> Option<&'a Arc<Agent>> {
    let name = items.iter().rev().find_map(|item| match &item.body {
        ItemBody::AssistantText { agent, .. } => Some(agent.as_deref()),
        ItemBody::UserMessage { .. }
        | ItemBody::ToolCall { .. }
        | ItemBody::ToolResult { .. }
        | ItemBody::Notice { .. }
        | ItemBody::Approval { .. }
        | ItemBody::Redaction { .. }
        | ItemBody::Summary { .. } => None,
    })??;
    agents.iter().find(|agent| agent.name == name)
}
