//! Removes the keys in a client's environment from the commands that the client sends, because the
//! other process does not know these keys. Must not know the meaning of commands.

use std::collections::BTreeSet;

use contract::AgentError;
use engine::KeyFilter;
use serde_json::Value;

use super::known_secrets;

/// The keys in this process's environment.
pub(crate) struct OwnKeys(KeyFilter);

impl OwnKeys {
    /// Reads the keys from the environment. `declared` are the variables that packs declare as
    /// credentials.
    pub(crate) fn from_environment(declared: &BTreeSet<String>) -> Self {
        let values = known_secrets::secrets_of(declared, known_secrets::environment_variables());
        Self(KeyFilter::new(&values))
    }

    /// Returns a command's parameters without keys. Keys in a message are removed. A key in any
    /// other field is an error.
    pub(crate) fn filter_params(
        &self,
        command: &str,
        mut params: Value,
    ) -> Result<Value, AgentError> {
        let mut scrubbed = params.clone();
        self.0.scrub(&mut scrubbed);
        // Only the command `secret_set` may send a key.
        if scrubbed == params || command == "secret_set" {
            return Ok(params);
        }
        let words = match command {
            "turn_start" => "/text",
            "run_request" if self.has_clean_ids(&params["request"]) => "/request",
            _ => return Err(engine::key_refused_error()),
        };
        if let (Some(said), Some(without)) = (params.pointer_mut(words), scrubbed.pointer(words)) {
            said.clone_from(without);
        }
        if params == scrubbed { Ok(params) } else { Err(engine::key_refused_error()) }
    }

    /// Whether the ids of a run request contain no key. Removing keys could make two ids equal.
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
