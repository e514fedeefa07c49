//! Tests of who may reach sources and add to them, and of the limits of their processes.

use std::sync::Arc;

use contract::{
    AgentError, CheckState, Commands as _, Empty, FolderParams, SourceQueryParams,
    params::SourceAddParams, sources::ImportDecisions,
};
use host::{Options, Person, Terminal};

use super::{CLIENT_ONE, World, answers, named, questions};

#[tokio::test(flavor = "multi_thread")]
async fn without_a_person_only_allowed_folders_are_read() {
    let world = World::new().await;
    let terminal = Terminal::local(Arc::clone(&world.host), Person::Absent);
    let file = world.write("ads.csv", CLIENT_ONE);
    let params = world.params(&file, ImportDecisions::default());
    let refused = terminal.source_add(params.clone()).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("no_terminal"));
    let params = SourceAddParams { unattended: true, ..params };
    let refused = terminal.source_add(params.clone()).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("folder_not_allowed"));
    let folder = world.folder.path().display().to_string();
    let allow = FolderParams { folder, allowed: true };
    assert!(terminal.folder_allow(allow.clone()).await.is_err(), "a program allows nothing");
    world.host.folder_allow(allow).await.unwrap();
    terminal.source_add(params).await.unwrap();
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn visitors_of_the_chat_api_never_reach_sources() {
    let world = World::new().await;
    world.import(&world.write("ads.csv", CLIENT_ONE)).await;
    let world = world
        .open_again(|options| Options {
            pack_dirs: Vec::new(),
            served_packs: Some(vec!["data".into()].into()),
            ..options
        })
        .await;
    let served = &world.host;
    let refused: Vec<AgentError> = vec![
        served.sources_list(Empty {}).await.unwrap_err(),
        served
            .source_query(SourceQueryParams {
                sql: "SELECT * FROM ads".into(),
                cursor: None,
                limit: 0,
            })
            .await
            .unwrap_err(),
        served.source_describe(named(&"ads".into())).await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.reason_text(), Some("not_found"), "{error:?}");
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_tells_the_limits_of_the_data_processes() {
    let world = World::new().await;
    let checks = world.host.doctor(Empty {}).await.unwrap().checks;
    let check = checks.iter().find(|check| check.name == *"data").unwrap();
    assert_ne!(check.state, CheckState::Failed);
    assert!(check.message.contains("0 bytes of at most 20 GB"), "{}", check.message);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_person_no_answer_takes_stored_rows_out() {
    let world = World::new().await;
    let folder = world.folder.path().display().to_string();
    world.host.folder_allow(FolderParams { folder, allowed: true }).await.unwrap();
    let first = "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,100.00,1000\n2026-11-01,Elm,40.00,400\n2026-11-02,Oak,110.00,1000\n";
    let source = world.import(&world.write("first.csv", first)).await.source;
    let second =
        "Day,Campaign,Cost,Impr.\n2026-11-01,Oak,100.00,1000\n2026-11-02,Oak,110.00,1000\n";
    let file = world.write("second.csv", second);
    let alone = |given: &[(&str, &str)]| SourceAddParams {
        unattended: true,
        ..world.params(&file, answers(given))
    };
    for id in ["vanished", "vanished:second.csv"] {
        let view = world.run(alone(&[(id, "replace")])).await;
        let asked = view.results.unwrap().remove(0);
        assert_eq!(questions(&asked), ["vanished"], "{asked:?}");
        let is_told = asked.report.notes.iter().any(|note| note.contains("was not used"));
        assert!(is_told && !asked.is_stored, "{asked:?}");
        assert_eq!(world.total(&source, "Cost").await, "250.00");
    }
    let view = world.run(alone(&[("vanished", "keep")])).await;
    assert!(view.results.unwrap().remove(0).is_stored, "rows that stay need no person");
    assert_eq!(world.total(&source, "Cost").await, "250.00");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_tells_every_limit_and_the_isolation_of_the_data_processes() {
    let world = World::new().await;
    let checks = world.host.doctor(Empty {}).await.unwrap().checks;
    let message = |name: &str| {
        let check = checks.iter().find(|check| check.name == *name).unwrap();
        check.message.to_string()
    };
    let room = message("data");
    assert!(room.contains("0 bytes of at most 20 GB"), "{room}");
    let limits = message("data limits");
    for part in [
        "1,792 MB of memory",
        "60 seconds",
        "4,096 MB of temporary files",
        "512 open files",
        "1,000,000 rows, of a database 100,000, and 64 MB",
        "An import may use 1,792 MB of memory and 120 minutes, read 8 GB, or 4 GB of text, and write files of 64 GB",
        "nobody asks for 300 seconds",
    ] {
        assert!(limits.contains(part), "{part:?} is missing in: {limits}");
    }
    let isolation = message("data isolation");
    assert!(isolation.contains("etwork") && isolation.contains("file"), "{isolation}");
    world.host.stop().await;
}
