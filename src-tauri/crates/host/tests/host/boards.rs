//! Tests of boards through the command list, with the real data program: what is pinned, what its
//! board changes, changes from two windows, and sources that are gone.

use std::{fs, sync::Arc};

use chrono::{DateTime, Utc};
use contract::{
    AgentError, AuditRecordView, BoardContent, BoardDeleteParams, BoardParams, BoardSaveParams,
    BoardTileAddParams, BoardTileParams, BoardTileStopParams, Commands as _, Empty, Reason,
    RecordType, SourceParams, VerifyParams,
    boards::{Board, Tile, TileFigures, TileView, TileWidth},
};
use engine::ports::Clock;
use host::Options;
use serde_json::{Value, json};

use crate::data_world::{World, all_records};

const ADS: &str = "Day,Campaign,Cost,Impr.\n2026-11-01,Brand,100.00,1000\n\
                   2026-11-02,Brand,110.00,1000\n2026-11-02,Shoes,5.00,10\n";
const OAKS: &str = "Name,Height\nOak,12\nElm,9\n";

fn tile(query: Value) -> Tile {
    serde_json::from_value(json!({
        "id": "", "title": "", "query": query, "view": "table", "width": "half"
    }))
    .unwrap()
}

fn spend_by_campaign() -> Value {
    json!({
        "source": "ads",
        "measures": ["spend"],
        "by": ["campaign"],
        "as_of": {"moment": "2026-11-20T09:00:00", "zone": "UTC"}
    })
}

pub(crate) async fn pin(world: &World, board: Option<&Board>, query: Value) -> Board {
    let (board, name) = match board {
        Some(board) => (Some(board.id.clone()), String::new()),
        None => (None, "Weekly".to_owned()),
    };
    let params = BoardTileAddParams { board, name, tile: tile(query) };
    world.host.board_tile_add(params).await.unwrap()
}

async fn save(world: &World, board: &Board, content: Value) -> Result<Board, AgentError> {
    let mut whole = serde_json::to_value(&board.content).unwrap();
    let members = content.as_object().unwrap().clone();
    whole.as_object_mut().unwrap().extend(members);
    let content: BoardContent = serde_json::from_value(whole).unwrap();
    let (id, revision) = (Some(board.id.clone()), board.revision);
    world.host.board_save(BoardSaveParams { id, revision, content }).await
}

async fn compute(world: &World, board: &Board, at: usize) -> Result<TileFigures, AgentError> {
    let params = BoardTileParams {
        board: board.id.clone(),
        tile: board.content.tiles[at].id.clone(),
        run: format!("run-{at}"),
    };
    world.host.board_tile(params).await
}

fn cells(figures: &TileFigures) -> Vec<Vec<Value>> {
    let rows = figures.content.rows.iter();
    rows.map(|row| row.iter().map(|cell| cell.value.clone()).collect()).collect()
}

async fn records(world: &World) -> Vec<AuditRecordView> {
    world.host.audit_list(all_records()).await.unwrap().records
}

/// Returns what the records say about boards, the oldest first.
async fn actions(world: &World) -> Vec<String> {
    let records = records(world).await;
    let of_boards = records.iter().rev().filter(|record| record.fields.contains_key("board"));
    of_boards.map(|record| record.fields["action"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pinned_result_is_computed_with_the_filters_and_the_period_of_its_board() {
    let world = World::new().await;
    world.import(&world.write("ads.csv", ADS)).await;
    let board = pin(&world, None, spend_by_campaign()).await;
    assert_eq!(board.content.tiles[0].query.as_of, None, "periods stay relative");
    let all = compute(&world, &board, 0).await.unwrap();
    assert_eq!(cells(&all), [[json!("Brand"), json!(210)], [json!("Shoes"), json!(5)]]);
    let content = json!({
        "filters": [{"campaign": ["Brand"]}, {"channel": ["web"]}],
        "period": {"from": "2026-11-02", "to": "2026-11-02"}
    });
    let board = save(&world, &board, content).await.unwrap();
    let figures = compute(&world, &board, 0).await.unwrap();
    assert_eq!(cells(&figures), [[json!("Brand"), json!(110)]]);
    assert_eq!(
        figures.unreached,
        ["The filter on channel does not reach this tile: ads has no such column."]
    );
    assert_eq!((figures.revision, figures.query.as_of), (board.revision, None));
    assert_eq!(figures.columns[0].name, "campaign");
    let fresh = &figures.fresh[0];
    assert_eq!((fresh.source.as_str(), fresh.last_day), ("ads", "2026-11-02".parse().ok()));
    assert!(fresh.imported_at.is_some());
    // The figure is recorded, and can be computed again.
    let records = records(&world).await;
    let is_figure = |record: &&AuditRecordView| record.record_type == RecordType::FigureComputed;
    let record = records.iter().find(is_figure).unwrap().seq;
    let check = world.host.source_verify(VerifyParams { record }).await.unwrap();
    assert!(check.agrees, "{check:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_has_the_total_of_a_ratio_and_a_chart_asks_for_none() {
    let world = World::new().await;
    let text = "Day,Campaign,Cost,Clicks\n2026-11-01,Brand,100.00,10\n2026-11-02,Shoes,50.00,20\n";
    world.import(&world.write("ads.csv", text)).await;
    let per_click = json!({"ratio": ["spend", "clicks"], "as": "per_click"});
    let query = json!({"source": "ads", "measures": [per_click], "by": ["campaign"]});
    let board = pin(&world, None, query).await;
    let figures = compute(&world, &board, 0).await.unwrap();
    let total = figures.content.totals[0][1].value.as_f64();
    assert_eq!(total, Some(5.0), "150 for 30 clicks, and no sum of 10 and 2.5");
    assert!(!figures.query.totals, "the question is as it was pinned");
    let mut tiles = board.content.tiles.clone();
    tiles[0].view = TileView::Chart;
    let board = save(&world, &board, json!({"tiles": tiles})).await.unwrap();
    assert!(compute(&world, &board, 0).await.unwrap().content.totals.is_empty());
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_period_does_not_reach_a_source_without_a_time() {
    let world = World::new().await;
    world.import(&world.write("trees.csv", OAKS)).await;
    let query = json!({"source": "trees", "measures": ["rows"]});
    let board = pin(&world, None, query).await;
    let board = save(&world, &board, json!({"period": {"last": {"days": 30}}})).await.unwrap();
    let figures = compute(&world, &board, 0).await.unwrap();
    assert_eq!(cells(&figures), [[json!(2)]]);
    assert_eq!(
        figures.unreached,
        ["The period of the board does not reach this tile: trees has no time column."]
    );
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_does_not_overwrite_that_of_another_window() {
    let world = World::new().await;
    let first = pin(&world, None, spend_by_campaign()).await;
    // Another window adds a tile and renames the board.
    let second = pin(&world, Some(&first), spend_by_campaign()).await;
    let renamed = save(&world, &second, json!({"name": "Daily"})).await.unwrap();
    assert_eq!((second.revision, renamed.revision), (2, 3));
    let error = save(&world, &first, json!({"name": "Mine"})).await.unwrap_err();
    assert!(error.has_reason(Reason::Changed) && error.hint_text().is_some(), "{error:?}");
    let (id, revision) = (first.id.clone(), first.revision);
    let deletion = world.host.board_delete(BoardDeleteParams { id, revision }).await;
    assert!(deletion.unwrap_err().has_reason(Reason::Changed));
    let board = world.host.board_open(BoardParams { id: first.id }).await.unwrap();
    assert_eq!(board, renamed);
    let ids: Vec<&str> = board.content.tiles.iter().map(|tile| tile.id.as_str()).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tile_whose_source_is_gone_says_so_and_the_others_are_computed() {
    let world = World::new().await;
    let ads = world.import(&world.write("ads.csv", ADS)).await.source;
    world.import(&world.write("trees.csv", OAKS)).await;
    let board = pin(&world, None, spend_by_campaign()).await;
    let trees = json!({"source": "trees", "measures": ["rows"]});
    let board = pin(&world, Some(&board), trees).await;
    world.host.source_remove(SourceParams { name: ads }).await.unwrap();
    let board = world.host.board_open(BoardParams { id: board.id }).await.unwrap();
    let error = compute(&world, &board, 0).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("source_gone"));
    assert!(error.hint_text().is_some_and(|hint| hint.contains("remove the tile")), "{error:?}");
    assert_eq!(cells(&compute(&world, &board, 1).await.unwrap()), [[json!(2)]]);
    // The tile works again when the source is back.
    world.import(&world.write("ads.csv", ADS)).await;
    compute(&world, &board, 0).await.unwrap();
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_board_can_be_made_again_and_stays_after_a_restart() {
    let world = World::new().await;
    let board = pin(&world, None, spend_by_campaign()).await;
    let (id, revision) = (board.id.clone(), board.revision);
    let params = BoardDeleteParams { id, revision };
    let deleted = world.host.board_delete(params).await.unwrap();
    assert_eq!(deleted, board);
    let gone = world.host.board_open(BoardParams { id: board.id }).await.unwrap_err();
    assert!(gone.has_reason(Reason::NotFound));
    let params = BoardSaveParams { id: None, revision: 0, content: deleted.content.clone() };
    let again = world.host.board_save(params).await.unwrap();
    assert_eq!(again.content, deleted.content);
    let folder = world.folder.path().join("profile/boards");
    fs::write(folder.join("damaged.json"), "{").unwrap();
    let world = world.open_again(|options| options).await;
    let listed = world.host.boards_list(Empty {}).await.unwrap().boards;
    let shown: Vec<(&str, u32, bool)> = listed
        .iter()
        .map(|board| (board.name.as_str(), board.tiles, board.faults.is_empty()))
        .collect();
    assert_eq!(shown, [("damaged", 0, false), ("Weekly", 1, true)]);
    assert_eq!((&listed[0].first, &listed[1].first), (&Vec::new(), &again.content.tiles));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_boards_are_recorded_except_those_of_the_layout() {
    let world = World::new().await;
    let board = pin(&world, None, spend_by_campaign()).await;
    let board = pin(&world, Some(&board), spend_by_campaign()).await;
    let mut tiles = board.content.tiles.clone();
    tiles.reverse();
    (tiles[0].view, tiles[0].width) = (TileView::Chart, TileWidth::Full);
    let board = save(&world, &board, json!({"tiles": tiles})).await.unwrap();
    assert_eq!(board.content.tiles, tiles);
    let board = save(&world, &board, json!({"filters": [{"campaign": ["A"]}]})).await.unwrap();
    let (id, revision) = (board.id, board.revision);
    world.host.board_delete(BoardDeleteParams { id, revision }).await.unwrap();
    assert_eq!(actions(&world).await, ["created", "tile_added", "changed", "deleted"]);
    for wrong in [json!({"name": " "}), json!({"name": "x".repeat(300)})] {
        let mut content = json!({"name": "", "filters": [], "tiles": []});
        content.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        let content = serde_json::from_value(content).unwrap();
        let params = BoardSaveParams { id: None, revision: 0, content };
        let error = world.host.board_save(params).await.unwrap_err();
        assert!(error.has_reason(Reason::Validation), "{error:?}");
    }
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_tiles_of_the_first_board_of_a_source_can_be_computed() {
    let world = World::new().await;
    let text: String = (1..=28)
        .map(|day| {
            format!(
                "2026-11-{day:02},Brand,Mobile,{day}.50,10\n2026-11-{day:02},Shoes,Desktop,1.00,2\n"
            )
        })
        .collect();
    let file = world.write("ads.csv", &format!("Day,Campaign,Device,Cost,Clicks\n{text}"));
    let name = world.import(&file).await.source;
    let content = world.host.board_propose(SourceParams { name }).await.unwrap();
    assert!(content.tiles.len() >= 5, "{content:?}");
    let params = BoardSaveParams { id: None, revision: 0, content };
    let board = world.host.board_save(params).await.unwrap();
    for at in 0..board.content.tiles.len() {
        let figures = compute(&world, &board, at).await;
        let figures = figures.unwrap_or_else(|error| panic!("tile {at}: {error:?}"));
        assert_eq!(figures.unreached, [""; 0], "tile {at}");
    }
    // A run that has ended is no error.
    let stop = BoardTileStopParams { run: "run-0".to_owned() };
    world.host.board_tile_stop(stop).await.unwrap();
    world.host.stop().await;
}

/// A clock that stands at a moment of November.
struct November;

impl Clock for November {
    fn now(&self) -> DateTime<Utc> {
        "2026-11-18T09:30:00Z".parse().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_board_of_a_computed_source_has_what_is_at_risk_first() {
    let world = World::with(|options| Options { clock: Arc::new(November), ..options }).await;
    // Oak spends what is planned, Elm three fifths of it.
    let days = (1..=17).map(|day| {
        format!("2026-11-{day:02},North,Oak,100.00\n2026-11-{day:02},South,Elm,60.00\n")
    });
    let ads = format!("Day,Account,Campaign,Cost\n{}", days.collect::<String>());
    world.import(&world.write("ads.csv", &ads)).await;
    let plan = "Account,Campaign,Budget,Start,End\nNorth,Oak,3000,2026-11-01,2026-11-30\n\
                South,Elm,3000,2026-11-01,2026-11-30\n";
    world.import(&world.write("plan.csv", plan)).await;
    let pacing = SourceParams { name: "pacing".into() };
    let path = world.host.source_describe(pacing.clone()).await.unwrap().path.unwrap();
    assert_eq!(
        (path.things, path.level.as_str()),
        (vec!["account".to_owned(), "campaign".to_owned()], "campaign")
    );
    let content = world.host.board_propose(pacing).await.unwrap();
    assert_eq!(json!(content.period), json!({"this": "month"}));
    let params = BoardSaveParams { id: None, revision: 0, content };
    let board = world.host.board_save(params).await.unwrap();
    let mut shown = Vec::new();
    for at in 0..board.content.tiles.len() {
        let figures = compute(&world, &board, at).await;
        let figures = figures.unwrap_or_else(|error| panic!("tile {at}: {error:?}"));
        assert_eq!(figures.unreached, [""; 0], "tile {at}");
        shown.push(cells(&figures));
    }
    let begin = |row: &[Value]| json!(row[..3]);
    let [figures, verdicts, accounts, campaigns, days] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!(json!(figures[0][..3]), json!([2720, 6000, -680]), "spend, budget and difference");
    assert_eq!(begin(&verdicts[0]), json!([true, "behind", 1]));
    assert_eq!(begin(&accounts[0]), json!(["South", true, "behind"]));
    assert_eq!(begin(&accounts[1]), json!(["North", false, "on_track"]));
    assert_eq!(begin(&campaigns[0]), json!(["Elm", true, "behind"]));
    assert_eq!(days.len(), 30, "the plan of all days");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn visitors_of_the_chat_api_have_no_boards() {
    let world = World::with(|options| Options {
        pack_dirs: Vec::new(),
        served_packs: Some(vec!["data".into()].into()),
        ..options
    })
    .await;
    let error = world.host.boards_list(Empty {}).await.unwrap_err();
    assert!(error.has_reason(Reason::NotFound), "{error:?}");
    let params =
        BoardTileAddParams { board: None, name: "x".into(), tile: tile(spend_by_campaign()) };
    assert!(world.host.board_tile_add(params).await.unwrap_err().has_reason(Reason::NotFound));
    world.host.stop().await;
}
