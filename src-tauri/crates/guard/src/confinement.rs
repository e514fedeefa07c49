//! All restrictions of a program that works with data of the user: folders, network and resources.
//! A program without any of the user's folders receives its data through pipes. The module must not
//! know what the program is for.

use std::{
    io,
    net::TcpListener,
    os::unix::{net::UnixStream, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Folders, Limits, Permits, Sandbox, Sockets,
    network::{OwnNetwork, own_networks_work, receive_listener},
};

/// Files of the kernel about the machine and its limits. Libraries read these files to choose how
/// much memory and how many threads they use, and some libraries end the program if they cannot
/// read them.
const MACHINE: [&str; 5] = [
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
];

/// The restrictions of a program.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// Folders and files that the program may read and execute, such as the program itself.
    pub run: Vec<PathBuf>,
    /// Folders that the program may only read.
    pub read: Vec<PathBuf>,
    /// Folders in which the program may do everything.
    pub own: Vec<PathBuf>,
    /// The network that the program can reach.
    pub network: Network,
    /// The limits on the program's resources.
    pub limits: Limits,
}

/// The network that a program can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// The program can reach no network.
    None,
    /// One port on the loopback device, which the app serves. Where the kernel cannot restrict the
    /// network, the program can reach every address.
    Port(u16),
}

/// How far the network of a program with a port is restricted on this system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkRestriction {
    /// The program has a separate network.
    OwnNetwork,
    /// The program can connect to its port only.
    Port,
    /// The program's network is not restricted.
    Missing,
}

/// Returns how far the network of a program with a port is restricted on this system.
pub fn network_restriction() -> NetworkRestriction {
    if own_networks_work() {
        NetworkRestriction::OwnNetwork
    } else if crate::ports_work() {
        NetworkRestriction::Port
    } else {
        NetworkRestriction::Missing
    }
}

/// The app's side of a confined program's network.
#[derive(Debug)]
pub struct OwnPort(UnixStream);

impl OwnPort {
    /// Returns the socket on which the connections of the program arrive. Must be called once,
    /// after the spawn.
    pub fn listener(&self) -> io::Result<TcpListener> {
        receive_listener(&self.0)
    }
}

impl Confinement {
    /// Adds the restrictions to a command. A guard must be attached before. Returns the app's side
    /// of the program's own network. None if the program has no port, or shares the network of the
    /// app, which then listens on the port itself. Fails if the kernel refuses a restriction that
    /// it supports.
    pub fn attach(&self, command: &mut Command) -> io::Result<Option<OwnPort>> {
        let (network, port) = match self.network {
            Network::Port(port) if own_networks_work() => {
                let (network, app) = OwnNetwork::with_port(port)?;
                (Some(network), Some(OwnPort(app)))
            }
            Network::Port(_) | Network::None => (None, None),
        };
        let mut sandbox = self.sandbox(network.is_some()).map_err(io::Error::other)?;
        let limits = self.limits;
        let restrict = move || {
            if let Some(network) = &network {
                network.enforce()?;
            }
            limits.enforce()?;
            sandbox.enforce()
        };
        // SAFETY: between fork and exec, only system calls are made. Their arguments were prepared
        // before the fork.
        unsafe { command.pre_exec(restrict) };
        Ok(port)
    }

    fn sandbox(&self, has_own_network: bool) -> Result<Sandbox, String> {
        let (run, mut read, own) = (paths(&self.run), paths(&self.read), paths(&self.own));
        read.extend(MACHINE.map(Path::new));
        let folders = Folders { run: &run, read: &read, own: &own };
        let (sockets, port) = match self.network {
            Network::None => (Sockets::Pairs, None),
            // Landlock's rule is not needed in an own network, in which nothing else answers.
            Network::Port(port) => (Sockets::Internet, (!has_own_network).then_some(port)),
        };
        let permits = Permits { sockets, sessions: false, open_files: true, by_path: false };
        Sandbox::with_port(&folders, permits, port)?.with_itself()
    }
}

fn paths(places: &[PathBuf]) -> Vec<&Path> {
    places.iter().map(PathBuf::as_path).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        process::Stdio,
    };

    use super::*;
    use crate::Guard;

    const LIMITS: Limits = Limits { memory_bytes: 1 << 30, file_bytes: 1 << 20, files: 64 };

    fn run(script: &str, confinement: &Confinement) -> (String, Option<OwnPort>) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let _guard = Guard::attach(&mut command).unwrap();
        let port = confinement.attach(&mut command).unwrap();
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        (said, port)
    }

    fn confinement(read: &Path, own: &Path, network: Network) -> Confinement {
        let (read, own) = (vec![read.to_owned()], vec![own.to_owned()]);
        Confinement { run: Vec::new(), read, own, network, limits: LIMITS }
    }

    #[test]
    fn a_confined_program_reads_its_folders_and_writes_only_its_own() {
        let (read, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let other = tempfile::tempdir().unwrap();
        for folder in [&read, &other] {
            std::fs::write(folder.path().join("text"), "seen").unwrap();
        }
        let (read, own) = (read.path(), own.path());
        let script = format!(
            "cat {read}/text; echo x > {read}/new && echo wrote; cat {other}/text; echo y > {own}/new && echo own",
            read = read.display(),
            own = own.display(),
            other = other.path().display(),
        );
        let (said, _) = run(&script, &confinement(read, own, Network::None));
        if crate::landlock_abi() > 0 {
            assert_eq!(said, "seenown\n");
        }
        assert!(own.join("new").is_file());
        let script = "cat /proc/self/cgroup > /dev/null && echo self; cat /proc/1/cmdline > /dev/null && echo other";
        let (said, _) = run(script, &confinement(read, own, Network::None));
        if crate::landlock_abi() > 0 {
            assert!(!said.contains("other"), "{said}");
        }
    }

    #[test]
    fn a_program_with_a_port_reaches_only_the_app_behind_it() {
        if !own_networks_work() {
            assert_ne!(network_restriction(), NetworkRestriction::OwnNetwork);
            return;
        }
        let outside = TcpListener::bind("127.0.0.1:0").unwrap();
        let closed = outside.local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let confinement = confinement(folder.path(), folder.path(), Network::Port(6_432));
        let mut command = Command::new("/bin/bash");
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/6432 && head -c 5 <&3; (exec 4<>/dev/tcp/127.0.0.1/{closed}) 2>/dev/null && echo reached"
        );
        command.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::piped());
        let _guard = Guard::attach(&mut command).unwrap();
        let port = confinement.attach(&mut command).unwrap().unwrap();
        let mut child = command.spawn().unwrap();
        let listener = port.listener().unwrap();
        let (mut connection, _) = listener.accept().unwrap();
        connection.write_all(b"hello").unwrap();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        assert_eq!(said, "hello");
    }
}
