//! Groups small pieces of text into frames. The first piece after a pause is emitted immediately,
//! and the pieces of the next few milliseconds are emitted together. Otherwise a model that sends
//! hundreds of pieces per second would wake every listener for each piece.

use std::{pin::Pin, time::Duration};

use tokio::time::{Instant, Sleep, sleep_until};

/// Half of a display frame at 60 Hz, which is too short to be noticed.
const FRAME: Duration = Duration::from_millis(8);

/// Text that is held back until its frame ends.
pub(crate) struct Frame {
    text: String,
    open_until: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl Frame {
    pub(crate) fn new() -> Self {
        Self { text: String::new(), open_until: None, timer: Box::pin(sleep_until(Instant::now())) }
    }

    /// Adds a piece of text. Returns the text to emit immediately, or none if the piece is held
    /// back.
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

    /// Whether text is held back.
    pub(crate) fn has_held_text(&self) -> bool {
        !self.text.is_empty()
    }

    /// Resolves when the held-back text is due.
    pub(crate) async fn wait_until_due(&mut self) {
        self.timer.as_mut().await;
    }

    /// Returns the held-back text and begins the next frame.
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
    async fn the_first_piece_of_text_is_sent_at_once_and_later_pieces_are_grouped() {
        let mut frame = Frame::new();
        assert_eq!(frame.add("a".into()).as_deref(), Some("a"));
        assert_eq!(frame.add("b".into()), None);
        assert_eq!(frame.add("c".into()), None);
        assert!(frame.has_held_text());
        let before = Instant::now();
        frame.wait_until_due().await;
        assert_eq!(before.elapsed(), FRAME);
        assert_eq!(frame.take().as_deref(), Some("bc"));
        assert!(!frame.has_held_text());
        tokio::time::advance(FRAME).await;
        assert_eq!(frame.add("d".into()).as_deref(), Some("d"), "after a silence nothing waits");
    }
}
