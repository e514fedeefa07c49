//! A test of rows that a pack of an older version kept itself: they become sources at the first start,
//! once, with the same sums.

use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use chrono::Utc;
use contract::{
    Commands as _, Empty, ImportOptions, SourceView,
    pack_code::{LinkedService, PackService},
};

use super::{World, all_records};
use crate::data_world::with_tools;

const PACK: &str = "campaign-portfolio-pacing";
/// Account 7 has days, and an amount with more than two decimals. Account 8 has hours of UTC, the first
/// of which is the evening before in New York.
const DELIVERY: &str = "account_id,account_name,advertiser,campaign_id,campaign_name,line_item_id,line_item_name,date,hour,spend,impressions
7,Test,Adv,A,\"Oak, all\",1,Line,2026-10-31,,12.345678,100
7,Test,Adv,A,\"Oak, all\",1,Line,2026-11-01,,10.00,90
8,York,Bolt,B,-20 % sale,1,Line,2026-11-01,2,3.00,30
8,York,Bolt,B,-20 % sale,1,Line,2026-11-01,12,4.00,40
";
const CAMPAIGNS: &str = "account_id,account_name,time_zone,currency,advertiser,campaign_id,campaign_name,budget,flight_start,flight_end
7,Test,Europe/Stockholm,SEK,Adv,A,\"Oak, all\",600,2026-10-01,2026-11-30
8,York,America/New_York,USD,Bolt,B,-20 % sale,900,2026-10-01,2026-11-30
";

/// Imports files into the pack as its older version did.
fn import_into_pack(data: &Path) {
    fs::create_dir_all(data).unwrap();
    let (delivery, campaigns) = (data.join("delivery.csv"), data.join("campaigns.csv"));
    fs::write(&delivery, DELIVERY).unwrap();
    fs::write(&campaigns, CAMPAIGNS).unwrap();
    let service: Arc<dyn LinkedService> = shipped_packs::all().services.remove(0);
    let opened: Arc<dyn PackService> = service.open(data, Arc::new(Utc::now)).unwrap();
    let pack = opened.data().unwrap();
    let stop = AtomicBool::new(false);
    let options = ImportOptions::default();
    let files = [campaigns, delivery];
    let outcome = pack.import(&files, &options, &mut |_| {}, &stop).unwrap();
    assert_eq!((outcome.rows_stored, outcome.error_count), (6, 0), "{outcome:?}");
    files.iter().for_each(|file| fs::remove_file(file).unwrap());
}

impl World {
    async fn sources(&self) -> Vec<SourceView> {
        self.host.sources_list(Empty {}).await.unwrap().sources
    }

    /// Waits for the source with the rows of the pack.
    async fn taken_over(&self) -> SourceView {
        for _ in 0..1_000 {
            let sources = self.sources().await;
            let found = sources.into_iter().find(|one| one.name.as_str() == "delivery");
            if let Some(found) = found.filter(|one| !one.notes.is_empty()) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("nothing was taken over: {:?}", self.sources().await);
    }

    async fn taken_records(&self) -> usize {
        let records = self.host.audit_list(all_records()).await.unwrap().records;
        let is_one = |fields: &serde_json::Map<String, serde_json::Value>| {
            fields.get("action").is_some_and(|action| action == "taken_over")
        };
        let found: Vec<_> = records.iter().filter(|record| is_one(&record.fields)).collect();
        for record in &found {
            assert_eq!(record.fields["are_equal"], true, "{record:?}");
            assert_eq!(record.revealed["before"], record.revealed["after"], "{record:?}");
        }
        found.len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_a_pack_kept_before_become_sources_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("profile/packs").join(PACK);
    import_into_pack(&data);
    let world = World::open(folder, with_tools).await;
    let delivery = world.taken_over().await;
    assert_eq!(delivery.rows, Some(4));
    assert!(!delivery.is_sample);
    let told = delivery.notes.iter().any(|note| note.contains("each account and month are equal"));
    assert!(told, "{:?}", delivery.notes);
    let names = ["campaigns", "delivery", "pacing"];
    assert_eq!(world.names().await, names);

    let sql = "SELECT \"Account ID\" AS account, \"Currency\" AS currency, CAST(\"Day\" AS VARCHAR) AS day, CAST(\"Spend\" AS VARCHAR) AS spend, \"Campaign\" AS campaign FROM delivery ORDER BY 1, 3";
    let rows = world.query(sql).await.unwrap().rows;
    let text = |at: usize, cell: usize| rows[at][cell].as_str().unwrap().to_owned();
    assert_eq!(text(0, 3), "12.345678", "no digit is lost");
    assert_eq!((text(0, 4), text(0, 1)), ("Oak, all".to_owned(), "SEK".to_owned()));
    assert_eq!((text(2, 2), text(2, 4)), ("2026-10-31".to_owned(), "-20 % sale".to_owned()));
    assert_eq!(text(3, 2), "2026-11-01");
    assert_eq!(world.total(&"campaigns".into(), "Budget").await, "1500.00");
    assert_eq!(world.taken_records().await, 1);
    assert!(data.join("pacing.db").is_file(), "the earlier file stays");

    let world = world.open_again(with_tools).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(world.names().await, names);
    assert!(world.sources().await.iter().all(|source| source.imports.len() < 2));
    assert_eq!(world.taken_records().await, 1);
    world.host.source_old_data_remove(Empty {}).await.unwrap();
    assert!(!data.join("pacing.db").exists());
    assert_eq!(world.names().await, names);

    // The pack may begin a new file, whose rows are in no source.
    fs::write(data.join("pacing.db"), "").unwrap();
    let refused = world.host.source_old_data_remove(Empty {}).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("nothing_to_remove"));
    assert!(data.join("pacing.db").exists());
    world.host.stop().await;
}
