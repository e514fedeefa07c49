//! The scripted model server as a program: `kit-model-server --script FILE [--port N]`. The program
//! prints its base URL and serves until it is ended.

use std::path::PathBuf;
use std::process::ExitCode;

use kit::model_server::{ModelServer, Script};

const USAGE: &str = "usage: kit-model-server --script FILE [--port N]";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), String> {
    let (mut port, mut script) = (0, None::<PathBuf>);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match argument.as_str() {
            "--port" => port = value.parse().map_err(|_| USAGE)?,
            "--script" => script = Some(value.into()),
            _ => return Err(USAGE.to_owned()),
        }
    }
    let replies = Script::read(&script.ok_or(USAGE)?).map_err(|error| error.to_string())?;
    let server = ModelServer::start_on(port, replies).await.map_err(|error| error.to_string())?;
    println!("{}", server.base_url());
    std::future::pending::<()>().await;
    Ok(())
}
