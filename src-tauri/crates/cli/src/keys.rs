//! Reads the lines that the user types on a background thread, so that a waiting question can be
//! withdrawn.

use std::io::BufRead as _;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

/// The longest time that the thread may need to read what was typed before a question.
const READ_WITHIN: Duration = Duration::from_secs(1);

/// The lines of standard input.
pub(crate) struct Keys {
    lines: mpsc::UnboundedReceiver<String>,
}

impl Keys {
    /// Starts reading. Must be called at most once per process.
    pub(crate) fn start() -> std::io::Result<Self> {
        let (send, lines) = mpsc::unbounded_channel();
        thread::Builder::new().name("keys".into()).spawn(move || {
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
    /// answer the question. The end of the input is kept: tcflush would discard it too if the
    /// thread had not read it yet, and the question would wait for ever.
    pub(crate) fn discard_pending_input(&mut self) {
        let until = Instant::now() + READ_WITHIN;
        while has_input() && !self.lines.is_closed() && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        // SAFETY: tcflush takes a file descriptor and a constant; if the descriptor is not a
        // terminal, the call fails without effect.
        unsafe {
            libc::tcflush(libc::STDIN_FILENO, libc::TCIFLUSH);
        }
        while self.lines.try_recv().is_ok() {}
    }

    /// Returns the next line, or None at the end of input.
    pub(crate) async fn read_line(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}

/// Whether a line is a yes. The end of input and everything else is a no.
pub(crate) fn is_yes(line: Option<&str>) -> bool {
    let answer = line.unwrap_or_default().trim().to_lowercase();
    matches!(answer.as_str(), "y" | "yes" | "j" | "ja")
}

/// Returns true if standard input has a line or its end to read.
fn has_input() -> bool {
    let mut input = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
    // SAFETY: the call gets one valid structure, which outlives it.
    unsafe { libc::poll(&raw mut input, 1, 0) > 0 && input.revents & libc::POLLIN != 0 }
}
