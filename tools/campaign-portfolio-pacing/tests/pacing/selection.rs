//! Tests of the selected account and campaigns, and of the errors for ambiguous or unknown names.

use campaign_portfolio_pacing::Dataset;
use contract::ErrorCode;
use serde_json::json;

use crate::{has, row, service, with_rows};

const NOW: &str = "2026-11-10T20:00:00Z";

#[test]
fn the_error_for_an_unknown_account_lists_the_known_accounts() {
    let (_folder, pacing) = service(NOW);
    let error = pacing.analyze(&json!({"account_id": "99"})).unwrap_err();
    assert_eq!(
        (error.code, error.reason_text()),
        (ErrorCode::InvalidInput, Some("unknown_account"))
    );
    let hint = error.hint_text().unwrap();
    assert!(
        ["17 (Northwind Outdoor)", "23 (Bluebell Home)", "42 (Kestrel Travel)"]
            .iter()
            .all(|a| hint.contains(a)),
        "{hint}"
    );
}

#[test]
fn an_account_can_be_selected_by_name_or_id() {
    let (_folder, pacing) = service(NOW);
    for name in ["kestrel travel", "Kestrel", "42"] {
        let result = pacing.analyze(&json!({"account_id": name})).unwrap();
        assert_eq!(
            (&result["account_id"], &result["account_source"]),
            (&json!("42"), &json!("explicit"))
        );
        assert_eq!(has(&result["assumptions"], "account_by_name"), name != "42");
    }
    // A part of a word does not identify an account.
    assert!(pacing.analyze(&json!({"account_id": "kest"})).is_err());
}

#[test]
fn a_name_that_fits_two_accounts_is_refused() {
    let rows = "1,Alder North,X,c,C,l,L,2026-11-09,,1,1\n2,Alder South,Y,c,C,l,L,2026-11-09,,1,1\n";
    let (_folder, pacing) = with_rows(NOW, "1,X,c,C,10,,,,\n", rows);
    let error = pacing.analyze(&json!({"account_id": "alder"})).unwrap_err();
    assert_eq!(error.reason_text(), Some("ambiguous_account"));
    let error = pacing.analyze(&json!({})).unwrap_err();
    assert_eq!(error.reason_text(), Some("account_required"));
    assert!(error.hint_text().unwrap().contains("Alder South"));
    let by_advertiser = pacing.analyze(&json!({"advertiser_filter": "y"})).unwrap();
    assert_eq!(
        (&by_advertiser["account_id"], &by_advertiser["account_source"]),
        (&json!("2"), &json!("advertiser"))
    );
}

#[test]
fn a_question_about_the_sample_gets_a_default_account_and_a_note() {
    let (_folder, pacing) = service(NOW);
    let result = pacing.analyze(&json!({})).unwrap();
    assert_eq!(
        (&result["account_id"], &result["account_source"]),
        (&json!("17"), &json!("default"))
    );
    assert!(has(&result["assumptions"], "account_default") && has(&result["flags"], "sample_data"));
}

#[test]
fn the_text_none_means_all_advertisers() {
    let (_folder, pacing) = service(NOW);
    let all = pacing.analyze(&json!({"account_id": "17"})).unwrap();
    for none in [json!("none"), json!(""), json!(null)] {
        assert_eq!(
            pacing.analyze(&json!({"account_id": "17", "advertiser_filter": none})).unwrap(),
            all
        );
    }
    assert!(has(&all["assumptions"], "all_advertisers"));
    let one = pacing.analyze(&json!({"account_id": "17", "advertiser_filter": "GLACIER"})).unwrap();
    assert_eq!(one["advertiser"], "Glacier Tents");
    assert!(one["campaigns_analyzed"].as_u64() < all["campaigns_analyzed"].as_u64());
    let error =
        pacing.analyze(&json!({"account_id": "17", "advertiser_filter": "Kettle"})).unwrap_err();
    assert_eq!(error.reason_text(), Some("unknown_advertiser"));
    assert_eq!(error.hint_text(), Some("Its advertisers: Fernhill Boots, Glacier Tents."));
}

#[test]
fn all_invalid_arguments_are_named() {
    let (_folder, pacing) = service(NOW);
    let args = json!({"campaign_start": "10.11.2026", "campaign_end": 5, "campaign_budget": 0, "colour": "red"});
    let error = pacing.analyze(&args).unwrap_err();
    let paths: Vec<&str> = error.details["validation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/campaign_start", "/campaign_end", "/campaign_budget", "/colour"]);
    for args in [
        json!({"campaign_start": "2026-11-02", "campaign_end": "2026-11-01"}),
        json!({"campaign_start": "2025-11-01", "campaign_end": "2026-11-02"}),
        json!({"campaign_budget": -1}),
        json!({"campaign_budget": "12"}),
        json!({"campaign_start": "2026-02-30"}),
        json!([]),
    ] {
        assert_eq!(pacing.analyze(&args).unwrap_err().code, ErrorCode::InvalidInput, "{args}");
    }
    let year =
        json!({"account_id": "17", "campaign_start": "2025-11-11", "campaign_end": "2026-11-11"});
    assert!(pacing.analyze(&year).is_ok(), "366 days are allowed");
}

#[test]
fn entities_are_read_from_the_active_data() {
    let (_folder, pacing) = service(NOW);
    let sample = pacing.entities().unwrap();
    assert_eq!(sample.iter().filter(|e| e.kind == "account").count(), 3);
    let kettle = sample.iter().find(|e| e.id == "Copper Kettle").unwrap();
    assert_eq!(kettle.implies["account_id"], "23");
    let cabins = sample.iter().find(|e| e.id == "c137").unwrap();
    assert_eq!(
        (cabins.kind.as_str(), cabins.name.as_str(), cabins.aliases.as_slice()),
        ("campaign", "Juniper Stays - Cabins", &["Cabins".to_owned()][..])
    );
    assert_eq!(cabins.implies["account_id"], "42");
    let always_on: Vec<_> = sample.iter().filter(|e| e.name.ends_with("Brand Always On")).collect();
    assert_eq!(always_on.len(), 3);
    assert!(
        always_on.iter().all(|e| e.aliases == ["Brand Always On"]),
        "a name that few campaigns share means each of them"
    );
    let (_folder, pacing) =
        with_rows(NOW, "7,Advertiser A,A,Campaign A,10,,,,\n", &row("A", "1", "2026-11-09", "1"));
    assert_eq!(pacing.dataset().unwrap(), Dataset::Imported);
    let imported: Vec<String> = pacing.entities().unwrap().into_iter().map(|e| e.id).collect();
    assert_eq!(imported, ["7", "Advertiser A", "A"]);
}

#[test]
fn the_manifest_lists_the_names_in_the_sample() {
    let (_folder, pacing) = service(NOW);
    // The texts of the manifest are in the catalogues.
    let mut manifest: serde_json::Value =
        serde_json::from_str(include_str!("../../pack.json")).unwrap();
    let entities: Vec<contract::manifest::Entity> =
        serde_json::from_value(manifest["entities"].take()).unwrap();
    let key = |e: &contract::manifest::Entity| {
        (e.kind.clone(), e.id.clone(), e.name.clone(), e.implies.clone())
    };
    let mut listed: Vec<_> = entities.iter().map(key).collect();
    let mut stored: Vec<_> = pacing.entities().unwrap().iter().map(key).collect();
    listed.sort();
    stored.sort();
    assert_eq!(listed, stored);
}
