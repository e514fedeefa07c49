//! What the engine needs of the world, as traits. Stores, providers, servers and logs implement them elsewhere;
//! nothing here names one of them.

mod agents;
mod conversations;
mod length;
mod shared;
mod store;

use std::collections::BTreeMap;

pub use agents::{Agent, FINISH, Instructions, Roster, RouteDecision, RouteEntity};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{AgentError, AgentId, CallId, Choice, ModelCapabilities, PackId, RecordType, SessionId, ToolId, ToolSpec, TurnId, Usage, manifest::DataFlow};
pub use conversations::{Conversations, Memory, MemoryItem, MemoryOf, Side};
use futures::{future::BoxFuture, stream::BoxStream};
pub use length::longest_answer;
pub use redaction::{Outbound, OutboundValue};
pub use shared::{Loaded, Moved, Reach, SessionImage, SharedSessions, is_shared};
pub use store::{SessionValues, Store, StoreError, TurnRow, ValueChanges};

pub use crate::budget::ledger::*;
use secrecy::SecretString;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

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

// --- model ---------------------------------------------------------------------------------------------------------

/// A message as a model gets it. Its texts can only be made by the redactor: nothing else fits the type.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Instructions of the host.
    System { text: Outbound },
    /// The user's words.
    User { text: Outbound },
    /// What the model said and asked for. `opaque` goes back only to the maker it came from.
    Assistant { text: Outbound, calls: Vec<ModelCall>, opaque: Option<Opaque> },
    /// The result of one call; every call is followed by exactly one.
    /// `content` is what a language model reads (capped); `data` is the whole result, for a model that reads values, else nothing.
    Tool { call: CallId, name: Outbound, content: Outbound, data: OutboundValue },
}

/// A call as the model asked for it (`arguments` is the text it wrote, unparsed), or as it goes back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall<T = Outbound> {
    pub id: CallId,
    pub name: T,
    pub arguments: T,
}

/// A call as a model asked for it.
pub type AskedCall = ModelCall<String>;

/// What a provider wants back, unread, with the message that it came with: signed reasoning, ids of its own. It is of use only
/// within the turn, and only to the maker that made it; every other leaves it out.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque {
    /// Wire, host and model.
    pub maker: String,
    pub data: std::sync::Arc<Value>,
}

/// A tool as offered to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDef {
    pub name: Outbound,
    pub description: Outbound,
    pub parameters: OutboundValue,
}

/// The shape an answer must have, for models that can keep to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured {
    pub name: &'static str,
    /// A JSON Schema: every property required, nothing else allowed.
    pub schema: OutboundValue,
}

/// What a request is for. A model of this program plans by it instead of reading the prompt; it goes onto no wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Purpose {
    /// The whole of the user's message.
    #[default]
    Answer,
    /// What of the message lies in one specialist's field, by the names of its tools.
    Part { tools: Vec<String> },
    /// Who is asked next: the specialists with the names of their tools, and those that have answered.
    Route { agents: Vec<(AgentId, Vec<String>)>, answered: Vec<AgentId> },
    /// One text of what several specialists answered, by name.
    Synthesis { answers: Vec<(String, Outbound)> },
}

/// One model call.
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    pub messages: Vec<Message>,
    /// Empty = the model must answer in text.
    pub tools: Vec<ToolDef>,
    /// The answer is one JSON object of this shape instead of text.
    pub structured: Option<Structured>,
    pub purpose: Purpose,
    /// The longest answer that is asked for.
    pub max_output_tokens: Option<u32>,
    /// The longest that the budgets allow, where that is less than whoever may answer could give.
    pub left_output_tokens: Option<u32>,
    /// Nobody listens to the pieces: the answer may come in one.
    pub whole: bool,
    /// Language of the user interface (`en`, `sv`), for models that word their answers themselves.
    pub locale: String,
    /// The local day and zone the user lives in.
    pub now: Option<DateTime<Utc>>,
    pub time_zone: String,
}

/// What a model says, piece by piece. `Done` is the last one.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// A complete call: its parts are put together by the provider's adapter.
    Call(AskedCall),
    /// Answers that the user may give with one click.
    Choices(Vec<Choice>),
    /// To be kept beside the calls of this answer.
    Opaque(Opaque),
    /// Another model answers from here on, because of the first one's failure: `why` is safe to show.
    FellBack {
        from: String,
        to: String,
        kind: ModelErrorKind,
        why: String,
    },
    Done {
        usage: Usage,
        finish: Finish,
    },
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    /// The model says that this is not its task.
    OutOfScope,
}

/// Why a model call failed. The text is safe to show: no key, no upstream body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub message: String,
    pub hint: Option<String>,
    /// The server's own wish, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// The kinds of model failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelErrorKind {
    /// No connection, or 5xx: nothing was worked on.
    Unavailable,
    /// It was asked and fell silent, or its answer was cut.
    Broken,
    RateLimited,
    /// Wrong or missing key.
    Unauthorized,
    /// The server refuses the request as such.
    BadRequest,
    /// The conversation is longer than the model can read.
    TooLong,
    /// Something that is not the protocol.
    Protocol,
}

impl ModelErrorKind {
    /// Whether the same request may succeed later.
    pub fn retryable(self) -> bool {
        matches!(self, Self::Unavailable | Self::Broken | Self::RateLimited)
    }

    /// Whether the model may have worked until then, which is paid for.
    pub fn may_have_worked(self) -> bool {
        matches!(self, Self::Broken)
    }
}

/// What answers. Dropping the stream cancels the call. Retries before the first event are the adapter's.
pub trait Model: Send + Sync {
    /// As shown to the user, e.g. "Offline model" or "gpt-4o-mini at api.openai.com".
    fn label(&self) -> String;
    /// The labels of all that may answer a call and are counted: another model may take over.
    fn may_answer(&self) -> Vec<String> {
        vec![self.label()]
    }
    /// Runs on this machine: nothing leaves it.
    fn local(&self) -> bool;
    /// What it can do, as far as is known.
    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities::default()
    }
    /// The longest answer that a request for so much may bring, whoever answers.
    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        longest_answer(wanted, self.capabilities().max_output_tokens)
    }
    /// The same of the one that answers now.
    fn longest_answer_now(&self, wanted: Option<u32>) -> u32 {
        self.longest_answer(wanted)
    }
    /// Is a part of this program: it reads what stands here, not what it is called outside. Secrets are removed for it, too.
    fn in_process(&self) -> bool {
        false
    }
    /// What answers now is a part of this program: another model may have taken over that is.
    fn answers_in_process(&self) -> bool {
        self.in_process()
    }
    /// Reads results as the values that they are: what is a part of this program, and whatever may fall back to it.
    fn reads_values(&self) -> bool {
        self.in_process()
    }
    /// Gets what a call needs (its key), before anything is written for it: then the key is known and is removed from it.
    fn ready(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
    /// Starts a call.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>>;
}

/// Gives the model in force, which settings may change between turns.
pub trait Models: Send + Sync {
    /// The model for the next turn: the one in the settings, or the named one (`offline`, or a name of the configured provider).
    fn current(&self, name: Option<&str>) -> std::sync::Arc<dyn Model>;
}

// --- tools ---------------------------------------------------------------------------------------------------------

/// A call that passed every check, ready to run.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    pub spec: std::sync::Arc<ToolSpec>,
    /// All arguments as they are recorded and sent, caller-owned values included.
    pub arguments: Value,
    /// The same before they took the form of the tool's server.
    pub asked: Value,
    pub call: CallId,
    pub session: SessionId,
    /// Set for tools that declare an idempotency strategy.
    pub idempotency_key: Option<String>,
    /// Somebody is there whom the tool's server may ask.
    pub attended: bool,
}

/// Why a tool failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .error.message)]
pub struct ToolFailure {
    pub error: AgentError,
    /// The call may have taken effect (timeout, lost connection after sending).
    pub may_have_happened: bool,
}

/// The arguments of a call in the form that its tool's server takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapted {
    pub arguments: Value,
    /// False if the answer is known without a request.
    pub is_sent: bool,
}

/// Asked before a call sends another request than the one that was recorded.
#[async_trait]
pub trait Resume: Send + Sync {
    /// The call goes out again with the answers that its server wanted: that is a new call, and what it means is decided by its
    /// arguments and these answers.
    async fn resume(&self, answers: &Value) -> Result<(), AgentError>;
    /// A read sends one more request with these arguments. Records it first.
    async fn again(&self, arguments: &Value) -> Result<(), AgentError>;
}

/// Runs tools. The engine enforces timeouts; `cancel` asks for an early end.
#[async_trait]
pub trait Tools: Send + Sync {
    /// All usable tools of all packs, by id. Cheap: called once per turn.
    fn specs(&self) -> std::sync::Arc<Vec<ToolSpec>>;
    /// The agent of the pack that a tool belongs to; its switch is the tool's, too.
    fn agent_of(&self, _tool: &ToolId) -> Option<AgentId> {
        None
    }
    /// Whether a call could run as things are: a missing credential is told before anybody is asked and anything is sent.
    async fn check(&self, _spec: &ToolSpec) -> Result<(), AgentError> {
        Ok(())
    }
    /// The request that a call makes. Called before the call is shown, signed and recorded; what comes back here is what is sent.
    fn adapt(&self, _spec: &ToolSpec, arguments: Value) -> Adapted {
        Adapted { arguments, is_sent: true }
    }
    /// What a pack says about its data and models.
    fn data_flow(&self, _pack: &PackId) -> Option<DataFlow> {
        None
    }
    /// Runs one call.
    async fn run(&self, request: ToolRequest, cancel: CancellationToken) -> Result<Value, ToolFailure>;
    /// The same for a call that may need further requests: with answers that its server wants from the user, or with other arguments.
    /// `resume` says whether they may be sent.
    async fn run_resumable(&self, request: ToolRequest, cancel: CancellationToken, _resume: &dyn Resume) -> Result<Value, ToolFailure> {
        self.run(request, cancel).await
    }
    /// Whether a call of this tool waits for a person now: then its time limit does not count.
    fn waits_for_person(&self, _spec: &ToolSpec) -> bool {
        false
    }
}

// --- audit ---------------------------------------------------------------------------------------------------------

/// A record to be written. The log gives number, time, chain and hash.
#[derive(Clone, Debug)]
pub struct RecordDraft {
    pub record_type: RecordType,
    pub session: Option<SessionId>,
    pub turn: Option<TurnId>,
    /// Plain members of the body: text, integers, booleans, lists and objects of them. No floats.
    pub fields: Map<String, Value>,
    /// Members that go in as salted commitments, with their values kept beside the log until erased.
    pub committed: BTreeMap<String, Value>,
}

impl RecordDraft {
    /// A draft without members.
    pub fn new(record_type: RecordType) -> Self {
        Self { record_type, session: None, turn: None, fields: Map::new(), committed: BTreeMap::new() }
    }
    /// Names the session and turn.
    #[must_use]
    pub fn of(mut self, session: &SessionId, turn: &TurnId) -> Self {
        self.session = Some(session.clone());
        self.turn = Some(turn.clone());
        self
    }
    /// Adds a plain member.
    #[must_use]
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }
    /// Adds a committed member.
    #[must_use]
    pub fn commit(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.committed.insert(name.to_owned(), value.into());
        self
    }
}

/// How far a record must be when `append` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// On disk, with everything before it.
    Durable,
    /// On disk, and a signed checkpoint covers it (before an approved write).
    Signed,
    /// Handed to the writer; a later `Durable` append or `flush` makes it durable.
    Grouped,
}

/// The log refused: nothing may be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit log cannot be written: {0}")]
pub struct AuditUnavailable(pub String);

/// The audit log as the engine needs it.
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// Appends a record; its number comes back.
    async fn append(&self, record: RecordDraft, durability: Durability) -> Result<u64, AuditUnavailable>;
    /// Makes everything appended so far durable.
    async fn flush(&self) -> Result<(), AuditUnavailable>;
}

// --- profile -------------------------------------------------------------------------------------------------------

/// Settings and rules in force, read at the moment they matter.
pub trait Profile: Send + Sync {
    fn settings(&self) -> std::sync::Arc<contract::Settings>;
    fn rules(&self) -> std::sync::Arc<policy::Rules>;
    /// What models cost.
    fn prices(&self) -> std::sync::Arc<contract::PriceTable> {
        std::sync::Arc::default()
    }
    /// `en` or `sv`.
    fn locale(&self) -> String;
    /// IANA name of the user's zone.
    fn time_zone(&self) -> String;
    /// Values for caller-owned parameters that hold in every session (`clientIp`).
    fn caller_values(&self) -> SessionValues;
}

/// Keys and tokens that this process has handled: what must never leave, whatever the level.
pub trait Secrets: Send + Sync {
    /// Changes whenever `values` does. Cheap.
    fn generation(&self) -> u64;
    /// All of them.
    fn values(&self) -> Vec<SecretString>;
    /// Looks again for secrets that another program may have stored. Awaited before words of a person are accepted.
    fn learn(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
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
