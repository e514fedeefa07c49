//! Measures scrolling of a table of 100,000 rows, compared with an empty page of the same height. The
//! rows are read from the data processes while they come into view.

use std::time::{Duration, Instant};

use kit::desktop::{App, Desktop};
use serde_json::{Value, json};

use super::{PATIENCE, RECORD, beside, cpu, frames, page_process};
use crate::data::export;
use crate::{Outcome, table};

const ROWS: u32 = 100_000;
const FRAMES: u32 = 300;
/// The ways of scrolling, with the pixels of a frame. None: over all rows.
const WAYS: [(&str, Option<u32>); 2] =
    [("with the wheel, 100 pixels a frame", Some(100)), ("over all rows", None)];

/// The cost of scrolling in one way.
struct Scrolled {
    took: Duration,
    page: Duration,
    frame_99: f64,
    worst: f64,
}

pub(super) fn report() -> Outcome {
    let (ours, height) = in_table()?;
    let empty = in_empty_page(&height)?;
    let mut rows = Vec::new();
    for ((way, _), (ours, empty)) in WAYS.iter().zip(ours.iter().zip(&empty)) {
        rows.push(vec![
            (*way).to_owned(),
            table::time(ours.took),
            table::time(empty.took),
            table::time(ours.page),
            table::time(empty.page),
            table::ratio(ours.page, empty.page),
            format!("{:.0} ms, {:.0} ms", ours.frame_99, ours.worst),
            format!("{:.0} ms, {:.0} ms", empty.frame_99, empty.worst),
        ]);
    }
    table::print(
        &format!("A table of {ROWS} rows scrolled over {FRAMES} frames, against an empty page"),
        &[
            "",
            "took",
            "empty page",
            "page CPU",
            "empty page CPU",
            "ratio",
            "frame 99 %, worst",
            "empty page 99 %, worst",
        ],
        &rows,
    );
    Ok(())
}

/// Scrolls the rows of a source. Also returns the height of the scrolled content.
fn in_table() -> Outcome<(Vec<Scrolled>, Value)> {
    let desktop = Desktop::start();
    let data = desktop.data_dir();
    std::fs::write(data.join("countersign.toml"), "welcomed = true\nlanguage = \"en\"\n")?;
    let file = desktop.folder().join("ads.csv");
    export::write(&file, ROWS)?;
    let data = data.to_string_lossy().into_owned();
    let app = App::start(&desktop, &beside("countersign")?, &["--data-dir", &data], &[]);
    app.window("main");
    kit::webdriver::wait("the app", || app.invoke("app_status", &json!({"params": {}})).ok());
    import(&app, &file.to_string_lossy())?;
    let open = "const named = (all, name) => [...all].find((one) => (one.getAttribute('aria-label') ?? one.textContent).trim() === name); \
        const source = document.querySelector('[data-source=ads]'); if (document.querySelector('[role=grid]')) return true; \
        if (source) source.click(); else named(document.querySelectorAll('nav button, nav a'), 'Data')?.click(); return false;";
    wait_until(&app, "the table", open);
    let read = "return document.querySelector('[role=grid] [aria-rowindex=\"2\"]:not([aria-busy]) [role=gridcell]') !== null;";
    wait_until(&app, "the first rows", read);
    let height = app
        .session()
        .run("return document.querySelector('[role=grid]').scrollHeight;", json!([]))
        .map_err(|error| error.to_string())?;
    Ok((scroll_each_way(&app, "[role=grid]")?, height))
}

fn import(app: &App, file: &str) -> Outcome {
    let params = json!({"place": file, "name": "ads"});
    let job = app
        .invoke("source_add", &json!({"params": params}))
        .map_err(|error| format!("the rows are not imported: {error}"))?;
    let end = kit::webdriver::wait_for("the import", PATIENCE, || {
        let view = app.invoke("source_job", &json!({"params": job})).ok()?;
        let is_over = view["results"].is_array() || view["failure"].is_object();
        is_over.then_some(view)
    });
    if end["results"][0]["is_stored"] == true {
        Ok(())
    } else {
        Err(format!("the rows are not imported: {end}").into())
    }
}

fn in_empty_page(height: &Value) -> Outcome<Vec<Scrolled>> {
    let desktop = Desktop::start();
    let app = App::start(&desktop, &beside("examples/bare-window")?, &[], &[]);
    app.window("main");
    let make = "const frame = document.body.appendChild(document.createElement('div')); frame.id = 'frame'; \
        frame.style.cssText = 'height: 480px; overflow: auto'; frame.appendChild(document.createElement('div')).style.height = `${arguments[0]}px`;";
    app.session().run(make, json!([height])).map_err(|error| error.to_string())?;
    scroll_each_way(&app, "#frame")
}

fn scroll_each_way(app: &App, frame: &str) -> Outcome<Vec<Scrolled>> {
    WAYS.iter().map(|(_, step)| scroll(app, frame, *step)).collect()
}

fn scroll(app: &App, frame: &str, step: Option<u32>) -> Outcome<Scrolled> {
    let script = "const [name, step, frames] = arguments; const frame = document.querySelector(name); let at = 0; window.__scrolled = false; \
        frame.scrollTop = 0; const each = step ?? (frame.scrollHeight - frame.clientHeight) / frames; \
        const go = () => { at += 1; frame.scrollTop = at * each; if (at < frames) requestAnimationFrame(go); else window.__scrolled = true; }; \
        requestAnimationFrame(go);";
    let page = page_process(app)?;
    let before = cpu(page);
    app.session().run(RECORD, json!([])).map_err(|error| error.to_string())?;
    let begun = Instant::now();
    app.session().run(script, json!([frame, step, FRAMES])).map_err(|error| error.to_string())?;
    wait_until(app, "the last row", "return window.__scrolled === true;");
    let took = begun.elapsed();
    let (frame_99, worst, _) = frames(app)?;
    Ok(Scrolled { took, page: cpu(page) - before, frame_99, worst })
}

fn wait_until(app: &App, what: &str, script: &str) {
    kit::webdriver::wait_for(what, PATIENCE, || {
        (app.session().run(script, json!([])).ok()? == json!(true)).then_some(())
    });
}
