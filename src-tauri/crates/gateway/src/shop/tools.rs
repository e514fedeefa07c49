//! The names of the shop's tools that models and callers of the chat API see.

pub(crate) const SEARCH: &str = "product_search";
pub(crate) const GET: &str = "product_get";
pub(crate) const CART: &str = "cart_get";
pub(crate) const ADD: &str = "cart_add_item";
pub(crate) const SET_QUANTITY: &str = "cart_set_item_quantity";
pub(crate) const REMOVE: &str = "cart_remove_item";

/// The manifest's id of the tool that removes a cart line.
pub(crate) use shop_adapter::tools::REMOVE as REMOVE_ID;

/// Whether a tool reads or changes the cart.
pub(crate) fn is_of_cart(tool: &str) -> bool {
    tool.starts_with("cart_")
}
