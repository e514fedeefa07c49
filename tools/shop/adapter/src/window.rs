//! Results as the window draws them: found products, one product, a cart. Each result is read once
//! from the shop's data. Shops use different names, and a missing or invalid member is left out.
//! The TypeScript types are generated from these. This file must not know windows.

use std::collections::BTreeSet;

use contract::amounts;
use serde::Serialize;
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{
    product::{self, Dimension},
    read::{first, number, text},
};

/// A result as its view draws it.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "view", rename_all = "snake_case")]
pub enum ParsedResult {
    ProductCards(SearchView),
    Product(Box<ProductView>),
    Cart(CartView),
}

impl ParsedResult {
    /// Reads a result. Returns None if the data is not a result of this view of the shop.
    pub fn read(view: &str, data: &Value) -> Option<Self> {
        match view {
            "product_cards" => Some(Self::ProductCards(SearchView::read(data))),
            "product" => ProductView::read(data).map(|product| Self::Product(Box::new(product))),
            "cart" => CartView::read(data).map(Self::Cart),
            _ => None,
        }
    }
}

/// An amount of money, or the text that the shop writes instead, such as "on request".
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(untagged)]
pub enum Price {
    Number(f64),
    Text(String),
}

impl Price {
    /// Reads an amount. "1349.00", "1 349,00 kr" and {value: 1349} are equal.
    fn read(value: &Value) -> Option<Self> {
        if let Some(number) = value.as_f64() {
            return Some(Self::Number(number));
        }
        let text = text(value).or_else(|| first(value, &product::AMOUNTS))?;
        let read = amounts::read(&text).and_then(|amount| amounts::plain(amount).parse().ok());
        Some(read.map_or(Self::Text(text), Self::Number))
    }

    /// Returns the first of these members that is a number, or else the first that is a text.
    fn first(source: &Value, names: &[&str]) -> Option<Self> {
        let mut found: Vec<Self> =
            names.iter().filter_map(|name| Self::read(&source[*name])).collect();
        let at = found.iter().position(|price| matches!(price, Self::Number(_))).unwrap_or(0);
        (at < found.len()).then(|| found.swap_remove(at))
    }

    fn price_of_product(source: &Value) -> Option<Self> {
        Self::first(source, &["priceIncVat", "price", "priceExVat"])
    }
}

/// The stock of a product or variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
pub struct StockView {
    /// The number of pieces. None if the shop does not report it.
    pub pieces: Option<f64>,
    /// The day of the next delivery.
    pub expected: Option<String>,
    /// Whether the shop no longer sells the product, even if there are pieces in stock.
    pub is_inactive: bool,
    /// Whether the product can be delivered now.
    pub is_available: bool,
}

impl StockView {
    fn read(on_hand: &Value) -> Self {
        let pieces = number(&on_hand["value"]);
        let is_inactive = on_hand["isActive"] == false;
        Self {
            pieces,
            expected: text(&on_hand["nextDeliveryDate"]),
            is_inactive,
            is_available: !is_inactive && pieces.unwrap_or(0.0) > 0.0,
        }
    }
}

/// A variant of a product.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct VariantView {
    pub part_no: Option<String>,
    pub label: String,
    pub price: Option<Price>,
    pub stock: StockView,
    /// Whether the shop sells the variant, in stock or not. If the shop does not say, this is true.
    pub is_buyable: bool,
    /// The part number with which the variant can be put into the cart now, if it can.
    pub part_to_add: Option<String>,
    pub dimensions: Vec<Dimension>,
}

impl VariantView {
    fn read(source: &Value) -> Self {
        let dimensions = product::dimensions(source);
        let named = || {
            let values: Vec<&str> = dimensions.iter().map(|one| one.value.as_str()).collect();
            Some(values.join(", ")).filter(|values| !values.is_empty())
        };
        let (part_no, stock) = (text(&source["partNo"]), StockView::read(&source["onHand"]));
        let is_buyable = buyable(source).unwrap_or(true);
        Self {
            label: text(&source["variantName"])
                .or_else(named)
                .or_else(|| first(source, &["name", "partNo"]))
                .unwrap_or_else(|| "?".into()),
            price: Price::price_of_product(source),
            part_to_add: part_no.clone().filter(|_| is_buyable && stock.is_available),
            part_no,
            stock,
            is_buyable,
            dimensions,
        }
    }
}

/// A product.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct ProductView {
    pub id: String,
    pub part_no: Option<String>,
    pub name: String,
    pub variant_name: Option<String>,
    pub description: Option<String>,
    pub brand: Option<String>,
    /// Further properties besides name and price, by the shop's own names.
    #[ts(type = "Record<string, string>")]
    pub attributes: Map<String, Value>,
    pub price: Option<Price>,
    pub currency: Option<String>,
    pub image: Option<String>,
    pub stock: StockView,
    /// Whether the shop sells the product, in stock or not. If the shop does not say, this is true.
    pub is_buyable: bool,
    /// The part number with which the product can be put into the cart now, if it can.
    pub part_to_add: Option<String>,
    pub variants: Vec<VariantView>,
}

impl ProductView {
    /// Reads a product. Returns None without an id or a name.
    pub fn read(source: &Value) -> Option<Self> {
        let variants: Vec<VariantView> =
            list(&source["variants"]).iter().map(VariantView::read).collect();
        // If a product has variants, the variants decide whether it can be bought.
        let is_buyable = !variants.is_empty() || buyable(source).unwrap_or(true);
        let attributes = attributes(source);
        let named = |name: &str| attributes.get(name).and_then(Value::as_str).map(str::to_owned);
        let product = Self {
            id: first(source, &product::IDS)?,
            name: first(source, &product::NAMES)?,
            part_no: text(&source["partNo"]),
            variant_name: text(&source["variantName"]),
            description: text(&source["description"]),
            brand: named("brand")
                .or_else(|| named("manufacturer"))
                .or_else(|| text(&source["manufacturerName"])),
            attributes,
            price: Price::price_of_product(source),
            currency: first(&source["price"], &product::CURRENCIES)
                .or_else(|| first(source, &product::CURRENCIES)),
            image: image(source),
            stock: StockView::read(&source["onHand"]),
            is_buyable: false,
            part_to_add: None,
            variants,
        };
        Some(product.with_buyable(is_buyable))
    }

    fn with_buyable(self, is_buyable: bool) -> Self {
        let part_to_add = self.part_no.clone().filter(|_| is_buyable && self.stock.is_available);
        Self { is_buyable, part_to_add, ..self }
    }
}

/// A refinement that a search offers: other words, or the search without some of its words or
/// filters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
pub struct RefinementView {
    pub query: Option<String>,
    /// The words and the names of filters that the refinement leaves out.
    pub without: Vec<String>,
}

impl RefinementView {
    fn read(offered: &Value) -> Self {
        let payload = &offered["payload"];
        let without = list(&payload["constraintsToRemove"]).iter().filter_map(Value::as_str);
        Self { query: text(&payload["query"]), without: without.map(str::to_owned).collect() }
    }
}

/// The products that a search found.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct SearchView {
    pub products: Vec<ProductView>,
    /// The number of all products that the search found, including those that the result does not
    /// contain.
    pub total: f64,
    pub refinements: Vec<RefinementView>,
}

impl SearchView {
    pub fn read(data: &Value) -> Self {
        let products: Vec<ProductView> = product::items(data)
            .iter()
            .filter_map(ProductView::read)
            // A found product may have variants that the result does not contain.
            .map(|product| product.with_buyable(true))
            .collect();
        #[allow(clippy::cast_precision_loss, reason = "a result holds few products")]
        let shown = products.len() as f64;
        Self {
            total: number(&data["totalCount"]).unwrap_or(0.0).max(shown),
            products,
            refinements: list(&data["refinements"]).iter().map(RefinementView::read).collect(),
        }
    }
}

/// A line of a cart.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct CartLineView {
    /// The part number; empty for freight and fees.
    pub part_no: String,
    pub name: String,
    pub quantity: f64,
    pub unit: Option<Price>,
    pub total: Option<Price>,
    pub image: Option<String>,
}

impl CartLineView {
    fn read(line: &Value) -> Self {
        Self {
            part_no: first(line, &["partNo", "productId", "id"]).unwrap_or_default(),
            name: first(line, &["name", "title", "partNo"]).unwrap_or_else(|| "?".into()),
            quantity: number(&line["quantity"]).unwrap_or(0.0),
            unit: Price::first(line, &["unitPrice", "price"]),
            total: Price::first(line, &["totalPrice", "lineTotal", "total"]),
            image: first(line, &["imageKey", "imageUrl"]),
        }
    }
}

/// A cart.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct CartView {
    pub lines: Vec<CartLineView>,
    pub total: Option<Price>,
    pub currency: Option<String>,
}

impl CartView {
    /// Reads the cart of a result, given directly or within `basket` or `cart`. Returns None if the
    /// result is empty.
    pub fn read(data: &Value) -> Option<Self> {
        if data.is_null() {
            return None;
        }
        let cart = ["basket", "cart"].iter().find_map(|name| data.get(name)).unwrap_or(data);
        let lines = ["items", "lineItems", "cartItems"]
            .iter()
            .map(|name| &cart[*name])
            .find(|lines| !lines.is_null());
        Some(Self {
            lines: lines.map_or(&[][..], list).iter().map(CartLineView::read).collect(),
            total: Price::first(cart, &["total", "grandTotal", "subtotal"]),
            currency: first(cart, &product::CURRENCIES),
        })
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns whether the shop sells the product. Returns None if the shop does not say.
fn buyable(source: &Value) -> Option<bool> {
    let said = [&source["isBuyable"], &source["attributes"]["isBuyable"]]
        .into_iter()
        .find(|value| !value.is_null())?;
    let said = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
    Some(!said.trim().eq_ignore_ascii_case("false"))
}

fn image(source: &Value) -> Option<String> {
    let of_list = || {
        let pictures = list(&source["images"]);
        let main = pictures.iter().find(|picture| picture["type"] == "main");
        let main = main.or_else(|| pictures.first())?;
        text(main).or_else(|| first(main, &["url", "src", "imageUrl"]))
    };
    first(source, &product::IMAGES).or_else(of_list).or_else(|| text(&source["thumbnailImageKey"]))
}

/// Returns the properties that products of every shop may have, then the shop's own, each once.
fn attributes(source: &Value) -> Map<String, Value> {
    let common = product::ATTRIBUTES.iter().map(|name| ((*name).to_owned(), &source[*name]));
    let own = source["attributes"].as_object().into_iter().flatten();
    let own =
        own.filter(|(name, _)| *name != "isBuyable").map(|(name, value)| (name.clone(), value));
    let mut known = BTreeSet::new();
    common
        .chain(own)
        .filter_map(|(name, value)| Some((name, text(value)?)))
        .filter(|(name, _)| known.insert(name.to_lowercase()))
        .map(|(name, value)| (name, Value::from(value)))
        .collect()
}

#[cfg(test)]
mod tests;
