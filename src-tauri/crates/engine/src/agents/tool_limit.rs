//! Chooses the tools of a request if there are more than the model's provider takes: those of packs
//! first, then those of servers. It knows nothing of prompts and calls.

use std::collections::BTreeSet;

use contract::{ToolSpec, ToolTarget};

/// The tools that a run may add to its own: one that asks specialists, and one that reads long results.
const ADDED: usize = 2;

/// Tools that fit, and what was left out.
pub(crate) struct Fitted<'a> {
    pub(crate) specs: Vec<&'a ToolSpec>,
    pub(crate) left_out: usize,
    /// The packs and servers that lose tools.
    pub(crate) of: BTreeSet<&'a str>,
}

/// Returns the tools for a provider that takes `most` of them, in their order.
pub(crate) fn fit(mut specs: Vec<&ToolSpec>, most: usize) -> Fitted<'_> {
    let most = most.saturating_sub(ADDED).max(1);
    if specs.len() <= most {
        return Fitted { specs, left_out: 0, of: BTreeSet::new() };
    }
    // The sort is stable.
    specs.sort_by_key(|spec| matches!(spec.target, ToolTarget::Mcp { .. }));
    let left_out = specs.split_off(most);
    let of = left_out.iter().map(|spec| spec.pack.as_str()).collect();
    Fitted { specs, left_out: left_out.len(), of }
}
