//! Every view in three themes and five sizes: axe-core finds nothing serious, and no content is
//! cut. All findings are told at the end. If the variable `JOURNEY_PICTURES` names a folder, a
//! picture of each view in each theme and size is saved there for a person.

use std::{
    cell::RefCell,
    fmt::Write as _,
    fs,
    net::TcpListener,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use chrono::{TimeDelta, Utc};
use kit::webdriver::{key, wait};
use serde_json::{Value, json};

use crate::{
    asking::change_part,
    boards::make_board,
    given::{self, Model},
    views::resize,
    world::{Journey, Page, wanted_pictures},
};

/// The names of the themes as a page has them.
const THEMES: [&str; 3] = ["light", "dark", "contrast"];
const SIZES: [(u32, u32); 5] = [(1280, 800), (720, 480), (800, 600), (1920, 1080), (2560, 1440)];
/// The sizes of pictures of single places of a conversation.
const SCENE_SIZES: [(u32, u32); 3] = [(1280, 800), (720, 480), (1920, 1080)];
const APPROVAL_SIZES: [(u32, u32); 3] = [(1440, 900), (1024, 700), (480, 800)];

/// The rules whose result depends on the theme. All others are checked in the first theme only.
const OF_COLOURS: [&str; 2] = ["color-contrast", "link-in-text-block"];

/// The sections of the settings after the first one.
const SECTIONS: [&str; 7] = [
    "Model",
    "Privacy",
    "Keys and access",
    "What may run",
    "Budgets and cost",
    "Advanced",
    "Diagnostics and about",
];

#[test]
fn every_view_is_accessible_and_not_cut_in_every_theme_and_size() {
    let model = Model::start();
    let mut journey = Journey::prepare("looks", &[]);
    let private = "[packs.parcels]\nprivate_network = true\n";
    journey.settings(&format!("{}{private}", model.settings()));
    parcels(&mut journey);
    journey.open();
    let inspection = Inspection::of(&journey);
    journey.chat(|page| page.says("What would you like to know?"));
    inspection.view("chat-empty");
    approval(&inspection);
    conversation(&inspection, &model);
    overlays(&inspection);
    data(&inspection);
    boards(&inspection);
    tools(&inspection);
    others(&inspection);
    inspection.assert_clean();
}

fn approval(inspection: &Inspection<'_>) {
    let journey = inspection.journey;
    let text = "Remember that account 17 reports in Helsinki time";
    let params = json!({
        "session": null, "text": text, "model": "offline", "agent": null, "headless": false
    });
    journey.call("turn_start", params).expect("sent");
    wait("the action", || (!journey.pending().is_empty()).then_some(()));
    journey.approval(|page| page.says("Expires in"));
    inspection.window("approval", "approval", &APPROVAL_SIZES, &THEMES);
    journey.approval(|page| page.click_armed("Approve"));
    wait("nothing to wait", || journey.pending().is_empty().then_some(()));
}

/// Installs a pack whose tool gives records: the list of the example for a web API.
fn parcels(journey: &mut Journey) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/web-api-example");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let server = example.join("demo_server.py");
    let server = server.to_str().expect("a plain path");
    journey.desktop.start_child("python3", &[server, "--port", &port.to_string()]);
    let text = fs::read_to_string(example.join("pack.json")).expect("a manifest");
    let example: Value = serde_json::from_str(&text).expect("JSON");
    let tools = example["tools"]["tools"].as_array().expect("a list");
    let list = tools.iter().find(|tool| tool["id"] == "parcel.list").expect("a tool");
    let mut tool = list.clone();
    tool["id"] = json!("parcel.cards");
    tool["view"]["shape"] = json!("records");
    tool.as_object_mut().expect("an object").remove("offline");
    let of = |name: &str| example["schemas"][name].clone();
    let schemas = ["Number", "List", "Parcel", "Parcels", "Failure"];
    let schemas: Value = schemas.into_iter().map(|name| (name.to_owned(), of(name))).collect();
    let manifest = json!({
        "manifest_version": 1, "id": "parcels", "version": "1.0.0", "title": "Parcels", "description": "Lists parcels.",
        "agent": {"id": "courier", "name": "Courier", "summary": "Knows parcels.", "prompt": "You list parcels."},
        "settings": {"base_url": format!("http://127.0.0.1:{port}")},
        "schemas": schemas, "tools": {"tools": [tool]}
    });
    let folder = journey.desktop.data_dir().join("tools/parcels");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("pack.json"), manifest.to_string()).expect("a manifest");
}

/// A conversation with a chart, a table, figures, records, a view of a pack, cards and the cart.
fn conversation(inspection: &Inspection<'_>, model: &Model) {
    let journey = inspection.journey;
    given::source(journey, "ads", &ads());
    let of = |query: Value| json!({"query": query});
    let days = of(json!({"source": "ads", "measures": ["spend"], "by": [{"time": "day"}]}));
    model.ask(journey, "@Data Show the spend by day", "data_chart", days);
    let all = of(json!({"source": "ads", "measures": ["spend", "clicks"]}));
    model.ask(journey, "@Data Spend and clicks", "data_measure", all);
    let weeks = json!(["campaign", {"time": "week"}]);
    let weeks = of(json!({"source": "ads", "measures": ["clicks"], "by": weeks}));
    model.ask(journey, "@Data Clicks by campaign and week", "data_measure", weeks);
    model.ask(journey, "@Courier Show all parcels", "parcel_cards", json!({}));
    let shoes = json!({"query": "trail shoe"});
    model.ask(journey, "@Shopper Show me trail shoes", "product_search", shoes);
    scenes(inspection);
    inspection.view("chat");
}

/// Opens the parts of the first result one after the other: its table, how it was computed, and the
/// form of a part of its question. Each has pictures of its own place.
fn scenes(inspection: &Inspection<'_>) {
    let journey = inspection.journey;
    let (question, result) = ("[role=log] .entry.user", "section.shaped");
    inspection.scene("chat-chart", question, result);
    let second = format!("{question} ~ .entry.user");
    inspection.scene("chat-figures", &second, &second);
    journey.chat(|page| page.click("Table"));
    let table = format!("{result} .rows");
    inspection.scene("chat-table", &table, &table);
    journey.chat(|page| page.click("Lines"));
    journey.chat(|page| {
        page.click("How was this computed?");
        wait("how it was computed", || page.find(".how .record button", "Verify", true));
    });
    let how = format!("{result} .how");
    inspection.scene("chat-computed", &how, &how);
    journey.chat(|page| {
        change_part(page, "/period");
        page.named("label", "Period", true);
    });
    inspection.window("main", "chat-chip", &SIZES[1..2], &THEMES[..1]);
    inspection.scene("chat-chip", question, result);
    journey.chat(|page| {
        page.choose("Period", "last_7_days");
        page.click("Apply");
        page.says("You changed the question.");
    });
    inspection.scene("chat-edited", result, result);
    journey.chat(|page| page.click("Back to the answer as given"));
}

fn overlays(inspection: &Inspection<'_>) {
    let journey = inspection.journey;
    journey.chat(|page| {
        page.session.press(&[&[key::CONTROL, key::SHIFT, "p"]]).expect("Ctrl+Shift+P");
        wait("the palette", || page.focus().contains("Search actions").then_some(()));
    });
    inspection.view("palette");
    journey.chat(|page| {
        leave_dialog(page);
        page.go("Keyboard shortcuts");
    });
    inspection.view("help");
    journey.chat(leave_dialog);
}

fn data(inspection: &Inspection<'_>) {
    let journey = inspection.journey;
    journey.chat(|page| {
        page.go("Data");
        page.named("[data-open]", "ads", true);
    });
    inspection.view("data");
    journey.chat(|page| {
        page.click("ads");
        page.named("[role=tab]", "Rows", false).click().expect("a click");
        wait("the rows", || page.find("[role=gridcell]", "Autumn", true));
    });
    inspection.part("source-rows");
    for tab in ["Overview", "Definitions", "Imports", "Columns"] {
        journey.chat(|page| page.named("[role=tab]", tab, false).click().expect("a click"));
        inspection.part(&format!("source-{}", tab.to_lowercase()));
    }
    journey.chat(|page| page.says("Computed from all"));
    inspection.view("source");
}

fn boards(inspection: &Inspection<'_>) {
    inspection.journey.chat(|page| {
        page.go("Boards");
        make_board(page);
    });
    inspection.view("board");
    inspection.journey.chat(|page| page.click("All boards"));
    inspection.part("boards");
}

fn tools(inspection: &Inspection<'_>) {
    let journey = inspection.journey;
    journey.chat(|page| {
        page.go("Tools");
        page.says("Your data");
    });
    inspection.view("tools");
    for tab in ["Servers", "Permissions", "Policy", "Instructions"] {
        journey.chat(|page| page.named("[role=tab]", tab, false).click().expect("a click"));
        inspection.part(&format!("tools-{}", tab.to_lowercase()));
    }
}

/// The log, the memory and the settings.
fn others(inspection: &Inspection<'_>) {
    let journey = inspection.journey;
    journey.chat(|page| {
        page.go("Audit");
        page.says("Show me trail shoes");
    });
    inspection.view("audit");
    journey.chat(|page| {
        page.named("[role=tab]", "All records", true).click().expect("a click");
        page.click("Answer given");
        page.named("aside", "Record ", false);
    });
    inspection.part("audit-record");
    journey.chat(|page| {
        page.go("Memory");
        page.says("Helsinki time");
    });
    inspection.view("memory");
    journey.chat(|page| page.go("Settings"));
    inspection.view("settings");
    for section in SECTIONS {
        journey.chat(|page| page.named("nav button", section, true).click().expect("a click"));
        inspection.part(&format!("settings-{}", section.to_lowercase().replace(' ', "-")));
    }
}

/// Returns a table of the last twenty days, with a line that confirms its sums.
fn ads() -> String {
    let today = Utc::now().date_naive();
    let mut text = "Day,Campaign,Cost (EUR),Clicks\n".to_owned();
    let (mut all_cost, mut all_clicks) = (0, 0);
    for ago in 1..=20 {
        let day = today - TimeDelta::days(ago);
        let campaign = if ago % 2 == 0 { "Autumn" } else { "Winter" };
        let (cost, clicks) = (ago * 37 % 101, ago * 5 % 17);
        all_cost += cost;
        all_clicks += clicks;
        writeln!(text, "{day},{campaign},{cost}.25,{clicks}").expect("text grows");
    }
    // Twenty quarters are five.
    writeln!(text, "Total,,{}.00,{all_clicks}", all_cost + 5).expect("text grows");
    text
}

fn leave_dialog(page: &Page<'_>) {
    page.session.press(&[&[key::ESCAPE]]).expect("Escape");
    wait("the dialog to close", || {
        let script = "return document.querySelector('dialog[open]') === null;";
        (page.script(script) == json!(true)).then_some(())
    });
}

/// The findings of a journey through all views.
struct Inspection<'j> {
    journey: &'j Journey,
    /// The source text of axe-core.
    axe: String,
    found: RefCell<Vec<String>>,
}

impl<'j> Inspection<'j> {
    fn of(journey: &'j Journey) -> Self {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
        let axe = repository.join("ui/node_modules/axe-core/axe.min.js");
        let axe = fs::read_to_string(axe).expect("axe-core, which `make ui` installs");
        Self { journey, axe, found: RefCell::default() }
    }

    /// Inspects the view that the chat window shows.
    fn view(&self, name: &str) {
        self.window("main", name, &SIZES, &THEMES);
    }

    /// Inspects a part of a view. Its colours and its frame are those of the view, so one theme and
    /// the smallest size are enough.
    fn part(&self, name: &str) {
        if wanted_pictures().is_some() {
            return self.view(name);
        }
        self.window("main", name, &SIZES[1..2], &THEMES[..1]);
    }

    fn window(&self, label: &str, name: &str, sizes: &[(u32, u32)], themes: &[&str]) {
        let note = |look: &str, told: &Value| {
            let lines = told.as_array().expect("a list").iter().filter_map(Value::as_str);
            self.found.borrow_mut().extend(lines.map(|line| format!("{name}, {look}: {line}")));
        };
        self.journey.within(label, |page| {
            settle(page);
            self.install(page);
            for &theme in themes {
                let rules = if theme == THEMES[0] { json!(null) } else { json!(OF_COLOURS) };
                note(theme, &page.session.run_async(AXE, json!([theme, rules])).expect("axe"));
            }
            for &(width, height) in sizes {
                let size = format!("{width}x{height}");
                resize(page, width, height);
                note(&size, &page.session.run(CUT, json!([])).expect("a list"));
                self.pictures(page, &format!("{name}-{size}"), &THEMES);
            }
            if label == "main" {
                resize(page, SIZES[0].0, SIZES[0].1);
            }
        });
    }

    /// Saves pictures of a conversation with this element at the top, or with another one in a low
    /// window, if somebody wants them.
    fn scene(&self, name: &str, top: &str, top_if_low: &str) {
        if wanted_pictures().is_none() {
            return;
        }
        self.journey.chat(|page| {
            for (width, height) in SCENE_SIZES {
                resize(page, width, height);
                to_top(page, if height < 600 { top_if_low } else { top });
                page.at_rest(".picture svg");
                let themes = if (width, height) == SIZES[0] { &THEMES[..2] } else { &THEMES[..1] };
                self.pictures(page, &format!("{name}-{width}x{height}"), themes);
            }
            resize(page, SIZES[0].0, SIZES[0].1);
        });
    }

    /// Loads axe-core into the page, unless it is there. A page evaluates no text; the driver does.
    fn install(&self, page: &Page<'_>) {
        if page.script("return typeof window.axe === 'object';") != json!(true) {
            page.session.run(&self.axe, json!([])).expect("axe-core is loaded");
        }
        // Colours that change gradually would be measured on their way.
        page.script("document.documentElement.style.setProperty('--speed', '0ms');");
    }

    /// Saves a picture of the page in each theme, if somebody wants them.
    fn pictures(&self, page: &Page<'_>, name: &str, themes: &[&str]) {
        let Some(folder) = wanted_pictures() else { return };
        for theme in themes.iter().rev() {
            page.script(&format!("document.documentElement.dataset.theme = '{theme}';"));
            self.journey.picture(folder.join("looks").join(format!("{name}-{theme}.png")));
        }
    }

    fn assert_clean(&self) {
        let found = self.found.borrow();
        assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
    }
}

/// Scrolls the conversation until an element is at its top and stays there. The list follows its
/// end while answers and the window still change.
fn to_top(page: &Page<'_>, selector: &str) {
    let script = "const at = document.querySelector(arguments[0]), frame = at?.closest('[role=log]'); \
                  if (!frame) return false; \
                  const top = at.getBoundingClientRect().top - frame.getBoundingClientRect().top; \
                  const isThere = Math.abs(top) < 32; \
                  if (!isThere) at.scrollIntoView({ block: 'start' }); return isThere;";
    let mut stayed = 0;
    wait(&format!("{selector} to stay at the top"), || {
        let is_there = page.session.run(script, json!([selector])).ok()? == json!(true);
        stayed = if is_there { stayed + 1 } else { 0 };
        (stayed >= 8).then_some(())
    });
}

/// Waits until nothing is loading. A view that always loads something is inspected all the same.
fn settle(page: &Page<'_>) {
    let script = "return [...document.querySelectorAll('.spinner')].some((one) => one.getClientRects().length > 0);";
    let end = Instant::now() + Duration::from_secs(5);
    while page.script(script) == json!(true) && Instant::now() < end {
        sleep(Duration::from_millis(40));
    }
}

/// A script that returns the serious findings of axe-core in a theme. A modal dialog is the page.
const AXE: &str = r#"
const [theme, rules, done] = arguments;
const root = document.documentElement, before = root.dataset.theme;
root.dataset.theme = theme;
const options = { resultTypes: ["violations"], preload: false };
if (rules) options.runOnly = { type: "rule", values: rules };
const end = (lines) => { root.dataset.theme = before; done(lines); };
const told = ({ id, impact, nodes }) => nodes.map(({ target, html, failureSummary }) =>
  `${id} (${impact}) at ${target.join(" ")}: ${html.slice(0, 200)}: ${failureSummary.replace(/\s+/g, " ")}`);
const isSerious = ({ impact }) => impact === "serious" || impact === "critical";
setTimeout(() => axe.run(document.querySelector("dialog[open]") ?? document, options).then(
  ({ violations }) => end(violations.filter(isSerious).flatMap(told)),
  (cause) => end([`axe-core failed: ${cause}`])), 60);"#;

/// A script that returns what is cut: a page that is wider than the window, elements outside of the
/// window that no scrolling reaches, and texts that their box cuts without telling the rest. Texts
/// for screen readers only are not seen, so that they are not cut.
const CUT: &str = r#"
const found = [];
const style = (e) => getComputedStyle(e);
const name = (e) => {
  const text = (e.getAttribute("aria-label") ?? e.textContent).replace(/\s+/g, " ").trim().slice(0, 80);
  return `${e.tagName.toLowerCase()}${[...e.classList].map((one) => `.${one}`).join("")} "${text}"`;
};
const isShown = (e) => {
  const { width, height } = e.getBoundingClientRect();
  return width > 2 && height > 2 && style(e).visibility === "visible";
};
const isUnseen = (e) => e.closest(".sr") !== null || style(e).clipPath === "inset(50%)";
const isReached = (e) => {
  for (let box = e.parentElement; box; box = box.parentElement)
    if (box.scrollWidth > box.clientWidth && /auto|scroll/.test(style(box).overflowX)) return true;
  return false;
};
const wide = document.scrollingElement.scrollWidth;
if (wide > innerWidth) found.push(`the page is ${wide} pixels wide`);
const used = 'button, a[href], input, select, textarea, summary, [role="button"], [role="tab"], [tabindex="0"]';
for (const e of document.querySelectorAll(used)) {
  const { left, right } = e.getBoundingClientRect();
  if (isShown(e) && (left < -1 || right > innerWidth + 1) && !isReached(e)) found.push(`outside: ${name(e)}`);
}
for (const e of document.querySelectorAll("body *")) {
  if (e.scrollWidth <= e.clientWidth + 1 || !isShown(e) || isUnseen(e) || !/hidden|clip/.test(style(e).overflowX)) continue;
  const isText = [...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
  if (isText && !e.closest("[title]")) found.push(`cut: ${name(e)}`);
}
return found;"#;
