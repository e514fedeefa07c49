//! Every view in light and dark, in two sizes: nothing sticks out, and a picture of each is kept.

use serde_json::json;

use crate::world::{Journey, Page};

const SIZES: [(u32, u32); 2] = [(1280, 800), (800, 600)];

#[test]
fn every_view_fits_in_light_and_dark() {
    let journey = Journey::start("views");
    journey.ask("How is account 17 pacing this month?");
    journey.ask("show me black trail shoes");
    for theme in ["light", "dark"] {
        let mut settings = journey.call("settings_get", json!({})).expect("settings")["settings"].clone();
        settings["theme"] = json!(theme);
        journey.call("settings_set", json!({ "settings": settings })).expect("the theme is set");
        for (width, height) in SIZES {
            journey.chat(|page| page.session.resize(width, height).expect("a size"));
            for view in ["Chat", "Audit", "Tools", "Data", "Settings"] {
                journey.chat(|page| {
                    page.go(view);
                    fits(page, &format!("{view}, {theme}, {width}x{height}"));
                });
                journey.picture(format!("views/{}-{theme}-{width}x{height}.png", view.to_lowercase()));
            }
        }
    }
}

/// Nothing is wider than the window, and no button's text is cut off.
fn fits(page: &Page<'_>, what: &str) {
    let script = "return document.documentElement.scrollWidth <= innerWidth + 1;";
    kit::webdriver::wait(&format!("{what}: the page to fit"), || (page.script(script) == json!(true)).then_some(()));
    let cut = page.script(
        "return [...document.querySelectorAll('button, h1, h2')].filter((e) => e.getClientRects().length && e.clientWidth > 2 && e.scrollWidth > e.clientWidth + 2 \
         && getComputedStyle(e).overflowX === 'hidden' && getComputedStyle(e).textOverflow !== 'ellipsis').map((e) => e.textContent.trim());",
    );
    assert_eq!(cut, json!([]), "{what}: texts that are cut off");
}
