//! Keys in the environment of a client. The process that it connects to does not know them, so they
//! are removed from what is sent there. This file must not know what commands do.

use std::collections::BTreeSet;

use contract::AgentError;
use engine::KeyFilter;
use serde_json::Value;

use crate::known_secrets;

/// The keys of this process's environment.
pub(crate) struct OwnKeys(KeyFilter);

impl OwnKeys {
    /// Reads the keys. `declared` are the variables that packs name as credentials.
    pub(crate) fn of_environment(declared: &BTreeSet<String>) -> Self {
        let values = known_secrets::secrets_of(declared, known_secrets::environment());
        Self(KeyFilter::new(&values))
    }

    /// Returns the parameters of a command without keys. Keys are removed from a message, as this
    /// process would do itself. A key in any other field is an error.
    pub(crate) fn filter_params(
        &self,
        command: &str,
        mut params: Value,
    ) -> Result<Value, AgentError> {
        let mut scrubbed = params.clone();
        self.0.scrub(&mut scrubbed);
        // The only command whose purpose is to send a key.
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

    /// Whether the ids of a run request contain no key. Two ids could become equal if keys were
    /// removed.
    fn has_clean_ids(&self, request: &Value) -> bool {
        let Some(ids) = contract::run_ids(request.as_str().unwrap_or_default()) else {
            return true;
        };
        let ids = Value::from(ids.to_vec());
        let mut scrubbed = ids.clone();
        self.0.scrub(&mut scrubbed);
        scrubbed == ids
    }
}
