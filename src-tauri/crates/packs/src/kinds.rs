//! Defines the kinds of tools: the manifest member that describes each kind, its checks, and its
//! call target. Limits, retries and approvals are the same for all kinds and are defined elsewhere.

use contract::{
    ToolTarget,
    manifest::{Kind, ToolEntry},
};
use serde_json::{Map, Value};

use crate::{
    check::targets,
    fault::{Faults, join},
    subject::{Subject, list, present, text},
    urls,
};

/// Returns the member that describes a tool of this kind, and a hint for a manifest without the
/// member. Returns None if the kind is not supported.
fn member_of(kind: Kind) -> Option<(&'static str, &'static str)> {
    match kind {
        Kind::InternalService => Some(("service", "name the built-in service")),
        Kind::McpServer => Some(("mcp", "add `mcp` with `server` and `tool`")),
        Kind::HttpApi => Some(("http", "add `http` with at least `url`")),
        Kind::Other => Some(("program", "add `program` with at least `command`")),
        Kind::Database | Kind::Queue | Kind::Filesystem => None,
    }
}

/// Returns the target of a tool. Returns none if its member is missing or its kind is not
/// supported.
pub(crate) fn resolve_target(
    tool: &ToolEntry,
    settings: &Map<String, Value>,
) -> Option<ToolTarget> {
    match tool.kind {
        Kind::InternalService => Some(ToolTarget::BuiltIn { service: tool.service.clone()? }),
        Kind::McpServer => {
            let mcp = tool.mcp.clone()?;
            Some(ToolTarget::Mcp { server: mcp.server, tool: mcp.tool })
        }
        Kind::HttpApi => {
            let mut call = tool.http.clone()?;
            call.url = urls::with_setting(&call.url, settings)?;
            Some(ToolTarget::Http { call: Box::new(call) })
        }
        Kind::Other => Some(ToolTarget::Program { call: Box::new(tool.program.clone()?) }),
        Kind::Database | Kind::Queue | Kind::Filesystem => None,
    }
}

/// Checks that a tool has only the member of its kind, and checks that member.
pub(crate) fn check(subject: &Subject<'_>, at: &str, tool: &Value, faults: &mut Faults) {
    let Some(name) = text(tool, "kind") else { return };
    // The schema reports a kind that does not exist.
    let Ok(kind) = serde_json::from_value::<Kind>(Value::from(name)) else { return };
    if member_of(kind).is_none() {
        faults.at(
            join(at, "kind"),
            format!("tools of kind `{name}` are not supported"),
            "use `http_api`, `mcp_server`, `internal_service`, or `other` with a program",
        );
        return;
    }
    check_members(kind, name, at, tool, faults);
    match kind {
        Kind::McpServer => check_server(subject, at, tool, faults),
        Kind::HttpApi => targets::check_http(subject, at, tool, faults),
        Kind::Other => targets::check_program(subject, at, tool, faults),
        Kind::InternalService | Kind::Database | Kind::Queue | Kind::Filesystem => {}
    }
}

fn check_members(kind: Kind, name: &str, at: &str, tool: &Value, faults: &mut Faults) {
    for other in Kind::SUPPORTED {
        let Some((member, fix)) = member_of(other) else { continue };
        match (other == kind, present(tool, member).is_some()) {
            (true, false) => {
                faults.at(join(at, member), format!("kind `{name}` needs `{member}`"), fix)
            }
            (false, true) => faults.at(
                join(at, member),
                format!("`{member}` does not belong to kind `{name}`"),
                "remove it or change the kind",
            ),
            (true, true) | (false, false) => {}
        }
    }
}

fn check_server(subject: &Subject<'_>, at: &str, tool: &Value, faults: &mut Faults) {
    let Some(server) = tool.get("mcp").and_then(|mcp| text(mcp, "server")) else { return };
    if !list(subject.manifest.get("servers")).any(|s| text(s, "name") == Some(server)) {
        faults.at(
            format!("{at}/mcp/server"),
            format!("`servers` has no `{server}`"),
            "add the server or correct the name",
        );
    }
}
