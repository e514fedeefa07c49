//! Tests of sources through the command list, with the real data program: what an import asks, what
//! it changes, and how it is taken back.

mod access;
mod accounts;
mod adding;
mod cases;
mod definitions;
mod earlier;
mod exports;
mod figures;
mod folders;
mod keeping;
mod profiles;
mod repeating;
mod replacing;
mod rights;
mod sample;
mod taking_back;
mod typing;

use contract::{SourceName, SourceParams};

use crate::data_world::{World, all_records, answers, questions};

fn named(name: &SourceName) -> SourceParams {
    SourceParams { name: name.clone() }
}

const CLIENT_ONE: &str =
    "Day,Campaign,Cost,Impr.\n2026-11-01,Brand,100.00,1000\n2026-11-02,Brand,110.00,1000\n";

const CLIENT_TWO: &str =
    "Day,Campaign,Cost,Impr.\n2026-11-01,Brand,7.00,50\n2026-11-02,Brand,8.00,60\n";
