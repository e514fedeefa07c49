//! Finds the results that are kept visible beside a conversation: the newest result of each place.

use contract::{
    Item, ItemBody, ItemsPageResponse, ResultView, SessionId, ToolId, ToolOutcome, ToolSpec,
    result::Shape,
};

use crate::ports::{Store, StoreError};

/// The tools whose newest result is kept visible, one for each place.
pub(super) struct Pins(Vec<(ToolId, ResultView)>);

impl Pins {
    pub(super) fn of(specs: &[ToolSpec]) -> Self {
        let mut pins: Vec<(ToolId, ResultView)> = Vec::new();
        for spec in specs.iter().filter(|spec| spec.view.pinned) {
            if !pins.iter().any(|(tool, view)| view.shares_place(tool, &spec.view, &spec.id)) {
                pins.push((spec.id.clone(), spec.view.clone()));
            }
        }
        Self(pins)
    }

    /// Completes the views of results stored by an earlier version, which contain only the views'
    /// names.
    pub(super) fn complete(&self, items: &mut [Item]) {
        for item in items {
            let ItemBody::ToolResult { tool, view, .. } = &mut item.body else { continue };
            if !matches!(view.shape, Shape::Named { pack: None, .. }) {
                continue;
            }
            if let Some((_, known)) = self.0.iter().find(|pin| shows(pin, tool, view)) {
                view.clone_from(known);
            }
        }
    }

    /// Returns the newest result of each place that is not on the newest page.
    pub(super) async fn find_older(
        &self,
        store: &dyn Store,
        session: &SessionId,
        page: &ItemsPageResponse,
    ) -> Result<Vec<Item>, StoreError> {
        let Some(first) = page.items.first().filter(|_| page.has_more) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for pin in &self.0 {
            let is_shown = |item: &Item| matches!(&item.body, ItemBody::ToolResult { tool, view, outcome: ToolOutcome::Ok, .. } if shows(pin, tool, view));
            if !page.items.iter().any(is_shown) {
                found.extend(store.newest_shown(session, &pin.0, &pin.1, first.seq).await?);
            }
        }
        self.complete(&mut found);
        Ok(found)
    }
}

fn shows((tool, view): &(ToolId, ResultView), of: &ToolId, shown: &ResultView) -> bool {
    view.shares_place(tool, shown, of)
}
