//! Opens a connection: starts the program or reaches the address, and does the handshake with the
//! protocol that the server speaks. The first request of the second protocol gets the full time,
//! however long the first protocol took.

mod address;
mod program;
mod versions;

use contract::{Text, text};
use rmcp::{
    RoleClient,
    model::ProtocolVersion,
    service::{ClientLifecycleMode, RunningService},
};
use secrecy::SecretString;

use super::{Connection, Session};
use crate::{
    Reach, ServerConfig, Timings,
    failure::OpenError,
    handler::Handler,
    log::ServerLog,
    transport::{Ending, OpenRequests},
};

type Opened = (Connection, Session);
type OpenResult = Result<Opened, OpenError>;

/// Connects to the server and does the handshake, with the protocol that the server speaks.
pub(crate) async fn open(
    config: &ServerConfig,
    timings: &Timings,
    handler: Handler,
    log: &ServerLog,
) -> OpenResult {
    match &config.reach {
        Reach::Program(program) => {
            program::start((&config.name, log), program, timings, handler).await
        }
        Reach::Http(address) => address::connect(address, timings, handler).await,
    }
}

/// The newest protocol, which has no handshake.
fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] }
}

/// The protocols that begin with a handshake.
fn older() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

fn too_slow(timings: &Timings) -> Text {
    text!("It did not answer within {seconds} seconds.", seconds = timings.start.as_secs_f32())
}

fn split_running(
    pid: Option<u32>,
    running: RunningService<RoleClient, Handler>,
    ending: Ending,
    handler: Handler,
    requests: OpenRequests,
    secrets: Vec<SecretString>,
) -> Opened {
    let (peer, changed) = (running.peer().clone(), handler.changed());
    let connection = Connection { pid, peer, handler, requests, secrets };
    (connection, Session { running, ending, changed })
}
