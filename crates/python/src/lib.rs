//! Python for models: one session for each conversation, in a sandbox, restored from the log when it is gone.
//!
//! - [`environment`], [`kernelspec`], [`setup`]: the Python of the sessions; [`mod@check`]: the check of a whole session
//! - [`sandbox`]: the commands that start a kernel in bubblewrap or under Landlock; [`folders`]: the folders of a session outside
//! - [`cgroup`]: limits of the system for sessions, where Parlor may set some
//! - [`helper`]: the process between the server and a kernel; [`wire`]: their lines; [`process`]: the server's side
//! - [`session`]: the calls of one conversation; [`sessions`]: those of all, with their number and their memory ([`share`])
//! - [`names`]: the usual names of packages
//! - [`output`]: what a call shows; [`chart`]: a chart in it; [`cell`]: a finished call for a notebook
//! - [`frame`]: tables for a session; [`attached`]: files for it
//! - [`state`]: what is known of the Python, for operators
//! - [`tools`]: the model's tools

mod attached;
mod cell;
mod cgroup;
mod chart;
mod check;
mod environment;
mod folders;
mod frame;
#[cfg(target_os = "linux")]
mod helper;
mod kernelspec;
mod names;
mod output;
mod process;
mod sandbox;
mod session;
mod sessions;
pub mod setup;
mod share;
mod state;
mod tools;
mod wire;

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::json;
use tokio::sync::watch;

pub use self::{
    cell::{Cell, CellError},
    environment::{Missing, Sandbox},
    frame::{ColumnType, Frame, StoredFrame, ValueKind, is_valid_name},
    names::UsedName,
    output::Output,
    state::{PythonState, find},
    tools::{ExecuteCode, JupyterNotebook},
};
use self::{
    cgroup::SessionGroups,
    environment::Environment,
    frame::load_code,
    output::CodeError,
    session::{Session, SessionError},
    sessions::Sessions,
};
use parlor_base::settings::{PythonSettings, Settings};
use parlor_files::Files;
use parlor_protocol::{Attachment, ConversationId, RunError, UserId};
use parlor_tools::{
    AnyTool, SessionHold, SessionKeeper, StepId, Tool, ToolContext, ToolError, ToolProvider, any_tool,
};

/// The names of the tools that run code.
const TOOL_NAMES: [&str; 2] = [ExecuteCode::NAME, JupyterNotebook::NAME];

/// Python for all conversations. Clones refer to the same sessions.
#[derive(Clone)]
pub struct Python(Arc<Inner>);

struct Inner {
    settings: PythonSettings,
    /// The Python, or the reason why there is none; `None` until that is known.
    environment: watch::Receiver<Option<Result<Environment, Arc<Missing>>>>,
    sessions: Sessions,
    files: Files,
}

/// The script of the package Plotly, once the Python is found.
#[derive(Clone)]
pub struct PlotlyScript(watch::Receiver<Option<Result<Environment, Arc<Missing>>>>);

impl PlotlyScript {
    /// Returns its path; `None` if there is no such package. Waits until that is known.
    pub async fn path(&self) -> Option<PathBuf> {
        let mut environment = self.0.clone();
        match &*environment.wait_for(Option::is_some).await.ok()? {
            Some(Ok(environment)) => environment.plotly.clone(),
            _ => None,
        }
    }
}

impl From<SessionError> for ToolError {
    fn from(error: SessionError) -> Self {
        Self::new(error)
    }
}

/// Runs the helper process of a session, which is this program with a subcommand.
#[cfg(target_os = "linux")]
pub fn run_helper() -> ExitCode {
    helper::run()
}

/// Runs the process that keeps those of a session under Landlock: `rules` as JSON, `command` starts the kernel.
#[cfg(target_os = "linux")]
pub fn run_keeper(rules: &str, command: &[String]) -> ExitCode {
    helper::keep(rules, command)
}

/// Confines this process by Landlock and a filter of system calls, then becomes a command. `variables` are added to the environment, as
/// `NAME=VALUE`. Returns only if that fails.
#[cfg(target_os = "linux")]
pub fn run_confined(rules: &str, variables: &[String], command: &[String]) -> ExitCode {
    helper::confine(rules, variables, command)
}

/// Returns the number of the system call that adds a filter, and the filter that seals a session under Landlock.
#[cfg(target_os = "linux")]
fn seal() -> Option<(i64, Vec<u8>)> {
    helper::seal()
}

#[cfg(not(target_os = "linux"))]
pub fn run_helper() -> ExitCode {
    ExitCode::FAILURE
}

#[cfg(not(target_os = "linux"))]
pub fn run_keeper(_rules: &str, _command: &[String]) -> ExitCode {
    ExitCode::FAILURE
}

#[cfg(not(target_os = "linux"))]
pub fn run_confined(_rules: &str, _variables: &[String], _command: &[String]) -> ExitCode {
    ExitCode::FAILURE
}

#[cfg(not(target_os = "linux"))]
fn seal() -> Option<(i64, Vec<u8>)> {
    None
}

/// Looks for a Python and its sandbox, and tries a session. Returns its name.
///
/// # Errors
///
/// If something is missing. The message says what to do.
pub async fn check(settings: &Settings) -> Result<String, Missing> {
    let found = Environment::find(settings).await?;
    check::forget(settings).await;
    let found = check::check_session(found, settings, None).await?;
    Ok(found.name())
}

impl Python {
    /// Looks for a Python in the background, and ends idle sessions and those that take too much memory. Where sessions get cgroups, it
    /// moves this process into one, and has to be called before others are started.
    pub fn start(settings: &Settings, files: Files) -> Self {
        let (sender, environment) = watch::channel(None);
        let folder = settings.server.data().join("python").join("sessions");
        let groups = SessionGroups::of_system(&settings.python);
        let python = Self(Arc::new(Inner {
            settings: settings.python.clone(),
            environment,
            sessions: Sessions::new(folder, settings.python.clone(), groups.clone()),
            files,
        }));
        let settings = settings.clone();
        tokio::spawn(async move {
            let found = match Environment::find(&settings).await {
                Ok(environment) if settings.python.is_checked => {
                    check::check_session(environment, &settings, groups.as_ref()).await
                }
                found => found,
            };
            match &found {
                Ok(environment) => tracing::info!(
                    version = environment.version,
                    sandbox = environment.sandbox.name(),
                    has_cgroups = groups.is_some(),
                    "Python is offered to models: {}",
                    environment.interpreter.display()
                ),
                Err(Missing::Disabled) => {}
                Err(missing @ Missing::NoSession(_)) => {
                    tracing::error!("Python is not offered to models: {missing}");
                }
                Err(missing) => tracing::info!("Python is not offered to models: {missing}"),
            }
            sender.send_replace(Some(found.map_err(Arc::new)));
        });
        python.0.sessions.end_superfluous_ones();
        python
    }

    /// Returns `true` if there is a Python, as far as known.
    pub fn is_available(&self) -> bool {
        matches!(*self.0.environment.borrow(), Some(Ok(_)))
    }

    /// Returns what is known of it.
    pub fn state(&self) -> PythonState {
        self.0.environment.borrow().as_ref().into()
    }

    /// Returns the number of sessions.
    pub fn session_count(&self) -> usize {
        self.0.sessions.count()
    }

    /// Returns the script that draws its charts.
    pub fn plotly_script(&self) -> PlotlyScript {
        PlotlyScript(self.0.environment.clone())
    }

    /// Returns `true` if it runs in a sandbox.
    fn is_sandboxed(&self) -> bool {
        !self.0.settings.unsandboxed
    }

    fn environment(&self) -> Result<Environment, SessionError> {
        match &*self.0.environment.borrow() {
            Some(Ok(environment)) => Ok(environment.clone()),
            Some(Err(missing)) => Err(SessionError::NotStarted(missing.to_string())),
            None => Err(SessionError::NotStarted("it is still being looked for".into())),
        }
    }

    /// Returns the session of a call's conversation, with the files of its branch. It is started if there is none.
    async fn session(&self, call: &ToolContext) -> Result<Session, ToolError> {
        let session = self.0.sessions.get_or_start(call, || self.environment()).await?;
        let mut placed = Vec::new();
        for file in session.missing_files(&call.files) {
            match self.place_file(&session, call.user_id, file).await {
                Ok(true) => placed.push(file),
                // It was deleted meanwhile.
                Ok(false) => {}
                Err(error) => session.note(format!(
                    "The attached file {} is not in the working folder: {error}.",
                    file.name
                )),
            }
        }
        if !placed.is_empty() {
            session.link_files(&placed).await?;
        }
        Ok(session)
    }

    /// Places the content of a file where a session can read it. Returns `false` if the file is gone.
    async fn place_file(&self, session: &Session, user_id: UserId, file: &Attachment) -> io::Result<bool> {
        let stored = self.0.files.find(user_id, file.id).await.map_err(|error| {
            tracing::error!(%error, "an attached file can't be read");
            io::Error::other("it can’t be read just now")
        })?;
        let Some(stored) = stored else {
            return Ok(false);
        };
        let path = session.path_of_file(file.id).await?;
        // Without a sandbox, a link could be written to.
        let placed = self
            .0
            .files
            .place_content(stored.location, path, self.is_sandboxed());
        placed.await.map(|()| true)
    }

    /// Executes code in the session of a call's conversation, which is started if there is none. Dropping the future interrupts
    /// it.
    pub async fn execute(&self, call: &ToolContext, code: &str) -> Result<Output, ToolError> {
        let session = self.session(call).await?;
        let report = |tail: &str| call.progress.report("output", tail, None);
        let executed = session.execute(code, false, report).await;
        if let Err(SessionError::EndedByCall { is_by_code: true, .. }) = &executed {
            self.0.sessions.add_fatal_step(call);
        }
        let mut output = executed?;
        output.notes = session.take_notes();
        if output.error.as_ref().is_none_or(CodeError::has_run) {
            self.0.sessions.add_step(call);
        }
        Ok(output)
    }

    /// Executes the code of a finished call again. It counts as a step in any case.
    async fn replay(&self, call: &ToolContext, code: &str) -> Result<Output, ToolError> {
        let output = self.execute(call, code).await?;
        if !output.error.as_ref().is_none_or(CodeError::has_run) {
            self.0.sessions.add_step(call);
        }
        Ok(output)
    }

    /// Returns the time limit of a call: the start of a session, and the code.
    pub fn call_timeout(&self) -> Duration {
        let settings = &self.0.settings;
        settings.start_timeout * 2 + settings.call_timeout * 2
    }

    /// Loads a table as a data frame into the session of a call's conversation. The name is valid.
    pub async fn load_frame(&self, call: &ToolContext, name: &str, frame: &Frame) -> Result<(), ToolError> {
        let session = self.session(call).await?;
        let content = serde_json::to_vec(frame).map_err(ToolError::new)?;
        let given = session.give_file(content).await;
        let (path, _file) = given.map_err(rows_not_given)?;
        self.load(call, &session, &path, name).await
    }

    /// Loads a table whose rows are in a file. See [`load_frame`](Self::load_frame).
    pub async fn load_stored_frame(
        &self,
        call: &ToolContext,
        name: &str,
        frame: &StoredFrame,
    ) -> Result<(), ToolError> {
        let session = self.session(call).await?;
        // Without a sandbox, a link could be written to.
        let given = session.place_file(&frame.file, self.is_sandboxed()).await;
        let (file, _rows) = given.map_err(rows_not_given)?;
        let about = json!({ "columns": frame.columns, "types": frame.types, "file": file });
        let given = session.give_file(about.to_string().into_bytes()).await;
        let (path, _file) = given.map_err(rows_not_given)?;
        self.load(call, &session, &path, name).await
    }

    async fn load(
        &self,
        call: &ToolContext,
        session: &Session,
        path: &Path,
        name: &str,
    ) -> Result<(), ToolError> {
        let code = load_code(&path.to_string_lossy(), name);
        let output = session.execute(&code, true, |_| {}).await?;
        if let Some(error) = output.error {
            let error = error.summary();
            return Err(ToolError(format!(
                "The data frame could not be made: {error}. It needs pandas."
            )));
        }
        self.0.sessions.add_step(call);
        Ok(())
    }

    /// Ends all sessions.
    pub fn shut_down(&self) {
        self.0.sessions.end_all();
    }
}

fn rows_not_given(error: io::Error) -> ToolError {
    ToolError(format!("The rows could not be written: {error}."))
}

impl SessionKeeper for Python {
    fn is_available(&self) -> bool {
        Python::is_available(self)
    }

    fn taken_steps(&self, conversation_id: ConversationId, steps: &[StepId], files: &[Attachment]) -> usize {
        self.0.sessions.taken_steps(conversation_id, steps, files)
    }

    fn is_fatal_step(&self, conversation_id: ConversationId, step: StepId) -> bool {
        self.0.sessions.is_fatal_step(conversation_id, step)
    }

    fn hold(&self, conversation_id: ConversationId) -> SessionHold {
        Box::new(self.0.sessions.hold(conversation_id))
    }

    fn runs_code(&self, tool: &str) -> bool {
        TOOL_NAMES.contains(&tool)
    }

    fn end(&self, conversation_id: ConversationId) {
        self.0.sessions.end(conversation_id);
    }

    fn forget(&self, conversation_id: ConversationId) {
        self.0.sessions.forget(conversation_id);
    }

    fn end_of_user(&self, user_id: UserId) {
        self.0.sessions.end_of_user(user_id);
    }
}

impl ToolProvider for Python {
    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        Vec::new()
    }

    fn scoped_tools(&self) -> Vec<Arc<dyn AnyTool>> {
        match self.is_available() {
            true => vec![
                any_tool(ExecuteCode(self.clone())),
                any_tool(JupyterNotebook(self.clone())),
            ],
            false => Vec::new(),
        }
    }

    fn may_have(&self, name: &str) -> bool {
        TOOL_NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    fn wait_until_settled(&self) -> BoxFuture<'_, ()> {
        let mut environment = self.0.environment.clone();
        Box::pin(async move {
            // The sender is dropped only after it has sent.
            let _ = environment.wait_for(Option::is_some).await;
        })
    }

    fn unavailable(&self) -> Vec<RunError> {
        match &*self.0.environment.borrow() {
            Some(Err(missing)) if !matches!(**missing, Missing::Disabled) => vec![RunError {
                code: "python_unavailable".into(),
                message: format!("Python, in a sandbox, for calculations and charts: {missing}"),
                hint: String::new(),
            }],
            _ => Vec::new(),
        }
    }
}
