//! A session: its calls, the code that [`prepare`]s it, and the [`task`] that owns its helper process and takes them one after the other.

mod prepare;
mod task;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io,
    sync::{Notify, mpsc, oneshot, watch},
    time::{Instant, timeout},
};

use self::{
    prepare::{FONTS_FOLDER, give_fonts, prepare_code},
    task::Task,
};
use super::{
    attached::{AttachedFiles, link_code},
    cgroup::SessionGroup,
    environment::Environment,
    folders::Folders,
    output::Output,
    process::HelperProcess,
    sandbox,
    share::MemoryGauge,
    wire::Report,
};
use parlor_base::settings::PythonSettings;
use parlor_protocol::{Attachment, AttachmentId, tool::SESSION_ENDED};

/// The folder of attached files among those that the server gives to a session.
const ATTACHED_FOLDER: &str = "attached";

/// The maximum number of calls that wait.
const MAX_QUEUED_CALLS: usize = 64;

/// A handle to the Python session of a conversation, which ends with the last handle.
#[derive(Clone)]
pub struct Session {
    calls: mpsc::Sender<Call>,
    shared: Arc<Shared>,
    call_timeout: Duration,
}

struct Shared {
    /// The folder of the files that the server gives to the session, and its path in the session.
    data: PathBuf,
    visible_data: PathBuf,
    state: Mutex<State>,
    memory: MemoryGauge,
    /// Told when it is to end, also during a call.
    ending: Notify,
}

struct State {
    used_at: Instant,
    /// The end of the session.
    ended: Option<Ended>,
    /// The number of calls that wait or run.
    open_calls: usize,
    next_file: u64,
    files: AttachedFiles,
}

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub cause: String,
    /// True if its code has ended it, and would again.
    pub is_by_code: bool,
    /// True if it ended while a call ran.
    pub is_in_call: bool,
}

impl Ended {
    /// Returns an end for a reason outside of the code.
    fn outside(cause: impl Into<String>) -> Self {
        Self {
            cause: cause.into(),
            is_by_code: false,
            is_in_call: false,
        }
    }
}

/// A call for the session's task. It is interrupted when its receiver is dropped.
struct Call {
    code: String,
    is_silent: bool,
    /// The longest time that it may take.
    limit: Duration,
    /// The end of the text so far.
    progress: watch::Sender<String>,
    result: oneshot::Sender<Result<Output, SessionError>>,
}

/// The reason why a call has no output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    #[error("Python can’t be started: {0}.")]
    NotStarted(String),
    #[error("{SESSION_ENDED}: {0}.")]
    Ended(String),
    #[error(
        "{SESSION_ENDED}: {cause}. What this call had set is lost; the variables of earlier calls are restored for the next one.{}",
        shown_before(output)
    )]
    EndedByCall {
        cause: String,
        is_by_code: bool,
        /// The output that the call had shown.
        output: String,
    },
    #[error(
        "{SESSION_ENDED}: the call took longer than {0} seconds and did not stop (setting python.call_timeout)."
    )]
    Stuck(u64),
    #[error(
        "The call took longer than {0} seconds and was interrupted (setting python.call_timeout). Do it in smaller steps."
    )]
    TimedOut(u64),
}

impl Session {
    /// Starts a session, in a cgroup if there is one. The gauge shows its memory.
    ///
    /// # Errors
    ///
    /// If it can't be started, or does not start in time.
    pub async fn start(
        environment: &Environment,
        settings: &PythonSettings,
        folders: Folders,
        group: Option<SessionGroup>,
        memory: MemoryGauge,
    ) -> Result<Self, SessionError> {
        let not_started = |cause: String| SessionError::NotStarted(cause);
        let plan = sandbox::kernel_plan(environment, settings, &folders.session, group.as_ref());
        let mut helper = HelperProcess::start(settings, &plan, memory.clone())
            .await
            .map_err(|error| not_started(error.to_string()))?;
        // The helper has a limit of its own; this one is for a helper that hangs.
        let limit = settings.start_timeout * 2;
        match timeout(limit, helper.next()).await {
            Ok(Report::Ready) => {}
            Ok(Report::Gone { cause, .. }) => return Err(not_started(cause)),
            Ok(_) | Err(_) => return Err(not_started("its helper process does not answer".into())),
        }
        if let Some(fonts) = &environment.fonts {
            give_fonts(fonts, &folders.session.data.join(FONTS_FOLDER)).await;
        }
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_CALLS);
        let shared = Arc::new(Shared {
            data: folders.session.data.clone(),
            visible_data: match folders.session.outside {
                None => sandbox::DATA_FOLDER.into(),
                Some(_) => folders.session.data.clone(),
            },
            state: Mutex::new(State {
                used_at: Instant::now(),
                ended: None,
                open_calls: 0,
                next_file: 0,
                files: AttachedFiles::default(),
            }),
            memory,
            ending: Notify::new(),
        });
        let task = Task {
            helper,
            shared: Arc::clone(&shared),
            next_id: 0,
            folders,
            group,
        };
        tokio::spawn(task.run(receiver));
        let fonts = shared.visible_data.join(FONTS_FOLDER);
        let session = Self {
            calls: sender,
            shared,
            call_timeout: settings.call_timeout,
        };
        // It is a part of the start, so it has the time of one.
        let prepared = session
            .perform(&prepare_code(&fonts), true, settings.start_timeout, |_| {})
            .await?;
        match prepared.error {
            None => Ok(session),
            Some(error) => Err(not_started(error.to_string())),
        }
    }

    /// Executes code and returns its output. `progress` is told the end of its text so far. Dropping the future interrupts the code.
    pub async fn execute(
        &self,
        code: &str,
        is_silent: bool,
        progress: impl FnMut(&str),
    ) -> Result<Output, SessionError> {
        self.perform(code, is_silent, self.call_timeout, progress).await
    }

    async fn perform(
        &self,
        code: &str,
        is_silent: bool,
        limit: Duration,
        mut progress: impl FnMut(&str),
    ) -> Result<Output, SessionError> {
        let (progress_sender, mut reports) = watch::channel(String::new());
        let (result, mut receiver) = oneshot::channel();
        let call = Call {
            code: code.to_owned(),
            is_silent,
            limit,
            progress: progress_sender,
            result,
        };
        self.shared.state.lock().open_calls += 1;
        let _open = OpenCall(&self.shared);
        if self.calls.send(call).await.is_err() {
            return Err(self.end_cause());
        }
        loop {
            tokio::select! {
                biased;
                result = &mut receiver => return result.unwrap_or_else(|_| Err(self.end_cause())),
                Ok(()) = reports.changed() => progress(&reports.borrow_and_update()),
            }
        }
    }

    /// Writes a file that the session can read. Returns its path in the session; the file is deleted when the guard is dropped.
    pub async fn give_file(&self, content: Vec<u8>) -> io::Result<(PathBuf, GivenFile)> {
        let (path, visible) = self.new_path();
        let guard = GivenFile(path.clone());
        tokio::fs::write(&path, content).await?;
        Ok((visible, guard))
    }

    /// Copies or links a file into the session. See [`give_file`](Self::give_file).
    pub async fn place_file(&self, content: &Path, may_link: bool) -> io::Result<(PathBuf, GivenFile)> {
        let (path, visible) = self.new_path();
        let guard = GivenFile(path.clone());
        if !may_link || tokio::fs::hard_link(content, &path).await.is_err() {
            tokio::fs::copy(content, &path).await?;
        }
        Ok((visible, guard))
    }

    /// Returns the path of a new file, and its path in the session.
    fn new_path(&self) -> (PathBuf, PathBuf) {
        let number = {
            let mut state = self.shared.state.lock();
            state.next_file += 1;
            state.next_file
        };
        let name = format!("{number}.json");
        (self.shared.data.join(&name), self.shared.visible_data.join(name))
    }

    /// Returns those of the files that the session does not have yet.
    pub fn missing_files<'a>(&self, files: &'a [Attachment]) -> Vec<&'a Attachment> {
        self.shared.state.lock().files.missing(files)
    }

    /// Returns `true` if it has been given no other files than these.
    pub fn has_only(&self, files: &[Attachment]) -> bool {
        self.shared.state.lock().files.are_among(files)
    }

    /// Returns the path at which the content of a file is to be placed.
    pub async fn path_of_file(&self, id: AttachmentId) -> io::Result<PathBuf> {
        let folder = self.shared.data.join(ATTACHED_FOLDER);
        tokio::fs::create_dir_all(&folder).await?;
        Ok(folder.join(id.to_string()))
    }

    /// Links files that were placed into the folder in which the session works.
    pub async fn link_files(&self, files: &[&Attachment]) -> Result<(), SessionError> {
        let folder = self.shared.visible_data.join(ATTACHED_FOLDER);
        let output = self.execute(&link_code(&folder, files), true, |_| {}).await?;
        if let Some(error) = &output.error {
            let error = error.summary();
            tracing::warn!("attached files can't be linked in a Python session: {error}");
            self.note(format!("Attached files are not in the working folder: {error}."));
        }
        self.shared.state.lock().files.add(files, &output.text());
        Ok(())
    }

    /// Adds a note for the model about the files.
    pub fn note(&self, note: String) {
        self.shared.state.lock().files.note(note);
    }

    /// Takes the notes for the model about the files.
    pub fn take_notes(&self) -> Vec<String> {
        self.shared.state.lock().files.take_notes()
    }

    /// Ends it for this reason, also during a call.
    pub fn end(&self, cause: String) {
        self.shared
            .state
            .lock()
            .ended
            .get_or_insert_with(|| Ended::outside(cause));
        self.shared.ending.notify_one();
    }

    /// Returns the memory that it takes of the machine, in bytes.
    pub fn memory(&self) -> u64 {
        self.shared.memory.bytes()
    }

    /// Returns `true` if it takes calls.
    pub fn is_alive(&self) -> bool {
        self.shared.state.lock().ended.is_none()
    }

    /// Returns the time of its last use; `None` while a call waits or runs.
    pub fn idle_since(&self) -> Option<Instant> {
        let state = self.shared.state.lock();
        (state.open_calls == 0).then_some(state.used_at)
    }

    /// Returns the reason for which it has ended.
    pub fn end_cause(&self) -> SessionError {
        let ended = self.shared.state.lock().ended.clone();
        SessionError::Ended(ended.map_or_else(|| "it was closed".into(), |ended| ended.cause))
    }

    /// Returns true if its code has ended it after its last call, such as by a timer.
    pub fn was_ended_after_its_calls(&self) -> bool {
        let state = self.shared.state.lock();
        let is_after = |ended: &Ended| ended.is_by_code && !ended.is_in_call;
        state.ended.as_ref().is_some_and(is_after)
    }
}

fn shown_before(output: &str) -> String {
    match output.is_empty() {
        true => String::new(),
        false => format!("\n\n{output}"),
    }
}

/// Counts a call until it is dropped.
struct OpenCall<'a>(&'a Shared);

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.open_calls -= 1;
        state.used_at = Instant::now();
    }
}

/// Deletes a given file when it is dropped.
pub struct GivenFile(PathBuf);

impl Drop for GivenFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
