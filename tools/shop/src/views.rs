//! Converts database rows to the types sent to clients, in the caller's language: search items,
//! products with their variants, names of variants.

use chrono::{Days, NaiveDate};
use serde_json::{Map, Value};

use crate::{
    catalogue::{Dimension, Locale, value_name},
    db::{ProductRow, VariantRow},
    search::Hit,
    text::money,
    wire::{Image, OnHand, Parametric, ProductView, SearchItem, VariantView},
};

/// The shop's only currency.
pub const CURRENCY: &str = "SEK";

/// The language and day of a call.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub locale: Locale,
    pub today: NaiveDate,
}

/// Returns the path of a picture.
pub fn image_url(id: i64) -> String {
    format!("/img/{id}.svg")
}

/// Returns a name such as "Black, 42", or an empty text for a product without variants.
pub fn variant_name(variant: &VariantRow, locale: Locale) -> String {
    variant
        .values
        .iter()
        .map(|(dimension, value)| value_name(*dimension, value, locale))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns a name such as "Ridge Runner (Black, 42)".
pub fn full_name(product: &ProductRow, variant: &VariantRow, locale: Locale) -> String {
    let values = variant_name(variant, locale);
    if values.is_empty() { product.name.clone() } else { format!("{} ({values})", product.name) }
}

/// Returns an item of a search result. Stock, picture and colour are those of the variants that
/// match the search.
pub fn search_item(hit: &Hit<'_>, frame: Frame) -> SearchItem {
    let Frame { locale, .. } = frame;
    let fitting = || hit.fitting.iter().copied();
    let shown = fitting().find(|variant| variant.in_stock()).or_else(|| fitting().next());
    let picture = shown.map_or(hit.product.id, |variant| variant.id);
    let mut attributes = Map::new();
    for dimension in [Dimension::Color, Dimension::Size, Dimension::Volume, Dimension::Length] {
        if let Some(values) = values_of(hit.product, hit.all, dimension, locale) {
            attributes.insert(dimension.name(locale).to_owned(), Value::String(values));
        }
    }
    attributes.insert(
        locale.of("Weight", "Vikt").to_owned(),
        Value::String(weight(hit.product.weight_grams)),
    );
    SearchItem {
        product_id: hit.product.id,
        part_no: hit.product.part_no.clone(),
        name: hit.product.name.clone(),
        variant_name: None,
        description: locale.of(&hit.product.description.0, &hit.product.description.1).to_owned(),
        price: money(fitting().map(|variant| variant.price).min().unwrap_or(0)),
        currency: CURRENCY,
        image_url: image_url(picture),
        thumbnail_image_key: picture.to_string(),
        on_hand: on_hand_of_all(hit.product, fitting(), frame),
        brand: hit.product.brand.clone(),
        color: values_of(hit.product, fitting(), Dimension::Color, locale),
        size: values_of(hit.product, fitting(), Dimension::Size, locale),
        material: locale.of(&hit.product.material.0, &hit.product.material.1).to_owned(),
        category: locale.of(hit.product.category.en, hit.product.category.sv).to_owned(),
        attributes,
    }
}

/// Returns a product with all its variants. If `only` is set, returns that variant as a product of
/// its own.
pub fn product_view(
    product: &ProductRow,
    variants: &[VariantRow],
    only: Option<&VariantRow>,
    frame: Frame,
) -> ProductView {
    let Frame { locale, .. } = frame;
    let price = only
        .map(|variant| variant.price)
        .or_else(|| variants.iter().map(|variant| variant.price).min())
        .unwrap_or(0);
    let single =
        variants.len() == 1 && variants.first().is_some_and(|variant| variant.id == product.id);
    let buyable = product.active
        && only.map_or_else(
            || product.buyable && (!single || variants.iter().any(sellable)),
            |variant| product.buyable && sellable(variant),
        );
    let mut attributes = Map::new();
    attributes.insert("isBuyable".to_owned(), Value::Bool(buyable));
    let mut say =
        |name: &str, value: String| attributes.insert(name.to_owned(), Value::String(value));
    say(
        locale.of("Category", "Kategori"),
        locale.of(product.category.en, product.category.sv).to_owned(),
    );
    say(
        locale.of("Material", "Material"),
        locale.of(&product.material.0, &product.material.1).to_owned(),
    );
    say(locale.of("Weight", "Vikt"), weight(product.weight_grams));
    if let Some(variant) = only.or_else(|| variants.first().filter(|_| single)) {
        for (dimension, value) in &variant.values {
            say(dimension.name(locale), value_name(*dimension, value, locale));
        }
    }
    let id = only.map_or(product.id, |variant| variant.id);
    let picture = only
        .or_else(|| variants.iter().find(|variant| variant.in_stock()))
        .or(variants.first())
        .map_or(id, |variant| variant.id);
    ProductView {
        product_id: id,
        unique_name: unique_name(&product.name, id),
        part_no: only.map_or(&product.part_no, |variant| &variant.part_no).clone(),
        name: product.name.clone(),
        variant_name: only
            .map(|variant| variant_name(variant, locale))
            .filter(|name| !name.is_empty()),
        description: locale.of(&product.description.0, &product.description.1).to_owned(),
        price_inc_vat: money(price),
        price_ex_vat: money((price * 4 + 2) / 5),
        currency: CURRENCY,
        manufacturer_name: product.brand.clone(),
        images: vec![Image { kind: "main", url: image_url(picture) }],
        attributes,
        on_hand: match only {
            Some(variant) => on_hand(variant, product.active, frame.today),
            None => on_hand_of_all(product, variants.iter(), frame),
        },
        variants: if only.is_some() || single {
            Vec::new()
        } else {
            variants.iter().map(|variant| variant_view(product, variant, frame)).collect()
        },
    }
}

fn variant_view(product: &ProductRow, variant: &VariantRow, frame: Frame) -> VariantView {
    VariantView {
        product_id: variant.id,
        part_no: variant.part_no.clone(),
        variant_name: variant_name(variant, frame.locale),
        is_buyable: product.active && product.buyable && sellable(variant),
        on_hand: on_hand(variant, product.active, frame.today),
        price_inc_vat: money(variant.price),
        currency: CURRENCY,
        variant_parametrics: variant
            .values
            .iter()
            .map(|(dimension, value)| Parametric {
                name: dimension.name(frame.locale).to_owned(),
                value: value_name(*dimension, value, frame.locale),
                code: dimension.code(),
                is_primary: matches!(dimension, Dimension::Color | Dimension::Size),
            })
            .collect(),
        ean_code: variant.ean.clone(),
    }
}

fn sellable(variant: &VariantRow) -> bool {
    variant.active && variant.buyable
}

fn unique_name(name: &str, id: i64) -> String {
    format!("{}-{id}", crate::text::words(name).join("-"))
}

fn weight(grams: i64) -> String {
    format!("{grams} g")
}

fn day(today: NaiveDate, days: i64) -> Option<String> {
    let date = today.checked_add_days(Days::new(u64::try_from(days).ok()?))?;
    Some(date.format("%Y-%m-%d").to_string())
}

fn on_hand(variant: &VariantRow, product_active: bool, today: NaiveDate) -> OnHand {
    OnHand {
        value: variant.stock,
        incoming_value: (variant.incoming > 0).then_some(variant.incoming),
        next_delivery_date: variant.restock_in_days.and_then(|days| day(today, days)),
        leadtime_day_count: variant.lead_days,
        is_active: product_active && variant.active,
    }
}

/// Adds up the stock of several variants: their quantities, the earliest delivery, the shortest
/// lead time.
fn on_hand_of_all<'a>(
    product: &ProductRow,
    variants: impl Iterator<Item = &'a VariantRow> + Clone,
    frame: Frame,
) -> OnHand {
    let active = || variants.clone().filter(|variant| variant.active);
    let incoming: i64 = active().map(|variant| variant.incoming).sum();
    OnHand {
        value: active().map(|variant| variant.stock).sum(),
        incoming_value: (incoming > 0).then_some(incoming),
        next_delivery_date: active()
            .filter_map(|variant| variant.restock_in_days)
            .min()
            .and_then(|days| day(frame.today, days)),
        leadtime_day_count: active().filter_map(|variant| variant.lead_days).min(),
        is_active: product.active && active().next().is_some(),
    }
}

/// Returns the distinct values of a dimension, such as "Black, Red" or "38-46", or None if there
/// are none.
fn values_of<'a>(
    product: &ProductRow,
    variants: impl IntoIterator<Item = &'a VariantRow>,
    dimension: Dimension,
    locale: Locale,
) -> Option<String> {
    let mut values: Vec<&str> = Vec::new();
    for value in variants
        .into_iter()
        .filter(|variant| variant.active)
        .filter_map(|variant| variant.value(dimension))
    {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    // Sizes are sorted in their usual order, even if some are missing.
    let order = product
        .category
        .dimensions
        .iter()
        .find(|(of, _)| *of == dimension)
        .map_or(&[] as &[&str], |(_, order)| order);
    values.sort_by_key(|value| order.iter().position(|known| known == value));
    let seen: Vec<String> =
        values.into_iter().map(|value| value_name(dimension, value, locale)).collect();
    let numbers: Option<Vec<u32>> = seen.iter().map(|value| value.parse().ok()).collect();
    match numbers {
        _ if seen.is_empty() => None,
        Some(numbers) if numbers.len() > 3 => {
            Some(format!("{}-{}", numbers.iter().min()?, numbers.iter().max()?))
        }
        _ => Some(seen.join(", ")),
    }
}
