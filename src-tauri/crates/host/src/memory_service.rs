//! The service behind the tools that remember and recall. It is a part of the app, because memories
//! are in the app's own database. Its tools are declared by a pack like those of any other service.

use std::sync::{Arc, OnceLock, Weak};

use contract::{AgentError, ErrorCode, MemoryHit, SessionId, text};
use engine::Engine;
use serde_json::{Value, json};

/// The name of the service in manifests.
pub(crate) const NAME: &str = "long-term-memory";

/// The service. It answers once it has an engine.
#[derive(Default)]
pub(crate) struct MemoryService {
    engine: OnceLock<Weak<Engine>>,
}

impl MemoryService {
    /// Sets the engine that stores and finds memories.
    pub(crate) fn set_engine(&self, engine: &Arc<Engine>) {
        let _ = self.engine.set(Arc::downgrade(engine));
    }

    /// Answers a call of one of the tools, by its id, for this session.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: &Value,
        session: &SessionId,
    ) -> Result<Value, AgentError> {
        let engine = self.engine.get().and_then(Weak::upgrade).ok_or_else(|| {
            AgentError::internal("not_started", "Countersign is starting or ending.")
        })?;
        let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        match tool {
            "remember" => {
                let memory = engine.remember_note(&argument("text"), session).await?;
                Ok(json!({"id": memory.id, "text": memory.text}))
            }
            "recall" => {
                let about = argument("about");
                let hits = engine.recall_memories(&about, session).await?;
                let memories: Vec<Value> = hits.iter().map(hit_value).collect();
                Ok(json!({"about": about, "memories": memories}))
            }
            _ => Err(AgentError::new(
                ErrorCode::ToolNotFound,
                text!("There is no tool {tool}.", tool = tool.to_owned()),
            )
            .reason("tool_not_implemented")),
        }
    }
}

fn hit_value(hit: &MemoryHit) -> Value {
    let memory = &hit.memory;
    json!({
        "id": memory.id,
        "kind": memory.kind,
        "text": memory.text,
        "stored_on": memory.created_at.format("%Y-%m-%d").to_string(),
    })
}
