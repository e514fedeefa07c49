//! Reads a cart from the formats of different shops. Amounts keep their text, together with the
//! number in it.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::read::{first, numeral, text};

/// The most lines of a cart that are shown. The item count includes all lines.
const LINES: usize = 20;

/// An amount as the shop wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    pub formatted: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
}

impl Amount {
    /// Reads an amount, given directly or within an object.
    fn read(raw: &Value, currency: Option<&String>) -> Option<Self> {
        let raw = text(raw).or_else(|| first(raw, &["value", "amount"]))?;
        let digits: String = raw
            .chars()
            .filter(|c| c.is_ascii_digit() || matches!(c, ',' | '.'))
            .collect::<String>()
            .replacen(',', ".", 1);
        // A discount is a line with a negative amount.
        let sign = if raw.starts_with(['-', '\u{2212}']) { -1.0 } else { 1.0 };
        let amount = digits.parse::<f64>().ok().map(|amount| sign * amount);
        Some(Self { formatted: raw, amount, currency: currency.cloned() })
    }
}

/// A line of a cart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CartLine {
    pub product_id: String,
    pub quantity: Number,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Amount>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CartTotals {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtotal: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Amount>,
}

/// A cart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cart {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cart_id: Option<String>,
    /// The number of all lines, including those that are not shown.
    pub item_count: usize,
    #[serde(rename = "items")]
    pub lines: Vec<CartLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<CartTotals>,
}

impl Cart {
    /// Reads the cart of a result, given directly or within `basket` or `cart`.
    pub fn read(data: &Value) -> Option<Self> {
        let cart = [&data["basket"], &data["cart"]]
            .into_iter()
            .find(|inner| inner.is_object())
            .unwrap_or(data);
        if !cart.is_object() {
            return None;
        }
        let currency = currency(cart).or_else(|| self::currency(data));
        let lines = lines(cart);
        let total = |names: &[&str]| {
            names.iter().find_map(|name| Amount::read(&cart[*name], currency.as_ref()))
        };
        let totals =
            CartTotals { subtotal: total(&["subtotal"]), total: total(&["total", "grandTotal"]) };
        Some(Self {
            cart_id: text(&cart["basketId"]).or_else(|| text(&data["basketId"])),
            item_count: lines.len(),
            lines: lines
                .iter()
                .filter_map(|line| read_line(line, currency.as_ref()))
                .take(LINES)
                .collect(),
            totals: (totals != CartTotals::default()).then_some(totals),
        })
    }
}

/// Returns the lines of a cart.
pub fn lines(cart: &Value) -> &[Value] {
    let cart = if cart["cart"].is_object() { &cart["cart"] } else { cart };
    ["items", "lineItems", "cartItems"]
        .iter()
        .find_map(|name| cart[*name].as_array())
        .map_or(&[], Vec::as_slice)
}

fn read_line(line: &Value, of_cart: Option<&String>) -> Option<CartLine> {
    let currency = currency_of_line(line).or_else(|| of_cart.cloned());
    let raw = ["unitPrice", "price"].iter().map(|name| &line[*name]).find(|value| !value.is_null());
    Some(CartLine {
        product_id: first(line, &["partNo", "productId", "id"])?,
        quantity: numeral(&line["quantity"]).unwrap_or_else(|| Number::from(1)),
        name: first(line, &["name", "title"]),
        price: raw.and_then(|raw| Amount::read(raw, currency.as_ref())),
    })
}

fn currency(cart: &Value) -> Option<String> {
    first(cart, &["currencyCode", "currency"])
}

fn currency_of_line(line: &Value) -> Option<String> {
    first(line, &["currency", "currencyCode"])
}
