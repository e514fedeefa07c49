//! A person stops a question in the middle: the tile of a board, or the turn of a model that asks.
//! The query ends, in the data program and in the database, and the same program answers on.

use std::{
    fmt::Write as _,
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use contract::{
    AgentError, BoardTileParams, BoardTileStopParams, Commands as _, Empty, TurnCancelParams,
    TurnStartParams,
    boards::{Board, TileFigures},
};
use kit::{
    model_server::{ModelServer, Reply},
    postgres::Postgres,
};
use serde_json::json;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{
    World,
    ending::{SLOW, SLOW_IN_DATABASE, find_program, wait_for_program},
};
use crate::boards::pin;

/// The time within which a stopped query has ended. A question alone would end after a minute.
const SOON: Duration = Duration::from_secs(20);
/// Counts what the database computes for its source.
const RUNNING: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'";

impl World {
    /// Computes the only tile of a board, in a run that can be stopped.
    fn start_tile(&self, board: &Board) -> JoinHandle<Result<TileFigures, AgentError>> {
        let (host, tile) = (Arc::clone(&self.host), board.content.tiles[0].id.clone());
        let params = BoardTileParams { board: board.id.clone(), tile, run: "run".to_owned() };
        tokio::spawn(async move { host.board_tile(params).await })
    }

    async fn stop_tile(&self, computed: JoinHandle<Result<TileFigures, AgentError>>) {
        let stop = BoardTileStopParams { run: "run".to_owned() };
        self.host.board_tile_stop(stop).await.unwrap();
        let ended = timeout(SOON, computed).await.expect("the tile is no longer computed");
        let error = ended.unwrap().unwrap_err();
        assert_eq!(error.reason_text(), Some("tile_stopped"), "{error:?}");
    }

    /// Sends a message. Returns the turn, which asks the data by the model's call.
    async fn start_turn(&self) -> TurnCancelParams {
        let params = TurnStartParams {
            session: Some("s".into()),
            text: "How many rows are there?".into(),
            model: None,
            agent: None,
            headless: false,
            replaces: None,
        };
        let started = self.host.turn_start(params).await.unwrap();
        TurnCancelParams { session: started.session, turn: started.turn }
    }

    async fn stop_turn(&self, turn: TurnCancelParams) {
        self.host.turn_cancel(turn).await.unwrap();
        let latest = Instant::now() + SOON;
        while self.host.app_status(Empty {}).await.unwrap().running > 0 {
            assert!(Instant::now() < latest, "the turn ends");
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Checks that the program that ran a stopped question answers the next one.
    async fn answers_on(&self, folder: &str, program: u32, source: &str, rows: u32) {
        let count = self.query(&format!("SELECT count(*) FROM {source}")).await.unwrap();
        assert_eq!(count.rows, [[json!(rows)]]);
        assert_eq!(find_program(&self.data(folder)), Some(program), "it was not started again");
    }
}

/// Returns a plan whose rows are divided over so many days that its total takes minutes.
fn long_plan(rows: u32) -> String {
    let mut text = "Campaign,Budget,Start,End\n".to_owned();
    for row in 0..rows {
        writeln!(text, "Campaign {row},{row}.25,2019-01-01,2026-12-31").unwrap();
    }
    text
}

/// Returns the processor time of a process in hundredths of a second.
fn processor_time(id: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).expect("the program runs");
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Waits until a process computes, or no longer does.
async fn until_busy(id: u32, wanted: bool) {
    let latest = Instant::now() + SOON;
    loop {
        let before = processor_time(id);
        sleep(Duration::from_millis(500)).await;
        if (processor_time(id) - before > 10) == wanted {
            return;
        }
        assert!(Instant::now() < latest, "whether the program computes is not {wanted}");
    }
}

/// Waits until the database runs this many questions.
async fn until_running(server: &Postgres, count: &str) {
    let latest = Instant::now() + SOON;
    while server.sql(RUNNING) != count {
        assert!(Instant::now() < latest, "the database does not run {count} questions");
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_tile_and_a_stopped_turn_end_their_queries_in_the_data_program() {
    let call = Reply::call("data_query", json!({"sql": SLOW.replace("orders", "plan")}));
    let model = ModelServer::start([call]).await;
    let world = World::with_model(&model).await;
    assert!(world.import(&world.write("plan.csv", &long_plan(8_000))).await.is_stored);
    let board = pin(&world, None, json!({"source": "plan", "measures": ["budget"]})).await;
    let computed = world.start_tile(&board);
    let folder = "scratch/queries";
    let id = wait_for_program(&world.data(folder)).await;
    until_busy(id, true).await;
    world.stop_tile(computed).await;
    until_busy(id, false).await;
    world.answers_on(folder, id, "plan", 8_000).await;

    let turn = world.start_turn().await;
    until_busy(id, true).await;
    world.stop_turn(turn).await;
    until_busy(id, false).await;
    world.answers_on(folder, id, "plan", 8_000).await;
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_tile_and_a_stopped_turn_end_their_queries_in_the_database() {
    let server = Postgres::with_orders();
    let call = Reply::call("data_query", json!({"sql": SLOW_IN_DATABASE}));
    let model = ModelServer::start([call]).await;
    let world = World::with_model(&model).await;
    assert!(world.connect_orders(&server).await.is_stored);
    let query = json!({"source": "orders", "measures": ["net"], "by": ["country"]});
    let board = pin(&world, None, query).await;
    let folder = "scratch/database-orders";
    let id = wait_for_program(&world.data(folder)).await;
    let held = server.hold("orders");
    let computed = world.start_tile(&board);
    until_running(&server, "1").await;
    world.stop_tile(computed).await;
    until_running(&server, "0").await;
    drop(held);
    world.answers_on(folder, id, "orders", 3_000).await;

    let turn = world.start_turn().await;
    until_running(&server, "1").await;
    world.stop_turn(turn).await;
    until_running(&server, "0").await;
    world.answers_on(folder, id, "orders", 3_000).await;
    world.host.stop().await;
}
