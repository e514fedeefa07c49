//! The port for the operating system: time, ids, randomness, and a receiver of events. Code of the
//! engine never reads the clock or random numbers directly.

use chrono::{DateTime, Utc};

/// The wall clock.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> DateTime<Utc>;
}

/// A source of ids. `prefix` only makes ids easier to read (`turn`, `call`, ...).
pub trait Ids: Send + Sync {
    /// Returns a new unique id.
    fn next(&self, prefix: &str) -> String;
}

/// A source of randomness for the delays between retries.
pub trait Random: Send + Sync {
    /// Returns a number in `0.0..1.0`.
    fn random_fraction(&self) -> f64;
}

/// The receiver of events from turns and sessions. The receiver must not block.
pub trait Events: Send + Sync {
    /// Sends a push to every receiver.
    fn push(&self, push: contract::Push);
    /// Whether there are receivers. If not, events need not be created.
    fn has_listeners(&self) -> bool {
        true
    }
}

/// Named points of a turn, at which tests end the process.
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
    /// After the intent of a read was recorded, before the read. The reads of a preview also pass
    /// this point.
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

/// Is notified when a turn passes a point. The probe in the shipped program does nothing.
pub trait Probe: Send + Sync {
    /// Reports that a turn passes this point.
    fn at(&self, point: Point);
}

/// A probe that does nothing.
pub struct NoProbe;

impl Probe for NoProbe {
    fn at(&self, _: Point) {}
}
