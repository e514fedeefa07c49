//! Tests of the manifest's answers and labels, rendered from results that lack optional members.

use minijinja::{Environment, Value as Template, syntax::SyntaxConfig, value::Serde};
use serde_json::{Value, json};

use crate::results;

/// Renders a template of the pack, or the file that the template names, as the offline model does,
/// with simplified filters.
fn render_template(template: &str, locale: &str, scope: &Value) -> Result<String, String> {
    let text =
        if template.ends_with(".jinja") { results::file(template) } else { template.to_owned() };
    let mut environment = Environment::new();
    environment
        .set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().unwrap());
    environment.set_formatter(|out, _, value| match value.is_undefined() || value.is_none() {
        true => Ok(()),
        false => {
            std::fmt::Write::write_str(out, &value.to_string()).map_err(minijinja::Error::from)
        }
    });
    let money = |value: Template, currency: Option<String>, _: Option<usize>| match value
        .is_undefined()
        || value.is_none()
    {
        true => "–".to_owned(),
        false => format!("{value} {}", currency.unwrap_or_default()).trim().to_owned(),
    };
    environment.add_filter("money", money);
    environment.add_filter("day", |value: Template| value);
    environment.add_function("catalogue", messages::template_words(str::to_owned));
    let text = results::with_words(&format!("'{locale}'"), &text);
    environment
        .render_str(&text, Template::from(Serde(scope)))
        .map_err(|error| format!("{error:#}"))
}

/// Returns the template in a value of the manifest, if the value has one.
fn template(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Returns the templates of a tool's answers.
fn answers(tool: &str) -> Vec<String> {
    let manifest = results::manifest();
    let entry = manifest["tools"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["id"] == tool)
        .unwrap()
        .clone();
    let found: Vec<String> = entry["offline"]["intents"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|intent| template(&intent["answer"]))
        .collect();
    assert!(!found.is_empty());
    found
}

fn assert_renders(template: &str, scope: &Value, left_out: &str) {
    for locale in ["en", "sv"] {
        let text = render_template(template, locale, scope)
            .unwrap_or_else(|why| panic!("{template} {left_out}: {why}"));
        assert!(!text.trim().is_empty(), "{template} {left_out}");
        for odd in ["(–", "– –", "none", "undefined", "** –\n"] {
            assert!(!text.contains(odd), "{template} {left_out}: {text}");
        }
    }
}

#[test]
fn answers_are_rendered_without_any_optional_member() {
    let args = json!({"query": "shoes", "filters": {"maxPrice": 1000, "inStock": true}});
    for (tool, schema, result) in [
        ("product.search", "ProductSearchOutput", results::found()),
        ("product.get", "ProductGetOutput", results::product()),
        ("cart.get", "Cart", results::cart()),
        ("cart.addItem", "CartChanged", results::changed()),
        ("cart.setItemQuantity", "CartChanged", results::changed()),
        ("cart.removeItem", "CartChanged", results::changed()),
    ] {
        for template in answers(tool) {
            results::with_less(schema, &result, |less, left_out| {
                for results in [json!([less, result]), json!([result, less])] {
                    assert_renders(
                        &template,
                        &json!({"args": args, "result": less, "results": results}),
                        left_out,
                    );
                }
            });
        }
    }
}

#[test]
fn labels_are_rendered_without_any_optional_member() {
    let things = results::manifest()["offline"]["things"].clone();
    for (thing, schema, result, at) in [
        ("product", "ProductSearchOutput", results::found(), "/items/0"),
        ("product", "ProductGetOutput", results::product(), ""),
        ("variant", "ProductGetOutput", results::product(), "/variants/0"),
        ("line", "Cart", results::cart(), "/items/0"),
    ] {
        results::with_less(schema, &result, |less, left_out| {
            let Some(item) = less.pointer(at) else { return };
            for template in
                ["label", "unusable"].iter().filter_map(|name| template(&things[thing][name]))
            {
                assert_renders(&template, &json!({"item": item, "items": [item]}), left_out);
            }
        });
    }
}

#[test]
fn a_false_attribute_is_answered_with_no() {
    let product = |attributes: Value| json!({"productId": 1, "name": "Tent", "priceIncVat": "5.00", "attributes": attributes});
    let (dry, wet) = (
        product(json!({"Waterproof": true, "Pockets": 0, "Kind": "Dome"})),
        product(json!({"Waterproof": false, "Kind": null})),
    );
    let scope = json!({"args": {}, "result": wet, "results": [wet, dry]});
    for (locale, yes, no) in [("en", "yes", "no"), ("sv", "ja", "nej")] {
        let table = render_template("answers/compare.jinja", locale, &scope).unwrap();
        for row in [
            format!("| Waterproof | {no} | {yes} |\n"),
            "| Pockets | – | 0 |\n".to_owned(),
            "| Kind | – | Dome |\n".to_owned(),
        ] {
            assert!(table.contains(&row), "{row} in {table}");
        }
        let details = render_template("answers/product.jinja", locale, &scope).unwrap();
        assert!(
            details.contains(&format!("\n- Waterproof: {no}\n")) && !details.contains("Kind"),
            "{details}"
        );
    }
}

#[test]
fn an_amount_without_a_currency_is_answered_without_one() {
    let manifest = results::file("pack.json");
    assert!(
        !manifest.contains("'SEK'") && !manifest.contains("\"SEK\""),
        "only a shop says what it sells in"
    );
}

#[test]
fn a_product_without_stock_data_is_not_called_out_of_stock() {
    let unknown = json!({"productId": 1, "name": "Tent", "priceIncVat": "5.00"});
    let variant = json!({"productId": 2, "partNo": "T-RED", "name": "Red", "isBuyable": true});
    let with_variant =
        json!({"productId": 1, "name": "Tent", "priceIncVat": "5.00", "variants": [variant]});
    for product in [&unknown, &with_variant] {
        for template in answers("product.get") {
            let scope = json!({"args": {}, "result": product, "results": [product, product]});
            for locale in ["en", "sv"] {
                let text = render_template(&template, locale, &scope).unwrap().to_lowercase();
                for wrong in ["out of stock", "slut i lager", " no |", " nej |"] {
                    assert!(!text.contains(wrong), "{template}: {text}");
                }
            }
        }
    }
    let things = results::manifest()["offline"]["things"].clone();
    let label = template(&things["variant"]["label"]).unwrap();
    for locale in ["en", "sv"] {
        let scope = json!({"item": variant});
        assert_eq!(render_template(&label, locale, &scope).unwrap(), "Red");
    }
    let usable = |item: &Value| {
        let environment = Environment::new();
        let expression = things["variant"]["usable"].as_str().unwrap().to_owned();
        let compiled = environment.compile_expression(&expression).unwrap();
        compiled.eval(Template::from(Serde(&json!({"item": item})))).unwrap().is_true()
    };
    assert!(usable(&variant));
    for stock in [json!({"value": 0}), json!({"value": 3, "isActive": false})] {
        let mut gone = variant.clone();
        gone["onHand"] = stock;
        assert!(!usable(&gone));
    }
    assert!(!usable(&json!({"productId": 2, "isBuyable": false})));
}
