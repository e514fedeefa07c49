//! Measures rendering of a growing answer with a patch for every delta, compared with joining the
//! text, and with rendering the whole text each time.

use std::time::Duration;

use render::Stream;

use crate::measure::{best, time_call};
use crate::table;

const RUNS: usize = 3;

pub(crate) fn report() {
    let mut rows = Vec::new();
    for count in [5_000, 20_000] {
        for (name, deltas) in [
            ("prose", prose(count)),
            ("one paragraph", paragraph(count)),
            ("one code fence", code(count)),
        ] {
            let plain =
                best(RUNS, || deltas.iter().fold(String::new(), |text, delta| text + delta));
            let every = best(RUNS, || stream(&deltas, 1));
            let frames = best(RUNS, || stream(&deltas, 8));
            let whole = deltas.concat();
            let once = best(RUNS, || render::blocks(&whole));
            let worst = worst_frame(&deltas);
            let each = every / u32::try_from(count).unwrap_or(1);
            rows.push(vec![
                format!("{name}, {count}"),
                table::time(plain),
                table::time(once),
                table::time(frames),
                table::time(every),
                table::time(each),
                table::time(worst),
            ]);
        }
    }
    let head = [
        "shape, deltas",
        "plain text",
        "rendered once",
        "a frame for 8 deltas",
        "a frame for every delta",
        "a delta",
        "worst frame",
    ];
    table::print("Rendering a growing answer (without the window)", &head, &rows);
}

fn stream(deltas: &[String], every: usize) -> usize {
    let mut stream = Stream::new();
    let mut sent = 0;
    for (n, delta) in deltas.iter().enumerate() {
        stream.push(delta);
        if n % every == 0 {
            let patch = stream.frame();
            sent += patch.append.len()
                + patch.blocks.iter().map(|block| block.html.len()).sum::<usize>();
        }
    }
    sent + stream.finish().blocks.len()
}

fn worst_frame(deltas: &[String]) -> Duration {
    let mut stream = Stream::new();
    let frames = deltas.iter().map(|delta| {
        stream.push(delta);
        time_call(|| std::hint::black_box(stream.frame())).1
    });
    frames.max().unwrap_or_default()
}

/// Returns an answer as models write it: headings, paragraphs with marks, lists, sometimes a table
/// or code.
fn prose(count: usize) -> Vec<String> {
    let section = "## Account 17\n\nSpend is **on track**: it stands at `110 %` of the target, and the *highest* campaign is at 134 %. The figures are those of yesterday evening.\n\n- Northwind: 12,400 of 11,300\n- Fabrikam: 8,100 of **9,000**\n- Contoso: on target\n\n| Campaign | Spend | Status |\n|---|--:|---|\n| Spring | 4,200 | over |\n| Brand | 2,100 | under |\n\n```sql\nselect campaign, sum(spend) from delivery group by campaign;\n```\n\n";
    let mut chars = section.chars().cycle();
    (0..count).map(|n| chars.by_ref().take(3 + n % 4).collect()).collect()
}

fn paragraph(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("word{n} ")).collect()
}

fn code(count: usize) -> Vec<String> {
    let lines = (0..count).map(|n| if n % 8 == 7 { ";\n".to_owned() } else { format!(" x{n}") });
    std::iter::once("```rust\n".to_owned()).chain(lines).collect()
}
