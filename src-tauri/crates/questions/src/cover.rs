//! Finds the cheapest ways to read all words of a question, one edge after another. The number of
//! ways that are kept at each word is bounded, so the time is linear in the length of the text.

use crate::{
    edges::Edge,
    items::{Atom, Item},
    meaning::Meaning,
};

/// The number of ways that are kept at each word.
const KEPT: usize = 8;

/// A way to read all words.
#[derive(Clone, Debug)]
pub(crate) struct Cover {
    /// The parts, in the order of the text.
    pub items: Vec<Item>,
    /// The cost.
    pub cost: u32,
}

#[derive(Clone, Copy)]
struct Step {
    cost: u32,
    /// The token at which the last edge begins, its place there, and the way before it.
    from: usize,
    edge: usize,
    before: usize,
}

/// Returns the cheapest covers, the cheapest first.
pub(crate) fn covers(edges: &[Vec<Edge>]) -> Vec<Cover> {
    let mut best: Vec<Vec<Step>> = vec![Vec::new(); edges.len() + 1];
    best[0].push(Step { cost: 0, from: 0, edge: 0, before: 0 });
    for at in 0..edges.len() {
        best[at].sort_by_key(|step| step.cost);
        best[at].truncate(KEPT);
        for before in 0..best[at].len() {
            let cost = best[at][before].cost;
            for (place, edge) in edges[at].iter().enumerate() {
                let step = Step { cost: cost + edge.cost, from: at, edge: place, before };
                best[edge.tokens.end].push(step);
            }
        }
    }
    let mut last = best.pop().unwrap_or_default();
    last.sort_by_key(|step| step.cost);
    last.truncate(KEPT);
    best.push(last.clone());
    let mut found: Vec<Cover> = Vec::new();
    for step in last {
        let cover = Cover { items: items(edges, &best, step), cost: step.cost };
        let is_new = |other: &Cover| !other.items.iter().map(atom).eq(cover.items.iter().map(atom));
        if found.iter().all(is_new) {
            found.push(cover);
        }
    }
    found
}

fn atom(item: &Item) -> &Atom {
    &item.atom
}

/// Returns the parts of a way, from its last edge backwards.
fn items(edges: &[Vec<Edge>], best: &[Vec<Step>], last: Step) -> Vec<Item> {
    let mut items = Vec::new();
    let mut step = last;
    let mut end = edges.len();
    while end > 0 {
        let Some(edge) = edges.get(step.from).and_then(|edges| edges.get(step.edge)) else { break };
        for atom in edge.atoms.iter().rev() {
            items.push(Item {
                atom: atom.clone(),
                tokens: edge.tokens.clone(),
                correction: edge.correction.clone(),
                amounts: edge.amounts.clone(),
            });
        }
        end = step.from;
        match best.get(end).and_then(|steps| steps.get(step.before)) {
            Some(before) => step = *before,
            None => break,
        }
    }
    items.reverse();
    compare_with_periods(&mut items);
    items
}

/// Reads "higher than" before a period as a comparison with it.
fn compare_with_periods(items: &mut [Item]) {
    for at in 1..items.len() {
        let is_period = matches!(items[at].atom, Atom::Period { .. });
        let bound = &mut items[at - 1];
        let is_long = bound.tokens.len() > 1;
        if let Atom::Words(meanings) = &mut bound.atom
            && is_period
            && is_long
            && meanings.iter().any(|meaning| matches!(meaning, Meaning::Bound(_)))
            && !meanings.contains(&Meaning::Until)
        {
            meanings.push(Meaning::Versus);
        }
    }
}
