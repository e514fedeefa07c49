//! Hears that the user wants to stop: Ctrl-C, or a request to end. Knows no imports.

use contract::AgentError;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// The signals by which a person or a program stops a command. They are heard from the moment that
/// this is made, so that a key pressed between two waits is not lost.
pub(super) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupts {
    pub(super) fn listen() -> Result<Self, AgentError> {
        let hear = |kind| {
            signal(kind).map_err(|error| {
                AgentError::internal("signals", format!("Ctrl-C cannot be heard: {error}."))
            })
        };
        Ok(Self {
            interrupt: hear(SignalKind::interrupt())?,
            terminate: hear(SignalKind::terminate())?,
        })
    }

    /// Lets the next signal end the process. Otherwise it would be heard by nobody, for example while
    /// the program waits for others that use its host.
    pub(super) fn exit_on_next(mut self) {
        tokio::spawn(async move {
            self.next().await;
            std::process::exit(i32::from(Exit::Failed as u8));
        });
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
