//! Finds the pack to which a named view belongs. A pack provides a view if one of its own tools
//! names the pack and the view.

use contract::{PackId, ResultView, result::Shape};

use crate::{fault::Faults, loaded::LoadedPack};

/// Completes views for which a manifest gives only the name. A view that no pack provides becomes a
/// plain view, with a warning.
pub(crate) fn complete_names(loaded: &mut [LoadedPack]) {
    let known = views_of(loaded);
    for one in loaded {
        let Some(pack) = &mut one.pack else { continue };
        let mut warnings = Faults::default();
        for (index, tool) in pack.tools.iter_mut().enumerate() {
            let Shape::Named { pack, view } = &tool.view.shape else { continue };
            match known.iter().find(|known| is_meant(known, pack.as_ref(), view)) {
                Some(found) if pack.is_none() => tool.view.clone_from(found),
                Some(_) => {}
                None => {
                    warnings.at(
                        format!("/tools/tools/{index}/view"),
                        format!("no pack has a view `{view}`; the result is shown as it is"),
                        "use the name of a view of a pack that ships, or declare a shape",
                    );
                    tool.view = ResultView::default();
                }
            }
        }
        one.view.warnings.extend(warnings.into_vec());
    }
}

/// Returns the views that packs provide, pinned views first.
fn views_of(loaded: &[LoadedPack]) -> Vec<ResultView> {
    let packs = loaded.iter().filter_map(|one| one.pack.as_ref());
    let tools = packs.flat_map(|pack| &pack.tools);
    let is_own = |pack: &PackId, view: &ResultView| matches!(&view.shape, Shape::Named { pack: Some(owner), .. } if owner == pack);
    let mut views: Vec<ResultView> =
        tools.filter(|tool| is_own(&tool.pack, &tool.view)).map(|tool| tool.view.clone()).collect();
    views.sort_by_key(|view| !view.pinned);
    views
}

fn is_meant(known: &ResultView, pack: Option<&PackId>, name: &str) -> bool {
    match &known.shape {
        Shape::Named { pack: owner, view } => {
            view == name && (pack.is_none() || pack == owner.as_ref())
        }
        _ => false,
    }
}
