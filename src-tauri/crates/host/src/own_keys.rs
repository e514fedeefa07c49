//! Keys in the environment of a client: the process that it joins does not know them, so they are kept out of what is sent there.
//! It must not know what commands do.

use std::collections::BTreeSet;

use contract::AgentError;
use engine::KeyFilter;
use serde_json::Value;

use crate::known_secrets;

/// The keys of this process's environment.
pub(crate) struct OwnKeys(KeyFilter);

impl OwnKeys {
    /// `declared` are the variables that packs name as credentials.
    pub(crate) fn of_environment(declared: &BTreeSet<String>) -> Self {
        let values = known_secrets::secrets_of(declared, known_secrets::environment());
        Self(KeyFilter::new(&values))
    }

    /// Returns the parameters of a command as they may be sent. A message loses its keys, as it would in this process. In any other field a
    /// key is refused.
    pub(crate) fn sendable(&self, command: &str, mut params: Value) -> Result<Value, AgentError> {
        let mut scrubbed = params.clone();
        self.0.scrub(&mut scrubbed);
        // The one command that is there to send a key.
        if scrubbed == params || command == "secret_set" {
            return Ok(params);
        }
        let words = match command {
            "turn_start" => "/text",
            "run_request" if self.has_clean_ids(&params["request"]) => "/request",
            _ => return Err(engine::key_refused()),
        };
        if let (Some(said), Some(without)) = (params.pointer_mut(words), scrubbed.pointer(words)) {
            said.clone_from(without);
        }
        if params == scrubbed { Ok(params) } else { Err(engine::key_refused()) }
    }

    /// Whether no key is in the ids of a run request: with the keys taken out, two ids could become one.
    fn has_clean_ids(&self, request: &Value) -> bool {
        let Some(ids) = contract::run_ids(request.as_str().unwrap_or_default()) else { return true };
        let ids = Value::from(ids.to_vec());
        let mut scrubbed = ids.clone();
        self.0.scrub(&mut scrubbed);
        scrubbed == ids
    }
}
