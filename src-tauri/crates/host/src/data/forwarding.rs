//! Leads the connections of one database process to the places that its source names, and to no
//! other. It sees what a network sees: with TLS, nothing of use. It must not know databases.

use std::{any::Any, io, net::TcpListener, sync::Arc, time::Duration};

use guard::{NetworkRestriction, network_restriction};
use mcp::Forwards;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::TcpStream,
    task::AbortHandle,
    time::timeout,
};

/// The time limit for a connection to a place. Drivers wait for at least ten seconds.
const CONNECT: Duration = Duration::from_secs(8);
/// The longest request to the proxy in bytes.
const REQUEST: usize = 8 << 10;

/// The places that the process of a database may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reachable {
    /// No network.
    Nothing,
    /// One host and port. The driver connects to the forwarder instead.
    Instead(String),
    /// One host and port of this computer. The driver connects to them by the same port.
    Here { to: String, port: u16 },
    /// These hosts with their ports. The driver asks the forwarder for them, as for an HTTP proxy,
    /// and still verifies the certificate of the host itself.
    Proxied(Vec<String>),
}

/// Where the connections to a forwarder lead.
#[derive(Clone, Debug)]
enum Way {
    To(String),
    Proxied(Vec<String>),
}

/// The forwarder of one database process.
#[derive(Debug)]
pub(super) struct Forwarder {
    pub(super) port: u16,
    way: Way,
    /// Why the last connection could not be made.
    failed: Failed,
    /// The app's own listener, if the process shares the network of the app.
    _shared: Option<Serving>,
}

type Failed = Arc<Mutex<Option<String>>>;

/// A task that ends when this is dropped.
#[derive(Debug)]
struct Serving(AbortHandle);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Forwarder {
    /// Makes the forwarder of a process. None if the process reaches no network. Call within a tokio
    /// runtime.
    pub(super) fn new(reachable: &Reachable) -> io::Result<Option<Self>> {
        let (way, port) = match reachable {
            Reachable::Nothing => return Ok(None),
            Reachable::Instead(to) => (Way::To(to.clone()), None),
            Reachable::Here { to, port } => (Way::To(to.clone()), Some(*port)),
            Reachable::Proxied(hosts) => (Way::Proxied(hosts.clone()), None),
        };
        let failed = Failed::default();
        if let Some(port) = port {
            // Without a network of its own, the process connects to the port itself.
            return Ok(Some(Self { port, way, failed, _shared: None }));
        }
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = match network_restriction() {
            // The process has a port of the same number in its own network.
            NetworkRestriction::OwnNetwork => None,
            NetworkRestriction::Port | NetworkRestriction::Missing => {
                Some(serve_connections(listener, way.clone(), Arc::clone(&failed))?)
            }
        };
        Ok(Some(Self { port, way, failed, _shared: shared }))
    }

    /// Returns the address of the forwarder, as the process sees it.
    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns why the last connection could not be made, once.
    pub(super) fn take_failure(&self) -> Option<String> {
        self.failed.lock().take()
    }
}

impl Forwards for Forwarder {
    fn serve(&self, listener: TcpListener) -> io::Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(serve_connections(listener, self.way.clone(), Arc::clone(&self.failed))?))
    }
}

/// Accepts connections and leads each to its place.
fn serve_connections(listener: TcpListener, way: Way, failed: Failed) -> io::Result<Serving> {
    listener.set_nonblocking(true)?;
    // The listener may lie in another network: it is polled like any other.
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    let _entered = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let task = runtime.spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            let (way, failed) = (way.clone(), Arc::clone(&failed));
            tokio::spawn(async move {
                let (to, result) = lead(&mut from, &way).await;
                if let Err(error) = &result {
                    tracing::info!(%error, to, "a database cannot be reached");
                }
                // The driver learns of the failure when the connection is dropped.
                *failed.lock() = result.err().map(|error| cause_of(&error));
            });
        }
    });
    Ok(Serving(task.abort_handle()))
}

/// Returns the cause of an error in words, without the number of the system.
fn cause_of(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}

/// Leads one connection to its place. Returns the place. Fails if the place cannot be reached.
async fn lead(from: &mut TcpStream, way: &Way) -> (String, io::Result<()>) {
    let to = match way {
        Way::To(to) => to.clone(),
        Way::Proxied(hosts) => match read_request(from, hosts).await {
            Ok(to) => to,
            Err(error) => {
                let _ =
                    from.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
                return (String::new(), Err(error));
            }
        },
    };
    let mut stream = match connect(&to).await {
        Ok(stream) => stream,
        // The driver says that the connection was closed.
        Err(error) => return (to, Err(error)),
    };
    if matches!(way, Way::Proxied(_))
        && from.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.is_err()
    {
        return (to, Ok(()));
    }
    // A connection that breaks later is the driver's to report.
    let _ = copy_bidirectional(from, &mut stream).await;
    (to, Ok(()))
}

async fn connect(to: &str) -> io::Result<TcpStream> {
    match timeout(CONNECT, TcpStream::connect(to)).await {
        Ok(connected) => connected,
        Err(_) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("it did not answer within {} seconds", CONNECT.as_secs()),
        )),
    }
}

/// Reads the request for a connection. Returns the host and port if they may be reached.
async fn read_request(from: &mut TcpStream, hosts: &[String]) -> io::Result<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        if request.len() > REQUEST {
            return Err(io::Error::other("the request to the proxy is too long"));
        }
        // One byte at a time, because what follows the request belongs to the host.
        request.push(from.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&request);
    let place = place_of(&text).ok_or_else(|| io::Error::other("only CONNECT is forwarded"))?;
    match hosts.iter().find(|host| host.eq_ignore_ascii_case(place)) {
        Some(host) => Ok(host.clone()),
        None => Err(io::Error::other(format!("{place} is not a host of the source"))),
    }
}

/// Returns the host and port of a request.
fn place_of(request: &str) -> Option<&str> {
    let line = request.lines().next()?;
    let (place, version) = line.strip_prefix("CONNECT ")?.split_once(' ')?;
    version.starts_with("HTTP/1").then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a server that greets each connection. Returns its port.
    async fn greet() -> u16 {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = server.accept().await {
                let _ = stream.write_all(b"hello").await;
            }
        });
        port
    }

    fn serve(way: Way) -> (Serving, Failed, std::net::SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, failed) = (listener.local_addr().unwrap(), Failed::default());
        (serve_connections(listener, way, Arc::clone(&failed)).unwrap(), failed, port)
    }

    async fn say(port: std::net::SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(port).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut said = String::new();
        let _ = stream.read_to_string(&mut said).await;
        said
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_forwarder_leads_connections_to_its_address_until_it_is_dropped() {
        let to = format!("127.0.0.1:{}", greet().await);
        let (serving, failed, port) = serve(Way::To(to));
        assert_eq!(say(port, "").await, "hello");
        assert_eq!(*failed.lock(), None);
        drop(serving);
        // The listener is closed when its task has ended.
        for _ in 0..100 {
            if TcpStream::connect(port).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the port still answers");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_place_that_does_not_answer_is_told() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (_serving, failed, port) = serve(Way::To(closed.to_string()));
        assert_eq!(say(port, "").await, "");
        let told = failed.lock().clone().unwrap();
        assert_eq!(told, "Connection refused");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_proxy_leads_only_to_the_hosts_of_the_source() {
        let own = greet().await;
        let other = greet().await;
        let (_serving, failed, port) = serve(Way::Proxied(vec![format!("LocalHost:{own}")]));
        let said = say(port, &format!("CONNECT localhost:{own} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert!(said.starts_with("HTTP/1.1 200") && said.ends_with("hello"), "{said}");
        for request in [
            format!("CONNECT localhost:{other} HTTP/1.1\r\n\r\n"),
            format!("CONNECT 127.0.0.1:{own} HTTP/1.1\r\n\r\n"),
            format!("GET http://localhost:{own}/ HTTP/1.1\r\n\r\n"),
            "\r\n\r\n".to_owned(),
        ] {
            let said = say(port, &request).await;
            assert!(
                said.starts_with("HTTP/1.1 403") && !said.contains("hello"),
                "{request}: {said}"
            );
        }
        assert!(failed.lock().is_some());
        let long = format!("CONNECT {} HTTP/1.1", "a".repeat(REQUEST));
        assert!(!say(port, &long).await.contains("hello"));
    }
}
