//! Conversations as people have them, turn by turn.

use serde_json::json;

use super::world::World;

#[test]
fn probe() {
    let script = std::env::var("PROBE").unwrap_or_default();
    let mut world = World::new();
    for line in script.split('|').filter(|line| !line.is_empty()) {
        let turn = world.say(line);
        println!("\n> {line}");
        for call in &turn.calls {
            println!("   {} {}", call.tool, call.arguments);
        }
        println!("{}", turn.text);
        for choice in &turn.choices {
            println!("   [{}] {}", choice.label, choice.message);
        }
    }
    let _ = json!({});
}

#[test]
fn dump_catalogue() {
    let shop = shop::Shop::open(shop::Options::default()).expect("shop");
    for query in std::env::var("DUMP").unwrap_or_default().split('|').filter(|q| !q.is_empty()) {
        let args = json!({"query": query, "pageSize": 50});
        let found = shop.call("product.search", args.as_object().expect("o")).map_err(|e| e.0.to_string()).expect("found");
        println!("## {query}: {}", found["totalCount"]);
        for item in found["items"].as_array().expect("items") {
            let got = shop.call("product.get", json!({"productId": item["productId"]}).as_object().expect("o")).map_err(|e| e.0.to_string()).expect("got");
            let variants = got["variants"].as_array().map(|v| v.iter().filter(|v| v["isBuyable"] == true && v["onHand"]["value"].as_i64() > Some(0)).map(|v| v["variantName"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()).unwrap_or_default();
            println!("{} {} {} {} {} | {} | stock {} buyable {} in-stock-variants {}: {:?}", item["productId"], item["partNo"], item["name"], item["price"], item["brand"], item["color"], got["onHand"]["value"], got["attributes"]["isBuyable"], variants.len(), variants.iter().take(12).collect::<Vec<_>>());
        }
    }
}
