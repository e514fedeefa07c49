//! Creates all text for models. `EgressSession` redacts every text of a request, keeps the
//! session's placeholder numbers and the replaced values, and restores the original values in the
//! model's answer. The crate `redaction` contains the rules.

use std::sync::Arc;

use contract::{CallId, RedactionCount, RedactionLevel, SessionId, ToolSpec, json_text};
use parking_lot::{Mutex, MutexGuard};
use redaction::{Exact, Numbers, Outbound, OutboundValue, Redacted, Redactor, Replaced, Restoring};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::{
    context::{
        egress_tables::{Ours, RedactedText, Table, Tables},
        offered_form::offered_form,
        offered_schema::schema_for_model,
        toolkit::Toolkits,
    },
    ports::{AskedCall, Message, ModelCall, Opaque, Store, StoreError, ToolDef, World},
    turn::{context::TurnContext, outcome::End, secrets::KnownSecrets},
};

/// The session value that stores the placeholder numbers. It contains digests only and is deleted
/// with the session.
const KEY: &str = "$placeholders";

/// Redacted texts that the engine keeps between turns.
pub(crate) struct Egress {
    /// The toolkit references before redaction.
    toolkits: Toolkits,
    store: Arc<dyn Store>,
    secrets: Arc<KnownSecrets>,
    tables: Mutex<Tables>,
    ours: Mutex<Ours>,
}

/// A function that shortens a text that is too long, and returns none for other texts.
pub(crate) type Cut<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns the key of a call's result in the table of redacted texts.
fn result_key(call: &CallId) -> String {
    format!("result {call}")
}

/// Creates all text for a model in a turn.
pub(crate) struct EgressSession {
    egress: Arc<Egress>,
    session: SessionId,
    level: RedactionLevel,
    /// Whether the model also gets tool results as JSON values.
    values: bool,
    table: Arc<Mutex<Table>>,
    sent: Mutex<Replaced>,
    /// The generation of secrets that were known when the first text was created.
    secrets: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// Removes keys from JSON values, for a client without an engine.
pub struct KeyFilter(Exact);

impl KeyFilter {
    /// Creates a filter for these keys.
    pub fn new(keys: &[SecretString]) -> Self {
        Self(Exact::new(keys.iter().map(|key| key.expose_secret())))
    }

    /// Replaces each key in the texts of a value.
    pub fn scrub(&self, value: &mut Value) {
        self.0.scrub_value(value);
    }
}

/// Redacts texts for an embedding server, and cuts each to `most` bytes. The placeholder numbers
/// are not stored, because no text is restored from a vector.
pub(crate) fn redact_for_embedding(
    secrets: Arc<Exact>,
    texts: &[&str],
    level: RedactionLevel,
    most: usize,
) -> Vec<Outbound> {
    let redactor = Redactor::new(level, secrets);
    let one = |text: &&str| {
        let whole = redactor.text(&mut Numbers::new("memory"), text).out;
        if whole.len() <= most {
            return whole;
        }
        let mut end = redactor.safe_cut_position(&whole, most);
        while !whole.is_char_boundary(end) {
            end -= 1;
        }
        redactor.redact_composed_text(&whole[..end])
    };
    texts.iter().map(one).collect()
}

/// Restores the original values in a model's answer. If a value completes a secret, it is removed
/// together with the secret.
pub(crate) struct Restorer {
    sent: Arc<Replaced>,
    exact: Arc<Exact>,
}

impl Restorer {
    /// Begins to restore a text that arrives in pieces.
    pub(crate) fn restoring(&self) -> Restoring {
        Restoring::new(Arc::clone(&self.sent), Arc::clone(&self.exact))
    }

    /// Restores a text.
    pub(crate) fn restore(&self, text: &str) -> String {
        self.exact.redact_secrets(&self.sent.restore(text)).into_owned()
    }

    /// Restores the arguments of a call.
    pub(crate) fn restore_arguments(&self, text: String) -> String {
        self.exact.scrub_json(self.sent.restore_arguments(text))
    }
}

impl Egress {
    pub(crate) fn new(world: &World, secrets: &Arc<KnownSecrets>) -> Self {
        Self {
            toolkits: Toolkits::default(),
            store: Arc::clone(&world.store),
            secrets: Arc::clone(secrets),
            tables: Mutex::default(),
            ours: Mutex::default(),
        }
    }

    /// Removes a session's table of redacted texts from memory.
    pub(crate) fn forget(&self, session: &SessionId) {
        lock(&self.tables).forget(session);
    }
}

impl EgressSession {
    /// Prepares the turn's model and loads the session's placeholder numbers. The API key of a
    /// prepared model is known, so that it is removed from all texts.
    pub(crate) async fn open(egress: &Arc<Egress>, context: &TurnContext) -> Result<Self, End> {
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err(End::Cancelled { partial: String::new() }),
            () = context.model.prepare_call() => {}
        }
        let (level, values) = (context.redaction_level(), context.model.reads_values());
        Self::of_session(egress, &context.session, level, values).await.map_err(End::failed)
    }

    /// Opens a session with this redaction level. `values` says whether the model reads tool
    /// results as JSON values. Loads the placeholder numbers if they are not in memory.
    pub(crate) async fn of_session(
        egress: &Arc<Egress>,
        session: &SessionId,
        level: RedactionLevel,
        values: bool,
    ) -> Result<Self, StoreError> {
        let known = lock(&egress.tables).known(session);
        let table = match known {
            Some(table) => table,
            None => {
                let mut values = egress.store.session_values_of(session, &[KEY]).await?;
                let stored = values.remove(KEY).unwrap_or_default();
                let table = Table::with_numbers(Numbers::restored(session.as_str(), &stored));
                lock(&egress.tables).keep(session, table)
            }
        };
        lock(&table).turn += 1;
        let secrets = egress.secrets.current().0;
        Ok(Self {
            egress: Arc::clone(egress),
            session: session.clone(),
            level,
            values,
            table,
            sent: Mutex::default(),
            secrets,
        })
    }

    /// Redacts a text that is new in this turn.
    pub(crate) fn text(&self, text: &str) -> Outbound {
        let redactor = self.redactor().1;
        let done = redactor.text(&mut lock(&self.table).numbers, text);
        self.note(&done.replaced);
        done.out
    }

    /// Redacts a part of the prompt and shortens it to `most` bytes. Returns whether it was
    /// shortened. In the program's own texts (`ours`), only secrets are replaced. The text is
    /// redacted before it is shortened.
    pub(crate) fn redact_part(&self, text: &str, ours: bool, most: usize) -> (Outbound, bool) {
        let whole = if ours { self.redact_name(text) } else { self.text(text) };
        if whole.len() <= most {
            return (whole, false);
        }
        let mut end = self.safe_cut_position(&whole, most);
        while !whole.is_char_boundary(end) {
            end -= 1;
        }
        (self.redactor().1.redact_composed_text(&format!("{} …", &whole[..end])), true)
    }

    /// Returns the redacted text of a stored item.
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
        self.redact_cached(&format!("item {item}"), make).text
    }

    /// Returns the redacted arguments of a stored call.
    pub(crate) fn stored_arguments(&self, call: &str, arguments: &Value) -> Outbound {
        let make = |redactor: &Redactor, numbers: &mut Numbers| {
            let Redacted { out, replaced } = redactor.value(numbers, &Arc::new(arguments.clone()));
            RedactedText {
                text: redactor.redact_composed_text(&out.to_string()),
                data: OutboundValue::default(),
                is_cut: false,
                replaced,
                turn: 0,
            }
        };
        self.redact_cached(&format!("call {call}"), make).text
    }

    /// Returns a stored result in redacted form: the text shortened by `cut`, the whole result as a
    /// JSON value if the model reads values, and whether the text was shortened.
    pub(crate) fn stored_result(
        &self,
        call: &CallId,
        result: impl FnOnce() -> Arc<Value>,
        cut: Cut<'_>,
    ) -> (Outbound, OutboundValue, bool) {
        let make = |redactor: &Redactor, numbers: &mut Numbers| {
            let Redacted { out, replaced } = redactor.value(numbers, &result());
            let (text, is_cut) = shorten_redacted(redactor, &json_text::shown(&out), cut);
            RedactedText { text, data: self.value_if_read(out), is_cut, replaced, turn: 0 }
        };
        let said = self.redact_cached(&result_key(call), make);
        (said.text, said.data, said.is_cut)
    }

    /// Redacts a result that is new in this turn. Returns the same values as
    /// [`Self::stored_result`]. Later turns will get the text shortened by `later`.
    pub(crate) fn redact_new_result(
        &self,
        call: &CallId,
        result: &Arc<Value>,
        cut: Cut<'_>,
        later: Cut<'_>,
    ) -> (Outbound, OutboundValue, bool) {
        let (generation, redactor) = self.redactor();
        let mut table = lock(&self.table);
        let Redacted { out: data, replaced } = redactor.value(&mut table.numbers, result);
        let whole = json_text::shown(&data).into_owned();
        let (text, is_cut) = shorten_redacted(&redactor, &whole, cut);
        let (short, is_short) = match later(&whole) {
            None if !is_cut => (text.clone(), false),
            _ => shorten_redacted(&redactor, &whole, later),
        };
        let (turn, made_with, data) =
            (table.turn, (self.level, generation, self.values), self.value_if_read(data));
        table.texts_made_with(made_with).insert(
            result_key(call),
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

    /// Whether the model reads JSON values.
    pub(crate) fn reads_values(&self) -> bool {
        self.values
    }

    /// Returns the value if the model reads JSON values, and an empty value otherwise.
    fn value_if_read(&self, value: OutboundValue) -> OutboundValue {
        if self.values { value } else { OutboundValue::default() }
    }

    /// Redacts a value that is new in this turn, and returns it as text and as a value.
    pub(crate) fn redact_value(&self, value: Value) -> (Outbound, OutboundValue) {
        let redactor = self.redactor().1;
        let Redacted { out, replaced } =
            redactor.value(&mut lock(&self.table).numbers, &Arc::new(value));
        self.note(&replaced);
        (redactor.redact_composed_text(&out.to_string()), self.value_if_read(out))
    }

    /// Redacts a call of the model, whose arguments contain the restored values, so that it can be
    /// sent back to the model.
    pub(crate) fn redact_call(&self, call: &AskedCall) -> ModelCall {
        let redactor = self.redactor().1;
        let arguments = match serde_json::from_str::<Value>(&call.arguments) {
            Ok(value) => {
                let value = Arc::new(value);
                let done = redactor.value(&mut lock(&self.table).numbers, &value);
                self.note(&done.replaced);
                // Unchanged arguments are returned exactly as the model wrote them.
                redactor.redact_composed_text(&if *done.out == *value {
                    call.arguments.clone()
                } else {
                    done.out.to_string()
                })
            }
            Err(_) => self.text(&call.arguments),
        };
        ModelCall {
            id: call.id.clone(),
            name: redactor.redact_composed_text(&call.name),
            arguments,
        }
    }

    /// Returns a position at or before `at` where the text can be cut without splitting a redacted
    /// value.
    pub(crate) fn safe_cut_position(&self, text: &str, at: usize) -> usize {
        self.redactor().1.safe_cut_position(text, at)
    }

    /// Returns a name or description of a tool. Only secrets are replaced, because the text is part
    /// of the program.
    pub(crate) fn redact_name(&self, text: &str) -> Outbound {
        let (generation, redactor) = self.redactor();
        if let Some(known) = lock(&self.egress.ours).texts_for_secrets(generation).texts.get(text) {
            return known.clone();
        }
        let out = redactor.redact_composed_text(text);
        lock(&self.egress.ours)
            .texts_for_secrets(generation)
            .texts
            .insert(text.into(), out.clone());
        out
    }

    /// Returns a tool as sent to a model, with secrets removed from all of its texts.
    pub(crate) fn tool(&self, spec: &ToolSpec) -> ToolDef {
        let (generation, redactor) = self.redactor();
        let key = format!("{} {}", spec.model_name, spec.definition_hash);
        if let Some(known) = lock(&self.egress.ours).texts_for_secrets(generation).tools.get(&key) {
            return known.clone();
        }
        let (name, description) = (
            redactor.redact_composed_text(&spec.model_name),
            redactor.redact_composed_text(&spec.description),
        );
        // A server that somebody added has no form of a schema that a person does not see.
        let schema = match spec.pack.is_of_added_server() {
            true => schema_for_model(&spec.input_schema),
            false => schema_for_model(&offered_form(&spec.input_schema)),
        };
        let def = ToolDef { name, description, parameters: redactor.redact_definition(&schema) };
        lock(&self.egress.ours).texts_for_secrets(generation).tools.insert(key, def.clone());
        def
    }

    /// Returns a JSON schema without secrets.
    pub(crate) fn redact_schema(&self, schema: &Value) -> OutboundValue {
        self.redactor().1.redact_definition(schema)
    }

    /// Returns a restorer for answers to the texts sent so far.
    pub(crate) fn restorer(&self) -> Restorer {
        Restorer { sent: self.sent(), exact: self.egress.secrets.matcher() }
    }

    /// Returns the placeholders and values in the texts sent so far.
    fn sent(&self) -> Arc<Replaced> {
        Arc::new(lock(&self.sent).clone())
    }

    /// Returns the reference of these tools, for the prompt.
    pub(crate) fn toolkit(&self, tools: &[&ToolSpec]) -> Arc<str> {
        self.egress.toolkits.of(tools)
    }

    pub(crate) fn level(&self) -> RedactionLevel {
        self.level
    }

    /// Returns the counts of redacted values, for display.
    pub(crate) fn counts(&self) -> Vec<RedactionCount> {
        lock(&self.sent).counts()
    }

    /// Removes secrets from messages again if a secret, such as a tool's key, has become known
    /// since they were created.
    pub(crate) fn redact_again(&self, mut messages: Vec<Message>) -> Vec<Message> {
        let (generation, redactor) = self.redactor();
        if self.secrets == generation {
            return messages;
        }
        for message in &mut messages {
            match message {
                Message::System { text } | Message::User { text } => {
                    *text = redactor.redact_composed_text(text)
                }
                Message::Assistant { text, calls, opaque } => {
                    *opaque = self.without_secrets(opaque.take());
                    *text = redactor.redact_composed_text(text);
                    for call in calls {
                        call.arguments = redactor.redact_composed_text(&call.arguments);
                    }
                }
                Message::Tool { content, data, .. } => {
                    *content = redactor.redact_composed_text(content);
                    *data = redactor.redact_definition(data);
                }
            }
        }
        messages
    }

    /// Returns data for a provider, or none if it contains a secret that has become known since.
    /// The provider would refuse modified data.
    pub(crate) fn without_secrets(&self, opaque: Option<Opaque>) -> Option<Opaque> {
        opaque.filter(|opaque| !self.egress.secrets.matcher().value_contains_secret(&opaque.data))
    }

    /// Removes redacted items from memory that this turn has not used.
    pub(crate) fn forget_unused(&self) {
        let mut table = lock(&self.table);
        let turn = table.turn;
        table.said.retain(|_, said| said.turn == turn);
    }

    /// Stores new placeholder numbers before any text that uses them is sent, so that they keep
    /// their meaning after a crash.
    pub(crate) async fn store_numbers(&self) -> Result<(), StoreError> {
        let stored = {
            let mut table = lock(&self.table);
            if !table.numbers.take_grown() {
                return Ok(());
            }
            table.numbers.stored()
        };
        let kept = self
            .egress
            .store
            .session_values_put(&self.session, vec![(KEY.to_owned(), Some(stored))])
            .await;
        if kept.is_err() {
            // The table is removed, so that the next turn loads the stored numbers again.
            self.egress.forget(&self.session);
        }
        kept
    }

    fn redactor(&self) -> (u64, Redactor) {
        let (generation, exact) = self.egress.secrets.current();
        (generation, Redactor::new(self.level, exact))
    }

    fn note(&self, replaced: &Replaced) {
        if !replaced.is_empty() {
            lock(&self.sent).merge(replaced);
        }
    }

    fn redact_cached(
        &self,
        key: &str,
        make: impl FnOnce(&Redactor, &mut Numbers) -> RedactedText,
    ) -> RedactedText {
        let (generation, redactor) = self.redactor();
        let said = {
            let mut table = lock(&self.table);
            let turn = table.turn;
            match table.texts_made_with((self.level, generation, self.values)).get_mut(key) {
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

/// Shortens a redacted text if it is too long, and returns whether it was shortened. The text is
/// redacted first, so that no part of an original value can remain.
fn shorten_redacted(redactor: &Redactor, whole: &str, cut: Cut<'_>) -> (Outbound, bool) {
    match cut(whole) {
        Some(shorter) => (redactor.redact_composed_text(&shorter), true),
        None => (redactor.redact_composed_text(whole), false),
    }
}
