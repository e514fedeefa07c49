//! `csign run`: the run contract as a command, with JSON input and output. No person is asked, so a
//! request that needs an approval ends with the pending action's id.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{SecondsFormat, Utc};
use contract::{
    AgentError, Push, RUN_REQUEST_BYTES, ResponseMode, RunEvent, RunEventType, RunOptions,
    RunParams, RunResponse,
};
use host::Person;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::TryRecvError;

use crate::args::Run;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::listen;
use crate::out::{self, Out};

pub(crate) fn run(args: Run, data_dir: PathBuf, out: Out) -> Result<Exit, Failure> {
    let text = match read_request(&args.request) {
        Ok(text) => text,
        Err(failure) => return Ok(report_unreadable_request(out, args.stream, failure)),
    };
    let request: Value = serde_json::from_str(&text).unwrap_or_default();
    let stream = args.stream || response_mode(&request) == Some(ResponseMode::Streaming);
    let params = RunParams {
        request: text,
        caller: args.caller,
        correlation_id: args.correlation_id,
        stream,
    };
    let mut answer = None;
    let ran = super::with_link(data_dir, Person::Absent, async |link| {
        answer = Some(run_streamed(link, out, params).await);
        Ok(Exit::Done)
    });
    let result = ran.map_err(|failure| failure.error).and_then(|_| {
        answer.unwrap_or_else(|| Err(AgentError::internal("unexpected", "There is no answer.")))
    });
    // An error that occurs before the run also gets the request's id.
    let result = result.map_err(|error| match error.details.contains_key("request_id") {
        true => error,
        false => error
            .with("request_id", request["request_id"].as_str().map_or(Value::Null, Value::from)),
    });
    let exit = result.as_ref().map_or_else(Exit::of_error, |_| Exit::Done);
    if let (Exit::LogBroken, Err(error)) = (exit, &result) {
        out.print_error(error);
    }
    print_result(out, stream, &result);
    Ok(exit)
}

/// Reports an unreadable request as an error response, with the exit code for wrong usage.
fn report_unreadable_request(out: Out, stream: bool, failure: Failure) -> Exit {
    out.print_error(&failure.error);
    print_result(out, stream, &Err(failure.error.with("request_id", Value::Null)));
    failure.exit
}

fn print_result(out: Out, stream: bool, result: &Result<RunResponse, AgentError>) {
    match result {
        _ if stream => out.event(&last_event(result)),
        Ok(response) => out.print_json(response),
        Err(error) => out.print_json(error),
    }
}

/// Reads the file up to one byte more than the contract allows, so that the host refuses a request
/// that is too long.
fn read_request(path: &Path) -> Result<String, Failure> {
    let most = RUN_REQUEST_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().take(most).read_to_end(&mut bytes)
    } else {
        files::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map_err(|e| {
        Failure::usage_error(format!("{} cannot be read: {e}.", path.display()))
            .hint("Name a file with a request, or - for standard input.")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn response_mode(request: &Value) -> Option<ResponseMode> {
    let options: RunOptions = serde_json::from_value(request.get("options")?.clone()).ok()?;
    Some(options.response_mode)
}

async fn run_streamed(
    link: &mut Link,
    out: Out,
    params: RunParams,
) -> Result<RunResponse, AgentError> {
    let stream = params.stream;
    let caller = params.caller.clone();
    let id = serde_json::from_str::<Value>(&params.request)
        .ok()
        .and_then(|request| request["request_id"].as_str().map(str::to_owned));
    let ours = |push: &Push| matches!(push, Push::Run { caller: of, request_id, .. } if *of == caller && Some(request_id) == id.as_ref());
    let commands = Arc::clone(&link.commands);
    let running = tokio::spawn(async move { commands.run_request(params).await });
    tokio::pin!(running);
    let answer = loop {
        tokio::select! {
            biased;
            push = listen::next(link), if stream => {
                print_run_event(out, &push?, ours);
                if matches!(out::stdout_state(), out::Delivery::ReaderLeft) {
                    return Err(AgentError::internal("cancelled", "The run was left. The log tells how far it came."));
                }
            }
            answer = &mut running => break answer,
            pressed = tokio::signal::ctrl_c() => {
                if pressed.is_ok() {
                    return Err(AgentError::internal("cancelled", "The run was left. The log tells how far it came."));
                }
            }
        }
    };
    // The pushes of the run arrive before its answer.
    if stream {
        loop {
            match link.pushes.try_recv() {
                Ok(push) => print_run_event(out, &push, ours),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
    }
    answer.map_err(|_| AgentError::internal("unexpected", "The run ended without an answer."))?
}

fn print_run_event(out: Out, push: &Push, ours: impl Fn(&Push) -> bool) {
    listen::print_declined(out, push);
    if ours(push)
        && let Push::Run { event, .. } = push
    {
        out.event(event);
    }
}

/// Returns the event that ends a stream.
fn last_event(result: &Result<RunResponse, AgentError>) -> RunEvent {
    let (kind, data) = match result {
        Ok(response) => (RunEventType::Final, json!(response)),
        Err(error) => (RunEventType::Error, json!(error)),
    };
    RunEvent {
        kind,
        timestamp: Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
        data: Some(data),
    }
}
