//! The one table of packs that ship with code of their own. The window and `csign` pass it to the
//! host, which knows no pack by name.

use std::sync::Arc;

use campaign_portfolio_pacing::{EarlierPacing, PacingSample};
use contract::{ResultView, pack_code::PackCode, result::read_content};
use serde_json::{Value, to_value};
use shop_adapter::{ParsedResult, ShopAdapter};

/// The code of all packs that ship.
pub fn all() -> PackCode {
    PackCode {
        adapters: vec![Arc::new(ShopAdapter)],
        samples: vec![Arc::new(PacingSample)],
        earlier: vec![Arc::new(EarlierPacing)],
    }
}

/// Returns the content that a window draws for a result of any pack. None if the data cannot be
/// read as this view, or if the window reads the data itself.
pub fn parse_result(view: &ResultView, data: &Value) -> Option<Value> {
    match view.named() {
        Some(name) => to_value(ParsedResult::read(name, data)?).ok(),
        None => to_value(read_content(view, data)?).ok(),
    }
}
