//! Measures the window compared with an empty Tauri window, and an answer written in it compared
//! with the same text in a plain text node, and a long table compared with an empty page. It uses
//! its own display, so frames are drawn in software and only ratios have a meaning.

mod scroll;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kit::desktop::{App, Desktop, descendants, program};
use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::measure::{Side, micros};
use crate::{Outcome, table};

const STARTS: usize = 7;
const DELTAS: [usize; 2] = [5_000, 20_000];
/// The number of deltas that arrive together, and the pause in milliseconds after them: over a
/// thousand deltas per second, more than models write, but slow enough that frames are drawn
/// meanwhile. (If all arrived at once, the answer would be complete before the first frame.)
const BURST: (usize, u64) = (8, 5);
/// How long an answer may take before the measurement fails.
const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) async fn report() -> Outcome {
    tokio::task::spawn_blocking(starts).await??;
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || answers(&runtime)).await??;
    tokio::task::spawn_blocking(scroll::report).await?
}

fn beside(name: &str) -> Outcome<PathBuf> {
    let here = std::env::current_exe()?;
    let file = here.parent().unwrap_or(Path::new(".")).join(name);
    if file.is_file() {
        Ok(file)
    } else {
        Err(format!("{} is missing; `make bench` builds it", file.display()).into())
    }
}

// --- start
// -----------------------------------------------------------------------------------------------------------

fn starts() -> Outcome {
    let (ours, bare) = (beside("countersign")?, beside("examples/bare-window")?);
    let (mut us, mut them) = (Side::default(), Side::default());
    // The windows alternate, so that changes of the machine's load affect both.
    for _ in 0..STARTS {
        us.add(start(&ours, true)?);
        them.add(start(&bare, false)?);
    }
    #[expect(clippy::cast_precision_loss, reason = "mebibytes")]
    let memory = us.peak_kib as f64 / them.peak_kib.max(1) as f64;
    let rows = [
        vec![
            "first paint".to_owned(),
            table::time(us.median()),
            table::time(them.median()),
            table::ratio(us.median(), them.median()),
            "1.15".to_owned(),
        ],
        vec![
            "memory of all its processes".to_owned(),
            table::mib(us.peak_kib),
            table::mib(them.peak_kib),
            format!("{memory:.2}"),
            "1.25".to_owned(),
        ],
    ];
    table::print(
        &format!("The window against an empty Tauri window, {STARTS} starts in turns"),
        &["", "Countersign", "empty window", "ratio", "aim"],
        &rows,
    );
    Ok(())
}

/// Measures the time from the start of the process to the first paint, and the memory of all
/// processes two seconds later.
fn start(binary: &Path, with_profile: bool) -> Outcome<Side> {
    let desktop = Desktop::start();
    let data = desktop.data_dir();
    let text = data.to_string_lossy().into_owned();
    let args: Vec<&str> = if with_profile { vec!["--data-dir", &text] } else { Vec::new() };
    let app = App::start(&desktop, binary, &args, &[]);
    let session = app.window("main");
    let painted = kit::webdriver::wait("the first paint", || {
        let script = "const p = performance.getEntriesByName('first-contentful-paint')[0]; return p ? performance.timeOrigin + p.startTime : null;";
        session.run(script, json!([])).ok()?.as_f64()
    });
    let took = Duration::from_secs_f64((painted / 1e3 - started_at(app.process())?).max(0.0));
    std::thread::sleep(Duration::from_secs(2));
    let memory = std::iter::once(app.process())
        .chain(descendants(app.process()))
        .map(proportional_kib)
        .sum();
    Ok(Side { micros: vec![micros(took)], peak_kib: memory, ..Side::default() })
}

/// Returns the start time of a process in seconds since 1970, to a clock tick.
fn started_at(process: u32) -> Outcome<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: f64 = after.split_whitespace().nth(19).ok_or("no start time")?.parse()?;
    let uptime: f64 = std::fs::read_to_string("/proc/uptime")?
        .split_whitespace()
        .next()
        .ok_or("no uptime")?
        .parse()?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs_f64();
    Ok(now - uptime + ticks / 100.0)
}

/// Returns a process's proportional memory in KiB: shared pages count in parts.
fn proportional_kib(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("Pss:")?.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

// --- answers
// ---------------------------------------------------------------------------------------------------------

/// The page's cost of an answer.
struct WriteTimes {
    took: Duration,
    page: Duration,
    app: Duration,
    /// Milliseconds between frames: the 99th percentile, and the maximum.
    frame_99: f64,
    worst: f64,
    frames: u64,
}

fn answers(runtime: &tokio::runtime::Handle) -> Outcome {
    let mut rows = Vec::new();
    for deltas in DELTAS {
        let pieces = pieces(deltas);
        let burst = |reply: Reply, burst: &[String]| {
            burst.iter().fold(reply, |reply, piece| reply.say(piece)).wait_ms(BURST.1)
        };
        let reply = pieces.chunks(BURST.0).fold(Reply::new(), burst);
        let server = runtime.block_on(ModelServer::start([Reply::route("guardian"), reply]));
        let ours = ours(&server, &format!("word{}", deltas - 1))?;
        let plain = plain(&pieces, ours.frames)?;
        rows.push(vec![
            format!("{deltas} deltas"),
            table::time(ours.took),
            table::time(ours.page),
            table::time(plain.page),
            table::ratio(ours.page, plain.page),
            format!("{:.0} ms, {:.0} ms", ours.frame_99, ours.worst),
            format!("{:.0} ms, {:.0} ms", plain.frame_99, plain.worst),
            ours.frames.to_string(),
            table::time(ours.app),
        ]);
    }
    rows.push(["aim", "-", "-", "-", "1.5", "16 ms", "-", "-", "-"].map(str::to_owned).to_vec());
    let head = [
        "",
        "took",
        "page CPU",
        "plain text node",
        "ratio",
        "frame 99 %, worst",
        "plain frame 99 %, worst",
        "frames",
        "app CPU",
    ];
    table::print(
        "An answer written in the window, against the same text put into a text node over as many frames",
        &head,
        &rows,
    );
    Ok(())
}

/// Returns an answer as models write it: words, emphasis, paragraphs, sometimes a list.
fn pieces(count: usize) -> Vec<String> {
    let mut pieces = Vec::with_capacity(count);
    for n in 0..count {
        let mut piece = String::new();
        match n % 80 {
            0 if n > 0 => piece.push_str("\n\n"),
            40 => piece.push_str("\n- "),
            60 => piece.push_str("\n- "),
            _ => {}
        }
        let _ = if n % 17 == 0 { write!(piece, "**word{n}** ") } else { write!(piece, "word{n} ") };
        pieces.push(piece);
    }
    pieces
}

const RECORD: &str = "window.__frames = []; window.__recording = true; let last = performance.now(); \
    const look = (now) => { window.__frames.push(now - last); last = now; if (window.__recording) requestAnimationFrame(look); }; requestAnimationFrame(look);";

fn ours(server: &ModelServer, last: &str) -> Outcome<WriteTimes> {
    let desktop = Desktop::start();
    let base = server.base_url();
    std::fs::write(
        desktop.data_dir().join("countersign.toml"),
        format!(
            "welcomed = true\nlanguage = \"en\"\n[model]\nprovider = \"openai_compatible\"\nbase_url = \"{base}\"\nmodel = \"scripted\"\n"
        ),
    )?;
    let data = desktop.data_dir().to_string_lossy().into_owned();
    let app = App::start(&desktop, &beside("countersign")?, &["--data-dir", &data], &[]);
    app.window("main");
    kit::webdriver::wait("the app", || app.invoke("app_status", &json!({"params": {}})).ok());
    // The view must exist before the answer, so the page itself opens a new session.
    kit::webdriver::wait("the message field", || {
        let field = app
            .session()
            .find("return document.querySelector('textarea');", json!([]))
            .ok()
            .flatten()?;
        field.click().ok()?;
        field.send("Write something long").ok()
    });
    let page = page_process(&app)?;
    let (cpu, own) = (cpu(page), cpu(app.process()));
    app.session().run(RECORD, json!([])).map_err(|e| e.to_string())?;
    let begun = Instant::now();
    app.session().press(&[&[kit::webdriver::key::ENTER]]).map_err(|e| e.to_string())?;
    kit::webdriver::wait_for("the answer", PATIENCE, || {
        // The whole text is compared only when the answer is complete.
        let done = "const all = document.querySelectorAll('[role=log] article'); const answer = all[all.length - 1]; \
            return !!answer && !answer.hasAttribute('aria-busy') && !document.querySelector('button[aria-label=Stop]') && answer.textContent.includes(arguments[0]);";
        (app.session().run(done, json!([last])).ok()? == json!(true)).then_some(())
    });
    let took = begun.elapsed();
    let (frame_99, worst, frames) = frames(&app)?;
    Ok(WriteTimes {
        took,
        page: self::cpu(page) - cpu,
        app: self::cpu(app.process()) - own,
        frame_99,
        worst,
        frames,
    })
}

/// Writes the same text into the empty window, a part in each frame.
fn plain(pieces: &[String], over: u64) -> Outcome<WriteTimes> {
    let desktop = Desktop::start();
    let app = App::start(&desktop, &beside("examples/bare-window")?, &[], &[]);
    app.window("main");
    let page = page_process(&app)?;
    let cpu = cpu(page);
    app.session().run(RECORD, json!([])).map_err(|e| e.to_string())?;
    let write = "const [pieces, frames] = arguments; const node = document.body.appendChild(document.createElement('div')).appendChild(document.createTextNode('')); \
        node.parentElement.style.cssText = 'white-space: pre-wrap; max-width: 46rem'; let at = 0; const each = Math.max(1, Math.ceil(pieces.length / frames)); \
        const step = () => { node.appendData(pieces.slice(at, at + each).join('')); at += each; scrollTo(0, document.body.scrollHeight); \
          if (at < pieces.length) requestAnimationFrame(step); else window.__written = true; }; step();";
    let begun = Instant::now();
    app.session().run(write, json!([pieces, over])).map_err(|e| e.to_string())?;
    kit::webdriver::wait_for("the text", PATIENCE, || {
        (app.session().run("return window.__written === true;", json!([])).ok()? == json!(true))
            .then_some(())
    });
    let took = begun.elapsed();
    let (frame_99, worst, frames) = frames(&app)?;
    Ok(WriteTimes {
        took,
        page: self::cpu(page) - cpu,
        app: Duration::ZERO,
        frame_99,
        worst,
        frames,
    })
}

fn frames(app: &App) -> Outcome<(f64, f64, u64)> {
    let frames = app
        .session()
        .run("window.__recording = false; return window.__frames;", json!([]))
        .map_err(|e| e.to_string())?;
    let mut frames: Vec<f64> =
        frames.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    frames.sort_by(f64::total_cmp);
    let at = |hundredths: usize| {
        frames
            .get((frames.len() * hundredths / 100).min(frames.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0.0)
    };
    Ok((at(99), at(100), u64::try_from(frames.len())?))
}

fn page_process(app: &App) -> Outcome<u32> {
    let found = descendants(app.process())
        .into_iter()
        .find(|id| program(*id).is_some_and(|name| name.ends_with("WebKitWebProcess")));
    found.ok_or_else(|| "the page has no process".into())
}

/// Returns the processor time of a process so far.
fn cpu(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = after
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}
