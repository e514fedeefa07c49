//! Tests of profiles of columns, and of the state and size of sources in the list.

use std::{fs, sync::Arc};

use contract::{
    Commands as _, Empty, SourceProfileParams,
    sources::{ProfileBasis, SourceStatus, SourceView},
};
use host::{Options, Person, Terminal};

use super::{CLIENT_ONE, World, named};

/// Four rows: one without a campaign, and two with the same cost.
const MIXED: &str = "Day,Campaign,Device,Cost,Impr.\n2026-11-01,Brand,Mobile,100.00,1000\n2026-11-02,Brand,Tablet,110.00,1000\n2026-11-03,,Mobile,110.00,30\n2026-11-04,Shoes,Mobile,0.50,7\n";

fn params(name: &str, columns: &[&str]) -> SourceProfileParams {
    let columns = columns.iter().map(|column| (*column).to_owned()).collect();
    SourceProfileParams { name: name.into(), columns }
}

async fn listed(world: &World) -> SourceView {
    world.host.sources_list(Empty {}).await.unwrap().sources.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_columns_of_a_source_are_profiled_for_a_person() {
    let world = World::new().await;
    world.import(&world.write("ads.csv", MIXED)).await;
    let found = world.host.source_profile(params("ads", &["Cost", "Campaign"])).await.unwrap();
    assert_eq!((found.rows, found.basis, found.left.len()), (4, ProfileBasis::AllRows, 0));
    assert_eq!(found.version, listed(&world).await.version);
    let [cost, campaign] = found.columns.as_slice() else { panic!("{found:?}") };
    assert_eq!((cost.name.as_str(), cost.distinct, cost.empty), ("Cost", 3, 0));
    assert_eq!((cost.least.as_deref(), cost.mean.as_deref()), (Some("0.50"), Some("80.125")));
    assert_eq!((cost.frequent[0].value.as_str(), cost.frequent[0].rows), ("110.00", 2));
    assert_eq!(cost.ranges.iter().map(|range| range.rows).sum::<u64>(), 4);
    assert_eq!((campaign.empty, campaign.distinct), (1, 2));
    let all = world.host.source_profile(params("ads", &[])).await.unwrap();
    assert_eq!(all.columns.len(), listed(&world).await.columns.len());
    // A program at a terminal without a person may read it, too, as it may read rows.
    let terminal = Terminal::local(Arc::clone(&world.host), Person::Absent);
    assert_eq!(terminal.source_profile(params("ads", &["Cost"])).await.unwrap().columns[0], *cost);
    let error = world.host.source_profile(params("ads", &["Costs"])).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("no_column"), "{error:?}");
    assert!(error.message.contains("ads has no column Costs"), "{error:?}");
    let error = world.host.source_profile(params("meta", &[])).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("not_found"), "{error:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_returns_a_profile_and_no_visitor_gets_one() {
    let world = World::with_tools().await;
    world.import(&world.write("ads.csv", CLIENT_ONE)).await;
    let tools = world.host.packs_list(Empty {}).await.unwrap();
    let tools = serde_json::to_string(&tools).unwrap();
    assert!(tools.contains("data.measure") && !tools.contains("data.profile"), "{tools}");
    let world = world
        .open_again(|options| Options {
            pack_dirs: Vec::new(),
            served_packs: Some(vec!["data".into()].into()),
            ..options
        })
        .await;
    let error = world.host.source_profile(params("ads", &[])).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("not_found"), "{error:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_has_the_size_and_the_state_of_each_source() {
    let world = World::new().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let view = listed(&world).await;
    let parts = world.data("sources").join("ads/parts");
    let part = fs::read_dir(&parts).unwrap().next().unwrap().unwrap();
    assert_eq!(view.bytes, Some(part.metadata().unwrap().len()));
    let is_open = view.proposed > 0;
    let expected = if is_open { SourceStatus::ToApprove } else { SourceStatus::Ready };
    assert_eq!(view.status, expected, "{view:?}");
    let hidden = world.folder.path().join("hidden");
    fs::rename(part.path(), &hidden).unwrap();
    assert_eq!(listed(&world).await.status, SourceStatus::Damaged);
    fs::rename(&hidden, part.path()).unwrap();
    assert_eq!(listed(&world).await.status, expected);
    world.host.source_undo(named(&source)).await.unwrap();
    assert_eq!(listed(&world).await.status, SourceStatus::Empty);
    let error = world.host.source_profile(params("ads", &[])).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("empty_source"), "{error:?}");
    fs::write(world.data("sources").join("ads/source.json"), "{").unwrap();
    assert_eq!(listed(&world).await.status, SourceStatus::Damaged);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn measures_that_settle_later_say_so_in_the_list() {
    let world = World::new().await;
    let text =
        "Day,Campaign,Cost,Conversions\n2026-11-01,Brand,100.00,3\n2026-11-02,Brand,110.00,4\n";
    world.import(&world.write("ads.csv", text)).await;
    assert_eq!(listed(&world).await.settles_after, Some(30));
    world.host.stop().await;
}
