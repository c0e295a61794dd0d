//! A kernel: its process, and the connections to it.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, mpsc::SyncSender},
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::{Pid, Signal, geteuid, kill_process_group},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Event,
    end::ENDED,
    filter, message,
    watch::{WATCH_INTERVAL, Watched, path_in_sandbox},
    zmtp::{self, Receiver, Sender, SocketKind, ZmtpError},
};
use crate::python::wire::{KernelPlan, SocketPlace};

/// The interval of trying to connect to a kernel that starts.
const CONNECT_INTERVAL: Duration = Duration::from_millis(20);

/// The longest wait for the exit status of a kernel that has closed its connections.
const MAX_END_DELAY: Duration = Duration::from_secs(1);

/// The part of the kernel's error output that is kept: its end, in bytes.
const MAX_STDERR_BYTES: usize = 4096;

/// The largest report of bubblewrap about a sandbox.
const MAX_INFO_BYTES: u64 = 4096;

/// A connection to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Requests and their answers.
    Shell,
    /// Output and states, of all requests.
    Output,
    /// Requests that don't wait for others.
    Control,
}

/// The channels with the numbers of their sockets.
const CHANNELS: [(Channel, u8, SocketKind); 3] = [
    (Channel::Shell, 1, SocketKind::Dealer),
    (Channel::Output, 2, SocketKind::Subscriber),
    (Channel::Control, 4, SocketKind::Dealer),
];

/// A kernel that runs.
pub struct Kernel {
    process: Child,
    watched: Option<Watched>,
    senders: Vec<(Channel, Sender)>,
    /// The end of its error output.
    stderr: Arc<Mutex<Vec<u8>>>,
}

/// The report of bubblewrap about a sandbox.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct SandboxInfo {
    child_pid: u32,
}

impl Kernel {
    /// Starts a kernel and connects to it. What it sends becomes events.
    pub fn start(plan: &KernelPlan, events: &SyncSender<Event>) -> Result<Self, String> {
        let [program, arguments @ ..] = &plan.command[..] else {
            return Err("there is no command".into());
        };
        let mut command = Command::new(program);
        let inherited = match &plan.sockets {
            SocketPlace::Sandbox(_) => Some(Inherited::prepare(&mut command).map_err(text)?),
            SocketPlace::System(_) => None,
        };
        command
            .args(arguments)
            .env_clear()
            .envs(plan.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut process = command
            .spawn()
            .map_err(|error| format!("{program} can't be started: {error}"))?;
        let stderr = Arc::default();
        if let Some(output) = process.stderr.take() {
            keep_end(output, Arc::clone(&stderr));
        }
        let mut kernel = Self {
            process,
            watched: None,
            senders: Vec::new(),
            stderr,
        };
        if let Err(cause) = kernel.connect(plan, inherited, events) {
            let status = kernel.end(true);
            return Err(kernel.explain_failed_start(&cause, status));
        }
        Ok(kernel)
    }

    fn connect(
        &mut self,
        plan: &KernelPlan,
        inherited: Option<Inherited>,
        events: &SyncSender<Event>,
    ) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(plan.limits.start_seconds);
        let beginning = match (&plan.sockets, inherited) {
            (SocketPlace::Sandbox(place), Some(inherited)) => {
                let first = inherited.read_info()?;
                let watched = Watched::new(first, plan.limits);
                spawn_memory_watch(watched.clone(), events.clone());
                self.watched = Some(watched);
                path_in_sandbox(first, place)
            }
            (SocketPlace::Sandbox(place) | SocketPlace::System(place), _) => place.clone(),
        };
        // All are connected before any code of a call runs, which could replace them.
        let mut receivers = Vec::new();
        for (channel, number, kind) in CHANNELS {
            let stream = self.wait_for_socket(&socket_path(&beginning, number), deadline)?;
            let (sender, receiver) = zmtp::connect(stream, kind, plan.limits.message).map_err(text)?;
            self.senders.push((channel, sender));
            receivers.push((channel, receiver));
        }
        for (channel, receiver) in receivers {
            spawn_reader(channel, receiver, events.clone());
        }
        Ok(())
    }

    fn wait_for_socket(&mut self, path: &Path, deadline: Instant) -> Result<UnixStream, String> {
        loop {
            match UnixStream::connect(path) {
                Ok(stream) => return Ok(stream),
                Err(_) if self.process.try_wait().map_err(text)?.is_some() => return Err(ENDED.into()),
                Err(error) if Instant::now() > deadline => {
                    return Err(format!(
                        "it did not start in time (setting python.start_timeout): {error}"
                    ));
                }
                Err(_) => pause(CONNECT_INTERVAL),
            }
        }
    }

    /// Sends a request.
    pub fn send(&mut self, channel: Channel, id: &str, kind: &str, content: &Value) -> io::Result<()> {
        let frames = message::to_frames(id, kind, content);
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        let sender = self.senders.iter_mut().find(|(other, _)| *other == channel);
        match sender {
            Some((_, sender)) => sender.send(&frames),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Returns the limit that the sandbox exceeds, except that of memory, in words.
    pub fn exceeded(&self) -> Option<String> {
        self.watched.as_ref()?.exceeded()
    }

    /// Ends the kernel and all its processes. Returns its status if it has ended by itself; a kernel that has closed its
    /// connections `is_ending`.
    pub fn end(&mut self, is_ending: bool) -> Option<ExitStatus> {
        let deadline = Instant::now() + if is_ending { MAX_END_DELAY } else { Duration::ZERO };
        let ended = loop {
            match self.process.try_wait() {
                Ok(None) if Instant::now() < deadline => pause(CONNECT_INTERVAL),
                ended => break ended.ok().flatten(),
            }
        };
        if let Some(group) = Pid::from_raw(self.process.id().cast_signed()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
        ended
    }

    /// Returns the cause of a failed start in words, as far as the error output says more.
    fn explain_failed_start(&self, cause: &str, status: Option<ExitStatus>) -> String {
        let stderr = self.stderr.lock();
        let stderr = String::from_utf8_lossy(&stderr);
        let said = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
        match (status, said) {
            (Some(_), Some(said)) => format!("{cause}: {said}"),
            _ => cause.to_owned(),
        }
    }
}

/// The file descriptors that bubblewrap inherits.
struct Inherited {
    info: (File, OwnedFd),
    _filter: Option<OwnedFd>,
}

impl Inherited {
    /// Makes them, and names them in the command.
    fn prepare(command: &mut Command) -> io::Result<Self> {
        let (info, info_end) = io::pipe()?;
        let info_end = OwnedFd::from(info_end);
        fcntl_setfd(&info_end, FdFlags::empty())?;
        command.args(["--info-fd", &info_end.as_raw_fd().to_string()]);
        let filter = filter::program(geteuid().is_root()).map(|program| {
            let (filter, mut filter_end) = io::pipe()?;
            // It fits into the buffer of the pipe.
            filter_end.write_all(&program)?;
            let filter = OwnedFd::from(filter);
            fcntl_setfd(&filter, FdFlags::empty())?;
            command.args(["--seccomp", &filter.as_raw_fd().to_string()]);
            Ok::<_, io::Error>(filter)
        });
        Ok(Self {
            info: (File::from(OwnedFd::from(info)), info_end),
            _filter: filter.transpose()?,
        })
    }

    /// Returns the first process of the sandbox.
    fn read_info(self) -> Result<u32, String> {
        let (info, own_end) = self.info;
        drop(own_end);
        let mut report = String::new();
        info.take(MAX_INFO_BYTES)
            .read_to_string(&mut report)
            .map_err(text)?;
        // Bubblewrap ends without a report if it can't make the sandbox.
        let info: SandboxInfo = serde_json::from_str(&report).map_err(|_| "there is no sandbox")?;
        Ok(info.child_pid)
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn socket_path(beginning: &Path, number: u8) -> PathBuf {
    let mut path = beginning.as_os_str().to_owned();
    path.push(format!("-{number}"));
    path.into()
}

fn spawn_reader(channel: Channel, mut receiver: Receiver, events: SyncSender<Event>) {
    thread::spawn(move || {
        loop {
            let event = match receiver.next() {
                Ok(frames) => match message::read(&frames) {
                    Some(message) => Event::Message(channel, message),
                    None => continue,
                },
                Err(ZmtpError::Io(_)) => Event::Broken(ENDED.into()),
                Err(error) => Event::Broken(error.to_string()),
            };
            let is_last = matches!(event, Event::Broken(_));
            if events.send(event).is_err() || is_last {
                return;
            }
        }
    });
}

/// Watches the memory of a sandbox. It has a thread of its own, because it may wait for processes of the sandbox.
fn spawn_memory_watch(watched: Watched, events: SyncSender<Event>) {
    thread::spawn(move || {
        loop {
            pause(WATCH_INTERVAL);
            if let Some(cause) = watched.exceeded_memory() {
                // The session may have ended meanwhile.
                let _ = events.send(Event::Broken(cause));
                return;
            }
        }
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "the helper has threads and no asynchronous runtime"
)]
fn pause(time: Duration) {
    thread::sleep(time);
}

/// Reads a text to its end, and keeps the last part.
fn keep_end(mut output: impl Read + Send + 'static, kept: Arc<Mutex<Vec<u8>>>) {
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(read @ 1..) = output.read(&mut buffer) {
            let mut kept = kept.lock();
            kept.extend_from_slice(&buffer[..read]);
            let excess = kept.len().saturating_sub(MAX_STDERR_BYTES);
            kept.drain(..excess);
        }
    });
}
