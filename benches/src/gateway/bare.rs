//! The bare loop as a server: the same two routes, the same requests to model and shop, every delta
//! passed on at once. Conversations are lists in memory. As in a first simple version, the loop
//! checks, stores and records nothing.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::shop::Shop;
use crate::Outcome;
use crate::turn::bare::{Answer, ask};

type Conversation = Arc<tokio::sync::Mutex<Vec<Value>>>;

struct World {
    http: reqwest::Client,
    model: String,
    shop: Shop,
    tools: Value,
    sessions: Mutex<HashMap<String, Conversation>>,
}

pub(crate) async fn run(model: &str, shop: &str) -> Outcome {
    let http = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build()?;
    let shop = Shop::open(http.clone(), shop).await?;
    let tools = shop.tools().await?;
    let world =
        Arc::new(World { http, model: model.to_owned(), shop, tools, sessions: Mutex::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(Arc::clone(&world), request));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    world: Arc<World>,
    request: Request<Incoming>,
) -> Outcome<Response<UnsyncBoxBody<Bytes, Infallible>>> {
    let streams = request.uri().path().ends_with("/stream");
    let body: Value = serde_json::from_slice(&request.into_body().collect().await?.to_bytes())?;
    if !streams {
        let answer = turn(&world, &body, None).await?;
        let whole = Full::new(Bytes::from(answer.to_string())).boxed_unsync();
        return Ok(Response::builder().header("content-type", "application/json").body(whole)?);
    }
    let (tell, told) = unbounded_channel::<Bytes>();
    tokio::spawn(async move {
        let last = match turn(&world, &body, Some(&tell)).await {
            Ok(answer) => event("final", &answer),
            Err(error) => event("error", &json!({"message": error.to_string()})),
        };
        let _ = tell.send(last);
    });
    let frames = futures::stream::unfold(told, |mut told| async move {
        told.recv().await.map(|bytes| (Ok(Frame::data(bytes)), told))
    });
    Ok(Response::builder()
        .header("content-type", "text/event-stream")
        .body(StreamBody::new(frames).boxed_unsync())?)
}

fn event(name: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

async fn turn(
    world: &World,
    body: &Value,
    tell: Option<&UnboundedSender<Bytes>>,
) -> Outcome<Value> {
    let session = body["sessionId"].as_str().unwrap_or_default();
    let conversation = {
        let mut sessions = world.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(sessions.entry(session.to_owned()).or_default())
    };
    let mut messages = conversation.lock().await;
    messages.push(json!({"role": "user", "content": body["message"]}));
    let mut found = Value::Null;
    loop {
        let reply = match tell {
            Some(tell) => {
                let say = |text: &str| drop(tell.send(event("delta", &json!({"text": text}))));
                ask(&world.http, &world.model, &messages, &world.tools, say).await?
            }
            None => ask_whole(world, &messages).await?,
        };
        if reply.name.is_empty() {
            messages.push(json!({"role": "assistant", "content": reply.text}));
            return Ok(
                json!({"turnId": "bare", "sessionId": session, "text": reply.text, "cards": found["items"]}),
            );
        }
        let result =
            world.shop.call("product.search", serde_json::from_str(&reply.arguments)?).await?;
        let id = format!("call_{}", messages.len());
        let call = json!({"id": id, "type": "function", "function": {"name": reply.name, "arguments": reply.arguments}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        found = serde_json::from_str(&result)?;
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }
}

/// Makes the same request, but for an answer in one piece.
async fn ask_whole(world: &World, messages: &[Value]) -> Outcome<Answer> {
    let body = json!({"model": "scripted", "messages": messages, "tools": world.tools});
    let response = world
        .http
        .post(format!("{}/chat/completions", world.model))
        .json(&body)
        .send()
        .await?
        .error_for_status()?;
    let mut answer: Value = response.json().await?;
    let message = answer["choices"][0]["message"].take();
    let function = &message["tool_calls"][0]["function"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(Answer {
        text: text(&message["content"]),
        name: text(&function["name"]),
        arguments: text(&function["arguments"]),
    })
}
