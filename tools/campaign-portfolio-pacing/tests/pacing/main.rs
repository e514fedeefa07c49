//! Tests of the pacing service from outside, with files and arguments as input and result objects
//! as output.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]

mod accounts;
mod answers;
mod entries;
mod export_files;
mod exports;
mod import;
mod lists;
mod reference;
mod sample;
mod selection;
mod survey;
mod windows;
mod worked_example;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use campaign_portfolio_pacing::{ImportReport, Pacing};
use serde_json::Value;

const DELIVERY: &str = "account_id,account_name,advertiser,campaign_id,campaign_name,line_item_id,line_item_name,date,hour,spend,impressions\n";
const CAMPAIGNS: &str = "account_id,advertiser,campaign_id,campaign_name,budget,flight_start,flight_end,time_zone,currency\n";

/// Returns a service with its own folder and a fixed time.
fn service(now: &str) -> (tempfile::TempDir, Pacing) {
    let folder = tempfile::tempdir().unwrap();
    let pacing = at(folder.path(), now);
    (folder, pacing)
}

/// Returns the service of a folder at another time.
fn at(folder: &Path, now: &str) -> Pacing {
    let now = now.parse().unwrap();
    Pacing::open(folder, Arc::new(move || now)).unwrap()
}

/// Returns a service with the given rows.
fn with_rows(now: &str, campaigns: &str, delivery: &str) -> (tempfile::TempDir, Pacing) {
    let (folder, pacing) = service(now);
    let files = [
        write(folder.path(), "campaigns.csv", CAMPAIGNS, campaigns),
        write(folder.path(), "delivery.csv", DELIVERY, delivery),
    ];
    let report = import(&pacing, &files);
    assert_eq!(report.errors, [], "the test's own rows are right");
    (folder, pacing)
}

fn write(folder: &Path, name: &str, header: &str, rows: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("{header}{rows}")).unwrap();
    path
}

fn import(pacing: &Pacing, files: &[PathBuf]) -> ImportReport {
    pacing.import(files, &mut |_| {}, &AtomicBool::new(false)).unwrap()
}

/// Returns a delivery row of a whole day.
fn row(campaign: &str, item: &str, date: &str, spend: &str) -> String {
    format!(
        "7,Test Account,Advertiser A,{campaign},Campaign {campaign},{item},Item {item},{date},,{spend},1000\n"
    )
}

fn has(list: &Value, code: &str) -> bool {
    list.as_array().unwrap().iter().any(|v| v == code || v["code"] == code)
}
