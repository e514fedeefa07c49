//! Where text leaves for a model. Every word of a request is made by `EgressSession`, which holds
//! the session's numbers and what was replaced in this turn; everything that a model says back is
//! restored by it. What redaction is, `redaction` knows.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use contract::{
    AgentError, CallId, RedactionCount, RedactionLevel, SessionId, ToolSpec, label_text, text,
};
use parking_lot::{Mutex, MutexGuard};
use redaction::{Exact, Numbers, Outbound, OutboundValue, Redacted, Redactor, Replaced};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::{
    Engine,
    context::offered_schema::offered,
    ports::{AskedCall, Message, Model, ModelCall, StoreError, ToolDef},
    turn::{context::TurnContext, outcome::End},
};

/// Where the numbers are kept, among the session's own values: they go when the session goes, and
/// hold digests only.
const KEY: &str = "$placeholders";
/// A session's numbers and redacted history stay in memory for so many uses of sessions' tables, at
/// the least.
const LATELY: u64 = 64;
/// Texts, and tools, of the program that stay in memory as they go out.
const OURS: usize = 256;

/// Redacted texts that the engine keeps between turns.
#[derive(Default)]
pub(crate) struct Egress {
    tables: Mutex<Tables>,
    exact: Mutex<Option<(u64, Arc<Exact>)>>,
    ours: Mutex<Ours>,
}

/// Texts and tools of the program and its packs as they go out: the same in every turn until a
/// secret becomes known.
#[derive(Default)]
struct Ours {
    /// The secrets known when they were made.
    made_with: u64,
    texts: BTreeMap<Box<str>, Outbound>,
    tools: HashMap<String, ToolDef>,
}

impl Ours {
    /// Returns the texts that were made with these secrets. Discards older ones, and makes room if
    /// there are too many.
    fn with(&mut self, secrets: u64) -> &mut Self {
        if self.made_with != secrets {
            *self = Self { made_with: secrets, ..Self::default() };
        }
        if self.texts.len() >= OURS {
            self.texts.clear();
        }
        if self.tools.len() >= OURS {
            self.tools.clear();
        }
        self
    }
}

/// Sessions' tables. Those that were not used for long go.
#[derive(Default)]
struct Tables {
    /// Each with the number of its last use.
    by_session: HashMap<SessionId, (Arc<Mutex<Table>>, u64)>,
    uses: u64,
}

impl Tables {
    fn known(&mut self, session: &SessionId) -> Option<Arc<Mutex<Table>>> {
        let (table, used) = self.by_session.get_mut(session)?;
        self.uses += 1;
        *used = self.uses;
        Some(Arc::clone(table))
    }

    /// Keeps a table, unless somebody was faster.
    fn keep(&mut self, session: &SessionId, table: Table) -> Arc<Mutex<Table>> {
        if self.by_session.len() as u64 >= 2 * LATELY {
            // So many uses are of at most so many sessions.
            self.by_session.retain(|_, (table, used)| {
                *used + LATELY > self.uses || Arc::strong_count(table) > 1
            });
        }
        self.uses += 1;
        let (table, _) = self
            .by_session
            .entry(session.clone())
            .or_insert_with(|| (Arc::new(Mutex::new(table)), self.uses));
        Arc::clone(table)
    }
}

/// A session's numbers, and its stored items as they go out: each is looked through once, not in
/// every turn.
#[derive(Default)]
struct Table {
    numbers: Numbers,
    said: HashMap<String, RedactedText>,
    /// The settings and secrets with which `said` was made.
    made_with: MadeWith,
    /// Counts the turns since the table was read.
    turn: u64,
}

/// A level, the secrets known then, and whether values were kept.
type MadeWith = (RedactionLevel, u64, bool);

/// A stored text or value after redaction, as it goes to a model.
#[derive(Clone)]
struct RedactedText {
    text: Outbound,
    data: OutboundValue,
    /// The text is not the whole.
    is_cut: bool,
    replaced: Replaced,
    turn: u64,
}

impl Table {
    /// Returns the texts that were made this way. Discards them if they were made in another way.
    fn said_with(&mut self, made_with: MadeWith) -> &mut HashMap<String, RedactedText> {
        if self.made_with != made_with {
            self.said.clear();
            self.made_with = made_with;
        }
        &mut self.said
    }
}

/// Shortens a text that is too long. Returns None if it is short enough.
pub(crate) type Cut<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The name under which a result is kept.
fn of_result(call: &CallId) -> String {
    format!("result {call}")
}

/// Makes the words of one turn.
pub(crate) struct EgressSession {
    engine: Arc<Engine>,
    session: SessionId,
    level: RedactionLevel,
    /// Results are told as the values that they are, too.
    values: bool,
    table: Arc<Mutex<Table>>,
    sent: Mutex<Replaced>,
    /// The secrets that were known when the first word was made.
    secrets: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// Takes keys out of values, for a client that has no engine of its own.
pub struct KeyFilter(Exact);

impl KeyFilter {
    pub fn new(keys: &[SecretString]) -> Self {
        Self(Exact::new(keys.iter().map(|key| key.expose_secret())))
    }

    /// Replaces each key in the texts of a value.
    pub fn scrub(&self, value: &mut Value) {
        self.0.scrub_value(value);
    }
}

impl Engine {
    /// The matcher for all secrets known now.
    pub(crate) fn exact(&self) -> Arc<Exact> {
        self.exact_now().1
    }

    fn exact_now(&self) -> (u64, Arc<Exact>) {
        let generation = self.world.secrets.generation();
        let mut kept = lock(&self.egress.exact);
        match &*kept {
            Some((of, exact)) if *of == generation => (generation, Arc::clone(exact)),
            _ => {
                let values = self.world.secrets.values();
                let exact = Arc::new(Exact::new(values.iter().map(|value| value.expose_secret())));
                *kept = Some((generation, Arc::clone(&exact)));
                (generation, exact)
            }
        }
    }

    /// Whether anything may be sent to this model. Only what runs on this machine may answer when
    /// egress is off.
    pub(crate) fn check_egress(&self, model: &dyn Model) -> Result<(), AgentError> {
        if model.local() || self.world.profile.settings().egress.allowed {
            return Ok(());
        }
        Err(AgentError::invalid(text!("Nothing was sent: {model} does not run on this computer, and nothing may leave it.", model = label_text(&model.label())))
            .reason("egress_denied")
            .hint("Choose the offline model or a server on this computer in Settings, or allow cloud models there."))
    }
}

impl Egress {
    /// Forgets a session, in memory.
    pub(crate) fn forget(&self, session: &SessionId) {
        lock(&self.tables).by_session.remove(session);
    }
}

impl EgressSession {
    /// Gets a turn's model ready (its key is then known, and removed), and the session's numbers.
    pub(crate) async fn open(context: &TurnContext) -> Result<Self, End> {
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err(End::Cancelled { partial: String::new() }),
            () = context.model.ready() => {}
        }
        let (level, values) = (context.redaction_level(), context.model.reads_values());
        Self::of_session(&context.engine, &context.session, level, values)
            .await
            .map_err(End::failed)
    }

    /// For a session at this level, with results as `values` for a model that reads them so. Reads
    /// the session's numbers when they are not in memory.
    pub(crate) async fn of_session(
        engine: &Arc<Engine>,
        session: &SessionId,
        level: RedactionLevel,
        values: bool,
    ) -> Result<Self, StoreError> {
        let known = lock(&engine.egress.tables).known(session);
        let table = match known {
            Some(table) => table,
            None => {
                let stored = engine
                    .world
                    .store
                    .session_values_of(session, &[KEY])
                    .await?
                    .remove(KEY)
                    .unwrap_or_default();
                let table = Table {
                    numbers: Numbers::restored(session.as_str(), &stored),
                    ..Table::default()
                };
                lock(&engine.egress.tables).keep(session, table)
            }
        };
        lock(&table).turn += 1;
        let secrets = engine.exact_now().0;
        Ok(Self {
            engine: Arc::clone(engine),
            session: session.clone(),
            level,
            values,
            table,
            sent: Mutex::default(),
            secrets,
        })
    }

    /// A text that is new in this turn.
    pub(crate) fn text(&self, text: &str) -> Outbound {
        let redactor = self.redactor().1;
        let done = redactor.text(&mut lock(&self.table).numbers, text);
        self.note(&done.replaced);
        done.out
    }

    /// A part of the prompt of at most so many bytes, and whether it had to be cut. `ours` is text
    /// of the program and its packs: only secrets are looked for. The whole is looked through
    /// before it is cut.
    pub(crate) fn part(&self, text: &str, ours: bool, most: usize) -> (Outbound, bool) {
        let whole = if ours { self.name(text) } else { self.text(text) };
        if whole.len() <= most {
            return (whole, false);
        }
        let mut end = self.border(&whole, most);
        while !whole.is_char_boundary(end) {
            end -= 1;
        }
        (self.redactor().1.composed(&format!("{} …", &whole[..end])), true)
    }

    /// The text of a stored item.
    pub(crate) fn stored_text(&self, item: &str, text: &str) -> Outbound {
        let make = |redactor: &Redactor, numbers: &mut Numbers| {
            let Redacted { out, replaced } = redactor.text(numbers, text);
            RedactedText {
                text: out,
                data: OutboundValue::default(),
                is_cut: false,
                replaced,
                turn: 0,
            }
        };
        self.stored(&format!("item {item}"), make).text
    }

    /// The arguments of a stored call.
    pub(crate) fn stored_arguments(&self, call: &str, arguments: &Value) -> Outbound {
        let make = |redactor: &Redactor, numbers: &mut Numbers| {
            let Redacted { out, replaced } = redactor.value(numbers, &Arc::new(arguments.clone()));
            RedactedText {
                text: redactor.composed(&out.to_string()),
                data: OutboundValue::default(),
                is_cut: false,
                replaced,
                turn: 0,
            }
        };
        self.stored(&format!("call {call}"), make).text
    }

    /// A stored result: its text, cut by `cut`, the whole as a value where values are told, and
    /// whether it was cut.
    pub(crate) fn stored_result(
        &self,
        call: &CallId,
        result: impl FnOnce() -> Arc<Value>,
        cut: Cut<'_>,
    ) -> (Outbound, OutboundValue, bool) {
        let make = |redactor: &Redactor, numbers: &mut Numbers| {
            let Redacted { out, replaced } = redactor.value(numbers, &result());
            let (text, is_cut) = cut_down(redactor, &out.to_string(), cut);
            RedactedText { text, data: self.told(out), is_cut, replaced, turn: 0 }
        };
        let said = self.stored(&of_result(call), make);
        (said.text, said.data, said.is_cut)
    }

    /// A result that is new in this turn, as [`Self::stored_result`] gives one. There it will come
    /// cut by `later`.
    pub(crate) fn new_result(
        &self,
        call: &CallId,
        result: &Arc<Value>,
        cut: Cut<'_>,
        later: Cut<'_>,
    ) -> (Outbound, OutboundValue, bool) {
        let (generation, redactor) = self.redactor();
        let mut table = lock(&self.table);
        let Redacted { out: data, replaced } = redactor.value(&mut table.numbers, result);
        let whole = data.to_string();
        let (text, is_cut) = cut_down(&redactor, &whole, cut);
        let (short, is_short) = match later(&whole) {
            None if !is_cut => (text.clone(), false),
            _ => cut_down(&redactor, &whole, later),
        };
        let (turn, made_with, data) =
            (table.turn, (self.level, generation, self.values), self.told(data));
        table.said_with(made_with).insert(
            of_result(call),
            RedactedText {
                text: short,
                data: data.clone(),
                is_cut: is_short,
                replaced: replaced.clone(),
                turn,
            },
        );
        drop(table);
        self.note(&replaced);
        (text, data, is_cut)
    }

    /// A value where values are told.
    fn told(&self, value: OutboundValue) -> OutboundValue {
        if self.values { value } else { OutboundValue::default() }
    }

    /// A value that is new in this turn, as text.
    pub(crate) fn value(&self, value: Value) -> (Outbound, OutboundValue) {
        let redactor = self.redactor().1;
        let Redacted { out, replaced } =
            redactor.value(&mut lock(&self.table).numbers, &Arc::new(value));
        self.note(&replaced);
        (redactor.composed(&out.to_string()), self.told(out))
    }

    /// A call as the model made it, with real values in its arguments, as it goes back.
    pub(crate) fn call(&self, call: &AskedCall) -> ModelCall {
        let redactor = self.redactor().1;
        let arguments = match serde_json::from_str::<Value>(&call.arguments) {
            Ok(value) => {
                let value = Arc::new(value);
                let done = redactor.value(&mut lock(&self.table).numbers, &value);
                self.note(&done.replaced);
                // Untouched arguments go back letter by letter.
                redactor.composed(&if *done.out == *value {
                    call.arguments.clone()
                } else {
                    done.out.to_string()
                })
            }
            Err(_) => self.text(&call.arguments),
        };
        ModelCall { id: call.id.clone(), name: redactor.composed(&call.name), arguments }
    }

    /// Where a text that is given in parts may be cut instead of here.
    pub(crate) fn border(&self, text: &str, at: usize) -> usize {
        self.redactor().1.border(text, at)
    }

    /// A name or description that belongs to the program: a tool's. Only secrets are looked for.
    pub(crate) fn name(&self, text: &str) -> Outbound {
        let (generation, redactor) = self.redactor();
        if let Some(known) = lock(&self.engine.egress.ours).with(generation).texts.get(text) {
            return known.clone();
        }
        let out = redactor.composed(text);
        lock(&self.engine.egress.ours).with(generation).texts.insert(text.into(), out.clone());
        out
    }

    /// A tool as it is offered to a model. All of it is looked through for the same secrets.
    pub(crate) fn tool(&self, spec: &ToolSpec) -> ToolDef {
        let (generation, redactor) = self.redactor();
        let key = format!("{} {}", spec.model_name, spec.definition_hash);
        if let Some(known) = lock(&self.engine.egress.ours).with(generation).tools.get(&key) {
            return known.clone();
        }
        let (name, description) =
            (redactor.composed(&spec.model_name), redactor.composed(&spec.description));
        let def = ToolDef {
            name,
            description,
            parameters: redactor.definition(&offered(&spec.input_schema)),
        };
        lock(&self.engine.egress.ours).with(generation).tools.insert(key, def.clone());
        def
    }

    /// A schema.
    pub(crate) fn definition(&self, schema: &Value) -> OutboundValue {
        self.redactor().1.definition(schema)
    }

    /// Returns the placeholders and values of everything sent so far.
    pub(crate) fn sent(&self) -> Arc<Replaced> {
        Arc::new(lock(&self.sent).clone())
    }

    pub(crate) fn level(&self) -> RedactionLevel {
        self.level
    }

    /// Returns the counts of what was redacted, to show to a person.
    pub(crate) fn counts(&self) -> Vec<RedactionCount> {
        lock(&self.sent).counts()
    }

    /// The messages again without secrets, when one has become known since they were made (a
    /// tool's, for example).
    pub(crate) fn looked_at_again(&self, mut messages: Vec<Message>) -> Vec<Message> {
        let (generation, redactor) = self.redactor();
        if self.secrets == generation {
            return messages;
        }
        for message in &mut messages {
            match message {
                Message::System { text } | Message::User { text } => {
                    *text = redactor.composed(text)
                }
                Message::Assistant { text, calls, .. } => {
                    *text = redactor.composed(text);
                    for call in calls {
                        call.arguments = redactor.composed(&call.arguments);
                    }
                }
                Message::Tool { content, data, .. } => {
                    *content = redactor.composed(content);
                    *data = redactor.definition(data);
                }
            }
        }
        messages
    }

    /// Forgets redacted items that this turn's window does not hold any more.
    pub(crate) fn forget_older(&self) {
        let mut table = lock(&self.table);
        let turn = table.turn;
        table.said.retain(|_, said| said.turn == turn);
    }

    /// Keeps new numbers, before anything leaves that uses them: after a crash they mean the same.
    pub(crate) async fn keep_numbers(&self) -> Result<(), StoreError> {
        let stored = {
            let mut table = lock(&self.table);
            if !table.numbers.take_grown() {
                return Ok(());
            }
            table.numbers.stored()
        };
        let kept = self
            .engine
            .world
            .store
            .session_values_put(&self.session, vec![(KEY.to_owned(), Some(stored))])
            .await;
        if kept.is_err() {
            // The next turn begins with what is stored.
            self.engine.egress.forget(&self.session);
        }
        kept
    }

    fn redactor(&self) -> (u64, Redactor) {
        let (generation, exact) = self.engine.exact_now();
        (generation, Redactor::new(self.level, exact))
    }

    fn note(&self, replaced: &Replaced) {
        if !replaced.is_empty() {
            lock(&self.sent).merge(replaced);
        }
    }

    fn stored(
        &self,
        key: &str,
        make: impl FnOnce(&Redactor, &mut Numbers) -> RedactedText,
    ) -> RedactedText {
        let (generation, redactor) = self.redactor();
        let said = {
            let mut table = lock(&self.table);
            let turn = table.turn;
            match table.said_with((self.level, generation, self.values)).get_mut(key) {
                Some(said) => {
                    said.turn = turn;
                    said.clone()
                }
                None => {
                    let said = RedactedText { turn, ..make(&redactor, &mut table.numbers) };
                    table.said.insert(key.to_owned(), said.clone());
                    said
                }
            }
        };
        self.note(&said.replaced);
        said
    }
}

/// A text that is made of redacted ones, cut if it is too long, and whether it was. The whole is
/// redacted before it is cut: a cut can then leave no half of anything.
fn cut_down(redactor: &Redactor, whole: &str, cut: Cut<'_>) -> (Outbound, bool) {
    match cut(whole) {
        Some(shorter) => (redactor.composed(&shorter), true),
        None => (redactor.composed(whole), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_stay_that_were_used_lately_or_are_in_use() {
        let mut tables = Tables::default();
        let session = |n: u64| SessionId(format!("s{n}"));
        let in_use = tables.keep(&session(0), Table::default());
        let mut most = 0;
        for n in 1..10 * LATELY {
            tables.keep(&session(n), Table::default());
            assert!(tables.known(&session(1)).is_some(), "{n}: it is used again and again");
            most = most.max(tables.by_session.len() as u64);
        }
        assert!((LATELY..=2 * LATELY).contains(&most), "{most}");
        let again = tables.known(&session(0)).expect("in use all the time");
        assert!(Arc::ptr_eq(&in_use, &again));
        assert!(
            tables.known(&session(10 * LATELY - 1)).is_some()
                && tables.known(&session(2)).is_none()
        );
    }
}
