//! The service behind the tools that remember and recall. It is part of the app, because memories
//! are stored in the app's own database. A pack declares its tools, as for any other service.

use std::sync::{Arc, OnceLock, Weak};

use contract::{AgentError, Effect, ErrorCode, MemoryHit, ToolSpec, text};
use engine::{
    Engine,
    ports::{MEMORY_PACK, ToolRequest},
};
use serde_json::{Value, json};

/// The name of the service in manifests.
pub(crate) const NAME: &str = "long-term-memory";

/// The service. It cannot answer before an engine is set.
#[derive(Default)]
pub(crate) struct MemoryService {
    engine: OnceLock<Weak<Engine>>,
}

impl MemoryService {
    /// Sets the engine that stores and finds memories.
    pub(crate) fn set_engine(&self, engine: &Arc<Engine>) {
        let _ = self.engine.set(Arc::downgrade(engine));
    }

    /// Answers a call of a tool of this service.
    pub(crate) async fn call(&self, request: &ToolRequest) -> Result<Value, AgentError> {
        let (tool, session) = (request.spec.plain_id(), &request.session);
        let (tool, arguments) = (tool.as_str(), &request.arguments);
        check_tool(&request.spec, tool)?;
        let engine = self.engine.get().and_then(Weak::upgrade).ok_or_else(|| {
            AgentError::internal("not_started", "Countersign is starting or ending.")
        })?;
        let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        match tool {
            "remember" => {
                let text = argument("text");
                let memory = engine.memories.remember_note(&text, session, request.content).await?;
                Ok(json!({"id": memory.id, "text": memory.text}))
            }
            "recall" => {
                let about = argument("about");
                let hits = engine.memories.recall(&about, session, request.content).await?;
                let memories: Vec<Value> = hits.iter().map(hit_value).collect();
                let mut found = json!({"about": about, "memories": memories});
                // With this mark, the engine never sends the result to a model on another computer.
                if hits.iter().any(|hit| hit.memory.local_only) {
                    found["local_only"] = Value::Bool(true);
                }
                Ok(found)
            }
            _ => Err(unknown_tool_error(tool)),
        }
    }
}

/// Fails unless the tool belongs to the service's own pack (because a tool of another pack could
/// require less approval), and requires approval if it stores a memory.
fn check_tool(spec: &ToolSpec, tool: &str) -> Result<(), AgentError> {
    let is_safe = tool != "remember" || (spec.effect == Effect::Write && spec.human_required);
    if spec.pack.as_str() == MEMORY_PACK && is_safe {
        Ok(())
    } else {
        Err(unknown_tool_error(tool))
    }
}

fn unknown_tool_error(tool: &str) -> AgentError {
    let message = text!("There is no tool {tool}.", tool = tool.to_owned());
    AgentError::new(ErrorCode::ToolNotFound, message).reason("tool_not_implemented")
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
