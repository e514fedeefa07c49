//! Meters every model call of a turn: reserves tokens and cost in the ledger before the call,
//! corrects the reservation to the provider's figures after it, and refuses a call that could
//! exceed a limit. The supervisor's calls are metered as well.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use contract::{AgentError, Budgets, ModelCapabilities, ModelPrice, Settings};
use futures::{
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};

use crate::{
    budget::account::Account,
    ports::{
        Cap, Finish, Message, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Refusal,
        ReservationRequest, Reserved, Scope, Settlement, TokenPrice, ToolDef, ToolsRefused, World,
    },
    texts::Text,
};

/// The fewest tokens of an answer for which a call is worthwhile.
const LEAST_ANSWER: u64 = 256;

/// The error reason of every refusal by a budget.
pub(crate) const BUDGET: &str = contract::Reason::BudgetExceeded.name();

/// A model whose calls are metered.
pub(crate) struct Metered {
    inner: Arc<dyn Model>,
    world: World,
    settings: Arc<Settings>,
    account: Arc<Account>,
}

impl Metered {
    pub(crate) fn new(
        inner: Arc<dyn Model>,
        world: World,
        settings: Arc<Settings>,
        account: Arc<Account>,
    ) -> Arc<Self> {
        Arc::new(Self { inner, world, settings, account })
    }

    fn meter(&self) -> Meter {
        Meter {
            inner: Arc::clone(&self.inner),
            world: self.world.clone(),
            settings: Arc::clone(&self.settings),
            account: Arc::clone(&self.account),
            entry: None,
            price: None,
            input: 0,
            before: None,
            output_bytes: 0,
            wanted: None,
            left: None,
        }
    }

    /// Makes a call outside the turn's answer. The reservation is complete when this function
    /// returns, so that a time limit on the stream covers only the model's time.
    pub(crate) async fn open(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        let mut meter = self.meter();
        let request =
            meter.reserve(request).await.map_err(|refusal| refusal_as_model_error(&refusal))?;
        Ok(meter.forward_events(request))
    }
}

impl Model for Metered {
    fn label(&self) -> String {
        self.inner.label()
    }
    fn possible_labels(&self) -> Vec<String> {
        self.inner.possible_labels()
    }
    fn is_local(&self) -> bool {
        self.inner.is_local()
    }
    fn capabilities(&self) -> ModelCapabilities {
        self.inner.capabilities()
    }
    fn tools_refused(&self) -> Option<ToolsRefused> {
        self.inner.tools_refused()
    }
    fn note_refused_tools(&self, at: DateTime<Utc>) {
        self.inner.note_refused_tools(at);
    }
    fn most_tools(&self) -> usize {
        self.inner.most_tools()
    }
    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        self.inner.longest_answer(wanted)
    }
    fn longest_answer_now(&self, wanted: Option<u32>) -> u32 {
        self.inner.longest_answer_now(wanted)
    }
    fn in_process(&self) -> bool {
        self.inner.in_process()
    }
    fn answers_in_process(&self) -> bool {
        self.inner.answers_in_process()
    }
    fn reads_values(&self) -> bool {
        self.inner.reads_values()
    }
    fn prepare_call(&self) -> BoxFuture<'static, ()> {
        self.inner.prepare_call()
    }
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let (mut meter, account) = (self.meter(), Arc::clone(&self.account));
        let opening = async move {
            match meter.reserve(request).await {
                Ok(request) => meter.forward_events(request),
                Err(refusal) => {
                    let error = refusal_as_model_error(&refusal);
                    account.entries().refusal = Some(refusal);
                    stream::iter([Err(error)]).boxed()
                }
            }
        };
        stream::once(opening).flatten().boxed()
    }
}

/// The meter of a call. For a call that is dropped before its end, an estimate is charged, because
/// the provider charges for the call.
struct Meter {
    inner: Arc<dyn Model>,
    world: World,
    settings: Arc<Settings>,
    account: Arc<Account>,
    entry: Option<i64>,
    price: Option<TokenPrice>,
    input: u64,
    /// The model that failed before the fallback model answered. Its provider may have charged for
    /// the request.
    before: Option<String>,
    output_bytes: u64,
    /// The requested limit of the answer's length, and the output tokens that the budgets allow.
    wanted: Option<u32>,
    left: Option<u32>,
}

impl Meter {
    /// Forwards the model's events and counts their tokens.
    fn forward_events(
        self,
        request: ModelRequest,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let events = self.inner.stream(request);
        stream::unfold((self, events), |(mut meter, mut events)| async move {
            let event = events.next().await?;
            meter.count_event(&event);
            Some((event, (meter, events)))
        })
        .boxed()
    }

    /// Makes the reservation for the call in the ledger and limits the answer to the budgets.
    async fn reserve(&mut self, mut request: ModelRequest) -> Result<ModelRequest, AgentError> {
        let budgets = self.settings.budgets;
        let wanted = smallest_limit([
            self.account.max_output_tokens,
            Some(budgets.max_output_tokens).filter(|most| *most > 0),
            request.max_output_tokens,
        ]);
        (self.wanted, request.max_output_tokens) = (wanted, wanted);
        // The built-in model is free and is not metered.
        if self.inner.answers_in_process() {
            return Ok(request);
        }
        self.input = estimate_tokens(&request);
        self.price = self.highest_price();
        // The reservation must cover every model that may answer, because a model that fails has
        // read the whole request before its fallback does.
        let readers = self.inner.possible_labels().len().max(1) as u64;
        let longest = self.inner.longest_answer(wanted);
        let wish = ReservationRequest {
            session: self.account.session.clone(),
            turn: self.account.turn.clone(),
            at: self.world.clock.now(),
            day: today(&self.world),
            model: self.inner.label(),
            input_tokens: self.input.saturating_mul(readers),
            output_tokens: u64::from(longest),
            least_output: LEAST_ANSWER,
            price: self.price,
            caps: caps(&budgets),
        };
        match self.world.store.spend_reserve(&wish).await {
            Ok(Reserved::Entry { id, output_tokens }) => {
                self.entry = Some(id);
                self.left = u32::try_from(output_tokens).ok().filter(|left| *left < longest);
                request.left_output_tokens = self.left;
                Ok(request)
            }
            Ok(Reserved::Refused(refusal)) => {
                Err(over_budget_error(&refusal, &self.world.profile.locale()))
            }
            // Without a reservation in the ledger, a call cannot be limited, so it is refused.
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the highest token price of all models that may answer.
    fn highest_price(&self) -> Option<TokenPrice> {
        let prices = self.world.profile.prices();
        let each = self
            .inner
            .possible_labels()
            .into_iter()
            .filter_map(|label| prices.of(&label).map(price_in_nano));
        each.reduce(|a, b| TokenPrice {
            input: a.input.max(b.input),
            output: a.output.max(b.output),
        })
    }

    /// Whether a budget limits the answer of the current model.
    fn is_clamped(&self) -> bool {
        self.left.is_some_and(|left| left < self.inner.longest_answer_now(self.wanted))
    }

    fn count_event(&mut self, event: &Result<ModelEvent, ModelError>) {
        match event {
            Ok(ModelEvent::Text(text) | ModelEvent::Reasoning(text)) => {
                self.output_bytes += text.len() as u64
            }
            Ok(ModelEvent::Call(call)) => {
                self.output_bytes += (call.name.len() + call.arguments.len()) as u64
            }
            Ok(ModelEvent::Done { usage, finish }) => {
                let cut = *finish == Finish::Length && self.is_clamped();
                {
                    let mut entries = self.account.entries();
                    entries.is_cut = cut;
                    entries.is_truncated |= cut;
                    entries.is_declined |= *finish == Finish::OutOfScope;
                }
                // If a server reports no token counts, an estimate is charged.
                let counted = usage.input_tokens + usage.output_tokens > 0;
                let (input, output) = if counted {
                    (usage.input_tokens, usage.output_tokens)
                } else {
                    self.estimate_usage()
                };
                self.settle(input, output);
            }
            // The request was refused or never sent, so no tokens were used.
            Err(error) if self.output_bytes == 0 && !error.kind.may_have_worked() => {
                self.settle(0, 0)
            }
            Err(_) => {
                let (input, output) = self.estimate_usage();
                self.settle(input, output);
            }
            Ok(ModelEvent::FellBack { from, kind, .. }) => {
                self.before = kind.may_have_worked().then(|| from.clone())
            }
            Ok(
                ModelEvent::Choices(_)
                | ModelEvent::Opaque(_)
                | ModelEvent::LocalData
                | ModelEvent::SecretRemoved
                | ModelEvent::WasThought
                | ModelEvent::Loading,
            ) => {}
        }
    }

    fn estimate_usage(&self) -> (u64, u64) {
        // Most texts have more than three bytes per token, so the estimate is more likely too high
        // than too low.
        (self.input, self.output_bytes.div_ceil(3))
    }

    /// Replaces the reservation by the actual usage of the answering model and of the model that
    /// failed before.
    fn settlement(&mut self, input: u64, output: u64) -> Option<(i64, Settlement)> {
        // A call is settled only once. `Drop` settles a call whose last event did not.
        let entry = self.entry.take()?;
        let (input, output) =
            // The built-in model may have answered instead of a model that failed. The built-in
            // model is free.
            if self.inner.answers_in_process() { (0, 0) } else { (input, output) };
        let here = self.cost(self.inner.label(), input, output);
        let before = self.before.take().map(|label| (self.input, self.cost(label, self.input, 0)));
        let (wasted, cost) = before.unwrap_or((0, Some(0)));
        // If only one of the two prices is known, its cost is charged. If neither is known, the
        // cost is unknown.
        let known = here.unwrap_or_default().saturating_add(cost.unwrap_or_default());
        let nano_usd = (known > 0 || here.is_some() && cost.is_some()).then_some(known);
        Some((
            entry,
            Settlement {
                input_tokens: input.saturating_add(wasted),
                output_tokens: output,
                nano_usd,
            },
        ))
    }

    /// Returns the cost of these tokens. If the model's price is unknown, adds the model to the
    /// account and returns none.
    fn cost(&self, label: String, input: u64, output: u64) -> Option<u64> {
        if input + output == 0 {
            return Some(0);
        }
        let Some(price) = self.world.profile.prices().of(&label).map(price_in_nano) else {
            self.account.entries().unpriced.insert(label);
            return None;
        };
        let cost = price.of(input, output);
        self.account.entries().nano_usd += cost;
        Some(cost)
    }

    fn settle(&mut self, input: u64, output: u64) {
        if let Some((entry, used)) = self.settlement(input, output) {
            self.world.store.spend_settle(entry, used);
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        let (input, output) = self.estimate_usage();
        self.settle(input, output);
    }
}

/// Returns a refusal as a stream error with only its message and hint. The full refusal is kept in
/// the account for the end of the turn.
fn refusal_as_model_error(refusal: &AgentError) -> ModelError {
    ModelError {
        kind: ModelErrorKind::BadRequest,
        message: refusal.text(),
        hint: refusal.hint_as_text(),
        retry_after_ms: None,
        said: None,
    }
}

/// Returns the current date in the user's time zone.
pub(crate) fn today(world: &World) -> chrono::NaiveDate {
    let now = world.clock.now();
    world
        .profile
        .time_zone()
        .parse::<Tz>()
        .map_or_else(|_| now.date_naive(), |zone| now.with_timezone(&zone).date_naive())
}

pub(crate) fn price_in_nano(price: &ModelPrice) -> TokenPrice {
    // A price in dollars per million tokens, times 1,000, is the price in nanodollars per token.
    let each = |usd: f64| (usd * 1_000.0).ceil() as u64;
    TokenPrice { input: each(price.input_usd), output: each(price.output_usd) }
}

/// Converts dollars to nano-dollars.
pub(crate) fn usd_to_nano(usd: f64) -> u64 {
    // The cast turns negative and impossible amounts into 0. Settings and prices are validated when
    // read.
    (usd * 1e9).round() as u64
}

/// Converts nano-dollars to dollars.
pub(crate) fn nano_to_usd(nano: u64) -> f64 {
    nano as f64 / 1e9
}

pub(crate) fn caps(budgets: &Budgets) -> Vec<Cap> {
    let tokens = |most: u32| (most > 0).then(|| u64::from(most));
    let money = |most: f64| (most > 0.0).then(|| usd_to_nano(most));
    [
        Cap {
            scope: Scope::Run,
            tokens: tokens(budgets.run_tokens),
            nano_usd: money(budgets.run_usd),
        },
        Cap {
            scope: Scope::Session,
            tokens: tokens(budgets.session_tokens),
            nano_usd: money(budgets.session_usd),
        },
        Cap {
            scope: Scope::Day,
            tokens: tokens(budgets.day_tokens),
            nano_usd: money(budgets.day_usd),
        },
    ]
    .into()
}

fn smallest_limit(limits: [Option<u32>; 3]) -> Option<u32> {
    limits.into_iter().flatten().min()
}

/// Estimates the tokens of a request, more likely too high than too low: one token per three bytes,
/// and a fixed number for each message and tool.
fn estimate_tokens(request: &ModelRequest) -> u64 {
    let tool_bytes = |tool: &ToolDef| {
        tool.description.as_str().len() + tool.parameters.shared().to_string().len()
    };
    let bytes = request.messages.iter().map(message_bytes).sum::<usize>()
        + request.tools.iter().map(tool_bytes).sum::<usize>();
    (bytes as u64).div_ceil(3) + 16 * (request.messages.len() + request.tools.len()) as u64
}

fn message_bytes(message: &Message) -> usize {
    match message {
        Message::System { text } | Message::User { text } => text.as_str().len(),
        Message::Assistant { text, calls, opaque } => {
            // Data that is returned to the provider counts as input.
            let back = opaque.as_ref().map_or(0, |opaque| opaque.data.to_string().len());
            text.as_str().len()
                + back
                + calls
                    .iter()
                    .map(|call| call.name.as_str().len() + call.arguments.as_str().len())
                    .sum::<usize>()
        }
        Message::Tool { content, .. } => content.as_str().len(),
    }
}

/// Returns the error for a budget that left too few tokens for a usable answer.
pub(crate) fn cut_short_error(locale: &str) -> AgentError {
    AgentError::internal(BUDGET, Text::BudgetCut.in_locale(locale))
        .hint(Text::BudgetHint.in_locale(locale))
}

pub(crate) fn over_budget_error(refusal: &Refusal, locale: &str) -> AgentError {
    let (name, what) = match refusal.scope {
        Scope::Run => ("run", Text::BudgetRun),
        Scope::Session => ("session", Text::BudgetSession),
        Scope::Day => ("day", Text::BudgetDay),
    };
    let amount = |value: u64| {
        if refusal.money {
            format!("{:.4} USD", nano_to_usd(value))
        } else {
            format!("{value} tokens")
        }
    };
    let message = what
        .in_locale(locale)
        .replace("{used}", &amount(refusal.used))
        .replace("{most}", &amount(refusal.most))
        .replace("{needed}", &amount(refusal.needed));
    let number = |value: u64| {
        if refusal.money { serde_json::json!(nano_to_usd(value)) } else { serde_json::json!(value) }
    };
    AgentError::internal(BUDGET, message)
        .hint(Text::BudgetHint.in_locale(locale))
        .with("scope", name)
        .with("unit", if refusal.money { "usd" } else { "tokens" })
        .with("used", number(refusal.used))
        .with("limit", number(refusal.most))
        .with("estimate", number(refusal.needed))
}
