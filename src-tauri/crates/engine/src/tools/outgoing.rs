//! Builds the outgoing form of a call: the model's or person's arguments, plus the caller's own
//! values, in the form that the tool's server expects. The same form is shown, approved, recorded
//! and sent.

use contract::{AgentError, ToolSpec, arguments::normalize_and_check_length};
use serde_json::{Map, Value};

use crate::{
    canonical::approval_hash,
    ports::{Adapted, SessionValues},
    tools::call::Ready,
    turn::context::TurnContext,
};

/// The outgoing form of a call.
pub(crate) struct Outgoing {
    /// All arguments as shown, recorded and sent.
    pub(crate) arguments: Value,
    /// All arguments before they were converted for the server.
    pub(crate) asked: Value,
    /// The hash that identifies the call in an approval.
    pub(crate) hash: String,
    /// Whether a request is sent. Otherwise the adapter knows the answer without a request.
    pub(crate) is_sent: bool,
    /// Whether this is a further request of a call that was already sent.
    pub(crate) is_again: bool,
}

impl Outgoing {
    /// Creates a further request of a read that was already sent.
    pub(crate) fn for_further_request(arguments: &Value) -> Result<Self, AgentError> {
        let arguments = normalize_and_check_length(arguments.clone())?;
        Ok(Self {
            asked: arguments.clone(),
            arguments,
            hash: String::new(),
            is_sent: true,
            is_again: true,
        })
    }
}

/// Returns the caller-owned values of a call, from the session or else from the profile. Unknown
/// values, and values that are null in the session, are omitted.
pub(crate) fn caller_values(
    spec: &ToolSpec,
    session: &SessionValues,
    profile: &SessionValues,
) -> Map<String, Value> {
    let value = |from: &str| {
        session.get(from).or_else(|| profile.get(from)).filter(|value| !value.is_null()).cloned()
    };
    spec.caller_owned.iter().filter_map(|p| Some((p.name.clone(), value(&p.from)?))).collect()
}

impl Outgoing {
    /// Builds the outgoing form of a call. Fails if a caller's value cannot be read, because a
    /// change without its cart id, for example, would create another cart. Also fails if a number
    /// would lose digits or the arguments are too long.
    pub(crate) async fn of(context: &TurnContext, ready: &Ready) -> Result<Outgoing, AgentError> {
        let spec = &ready.spec;
        let owned = known_caller_values(context, spec).await?;
        let mut asked = ready.arguments.as_object().cloned().unwrap_or_default();
        asked.extend(owned.clone());
        let asked = Value::Object(asked);
        let Adapted { arguments, is_sent } =
            context.world().tools.adapt(&context.caller.kind, spec, asked.clone());
        let arguments = if ready.is_adapted { asked.clone() } else { arguments };
        let arguments = normalize_and_check_length(arguments)
            .map_err(|error| error.with("tool_id", spec.id.as_str()))?;
        let (caller, given): (Map<String, Value>, Map<String, Value>) = arguments
            .as_object()
            .cloned()
            .unwrap_or_default()
            .into_iter()
            .partition(|(name, _)| owned.contains_key(name));
        let hash = approval_hash(spec, &Value::Object(given), &caller);
        Ok(Outgoing { arguments, asked, hash, is_sent, is_again: false })
    }
}

async fn known_caller_values(
    context: &TurnContext,
    spec: &ToolSpec,
) -> Result<Map<String, Value>, AgentError> {
    if spec.caller_owned.is_empty() {
        return Ok(Map::new());
    }
    let names: Vec<&str> =
        spec.caller_owned.iter().map(|parameter| parameter.from.as_str()).collect();
    let session = context.world().store.session_values_of(&context.session, &names).await?;
    Ok(caller_values(spec, &session, &context.world().profile.caller_values(&context.locale)))
}
