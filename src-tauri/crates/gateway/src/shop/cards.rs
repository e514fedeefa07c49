//! Turns the shop's products into the cards of an answer: which products, in which order, with
//! which members.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value, json};
use shop_adapter::product::{self, Availability, Product, Stock, Variant};

use crate::{
    call::Call,
    json::{text, truncate_text},
    shop::tools,
};

/// The maximum number of cards in one answer.
const CARDS: usize = 6;
const SUBTITLE: usize = 100;
/// The maximum number of values of one dimension.
const VALUES: usize = 20;

/// A product in the form of the chat API. Unknown members are omitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Card {
    pub(crate) product_id: String,
    pub(crate) title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subtitle: Option<String>,
    /// The name of the variant. None if the shop omits the member, and null if the shop sends null.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_name")]
    pub(crate) variant_name: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) price: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) image_url: Option<String>,
    /// The key of the preview image. None if the shop omits the member, and null if the shop sends
    /// null.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_name")]
    pub(crate) thumbnail_image_key: Option<Option<String>>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) attributes: Map<String, Value>,
    pub(crate) availability: ShownStock,
    /// The values of the product's variants, by dimension.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) dimension_hints: Map<String, Value>,
}

/// The availability of a product, and the stock that the shop reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ShownStock {
    pub(crate) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) on_hand_value: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incoming_value: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leadtime_day_count: Option<Number>,
    /// The next delivery date. Null if the shop says that the date is unknown.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_name")]
    next_delivery_date: Option<Option<String>>,
}

/// Reads a member that is present, even if its value is null.
fn deserialize_name<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// An availability in the terms of the chat API. Cards are sorted in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    InStock,
    #[default]
    Unknown,
    OutOfStock,
    Inactive,
}

impl Status {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::InStock => "in_stock",
            Self::Unknown => "unknown",
            Self::OutOfStock => "out_of_stock",
            Self::Inactive => "inactive",
        }
    }
}

impl From<Availability> for Status {
    fn from(availability: Availability) -> Self {
        match availability {
            Availability::InStock => Self::InStock,
            Availability::Unknown => Self::Unknown,
            Availability::OutOfStock => Self::OutOfStock,
            Availability::Inactive => Self::Inactive,
        }
    }
}

impl From<&Stock> for ShownStock {
    fn from(stock: &Stock) -> Self {
        if !stock.is_reported {
            return Self::default();
        }
        Self {
            status: stock.availability().into(),
            on_hand_value: stock.value.clone(),
            incoming_value: stock.incoming.clone(),
            leadtime_day_count: stock.lead_days.clone(),
            next_delivery_date: stock.next_delivery.clone(),
        }
    }
}

impl From<Product> for Card {
    fn from(product: Product) -> Self {
        Self {
            subtitle: product.description.map(|text| truncate_text(&text, SUBTITLE)),
            availability: ShownStock::from(&product.stock),
            product_id: product.id,
            title: product.name,
            variant_name: product.variant_name,
            price: product.price,
            currency: product.currency,
            image_url: product.image,
            thumbnail_image_key: product.thumbnail_key,
            attributes: product.attributes,
            dimension_hints: Map::new(),
        }
    }
}

impl Card {
    /// Makes the card of a product, if the product has an id and a name.
    pub(crate) fn from_item(item: &Value) -> Option<Self> {
        Product::read(item).map(Self::from)
    }

    /// Adds the details of the product to the card: its dimensions, and the stock of the product or
    /// of the requested variant.
    fn with_details(self, product: &Product, asked: Option<&str>) -> Self {
        let variant = product
            .variants
            .iter()
            .find(|variant| asked.is_some() && variant.product_id.as_deref() == asked);
        let availability =
            ShownStock::from(variant.map_or(&product.stock, |variant| &variant.stock));
        Self { availability, ..self }.with_dimensions(&product.variants)
    }

    fn with_dimensions(mut self, variants: &[Variant]) -> Self {
        let hints = dimension_hints(variants);
        if !hints.is_empty() {
            self.dimension_hints = hints;
        }
        self
    }

    /// Returns the number of pieces in stock.
    fn piece_count(&self) -> f64 {
        self.availability.on_hand_value.as_ref().and_then(Number::as_f64).unwrap_or(0.0)
    }
}

/// Returns the cards of a turn: for the products that were looked up, or else for all products
/// found. A product whose lookup failed is shown with the data from a search in this turn or in
/// `earlier`.
pub(crate) fn collect_turn_cards(calls: &[Call], earlier: &[Card]) -> Vec<Card> {
    let searched: Vec<Card> = calls
        .iter()
        .filter_map(|call| call.result_of(tools::SEARCH))
        .flat_map(product::items)
        .filter_map(Card::from_item)
        .collect();
    let looked_at: Vec<&Call> = calls
        .iter()
        .filter(|call| call.tool == tools::GET && call.outcome.is_some() && call.asked)
        .collect();
    let mut cards: Vec<Card> = Vec::new();
    let mut add = |card: Card| {
        if cards.iter().all(|known| known.product_id != card.product_id) {
            cards.push(card);
        }
    };
    for call in looked_at {
        let asked = text(&call.args["productId"]);
        match call.result_of(tools::GET) {
            Some(details) => {
                let Some(product) = Product::read(details) else { continue };
                let found = searched.iter().find(|card| card.product_id == product.id).cloned();
                let card = found.unwrap_or_else(|| product.clone().into());
                add(card.with_details(&product, asked.as_deref()));
            }
            None => asked
                .and_then(|id| {
                    searched.iter().chain(earlier).find(|card| card.product_id == id).cloned()
                })
                .into_iter()
                .for_each(&mut add),
        }
    }
    if cards.is_empty() {
        for card in searched {
            if cards.iter().all(|known| known.product_id != card.product_id) {
                cards.push(card);
            }
        }
        cards.sort_by_key(|card| card.availability.status);
    } else {
        cards.sort_by(|a, b| {
            a.availability
                .status
                .cmp(&b.availability.status)
                .then(b.piece_count().total_cmp(&a.piece_count()))
        });
    }
    cards.truncate(CARDS);
    cards
}

/// Adds to each card the values of its product's variants.
pub(crate) fn with_dimensions(cards: &mut [Card], details: &[Value]) {
    for card in cards {
        let id = Some(&card.product_id);
        if let Some(product) =
            details.iter().find(|details| text(&details["productId"]).as_ref() == id)
        {
            *card = std::mem::take(card).with_dimensions(&Variant::read_all(product));
        }
    }
}

/// Returns the values that these variants of a product have.
fn dimension_hints(variants: &[Variant]) -> Map<String, Value> {
    let mut hints: Map<String, Value> = Map::new();
    for dimension in variants.iter().flat_map(|variant| &variant.dimensions) {
        if let Some(values) =
            hints.entry(dimension.name.clone()).or_insert_with(|| json!([])).as_array_mut()
            && values.len() < VALUES
            && !values.contains(&json!(dimension.value))
        {
            values.push(json!(dimension.value));
        }
    }
    hints
}

#[cfg(test)]
mod tests;
