//! The command line of the shop's server. The comments of the arguments are help texts.

use std::{io::Write as _, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use chrono::NaiveDate;
use clap::Parser;

use crate::{DEFAULT_SEED, Login, Options, Shop, serve};

/// The variable with the pack's own folder, if the app starts the server.
pub const DATA_DIR_VARIABLE: &str = "COUNTERSIGN_PACK_DATA";

const CLIENT_ID_VARIABLE: &str = "SHOP_CLIENT_ID";
const CLIENT_SECRET_VARIABLE: &str = "SHOP_CLIENT_SECRET";

/// Serves the demo shop over the Model Context Protocol.
#[derive(Clone, Debug, Parser)]
#[command(name = "countersign-shop", version)]
pub struct Args {
    /// Talk over stdin and stdout.
    #[arg(long, conflicts_with = "http", required_unless_present = "http")]
    pub stdio: bool,
    /// Listen on this loopback address, e.g. 127.0.0.1:8787 (port 0 takes a free one).
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<SocketAddr>,
    #[command(flatten)]
    pub login: LoginArgs,
    /// Keep the catalogue and the carts in this folder; without one they are gone when the server
    /// stops.
    #[arg(long, value_name = "FOLDER", env = DATA_DIR_VARIABLE)]
    pub data_dir: Option<PathBuf>,
    /// Another seed makes another shop.
    #[arg(long, default_value_t = DEFAULT_SEED)]
    pub seed: u64,
    /// The day delivery dates count from (for tests); otherwise today.
    #[arg(long, value_name = "YYYY-MM-DD", hide = true)]
    pub today: Option<NaiveDate>,
}

/// The customers that may log in, and the access of each.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct LoginArgs {
    /// Ask clients at the address for a token, and give tokens to this client (its secret is read
    /// from the variable below).
    #[arg(long, value_name = "ID", env = CLIENT_ID_VARIABLE, requires = "client_secret")]
    pub client_id: Option<String>,
    /// The client's secret. Set the variable instead: other users of the machine see the arguments
    /// of programs.
    #[arg(long, value_name = "SECRET", env = CLIENT_SECRET_VARIABLE, hide_env_values = true, requires = "client_id")]
    pub client_secret: Option<String>,
    /// The scope that tokens are given for.
    #[arg(long, value_name = "SCOPE", env = "SHOP_SCOPE", default_value = "shop")]
    pub scope: String,
    /// How long a token lasts, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    pub token_seconds: u64,
}

/// Runs the program with the process's arguments. Returns the exit code.
pub fn run_program() -> u8 {
    match Args::try_parse() {
        Ok(args) => run(args),
        Err(error) => print_parser_message(&error),
    }
}

/// Prints help, the version, or the error in the command line. Returns the exit code.
fn print_parser_message(error: &clap::Error) -> u8 {
    match error.print().and_then(|()| std::io::stdout().flush()) {
        // A reader such as `head` closes the pipe when it has read enough, so this is not an error.
        Err(failed) if failed.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("{}", unwritten_text(&failed));
            1
        }
        _ if error.use_stderr() => 2,
        _ => 0,
    }
}

fn unwritten_text(error: &std::io::Error) -> String {
    format!("error: The output could not be written: {error}.")
}

/// Serves until the client disconnects or the process is stopped. Returns the exit code.
pub fn run(args: Args) -> u8 {
    match serve(args) {
        Ok(()) => 0,
        Err(problem) => {
            eprintln!("{problem}");
            1
        }
    }
}

fn serve(args: Args) -> Result<(), String> {
    let mut options = Options { data_dir: args.data_dir, seed: args.seed, ..Options::default() };
    if let Some(day) = args.today {
        options.today = Box::new(move || day);
    }
    let shop = Arc::new(Shop::open(options).map_err(|error| {
        format!("The shop cannot open its files: {error}. Check the folder given with --data-dir.")
    })?);
    if args.http.is_some() {
        // If a person starts the shop, it reports this error at once. A server of a pack reports it
        // with each call that needs a cart.
        shop.check_carts().map_err(|error| error.sentence(crate::Locale::En))?;
    }
    let login = match (args.login.client_id, args.login.client_secret) {
        (Some(id), Some(secret)) => Some(Login {
            id,
            secret,
            scope: args.login.scope,
            lasts: Duration::from_secs(args.login.token_seconds),
        }),
        _ => None,
    };
    let (failed, unwritten) = (std::sync::OnceLock::new(), Arc::new(tokio::sync::Notify::new()));
    let waits = Arc::clone(&unwritten);
    let ready = |bound: SocketAddr| {
        let written = writeln!(std::io::stdout(), "listening on http://{bound}/mcp");
        // A reader that closed the pipe has read the address. After any other error nobody could
        // know it.
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            let _ = failed.set(unwritten_text(&error));
            unwritten.notify_one();
        }
    };
    let stop = async move {
        tokio::select! {
            () = wait_for_signal() => {}
            () = waits.notified() => {}
        }
    };
    // The server has one client and calls of under a millisecond, so a single thread is enough and
    // starts fastest.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("The shop cannot start: {error}"))?;
    runtime
        .block_on(async {
            match args.http {
                Some(address) => serve::serve_http(shop, address, login, ready, stop).await,
                None => serve::serve_stdio(shop).await,
            }
        })
        .map_err(|error| error.to_string())?;
    failed.into_inner().map_or(Ok(()), Err)
}

async fn wait_for_signal() {
    let interrupt = tokio::signal::ctrl_c();
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => {
            let _ = interrupt.await;
        }
    }
}
