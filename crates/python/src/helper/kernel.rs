//! A kernel: its process, and the connections to it.

use std::{
    io::{self, Read},
    os::unix::{net::UnixStream, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, mpsc::SyncSender},
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::{
    Event,
    end::ENDED,
    group::spawn_in,
    inherited::Inherited,
    members::Members,
    message, sealed,
    watch::{ObjectWatch, WATCH_INTERVAL, Watched, path_in_sandbox},
    zmtp::{self, Receiver, Sender, SocketKind, ZmtpError},
};
use crate::{
    process::{KEEPER_SUBCOMMAND, OWN_PROGRAM},
    wire::{Isolation, KernelPlan},
};

/// The interval of trying to connect to a kernel that starts.
const CONNECT_INTERVAL: Duration = Duration::from_millis(20);

/// The longest wait for the exit status of a kernel that has closed its connections.
const MAX_END_DELAY: Duration = Duration::from_secs(1);

/// The longest wait for the end of all processes of a session under Landlock.
const MAX_KEEPER_DELAY: Duration = Duration::from_secs(2);

/// The part of the kernel's error output that is kept: its end, in bytes.
const MAX_STDERR_BYTES: usize = 4096;

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
    /// The input of the process's keeper, if it has one, which ends all processes when it is closed.
    keeper: Option<ChildStdin>,
    watched: Option<Watched>,
    /// The processes of its sandbox, once it takes requests.
    members: Option<Members>,
    senders: Vec<(Channel, Sender)>,
    /// The end of its error output.
    stderr: Arc<Mutex<Vec<u8>>>,
}

impl Kernel {
    /// Starts a kernel and connects to it. What it sends becomes events.
    pub fn start(plan: &KernelPlan, events: &SyncSender<Event>) -> Result<Self, String> {
        let (mut command, inherited) = command(plan)?;
        command
            .env_clear()
            .envs(plan.environment.iter().cloned())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        let spawned = match &plan.group {
            Some(group) => spawn_in(group, &mut command),
            None => command.spawn(),
        };
        let mut process = spawned.map_err(|error| {
            let program = command.get_program().display();
            format!("{program} can't be started: {error}")
        })?;
        let stderr = Arc::default();
        if let Some(output) = process.stderr.take() {
            keep_end(output, Arc::clone(&stderr));
        }
        let mut kernel = Self {
            keeper: process.stdin.take(),
            process,
            watched: None,
            members: None,
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
        let mut beginning = plan.sockets.clone();
        self.watched = match (&plan.isolation, inherited) {
            (Isolation::Bubblewrap, Some(inherited)) => {
                let first = inherited.read_info()?;
                beginning = path_in_sandbox(first, &plan.sockets);
                Some(Watched::in_namespaces(first, plan.limits))
            }
            (Isolation::Landlock(rules), _) => {
                Some(Watched::shared(self.process.id(), rules.clone(), plan.limits))
            }
            (Isolation::Bubblewrap | Isolation::None, _) => None,
        };
        // All are connected before any code of a call runs, which could replace them.
        let mut receivers = Vec::new();
        for (channel, number, kind) in CHANNELS {
            let stream = self.wait_for_socket(&socket_path(&beginning, number), deadline)?;
            let (sender, receiver) = zmtp::connect(stream, kind, plan.limits.message).map_err(text)?;
            self.senders.push((channel, sender));
            receivers.push((channel, receiver));
        }
        // Not before: until the sandbox is made, its first process has the root of the system.
        if let Some(watched) = &self.watched {
            let family = watched.family().ok_or("its processes can't be seen")?;
            self.members = Some(Members::note(family));
            spawn_memory_watch(watched.clone(), events.clone());
            spawn_object_watch(watched.clone(), events.clone());
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

    /// Checks that the kernel can open no more sockets, if it shares those of Parlor. It has answered, so that its own are bound.
    ///
    /// # Errors
    ///
    /// If it can, or nobody knows.
    pub fn check_seal(&self) -> Result<(), String> {
        match (&self.keeper, &self.members) {
            (Some(_), Some(members)) => sealed::check(members.own()),
            (Some(_), None) => Err("its processes can't be seen".into()),
            (None, _) => Ok(()),
        }
    }

    /// Returns the limit that the sandbox exceeds, except that of memory, in words.
    pub fn exceeded(&self) -> Option<String> {
        self.watched.as_ref()?.exceeded()
    }

    /// Returns the memory of the sandbox in bytes, as last measured.
    pub fn memory(&self) -> u64 {
        self.watched.as_ref().map_or(0, Watched::memory)
    }

    /// Ends the processes that calls have made.
    ///
    /// # Errors
    ///
    /// If they go on.
    pub fn end_others(&self) -> Result<(), String> {
        self.members.as_ref().map_or(Ok(()), Members::end_others)
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
        if let Some(input) = self.keeper.take() {
            drop(input);
            let deadline = Instant::now() + MAX_KEEPER_DELAY;
            while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < deadline {
                pause(CONNECT_INTERVAL);
            }
            if let Some(members) = &self.members {
                members.end_all();
            }
        }
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

/// Returns the command that starts a kernel, with the descriptors that bubblewrap inherits.
fn command(plan: &KernelPlan) -> Result<(Command, Option<Inherited>), String> {
    let [program, arguments @ ..] = &plan.command[..] else {
        return Err("there is no command".into());
    };
    if let Isolation::Landlock(rules) = &plan.isolation {
        let mut command = Command::new(OWN_PROGRAM);
        let rules = serde_json::to_string(rules).map_err(text)?;
        command
            .args([KEEPER_SUBCOMMAND, &rules, "--"])
            .args(&plan.command);
        command.stdin(Stdio::piped());
        return Ok((command, None));
    }
    let mut command = Command::new(program);
    let inherited = match plan.isolation == Isolation::Bubblewrap {
        true => Some(Inherited::prepare(&mut command).map_err(text)?),
        false => None,
    };
    command.args(arguments).stdin(Stdio::null());
    Ok((command, inherited))
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
        let mut seen = 0;
        loop {
            pause(WATCH_INTERVAL);
            if let Some(cause) = watched.exceeded_memory(&mut seen) {
                // The session may have ended meanwhile.
                let _ = events.send(Event::Broken(cause));
                return;
            }
        }
    });
}

/// Counts the objects of a sandbox, which takes longer.
fn spawn_object_watch(watched: Watched, events: SyncSender<Event>) {
    thread::spawn(move || {
        let mut watch = ObjectWatch::new(watched);
        loop {
            match watch.count() {
                Ok(time) => pause(time),
                Err(cause) => {
                    // The session may have ended meanwhile.
                    let _ = events.send(Event::Broken(cause));
                    return;
                }
            }
        }
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "the helper has threads and no asynchronous runtime"
)]
pub fn pause(time: Duration) {
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
