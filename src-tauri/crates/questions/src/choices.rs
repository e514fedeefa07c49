//! All readings of a question that names no figure, if several figures may be meant: amounts of which none
//! is plainly the main one, and the figures by which things may be the best. A question back has them as its
//! choices. It must not decide which readings count.

use contract::definitions::Calculation;

use crate::{
    central::{figures_of, main_choices, measure_of},
    compose::{Composed, compose},
    cover::Cover,
    items::{Atom, Item},
    meaning::{Meaning, Rank},
    outcome::{Assumed, Declined},
    scan::Scan,
};

/// Puts a question together, once for each figure that may be meant. None: words without a meaning are
/// beside a figure that the text does not name.
pub(crate) fn compose_all(
    scan: &Scan<'_>,
    cover: &Cover,
) -> Result<Vec<Composed>, (Declined, usize)> {
    let first = compose(scan, cover)?;
    let amounts = amounts_of(scan, &first);
    let is_unclear = amounts.len() > 1 || counts_unknown_things(&first);
    let is_of_others = is_unclear && assumes_measure(&first) && !first.left.is_empty();
    if is_of_others || names_unknown_amount(&first) {
        return Ok(Vec::new());
    }
    let best = best_by(scan, &first);
    let others = if best.is_empty() { amounts } else { best };
    let mut all = vec![first];
    for name in others {
        let other = compose(&scan.about(name), cover)?;
        if other.left.is_empty() && all.iter().all(|one| one.query != other.query) {
            all.push(other);
        }
    }
    Ok(all)
}

/// Whether a figure is shown that the text does not name.
fn assumes_measure(composed: &Composed) -> bool {
    composed.assumed.iter().any(|assumed| matches!(assumed, Assumed::Measure(_)))
}

/// Whether things are counted that no name is known of: another figure says nothing about them.
fn counts_unknown_things(composed: &Composed) -> bool {
    let is_count = |at: &&usize| composed.items[**at].means(&Meaning::Count);
    composed.left.iter().any(|at| is_count(&at) && composed.left.contains(&(at + 1)))
}

/// Whether a word that nobody knows may say which one of several amounts is meant: "spent on gardening".
fn names_unknown_amount(composed: &Composed) -> bool {
    let Composed { items, left, .. } = composed;
    let is_general = |item: &Item| matches!(item.atom, Atom::Measure(_)) && item.amounts.len() > 1;
    let general = items.iter().position(is_general);
    general
        .is_some_and(|general| left.iter().any(|at| *at > general && items[*at].atom == Atom::Left))
}

/// Returns the amounts that may be the main one, if the main one is shown.
fn amounts_of(scan: &Scan<'_>, composed: &Composed) -> Vec<String> {
    let assumed = composed.assumed.iter().find_map(|assumed| match assumed {
        Assumed::Measure(name) => Some(name),
        _ => None,
    });
    // An adjective such as "cheapest" says which figure it is about.
    let implies = |item: &Item| item.find(|m| matches!(m, Meaning::Implied(_)).then_some(()));
    let is_said = composed.items.iter().any(|item| implies(item).is_some());
    let Some(assumed) = assumed.filter(|_| !is_said && !lists_things(composed)) else {
        return Vec::new();
    };
    let all = main_choices(scan.source, scan.lexicon);
    if all.contains(assumed) { all } else { Vec::new() }
}

/// Whether things are asked for and no figure of them, so that any figure may stand beside them.
fn lists_things(composed: &Composed) -> bool {
    let Composed { items, query, .. } = composed;
    let ranks = |item: &Item| item.find(|m| matches!(m, Meaning::Rank(_)).then_some(()));
    let is_ranked = !query.order.is_empty()
        || query.top.is_some()
        || items.iter().any(|item| ranks(item).is_some());
    let groups = |item: &Item| {
        [Meaning::By, Meaning::Per, Meaning::Within].iter().any(|meaning| item.means(meaning))
    };
    let is_listed = |at: usize| {
        matches!(items[at].atom, Atom::Dimension { .. })
            && !at.checked_sub(1).is_some_and(|before| groups(&items[before]))
    };
    !is_ranked && !query.by.is_empty() && (0..items.len()).any(is_listed)
}

/// Returns the figures by which things may be the best or the worst, if the text names none.
fn best_by(scan: &Scan<'_>, composed: &Composed) -> Vec<String> {
    let items = &composed.items;
    let rank = items.iter().find_map(|item| {
        item.find(|meaning| match meaning {
            Meaning::Rank(rank @ (Rank::Best | Rank::Worst)) => Some(*rank),
            _ => None,
        })
    });
    let is_ranked = !composed.query.order.is_empty() || composed.query.top.is_some();
    if let Some(concepts) = items.iter().find_map(sold_by).filter(|_| is_ranked) {
        let named = concepts.iter();
        let known =
            named.filter_map(|concept| measure_of(scan.source, scan.lexicon, concept, false));
        let mut found: Vec<String> = known.collect();
        found.extend(main_choices(scan.source, scan.lexicon).into_iter().take(1));
        let names_figure = items.iter().any(|item| matches!(item.atom, Atom::Measure(_)));
        return if names_figure { Vec::new() } else { found };
    }
    let (Some(rank), true) = (rank, is_ranked && assumes_measure(composed)) else {
        return Vec::new();
    };
    let measures = &scan.source.definitions.measures;
    let is_count = |name: &String| {
        let calculation = measures.get(name).map(|measure| &measure.calculation);
        matches!(calculation, Some(Calculation::Distinct(_)))
    };
    let names_figure = items.iter().any(|item| match &item.atom {
        Atom::Measure(name) => !is_count(name),
        _ => false,
    });
    // The worst things of a source with a plan are those that are furthest off it.
    let is_judged = crate::central::verdict_of(scan.source)
        .is_some_and(|verdict| rank == Rank::Worst || items.iter().any(|i| judges(i, &verdict)));
    if names_figure || is_judged {
        return Vec::new();
    }
    let things = &composed.query.by;
    let counts_them = |name: &String| match measures.get(name).map(|one| &one.calculation) {
        Some(Calculation::Distinct(of)) => {
            things.iter().any(|group| crate::compose::name_of(group) == *of)
        }
        _ => false,
    };
    let mut figures = figures_of(scan.source, scan.lexicon);
    figures.retain(|name| !counts_them(name));
    figures
}

/// Returns the meanings of the figures that a word such as "best sellers" may be about.
fn sold_by(item: &Item) -> Option<&[String]> {
    let Atom::Words(meanings) = &item.atom else { return None };
    meanings.iter().find_map(|meaning| match meaning {
        Meaning::Implied(implied) if implied.things.is_some() => Some(implied.of.as_slice()),
        _ => None,
    })
}

/// Whether a part asks how things stand against a plan.
fn judges(item: &Item, verdict: &str) -> bool {
    match &item.atom {
        Atom::Dimension { name, .. } => name == verdict,
        Atom::Value { dimension, .. } | Atom::Values { dimension, .. } => dimension == verdict,
        Atom::Source => true,
        Atom::Words(meanings) => meanings.contains(&Meaning::Standing),
        Atom::Measure(_) | Atom::Number(_) | Atom::Period { .. } | Atom::Left => false,
    }
}
