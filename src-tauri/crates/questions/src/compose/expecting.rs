//! Questions about what will be: "will A hit its budget", "what will A spend". Only a source that is
//! computed from a plan has such figures; in other sources they are declined or left over. The names of
//! these figures and verdicts are those of the contract of such sources.

use contract::metric_query::{Bounds, Condition, MeasureUse, Scalar, Test};

use super::{Composer, flights::is_bound_of_edge};
use crate::{
    central::verdict_of,
    items::{Atom, Item},
    meaning::{Bound, Meaning},
    outcome::{Declined, Form},
    tokens::name_words,
};

/// The figures of what will be, of what is planned, and of what was.
const PROJECTION: &str = "projection";
const BUDGET: &str = "budget";
const SPEND: &str = "spend";
/// The figures of what was delivered that have none of what will be.
const WITHOUT_OUTLOOK: [&str; 2] = ["impressions", "thousand_impressions"];
/// The verdicts of what is over, as the side of the budget on which a thing ends.
const ENDS: [(&str, Bound); 3] = [
    ("under_delivered", Bound::Below),
    ("over_delivered", Bound::Above),
    ("delivered", Bound::From),
];

/// Whether a part asks for figures of the future.
pub(super) fn is_future(item: &Item) -> bool {
    item.means(&Meaning::Will) || is_forecast(item)
}

fn is_forecast(item: &Item) -> bool {
    item.means(&Meaning::Declined(Declined::Forecast))
}

impl Composer<'_> {
    /// Reads what is asked about the end of things. Fails if a word about the future is left.
    pub(super) fn read_expected(&mut self) -> Result<(), (Declined, usize)> {
        let future: Vec<usize> = (0..self.len())
            .filter(|at| is_future(&self.items[*at]) && !is_bound_of_edge(&self.items, *at))
            .collect();
        if let Some(at) = future.first().copied().filter(|_| self.is_of_coming_period()) {
            return Err((Declined::Forecast, at));
        }
        let (Some(projection), Some(budget)) = (self.figure(PROJECTION), self.figure(BUDGET))
        else {
            let foretold = future.into_iter().find(|at| self.is_foretold(*at));
            return foretold.map_or(Ok(()), |at| Err((Declined::Forecast, at)));
        };
        if future.is_empty() {
            return Ok(());
        }
        // "Spend and projection" names the figure itself.
        let is_name = future.iter().all(|at| self.is_name_of(*at, &projection));
        let is_led = future.iter().any(|at| self.leads_spend(*at));
        let is_done = if is_name {
            is_led && self.expect_spend(&projection)
        } else {
            self.ask_about_budget(&projection, &budget) || self.expect_spend(&projection)
        };
        if is_done {
            future.iter().for_each(|at| self.take(*at));
            return Ok(());
        }
        let is_without = self.place_of(&WITHOUT_OUTLOOK).is_some();
        let left = future
            .into_iter()
            .find(|at| is_forecast(&self.items[*at]) || (is_without && self.is_foretold(*at)));
        left.map_or(Ok(()), |at| Err((Declined::Forecast, at)))
    }

    /// Whether figures of a period are asked for that has not begun. A budget may be planned for it.
    fn is_of_coming_period(&self) -> bool {
        let is_coming = |at: usize| {
            let days = self.period_at(at).and_then(|period| self.scan.days_of(period));
            days.is_some_and(|(first, _)| first > self.scan.today())
        };
        let is_planned = self.place_of(&[BUDGET]).is_some() && self.place_of(&[SPEND]).is_none();
        !is_planned && (0..self.len()).any(is_coming)
    }

    /// Whether a part has several words for what will be, such as "at this rate". A verb such as "will" alone may
    /// only be polite, and something may be "going to" a place.
    fn is_foretold(&self, at: usize) -> bool {
        let item = &self.items[at];
        item.means(&Meaning::Will) && item.tokens.len() > 1 && self.value_at(at + 1).is_none()
    }

    /// Whether a part has words that are a name of a measure.
    fn is_name_of(&self, at: usize, measure: &str) -> bool {
        let Some(found) = self.scan.source.definitions.measures.get(measure) else { return false };
        let tokens = self.items.get(at).and_then(|item| self.scan.tokens.get(item.tokens.clone()));
        let typed: String =
            tokens.unwrap_or_default().iter().map(|one| one.fold.as_str()).collect();
        let written = found.synonyms.values().flatten().chain(found.title.values());
        let mut names = written.map(String::as_str).chain([measure]);
        names.any(|name| name_words(name).concat() == typed)
    }

    /// Whether what was spent stands directly behind a part.
    fn leads_spend(&self, at: usize) -> bool {
        self.next(at + 1).is_some_and(|next| self.place_of(&[SPEND]) == Some(next))
    }

    /// Reads "will A hit its budget" as the projection against the budget.
    fn ask_about_budget(&mut self, projection: &str, budget: &str) -> bool {
        let Some(difference) = self.figure_of_difference() else { return false };
        let planned = self.place_of(&[BUDGET]);
        let aims: Vec<(usize, Bound)> =
            (0..self.len()).filter_map(|at| Some((at, self.aim_at(at)?))).collect();
        let spend = self.place_of(&[SPEND]);
        let bounded = planned.and_then(|planned| {
            let at = self.previous(planned)?;
            Some((at, self.bound_at(at)?))
        });
        let (place, bound) = match (aims.as_slice(), bounded, spend, planned) {
            ([aim], _, _, _) => *aim,
            ([], Some(bounded), _, _) => bounded,
            // "Spend its full budget"
            ([], None, Some(spend), Some(planned)) if self.spends_all(spend, planned) => {
                (spend, Bound::From)
            }
            _ => return false,
        };
        let zero = Some(Scalar::Number(0.into()));
        let bounds = match bound {
            Bound::Above => Bounds { above: zero, ..Bounds::default() },
            Bound::From => Bounds { from: zero, ..Bounds::default() },
            Bound::Below => Bounds { below: zero, ..Bounds::default() },
            Bound::To => Bounds { to: zero, ..Bounds::default() },
        };
        for name in [projection, budget, difference.as_str()] {
            self.measures.push((place, MeasureUse::named(name)));
        }
        let condition = Condition::Is { name: difference, test: Test::Bounds(bounds) };
        let has_things = (0..self.len()).any(|at| self.dimension_at(at).is_some());
        // "Which campaigns will exceed their budget" are only those that will.
        if self.has(&Meaning::Which) && has_things {
            self.bounds.push((place, condition));
            self.bound_spans.push((place, place));
        } else {
            self.asked = Some(condition);
            self.form = Form::YesNo;
        }
        let is_said = |at: &usize| {
            self.means(*at, &Meaning::Whole)
                || (*at < place
                    && self.items[*at]
                        .find(|m| matches!(m, Meaning::Ends(_)).then_some(()))
                        .is_some())
        };
        let whole = (0..self.len()).filter(is_said);
        let words: Vec<usize> = whole.chain([place]).chain(spend).chain(planned).collect();
        self.pass_over(&words);
        true
    }

    /// Whether a text asks if the planned amount will be spent, and does not put one beside the other.
    fn spends_all(&self, spend: usize, planned: usize) -> bool {
        let is_apart = |at: usize| self.is_joiner(at) || self.means(at, &Meaning::Versus);
        self.has(&Meaning::Will) && spend < planned && !(spend..planned).any(is_apart)
    }

    /// Returns the side of the budget that a word names.
    pub(super) fn aim_at(&self, at: usize) -> Option<Bound> {
        let item = self.items.get(at)?;
        if let Atom::Value { dimension, value, .. } = &item.atom {
            let is_verdict = verdict_of(self.scan.source).as_ref() == Some(dimension);
            let side = ENDS.iter().find(|(end, _)| is_verdict && *end == value.as_str());
            return side.map(|(_, side)| *side);
        }
        item.find(|meaning| match meaning {
            Meaning::Aim(side) => Some(*side),
            _ => None,
        })
    }

    /// Reads "what will A spend" as the projection.
    fn expect_spend(&mut self, projection: &str) -> bool {
        let Some(at) = self.place_of(&[SPEND]) else { return false };
        // "Spend and projection" are two figures.
        let is_listed = |at: &usize| {
            is_forecast(&self.items[*at])
                && self.previous(*at).is_some_and(|before| self.is_joiner(before))
        };
        if (1..self.len()).any(|at| is_listed(&at)) {
            return false;
        }
        self.items[at].atom = Atom::Measure(projection.to_owned());
        self.items[at].amounts = Vec::new();
        true
    }
}
