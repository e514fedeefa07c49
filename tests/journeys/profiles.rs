//! The columns of a source in the Data view: empty and different values, the least and the greatest
//! one, frequent values, and ranges as bars.

use kit::webdriver::wait;
use serde_json::{Value, json};

use crate::{
    given,
    world::{Journey, NOW, Page},
};

/// Four rows: one without a campaign, and two with the same cost.
const ADS: &str = "Day,Campaign,Device,Cost,Impr.\n2026-11-01,Brand,Mobile,100.00,1000\n\
                   2026-11-02,Brand,Tablet,110.00,1000\n2026-11-03,,Mobile,110.00,30\n\
                   2026-11-04,Shoes,Mobile,0.50,7\n";

#[test]
fn columns_of_a_source_have_figures_of_their_values_and_bars_that_count_all_rows() {
    let journey = Journey::with("profiles", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    given::source(&journey, "ads", ADS);
    journey.chat(|page| {
        page.go("Data");
        page.click("ads");
        page.named("[role=tab]", "Columns", false).click().expect("a click");
        page.says("Computed from all 4 rows.");
        let cost = column(page, "Cost");
        assert_eq!(figures(&cost, ["Empty", "Different values"]), ["0", "3"]);
        let bounds = figures(&cost, ["Smallest", "Largest", "Total"]);
        let bounds = bounds.map(|text| text.parse::<f64>().expect("a number"));
        assert_eq!(bounds, [0.5, 110.0, 320.5]);
        let counts: Vec<u64> = serde_json::from_value(cost["ranges"].clone()).expect("counts");
        assert_eq!(counts.iter().sum::<u64>(), 4, "{cost}");
        assert_eq!(cost["bars"], json!(counts.len()), "a bar for each range");
        assert_eq!(cost["frequent"][0], "110 2");
        assert!(cost["summary"].as_str().is_some_and(|text| text.contains("110")), "{cost}");

        let campaign = column(page, "Campaign");
        assert_eq!(figures(&campaign, ["Empty", "Different values"]), ["1 (25%)", "2"]);
        assert_eq!(campaign["frequent"][0], "Brand 2");
        let day = column(page, "Day");
        assert_eq!(figures(&day, ["First", "Last"]), ["Nov 1, 2026", "Nov 4, 2026"]);
        page.named("summary", "As a table", false).click().expect("a click");
        wait("the ranges as a table", || {
            let script = "return document.querySelector('[data-column] details[open] td')?.getClientRects().length > 0;";
            (page.script(script) == json!(true)).then_some(())
        });
    });
    journey.picture("profiles/columns.png");
    journey.quit();
}

/// Returns what the card of a column shows, once it is computed.
fn column(page: &Page<'_>, name: &str) -> Value {
    let script = "const text = (one) => one?.textContent.replace(/\\s+/g, ' ').trim() ?? ''; \
                  const card = [...document.querySelectorAll('[data-column]')].find((one) => one.dataset.column === arguments[0]); \
                  if (!card?.querySelector('dl')) return null; \
                  return { figures: Object.fromEntries([...card.querySelectorAll('dl > div')].map((one) => [text(one.children[0]), text(one.children[1])])), \
                    bars: card.querySelectorAll('figure rect').length, summary: card.querySelector('figure svg')?.getAttribute('aria-label') ?? '', \
                    ranges: [...card.querySelectorAll('figure tbody tr')].map((row) => Number(row.cells[2].textContent)), \
                    frequent: [...card.querySelectorAll('ol li')].map((one) => [...one.children].map(text).join(' ')) };";
    wait(&format!("the figures of {name}"), || {
        page.session.run(script, json!([name])).ok().filter(Value::is_object)
    })
}

fn figures<const COUNT: usize>(column: &Value, names: [&str; COUNT]) -> [String; COUNT] {
    names.map(|name| column["figures"][name].as_str().unwrap_or_default().to_owned())
}
