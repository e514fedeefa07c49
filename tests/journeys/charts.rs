//! A time series in the window: the chart that fits it, other views of the same figures, single
//! values read with the keyboard, and pictures of the chart in files.

use std::{fmt::Write as _, fs};

use kit::webdriver::{key, wait};
use serde_json::{Value, json};

use crate::{
    choosers::{SAVE, choose},
    given::{self, Model},
    world::{Journey, NOW, Page},
};

/// The spend of each day from 1 November 2026 on.
const SPEND: [f64; 14] = [
    100.5, 240.25, 90.75, 310.5, 275.25, 60.5, 45.75, 180.25, 222.5, 260.75, 305.25, 330.5, 120.25,
    75.5,
];

#[test]
fn a_time_series_is_a_line_with_the_values_of_its_table_on_the_page_and_in_saved_pictures() {
    let model = Model::start();
    let journey = Journey::with("charts", &model.settings(), &[("COUNTERSIGN_TEST_NOW", NOW)]);
    given::source(&journey, "ads", &ads());
    let query = json!({
        "source": "ads", "measures": ["spend"], "by": [{"time": "day"}],
        "period": {"from": "2026-11-01", "to": "2026-11-14"}
    });
    model.ask(&journey, "@Data Show the spend by day", "data_chart", json!({"query": query}));
    journey.chat(|page| {
        drawn(page, "Lines");
        switch_to(page, "Table");
        let rows = table(page);
        assert_eq!(rows.len(), 10, "the first rows: {rows:?}");
        for (at, (_, text)) in rows.iter().enumerate() {
            assert_eq!(number(text), SPEND[at], "{rows:?}");
        }
        switch_to(page, "Lines");
        drawn(page, "Lines");
        reads_values(page, &rows);
        switch_to(page, "Columns");
        drawn(page, "Columns");
        reads_values(page, &rows[..2]);
        switch_to(page, "Table");
        wait("the table alone", || {
            (look(page) == json!(["Table", 0, 0]) && table(page) == rows).then_some(())
        });
        switch_to(page, "Lines");
        drawn(page, "Lines");
    });
    journey.picture("charts/lines.png");

    let [svg, png] = ["svg", "png"].map(|kind| {
        let path = journey.desktop.folder().join("home").join(format!("days.{kind}"));
        journey.chat(|page| page.click(&format!("Save as {}", kind.to_uppercase())));
        choose(&journey, SAVE, &path);
        journey.chat(|page| page.says(&format!("Saved: {}", path.display())));
        fs::read(&path).expect("the picture")
    });
    let svg = String::from_utf8(svg).expect("text");
    assert_line(&line_of(&svg));
    assert_eq!(&png[1..4], b"PNG");
    for (at, name) in [(16, "width"), (20, "height")] {
        let points = u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
        let size = attribute(&svg, name);
        assert!(size > 100.0, "{name}: {size}");
        assert!((f64::from(points) - 2.0 * size).abs() <= 2.0, "{name}: {points} for {size}");
    }
    journey.quit();
}

fn ads() -> String {
    let mut text = "Day,Campaign,Cost,Clicks\n".to_owned();
    for (spend, day) in SPEND.iter().zip(1..) {
        writeln!(text, "2026-11-{day:02},Autumn,{spend:.2},{}", day * 10).expect("text grows");
    }
    text
}

fn switch_to(page: &Page<'_>, view: &str) {
    wait(&format!("a click on {view}"), || {
        let button = page.find(".kinds button", view, true)?;
        button.to_the_middle().and_then(|()| button.click()).ok()
    });
}

/// Returns the pressed view, the number of lines, and the number of rectangles, which are the
/// places for the pointer and the columns.
fn look(page: &Page<'_>) -> Value {
    page.script(
        "const count = (what) => document.querySelectorAll(`.picture ${what}`).length; \
         const pressed = document.querySelector('.kinds [aria-pressed=true]')?.getAttribute('aria-label') ?? ''; \
         return [pressed, count('.mark-line path'), count('.mark-rect path')];",
    )
}

/// Waits until this view is pressed and drawn, and no longer moves.
fn drawn(page: &Page<'_>, view: &str) {
    let places = SPEND.len() as u64;
    wait(&format!("the view {view} to be drawn"), || {
        let look = look(page);
        let (lines, rectangles) = (look[1].as_u64()?, look[2].as_u64()?);
        let is_drawn = if view == "Lines" { lines > 0 } else { lines == 0 && rectangles >= places };
        (look[0] == view && is_drawn).then_some(())
    });
    page.at_rest(".picture svg");
}

/// Returns the days and amounts of the result's table, as they are shown.
fn table(page: &Page<'_>) -> Vec<(String, String)> {
    let script = "return [...document.querySelectorAll('section.shaped tbody tr:not(.total, .part)')] \
                  .map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\\s+/g, ' ').trim()));";
    let rows = wait("the table of the result", || {
        let rows = page.script(script);
        (!rows.as_array()?.is_empty()).then_some(rows)
    });
    serde_json::from_value(rows).expect("two columns")
}

/// Reads the values of the chart with the keyboard, from the first one on, and compares them with
/// rows of the table.
fn reads_values(page: &Page<'_>, rows: &[(String, String)]) {
    page.script("document.querySelector('.picture').focus();");
    page.session.press(&[&[key::HOME]]).expect("Home");
    let script = "return document.querySelector('.picture').parentElement.querySelector('figcaption').innerText.replace(/\\s+/g, ' ').trim();";
    for (day, amount) in rows {
        let said = wait(&format!("the value of {day}"), || {
            let said = page.script(script).as_str()?.to_owned();
            said.starts_with(day.as_str()).then_some(said)
        });
        assert!(said.ends_with(&format!(": {amount}")), "{said} and not {amount}");
        page.session.press(&[&[key::DOWN]]).expect("Down");
    }
}

/// Returns an amount as a number, without its unit.
fn number(text: &str) -> f64 {
    let digits = text.chars().filter(|sign| sign.is_ascii_digit() || *sign == '.');
    digits.collect::<String>().parse().expect("a number")
}

/// Returns the points of the line in a picture.
fn line_of(svg: &str) -> Vec<(f64, f64)> {
    let (_, mark) = svg.split_once("mark-line").expect("a line");
    let (_, path) = mark.split_once(" d=\"").expect("its path");
    let (path, _) = path.split_once('"').expect("the end of the path");
    let numbers: Vec<f64> = path
        .split(|sign: char| !sign.is_ascii_digit() && sign != '.' && sign != '-')
        .filter_map(|number| number.parse().ok())
        .collect();
    numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Checks that a line has a point for each day, at equal distances, whose height is what was spent.
fn assert_line(points: &[(f64, f64)]) {
    assert_eq!(points.len(), SPEND.len(), "{points:?}");
    let (step, first) = (points[1].0 - points[0].0, points[0].1);
    let scale = (points[1].1 - first) / (SPEND[1] - SPEND[0]);
    assert!(step > 1.0 && scale < 0.0, "days go to the right and amounts upwards: {points:?}");
    for (at, pair) in points.windows(2).enumerate() {
        assert!((pair[1].0 - pair[0].0 - step).abs() < 0.01, "day {at}: {points:?}");
    }
    for ((_, height), spend) in points.iter().zip(SPEND) {
        let expected = first + scale * (spend - SPEND[0]);
        assert!((height - expected).abs() < 0.01, "{spend} at {height}: {points:?}");
    }
}

/// Returns an attribute of a picture as a number.
fn attribute(svg: &str, name: &str) -> f64 {
    let (_, rest) = svg.split_once(&format!(" {name}=\"")).expect("the attribute");
    let (value, _) = rest.split_once('"').expect("its end");
    value.parse().expect("a number")
}
