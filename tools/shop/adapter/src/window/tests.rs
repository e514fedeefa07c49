use std::{collections::BTreeMap, fs, path::Path};

use serde_json::json;
use ts_rs::Config;

use super::*;

fn product(id: u32, more: Value) -> Value {
    let mut all = json!({
        "productId": id,
        "partNo": format!("P-{id}"),
        "name": format!("Product {id}"),
        "priceIncVat": "100.00",
    });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    all
}

fn read(id: u32, more: Value) -> ProductView {
    ProductView::read(&product(id, more)).expect("a product")
}

fn prices(of: &Value) -> Value {
    json!(of.as_array().expect("a list").iter().map(Price::read).collect::<Vec<_>>())
}

#[test]
fn prices_in_common_notations_are_parsed() {
    assert_eq!(
        prices(&json!([
            "1349.00",
            "1 349,00 kr",
            "1,349.00",
            "1.349,00 €",
            1349,
            {"value": "1349"}
        ])),
        json!([1349.0, 1349.0, 1349.0, 1349.0, 1349.0, 1349.0])
    );
    assert_eq!(
        prices(&json!([
            "1,299 kr",
            "1,299,000",
            "kr. 15",
            "15:-",
            "−5",
            {"value": "1 349,00 kr"}
        ])),
        json!([1299.0, 1_299_000.0, 15.0, 15.0, -5.0, 1349.0])
    );
}

#[test]
fn a_numeric_price_is_preferred_and_other_price_text_is_shown_unchanged() {
    assert_eq!(
        prices(&json!(["", null, " on request ", "Free over 500", {"value": "1.299 kr"}])),
        json!([null, null, "on request", "Free over 500", "1.299 kr"])
    );
    let price = |more| json!(read(1, more).price);
    assert_eq!(price(json!({"priceIncVat": "on request"})), "on request");
    assert_eq!(price(json!({"priceIncVat": "on request", "price": "80"})), 80.0);
}

#[test]
fn products_are_read_with_each_known_name_of_their_members() {
    let found = SearchView::read(&json!({"products": [{
        "sku": "A-1",
        "title": "A",
        "price": {"sellingPrice": 5, "currencyCode": "EUR"},
        "images": ["/a.png"],
        "onHand": {"value": "3", "isActive": false},
    }]}));
    let one = &found.products[0];
    assert_eq!((one.id.as_str(), one.name.as_str()), ("A-1", "A"));
    assert_eq!(
        (&one.price, one.currency.as_deref(), one.image.as_deref()),
        (&Some(Price::Number(5.0)), Some("EUR"), Some("/a.png"))
    );
    assert_eq!(
        one.stock,
        StockView { pieces: Some(3.0), expected: None, is_inactive: true, is_available: false }
    );
    assert!((SearchView::read(&json!([product(1, json!({}))])).total - 1.0).abs() < f64::EPSILON);
}

#[test]
fn products_are_read_with_every_form_of_price_and_products_without_a_name_are_left_out() {
    let found = SearchView::read(&json!({
        "items": [
            {"productId": 1, "name": "A", "price": "1349.00", "currency": "SEK", "onHand": {"value": 3}},
            {
                "productId": "2",
                "name": "B",
                "price": {"value": 5, "currency": "EUR"},
                "onHand": {"value": 0, "nextDeliveryDate": "2026-12-03"},
            },
            {"productId": 3},
        ],
        "totalCount": 9,
    }));
    let brief: Vec<Value> = found
        .products
        .iter()
        .map(|one| json!([one.id, one.price, one.currency, one.stock.pieces]))
        .collect();
    assert_eq!(brief, [json!(["1", 1349.0, "SEK", 3.0]), json!(["2", 5.0, "EUR", 0.0])]);
    assert_eq!(found.products[1].stock.expected.as_deref(), Some("2026-12-03"));
    assert_eq!(json!(found.total), 9.0);
}

#[test]
fn only_a_sold_product_in_stock_with_a_part_number_can_be_put_into_the_cart() {
    let stocked = |more: Value| {
        let mut all = product(1, json!({"onHand": {"value": 3}}));
        if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
            all.extend(more);
        }
        all
    };
    let read = |more: Value| ProductView::read(&stocked(more)).expect("a product");
    let parts: Vec<Option<String>> = [
        json!({}),
        json!({"isBuyable": false}),
        json!({"attributes": {"isBuyable": "false"}}),
        json!({"attributes": {"isBuyable": true}}),
        json!({"partNo": null}),
        json!({"onHand": {"value": 0}}),
    ]
    .into_iter()
    .map(|more| read(more).part_to_add)
    .collect();
    assert_eq!(json!(parts), json!(["P-1", null, null, "P-1", null, null]));
    let variants = json!([
        {"partNo": "V-1", "onHand": {"value": 1}},
        {"partNo": "V-2", "onHand": {"value": 1}, "isBuyable": true},
    ]);
    let parts: Vec<Option<String>> = read(json!({"isBuyable": false, "variants": variants}))
        .variants
        .into_iter()
        .map(|variant| variant.part_to_add)
        .collect();
    assert_eq!(json!(parts), json!(["V-1", "V-2"]));
    let found = SearchView::read(&json!([stocked(json!({"isBuyable": false}))]));
    assert_eq!(found.products[0].part_to_add.as_deref(), Some("P-1"));
    assert!(read(json!({"attributes": {"isBuyable": "false"}})).attributes.is_empty());
}

#[test]
fn a_product_view_has_brand_properties_and_variant_dimensions_without_duplicates() {
    let size = |value: &str| json!({"partNo": value, "variantParametrics": [{"name": "Size", "value": value, "isPrimary": true}]});
    let one = read(
        1,
        json!({
            "manufacturerName": "Kvist",
            "color": "Red",
            "attributes": {"isBuyable": true, "Color": "Blue", "Weight": "300 g"},
            "variants": [size("38"), size("39")],
        }),
    );
    assert_eq!(one.brand.as_deref(), Some("Kvist"));
    assert_eq!(json!(one.attributes), json!({"color": "Red", "Weight": "300 g"}));
    assert_eq!(json!(one.variants[1].dimensions), json!([{"name": "Size", "value": "39"}]));
    assert_eq!(one.variants[1].label, "39");
}

#[test]
fn a_cart_is_read_from_the_result_of_a_change_and_of_a_read() {
    let cart = json!({
        "currencyCode": "SEK",
        "items": [{
            "lineNo": 1,
            "partNo": "A-1",
            "name": "A",
            "quantity": 2,
            "unitPrice": "10.50",
            "totalPrice": "21.00",
        }],
        "total": "21.00",
    });
    for data in [cart.clone(), json!({"basketId": 88, "basket": cart})] {
        assert_eq!(
            json!(ParsedResult::read("cart", &data)),
            json!({
                "view": "cart",
                "currency": "SEK",
                "total": 21.0,
                "lines": [{
                    "part_no": "A-1",
                    "name": "A",
                    "quantity": 2.0,
                    "unit": 10.5,
                    "total": 21.0,
                    "image": null,
                }],
            })
        );
    }
    assert!(CartView::read(&Value::Null).is_none());
    let names: Vec<String> =
        CartView::read(&json!({"items": [{"partNo": "A-1"}, {"name": "Freight"}]}))
            .expect("a cart")
            .lines
            .into_iter()
            .map(|line| format!("{} {}", line.part_no, line.name))
            .collect();
    assert_eq!(names, ["A-1 A-1", " Freight"]);
}

#[test]
fn refinements_are_read_from_a_search_without_hits() {
    let found = SearchView::read(&json!({"items": [], "refinements": [
        {"id": "broaden_search", "payload": {"type": "search_broaden", "query": "unicorn"}},
        {"id": "remove_constraints", "payload": {"constraintsToRemove": ["purple", "maxPrice"]}},
        {"id": "ask_clarify", "payload": {"question": "What?"}},
    ]}));
    assert_eq!(
        json!(found.refinements),
        json!([
            {"query": "unicorn", "without": []},
            {"query": null, "without": ["purple", "maxPrice"]},
            {"query": null, "without": []},
        ])
    );
}

/// `UPDATE_GENERATED=1 cargo test -p shop-adapter generated` renews the files.
#[test]
fn generated_typescript_is_current() {
    let files = |folder: &Path| -> BTreeMap<String, String> {
        fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|file| {
                let text = fs::read_to_string(file.path()).expect("generated files are text");
                (file.file_name().to_string_lossy().into_owned(), text)
            })
            .collect()
    };
    let fresh = tempfile::tempdir().expect("a temporary folder");
    let config = Config::new().with_out_dir(fresh.path()).with_large_int("number");
    ParsedResult::export_all(&config).expect("the types are written");
    let fresh = files(fresh.path());
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/src/packs/shop/generated");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir_all(&kept).expect("the folder is made");
        for (name, text) in &fresh {
            fs::write(kept.join(name), text).expect("written");
        }
    }
    assert_eq!(fresh, files(&kept), "run UPDATE_GENERATED=1 cargo test -p shop-adapter generated");
}
