//! The shop pack's adapter between the shop's tools and the host: it normalises other shops'
//! formats, simplifies searches, and maps pictures. Does no I/O. Must not know the host, a
//! transport or a session.

pub mod cart;
mod normalize;
pub mod product;
pub mod read;
mod search;
mod sum;
pub mod window;

use contract::{
    AgentError,
    pack_code::{PackAdapter, PackCall, PictureResource},
};
use serde_json::Value;

pub use search::names_a_dimension;
pub use window::ParsedResult;

/// The id of the pack, which is also the name of its server.
pub const SHOP: &str = "shop";

/// The names of the shop's tools at its server.
pub mod tools {
    pub const SEARCH: &str = "product.search";
    pub const GET: &str = "product.get";
    pub const CART: &str = "cart.get";
    pub const ADD: &str = "cart.addItem";
    pub const SET_QUANTITY: &str = "cart.setItemQuantity";
    pub const REMOVE: &str = "cart.removeItem";
}

/// The adapter of the shop pack.
pub struct ShopAdapter;

impl PackAdapter for ShopAdapter {
    fn pack(&self) -> &'static str {
        SHOP
    }

    fn arguments(&self, call: &PackCall<'_>, arguments: Value) -> Value {
        let arguments = if call.is_read && call.caller.is_remote() {
            search::simplify_search_arguments(call.tool, arguments)
        } else {
            arguments
        };
        if call.is_remote {
            normalize::normalize_arguments(call.tool, arguments)
        } else {
            arguments
        }
    }

    fn known(&self, call: &PackCall<'_>, arguments: &Value) -> Option<Result<Value, AgentError>> {
        if call.is_remote { normalize::known(call.tool, arguments) } else { None }
    }

    fn answer(&self, call: &PackCall<'_>, answer: Value) -> Value {
        let answer =
            if call.is_remote { normalize::normalize_result(call.tool, answer) } else { answer };
        if call.is_read && call.tool == tools::SEARCH { search::with_items(answer) } else { answer }
    }

    fn follow_up_arguments(
        &self,
        call: &PackCall<'_>,
        sent: &Value,
        answer: &Value,
    ) -> Option<Value> {
        if call.is_read && call.tool == tools::SEARCH {
            search::Search::of(call).broader(sent, answer)
        } else {
            None
        }
    }

    fn result(&self, call: &PackCall<'_>, answer: Value, is_second: bool) -> Value {
        match call.tool {
            tools::SEARCH => search::Search::of(call).completed(answer, is_second),
            tools::GET if call.caller.is_remote() => search::with_few_variants(answer),
            _ => answer,
        }
    }

    fn picture(&self, path: &str) -> Option<PictureResource> {
        let id = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".svg");
        Some(PictureResource { server: SHOP, uri: format!("shop-image://{id}") })
    }
}
