//! The seeded generator: 12 products in each category, including special cases of real shops (out
//! of stock, withdrawn, not for sale, one variant, many dimensions). The first product of a
//! category is its best seller and never a special case.

use super::{
    CATEGORIES, Category, Dimension, Product, Variant, categories::Shape, colors, descriptions,
    rng::Rng,
};

const PER_CATEGORY: usize = 12;
const FIRST_PRODUCT_ID: i64 = 1001;

const BRANDS: &[(&str, &str)] = &[
    ("Fjällstig", "FJS"),
    ("Norrvind", "NRV"),
    ("Tallmark", "TLM"),
    ("Rimfors", "RMF"),
    ("Öbacka", "OBK"),
    ("Kolmila", "KLM"),
    ("Vargöga", "VGO"),
    ("Stenlid", "STL"),
    ("Myrholm", "MYR"),
    ("Aurvik", "AUR"),
];

const FIRST_WORDS: &[&str] = &[
    "Ridge", "Moss", "Granite", "Fell", "Birch", "Heath", "Tarn", "Ember", "Frost", "Lark",
    "Drift", "Cairn", "Alder", "Brook", "Cinder", "Dune", "Fern", "Gale", "Hollow", "Juniper",
    "Lichen", "Marsh", "Pine", "Summit",
];

/// Returns all products for a seed. Ids and part numbers do not depend on the seed.
pub fn generate(seed: u64) -> Vec<Product> {
    let mut products = Vec::with_capacity(CATEGORIES.len() * PER_CATEGORY);
    for (index, category) in CATEGORIES.iter().enumerate() {
        let mut rng = Rng::new(seed ^ (index as u64 + 1).wrapping_mul(0xA24B_AED4_963E_E407));
        let others: Vec<&str> =
            FIRST_WORDS.iter().copied().filter(|word| *word != "Ridge").collect();
        let mut names = rng.pick(&others, PER_CATEGORY);
        names.insert(0, "Ridge");
        for (place, first) in names.into_iter().take(PER_CATEGORY).enumerate() {
            let id = FIRST_PRODUCT_ID + (index * PER_CATEGORY + place) as i64;
            products.push(product(&mut rng, category, id, place, first));
        }
    }
    products
}

fn product(
    rng: &mut Rng,
    category: &'static Category,
    id: i64,
    place: usize,
    first: &str,
) -> Product {
    let best_seller = place == 0;
    let (brand, brand_short) =
        if best_seller { BRANDS[0] } else { BRANDS[rng.below(BRANDS.len())] };
    let second = if best_seller {
        category.models[0]
    } else {
        category.models[place % category.models.len()]
    };
    let part_no = format!("{brand_short}-{}{id}", category.short);
    let material = category.materials[rng.below(category.materials.len())];
    let chosen = rng.pick(&(0..descriptions::features(category.key).len()).collect::<Vec<_>>(), 2);
    let (mut en, mut sv) = {
        let (en, sv) = descriptions::opening(category.key);
        (en.to_owned(), sv.to_owned())
    };
    let mut words = String::new();
    for feature in chosen.into_iter().filter_map(|at| descriptions::features(category.key).get(at))
    {
        en = format!("{en} {}", feature.en);
        sv = format!("{sv} {}", feature.sv);
        if let Some(concept) = feature.concept {
            words.push_str(concept);
            words.push(' ');
        }
    }
    let price = price(rng, category);
    // Each category has one product of each special case, at a fixed position, so that tests and
    // demos can find it.
    let (active, buyable, sold_out) = (place != 9, place != 10, place == 11);
    let mut made = variants(rng, category, id, &part_no, place, price);
    for variant in &mut made {
        stock(rng, variant, best_seller, sold_out);
        variant.buyable = buyable && variant.buyable;
    }
    Product {
        id,
        part_no,
        name: format!("{first} {second}"),
        brand,
        category,
        material,
        description: (en, sv),
        words,
        weight_grams: rng.between(category.weight_grams.0, category.weight_grams.1) / 5 * 5,
        popularity: if best_seller { 100 } else { 90 - 7 * place as i64 + rng.between(0, 5) },
        active,
        buyable,
        variants: made,
    }
}

/// Returns a price in whole kronor that ends in 9; cheap products sometimes have 50 or 90 öre.
fn price(rng: &mut Rng, category: &Category) -> i64 {
    let (low, high) = category.price;
    let step = if high > 600 { 50 } else { 10 };
    let kronor = low + rng.between(0, (high - low) / step) * step;
    let ore = if high <= 600 && rng.chance(40) { [50, 90][rng.below(2)] } else { 0 };
    kronor * 100 + ore
}

fn variants(
    rng: &mut Rng,
    category: &Category,
    id: i64,
    part_no: &str,
    place: usize,
    price: i64,
) -> Vec<Variant> {
    // The best seller is available in black. Every third of the other products has one colour only.
    let colors: Vec<&str> = match (category.colors.is_empty(), place) {
        (true, _) => Vec::new(),
        (false, 0) => {
            let rest: Vec<&str> = category
                .colors
                .iter()
                .copied()
                .filter(|code| *code != category.colors[0])
                .collect();
            let mut chosen = vec![category.colors[0]];
            chosen.extend(rng.pick(&rest, 2));
            chosen
        }
        (false, _) => {
            let count = 1 + rng.below(3);
            let mut chosen = rng.pick(category.colors, count);
            // Black is the most popular colour.
            if category.colors.contains(&"black") && !chosen.contains(&"black") && rng.chance(35) {
                chosen.insert(0, "black");
            }
            chosen
        }
    };
    let mut rows: Vec<Vec<(Dimension, String)>> = if colors.is_empty() {
        vec![Vec::new()]
    } else {
        colors.iter().map(|code| vec![(Dimension::Color, (*code).to_owned())]).collect()
    };
    for (dimension, values) in category.dimensions {
        let values = range(rng, values, place, category.shape);
        rows = rows
            .into_iter()
            .flat_map(|row| {
                values.iter().map(move |value| {
                    row.iter()
                        .cloned()
                        .chain([(*dimension, (*value).to_owned())])
                        .collect::<Vec<_>>()
                })
            })
            .collect();
    }
    let single = rows.len() == 1;
    rows.into_iter()
        .enumerate()
        .map(|(at, values)| {
            let variant_id = if single { id } else { id * 100 + at as i64 + 1 };
            Variant {
                id: variant_id,
                part_no: if single {
                    part_no.to_owned()
                } else {
                    format!("{part_no}-{}", suffix(&values))
                },
                ean: ean13(variant_id),
                values,
                price,
                stock: 0,
                incoming: 0,
                restock_in_days: None,
                lead_days: None,
                active: true,
                buyable: true,
            }
        })
        .collect()
}

/// Returns a run of adjacent sizes. Short ranges are returned completely.
fn range<'a>(rng: &mut Rng, values: &'a [&'a str], place: usize, shape: Shape) -> &'a [&'a str] {
    if values.len() <= 4 || place == 0 && shape != Shape::Shoe {
        return values;
    }
    if place == 0 {
        return values.get(2..).unwrap_or(values);
    }
    let length = rng.between(4, 6).min(values.len() as i64) as usize;
    let start = rng.below(values.len() - length + 1);
    values.get(start..start + length).unwrap_or(values)
}

fn suffix(values: &[(Dimension, String)]) -> String {
    let parts: Vec<String> = values
        .iter()
        .map(|(dimension, value)| match dimension {
            Dimension::Color => colors::by_code(value)
                .map_or_else(|| value.to_uppercase(), |color| color.short.to_owned()),
            Dimension::Zip | Dimension::Length => {
                value.chars().take_while(|c| *c != ' ').take(3).collect::<String>().to_uppercase()
            }
            Dimension::Volume => value.replace(" l", "L").replace('.', ""),
            Dimension::Size => value.chars().take_while(|c| *c != ' ').collect(),
        })
        .collect();
    parts.join("-")
}

fn stock(rng: &mut Rng, variant: &mut Variant, best_seller: bool, sold_out: bool) {
    // The best seller is in stock except for every tenth variant, so that there is always a choice.
    let empty = sold_out || if best_seller { variant.id % 10 == 1 } else { rng.chance(22) };
    if !empty {
        variant.stock = if best_seller { rng.between(6, 40) } else { rng.between(1, 25) };
        return;
    }
    match rng.below(3) {
        0 => {
            variant.incoming = rng.between(4, 30);
            variant.restock_in_days = Some(rng.between(5, 40));
        }
        1 => variant.lead_days = Some(rng.between(7, 28)),
        _ => {
            // A withdrawn product may still be shown, but it is not for sale.
            variant.active = rng.chance(60);
            variant.buyable = false;
        }
    }
}

/// Returns an EAN-13 in the range reserved for use within a shop, with its check digit.
fn ean13(id: i64) -> String {
    let body = format!("20{id:010}");
    let sum: u32 = body
        .chars()
        .filter_map(|c| c.to_digit(10))
        .enumerate()
        .map(|(at, digit)| if at % 2 == 0 { digit } else { 3 * digit })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_seed_always_generates_the_same_catalogue_with_unique_numbers() {
        let products = generate(7);
        assert_eq!(products, generate(7));
        assert_eq!(products.len(), 300);
        let ids: HashSet<i64> = products
            .iter()
            .map(|p| p.id)
            .chain(
                products
                    .iter()
                    .flat_map(|p| p.variants.iter().filter(|v| v.id != p.id).map(|v| v.id)),
            )
            .collect();
        let parts: HashSet<&str> =
            products.iter().flat_map(|p| p.variants.iter().map(|v| v.part_no.as_str())).collect();
        let variants: usize = products.iter().map(|p| p.variants.len()).sum();
        assert_eq!(parts.len(), variants);
        assert_eq!(
            ids.len(),
            variants + products.iter().filter(|p| p.variants[0].id != p.id).count()
        );
        assert_ne!(generate(7), generate(8));
    }

    #[test]
    fn the_catalogue_contains_inactive_unbuyable_and_sold_out_products() {
        let products = generate(1);
        assert!(products.iter().any(|p| !p.active));
        assert!(products.iter().any(|p| !p.buyable));
        assert!(products.iter().any(|p| p.variants.iter().all(|v| v.stock == 0)));
        assert!(products.iter().any(|p| p.variants.len() == 1));
        assert!(products.iter().any(|p| p.variants[0].values.len() >= 3));
        assert!(products.iter().any(|p| p.variants.iter().any(|v| v.restock_in_days.is_some())));
        assert!(products.iter().any(|p| p.variants.iter().any(|v| v.lead_days.is_some())));
    }

    #[test]
    fn eans_carry_a_valid_check_digit() {
        for product in generate(1) {
            for variant in product.variants {
                let sum: u32 = variant
                    .ean
                    .chars()
                    .filter_map(|c| c.to_digit(10))
                    .enumerate()
                    .map(|(at, d)| if at % 2 == 0 { d } else { 3 * d })
                    .sum();
                assert_eq!((variant.ean.len(), sum % 10), (13, 0), "{}", variant.ean);
            }
        }
    }
}
