//! Reads products and their variants from the formats of different shops. Amounts, names and
//! pictures keep the shop's text; a missing or invalid member is left out.

use serde::Serialize;
use serde_json::{Map, Number, Value};
use ts_rs::TS;

use crate::read::{first, numeral, text};

pub(crate) const IDS: [&str; 6] = ["productId", "id", "partNo", "productNumber", "sku", "code"];
pub(crate) const NAMES: [&str; 4] = ["name", "title", "productName", "displayName"];
pub(crate) const AMOUNTS: [&str; 5] = ["value", "amount", "price", "sellingPrice", "listPrice"];
pub(crate) const CURRENCIES: [&str; 3] = ["currency", "currencyCode", "currencySymbol"];
pub(crate) const IMAGES: [&str; 5] =
    ["imageUrl", "image", "primaryImage", "thumbnailUrl", "thumbnail"];
/// Attributes that every shop's products may have.
pub(crate) const ATTRIBUTES: [&str; 6] =
    ["color", "size", "material", "brand", "category", "manufacturer"];

/// The availability of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Availability {
    InStock,
    Unknown,
    OutOfStock,
    Inactive,
}

/// The stock of a product or variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stock {
    /// Whether the shop reports stock.
    pub is_reported: bool,
    /// Whether the shop no longer sells the product, even if there are pieces in stock.
    pub is_inactive: bool,
    pub value: Option<Number>,
    pub incoming: Option<Number>,
    pub lead_days: Option<Number>,
    /// The day of the next delivery. `Some(None)` if the shop says that the day is unknown.
    pub next_delivery: Option<Option<String>>,
}

impl Stock {
    fn read(on_hand: &Value) -> Self {
        Self {
            is_reported: on_hand.is_object(),
            is_inactive: on_hand["isActive"] == false,
            value: numeral(&on_hand["value"]),
            incoming: numeral(&on_hand["incomingValue"]),
            lead_days: numeral(&on_hand["leadtimeDayCount"]),
            next_delivery: match on_hand.get("nextDeliveryDate") {
                Some(Value::String(day)) => Some(Some(day.clone())),
                Some(Value::Null) => Some(None),
                Some(_) | None => None,
            },
        }
    }

    /// Returns the pieces in stock, or 0 if the shop does not report them.
    pub fn pieces(&self) -> f64 {
        self.value.as_ref().and_then(Number::as_f64).unwrap_or(0.0)
    }

    pub fn availability(&self) -> Availability {
        match (self.is_reported, self.is_inactive) {
            (false, _) => Availability::Unknown,
            (true, true) => Availability::Inactive,
            (true, false) if self.pieces() > 0.0 => Availability::InStock,
            (true, false) => Availability::OutOfStock,
        }
    }

    /// Whether a variant is in stock. Returns None if the shop does not report its stock.
    pub fn is_there(&self) -> Option<bool> {
        if self.is_inactive {
            Some(false)
        } else {
            self.value.as_ref().map(|_| self.pieces() > 0.0)
        }
    }
}

/// A dimension of a variant, such as its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
pub struct Dimension {
    pub name: String,
    pub value: String,
}

/// A variant of a product.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    pub product_id: Option<String>,
    pub part_no: Option<String>,
    pub variant_name: Option<String>,
    pub name: Option<String>,
    pub unique_name: Option<String>,
    pub ean_code: Option<String>,
    /// Whether the shop says that the variant can be bought.
    pub is_buyable: bool,
    pub stock: Stock,
    /// The dimensions of the variant, primary ones first, each once.
    pub dimensions: Vec<Dimension>,
}

impl Variant {
    /// Reads the variants of a product.
    pub fn read_all(product: &Value) -> Vec<Self> {
        product["variants"].as_array().into_iter().flatten().map(Self::read).collect()
    }

    pub fn read(value: &Value) -> Self {
        Self {
            product_id: text(&value["productId"]),
            part_no: text(&value["partNo"]),
            variant_name: text(&value["variantName"]),
            name: text(&value["name"]),
            unique_name: text(&value["uniqueName"]),
            ean_code: text(&value["eanCode"]),
            is_buyable: value["isBuyable"] == true,
            stock: Stock::read(&value["onHand"]),
            dimensions: dimensions(value),
        }
    }

    /// Returns the part number with which the variant can be put into the cart. Returns None if the
    /// variant cannot be bought.
    pub fn part_to_buy(&self) -> Option<&String> {
        self.part_no.as_ref().filter(|_| self.is_buyable)
    }

    /// Whether `part` is the variant's part number or its id.
    pub fn is_named(&self, part: &str) -> bool {
        [&self.part_no, &self.product_id]
            .into_iter()
            .flatten()
            .any(|own| own.eq_ignore_ascii_case(part))
    }
}

/// Returns the dimensions of a variant: the primary ones first, each once.
pub(crate) fn dimensions(variant: &Value) -> Vec<Dimension> {
    let lists = ["variantParametrics", "parametrics"]
        .iter()
        .filter_map(|name| variant[*name].as_array())
        .flatten();
    let mut all: Vec<(bool, String, Dimension)> = Vec::new();
    for one in lists {
        let (Some(name), Some(value)) = (text(&one["name"]), text(&one["value"])) else { continue };
        let key = text(&one["code"]).unwrap_or_else(|| name.clone());
        if all.iter().all(|(_, known, _)| *known != key) {
            all.push((one["isPrimary"] != true, key, Dimension { name, value }));
        }
    }
    all.sort_by_key(|(is_secondary, ..)| *is_secondary);
    all.into_iter().map(|(_, _, dimension)| dimension).collect()
}

/// A product.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// The product's id, which shops give under different names.
    pub id: String,
    pub name: String,
    pub part_no: Option<String>,
    pub description: Option<String>,
    /// The name of the variant. `Some(None)` if the shop sends null.
    pub variant_name: Option<Option<String>>,
    pub price: Option<String>,
    pub currency: Option<String>,
    pub image: Option<String>,
    /// The key of the thumbnail. `Some(None)` if the shop sends null.
    pub thumbnail_key: Option<Option<String>>,
    pub url: Option<String>,
    /// The attributes that products of every shop may have, under their common names.
    pub attributes: Map<String, Value>,
    /// The attributes with the shop's own names and types.
    pub own_attributes: Map<String, Value>,
    /// Whether the shop says that the product itself can be bought.
    pub is_buyable: bool,
    pub stock: Stock,
    pub variants: Vec<Variant>,
}

impl Product {
    /// Reads a product. Returns None without an id or a name.
    pub fn read(item: &Value) -> Option<Self> {
        let (price, currency) = price(item);
        Some(Self {
            id: first(item, &IDS)?,
            name: first(item, &NAMES)?,
            part_no: text(&item["partNo"]),
            description: text(&item["description"]),
            variant_name: item.get("variantName").map(|name| name.as_str().map(str::to_owned)),
            price,
            currency,
            image: image(item),
            thumbnail_key: item.get("thumbnailImageKey").map(text),
            url: text(&item["url"]),
            attributes: attributes(item),
            own_attributes: item["attributes"].as_object().cloned().unwrap_or_default(),
            is_buyable: item["attributes"]["isBuyable"] == true,
            stock: Stock::read(&item["onHand"]),
            variants: Variant::read_all(item),
        })
    }

    /// Reads the products of a search result.
    pub fn read_all(result: &Value) -> impl Iterator<Item = Self> {
        items(result).iter().filter_map(Self::read)
    }
}

/// Returns the items of a search result, without interpreting them.
pub fn items(result: &Value) -> &[Value] {
    let list = result
        .as_array()
        .or_else(|| result["items"].as_array())
        .or_else(|| result["products"].as_array());
    list.map_or(&[], Vec::as_slice)
}

fn price(item: &Value) -> (Option<String>, Option<String>) {
    let of = |value: &Value| text(value).or_else(|| first(value, &AMOUNTS));
    let price = of(&item["price"]).or_else(|| of(&item["priceIncVat"]));
    let currency = first(&item["price"], &CURRENCIES).or_else(|| first(item, &CURRENCIES[..2]));
    (price, currency)
}

fn image(item: &Value) -> Option<String> {
    first(item, &IMAGES).or_else(|| {
        let one = item["images"].as_array()?.first()?;
        text(one).or_else(|| first(one, &["url", "src", "imageUrl"]))
    })
}

fn attributes(item: &Value) -> Map<String, Value> {
    let of = |name: &str| {
        item[name]
            .as_str()
            .or_else(|| item["attributes"][name].as_str())
            .filter(|text| !text.trim().is_empty())
            .map(Value::from)
    };
    let mut found: Map<String, Value> =
        ATTRIBUTES.iter().filter_map(|name| Some(((*name).to_owned(), of(name)?))).collect();
    if !found.contains_key("brand")
        && let Some(maker) = of("manufacturerName")
    {
        found.insert("brand".into(), maker);
    }
    found
}
