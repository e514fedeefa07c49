//! Months in which data are late, the program restarts at each step and the clock changes.

use chrono::TimeZone as _;

use super::*;

fn day(number: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 10, 1).unwrap() + Days::new(u64::from(number))
}

fn group(name: &str) -> Vec<AlertGroup> {
    vec![AlertGroup { dimension: "campaign".to_owned(), value: json!(name) }]
}

fn level(name: &str, holds: bool) -> Evaluated {
    Evaluated { group: group(name), finding: Finding::Holds(holds), figures: Vec::new() }
}

fn value(name: &str, value: &str) -> Evaluated {
    let finding = Finding::Value(value.to_owned());
    Evaluated { group: group(name), finding, figures: Vec::new() }
}

/// A rule whose state is stored and read again after each step, as a restart does.
struct Simulated {
    stored: String,
    ids: u32,
    /// All news in their order: the day that they are about, and what is told.
    news: Vec<(NaiveDate, News)>,
}

impl Simulated {
    fn new() -> Self {
        let stored = serde_json::to_string(&RuleState::default()).unwrap();
        Self { stored, ids: 0, news: Vec::new() }
    }

    fn state(&self) -> RuleState {
        serde_json::from_str(&self.stored).unwrap()
    }

    /// Checks all days up to the last full one, with a restart after each day, before its news are
    /// told, and after they are.
    fn check(&mut self, last: NaiveDate, figures: impl Fn(NaiveDate) -> Vec<Evaluated>) {
        loop {
            let mut state = self.state();
            let days = state.begin(last, None);
            let Some(day) = days.first().copied() else {
                self.stored = serde_json::to_string(&state).unwrap();
                return;
            };
            let now = Utc.from_utc_datetime(&last.and_hms_opt(8, 0, 0).unwrap());
            let checked = Checked { day, last, now, holds_if_absent: false };
            let ids = &mut self.ids;
            state.take(checked, figures(day), &[], &mut || {
                *ids += 1;
                AlertId::new(format!("alert_{ids}"))
            });
            self.stored = serde_json::to_string(&state).unwrap();
            self.tell();
        }
    }

    /// Checks the days whose rows changed, and those that are due.
    fn check_again(&mut self, last: NaiveDate, version: &str, truth: &[bool]) {
        let mut state = self.state();
        let figures = |of: NaiveDate| {
            let number = usize::try_from((of - day(0)).num_days()).unwrap();
            (of, vec![level("Brand", truth[number])])
        };
        let days: Vec<_> = state.begin(last, Some(version)).into_iter().map(figures).collect();
        let now = Utc.from_utc_datetime(&last.and_hms_opt(8, 0, 0).unwrap());
        for (at, (day, evaluated)) in days.iter().enumerate() {
            let checked = Checked { day: *day, last, now, holds_if_absent: false };
            let ids = &mut self.ids;
            state.take(checked, evaluated.clone(), &days[at + 1..], &mut || {
                *ids += 1;
                AlertId::new(format!("alert_{ids}"))
            });
        }
        state.version = Some(version.to_owned());
        self.stored = serde_json::to_string(&state).unwrap();
        self.tell();
    }

    fn tell(&mut self) {
        let mut state = self.state();
        for event in &mut state.events {
            for news in std::mem::take(&mut event.to_record) {
                let day = match news {
                    News::Told => event.since,
                    News::Resolved => event.resolved_on.unwrap(),
                };
                self.news.push((day, news));
            }
            event.to_notify.clear();
        }
        self.stored = serde_json::to_string(&state).unwrap();
    }
}

/// Random numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % limit
    }
}

/// Returns the edges of what was true: each begin and each end of a condition.
fn edges(truth: &[bool]) -> Vec<(NaiveDate, News)> {
    let mut before = false;
    let mut edges = Vec::new();
    for (number, holds) in (0..).zip(truth) {
        match (before, *holds) {
            (false, true) => edges.push((day(number), News::Told)),
            (true, false) => edges.push((day(number), News::Resolved)),
            (true, true) | (false, false) => {}
        }
        before = *holds;
    }
    edges
}

#[test]
fn each_condition_of_a_month_is_told_once_with_late_data_restarts_and_changes_of_the_clock() {
    for seed in 1..400 {
        let mut numbers = Numbers(seed);
        let truth: Vec<bool> = (0..31).map(|number| number > 0 && numbers.below(3) == 0).collect();
        let figures = |of: NaiveDate| {
            let number = usize::try_from((of - day(0)).num_days()).unwrap();
            vec![level("Brand", truth[number])]
        };
        let mut simulated = Simulated::new();
        simulated.check(day(0), figures);
        let mut arrived = 0_u32;
        for today in 1..=31_u32 {
            for _hour in 0..4 {
                // Data arrive late, for several days at once, and at last completely.
                let is_late = today < 31 && numbers.below(3) == 0;
                arrived = if is_late { arrived } else { today - 1 };
                // The clock is an hour or some days behind now and then: fewer days are over.
                let is_behind = numbers.below(5) == 0;
                let days = u32::try_from(numbers.below(4)).unwrap();
                let behind = if is_behind { days } else { 0 };
                let over = (today - 1).saturating_sub(behind);
                simulated.check(day(arrived.min(over)), figures);
            }
        }
        simulated.check(day(30), figures);
        assert_eq!(simulated.news, edges(&truth), "seed {seed}");
    }
}

#[test]
fn a_clock_that_was_far_ahead_skips_no_day() {
    let truth = |of: NaiveDate| vec![level("Brand", of >= day(4) && of < day(9))];
    let mut simulated = Simulated::new();
    simulated.check(day(2), truth);
    // The rows of a database have no last day, so that the clock alone says which day is over.
    simulated.check(day(300), |_| vec![level("Brand", true)]);
    simulated.news.clear();
    for last in 3..20 {
        simulated.check(day(last), truth);
    }
    let news: Vec<News> = simulated.news.iter().map(|(_, news)| *news).collect();
    assert_eq!(news.iter().filter(|one| **one == News::Resolved).count(), 2, "{news:?}");
    assert_eq!(simulated.news[1..], [(day(4), News::Told), (day(9), News::Resolved)]);
}

#[test]
fn a_day_whose_import_was_taken_back_is_checked_again_without_repeating_it() {
    let mut simulated = Simulated::new();
    let holds = |from: u32| move |of: NaiveDate| vec![level("Brand", of >= day(from))];
    simulated.check(day(2), holds(5));
    simulated.check(day(6), holds(5));
    // The corrected rows of the same days: the condition began earlier.
    simulated.check(day(3), holds(4));
    simulated.check(day(6), holds(4));
    assert_eq!(simulated.news, [(day(5), News::Told)]);
    assert_eq!(simulated.state().events[0].since, day(4));
}

#[test]
fn a_correction_of_an_earlier_day_is_told_and_rows_that_say_the_same_are_not() {
    for seed in 1..300 {
        let mut numbers = Numbers(seed);
        let mut truth = vec![false; 31];
        let mut simulated = Simulated::new();
        simulated.check_again(day(0), "first", &truth);
        for today in 1..31_u64 {
            let at = usize::try_from(today).unwrap();
            truth[at] = numbers.below(3) == 0;
            let corrected = today.saturating_sub(numbers.below(8)).max(1);
            truth[usize::try_from(corrected).unwrap()] = numbers.below(2) == 0;
            let last = day(u32::try_from(today).unwrap());
            simulated.check_again(last, &format!("{today}"), &truth);
            let news = simulated.news.clone();
            simulated.check_again(last, &format!("{today} again"), &truth);
            assert_eq!(simulated.news, news, "seed {seed}");
            let events = simulated.state().events;
            for (number, holds) in (0..).zip(&truth[..=at]) {
                let covers = |event: &Event| {
                    event.since <= day(number)
                        && event.resolved_on.is_none_or(|on| on > day(number))
                };
                assert!(!holds || events.iter().any(covers), "seed {seed}, day {number}");
            }
            let is_open = events.iter().any(|event| event.resolved_on.is_none());
            assert_eq!(is_open, truth[at], "seed {seed}, {today}");
        }
    }
}

#[test]
fn a_day_before_a_resolved_event_belongs_to_it_if_the_condition_held_between() {
    let mut simulated = Simulated::new();
    simulated.check_again(day(1), "before", &[false; 8]);
    simulated.check_again(day(7), "late", &[false, false, false, false, true, true, false, false]);
    assert_eq!(simulated.news, [(day(4), News::Told), (day(6), News::Resolved)]);
    simulated.check_again(day(7), "joined", &[false, false, true, true, true, true, false, false]);
    assert_eq!(simulated.news.len(), 2);
    assert_eq!(simulated.state().events[0].since, day(2));
    simulated.check_again(day(7), "apart", &[false, true, false, true, true, true, false, false]);
    assert_eq!(simulated.news[2..], [(day(1), News::Told), (day(2), News::Resolved)]);
}

#[test]
fn a_group_without_rows_resolves_its_alert_unless_the_condition_is_that_there_are_none() {
    for (holds_if_absent, resolved) in [(false, Some(day(1))), (true, None)] {
        let mut state = RuleState::default();
        let now = Utc::now();
        for (number, figures) in [(0, vec![level("Brand", true)]), (1, Vec::new())] {
            let checked = Checked { day: day(number), last: day(1), now, holds_if_absent };
            state.take(checked, figures, &[], &mut || AlertId::new("alert"));
        }
        assert_eq!(state.events[0].resolved_on, resolved);
    }
}

#[test]
fn each_change_of_a_value_is_told_once_and_resolves_the_one_before() {
    let words = ["on track", "on track", "behind", "behind", "ahead", "on track", "behind"];
    let figures = |of: NaiveDate| {
        let number = usize::try_from((of - day(0)).num_days()).unwrap();
        vec![value("Brand", words[number])]
    };
    let mut simulated = Simulated::new();
    for last in [0, 1, 3, 2, 1, 4, 3, 6, 5, 6] {
        simulated.check(day(last), figures);
    }
    let expected = [
        (day(2), News::Told),
        (day(4), News::Resolved),
        (day(4), News::Told),
        (day(5), News::Resolved),
        (day(5), News::Told),
        (day(6), News::Resolved),
        (day(6), News::Told),
    ];
    let mut news = simulated.news.clone();
    news.sort();
    let mut sorted = expected.to_vec();
    sorted.sort();
    assert_eq!(news, sorted);
    let before: Vec<Option<String>> =
        simulated.state().events.into_iter().map(|event| event.before).collect();
    let told = ["on track", "behind", "ahead", "on track"].map(|word| Some(word.to_owned()));
    assert_eq!(before, told);
}

#[test]
fn a_value_that_goes_back_is_resolved_and_not_told_again() {
    let words = ["on track", "behind", "on track"];
    let figures = |of: NaiveDate| {
        let number = usize::try_from((of - day(0)).num_days()).unwrap();
        vec![value("Brand", words[number])]
    };
    let mut simulated = Simulated::new();
    for last in [0, 1, 2] {
        simulated.check(day(last), figures);
    }
    assert_eq!(simulated.news, [(day(1), News::Told), (day(2), News::Resolved)]);
}

#[test]
fn a_long_pause_is_checked_from_a_quarter_before() {
    let mut state = RuleState { checked_to: Some(day(0)), ..RuleState::default() };
    let days = state.begin(day(300), None);
    assert_eq!((days.len(), days.last()), (92, Some(&day(300))));
    assert_eq!(RuleState::default().begin(day(5), None), [day(5)], "a new rule");
}

#[test]
fn days_of_23_and_of_25_hours_are_checked_once_each() {
    let zone = chrono_tz::Europe::Stockholm;
    for begin in ["2026-03-27T22:30:00Z", "2026-10-23T21:30:00Z"] {
        let begin: DateTime<Utc> = begin.parse().unwrap();
        let (mut state, mut days) = (RuleState::default(), Vec::new());
        for hour in 0..96 {
            let now = begin + chrono::TimeDelta::hours(hour);
            let last = now.with_timezone(&zone).date_naive().pred_opt().unwrap();
            for day in state.begin(last, None) {
                let checked = Checked { day, last, now, holds_if_absent: false };
                state.take(checked, Vec::new(), &[], &mut || AlertId::new("alert"));
                days.push(day);
            }
        }
        let expected: Vec<NaiveDate> = days[0].iter_days().take(5).collect();
        assert_eq!(days, expected, "{begin}");
    }
}
