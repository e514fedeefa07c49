//! The host's implementation of the command list: a function for each command, in the file of its
//! area. Each takes a few lines; other modules do the work. A command without a function does not
//! compile.

use async_trait::async_trait;
use contract::{
    AgentError, Approval, AuditRecordView, Commands, PolicyView, RunResponse, ServiceLevelView,
    SessionView, VerifyReport, params::*, with_commands,
};

use crate::host::Host;

mod alerts;
mod app;
mod approvals;
mod audit;
mod boards;
mod memory;
mod policy;
mod servers;
mod sessions;
mod settings;
mod sources;
mod turns;

/// The functions of all areas.
mod functions {
    pub(super) use super::{
        alerts::*, app::*, approvals::*, audit::*, boards::*, memory::*, policy::*, servers::*,
        sessions::*, settings::*, sources::*, turns::*,
    };
}

macro_rules! answer_all {
    (
        chat { $($name:ident($params:ty) -> $response:ty, $level:ident, $help:literal;)+ }
        approval { $($aname:ident($aparams:ty) -> $aresponse:ty, $alevel:ident, $ahelp:literal;)+ }
    ) => {
        #[async_trait]
        impl Commands for Host {
            $(async fn $name(&self, params: $params) -> Result<$response, AgentError> {
                functions::$name(self, params).await
            })+
            $(async fn $aname(&self, params: $aparams) -> Result<$aresponse, AgentError> {
                functions::$aname(self, params).await
            })+
        }
    };
}

with_commands!(answer_all);
