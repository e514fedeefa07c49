//! Chooses the tools of a request if there are more than the model's provider accepts: first the
//! tools of packs, then the tools of servers.

use std::collections::BTreeSet;

use contract::{ToolSpec, ToolTarget};

/// The number of tools that a run may add: a tool for routing, and a tool for reading long results.
const ADDED: usize = 2;

/// The tools that fit, and information about omitted tools.
pub(crate) struct Fitted<'a> {
    pub(crate) specs: Vec<&'a ToolSpec>,
    pub(crate) left_out: usize,
    /// The packs and servers whose tools are omitted.
    pub(crate) of: BTreeSet<&'a str>,
}

/// Returns the tools for a provider that accepts `most` tools, in their order.
pub(crate) fn fit(mut specs: Vec<&ToolSpec>, most: usize) -> Fitted<'_> {
    let most = most.saturating_sub(ADDED).max(1);
    if specs.len() <= most {
        return Fitted { specs, left_out: 0, of: BTreeSet::new() };
    }
    // The sort is stable, so the order within packs and servers is kept.
    specs.sort_by_key(|spec| matches!(spec.target, ToolTarget::Mcp { .. }));
    let left_out = specs.split_off(most);
    let of = left_out.iter().map(|spec| spec.pack.as_str()).collect();
    Fitted { specs, left_out: left_out.len(), of }
}
