//! The shop: products, variants and carts as blocks of an answer, and the products that a message
//! refers to.

pub(crate) mod cards;
pub(crate) mod choices;
pub(crate) mod compare;
pub(crate) mod memory;
pub(crate) mod references;
pub(crate) mod refine;
pub(crate) mod tools;

use std::sync::Arc;

use contract::PackId;
pub(crate) use shop_adapter::{
    cart::{Cart, lines},
    names_a_dimension,
    product::{Variant, items},
    read,
};

/// The pack whose tools the chat API offers.
pub const PACK: &str = shop_adapter::SHOP;

/// Returns the packs that callers of the chat API can use.
pub fn served_packs() -> Arc<[PackId]> {
    Arc::from([PackId::from(PACK)])
}
