//! Boards in the window: the first board of a source, arranged by keyboard, with a filter and a period,
//! in small and large windows; a tile and a board that are brought back; and a source that is gone.

use std::fmt::Write as _;

use kit::webdriver::{key, wait};
use serde_json::{Value, json};

use crate::{
    given,
    keyboard::tab_to,
    views::{fits, resize},
    world::{Journey, NOW, Page},
};

/// The smallest and the largest window, and two between them.
const SIZES: [(u32, u32); 4] = [(720, 480), (1280, 800), (1920, 1080), (2560, 1440)];

const ADS: &str = "Day,Campaign,Cost,Clicks\n2026-11-01,Autumn,1000.50,10\n\
                   2026-11-02,Autumn,2000.25,20\n2026-11-03,Winter,3000.25,30\n";

#[test]
fn the_first_board_of_a_source_is_arranged_filtered_and_brought_back() {
    let journey = Journey::with("boards", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    given::source(&journey, "ads", ADS);
    journey.chat(|page| {
        page.go("Boards");
        page.says("Pin a result, or make a board of a source.");
        make_board(page);
    });
    for (width, height) in SIZES {
        journey.chat(|page| {
            resize(page, width, height);
            fits(page, &format!("a board, {width}x{height}"));
        });
        journey.picture(format!("board-{width}x{height}.png"));
    }
    journey.chat(|page| {
        resize(page, 1280, 800);
        let before = tiles(page);
        page.click("Arrange");
        page.script("document.querySelector('[data-move=down]').focus();");
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        page.says("Now tile 2 of");
        let after = tiles(page);
        assert_eq!((&after[1], &after[0]), (&before[0], &before[1]));
        let focus = "return document.activeElement?.dataset.move ?? '';";
        wait("the focus to stay", || (page.script(focus) == "down").then_some(()));
        page.click("Arrange");

        page.click("Add filter");
        page.says("Values");
        let choose = "const box = document.querySelector('dialog[open] input[type=checkbox]'); box?.click(); return !!box;";
        wait("the values", || (page.script(choose) == json!(true)).then_some(()));
        page.script("document.querySelector('dialog[open] footer [type=submit]').click();");
        page.says("Campaign: Autumn");
        computed(page);
        page.choose("Period", "all");
        computed(page);
    });
    let boards = journey.call("boards_list", json!({})).expect("boards")["boards"].clone();
    wait("the filter and the period to be stored", || {
        let board = journey.call("board_open", json!({"id": boards[0]["id"]})).ok()?;
        let content = &board["content"];
        let is_filtered = content["filters"] == json!([{"campaign": ["Autumn"]}]);
        (is_filtered && content["period"] == json!({})).then_some(())
    });

    journey.chat(|page| {
        let before = tiles(page);
        page.click("Arrange");
        page.click("Remove from board");
        page.says("Tile removed");
        page.click("Undo");
        wait("the tile", || (tiles(page) == before).then_some(()));
        computed(page);
    });
    journey.call("source_remove", json!({"name": "ads"})).expect("removed");
    journey.chat(|page| {
        // The button is busy while a tile is computed.
        page.click_armed("Refresh");
        page.says("The source ads of this tile is gone.");
        page.click("More actions for this board");
        page.click("Delete board");
        page.says("Board deleted: ads");
        page.click("Undo");
        wait("the board in the list", || page.has_button("ads").then_some(()));
    });
    journey.quit();
    journey.assert_log_verifies();
}

#[test]
fn a_portfolio_is_drilled_from_an_account_to_its_days_with_the_keyboard() {
    let journey = Journey::with("portfolio", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    // Oak spends what is planned, Elm three fifths of it.
    let mut ads = "Day,Account,Campaign,Cost\n".to_owned();
    for day in 1..=17 {
        writeln!(ads, "2026-11-{day:02},North,Oak,100.00\n2026-11-{day:02},South,Elm,60.00")
            .expect("a text");
    }
    given::source(&journey, "ads", &ads);
    let plan = "Account,Campaign,Budget,Start,End\nNorth,Oak,3000,2026-11-01,2026-11-30\n\
                South,Elm,3000,2026-11-01,2026-11-30\n";
    given::source(&journey, "plan", plan);
    journey.chat(|page| {
        page.go("Boards");
        page.click("New board");
        let offers = "return !!document.querySelector('dialog[open] option[value=pacing]');";
        wait("the source to be offered", || (page.script(offers) == json!(true)).then_some(()));
        page.choose("Start with", "pacing");
        page.click("Create board");
        drawn(page);
        let opens = "const all = [...document.querySelectorAll('[data-tile] td button[tabindex=\"0\"]')]; \
                     return all.map((one) => one.textContent.trim());";
        let opens = page.script(opens);
        let names = opens.as_array().cloned().unwrap_or_default();
        let accounts: Vec<&Value> =
            names.iter().filter(|name| *name == "South" || *name == "North").collect();
        assert_eq!(accounts, ["South", "North"], "the account at risk comes first: {opens}");
    });
    journey.picture("portfolio.png");
    journey.chat(|page| {
        tab_to(page, "South");
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        divided(page, &json!({"dimension": "campaign"}));
        tab_to(page, "Elm");
        page.session.press(&[&[key::ENTER]]).expect("Enter");
        divided(page, &json!({"time": "day"}));
        let rows = page.script("return document.querySelectorAll('dialog[open] tbody tr').length;");
        assert!(rows.as_u64() >= Some(17), "{rows} days");
    });
    journey.quit();
    journey.assert_log_verifies();
}

/// Waits until the rows of a drill-down are divided in some way and can be opened.
fn divided(page: &Page<'_>, by: &Value) {
    let script = "const dialog = document.querySelector('dialog[open]'); \
                  return dialog?.querySelector('td button:not(:disabled)') && dialog.querySelector('select').value;";
    let is_divided = |written: &Value| {
        let written: Option<Value> = serde_json::from_str(written.as_str()?).ok();
        (written.as_ref() == Some(by)).then_some(())
    };
    wait(&format!("the rows by {by}"), || is_divided(&page.script(script)));
}

/// Makes the first board of the source ads, and waits until it has figures.
pub fn make_board(page: &Page<'_>) {
    page.click("New board");
    let options = "return [...document.querySelectorAll('dialog[open] option')].map((o) => o.textContent).join();";
    wait("the board of the source to be offered", || {
        page.script(options).as_str()?.contains("The main figures of ads").then_some(())
    });
    page.click("Create board");
    computed(page);
}

/// Waits until all tiles have figures, and the board says what holds for all of them.
fn computed(page: &Page<'_>) {
    drawn(page);
    page.says("As of");
    page.says("Computed with definitions that nobody approved yet.");
}

/// Waits until all tiles have figures.
fn drawn(page: &Page<'_>) {
    let script = "const all = [...document.querySelectorAll('[data-tile]')]; \
                  return all.length > 3 && all.every((tile) => tile.querySelector('.body:not(.old)') && \
                  !tile.querySelector('[role=status] svg'));";
    wait("the figures of all tiles", || (page.script(script) == json!(true)).then_some(()));
}

/// Returns the tiles in their order.
fn tiles(page: &Page<'_>) -> Value {
    page.script(
        "return [...document.querySelectorAll('[data-tile]')].map((one) => one.dataset.tile);",
    )
}
