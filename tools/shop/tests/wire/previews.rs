//! Tests of the previews of changes, computed with simplified filters of the host. The shop must do
//! what an approved preview shows, and a change that the shop will refuse must not be proposed.

use contract::PreviewView;
use minijinja::{Environment, Value as Template, value::Serde};
use serde_json::{Value, json};

use crate::results;

fn ore(value: &Template) -> Option<i64> {
    let text = value.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "00"));
    (!whole.is_empty()).then(|| format!("{whole}{fraction:0<2}").parse().ok())?
}

fn combine(a: &Template, b: &Template, with: fn(i64, i64) -> i64) -> String {
    let kronor = |ore: i64| {
        format!("{}{}.{:02}", if ore < 0 { "-" } else { "" }, ore.abs() / 100, ore.abs() % 100)
    };
    ore(a).zip(ore(b)).map_or_else(|| "?".to_owned(), |(a, b)| kronor(with(a, b)))
}

/// Returns the preview of a tool. None if it fails.
fn render_preview(tool: &str, arguments: &Value, reads: &Value, locale: &str) -> Option<Value> {
    let manifest = results::manifest();
    let file =
        manifest["tools"]["tools"].as_array()?.iter().find(|entry| entry["id"] == tool)?["preview"]
            ["template"]
            .as_str()?;
    let mut environment = Environment::new();
    environment.add_filter("dec_add", |a: Template, b: Template| combine(&a, &b, |a, b| a + b));
    environment
        .add_filter("dec_mul", |a: Template, b: Template| combine(&a, &b, |a, b| a * b / 100));
    environment
        .add_filter("money", |a: Template| if ore(&a).is_some() { a } else { Template::from("?") });
    environment.add_filter("tojson", |a: Template| {
        Template::from_safe_string(serde_json::to_string(&a).unwrap_or_default())
    });
    let mut scope: std::collections::BTreeMap<&str, Template> = reads
        .as_object()?
        .iter()
        .map(|(name, value)| (name.as_str(), Template::from(Serde(value))))
        .collect();
    scope.insert("args", Template::from(Serde(arguments)));
    scope.insert("locale", Template::from(locale));
    environment.add_function("catalogue", messages::template_words(str::to_owned));
    let template = results::with_words("locale", &results::file(file));
    let text = environment.render_str(&template, Template::from_pairs(scope)).ok()?;
    serde_json::from_str(&text).ok()
}

fn render(tool: &str, arguments: Value, reads: Value) -> PreviewView {
    serde_json::from_value(render_preview(tool, &arguments, &reads, "en").unwrap()).unwrap()
}

/// Checks every preview of a real cart, with the product of the cart's first line.
pub(crate) fn fit(cart: &Value, product: &Value, part: &str) {
    let both = json!({"cart": cart, "product": product});
    let total = |times: i64| {
        let unit: f64 = product["priceIncVat"].as_str().unwrap().parse().unwrap();
        let now: f64 = cart["total"].as_str().unwrap().parse().unwrap();
        format!("{:.2} SEK", now + unit * times as f64)
    };
    let quantities = |view: &PreviewView| {
        view.after.rows.iter().map(|row| (row.quantity.clone(), row.changed)).collect::<Vec<_>>()
    };

    let more = render("cart.addItem", json!({"partNo": part, "quantity": 3}), both.clone());
    assert_eq!((more.before.total.clone(), more.after.total.clone()), (total(0), total(3)));
    assert_eq!(quantities(&more), [("5".to_owned(), true), ("1".to_owned(), false)]);
    let first =
        render("cart.addItem", json!({"partNo": part}), json!({"cart": null, "product": product}));
    assert_eq!(
        (
            first.before.rows.len(),
            quantities(&first),
            first.summary.starts_with("Add 1 × Ridge Runner (")
        ),
        (0, vec![("1".to_owned(), true)], true)
    );
    let unread =
        render("cart.addItem", json!({"partNo": part}), json!({"cart": null, "product": null}));
    assert_eq!((unread.after.rows[0].label.as_str(), unread.after.total.as_str()), (part, "?"));

    // For a product with variants, a variant must be chosen first. A variant needs no choice.
    let parent = json!({"name": "Boot", "partNo": "B", "priceIncVat": "1.00", "variants": [
        {"partNo": "B-1", "variantName": "41", "isBuyable": true},
        {"partNo": "B-2", "variantName": "42", "isBuyable": false},
    ]});
    let refused = |part: &str, product: &Value| {
        render_preview(
            "cart.addItem",
            &json!({"partNo": part}),
            &json!({"cart": null, "product": product}),
            "en",
        )
        .unwrap()["refuse"]
            .clone()
    };
    assert!(
        refused("B", &parent)
            .as_str()
            .is_some_and(|why| why.ends_with("use its part number: 41 = B-1."))
    );
    assert_eq!(refused("b-1", &parent), Value::Null);
    let sold =
        json!({"name": "Boot", "partNo": "B", "variants": [{"partNo": "B-2", "isBuyable": false}]});
    assert_eq!(refused("B", &sold), "No variant of Boot can be bought.");

    let fewer =
        render("cart.setItemQuantity", json!({"productId": part, "quantity": 1}), both.clone());
    assert_eq!(
        (fewer.after.total.clone(), quantities(&fewer)),
        (total(-1), vec![("1".to_owned(), true), ("1".to_owned(), false)])
    );
    let gone = render("cart.removeItem", json!({"productId": part}), both.clone());
    assert_eq!(
        (gone.after.total.clone(), gone.after.rows.len(), gone.before.rows[0].changed),
        (total(-2), 1, true)
    );

    // The shop accepts a part number in any case and with spaces around it, so both texts name the
    // same line.
    let written = format!(" {} ", part.to_lowercase());
    assert_eq!(
        render("cart.addItem", json!({"partNo": written, "quantity": 3}), both.clone()).after,
        more.after
    );
    assert_eq!(
        render("cart.setItemQuantity", json!({"productId": written, "quantity": 1}), both.clone()),
        fewer
    );
    assert_eq!(render("cart.removeItem", json!({"productId": written}), both.clone()), gone);
}

#[test]
fn a_line_is_recognised_by_any_number_that_no_other_line_has() {
    let line = |part: &str, more: Value| {
        let mut line = json!({"partNo": part, "name": part, "quantity": 2, "unitPrice": "5.00", "totalPrice": "10.00"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let cart = json!({"items": [line("A-1", json!({"productId": 4711})), line("A-2", json!({"productId": null, "id": "L-2"})), line("A-3", json!({}))], "total": "30.00"});
    for (at, named) in [(0, "4711"), (0, " a-1"), (1, "l-2 "), (1, "A-2"), (2, "A-3")] {
        let set = render(
            "cart.setItemQuantity",
            json!({"productId": named, "quantity": 1}),
            json!({"cart": cart}),
        );
        let changed: Vec<bool> = (0..3).map(|row| row == at).collect();
        assert_eq!(
            set.after.rows.iter().map(|row| row.changed).collect::<Vec<_>>(),
            changed,
            "{named}"
        );
        assert_eq!(
            (set.after.rows[at].quantity.as_str(), set.after.total.as_str()),
            ("1", "25.00"),
            "{named}"
        );
        let gone = render("cart.removeItem", json!({"productId": named}), json!({"cart": cart}));
        assert_eq!(
            gone.before.rows.iter().map(|row| row.changed).collect::<Vec<_>>(),
            changed,
            "{named}"
        );
        assert_eq!((gone.after.rows.len(), gone.after.total.as_str()), (2, "20.00"), "{named}");
    }
    // Several lines may have the number of the parent product. The shop would change one of them,
    // so an approval must not cover more.
    let cart = json!({"items": [line("A-1", json!({"productId": 4711})), line("A-2", json!({"productId": 4711})), line("4711", json!({}))], "total": "30.00"});
    let gone = |cart: &Value| {
        render_preview(
            "cart.removeItem",
            &json!({"productId": "4711"}),
            &json!({"cart": cart}),
            "en",
        )
        .unwrap()
    };
    let rows: Vec<Value> = gone(&cart)["before"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["changed"].clone())
        .collect();
    assert_eq!(rows, [json!(false), json!(false), json!(true)], "a part number before any other");
    let shared = json!({"items": [cart["items"][0], cart["items"][1]], "total": "20.00"});
    for (tool, locale, said) in [
        ("cart.removeItem", "en", "4711 is on several lines"),
        ("cart.setItemQuantity", "sv", "4711 finns på flera rader"),
    ] {
        let refused = render_preview(
            tool,
            &json!({"productId": "4711", "quantity": 1}),
            &json!({"cart": shared}),
            locale,
        )
        .unwrap();
        assert!(
            refused["refuse"]
                .as_str()
                .is_some_and(|why| why.starts_with(said) && why.ends_with(": A-1; A-2.")),
            "{refused}"
        );
    }
    // The demo shop accepts a variant's number, so its lines contain it.
    let own = results::cart();
    assert_eq!(
        render(
            "cart.removeItem",
            json!({"productId": own["items"][0]["productId"]}),
            json!({"cart": own})
        )
        .after
        .rows
        .len(),
        0
    );
}

#[test]
fn a_change_of_an_item_that_is_not_in_the_cart_is_refused_without_asking() {
    let cart = json!({"items": [{"partNo": "A-1", "name": "Tent", "quantity": 1, "totalPrice": "5.00"}], "total": "5.00"});
    for (tool, arguments) in [
        ("cart.setItemQuantity", json!({"productId": "4711", "quantity": 2})),
        ("cart.removeItem", json!({"productId": "4711"})),
    ] {
        for (locale, absent, empty) in [
            ("en", "4711 is not in the cart", "is empty"),
            ("sv", "4711 ligger inte i varukorgen", "är tom"),
        ] {
            let refused = |cart: &Value| {
                render_preview(tool, &arguments, &json!({"cart": cart}), locale).unwrap()["refuse"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            let said = refused(&cart);
            assert!(said.starts_with(absent) && said.ends_with(": Tent = A-1."), "{said}");
            assert!(refused(&json!({"items": [], "total": "0.00"})).contains(empty));
            assert_eq!(refused(&Value::Null), "", "a cart that could not be read says nothing");
        }
    }
}

#[test]
fn a_preview_is_rendered_without_any_optional_member() {
    let (product, cart) = (results::product(), results::cart());
    let part = cart["items"][0]["partNo"].clone();
    for (tool, arguments) in [
        ("cart.addItem", json!({"partNo": product["variants"][0]["partNo"], "quantity": 2})),
        ("cart.setItemQuantity", json!({"productId": part, "quantity": 2})),
        ("cart.removeItem", json!({"productId": part})),
    ] {
        let with = |cart: &Value, product: &Value, left_out: &str| {
            for locale in ["en", "sv"] {
                let preview = render_preview(
                    tool,
                    &arguments,
                    &json!({"cart": cart, "product": product}),
                    locale,
                );
                let preview =
                    preview.unwrap_or_else(|| panic!("{tool} cannot be computed {left_out}"));
                let view: Result<PreviewView, _> = serde_json::from_value(preview.clone());
                assert!(
                    view.is_ok() || preview["refuse"].is_string(),
                    "{tool} {left_out}: {preview}"
                );
                for odd in ["none", "undefined"] {
                    assert!(!preview.to_string().contains(odd), "{tool} {left_out}: {preview}");
                }
            }
        };
        results::with_less("Cart", &cart, |cart, left_out| with(cart, &product, left_out));
        results::with_less("ProductGetOutput", &product, |product, left_out| {
            with(&cart, product, left_out)
        });
    }
}
