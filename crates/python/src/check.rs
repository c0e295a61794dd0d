//! The check of a whole session, before Python is offered: one call in a sandbox, as those of models. What works is remembered until the
//! interpreter, bubblewrap, the place of the data or the use of a cgroup is another one. With it, the list of fonts for all sessions is made.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tokio::fs;

use super::{
    cgroup::{SessionGroup, SessionGroups, session_group},
    environment::{self, Environment, Missing, Sandbox},
    folders::Folders,
    sandbox,
    session::{Session, SessionError},
    share::MemoryGauge,
};
use parlor_base::settings::Settings;

/// The code of the call, and what it shows.
const CODE: &str = "print(6 * 7)";
const SHOWN: &str = "42";

/// The beginning of the name of matplotlib's list of fonts.
const FONT_LIST: &str = "fontlist";

/// Everything on which the result depends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Checked {
    parlor: String,
    interpreter: PathBuf,
    version: String,
    matplotlib: Option<String>,
    sandbox: Sandbox,
    bubblewrap_version: String,
    has_cgroup: bool,
    data: PathBuf,
}

/// Checks a session of this Python, unless the same one has been checked before. Returns the Python with the list of fonts.
///
/// # Errors
///
/// If a session can't be had.
pub async fn check_session(
    mut environment: Environment,
    settings: &Settings,
    groups: Option<&SessionGroups>,
) -> Result<Environment, Missing> {
    let folder = settings.server.data().join("python");
    let fonts = folder.join("fonts");
    let remembered = remembered(settings);
    let checked = Checked::describe(&environment, settings, groups.is_some()).await;
    if read(&remembered).await.as_ref() != Some(&checked) {
        if environment.matplotlib.is_some()
            && let Err(why) = make_fonts(&environment, settings, &fonts).await
        {
            tracing::warn!(
                "matplotlib's list of fonts can't be made, so each Python session makes its own: {why}"
            );
        }
        let group = session_group(groups);
        let run = run_cell(&environment, settings, &folder.join("sessions"), group).await;
        run.map_err(Missing::NoSession)?;
        if let Err(error) = write(&remembered, &checked).await {
            tracing::warn!(%error, "the check of a Python session can't be remembered");
        }
    }
    environment.fonts = has_list(&fonts).then_some(fonts);
    Ok(environment)
}

/// Forgets an earlier check, so that the next one is made in any case.
pub async fn forget(settings: &Settings) {
    // Without one, there is nothing to forget.
    let _ = fs::remove_file(remembered(settings)).await;
}

fn remembered(settings: &Settings) -> PathBuf {
    settings.server.data().join("python").join("checked.json")
}

impl Checked {
    async fn describe(environment: &Environment, settings: &Settings, has_cgroup: bool) -> Self {
        let bubblewrap_version = match &environment.sandbox {
            Sandbox::Landlock | Sandbox::None => String::new(),
            Sandbox::Bubblewrap(program) => {
                let program = program.clone().into_os_string();
                let said = environment::run(program, &["--version".into()]).await;
                said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
                    .unwrap_or_default()
            }
        };
        Self {
            parlor: env!("CARGO_PKG_VERSION").into(),
            interpreter: environment.interpreter.clone(),
            version: environment.version.clone(),
            matplotlib: environment.matplotlib.clone(),
            sandbox: environment.sandbox.clone(),
            bubblewrap_version,
            has_cgroup,
            data: settings.server.data().to_owned(),
        }
    }
}

async fn read(path: &Path) -> Option<Checked> {
    serde_json::from_slice(&fs::read(path).await.ok()?).ok()
}

async fn write(path: &Path, checked: &Checked) -> io::Result<()> {
    fs::write(path, serde_json::to_vec(checked)?).await
}

/// Runs one call in a session. Returns the reason why there is none.
async fn run_cell(
    environment: &Environment,
    settings: &Settings,
    folder: &Path,
    group: Option<SessionGroup>,
) -> Result<(), String> {
    let folders = Folders::create(folder, &environment.sandbox).map_err(|error| error.to_string())?;
    let cause = |error: SessionError| match error {
        SessionError::NotStarted(cause) | SessionError::Ended(cause) => cause,
        error => error.to_string(),
    };
    let memory = MemoryGauge::default();
    let session = Session::start(environment, &settings.python, folders, group, memory)
        .await
        .map_err(cause)?;
    let output = session.execute(CODE, false, |_| {}).await.map_err(cause)?;
    match output.text() {
        text if text == SHOWN => Ok(()),
        text => Err(format!(
            "it shows “{}”",
            parlor_base::text::single_line(&text, 200)
        )),
    }
}

/// Makes the list of fonts anew.
async fn make_fonts(environment: &Environment, settings: &Settings, folder: &Path) -> Result<(), String> {
    let remade = async {
        match fs::remove_dir_all(folder).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir_all(folder).await,
        }
    };
    remade.await.map_err(|error| error.to_string())?;
    // Without a sandbox, code could change a list for all.
    if settings.python.unsandboxed {
        return Ok(());
    }
    let command = sandbox::fonts_command(environment, &settings.python, folder);
    let [program, arguments @ ..] = &command[..] else {
        return Err("there is no command".into());
    };
    let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
    match environment::run(program.into(), &arguments).await {
        Ok(output) if output.status.success() && has_list(folder) => Ok(()),
        Ok(output) => Err(environment::last_line(&output)),
        Err(error) => Err(error.to_string()),
    }
}

fn has_list(folder: &Path) -> bool {
    let Ok(files) = std::fs::read_dir(folder) else {
        return false;
    };
    files
        .flatten()
        .any(|file| file.file_name().to_string_lossy().starts_with(FONT_LIST))
}
