//! An export of an ad account as platforms write them: a row for each day, campaign, ad group and
//! device. The values are the same in every run.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use chrono::{Days, NaiveDate};

use crate::Outcome;

const CAMPAIGNS: u32 = 50;
const GROUPS: u32 = 20;
const DEVICES: [&str; 3] = ["Mobile", "Desktop", "Tablet"];

/// Writes an export with this number of rows.
pub(crate) fn write(file: &Path, rows: u32) -> Outcome {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(file)?);
    writeln!(file, "Day,Campaign,Ad group,Device,Cost,Clicks,Conversions,Currency code")?;
    let first = NaiveDate::from_ymd_opt(2021, 1, 1).ok_or("no such day")?;
    let mut random = 1_u32;
    for row in 0..rows {
        // Numbers of a linear congruential generator; the low bits repeat early.
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let value = random >> 12;
        let device = DEVICES.get(usize::try_from(row % 3)?).copied().unwrap_or_default();
        let (group, rest) = (row / 3 % GROUPS, row / 3 / GROUPS);
        let (campaign, day) = (rest % CAMPAIGNS, rest / CAMPAIGNS);
        let day = first.checked_add_days(Days::new(day.into())).ok_or("no such day")?;
        let (cost, clicks) = (value % 30_000, value % 113);
        writeln!(
            file,
            "{day},Campaign {campaign:02},Group {campaign:02}-{group:02},{device},{}.{:02},{clicks},{}.{}0,EUR",
            cost / 100,
            cost % 100,
            clicks / 10,
            value % 10,
        )?;
    }
    Ok(file.flush()?)
}
