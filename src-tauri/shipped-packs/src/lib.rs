//! The one table of packs that ship with code of their own. The window and `csign` hand it to the
//! host, which knows no pack by name.

use std::sync::Arc;

use campaign_portfolio_pacing::PacingService;
use contract::pack_code::PackCode;
use shop_adapter::ShopAdapter;

/// The code of all packs that ship.
pub fn all() -> PackCode {
    PackCode { adapters: vec![Arc::new(ShopAdapter)], services: vec![Arc::new(PacingService)] }
}
