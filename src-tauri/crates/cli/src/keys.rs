//! Reads the lines that the person types on a background thread, so that a waiting question can be
//! withdrawn.

use std::io::BufRead as _;

use tokio::sync::mpsc;

/// Standard input, line by line.
pub(crate) struct Keys {
    lines: mpsc::UnboundedReceiver<String>,
}

impl Keys {
    /// Starts reading. Must be called at most once per process.
    pub(crate) fn start() -> std::io::Result<Self> {
        let (send, lines) = mpsc::unbounded_channel();
        std::thread::Builder::new().name("keys".into()).spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if send.send(line).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { lines })
    }

    /// Discards what was typed before the question was shown, so that an early Enter does not
    /// answer it.
    pub(crate) fn discard_pending_input(&mut self) {
        // SAFETY: tcflush takes a file descriptor and a constant; if it is not a terminal, the call
        // fails without effect.
        unsafe {
            libc::tcflush(libc::STDIN_FILENO, libc::TCIFLUSH);
        }
        while self.lines.try_recv().is_ok() {}
    }

    /// Returns the next line; None at the end of input.
    pub(crate) async fn read_line(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}
