//! The kill switches for everything, for one agent and for one tool. They are checked when a run
//! starts, before each model call, before each tool call, and before a pending action is approved
//! or run. Each check reads the current settings, so that switching off takes effect immediately.

use std::sync::Arc;

use contract::{AgentError, AgentId, ErrorCode, Reason, ToolId, ToolSpec, text};

use crate::ports::{Profile, Roster, Tools, World};

/// The kill switches of the profile.
pub struct Switches {
    profile: Arc<dyn Profile>,
}

impl Switches {
    pub(crate) fn new(world: &World) -> Self {
        Self { profile: Arc::clone(&world.profile) }
    }

    /// Whether the assistant is switched on and its settings can be used.
    pub fn is_enabled(&self) -> bool {
        self.check_enabled().is_ok()
    }

    /// Fails if the settings cannot be used, or if the assistant is switched off.
    pub(crate) fn check_enabled(&self) -> Result<(), AgentError> {
        if let Some(fault) = self.profile.settings_fault() {
            return Err(fault);
        }
        if self.profile.settings().agent_enabled {
            return Ok(());
        }
        Err(AgentError::new(ErrorCode::AgentDisabled, "Countersign is switched off.")
            .hint("Switch it on in Settings; if AGENT_ENABLED is set to false, unset it."))
    }

    /// Fails if this agent or the whole assistant is switched off.
    pub(crate) fn check_agent(&self, agent: &AgentId) -> Result<(), AgentError> {
        self.check_enabled()?;
        if self.profile.settings().switches.agent(agent) {
            return Ok(());
        }
        Err(AgentError::new(
            ErrorCode::AgentDisabled,
            text!("The specialist {agent} is switched off.", agent),
        )
        .reason("agent_off")
        .hint("Switch it on in Tools."))
    }

    /// Fails if this tool, its pack's agent or the whole assistant is switched off. `tools` are the
    /// caller's tools.
    pub(super) fn check_tool_of(
        &self,
        tools: &dyn Tools,
        tool: &ToolSpec,
    ) -> Result<(), AgentError> {
        let id = &tool.id;
        let off = |error: AgentError| error.with("tool_id", id.as_str());
        match tools.agent_of(id) {
            Some(agent) => self.check_agent(&agent).map_err(off)?,
            None => self.check_enabled()?,
        }
        if self.profile.settings().switches.tool(tool) {
            return Ok(());
        }
        Err(off(AgentError::new(
            ErrorCode::AgentDisabled,
            text!("The tool {tool} is switched off.", tool = id),
        )
        .reason("tool_off")
        .hint("Switch it on in Tools.")))
    }

    /// Checks that a specialist exists and is switched on.
    pub(crate) fn check_specialist(
        &self,
        roster: &dyn Roster,
        id: &AgentId,
    ) -> Result<(), AgentError> {
        let agents = roster.agents();
        if agents.iter().any(|agent| agent.id == *id) {
            return self.check_agent(id);
        }
        let known: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
        let hint = if known.is_empty() {
            "No pack brings one.".into()
        } else {
            text!("There are: {names}.", names = known.join(", "))
        };
        Err(AgentError::invalid(text!("There is no specialist {agent}.", agent = id))
            .reason(Reason::NotFound)
            .hint(hint))
    }

    /// Fails if any of these tools to which the id may refer is switched off.
    pub(crate) fn check_tools_named(
        &self,
        tools: &dyn Tools,
        id: &ToolId,
    ) -> Result<(), AgentError> {
        self.check_enabled()?;
        let specs = tools.specs();
        let mut named = specs.iter().filter(|spec| spec.is_named(id));
        named.try_for_each(|spec| self.check_tool_of(tools, spec))
    }
}
