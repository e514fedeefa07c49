//! Turns the deltas of running turns into patches of rendered blocks, at most one per turn and
//! frame, and keeps the order: other events of a turn come after the text before them. No clock, no
//! channel: the caller decides when a frame is due.

use std::collections::BTreeMap;

use contract::{BlockPatch, EventBody, ItemBody, Push, Stage, TurnEvent, TurnId};

/// The text of one running turn.
struct Writing {
    stream: render::Stream,
    /// The newest delta's event without its text, from which the next patch gets its turn and
    /// number.
    latest: Option<TurnEvent>,
}

/// The texts of all running turns.
#[derive(Default)]
pub(crate) struct Frames {
    turns: BTreeMap<TurnId, Writing>,
}

impl Frames {
    /// Accepts a push. Returns the pushes to send now; deltas wait for the next frame.
    pub(crate) fn accept_push(&mut self, push: Push) -> Vec<Push> {
        match push {
            Push::Turn { event } => self.accept_event(event),
            other @ (Push::Session { .. }
            | Push::SessionDeleted { .. }
            | Push::ItemsChanged { .. }
            | Push::Queue { .. }
            | Push::Approvals { .. }
            | Push::ApprovalExpired { .. }
            | Push::Server { .. }
            | Push::ServerTools { .. }
            | Push::Confirmations { .. }
            | Push::Questions { .. }
            | Push::QuestionDeclined { .. }
            | Push::Settings { .. }
            | Push::Audit { .. }
            | Push::AuditVerification { .. }
            | Push::Run { .. }
            | Push::Files { .. }
            | Push::Sources {}
            | Push::Alerts { .. }
            | Push::Lagged {}) => vec![other],
        }
    }

    /// Returns the patches of a frame: one for each turn with new text.
    pub(crate) fn take_frame(&mut self) -> Vec<Push> {
        self.turns.values_mut().filter_map(Writing::make_patch).collect()
    }

    /// Whether a frame has anything to send.
    pub(crate) fn has_pending_text(&self) -> bool {
        self.turns.values().any(|writing| writing.latest.is_some())
    }

    /// Discards all text. Called after pushes were missed.
    pub(crate) fn reset(&mut self) {
        self.turns.clear();
    }

    fn accept_event(&mut self, mut event: TurnEvent) -> Vec<Push> {
        if let EventBody::Delta { text } = &mut event.event {
            let text = std::mem::take(text);
            let writing = self
                .turns
                .entry(event.turn.clone())
                .or_insert_with(|| Writing { stream: render::Stream::default(), latest: None });
            writing.stream.push(&text);
            writing.latest = Some(event);
            return Vec::new();
        }
        let mut out: Vec<Push> =
            self.turns.get_mut(&event.turn).and_then(Writing::make_patch).into_iter().collect();
        match &mut event.event {
            // The text so far is not the answer, so it is discarded, here and in the window.
            EventBody::Status { stage: Stage::OutputReplaced, .. } => {
                self.turns.remove(&event.turn);
                out.push(patch_push(event.clone(), BlockPatch::default()));
            }
            EventBody::Item { item } => {
                super::items::render_item(item);
                // The text is stored as an item now. Later text of the same turn starts empty.
                if matches!(item.body, ItemBody::AssistantText { .. }) {
                    self.turns.remove(&event.turn);
                }
            }
            EventBody::Final { .. } => {
                self.turns.remove(&event.turn);
            }
            EventBody::Status { .. }
            | EventBody::DevStatus { .. }
            | EventBody::AgentStart { .. }
            | EventBody::AgentEnd { .. }
            | EventBody::ToolStart { .. }
            | EventBody::ToolEnd { .. }
            | EventBody::ApprovalRequested { .. }
            | EventBody::ApprovalResolved { .. }
            | EventBody::Reasoning { .. }
            | EventBody::Delta { .. }
            | EventBody::Blocks { .. }
            | EventBody::Error { .. } => {}
        }
        out.push(Push::Turn { event });
        out
    }
}

impl Writing {
    fn make_patch(&mut self) -> Option<Push> {
        let event = self.latest.take()?;
        Some(patch_push(event, self.stream.frame()))
    }
}

fn patch_push(event: TurnEvent, patch: BlockPatch) -> Push {
    Push::Turn { event: TurnEvent { event: EventBody::Blocks { patch }, ..event } }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use contract::{SessionId, TurnStatus, Usage};

    use super::*;

    fn event(turn: &str, n: u64, event: EventBody) -> Push {
        let at = DateTime::UNIX_EPOCH;
        Push::Turn {
            event: TurnEvent {
                session: SessionId::from("desktop:s"),
                turn: TurnId::from(turn),
                n,
                at,
                event,
            },
        }
    }

    fn delta(turn: &str, n: u64, text: &str) -> Push {
        event(turn, n, EventBody::Delta { text: text.to_owned() })
    }

    fn done(turn: &str, n: u64) -> Push {
        let body = EventBody::Final {
            status: TurnStatus::Ok,
            text: String::new(),
            choices: vec![],
            error: None,
            usage: Usage::default(),
        };
        event(turn, n, body)
    }

    fn kinds(pushes: &[Push]) -> Vec<(String, u64)> {
        pushes
            .iter()
            .map(|push| {
                let value = serde_json::to_value(push).unwrap();
                let event = &value["event"];
                (
                    format!(
                        "{}/{}",
                        event["turn"].as_str().unwrap(),
                        event["type"].as_str().unwrap()
                    ),
                    event["n"].as_u64().unwrap(),
                )
            })
            .collect()
    }

    #[test]
    fn many_deltas_become_one_patch_with_the_newest_event_number() {
        let mut frames = Frames::default();
        for n in 1..=50 {
            assert!(frames.accept_push(delta("t", n, "word ")).is_empty());
        }
        assert!(frames.has_pending_text());
        assert_eq!(kinds(&frames.take_frame()), [("t/blocks".to_owned(), 50)]);
        assert!(!frames.has_pending_text());
        assert!(frames.take_frame().is_empty());
    }

    #[test]
    fn text_is_sent_before_later_events_of_its_turn_and_other_turns_wait() {
        let mut frames = Frames::default();
        frames.accept_push(delta("a", 1, "one"));
        frames.accept_push(delta("b", 1, "two"));
        let out = frames.accept_push(done("a", 2));
        assert_eq!(kinds(&out), [("a/blocks".to_owned(), 1), ("a/final".to_owned(), 2)]);
        assert_eq!(kinds(&frames.take_frame()), [("b/blocks".to_owned(), 1)]);
    }

    #[test]
    fn replacing_the_output_clears_the_shown_answer() {
        let mut frames = Frames::default();
        frames.accept_push(delta("t", 1, "provisional"));
        frames.take_frame();
        let out = frames.accept_push(event(
            "t",
            2,
            EventBody::Status { stage: Stage::OutputReplaced, text: None },
        ));
        let Push::Turn { event } = &out[0] else { panic!("a turn's push") };
        assert!(
            matches!(&event.event, EventBody::Blocks { patch } if patch.count == 0 && patch.blocks.is_empty())
        );
        assert_eq!(out.len(), 2);
    }

    #[test]
    fn all_text_arrives_in_any_sequence_of_frames() {
        let mut frames = Frames::default();
        let mut html = Vec::<String>::new();
        let mut show = |pushes: Vec<Push>| {
            for push in pushes {
                let Push::Turn { event } = push else { continue };
                let EventBody::Blocks { patch } = event.event else { continue };
                for block in patch.blocks {
                    let index = block.index as usize;
                    html.resize(html.len().max(index + 1), String::new());
                    html[index] = block.html;
                }
                html.truncate(patch.count as usize);
                if let Some(last) = html.last_mut() {
                    last.push_str(&patch.append);
                }
            }
        };
        for (n, word) in
            "First paragraph.\n\nSecond one with **bold** text.".split_inclusive(' ').enumerate()
        {
            let n = n as u64;
            show(frames.accept_push(delta("t", n, word)));
            if n.is_multiple_of(3) {
                show(frames.take_frame());
            }
        }
        show(frames.accept_push(done("t", 99)));
        assert_eq!(html.len(), 2);
        assert!(
            html[0].contains("First paragraph.") && html[1].contains("<strong>bold</strong>"),
            "{html:?}"
        );
    }
}
