//! The parts of requests that a server may refuse and answer without. It knows no wire.

/// A part that a request can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// A wanted shape, usage in the stream, thinking.
    Optional,
    /// The tools.
    Tools,
    /// All that not every provider takes in the description of a tool.
    Details,
    /// The role of the instructions. They stand before the first message.
    System,
    /// Members that the server sent with earlier answers.
    Kept,
    /// The usual name of the limit of an answer. The other name is sent.
    Bound,
    /// The usual form of calls and results. Another one is sent, with short ids, a text in place of no
    /// content, and the names of tools beside their results.
    Form,
}

impl Part {
    pub(crate) const ALL: [Self; 7] = [
        Self::Optional,
        Self::Tools,
        Self::Details,
        Self::System,
        Self::Kept,
        Self::Bound,
        Self::Form,
    ];
}

/// The parts that a request leaves out because its server refused them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaves(u8);

impl Leaves {
    pub(crate) fn has(self, part: Part) -> bool {
        self.0 & (1 << part as u8) != 0
    }

    #[must_use]
    pub(crate) fn with(self, part: Part) -> Self {
        Self(self.0 | (1 << part as u8))
    }
}
