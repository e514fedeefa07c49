//! The engine contains all services, each created once. Callers use the services.

use std::sync::Arc;

use contract::{AgentError, MemoryHit};

use crate::{
    agents::{instructions::InstructionsList, services::CallServices},
    approvals::{
        actions::Approvals, grants::Grants, router::Router, services::ApprovalServices,
        transitions::Transitions,
    },
    budget::service_level::ServiceLevel,
    context::egress::Egress,
    conversation::services::ConversationServices,
    destinations::Allowances,
    long_term::{
        embedding_call::EmbeddingCalls, index::VectorIndex, memories::Memories,
        switch::MemorySwitch,
    },
    ports::World,
    replay::driver::{ReplayParts, Replays},
    run::{CallerTurns, Runs},
    runner::{
        direct::DirectCalls,
        prompt_preview::PromptPreviews,
        recovery::{Recovered, Recovery},
        services::RunnerServices,
    },
    sessions::{reading::Sessions, turns::Turns},
    tools::{analyses::Analyses, schema::Validators, services::ToolServices},
    turn::{
        models::AnswerModels, recording::keeping::Recordings, refusals::RefusedRequests,
        secrets::KnownSecrets, services::TurnServices, switches::Switches, values::StoredValues,
    },
};

/// Runs turns, with at most one running turn per session.
pub struct Engine {
    /// The kill switches.
    pub switches: Arc<Switches>,
    /// The secrets that are known now.
    pub secrets: Arc<KnownSecrets>,
    /// The models that answer.
    pub models: Arc<AnswerModels>,
    /// Records requests that were refused.
    pub refused_requests: Arc<RefusedRequests>,
    /// The named values of sessions.
    pub values: Arc<StoredValues>,
    /// The recordings of turns.
    pub recordings: Arc<Recordings>,
    /// The service level of the last runs.
    pub service_level: ServiceLevel,
    /// The long-term memories.
    pub memories: Arc<Memories>,
    /// The permissions for destinations.
    pub allowances: Arc<Allowances>,
    /// The stored analyses that may be used again.
    pub analyses: Arc<Analyses>,
    /// The permissions for the rest of a session.
    pub grants: Arc<Grants>,
    /// The pending actions, and a person's operations on them.
    pub approvals: Arc<Approvals>,
    /// The specialists and the instructions of tools.
    pub instructions: InstructionsList,
    /// Calls tools outside of turns.
    pub direct_calls: Arc<DirectCalls>,
    /// Computes prompts without sending them.
    pub prompt_previews: PromptPreviews,
    /// The turns of all sessions.
    pub turns: Arc<Turns>,
    /// The stored sessions.
    pub sessions: Sessions,
    /// Runs requests of the run contract.
    pub runs: Runs,
    /// Runs turns and calls for remote callers.
    pub caller_turns: CallerTurns,
    /// Runs recorded turns again.
    pub replays: Replays,
    conversation: Arc<ConversationServices>,
    recovery: Recovery,
}

impl Engine {
    /// Creates an engine with these ports. Call `recover` once before the first turn.
    pub fn new(world: World) -> Arc<Self> {
        Self::with_memories(world, None)
    }

    /// Creates an engine for a replay, which does not search memories.
    fn for_replay(world: World, memories: Vec<MemoryHit>) -> ReplayParts {
        let engine = Self::with_memories(world, Some(memories));
        ReplayParts { turns: Arc::clone(&engine.turns), approvals: Arc::clone(&engine.approvals) }
    }

    fn with_memories(world: World, recorded: Option<Vec<MemoryHit>>) -> Arc<Self> {
        let shared = Arc::new(TurnServices::new(world));
        let TurnServices { world, secrets, switches, values, .. } = &*shared;
        let egress = Arc::new(Egress::new(world, secrets));
        let conversation = Arc::new(ConversationServices::new(&shared, &egress));
        let embedding = EmbeddingCalls::new(world, secrets, switches);
        let index = VectorIndex::new(world, embedding);
        let switch = MemorySwitch::new(world, values);
        let memories = Arc::new(Memories::new(world, secrets, index, switch, recorded));
        let allowances = Arc::new(Allowances::new(world));
        let analyses = Arc::new(Analyses::new(world));
        let validators = Validators::default();
        let tools = Arc::new(ToolServices { validators, analyses: Arc::clone(&analyses) });
        let grants = Arc::new(Grants::new(world));
        let open = Arc::new(ApprovalServices {
            router: Router::default(),
            transitions: Transitions::new(&shared),
            grants: Arc::clone(&grants),
        });
        let approvals = Arc::new(Approvals::new(&shared, &tools, &open, &allowances));
        let calls = Arc::new(CallServices { tools, approvals: open });
        let direct_calls = Arc::new(DirectCalls::new(&shared, &calls));
        let turns = Arc::new(Turns::new(&Arc::new(RunnerServices {
            shared: Arc::clone(&shared),
            conversation: Arc::clone(&conversation),
            memories: Arc::clone(&memories),
            calls,
        })));
        Arc::new(Self {
            service_level: ServiceLevel::new(world),
            instructions: InstructionsList::new(world, switches, &shared.traces),
            prompt_previews: PromptPreviews::new(&shared, &egress),
            recovery: Recovery::new(&shared, &approvals, &conversation),
            sessions: Sessions::new(&shared, &approvals, &conversation, &memories),
            runs: Runs::new(&shared, &turns),
            caller_turns: CallerTurns::new(&shared, &turns, &approvals, &direct_calls),
            replays: Replays::new(world, Self::for_replay),
            switches: Arc::clone(switches),
            secrets: Arc::clone(secrets),
            models: Arc::clone(&shared.models),
            refused_requests: Arc::clone(&shared.refused_requests),
            values: Arc::clone(values),
            recordings: Arc::clone(&shared.recordings),
            memories,
            allowances,
            analyses,
            grants,
            approvals,
            direct_calls,
            turns,
            conversation,
        })
    }

    /// Ends the turns and actions that the last process left open. Must be called once, before the
    /// first turn.
    pub async fn recover(&self) -> Result<Recovered, AgentError> {
        self.recovery.run().await
    }

    /// Expires overdue actions for which no call waits. Must be called regularly.
    pub async fn expire_overdue_actions(&self) {
        if let Err(error) = self.approvals.expire_overdue().await {
            tracing::warn!(%error, "overdue actions could not be looked at");
        }
        self.conversation.passing.sweep(None).await;
    }
}
