//! Tests of the size of answers: what does not fit is told and comes on the next page.

use serde_json::{Value, json};

use super::World;

/// The most bytes that a model gets.
const MOST: usize = 64 * 1024;

fn size(answer: &Value) -> usize {
    answer.to_string().len()
}

fn notes(answer: &Value) -> String {
    answer["notes"].to_string()
}

/// A table of many rows with long names.
fn long_table(rows: usize) -> String {
    let mut text = "Day,Name,Amount\n".to_owned();
    for at in 0..rows {
        text += &format!("2026-11-{:02},{}{at:05},{at}\n", at % 28 + 1, "name-".repeat(30));
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn all_rows_of_a_large_result_come_in_pages_that_say_what_was_cut() {
    let world = World::new().await;
    world.add("names", &long_table(2_000), None).await;
    let query =
        json!({"source": "names", "measures": [{"sum": "Amount", "as": "amount"}], "by": ["Name"]});
    let sql = "SELECT \"Name\", \"Amount\" FROM names ORDER BY 1";
    for (tool, mut arguments) in
        [("data.measure", json!({ "query": query })), ("data.query", json!({ "sql": sql }))]
    {
        let mut amounts = Vec::new();
        loop {
            let page = world.answer(tool, arguments.clone()).await;
            assert!(size(&page) <= MOST, "{tool}: {} bytes", size(&page));
            assert_eq!(page["row_count"], 2_000, "{tool}");
            let rows = page["rows"].as_array().unwrap();
            amounts.extend(rows.iter().map(|row| row[1].as_u64().unwrap()));
            let Some(more) = page["more"].as_str() else { break };
            let told = format!("to {} of 2000", amounts.len());
            assert!(notes(&page).contains(&told), "{tool}: {}", notes(&page));
            arguments["cursor"] = json!(more);
        }
        assert_eq!(amounts, (0..2_000).collect::<Vec<u64>>(), "{tool}");
    }
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_too_large_is_shortened_with_a_note() {
    let world = World::new().await;
    world.add("names", &long_table(3), None).await;
    let sql =
        "SELECT string_agg(lpad('x', 10000, 'y'), '') AS text, 7 AS number FROM names, range(10)";
    let answer = world.answer("data.query", json!({ "sql": sql })).await;
    assert!(size(&answer) <= MOST, "{} bytes", size(&answer));
    assert!(notes(&answer).contains("shortened"), "{}", notes(&answer));
    assert_eq!(answer["rows"][0][1], 7);
    let columns: Vec<String> = (0..900).map(|at| format!("1 AS c{at}")).collect();
    let sql = format!("SELECT {} FROM names", columns.join(", "));
    let refused = world.call("data.query", json!({ "sql": sql })).await;
    let error = refused.error.unwrap_or_else(|| panic!("{}", refused.data));
    assert_eq!(error.reason_text(), Some("result_too_wide"), "{error:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wide_source_is_described_in_pages() {
    let world = World::new().await;
    let names: Vec<String> =
        (0..330).map(|at| format!("A measure with a long name {at}")).collect();
    let cells = vec!["12.50"; names.len()].join(",");
    let text = format!("Day,{}\n2026-11-01,{cells}\n2026-11-02,{cells}\n", names.join(","));
    world.add("wide", &text, None).await;
    let (mut seen, mut arguments, mut pages) = (Vec::new(), json!({"source": "wide"}), 0);
    loop {
        let page = world.answer("data.describe", arguments.clone()).await;
        assert!(size(&page) <= MOST, "{} bytes", size(&page));
        pages += 1;
        let measures = page["measures"].as_array().unwrap();
        seen.extend(measures.iter().map(|one| one["name"].as_str().unwrap().to_owned()));
        let Some(more) = page["more"].as_str() else { break };
        assert!(notes(&page).contains("entries"), "{}", notes(&page));
        arguments["cursor"] = json!(more);
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((count, seen.len()), (330, 330), "each measure is told once");
    assert!(pages > 1);
    let listed = world.answer("data.sources", json!({})).await;
    assert!(size(&listed) <= MOST);
    assert_eq!(listed["sources"][0]["rows"], 2);
    assert_eq!(listed["sources"][0].get("measures"), None, "names come by a search");
    let search = json!({"source": "wide", "search": "name 317"});
    let found = world.answer("data.describe", search).await;
    assert!(found["measures"][0]["name"].as_str().unwrap().ends_with("317"), "{found}");
    assert!(notes(&found).contains("left out"), "{found}");
    assert!(size(&found) < 8_000, "{} bytes", size(&found));
    world.host.stop().await;
}
