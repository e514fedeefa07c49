//! Bundles the services of this layer, which every turn uses.

use std::sync::Arc;

use contract::Approval;

use crate::{
    ports::World,
    turn::{
        lanes::Lanes,
        models::AnswerModels,
        recording::keeping::Recordings,
        refusals::RefusedRequests,
        run_context::{Correlated, Live},
        secrets::KnownSecrets,
        summaries::Summaries,
        switches::Switches,
        traces::Traces,
        values::StoredValues,
    },
};

/// The services that every turn uses.
pub(crate) struct TurnServices {
    /// The ports of the profile.
    pub(crate) world: World,
    pub(crate) runs: Arc<Live>,
    pub(crate) lanes: Arc<Lanes>,
    pub(crate) secrets: Arc<KnownSecrets>,
    pub(crate) switches: Arc<Switches>,
    pub(crate) models: Arc<AnswerModels>,
    pub(crate) values: Arc<StoredValues>,
    pub(crate) traces: Arc<Traces>,
    pub(crate) recordings: Arc<Recordings>,
    pub(crate) refused_requests: Arc<RefusedRequests>,
    pub(crate) summaries: Summaries,
}

impl TurnServices {
    /// Creates the services with these ports. The request's ids are added to the records of a turn
    /// that answers a request.
    pub(crate) fn new(world: World) -> Self {
        let runs = Arc::new(Live::default());
        let audit = Arc::new(Correlated::new(world.audit, Arc::clone(&runs)));
        let world = World { audit, ..world };
        let lanes: Arc<Lanes> = Arc::default();
        let secrets = Arc::new(KnownSecrets::new(&world));
        Self {
            switches: Arc::new(Switches::new(&world)),
            models: Arc::new(AnswerModels::new(&world, &secrets)),
            values: Arc::new(StoredValues::new(&world)),
            traces: Arc::new(Traces::new(&world)),
            recordings: Arc::new(Recordings::new(&world, &secrets)),
            refused_requests: Arc::new(RefusedRequests::new(&world, &secrets)),
            summaries: Summaries::new(&world, &lanes),
            runs,
            lanes,
            secrets,
            world,
        }
    }

    /// Returns the ports available to the caller of an action's turn. If no caller waits for the
    /// turn any more, the owner decides and can use all packs.
    pub(crate) fn world_of(&self, approval: &Approval) -> World {
        let run = self.runs.of(&approval.turn);
        run.map_or_else(|| self.world.clone(), |run| self.world.of(&run.caller()))
    }
}
