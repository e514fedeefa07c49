//! A generated portfolio: advertising of two accounts in two currencies, orders of a shop, and budgets.
//! Amounts are whole cents, so that the tests compute exactly.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};

/// The first day of the portfolio, and the number of its days.
const FIRST: (i32, u32, u32) = (2025, 10, 1);
const DAYS: u64 = 424;
const ORDERS_PER_DAY: u64 = 3;

/// A day of a campaign on a kind of device.
pub(super) struct Ad {
    pub(super) day: NaiveDate,
    pub(super) account: &'static str,
    pub(super) campaign: &'static str,
    pub(super) device: &'static str,
    pub(super) currency: &'static str,
    pub(super) cost: i128,
    pub(super) impressions: i128,
    pub(super) clicks: i128,
    pub(super) conversions: i128,
}

/// An order of the shop.
pub(super) struct Order {
    pub(super) day: NaiveDate,
    pub(super) customer: String,
    pub(super) channel: &'static str,
    pub(super) campaign: &'static str,
    pub(super) revenue: i128,
    pub(super) items: i128,
}

/// The budget of a campaign from a day on.
pub(super) struct Budget {
    pub(super) day: NaiveDate,
    pub(super) campaign: &'static str,
    pub(super) amount: i128,
}

pub(super) struct Portfolio {
    pub(super) ads: Vec<Ad>,
    pub(super) orders: Vec<Order>,
    pub(super) budgets: Vec<Budget>,
}

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    /// Returns a number from 0 to below a limit.
    fn roll(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

pub(super) fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).unwrap()
}

fn days() -> impl Iterator<Item = (u64, NaiveDate)> {
    let (year, month, first) = FIRST;
    (0..DAYS).map(move |at| (at, day(year, month, first) + Days::new(at)))
}

impl Portfolio {
    pub(super) fn new() -> Self {
        let mut dice = Dice(40);
        Self { ads: ads(&mut dice), orders: orders(&mut dice), budgets: budgets(&mut dice) }
    }

    /// Returns the files of the portfolio, by the name of the source.
    pub(super) fn files(&self) -> BTreeMap<&'static str, String> {
        let mut ads =
            "Day,Account,Campaign,Device,Currency code,Cost,Impr.,Clicks,Conversions\n".to_owned();
        for ad in &self.ads {
            let Ad {
                day,
                account,
                campaign,
                device,
                currency,
                impressions,
                clicks,
                conversions,
                ..
            } = ad;
            let cost = written(ad.cost);
            ads += &format!(
                "{day},{account},{campaign},{device},{currency},{cost},{impressions},{clicks},{conversions}\n"
            );
        }
        let mut orders = "Order ID,Day,Customer,Channel,Campaign,Revenue,Items\n".to_owned();
        for (at, order) in self.orders.iter().enumerate() {
            let Order { day, customer, channel, campaign, items, .. } = order;
            let revenue = written(order.revenue);
            orders += &format!(
                "{},{day},{customer},{channel},{campaign},{revenue},{items}\n",
                at + 10_001
            );
        }
        let mut budgets = "Day,Campaign,Budget\n".to_owned();
        for budget in &self.budgets {
            budgets += &format!("{},{},{}\n", budget.day, budget.campaign, written(budget.amount));
        }
        [("ads", ads), ("orders", orders), ("budgets", budgets)].into()
    }
}

/// Writes cents as an amount.
fn written(cents: i128) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn ads(dice: &mut Dice) -> Vec<Ad> {
    let campaigns = [
        ("One", "EUR", "Brand"),
        ("One", "EUR", "Generic"),
        ("One", "EUR", "Shopping"),
        ("Two", "SEK", "Display"),
        ("Two", "SEK", "Video"),
    ];
    let mut ads = Vec::new();
    for (_, day) in days() {
        for (account, currency, campaign) in campaigns {
            for device in ["Mobile", "Desktop", "Tablet"] {
                // Some days have no tablets.
                if device == "Tablet" && dice.roll(4) == 0 {
                    continue;
                }
                let clicks = dice.roll(120);
                ads.push(Ad {
                    day,
                    account,
                    campaign,
                    device,
                    currency,
                    cost: dice.roll(50_000).into(),
                    impressions: (clicks * (8 + dice.roll(30)) + dice.roll(50)).into(),
                    clicks: clicks.into(),
                    conversions: dice.roll(5).into(),
                });
            }
        }
    }
    ads
}

fn orders(dice: &mut Dice) -> Vec<Order> {
    let channels = ["Web", "Store", "App"];
    let campaigns = ["Brand", "Generic", "Shopping", "Affiliate"];
    let mut orders = Vec::new();
    for (at, day) in days() {
        for of_day in 0..ORDERS_PER_DAY {
            let number = at * ORDERS_PER_DAY + of_day;
            // No customer has two orders on a day.
            let customer = format!("C-{}", (number * 7 + number / 150 * 3) % 150);
            orders.push(Order {
                day,
                customer,
                channel: channels[usize::try_from(dice.roll(3)).unwrap()],
                campaign: campaigns[usize::try_from(dice.roll(4)).unwrap()],
                revenue: (100 + dice.roll(99_900)).into(),
                items: (1 + dice.roll(6)).into(),
            });
        }
    }
    orders
}

fn budgets(dice: &mut Dice) -> Vec<Budget> {
    let mut budgets = Vec::new();
    for month in 1..=12 {
        for campaign in ["Brand", "Generic", "Shopping"] {
            let amount = (1_000 + dice.roll(9_000)) * 100;
            budgets.push(Budget { day: day(2026, month, 1), campaign, amount: amount.into() });
        }
    }
    budgets
}

/// The meaning of the columns.
pub(super) const DEFINITIONS: [(&str, &str); 3] = [
    (
        "ads",
        "source: ads
time: {column: Day}
dimensions:
  account: {column: Account}
  campaign: {column: Campaign}
  device: {column: Device}
measures:
  clicks: {sum: Clicks}
  conversions: {sum: Conversions}
  impressions: {sum: Impr.}
  spend: {sum: Cost, unit: money, currency: {column: Currency code}}
  ctr: {ratio: [clicks, impressions], unit: percent}
  cpc: {ratio: [spend, clicks], unit: money}
  mobile_clicks: {of: clicks, where: {device: [Mobile]}}
",
    ),
    (
        "orders",
        "source: orders
time: {column: Day}
dimensions:
  campaign: {column: Campaign}
  channel: {column: Channel}
  customer: {column: Customer}
measures:
  revenue: {sum: Revenue, unit: money, currency: EUR}
  items: {sum: Items}
  orders: {count: rows}
  average_order: {ratio: [revenue, orders], unit: money, currency: EUR}
  customers: {distinct: Customer}
",
    ),
    (
        "budgets",
        "source: budgets
time: {column: Day}
dimensions:
  campaign: {column: Campaign}
measures:
  budget: {last: {column: Budget, per: [Campaign]}, unit: money, currency: EUR}
",
    ),
];
