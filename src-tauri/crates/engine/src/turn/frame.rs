//! Deltas on their way out: the first of a silence goes at once, those that come within a frame of
//! it go together. A model that sends four hundred pieces in a few milliseconds would otherwise
//! wake every listener four hundred times for one picture.

use std::{pin::Pin, time::Duration};

use tokio::time::{Instant, Sleep, sleep_until};

/// Half a picture at 60 a second: nobody sees the wait.
const FRAME: Duration = Duration::from_millis(8);

/// Text that waits for its frame to end.
pub(crate) struct Frame {
    text: String,
    open_until: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl Frame {
    pub(crate) fn new() -> Self {
        Self { text: String::new(), open_until: None, timer: Box::pin(sleep_until(Instant::now())) }
    }

    /// Takes a piece; gives back what is to be told at once.
    pub(crate) fn add(&mut self, text: String) -> Option<String> {
        if !self.text.is_empty() {
            self.text.push_str(&text);
            return None;
        }
        let now = Instant::now();
        match self.open_until {
            Some(end) if now < end => {
                self.text = text;
                self.timer.as_mut().reset(end);
                None
            }
            _ => {
                self.open_until = Some(now + FRAME);
                Some(text)
            }
        }
    }

    /// Whether text waits.
    pub(crate) fn waits(&self) -> bool {
        !self.text.is_empty()
    }

    /// Resolves when the waiting text is due.
    pub(crate) async fn due(&mut self) {
        self.timer.as_mut().await;
    }

    /// Takes the waiting text and begins the next frame.
    pub(crate) fn take(&mut self) -> Option<String> {
        if self.text.is_empty() {
            return None;
        }
        self.open_until = Some(Instant::now() + FRAME);
        Some(std::mem::take(&mut self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_piece_goes_at_once_and_a_burst_goes_together() {
        let mut frame = Frame::new();
        assert_eq!(frame.add("a".into()).as_deref(), Some("a"));
        assert_eq!(frame.add("b".into()), None);
        assert_eq!(frame.add("c".into()), None);
        assert!(frame.waits());
        let before = Instant::now();
        frame.due().await;
        assert_eq!(before.elapsed(), FRAME);
        assert_eq!(frame.take().as_deref(), Some("bc"));
        assert!(!frame.waits());
        tokio::time::advance(FRAME).await;
        assert_eq!(frame.add("d".into()).as_deref(), Some("d"), "after a silence nothing waits");
    }
}
