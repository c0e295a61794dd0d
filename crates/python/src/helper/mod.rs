//! The helper process of a session: Parlor itself, with a subcommand. It starts a kernel in its sandbox, speaks Jupyter's
//! protocol to it, and passes on what it shows as lines of JSON of limited length. A kernel that breaks the protocol, or its
//! limits, ends its own session only.
//!
//! - [`zmtp`], [`message`]: the protocol
//! - [`kernel`]: the process and its connections; [`inherited`]: what it is given; [`group`]: its cgroup
//! - [`output`]: the output of a call, within its limits; [`end`]: the end of a session
//! - [`watch`]: the limits of all processes of the sandbox together; [`members`]: the processes that end with their call
//! - [`filter`]: the system calls that there are
//! - [`keeper`], [`confined`]: the processes that begin a session under Landlock; [`sealed`]: the check of its last filter

mod confined;
mod end;
mod filter;
mod group;
mod inherited;
mod keeper;
mod kernel;
mod members;
mod message;
mod output;
mod sealed;
mod watch;
mod zmtp;

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    process::ExitCode,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use self::{
    end::End,
    kernel::{Channel, Kernel},
    message::{Message, execute_content},
    output::{CallEnd, CallOutput},
    watch::WATCH_INTERVAL,
};
use super::wire::{KernelPlan, Report, Request};

/// The largest line of the server: the code of a call, as JSON.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// The memory of this process besides that for messages: its program, threads and buffers.
const OWN_MEMORY_BYTES: u64 = 512 << 20;

/// The memory for messages, as a multiple of the largest one: its frames, its JSON, its report.
const MEMORY_PER_MESSAGE: u64 = 8;

/// The interval of asking a kernel that starts whether it takes requests.
const READY_INTERVAL: Duration = Duration::from_millis(200);

/// The longest wait for the rest of the output after the kernel has answered: a report of the kernel may have been dropped.
const MAX_OUTPUT_DELAY: Duration = Duration::from_secs(5);

/// The number of events that wait. Threads that read wait while it is reached.
const MAX_QUEUED_EVENTS: usize = 16;

/// The change of the memory that is reported, in bytes.
const REPORTED_BYTES: u64 = 8 << 20;

/// Something that happened.
enum Event {
    Message(Channel, Message),
    Request(Request),
    /// The server has ended, or ends the session.
    InputEnded,
    /// The session can't go on, for this reason.
    Broken(String),
}

/// Runs a session until its input ends.
pub fn run() -> ExitCode {
    match run_session() {
        Ok(()) => ExitCode::SUCCESS,
        Err(End { cause, is_by_code }) => {
            let _ = report(&Report::Gone { cause, is_by_code });
            ExitCode::FAILURE
        }
    }
}

/// Runs the process that keeps those of a session under Landlock.
pub fn keep(rules: &str, command: &[String]) -> ExitCode {
    match keeper::run(rules, command) {
        Ok(status) => ExitCode::from(status),
        Err(error) => fail(&error),
    }
}

/// Confines this process by Landlock, and becomes a command.
pub fn confine(rules: &str, variables: &[String], command: &[String]) -> ExitCode {
    fail(&confined::run(rules, variables, command))
}

fn fail(error: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "{error}");
    ExitCode::FAILURE
}

/// Returns the number of the system call that adds a filter, and the filter that seals a session under Landlock.
pub fn seal() -> Option<(i64, Vec<u8>)> {
    Some((libc::SYS_seccomp, filter::seal()?))
}

fn run_session() -> Result<(), End> {
    let mut input = BufReader::new(io::stdin());
    let plan = read_line(&mut input)
        .map_err(|error| error.to_string())?
        .ok_or("there is no plan")?;
    let plan: KernelPlan = serde_json::from_slice(&plan).map_err(|error| error.to_string())?;
    limit_memory(&plan);
    be_ended_first();
    let (sender, events) = sync_channel(MAX_QUEUED_EVENTS);
    // The sandbox ends with the thread that started it: this one.
    let mut kernel = Kernel::start(&plan, &sender)?;
    spawn_input_reader(input, sender);
    let ended = Session {
        kernel: &mut kernel,
        plan: &plan,
        events,
        call: None,
        replied: None,
        reported_memory: 0,
    }
    .run();
    let status = kernel.end(matches!(&ended, Err(end) if end.cause == end::ENDED));
    let reached = plan.group.as_ref().and_then(group::reached_limit);
    ended.map_err(|end| end.explain(status, reached, &plan.limits))
}

/// The main loop of a session.
struct Session<'a> {
    kernel: &'a mut Kernel,
    plan: &'a KernelPlan,
    events: Receiver<Event>,
    /// The call in progress.
    call: Option<CallOutput>,
    /// The time at which the kernel has answered it.
    replied: Option<Instant>,
    /// The memory that the server was told.
    reported_memory: u64,
}

impl Session<'_> {
    fn run(mut self) -> Result<(), End> {
        self.wait_until_ready()?;
        self.kernel.check_seal()?;
        report(&Report::Ready).map_err(|error| error.to_string())?;
        let mut watched_at = Instant::now();
        loop {
            let event = match self.events.recv_timeout(WATCH_INTERVAL) {
                Ok(event) => Some(event),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            match event {
                Some(Event::Message(channel, message)) => self.apply(channel, &message)?,
                Some(Event::Request(request)) => self.perform(request)?,
                Some(Event::InputEnded) => return Ok(()),
                Some(Event::Broken(cause)) => return Err(cause.into()),
                None => {}
            }
            if self.replied.is_some_and(|at| at.elapsed() > MAX_OUTPUT_DELAY)
                && let Some(call) = &mut self.call
            {
                call.set_idle();
                self.report_end()?;
            }
            if watched_at.elapsed() >= WATCH_INTERVAL {
                watched_at = Instant::now();
                if let Some(cause) = self.kernel.exceeded() {
                    return Err(cause.into());
                }
                self.report_memory()?;
                // A thread of an earlier call may go on, and make processes.
                if self.call.is_none() {
                    self.kernel.end_others()?;
                }
            }
        }
    }

    /// Reports the memory of the sandbox, if it has changed.
    fn report_memory(&mut self) -> Result<(), String> {
        let bytes = self.kernel.memory();
        if bytes.abs_diff(self.reported_memory) < REPORTED_BYTES {
            return Ok(());
        }
        self.reported_memory = bytes;
        report(&Report::Memory { bytes }).map_err(|error| error.to_string())
    }

    /// Waits until the kernel answers, and its output arrives.
    fn wait_until_ready(&mut self) -> Result<(), String> {
        let seconds = self.plan.limits.start_seconds;
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let (mut answers, mut shows) = (false, false);
        while !(answers && shows) {
            if Instant::now() > deadline {
                return Err(format!(
                    "it did not start within {seconds} seconds (setting python.start_timeout)"
                ));
            }
            self.kernel
                .send(Channel::Shell, "start", "kernel_info_request", &json!({}))
                .map_err(|error| error.to_string())?;
            let next = Instant::now() + READY_INTERVAL;
            while !(answers && shows) {
                let wait = next.saturating_duration_since(Instant::now());
                match self.events.recv_timeout(wait) {
                    Ok(Event::Message(Channel::Output, _)) => shows = true,
                    Ok(Event::Message(_, _)) => answers = true,
                    Ok(Event::Broken(cause)) => return Err(cause),
                    Ok(Event::InputEnded) => return Err("the server has ended".into()),
                    Ok(Event::Request(_)) => return Err("a request came too early".into()),
                    Err(_) => break,
                }
            }
        }
        Ok(())
    }

    fn perform(&mut self, request: Request) -> Result<(), String> {
        match request {
            Request::Execute { .. } if self.call.is_some() => return Err("two calls at once".into()),
            Request::Execute { id, code, is_silent } => {
                let name = format!("call-{id}");
                self.call = Some(CallOutput::new(name.clone(), id, is_silent, self.plan.limits));
                let content = execute_content(&code, is_silent);
                self.kernel
                    .send(Channel::Shell, &name, "execute_request", &content)
            }
            Request::Interrupt => {
                self.kernel
                    .send(Channel::Control, "interrupt", "interrupt_request", &json!({}))
            }
        }
        .map_err(|error| error.to_string())
    }

    fn apply(&mut self, channel: Channel, message: &Message) -> Result<(), End> {
        let Some(call) = self.call.as_mut().filter(|call| call.request == message.parent) else {
            return Ok(());
        };
        match channel {
            Channel::Output => {
                if let Some(shown) = call.read(message) {
                    report(&shown).map_err(|error| error.to_string())?;
                }
            }
            Channel::Shell if message.kind == "execute_reply" => {
                call.set_reply(message);
                self.replied = Some(Instant::now());
            }
            Channel::Shell | Channel::Control => {}
        }
        self.report_end()
    }

    /// Reports the end of the call, if it has ended. Its processes end before, so that none goes on between two calls.
    ///
    /// # Errors
    ///
    /// If the call ends the session.
    fn report_end(&mut self) -> Result<(), End> {
        let Some(end) = self.call.as_mut().and_then(CallOutput::end) else {
            return Ok(());
        };
        (self.call, self.replied) = (None, None);
        self.kernel.end_others()?;
        match end {
            CallEnd::Reports(reports) => {
                for end in &reports {
                    report(end).map_err(|error| error.to_string())?;
                }
                Ok(())
            }
            CallEnd::Exit(cause) => Err(End {
                cause,
                is_by_code: true,
            }),
        }
    }
}

/// Limits the memory of this process.
fn limit_memory(plan: &KernelPlan) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let messages = plan.limits.message.saturating_mul(MEMORY_PER_MESSAGE);
    let bytes = Some(OWN_MEMORY_BYTES.saturating_add(messages));
    let limit = Rlimit {
        current: bytes,
        // The kernel inherits this limit, and sets its own.
        maximum: getrlimit(Resource::As).maximum,
    };
    if let Err(error) = setrlimit(Resource::As, limit) {
        let _ = writeln!(io::stderr(), "no limit of memory: {error}");
    }
}

/// Makes this process and the kernel, which inherits it, the first to be ended when the system is out of memory.
fn be_ended_first() {
    // A system without that file has no such order.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
}

/// Writes a line to the server.
fn report(report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&line)?;
    output.flush()
}

fn spawn_input_reader(mut input: impl BufRead + Send + 'static, events: SyncSender<Event>) {
    thread::spawn(move || {
        loop {
            let event = match read_line(&mut input) {
                Ok(Some(line)) => match serde_json::from_slice(&line) {
                    Ok(request) => Event::Request(request),
                    Err(error) => Event::Broken(error.to_string()),
                },
                Ok(None) | Err(_) => Event::InputEnded,
            };
            let is_last = !matches!(event, Event::Request(_));
            if events.send(event).is_err() || is_last {
                return;
            }
        }
    });
}

/// Returns the next line; `None` at the end.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    Ok(line.ends_with(b"\n").then_some(line))
}
