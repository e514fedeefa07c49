//! Lines typed by the person, read beside everything else, so that a question can be taken back when it is over.

use std::io::BufRead as _;

use tokio::sync::mpsc;

/// Standard input, line by line.
pub(crate) struct Keys {
    lines: mpsc::UnboundedReceiver<String>,
}

impl Keys {
    /// Starts reading. There is at most one of these in a process.
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

    /// Forgets what was typed before the question was shown: an Enter too early must not answer it.
    pub(crate) fn forget(&mut self) {
        // SAFETY: tcflush only takes a file descriptor and a constant; on anything but a terminal it fails without effect.
        unsafe {
            libc::tcflush(libc::STDIN_FILENO, libc::TCIFLUSH);
        }
        while self.lines.try_recv().is_ok() {}
    }

    /// The next line; `None` at the end of input.
    pub(crate) async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}
