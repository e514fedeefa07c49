//! The services of this floor, on which every turn is built.

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

/// The services on which every turn is built.
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
    /// Makes the services over these ports. Records of a turn that answers a request get the
    /// request's ids.
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

    /// Returns the ports as the caller of an action's turn has them. If no caller waits for the turn
    /// any more, the owner decides, who has all packs.
    pub(crate) fn world_of(&self, approval: &Approval) -> World {
        let run = self.runs.of(&approval.turn);
        run.map_or_else(|| self.world.clone(), |run| self.world.of(&run.caller()))
    }
}
