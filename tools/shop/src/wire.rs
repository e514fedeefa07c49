//! The types of the answers of `product.search`, `product.get` and the cart tools. Field names
//! follow the shop's contract.

use serde::Serialize;

/// Stock of a product or variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OnHand {
    pub value: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incoming_value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_delivery_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leadtime_day_count: Option<i64>,
    pub is_active: bool,
}

/// A line of a search result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchItem {
    pub product_id: i64,
    pub part_no: String,
    pub name: String,
    pub variant_name: Option<String>,
    pub description: String,
    pub price: String,
    pub currency: &'static str,
    pub image_url: String,
    pub thumbnail_image_key: String,
    pub on_hand: OnHand,
    pub brand: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    pub material: String,
    pub category: String,
    pub attributes: serde_json::Map<String, serde_json::Value>,
}

/// The answer to `product.search`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    pub items: Vec<SearchItem>,
    pub total_count: usize,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Image {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub url: String,
}

/// One dimension of a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Parametric {
    pub name: String,
    pub value: String,
    pub code: &'static str,
    pub is_primary: bool,
}

/// A variant of a product.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VariantView {
    pub product_id: i64,
    pub part_no: String,
    pub variant_name: String,
    pub is_buyable: bool,
    pub on_hand: OnHand,
    pub price_inc_vat: String,
    pub currency: &'static str,
    pub variant_parametrics: Vec<Parametric>,
    pub ean_code: String,
}

/// The answer to `product.get`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductView {
    pub product_id: i64,
    pub unique_name: String,
    pub part_no: String,
    pub name: String,
    pub variant_name: Option<String>,
    pub description: String,
    pub price_inc_vat: String,
    pub price_ex_vat: String,
    pub currency: &'static str,
    pub manufacturer_name: String,
    pub images: Vec<Image>,
    pub attributes: serde_json::Map<String, serde_json::Value>,
    pub on_hand: OnHand,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantView>,
}

/// A line of a cart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CartLine {
    pub line_no: i64,
    pub product_id: i64,
    pub part_no: String,
    pub name: String,
    pub quantity: i64,
    pub image_key: String,
    pub unit_price: String,
    pub total_price: String,
}

/// A cart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CartView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basket_id: Option<i64>,
    pub currency_code: &'static str,
    pub items: Vec<CartLine>,
    pub subtotal: String,
    pub total: String,
}

/// The answer to a change of a cart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CartChanged {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basket_id: Option<i64>,
    pub basket: CartView,
}
