//! Checks the content of a board before it is stored. Pure: it must not know where boards are stored.

use std::collections::BTreeSet;

use contract::{
    AgentError, BoardContent, Reason, TileId,
    boards::{LONGEST_TITLE, MOST_FILTERS, MOST_TILES, Tile, TileView, TileWidth},
    text,
};

/// Returns the content with trimmed names, if it can be stored.
pub(super) fn check_content(mut content: BoardContent) -> Result<BoardContent, AgentError> {
    trim(&mut content.name);
    if content.name.is_empty() {
        return Err(refused("A board needs a name."));
    }
    content.tiles.iter_mut().for_each(|tile| trim(&mut tile.title));
    let titles = content.tiles.iter().map(|tile| &tile.title);
    if titles.chain([&content.name]).any(|title| title.chars().count() > LONGEST_TITLE) {
        return Err(refused(text!(
            "A name has at most {count} characters.",
            count = LONGEST_TITLE
        )));
    }
    if content.tiles.len() > MOST_TILES {
        return Err(refused(text!("A board has at most {count} tiles.", count = MOST_TILES))
            .hint("Make another board."));
    }
    if content.filters.len() > MOST_FILTERS {
        return Err(refused(text!("A board has at most {count} filters.", count = MOST_FILTERS)));
    }
    let ids: BTreeSet<&TileId> = content.tiles.iter().map(|tile| &tile.id).collect();
    if ids.len() < content.tiles.len() {
        return Err(refused("Two tiles have the same identifier."));
    }
    Ok(content)
}

/// Whether two contents differ at most in their layout: the order of tiles, their widths, views and
/// kinds of chart.
pub(super) fn is_layout_alone(before: &BoardContent, after: &BoardContent) -> bool {
    let without_layout = |content: &BoardContent| {
        let plain = |tile: &Tile| Tile {
            view: TileView::default(),
            chart: None,
            width: TileWidth::default(),
            ..tile.clone()
        };
        let mut tiles: Vec<Tile> = content.tiles.iter().map(plain).collect();
        tiles.sort_by(|a, b| a.id.cmp(&b.id));
        BoardContent { tiles, ..content.clone() }
    };
    without_layout(before) == without_layout(after)
}

fn trim(name: &mut String) {
    let trimmed = name.trim();
    if trimmed.len() != name.len() {
        *name = trimmed.to_owned();
    }
}

fn refused(message: impl Into<contract::Text>) -> AgentError {
    AgentError::invalid(message).reason(Reason::Validation)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content(name: &str, tiles: &[(&str, &str)]) -> BoardContent {
        let tile = |(id, title): &(&str, &str)| {
            json!({"id": id, "title": title, "query": {"measures": ["spend"]},
                   "view": "table", "width": "half"})
        };
        let tiles: Vec<_> = tiles.iter().map(tile).collect();
        serde_json::from_value(json!({"name": name, "filters": [], "tiles": tiles})).unwrap()
    }

    #[test]
    fn a_content_needs_a_name_and_tiles_that_can_be_told_apart() {
        let checked = check_content(content("  Weekly ", &[("a", " Spend "), ("b", "")])).unwrap();
        assert_eq!((checked.name.as_str(), checked.tiles[0].title.as_str()), ("Weekly", "Spend"));
        let long = "x".repeat(LONGEST_TITLE + 1);
        let many: Vec<String> = (0..=MOST_TILES).map(|number| number.to_string()).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|id| (id.as_str(), "")).collect();
        for wrong in [
            content(" ", &[]),
            content(&long, &[]),
            content("Weekly", &[("a", long.as_str())]),
            content("Weekly", &[("a", ""), ("a", "")]),
            content("Weekly", &many),
        ] {
            assert!(check_content(wrong).unwrap_err().has_reason(Reason::Validation));
        }
    }

    #[test]
    fn the_layout_is_the_order_the_width_and_the_view() {
        let before = content("Weekly", &[("a", ""), ("b", "")]);
        let mut moved = content("Weekly", &[("b", ""), ("a", "")]);
        moved.tiles[0].width = TileWidth::Full;
        moved.tiles[1].view = TileView::Chart;
        assert!(is_layout_alone(&before, &moved));
        assert!(!is_layout_alone(&before, &content("Daily", &[("a", ""), ("b", "")])));
        assert!(!is_layout_alone(&before, &content("Weekly", &[("a", "")])));
        assert!(!is_layout_alone(&before, &content("Weekly", &[("a", "Cost"), ("b", "")])));
    }
}
