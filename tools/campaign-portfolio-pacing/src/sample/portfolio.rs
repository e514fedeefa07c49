//! The plan of the sample: three accounts, six advertisers, forty campaigns with different paces.
//! Plain data.

/// An account of the plan.
pub(crate) struct AccountPlan {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) zone: &'static str,
    pub(crate) currency: &'static str,
    /// Whether the newest days have hourly rows.
    pub(crate) hourly: bool,
}

/// A campaign of the plan. Money is in whole units, days are relative to today, and paces are in
/// percent of an even pace.
pub(crate) struct CampaignPlan {
    pub(crate) advertiser: usize,
    pub(crate) name: &'static str,
    pub(crate) budget: i64,
    pub(crate) flight: (i64, i64),
    pub(crate) pace: i64,
    /// The pace of the last ten days, in percent.
    pub(crate) recent: i64,
    pub(crate) line_items: usize,
}

pub(crate) const ACCOUNTS: [AccountPlan; 3] = [
    AccountPlan {
        id: "17",
        name: "Northwind Outdoor",
        zone: "America/Los_Angeles",
        currency: "USD",
        hourly: false,
    },
    AccountPlan {
        id: "23",
        name: "Bluebell Home",
        zone: "Europe/London",
        currency: "GBP",
        hourly: false,
    },
    AccountPlan {
        id: "42",
        name: "Kestrel Travel",
        zone: "Europe/Stockholm",
        currency: "EUR",
        hourly: true,
    },
];

/// The advertisers, each with the index of its account.
pub(crate) const ADVERTISERS: [(&str, usize); 6] = [
    ("Fernhill Boots", 0),
    ("Glacier Tents", 0),
    ("Moss & Oak", 1),
    ("Copper Kettle", 1),
    ("Harbour Lines", 2),
    ("Juniper Stays", 2),
];

/// Formats of line items, with prices in hundredths per thousand impressions.
pub(crate) const FORMATS: [(&str, i64); 6] = [
    ("Display", 240),
    ("Video", 1150),
    ("Native", 380),
    ("Audio", 720),
    ("Retargeting", 310),
    ("Connected TV", 2150),
];

const fn plan(
    advertiser: usize,
    name: &'static str,
    budget: i64,
    flight: (i64, i64),
    paces: (i64, i64),
    line_items: usize,
) -> CampaignPlan {
    CampaignPlan { advertiser, name, budget, flight, pace: paces.0, recent: paces.1, line_items }
}

pub(crate) const CAMPAIGNS: [CampaignPlan; 40] = [
    // Account 17 is slightly behind as a whole.
    plan(0, "Spring Trail", 48000, (-150, -60), (99, 100), 4), // ended on plan
    plan(0, "Summer Summits", 90000, (-100, 40), (93, 100), 5), // steady, a little behind
    plan(0, "Rain or Shine", 36000, (-45, 44), (96, 100), 4),  // on track
    plan(0, "Wide Fit", 24000, (-60, 59), (112, 100), 4),      // ahead
    plan(0, "Junior Explorers", 18000, (-30, 29), (72, 90), 3), // behind
    plan(0, "Retailer Launch", 30000, (-28, 12), (66, 80), 4), // at risk: little time left
    plan(0, "Brand Always On", 146000, (-179, 185), (95, 100), 5), // long runner
    plan(0, "Winter Preview", 22000, (9, 68), (0, 0), 3),      // not started
    plan(1, "Base Camp", 52000, (-90, 59), (97, 100), 4),      // on track
    plan(1, "Festival Season", 40000, (-120, -20), (101, 100), 4), // ended
    plan(1, "Ultralight", 34000, (-35, 54), (94, 100), 4),     // slightly behind
    plan(1, "Family Dome", 26000, (-50, 39), (124, 118), 4),   // overspend
    plan(1, "Repair Service", 9000, (-75, 74), (88, 100), 2),  // slightly behind
    plan(1, "Store Openings", 16000, (-20, 9), (92, 100), 3),  // on its last days
    plan(1, "Clearance", 12000, (-165, -130), (98, 100), 2),   // ended
    plan(1, "Newsletter Sign-up", 14600, (-179, 185), (91, 100), 3), // long runner
    // Account 23 is ahead.
    plan(2, "New Nest", 44000, (-80, 69), (109, 100), 4), // ahead
    plan(2, "Living Room Refresh", 38000, (-40, 49), (112, 104), 4), // ahead
    plan(2, "Garden Days", 27000, (-110, -25), (103, 100), 4), // ended
    plan(2, "Bedding Week", 15000, (-12, 17), (118, 100), 3), // overspend
    plan(2, "Lighting", 21000, (-60, 29), (101, 100), 3), // on track
    plan(2, "Storage Ideas", 19000, (-55, 34), (97, 100), 4), // on track
    plan(2, "Brand Always On", 73000, (-179, 185), (107, 100), 5), // long runner
    plan(3, "Breakfast Club", 33000, (-70, 49), (110, 100), 4), // ahead
    plan(3, "Espresso Bar", 29000, (-30, 59), (113, 100), 4), // ahead
    plan(3, "Picnic", 12000, (-140, -70), (94, 100), 3),  // ended
    plan(3, "Gift Guide", 24000, (14, 60), (0, 0), 3),    // not started
    plan(3, "Care & Repair", 8000, (-65, 54), (84, 100), 3), // slightly behind
    plan(3, "Wedding Lists", 18000, (-90, 89), (104, 100), 4), // on track
    plan(3, "Kitchen Basics", 36500, (-179, 185), (106, 100), 4), // long runner
    // Account 42 is on track.
    plan(4, "Fjord Routes", 62000, (-120, 59), (100, 100), 4), // on track
    plan(4, "Island Hopping", 48000, (-60, 59), (103, 100), 4), // on track
    plan(4, "Night Ferries", 30000, (-40, 39), (98, 100), 4),  // on track
    plan(4, "Last Minute", 14000, (-18, 11), (121, 110), 3),   // overspend
    plan(4, "Brand Always On", 109500, (-179, 185), (101, 100), 5), // long runner
    plan(5, "City Breaks", 41000, (-75, 44), (97, 100), 4),    // on track
    plan(5, "Cabins", 26000, (-50, 39), (81, 100), 4),         // behind
    plan(5, "Spa Weekends", 22000, (-30, 29), (106, 100), 4),  // ahead
    plan(5, "Easter", 17000, (-170, -100), (99, 100), 4),      // ended
    plan(5, "Members", 29200, (-179, 185), (99, 100), 4),      // long runner
];
