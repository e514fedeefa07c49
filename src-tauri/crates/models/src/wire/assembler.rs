//! Assembles an arriving answer in the same way for all wires: skips data that is no event, keeps
//! open parts by the server's numbers, and ends the answer with its calls and the data to send
//! back. Each wire reads its own events. The module knows nothing of HTTP or time.

use std::collections::VecDeque;
use std::sync::Arc;

use engine::ports::{ModelError, ModelEvent, Opaque};
use serde::Deserialize;
use serde_json::Value;

use super::{Answer, Assemble, FeedResult};
use crate::http::failure;

/// Reads the events of one answer in the form of one wire.
pub(crate) trait ReadEvents: Send {
    /// A part of the answer that may still grow.
    type Part: Send;
    /// The maximum number of parts of an answer, which is more than any real answer has. This
    /// limits a stream that never stops opening new parts.
    const MOST_PARTS: usize;

    /// Whether an event with this name must be valid. Other events may contain anything.
    fn handles_event(&self, event: &str) -> bool {
        event == "message"
    }
    /// Whether the data may be an event of the answer.
    fn is_event(&self, data: &str) -> bool {
        data.starts_with('{')
    }
    /// Reads one event, or a whole answer. Pushes text and reasoning to `out`.
    fn read(
        &mut self,
        data: &str,
        arriving: &mut Arriving<Self::Part>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError>;
    /// Pushes the text that was held back. Returns the names and arguments of calls that the model
    /// wrote as text.
    fn end_text(
        &mut self,
        _arriving: &mut Arriving<Self::Part>,
        _out: &mut VecDeque<ModelEvent>,
    ) -> Vec<(String, String)> {
        Vec::new()
    }
    /// Completes a part.
    fn close(&mut self, part: Self::Part) -> Closed;
    /// Returns the data that must be sent back to the server with the calls. Without a call, there
    /// is no further round, so no data is sent back.
    fn seal(&mut self, returned: Vec<Returned>, arriving: &Arriving<Self::Part>) -> Option<Value> {
        arriving.answer.called.then(|| list_of(returned))
    }
}

/// A complete part.
pub(crate) enum Closed {
    /// A call, with the value that represents the call in the data to send back.
    Call { name: String, arguments: String, back: Value },
    /// An item that is sent back.
    Item(Value),
    /// A part that is not needed later.
    Dropped,
}

/// A value to send back, with the number of calls that the value represents.
pub(crate) struct Returned {
    pub(crate) value: Value,
    pub(crate) calls: usize,
}

/// Returns the values to send back as a list.
pub(crate) fn list_of(returned: Vec<Returned>) -> Value {
    returned.into_iter().map(|part| part.value).collect()
}

/// The part of an answer that has arrived.
pub(crate) struct Arriving<P> {
    pub(crate) answer: Answer,
    /// The identity of server and model.
    pub(crate) maker: String,
    /// The open parts with the server's numbers, in the order in which they began.
    parts: Vec<(u64, P)>,
    most: usize,
}

impl<P> Arriving<P> {
    pub(crate) fn parts(&self) -> &[(u64, P)] {
        &self.parts
    }

    /// Returns a part by its position in [`Self::parts`].
    pub(crate) fn part_at(&mut self, place: usize) -> Option<&mut P> {
        self.parts.get_mut(place).map(|(_, part)| part)
    }

    /// Returns the part with this number.
    pub(crate) fn part(&mut self, number: u64) -> Option<&mut P> {
        self.parts.iter_mut().rev().find(|(of, _)| *of == number).map(|(_, part)| part)
    }

    /// Adds a part after the parts with the same number. Returns its position.
    pub(crate) fn push(&mut self, number: u64, part: P) -> Result<usize, ModelError> {
        if self.parts.len() >= self.most {
            return Err(failure::not_the_protocol());
        }
        self.parts.push((number, part));
        Ok(self.parts.len() - 1)
    }

    /// Adds a part, or replaces the part with the same number.
    pub(crate) fn put(&mut self, number: u64, part: P) -> Result<(), ModelError> {
        match self.part(number) {
            Some(known) => *known = part,
            None => {
                self.push(number, part)?;
            }
        }
        Ok(())
    }

    /// Forgets all parts.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
    }
}

/// Assembles one answer.
pub(crate) struct Assembler<R: ReadEvents> {
    reader: R,
    arriving: Arriving<R::Part>,
}

impl<R: ReadEvents> Assembler<R> {
    pub(crate) fn new(maker: &str, reader: R) -> Self {
        let arriving = Arriving {
            answer: Answer::new(),
            maker: maker.to_owned(),
            parts: Vec::new(),
            most: R::MOST_PARTS,
        };
        Self { reader, arriving }
    }
}

impl<R: ReadEvents> Assemble for Assembler<R> {
    fn answer(&self) -> &Answer {
        &self.arriving.answer
    }

    fn handles_event(&self, event: &str) -> bool {
        self.reader.handles_event(event)
    }

    fn feed(
        &mut self,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FeedResult, ModelError> {
        let data = data.trim();
        if data == "[DONE]" {
            return Ok(FeedResult::Done);
        }
        if !self.reader.is_event(data) {
            return Ok(FeedResult::Ignored);
        }
        self.reader.read(data, &mut self.arriving, out)
    }

    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let written = self.reader.end_text(&mut self.arriving, out);
        let mut parts = std::mem::take(&mut self.arriving.parts);
        parts.sort_by_key(|(number, _)| *number);
        let mut returned = Vec::new();
        for (_, part) in parts {
            match self.reader.close(part) {
                Closed::Call { name, arguments, back } => {
                    let calls = self.arriving.answer.push_call(name, arguments, out)?;
                    returned.push(Returned { value: back, calls });
                }
                Closed::Item(value) => returned.push(Returned { value, calls: 0 }),
                Closed::Dropped => {}
            }
        }
        for (name, arguments) in written {
            self.arriving.answer.push_call(name, arguments, out)?;
        }
        self.arriving.answer.check_not_blocked()?;
        if let Some(data) = self.reader.seal(returned, &self.arriving) {
            let maker = self.arriving.maker.clone();
            out.push_back(ModelEvent::Opaque(Opaque { maker, data: Arc::new(data) }));
        }
        self.arriving.answer.push_done(out);
        Ok(())
    }
}

/// Reads JSON of the protocol.
pub(crate) fn parse_event<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, ModelError> {
    serde_json::from_str(data).map_err(|_| failure::not_the_protocol())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads events with a number and a text, each of which is a piece of a call.
    struct Pieces;

    #[derive(Deserialize)]
    struct Piece {
        number: u64,
        text: String,
    }

    impl ReadEvents for Pieces {
        type Part = String;
        const MOST_PARTS: usize = 2;

        fn read(
            &mut self,
            data: &str,
            arriving: &mut Arriving<String>,
            _out: &mut VecDeque<ModelEvent>,
        ) -> Result<FeedResult, ModelError> {
            let piece: Piece = parse_event(data)?;
            match arriving.part(piece.number) {
                Some(part) => part.push_str(&piece.text),
                None => arriving.put(piece.number, piece.text)?,
            }
            Ok(FeedResult::Progress)
        }

        fn close(&mut self, part: String) -> Closed {
            let back = Value::from(part.as_str());
            Closed::Call { name: "tool".into(), arguments: part, back }
        }
    }

    #[test]
    fn streamed_pieces_are_assembled_into_calls_in_the_servers_order() {
        let mut assembler = Assembler::new("maker", Pieces);
        let mut out = VecDeque::new();
        let mut feed = |data: &str| assembler.feed(data, &mut out);
        assert_eq!(feed(" : a comment"), Ok(FeedResult::Ignored));
        assert_eq!(feed(r#"{"number":1,"text":"{\"b\":"}"#), Ok(FeedResult::Progress));
        assert_eq!(feed(r#"{"number":0,"text":"{\"a\":1}"}"#), Ok(FeedResult::Progress));
        assert_eq!(feed(r#"{"number":1,"text":"2}"}"#), Ok(FeedResult::Progress));
        assert_eq!(feed(r#"{"number":2,"text":""}"#), Err(failure::not_the_protocol()));
        assert_eq!(feed("{oops"), Err(failure::not_the_protocol()));
        assert_eq!(feed("[DONE]"), Ok(FeedResult::Done));
        assembler.end(&mut out).unwrap();
        let calls: Vec<&str> = out
            .iter()
            .filter_map(|event| match event {
                ModelEvent::Call(call) => Some(call.arguments.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(calls, [r#"{"a":1}"#, r#"{"b":2}"#]);
        let back = out.iter().find_map(|event| match event {
            ModelEvent::Opaque(opaque) => Some(opaque.data.to_string()),
            _ => None,
        });
        assert_eq!(back.as_deref(), Some(r#"["{\"a\":1}","{\"b\":2}"]"#));
        assert!(matches!(out.back(), Some(ModelEvent::Done { .. })));
    }
}
