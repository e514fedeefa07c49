//! A call as it leaves: what a model or a person gave, the caller's own values, and the form that
//! the tool's server takes. What is shown, signed, recorded and sent is made here and nowhere else.
//! Knows no server.

use contract::{AgentError, ToolSpec, arguments::checked};
use serde_json::{Map, Value};

use crate::{
    canonical::approval_hash,
    ports::{Adapted, SessionValues},
    tools::call::Ready,
    turn::context::TurnContext,
};

/// A call as it leaves.
pub(crate) struct Outgoing {
    /// All arguments, as they are shown, recorded and sent.
    pub(crate) arguments: Value,
    /// All arguments before they took the form of the server.
    pub(crate) asked: Value,
    /// The hash that an approval signs.
    pub(crate) hash: String,
    /// Whether a request is sent. If not, the answer is known here.
    pub(crate) is_sent: bool,
    /// A further request of a call that has been sent already.
    pub(crate) is_again: bool,
}

impl Outgoing {
    /// A further request of a read that has been sent already.
    pub(crate) fn again(arguments: &Value) -> Result<Self, AgentError> {
        let arguments = checked(arguments.clone())?;
        Ok(Self {
            asked: arguments.clone(),
            arguments,
            hash: String::new(),
            is_sent: true,
            is_again: true,
        })
    }
}

/// The caller-owned values of a call: the session's own, else the profile's; what is unknown, or
/// null in the session, is left out.
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
    /// The call as it leaves now. Fails if a caller's value cannot be read (a change of no basket
    /// would begin another one), or if a number or the length would not survive the way.
    pub(crate) async fn of(context: &TurnContext, ready: &Ready) -> Result<Outgoing, AgentError> {
        let spec = &ready.spec;
        let owned = known_caller_values(context, spec).await?;
        let mut asked = ready.arguments.as_object().cloned().unwrap_or_default();
        asked.extend(owned.clone());
        let asked = Value::Object(asked);
        let Adapted { arguments, is_sent } = context.world().tools.adapt(spec, asked.clone());
        let arguments = if ready.is_adapted { asked.clone() } else { arguments };
        let arguments =
            checked(arguments).map_err(|error| error.with("tool_id", spec.id.as_str()))?;
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
    Ok(caller_values(spec, &session, &context.world().profile.caller_values()))
}
