//! Commands for developers of Countersign, such as running the MCP client against a test server
//! without a profile.

use contract::AgentError;
use host::mcp_dev::{self, Scenario};

use crate::{
    exit::{Exit, Failure},
    out::Out,
};

/// Signs in, lists the tools and calls each tool. The conformance suite passes the scenario in
/// environment variables.
pub(crate) fn mcp_client(out: Out, url: &str) -> Result<Exit, Failure> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let context = serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    let scenario = Scenario { name: variable("MCP_CONFORMANCE_SCENARIO"), context };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        AgentError::internal("runtime", format!("csign cannot start: {error}."))
    })?;
    let results = runtime.block_on(mcp_dev::run(url, &scenario))?;
    for result in &results {
        out.print_line(result.to_string());
    }
    Ok(Exit::Done)
}
