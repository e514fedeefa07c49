//! Reads how the rows of a source are computed from delivery and plan.

use serde_json::Value;

use super::{Read, read_map};
use crate::{
    SourceName,
    definitions::{Pacing, PacingDelivery, PacingLimits, PacingName, PacingPlan},
    members::{Members, Place, read_count, read_list, read_text},
    text,
};

pub(super) fn read_pacing(value: &Value, place: &Place) -> Read<Pacing> {
    let mut members = Members::of(value, place)?;
    let by_place = place.at("by");
    let pacing = Pacing {
        delivery: members.need("delivery", read_delivery)?,
        plan: members.need("plan", read_plan)?,
        by: members.need("by", |v, p| read_list(v, p, read_name))?,
        level: members.need("level", read_text)?,
        feed: members.read("feed", read_text)?,
        zones: members.read("zones", |v, p| read_map(v, p, read_text))?.unwrap_or_default(),
        limits: members.read("limits", read_limits)?.unwrap_or_default(),
    };
    members.finish()?;
    for name in pacing.feed.iter().chain([&pacing.level]) {
        if !pacing.by.iter().any(|one| one.name == *name) {
            return Err(by_place.problem(text!("{name} is not in \"by\".", name)));
        }
    }
    Ok(pacing)
}

fn read_delivery(value: &Value, place: &Place) -> Read<PacingDelivery> {
    let mut members = Members::of(value, place)?;
    let delivery = PacingDelivery {
        source: SourceName::new(members.need("source", read_text)?),
        spend: members.need("spend", read_text)?,
        impressions: members.read("impressions", read_text)?,
    };
    members.finish()?;
    Ok(delivery)
}

fn read_plan(value: &Value, place: &Place) -> Read<PacingPlan> {
    let mut members = Members::of(value, place)?;
    let plan = PacingPlan {
        source: SourceName::new(members.need("source", read_text)?),
        budget: members.need("budget", read_text)?,
    };
    members.finish()?;
    Ok(plan)
}

fn read_name(value: &Value, place: &Place) -> Read<PacingName> {
    let mut members = Members::of(value, place)?;
    let name = PacingName {
        name: members.need("name", read_text)?,
        delivery: members.read("delivery", read_text)?,
        plan: members.read("plan", read_text)?,
    };
    members.finish()?;
    if name.delivery.is_none() && name.plan.is_none() {
        return Err(place
            .problem(text!("One of these members is needed: {names}.", names = "delivery, plan")));
    }
    Ok(name)
}

fn read_limits(value: &Value, place: &Place) -> Read<PacingLimits> {
    let mut members = Members::of(value, place)?;
    let usual = PacingLimits::default();
    let mut limit = |name: &'static str, usual: u32| -> Read<u32> {
        Ok(members.read(name, read_count)?.unwrap_or(usual))
    };
    let limits = PacingLimits {
        on_track: limit("on_track", usual.on_track)?,
        slightly: limit("slightly", usual.slightly)?,
        delivered_from: limit("delivered_from", usual.delivered_from)?,
        delivered_to: limit("delivered_to", usual.delivered_to)?,
        early_days: limit("early_days", usual.early_days)?,
        early_percent: limit("early_percent", usual.early_percent)?,
        recent_days: limit("recent_days", usual.recent_days)?,
        at_risk: limit("at_risk", usual.at_risk)?,
        silent_days: limit("silent_days", usual.silent_days)?,
        late_days: limit("late_days", usual.late_days)?,
    };
    members.finish()?;
    if limits.slightly < limits.on_track || limits.delivered_to < limits.delivered_from {
        return Err(place.problem(text!("A limit is below the one before it.")));
    }
    Ok(limits)
}
