//! Sources in the window: a file dropped, looked at, corrected, imported, read as a table, refreshed,
//! undone and removed; a file that cannot be read; a program that dies in the middle of its work;
//! and the pages in small and large windows.

use std::{fmt::Write as _, fs, path::PathBuf, process::Command};

use kit::{
    desktop::{descendants, program},
    webdriver::{key, wait, wait_for},
};
use serde_json::{Value, json};

use crate::{
    choosers::{OPEN, choose},
    dragging::drop_files,
    views::{fits, resize, set},
    world::{Journey, NOW, Page, wanted_pictures},
};

/// The smallest and the largest window, and two between them.
const SIZES: [(u32, u32); 4] = [(800, 600), (1280, 800), (1920, 1080), (2560, 1440)];

/// A report with title lines, decimal commas and a total line.
const REPORT: &str = "Campaign report\n2026-11-01 - 2026-11-03\nDay;Campaign;Cost;Clicks\n2026-11-01;Autumn;1.000,50;10\n2026-11-02;Autumn;2.000,25;20\n2026-11-03;Winter;3.000,25;30\nTotal;;6.001,00;60\n";

/// A table whose dates leave the order of day and month open.
const ASKS: &str = "Day,Campaign,Cost\n1/11/2026,Oak,5.50\n2/11/2026,Oak,6.50\n";
/// A table with a line that cannot be read.
const REJECTED: &str = "Day,Campaign,Cost\n2026-11-01,Oak,5\nsoon,Oak,5\n2026-11-03,Oak,6\n2026-11-04,Oak,7\n2026-11-05,Oak,7\n2026-11-06,Oak,7\n2026-11-07,Oak,7\n";
/// A web page with the name of a workbook.
const NO_TABLE: &[u8] = b"<html><body><table><tr><td>1</td></tr></table></body></html>";

#[test]
fn a_dropped_file_becomes_a_source_that_can_be_read_taken_back_and_removed() {
    let journey = Journey::with("sources", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    let report = file(&journey, "ads.csv", REPORT.as_bytes());
    journey.chat(|page| page.go("Data"));
    drop_files(&journey, &[&report], || {
        journey.chat(|page| page.text().contains("Drop the files to import them"))
    });
    journey.chat(|page| {
        page.says("Becomes the new source ads");
        page.says("3 of 4 records");
        page.says("Equals the rows");
        page.says("Nothing is stored yet.");
    });
    journey.picture("source-survey.png");

    // The clicks are said to be names, so that they are no longer added up.
    journey.chat(|page| {
        page.click("Clicks");
        page.script("document.querySelector('dialog[open] input[value=name]').click();");
        page.script("document.querySelector('dialog[open] footer [type=submit]').click();");
        page.says("before: 60");
        page.click("Import 3 rows");
        page.says("3 rows are in ads.");
        page.click("Show the source");
        page.named("[role=tab]", "Rows", false).click().expect("a click");
        wait("three rows in the table", || (row_count(page) == json!("4")).then_some(()));
        page.click("Cost");
        wait("the greatest cost first", || {
            (first_cell(page, 3) == json!("3,000.25")).then_some(())
        });
    });
    journey.picture("source-rows.png");

    // The file changes, and a refresh imports it again. A wider column stays wide.
    let before = journey.chat(|page| widened(page, 1));
    fs::write(&report, REPORT.replace("3.000,25", "3.500,25").replace("6.001,00", "6.501,00"))
        .expect("written");
    journey.chat(|page| {
        page.click("Refresh");
        page.says("1 file imported: ads.csv");
        wait("the new cost", || (first_cell(page, 3) == json!("3,500.25")).then_some(()));
        assert_eq!(width(page, 1), before, "the width is kept");
        page.click("Refresh");
        page.says("There are no new or changed files.");
    });

    // A restart keeps the width, too.
    wait("the width to be stored", || {
        let stored = journey.call("settings_get", json!({})).ok()?;
        stored["settings"]["column_widths"]["ads"].is_object().then_some(())
    });
    journey.quit();
    journey.open();
    journey.chat(|page| {
        page.go("Data");
        page.click("ads");
        has_focus(page, "h2");
        page.named("[role=tab]", "Rows", false).click().expect("a click");
        wait("the rows after the restart", || (row_count(page) == json!("4")).then_some(()));
        wait("the width that was stored", || (width(page, 1) == before).then_some(()));
    });

    journey.chat(|page| {
        page.click("Imports");
        page.says("If it is undone, the source is as it was after ads.csv.");
        page.says("Can be undone after the newer ones");
        page.click("Undo");
        page.says("The import was undone. ads is as it was before.");
        page.says("If it is undone, the source is empty.");
        page.click("Undo");
        page.says("There is no import.");
        page.click("More for this source");
        page.named("[role=menuitem]", "Remove source", true).click().expect("a click");
        page.click("Remove and erase");
        page.says("Drop files anywhere on this window");
        has_focus(page, "h1");
    });
    assert_eq!(journey.call("sources_list", json!({})).expect("sources")["sources"], json!([]));
    journey.quit();
    journey.assert_log_verifies();
}

#[test]
fn a_file_that_is_no_table_is_refused_with_the_reason_and_another_one_is_chosen() {
    let journey = Journey::with("sources-wrong", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    let page = file(&journey, "report.xls", NO_TABLE);
    journey.chat(|page| page.go("Data"));
    drop_files(&journey, &[&page], || {
        journey.chat(|page| page.text().contains("Drop the files to import them"))
    });
    journey.chat(|page| {
        wait("the reason", || {
            let has = page.script("return !!document.querySelector('.import [role=alert]');");
            (has == json!(true)).then_some(())
        });
        page.click("Cancel");
        page.says("Drop files anywhere on this window");
    });
    assert_eq!(journey.call("sources_list", json!({})).expect("sources")["sources"], json!([]));

    // A file of the system's chooser is looked at like one that is dropped.
    let report = file(&journey, "ads.csv", REPORT.as_bytes());
    journey.chat(|page| page.click("Choose files"));
    choose(&journey, OPEN, &report);
    journey.chat(|page| {
        page.says("Becomes the new source ads");
        page.click("Import 3 rows");
        page.says("3 rows are in ads.");
    });
    journey.quit();
    journey.assert_log_verifies();
}

#[test]
fn a_program_that_dies_in_the_middle_ends_its_work_and_nothing_else() {
    let journey = Journey::with("sources-killed", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    let long = file(&journey, "long.csv", long_table(40_000).as_bytes());
    journey.chat(|page| page.go("Data"));
    drop_files(&journey, &[&long], || {
        journey.chat(|page| page.text().contains("Drop the files to import them"))
    });
    // The importer dies while it reads the file.
    wait("the importer to be killed", || signal_data_program(&journey, "-KILL"));
    journey.chat(|page| {
        wait("the reason", || is_shown(page, ".import [role=alert]"));
        page.click("Try again");
        wait_for("the file to be read", kit::webdriver::PATIENCE * 4, || {
            page.has_button("Import 40,000 rows").then_some(())
        });
        page.click("Import 40,000 rows");
        wait_for("the rows to be stored", kit::webdriver::PATIENCE * 4, || {
            page.has_button("Show the source").then_some(())
        });
        page.click("Show the source");
        page.named("[role=tab]", "Rows", false).click().expect("a click");
        wait("the table", || (row_count(page) == json!("40001")).then_some(()));
    });
    // The query process dies in the middle of a question of the table.
    wait("the query process to stand still", || signal_data_program(&journey, "-STOP"));
    journey.chat(|page| {
        page.click("Cost");
        wait("rows that are being read", || is_shown(page, "[role=row][aria-busy=true]"));
    });
    wait("the query process to be killed", || signal_data_program(&journey, "-KILL"));
    journey.chat(|page| {
        wait("the reason", || is_shown(page, ".grid-place [role=alert]"));
        wait("the rows in another order", || {
            if page.find(".grid-place button", "Try again", true).is_some() {
                page.click("Try again");
            }
            let first = first_cell(page, 3);
            first.as_str().is_some_and(|cost| cost.starts_with("39,999.5")).then_some(())
        });
    });
    journey.chat(|page| page.go("Chat"));
    assert!(journey.ask("hello").len() > 1, "the app answers");
    journey.quit();
    journey.assert_log_verifies();
}

#[test]
fn pages_about_sources_fit_every_window() {
    let journey = Journey::with("sources-sizes", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    let wide = file(&journey, "wide.csv", wide_table(200, 40).as_bytes());
    let folder = journey.desktop.folder().join("home/exports");
    fs::create_dir(&folder).expect("a folder");
    let allowed = json!({ "folder": folder.display().to_string(), "allowed": true });
    journey.call("folder_allow", allowed).expect("allowed");
    journey.chat(|page| page.go("Data"));
    drop_files(&journey, &[&wide], || {
        journey.chat(|page| page.text().contains("Drop the files to import them"))
    });
    journey.chat(|page| wait("the survey", || is_shown(page, ".import .glance")));
    in_sizes(&journey, "survey");
    journey.chat(|page| {
        page.click("Metric 3");
        wait("the dialog of the column", || is_shown(page, "dialog[open] input[value=name]"));
    });
    in_sizes(&journey, "column");
    journey.chat(|page| {
        page.script(
            "document.querySelector('dialog[open] footer button:not([type=submit])').click();",
        );
        page.click("Import 40 rows");
        page.says("40 rows are in wide.");
    });
    in_sizes(&journey, "imported");
    journey.chat(|page| {
        page.click("Show the source");
        page.named("[role=tab]", "Rows", false).click().expect("a click");
        wait("the table", || (row_count(page) == json!("41")).then_some(()));
        // Only the columns in view are drawn.
        let drawn = page.script(
            "return document.querySelectorAll('[aria-rowindex=\"2\"] [role=gridcell]').length;",
        );
        assert!(drawn.as_u64().is_some_and(|count| count > 2 && count < 60), "{drawn} cells");
        press_in_table(page, &[&[key::CONTROL, END]]);
        wait("the last column", || (active_column(page) == json!("200")).then_some(()));
    });
    in_sizes(&journey, "rows");
    for tab in ["Overview", "Columns", "Definitions", "Imports"] {
        journey.chat(|page| page.named("[role=tab]", tab, false).click().expect("a click"));
        in_sizes(&journey, &tab.to_lowercase());
    }
    journey.chat(|page| {
        page.click("All sources");
        page.says(&folder.display().to_string());
    });
    in_sizes(&journey, "list");
    files_with_problems_fit(&journey);
    journey.chat(|page| page.click("Connect a database"));
    in_sizes(&journey, "connect");
    for language in ["sv", "de"] {
        set(&journey, "language", json!(language));
        in_sizes(&journey, &format!("connect-{language}"));
    }
    set(&journey, "language", json!("en"));
    journey.chat(|page| {
        page.click("Cancel");
        page.click("Revoke");
        page.says("No folder is allowed.");
    });
    let left = journey.call("folders_allowed", json!({})).expect("the folders");
    assert_eq!(left["folders"], json!([]));
    journey.quit();
}

/// Drops a file with an open question, one with a line that cannot be read, and one that is no table.
/// Each of them is looked at and left.
fn files_with_problems_fit(journey: &Journey) {
    let asks = file(journey, "asks.csv", ASKS.as_bytes());
    let rejected = file(journey, "rejected.csv", REJECTED.as_bytes());
    let wrong = file(journey, "wrong.xls", NO_TABLE);
    drop_files(journey, &[&asks, &rejected, &wrong], || {
        journey.chat(|page| page.text().contains("Drop the files to import them"))
    });
    let fits_and_is_left = |name: &str| {
        in_sizes(journey, name);
        journey.chat(|page| page.click("Cancel"));
    };
    journey.chat(|page| wait("the question", || is_shown(page, ".import [data-question]")));
    fits_and_is_left("question");
    journey.chat(|page| page.says("Yes, leave this line out"));
    fits_and_is_left("rejected");
    journey.chat(|page| wait("the reason", || is_shown(page, ".import [role=alert]")));
    fits_and_is_left("refused");
}

/// Checks that the page fits in each size. A theme changes no size, so that the second one is only for
/// people who look at the pictures.
pub fn in_sizes(journey: &Journey, name: &str) {
    let themes: &[&str] = if wanted_pictures().is_some() { &["light", "dark"] } else { &["light"] };
    for theme in themes {
        set(journey, "theme", json!(theme));
        for (width, height) in SIZES {
            let look = format!("{theme}-{width}x{height}");
            journey.chat(|page| {
                resize(page, width, height);
                fits(page, &format!("{name}, {look}"));
            });
            journey.look(format!("sources/{name}-{look}.png"));
        }
    }
    journey.chat(|page| resize(page, 1280, 800));
}

/// Sends a signal to the program that works with data. Returns None if it does not run.
fn signal_data_program(journey: &Journey, signal: &str) -> Option<()> {
    let app = journey.with_app(kit::desktop::App::process);
    let running: Vec<u32> = descendants(app)
        .into_iter()
        .filter(|process| program(*process).is_some_and(|path| path.ends_with("csign-data")))
        .collect();
    let names: Vec<String> = running.iter().map(u32::to_string).collect();
    if names.is_empty() {
        return None;
    }
    let sent = Command::new("kill").arg(signal).args(&names).status().expect("kill");
    sent.success().then_some(())
}

/// Returns a table of days with a growing cost.
fn long_table(rows: u32) -> String {
    let mut text = "Day,Campaign,Cost\n".to_owned();
    for row in 0..rows {
        let day = 1 + row % 28;
        writeln!(text, "2026-10-{day:02},Campaign {},{row}.50", row % 500).expect("text grows");
    }
    text
}

/// Returns a table with many columns, some of which have long names.
fn wide_table(columns: u32, rows: u32) -> String {
    let name = |column: u32| match column {
        0 => "Day".to_owned(),
        1 => "Sommerschlussverkauf_Donaudampfschifffahrtsgesellschaft_2026_Zielgruppe".to_owned(),
        2 => "حملة الخريف".to_owned(),
        _ => format!("Metric {column}"),
    };
    let cell = |row: u32, column: u32| match column {
        0 => format!("2026-10-{:02}", 1 + row % 28),
        1 => format!("Remarketing_Wiederkehrende_Kundinnen_und_Kunden_aus_allen_Laendern_{row}"),
        2 => format!("حملة {row} (brand)"),
        _ => (row * column).to_string(),
    };
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let head = line((0..columns).map(name).collect());
    let body = (0..rows).map(|row| line((0..columns).map(|column| cell(row, column)).collect()));
    std::iter::once(head).chain(body).collect()
}

/// The names of keys that only tables use.
const END: &str = "\u{E010}";
const RIGHT: &str = "\u{E014}";

/// Presses keys in the table.
fn press_in_table(page: &Page<'_>, chords: &[&[&str]]) {
    page.script("document.querySelector('[role=grid]').focus();");
    page.session.press(chords).expect("keys");
}

fn active_column(page: &Page<'_>) -> Value {
    page.script("return document.querySelector('[role=gridcell].active')?.ariaColIndex ?? null;")
}

/// Makes the column wider with the keyboard. Returns its width.
fn widened(page: &Page<'_>, column: u32) -> Value {
    let narrow = width(page, column).as_f64().expect("a width");
    press_in_table(page, &[&[key::CONTROL, key::HOME], &[key::UP]]);
    press_in_table(page, &[&[key::SHIFT, RIGHT], &[key::SHIFT, RIGHT]]);
    wait("a wider column", || {
        width(page, column).as_f64().is_some_and(|wide| wide > narrow).then_some(())
    });
    width(page, column)
}

/// Waits until the heading of the page has the focus, where a person with a keyboard goes on.
fn has_focus(page: &Page<'_>, heading: &str) {
    wait("the focus on the heading", || {
        let script = format!("return document.activeElement?.matches('{heading}') ?? false;");
        (page.script(&script) == json!(true)).then_some(())
    });
}

/// Returns the width of a column in pixels.
fn width(page: &Page<'_>, column: u32) -> Value {
    let script = format!(
        "return document.querySelector('[role=columnheader][aria-colindex=\"{column}\"]').offsetWidth;"
    );
    page.script(&script)
}

fn is_shown(page: &Page<'_>, selector: &str) -> Option<()> {
    let script = format!("return !!document.querySelector('{selector}');");
    (page.script(&script) == json!(true)).then_some(())
}

fn file(journey: &Journey, name: &str, content: &[u8]) -> PathBuf {
    let path = journey.desktop.folder().join("home").join(name);
    fs::write(&path, content).expect("written");
    path
}

/// Returns the number of rows that the table has, the headings included.
fn row_count(page: &Page<'_>) -> Value {
    page.script("return document.querySelector('[role=grid]')?.getAttribute('aria-rowcount');")
}

/// Returns the text of a cell in the first row.
fn first_cell(page: &Page<'_>, column: u32) -> Value {
    page.script(&format!(
        "return document.querySelector('[aria-rowindex=\"2\"] [aria-colindex=\"{column}\"]')?.innerText.trim();"
    ))
}
