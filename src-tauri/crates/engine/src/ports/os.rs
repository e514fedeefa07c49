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
    fn push(&self, push: contract::Push);
    /// Whether anybody listens: what nobody hears need not be put together.
    fn heard(&self) -> bool {
        true
    }
}

/// Named points of a turn, for tests that end the process exactly there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    BeforeUserMessage,
    AfterUserMessage,
    BeforeModelCall,
    WhileStreaming,
    AfterModelCall,
    BeforeToolRun,
    AfterToolRun,
    AfterApprovalRequested,
    AfterApprovalDecided,
    /// Of a call that only reads, also one for a preview.
    BetweenIntentAndRead,
    BetweenIntentAndEffect,
    BetweenEffectAndOutcome,
    AfterOutcome,
    BeforeAnswerSaved,
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
    fn at(&self, point: Point);
}

/// Passes every point without stopping.
pub struct NoProbe;

impl Probe for NoProbe {
    fn at(&self, _: Point) {}
}
