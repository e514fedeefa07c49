//! The operating system as a turn needs it: time, ids, randomness, and a receiver of events.
//! Business logic never asks the system itself.

use chrono::{DateTime, Utc};

/// The wall clock. Business logic never asks the system itself.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> DateTime<Utc>;
}

/// Source of ids; `prefix` only helps the reader (`turn`, `call`, ...).
pub trait Ids: Send + Sync {
    /// A new unique id.
    fn next(&self, prefix: &str) -> String;
}

/// Source of randomness for back-off.
pub trait Random: Send + Sync {
    /// A number in `0.0..1.0`.
    fn unit(&self) -> f64;
}

/// Where turns and sessions tell what happens. Must not block.
pub trait Events: Send + Sync {
    /// Sends a push to every receiver.
    fn push(&self, push: contract::Push);
    /// Whether anybody listens: what nobody hears need not be put together.
    fn heard(&self) -> bool {
        true
    }
}

/// Named points of a turn, for tests that end the process exactly there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// Before the question is saved.
    BeforeUserMessage,
    /// After the question was saved.
    AfterUserMessage,
    /// Before a model is called.
    BeforeModelCall,
    /// While a model's answer arrives.
    WhileStreaming,
    /// After a model's answer is complete.
    AfterModelCall,
    /// Before the tool calls of an answer are made.
    BeforeToolRun,
    /// After the tool calls of an answer ended.
    AfterToolRun,
    /// After a pending action was stored.
    AfterApprovalRequested,
    /// After a decision was stored.
    AfterApprovalDecided,
    /// Of a call that only reads, also one for a preview.
    BetweenIntentAndRead,
    /// After the intent of a call with an effect was recorded, before the call.
    BetweenIntentAndEffect,
    /// After a call with an effect, before its outcome is recorded.
    BetweenEffectAndOutcome,
    /// After the outcome was recorded.
    AfterOutcome,
    /// Before the answer is saved.
    BeforeAnswerSaved,
    /// After the answer was saved.
    AfterAnswerSaved,
}

impl Point {
    /// All points, in the order of a turn.
    pub const ALL: [Self; 15] = [
        Self::BeforeUserMessage,
        Self::AfterUserMessage,
        Self::BeforeModelCall,
        Self::WhileStreaming,
        Self::AfterModelCall,
        Self::BeforeToolRun,
        Self::AfterToolRun,
        Self::AfterApprovalRequested,
        Self::AfterApprovalDecided,
        Self::BetweenIntentAndRead,
        Self::BetweenIntentAndEffect,
        Self::BetweenEffectAndOutcome,
        Self::AfterOutcome,
        Self::BeforeAnswerSaved,
        Self::AfterAnswerSaved,
    ];
}

/// Told when a turn passes a point. The shipped one does nothing.
pub trait Probe: Send + Sync {
    /// Reports that a turn passes this point.
    fn at(&self, point: Point);
}

/// Passes every point without stopping.
pub struct NoProbe;

impl Probe for NoProbe {
    fn at(&self, _: Point) {}
}
