//! A test collector for traces and metrics by OTLP: a small receiver on the loopback interface that
//! stores the data from the server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::{
    metrics::v1::ExportMetricsServiceRequest, trace::v1::ExportTraceServiceRequest,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// A received request.
pub(crate) struct Sent {
    path: String,
    pub(crate) head: String,
    body: Vec<u8>,
}

/// A test collector.
pub(crate) struct Receiver {
    pub(crate) url: String,
    pub(crate) sent: Arc<Mutex<Vec<Sent>>>,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let sent = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&sent);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || serve(stream.unwrap(), &kept));
            }
        });
        Self { url, sent }
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let sent = self.sent.lock().unwrap();
        let traces = sent
            .iter()
            .filter(|sent| sent.path == "/v1/traces")
            .map(|sent| ExportTraceServiceRequest::decode(sent.body.as_slice()).unwrap());
        traces
            .flat_map(|trace| trace.resource_spans)
            .flat_map(|of| of.scope_spans)
            .flat_map(|of| of.spans)
            .collect()
    }

    pub(crate) fn metrics(&self) -> Vec<String> {
        let sent = self.sent.lock().unwrap();
        let all = sent
            .iter()
            .filter(|sent| sent.path == "/v1/metrics")
            .map(|sent| ExportMetricsServiceRequest::decode(sent.body.as_slice()).unwrap());
        all.flat_map(|one| one.resource_metrics)
            .flat_map(|of| of.scope_metrics)
            .flat_map(|of| of.metrics)
            .map(|metric| metric.name)
            .collect()
    }

    /// Returns all received data as text, to search for values that must not be sent.
    pub(crate) fn text(&self) -> String {
        self.sent
            .lock()
            .unwrap()
            .iter()
            .map(|sent| String::from_utf8_lossy(&sent.body).into_owned())
            .collect()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Sent>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or_default() == 0 {
                return;
            }
        }
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
            })
            .unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        kept.lock().unwrap().push(Sent { path, head, body });
        (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n").unwrap();
    }
}
