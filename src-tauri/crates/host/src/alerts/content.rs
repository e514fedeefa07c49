//! Checks the content of a rule before it is stored. Pure: it must not know where rules are stored.

use contract::{
    AgentError, Reason,
    alerts::{AlertCondition, AlertRuleContent, LONGEST_RULE_NAME, MOST_RULE_DAYS},
    metric_query::Period,
    text,
};

/// Returns the content with a trimmed name, if it can be checked each day.
pub(super) fn check_content(content: AlertRuleContent) -> Result<AlertRuleContent, AgentError> {
    let name = content.name.trim().to_owned();
    if name.is_empty() {
        return Err(refused("A rule needs a name."));
    }
    if name.chars().count() > LONGEST_RULE_NAME {
        return Err(refused(text!(
            "A name has at most {count} characters.",
            count = LONGEST_RULE_NAME
        )));
    }
    let mut content = AlertRuleContent { name, ..content };
    content.query.as_of = None;
    check_query(&content)?;
    check_condition(&content)?;
    Ok(content)
}

fn check_query(content: &AlertRuleContent) -> Result<(), AgentError> {
    let query = &content.query;
    let is_other = query.rows || query.then.is_some() || query.explain.is_some();
    if query.measures.is_empty() || is_other || query.pivot.is_some() {
        return Err(refused("A rule needs a measure, and no single rows, second step or pivot."));
    }
    let is_fixed = match &query.period {
        Some(
            Period::Month(_)
            | Period::Quarter(_)
            | Period::Year(_)
            | Period::Week(_)
            | Period::Range { to: Some(_), .. },
        ) => true,
        Some(
            Period::Last(_)
            | Period::LastWithToday(_)
            | Period::This(_)
            | Period::ToDate(_)
            | Period::Previous(_)
            | Period::Range { to: None, .. },
        )
        | None => false,
    };
    if is_fixed {
        return Err(refused("The period of a rule must move with the calendar.")
            .hint("Choose a period such as the last 7 days."));
    }
    Ok(())
}

fn check_condition(content: &AlertRuleContent) -> Result<(), AgentError> {
    let is_amount = |value: f64| value.is_finite() && value >= 0.0;
    match &content.condition {
        AlertCondition::Changed { percent, amount } => {
            let compare = content.query.compare.as_ref();
            if compare.is_none_or(|compare| compare.to.is_none() && compare.period.is_none()) {
                return Err(refused("A change needs a period to compare with."));
            }
            if !is_amount(*percent) || !is_amount(*amount) {
                return Err(refused("Percent and amount are numbers from 0."));
            }
        }
        AlertCondition::Beyond { value, .. } => {
            if !value.is_finite() {
                return Err(refused("The value of the rule is not a number."));
            }
        }
        AlertCondition::NoDataFor { days } | AlertCondition::RunsOutWithin { days } => {
            if !(1..=MOST_RULE_DAYS).contains(days) {
                return Err(refused(text!(
                    "The number of days is between 1 and {most}.",
                    most = MOST_RULE_DAYS
                )));
            }
        }
        AlertCondition::StatusChanged { dimension } => {
            if dimension.trim().is_empty() {
                return Err(refused("The rule needs the column whose changes are told."));
            }
        }
    }
    Ok(())
}

fn refused(message: impl Into<contract::Text>) -> AgentError {
    AgentError::invalid(message).reason(Reason::Validation)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn content(name: &str, condition: Value, query: Value) -> AlertRuleContent {
        serde_json::from_value(
            json!({"name": name, "query": query, "condition": condition, "is_on": true}),
        )
        .unwrap()
    }

    #[test]
    fn a_rule_is_named_compared_and_moves_with_the_calendar() {
        let changed = || json!({"changed": {"percent": 20.0, "amount": 0.0}});
        let compared = json!({"measures": ["spend"], "compare": "previous",
                              "period": {"last": {"days": 7}},
                              "as_of": {"moment": "2026-11-20T09:00:00", "zone": "UTC"}});
        let checked = check_content(content(" Drop ", changed(), compared)).unwrap();
        assert_eq!((checked.name.as_str(), checked.query.as_of), ("Drop", None));
        let spend = || json!({"measures": ["spend"]});
        let days = |days: u32| json!({"no_data_for": {"days": days}});
        for wrong in [
            content(" ", days(2), spend()),
            content(&"x".repeat(LONGEST_RULE_NAME + 1), days(2), spend()),
            content("Change", changed(), spend()),
            content("Days", days(0), spend()),
            content("Days", days(MOST_RULE_DAYS + 1), spend()),
            content("Fixed", days(2), json!({"measures": ["spend"], "period": {"year": 2026}})),
            content("Column", json!({"status_changed": {"dimension": " "}}), spend()),
            content("Rows", days(2), json!({"rows": true, "measures": []})),
        ] {
            let error = check_content(wrong).unwrap_err();
            assert!(error.has_reason(Reason::Validation), "{error:?}");
        }
    }
}
