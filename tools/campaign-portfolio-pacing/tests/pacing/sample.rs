//! The sample that ships: counts, stories, and that it moves with the clock.

use serde_json::json;

use crate::service;

#[test]
fn each_account_tells_its_story() {
    let (_folder, pacing) = service("2026-11-21T20:00:00Z");
    for (account, status) in [("17", "SLIGHTLY_BEHIND"), ("23", "AHEAD"), ("42", "ON_TRACK")] {
        let month = json!({"account_id": account, "campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
        let result = pacing.analyze(&month).unwrap();
        assert_eq!(result["insights"]["daily_pacing"]["pacing_status"], status, "account {account}");
        assert_eq!(result["insights"]["daily_trend"][0]["date"], "2026-11-21");
        assert_eq!(result["insights"]["daily_trend"][0]["partial"], true);
    }
}
