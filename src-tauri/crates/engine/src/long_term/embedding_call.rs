//! Calls embedding servers under the same rules as models: permission for sending text elsewhere,
//! redaction, the daily budget, and a record.

use std::{sync::Arc, time::Duration};

use contract::{AgentError, ErrorCode, Reason, RecordType, RedactionLevel, text};
use serde_json::json;

use crate::{
    budget::embedding::Reservation,
    context::egress::redact_for_embedding,
    long_term::records::unrecorded_error,
    ports::{
        Durability, EmbeddingServer, ModelError, ModelErrorKind, RecordDraft, TextRole, World,
    },
    turn::{answers::scrub_error, refusals::millis, secrets::KnownSecrets, switches::Switches},
};

/// The most bytes of a text that are sent. Embedding models hardly read more.
const MOST_BYTES: usize = 8_000;

/// Calls embedding servers.
pub(crate) struct EmbeddingCalls {
    world: World,
    secrets: Arc<KnownSecrets>,
    switches: Arc<Switches>,
}

impl EmbeddingCalls {
    pub(crate) fn new(
        world: &World,
        secrets: &Arc<KnownSecrets>,
        switches: &Arc<Switches>,
    ) -> Self {
        Self { world: world.clone(), secrets: Arc::clone(secrets), switches: Arc::clone(switches) }
    }

    /// Returns the vectors of texts, in order. Waits for the server no longer than `patience`.
    pub(crate) async fn embed(
        &self,
        server: &dyn EmbeddingServer,
        texts: &[&str],
        role: TextRole,
        patience: Duration,
    ) -> Result<Vec<Vec<f32>>, AgentError> {
        self.switches.check_enabled()?;
        self.check_egress(server)?;
        server.prepare_call().await;
        let level = self.redaction();
        let sent = redact_for_embedding(self.secrets.matcher(), texts, level, MOST_BYTES);
        let bytes = sent.iter().map(|text| text.len()).sum();
        let reservation =
            Reservation::reserve(&self.world, server.label(), bytes, sent.len()).await?;
        let began = tokio::time::Instant::now();
        // The call is recorded even if the server is too slow.
        let answer = tokio::time::timeout(patience, server.embed(sent, role))
            .await
            .unwrap_or_else(|_| Err(too_slow()));
        let mut record = RecordDraft::new(RecordType::ModelCall)
            .field("model", server.label())
            .field("purpose", "embedding")
            .field("level", if answer.is_ok() { "info" } else { "error" })
            .field("duration_ms", millis(began.elapsed()))
            .field("status", if answer.is_ok() { "ok" } else { "error" })
            .field("local", server.is_local())
            .field("redaction", json!(level))
            .field("texts", texts.len());
        let outcome = match answer {
            Ok(made) => {
                record = record.field("tokens_in", made.input_tokens);
                reservation.settle(made.input_tokens);
                check_vectors(made.vectors, texts.len())
            }
            Err(error) => {
                match error.kind.may_have_worked() {
                    true => drop(reservation),
                    false => reservation.release(),
                }
                Err(server_error(&scrub_error(&self.secrets.matcher(), error)))
            }
        };
        if let Err(error) = self.world.audit.append(record, Durability::Grouped).await {
            tracing::error!(%error, "a call of an embedding server could not be recorded");
            return Err(unrecorded_error());
        }
        outcome
    }

    /// Fails if no text may be sent to this server.
    fn check_egress(&self, server: &dyn EmbeddingServer) -> Result<(), AgentError> {
        if server.is_local() || self.world.profile.settings().egress.allowed {
            return Ok(());
        }
        Err(AgentError::invalid(text!(
            "Nothing was sent: {model} does not run on this computer, and nothing may leave it.",
            model = server.label()
        ))
        .reason("egress_denied")
        .hint("Choose the built-in memory model in Settings, or allow cloud models there."))
    }

    /// Returns the strictest of the user's redaction level and the levels that packs require,
    /// because a memory may come from the data of any pack.
    fn redaction(&self) -> RedactionLevel {
        let own = self.world.profile.settings().egress.redaction;
        let specs = self.world.tools.specs();
        let packs: std::collections::BTreeSet<_> = specs.iter().map(|spec| &spec.pack).collect();
        let demanded = packs
            .into_iter()
            .filter_map(|pack| self.world.tools.data_flow(pack))
            .map(|flow| flow.redaction());
        demanded.fold(own, RedactionLevel::max)
    }
}

/// Checks that there is a vector for each text and that all vectors have the same dimension.
/// Normalises the vectors to length 1.
fn check_vectors(mut vectors: Vec<Vec<f32>>, texts: usize) -> Result<Vec<Vec<f32>>, AgentError> {
    let dimension = vectors.first().map_or(0, Vec::len);
    let is_whole = vectors.len() == texts
        && (1..=4_096).contains(&dimension)
        && vectors.iter().all(|vector| {
            vector.len() == dimension && vector.iter().all(|value| value.is_finite())
        });
    if !is_whole {
        return Err(AgentError::new(
            ErrorCode::LlmError,
            "The embedding server sent something else than one vector for each text.",
        )
        .reason("provider_protocol"));
    }
    for vector in &mut vectors {
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|value| *value /= length);
        }
    }
    Ok(vectors)
}

fn too_slow() -> ModelError {
    ModelError {
        kind: ModelErrorKind::Broken,
        message: "The server took too long.".into(),
        hint: None,
        retry_after_ms: None,
        said: None,
    }
}

/// Whether the server refused a particular text, so that it may accept others.
pub(crate) fn is_text_refused(error: &AgentError) -> bool {
    error.has_reason(Reason::ProviderRefused) || error.has_reason(Reason::ProviderTooLong)
}

fn server_error(error: &ModelError) -> AgentError {
    let reason = match error.kind {
        ModelErrorKind::BadRequest => Reason::ProviderRefused.name(),
        ModelErrorKind::TooLong => Reason::ProviderTooLong.name(),
        _ => "embedding_failed",
    };
    let out = AgentError::new(ErrorCode::LlmError, error.message.clone())
        .reason(reason)
        .retryable(error.kind.is_retryable());
    match &error.hint {
        Some(hint) => out.hint(hint.clone()),
        None => out,
    }
}
