//! The parts of requests that a server may refuse and then answer without. The module knows no
//! wire.

/// A part that a request can omit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// The wanted form of the answer, usage in the stream, and thinking.
    Optional,
    /// The tools.
    Tools,
    /// The members of a tool's description that not every provider accepts.
    Details,
    /// The role of the instructions. The instructions are then written before the first message.
    System,
    /// Members that the server sent with earlier answers.
    Kept,
    /// The usual name of the answer's limit. The other name is sent instead.
    Bound,
    /// The usual form of calls and results. Another form is sent, with short ids, an empty text
    /// instead of missing content, and the names of tools beside their results.
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

/// The parts that a request omits because its server refused them.
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
