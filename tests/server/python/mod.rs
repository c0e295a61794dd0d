//! Python in its sandbox, with a real kernel. `make test` makes its environment.

mod attached;
mod calls;
mod charts;
pub mod conversations;
mod data;
mod ends;
mod escapes;
mod landlock;
mod limits;
mod memory;
mod notebook;
mod permissions;
mod shown;

use std::{path::PathBuf, sync::Arc, time::Duration};

use parlor_base::settings::Settings;
use parlor_files::Files;
use parlor_journal::Journal;
use parlor_protocol::{ConversationId, MessageId, UserId};
use parlor_python::{Output, Python};
use parlor_storage::{Storage, sqlite::SqliteStorage};
use parlor_tools::{SessionKeeper, StepId, ToolContext, ToolError, ToolProvider};
use serde_json::Value;
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use crate::support::TEST_TIMEOUT;

/// Returns the Python of the tests.
pub fn interpreter() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/test-python/bin/python");
    assert!(
        path.exists(),
        "the environment of Python is missing, for this test: `make test` makes it, or says how"
    );
    path
}

/// Switches Python on.
pub fn enable(settings: &mut Settings) {
    settings.python.enabled = true;
    settings.python.is_checked = false;
    settings.python.interpreter = Some(interpreter().into());
    // Machines may be busy.
    settings.python.start_timeout = TEST_TIMEOUT;
    settings.timeouts.mcp_start = TEST_TIMEOUT;
}

/// Lets the model answer a question with a call, and the result of the call with a text.
pub fn script_call(upstream: &Upstream, question: &str, tool: &str, arguments: &Value) {
    let call = Script::new().tool_call("call_1", tool, arguments.to_string());
    upstream.add_script(When::user_contains(question), call);
    let result = When {
        tool_gave: Some(String::new()),
        ..When::user_contains(question)
    };
    upstream.add_script(result, Script::new().text("That is it."));
}

/// The sandbox of a test's sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bubblewrap,
    Landlock,
    None,
}

impl Kind {
    pub fn choose(self, settings: &mut Settings) {
        settings.python.landlock = self == Self::Landlock;
        settings.python.unsandboxed = self == Self::None;
        if self == Self::Landlock {
            settings.python.bubblewrap = "/no/such/bwrap".into();
        }
    }
}

/// Python without a server.
pub struct Sessions {
    pub python: Python,
    pub folder: tempfile::TempDir,
}

impl Sessions {
    /// Starts it with bubblewrap, unless the change has another sandbox.
    pub async fn start(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.server.data = Some(folder.path().join("data").into());
        settings.python.helper = Some(env!("CARGO_BIN_EXE_parlor").into());
        enable(&mut settings);
        settings.python.landlock = false;
        change(&mut settings);
        let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(settings.server.data()).await.unwrap());
        let (journal, _writer) = Journal::start(storage.clone(), Arc::default());
        let files = Files::open(settings.server.data(), storage, journal, &settings).unwrap();
        let python = Python::start(&settings, files);
        timeout(TEST_TIMEOUT, python.wait_until_settled()).await.unwrap();
        let missing = python.unavailable();
        assert!(missing.is_empty(), "{missing:?}");
        Self { python, folder }
    }

    /// Executes code in a session.
    pub async fn run(&self, session: ConversationId, code: &str) -> Result<Output, ToolError> {
        self.run_as(UserId::LOCAL, session, code).await
    }

    /// Executes code in a session of a user.
    pub async fn run_as(
        &self,
        user_id: UserId,
        session: ConversationId,
        code: &str,
    ) -> Result<Output, ToolError> {
        let step = StepId {
            run: MessageId::new(),
            call: 0,
        };
        let call = ToolContext::for_replay(user_id, session, step, [].into());
        let executed = timeout(TEST_TIMEOUT * 2, self.python.execute(&call, code)).await;
        executed.expect("it ends in time")
    }

    /// Executes code in a session and returns what it shows.
    pub async fn text(&self, session: ConversationId, code: &str) -> String {
        match self.run(session, code).await {
            Ok(output) => output.text(),
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn session_keeps_its_variables() {
    let sessions = Sessions::start(|_| {}).await;
    let (one, other) = (ConversationId::new(), ConversationId::new());
    assert_eq!(sessions.text(one, "x = 6\nprint('set')").await, "set");
    assert_eq!(sessions.text(one, "x * 7").await, "42");
    let error = sessions.text(other, "x").await;
    assert!(
        error.contains("line 1") && error.ends_with("NameError: name 'x' is not defined"),
        "{error}"
    );
    // An exception ends only its call.
    assert_eq!(sessions.text(other, "'on'").await, "'on'");
    sessions.python.shut_down();
    let error = sessions.text(one, "x").await;
    assert!(error.contains("NameError"), "{error}");
}

#[tokio::test]
async fn frames_are_tables_and_plots_are_pictures() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    let table = "import pandas as pd\nprint('before')\npd.DataFrame({'n': [1, 2], 'a|b': ['x', None]})";
    assert_eq!(
        sessions.text(session, table).await,
        "before\n\n| n | a\\|b |\n| ---: | --- |\n| 1 | x |\n| 2 | NaN |\n\n2 rows × 2 columns"
    );
    let plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()";
    let output = sessions.run(session, plot).await.unwrap();
    let pictures: Vec<_> = output.files().collect();
    assert_eq!(pictures.len(), 1, "{}", output.text());
    assert!(pictures[0].data.starts_with(b"\x89PNG"));
    let chart = "import altair\naltair.Chart(pd.DataFrame({'x': [1, 2], 'y': [3, 4]})).mark_bar().encode(x='x', y='y')";
    let output = sessions.run(session, chart).await.unwrap();
    assert_eq!(output.files().count(), 1, "{}", output.text());
}

#[tokio::test]
async fn packages_of_the_setup_work_in_the_sandbox() {
    let sessions = Sessions::start(|_| {}).await;
    let code = "import numpy, pandas, plotly.express, pyarrow, matplotlib
frame = pandas.DataFrame({'n': numpy.arange(100_000), 'word': ['x'] * 100_000})
frame.to_parquet('frame.parquet')
back = pandas.read_parquet('frame.parquet')
numbers = numpy.random.default_rng(0).random((300, 300))
print(back.equals(frame), (numbers @ numpy.linalg.inv(numbers)).trace().round(), len(plotly.express.line(back.head(3), y='n').data))";
    assert_eq!(sessions.text(ConversationId::new(), code).await, "True 300.0 1");
}

#[tokio::test]
async fn calls_of_a_session_wait_for_each_other() {
    let sessions = Arc::new(Sessions::start(|_| {}).await);
    let session = ConversationId::new();
    sessions.text(session, "seen = []").await;
    let calls = (0..4).map(|number| {
        let sessions = Arc::clone(&sessions);
        let code =
            format!("seen.append('begin'); import time; time.sleep(0.05); seen.append('end'); {number}");
        async move { sessions.text(session, &code).await }
    });
    futures::future::join_all(calls).await;
    assert_eq!(
        sessions.text(session, "seen == ['begin', 'end'] * 4").await,
        "True"
    );
}

#[tokio::test]
async fn idle_and_superfluous_sessions_end() {
    let sessions = Sessions::start(|settings| settings.python.sessions = 2).await;
    let ids = [
        ConversationId::new(),
        ConversationId::new(),
        ConversationId::new(),
    ];
    for id in ids {
        sessions.text(id, "x = 1").await;
    }
    // The first was used longest ago.
    assert_eq!(sessions.text(ids[1], "x").await, "1");
    // Those of active runs stay.
    let holds = [ids[1], ids[2]].map(|id| sessions.python.hold(id));
    let error = sessions.run(ids[0], "x").await.unwrap_err().to_string();
    assert!(error.contains("all 2 sessions are busy"), "{error}");
    drop(holds);
    assert!(sessions.text(ids[0], "x").await.contains("NameError"));
    let idle = Sessions::start(|settings| settings.python.idle_time = Duration::from_millis(100)).await;
    let session = ConversationId::new();
    idle.text(session, "x = 1").await;
    let folder = idle.folder.path().join("data/python/sessions");
    let gone = async {
        while std::fs::read_dir(&folder).unwrap().count() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TEST_TIMEOUT, gone).await.expect("it ends");
    assert!(idle.text(session, "x").await.contains("NameError"));
}
