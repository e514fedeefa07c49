//! Reads assumptions about budgets and rates.

use serde_json::{Number, Value};

use super::Read;
use crate::{
    members::{Members, Place},
    metric_query::{WhatIf, WhatIfChange, read_conditions},
    text,
};

pub(super) fn read_what_if(value: &Value, place: &Place) -> Read<WhatIf> {
    let mut members = Members::of(value, place)?;
    let what_if = WhatIf {
        conditions: members.read("where", read_conditions)?.unwrap_or_default(),
        budget: members.read("budget", read_change)?,
        rate: members.read("rate", read_change)?,
    };
    members.finish()?;
    if what_if.budget.is_none() && what_if.rate.is_none() {
        return Err(place
            .problem(text!("One of these members is needed: {names}.", names = "budget, rate")));
    }
    Ok(what_if)
}

fn read_change(value: &Value, place: &Place) -> Read<WhatIfChange> {
    let mut members = Members::of(value, place)?;
    let found = [
        members.read("to", read_number)?.map(WhatIfChange::To),
        members.read("by", read_number)?.map(WhatIfChange::By),
        members.read("percent", read_number)?.map(WhatIfChange::Percent),
    ];
    members.finish()?;
    let mut found = found.into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (_, _) => Err(place
            .problem(text!("One of these members is needed: {names}.", names = "to, by, percent"))),
    }
}

fn read_number(value: &Value, place: &Place) -> Read<Number> {
    match value {
        Value::Number(number) => Ok(number.clone()),
        _ => Err(place.problem(text!("A number is needed."))),
    }
}
