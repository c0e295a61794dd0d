//! The Python of the sessions: named in the settings, made by `parlor python setup`, or found by its kernelspec as Jupyter finds
//! it; and the sandbox around it.

use std::{
    ffi::OsString,
    fmt, io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::{process::Command, time::timeout};

use super::{kernelspec, sandbox, setup};
use parlor_base::{
    settings::{PythonSettings, Settings},
    text::single_line,
};

/// The longest time that each question to a Python or to bubblewrap may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum length of what a program said, in an error, in characters.
const MAX_SAID_CHARS: usize = 300;

/// Prints the interpreter, the folders, the version and the packages of an environment.
const DESCRIBE: &str = "import json, os, sys, importlib.util
def find_plotly():
    found = importlib.util.find_spec('plotly')
    script = found and found.origin and os.path.join(os.path.dirname(found.origin), 'package_data', 'plotly.min.js')
    return script if script and os.path.isfile(script) else None
def version(name):
    try:
        import importlib.metadata
        return importlib.metadata.version(name)
    except Exception:
        return None
paths = [p for p in sys.path if p and os.path.isdir(p)]
print(json.dumps({'executable': sys.executable, 'folders': [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix,
    os.path.dirname(os.path.realpath(sys.executable)), *paths],
    'plotly': find_plotly(), 'matplotlib': version('matplotlib'), 'version': sys.version.split()[0], 'has_kernel': importlib.util.find_spec('ipykernel') is not None}))";

/// Folders that a sandbox must not have as a whole, even if a Python is installed in them.
const NEVER_SHOWN: [&str; 9] = [
    "/", "/home", "/root", "/etc", "/var", "/run", "/tmp", "/proc", "/dev",
];

/// A Python with a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    pub interpreter: PathBuf,
    /// The folders outside those of the system. The sandbox shows them.
    pub folders: Vec<PathBuf>,
    pub version: String,
    /// The script of its package Plotly, which draws charts in the page.
    pub plotly: Option<PathBuf>,
    /// The version of its package matplotlib.
    pub matplotlib: Option<String>,
    /// The folder with matplotlib's list of fonts. Making it takes seconds, so no session has to.
    pub fonts: Option<PathBuf>,
    pub sandbox: Sandbox,
}

/// The sandbox of sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sandbox {
    /// Namespaces that bubblewrap makes, at this path.
    Bubblewrap(PathBuf),
    /// Landlock and filters of system calls, where bubblewrap can't make namespaces.
    Landlock,
    /// The settings want none.
    None,
}

impl Sandbox {
    /// Returns the name for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bubblewrap(_) => "bubblewrap",
            Self::Landlock => "Landlock",
            Self::None => "none",
        }
    }
}

/// The reason why there is no Python. The message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    #[error("Python is switched off (setting python.enabled).")]
    Disabled,
    #[error("Sessions of Python need Linux.")]
    OtherSystem,
    #[error(
        "There is no Python with a Jupyter kernel. Run `parlor python setup`, which makes one in Parlor’s data folder, or name one \
         (setting python.interpreter)."
    )]
    NoPython,
    #[error("The Python {} can’t be used: {why} (setting python.interpreter).", path.display())]
    Unusable { path: PathBuf, why: String },
    #[error(
        "The Python {} has no Jupyter kernel. Install it with `{} -m pip install ipykernel`, or run `parlor python setup`.",
        .0.display(),
        .0.display()
    )]
    NoKernel(PathBuf),
    #[error(
        "bubblewrap is missing, which makes the sandbox for Python. Install your system’s package, such as `apt install bubblewrap`, \
         and start Parlor again (setting python.bubblewrap).{0}"
    )]
    NoBubblewrap(NoLandlock),
    #[error(
        "The sandbox for Python can’t be made: {why}. It needs bubblewrap 0.8 and user namespaces; in a container, see docs/python.md.\
         {landlock}"
    )]
    NoSandbox { why: String, landlock: NoLandlock },
    #[error(
        "A session of Python can’t be had here: {0}. See docs/python.md, correct that, and start Parlor again."
    )]
    NoSession(String),
}

/// The reason why there is no sandbox of Landlock either; `None` if the settings do not want one.
#[derive(Debug, Default)]
pub struct NoLandlock(Option<String>);

impl fmt::Display for NoLandlock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(why) => write!(formatter, " Landlock, which could take its place, can’t: {why}."),
            None => Ok(()),
        }
    }
}

#[derive(Deserialize)]
struct Description {
    executable: PathBuf,
    folders: Vec<PathBuf>,
    version: String,
    plotly: Option<PathBuf>,
    matplotlib: Option<String>,
    has_kernel: bool,
}

impl Environment {
    /// Finds the Python of the settings, and checks its sandbox.
    ///
    /// # Errors
    ///
    /// If something is missing.
    pub async fn find(settings: &Settings) -> Result<Self, Missing> {
        let python = &settings.python;
        if !python.enabled {
            return Err(Missing::Disabled);
        }
        if cfg!(not(target_os = "linux")) {
            return Err(Missing::OtherSystem);
        }
        let interpreter = find_interpreter(settings).ok_or(Missing::NoPython)?;
        let mut environment = Self::describe(&interpreter, settings.server.data()).await?;
        if !python.unsandboxed {
            environment.choose_sandbox(python).await?;
        }
        Ok(environment)
    }

    /// Returns the name for people.
    pub fn name(&self) -> String {
        format!("Python {} ({})", self.version, self.interpreter.display())
    }

    /// Asks a Python what it consists of.
    async fn describe(interpreter: &Path, data: &Path) -> Result<Self, Missing> {
        let unusable = |why: String| Missing::Unusable {
            path: interpreter.into(),
            why,
        };
        let program = std::path::absolute(interpreter).map_err(|error| unusable(error.to_string()))?;
        let asked = run(program.into_os_string(), &["-c".into(), DESCRIBE.into()]).await;
        let output = asked.map_err(|error| unusable(error.to_string()))?;
        if !output.status.success() {
            return Err(unusable(last_line(&output)));
        }
        let described: Description =
            serde_json::from_slice(&output.stdout).map_err(|error| unusable(error.to_string()))?;
        if !described.has_kernel {
            return Err(Missing::NoKernel(interpreter.into()));
        }
        Ok(Self {
            folders: shown_folders(described.folders, data),
            interpreter: described.executable,
            version: described.version,
            plotly: described.plotly,
            matplotlib: described.matplotlib,
            fonts: None,
            sandbox: Sandbox::None,
        })
    }

    /// Takes bubblewrap if it works, else Landlock.
    async fn choose_sandbox(&mut self, settings: &PythonSettings) -> Result<(), Missing> {
        let bubblewrap = kernelspec::in_path(&settings.bubblewrap.to_string_lossy());
        let why = match bubblewrap {
            None => None,
            Some(program) => {
                self.sandbox = Sandbox::Bubblewrap(program);
                match self.probe(settings).await {
                    Ok(()) => return Ok(()),
                    Err(why) => Some(why),
                }
            }
        };
        let landlock = match settings.landlock {
            false => NoLandlock::default(),
            true => {
                self.sandbox = Sandbox::Landlock;
                match self.probe(settings).await {
                    Ok(()) => return Ok(()),
                    Err(why) => NoLandlock(Some(why)),
                }
            }
        };
        Err(match why {
            None => Missing::NoBubblewrap(landlock),
            Some(why) => Missing::NoSandbox { why, landlock },
        })
    }

    /// Starts the Python in its sandbox. Returns the reason if that fails.
    async fn probe(&self, settings: &PythonSettings) -> Result<(), String> {
        let command = sandbox::probe_command(self, settings);
        let [program, arguments @ ..] = &command[..] else {
            return Err("there is no command".into());
        };
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        match run(program.into(), &arguments).await {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(last_line(&output)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Returns the path of the Python to use.
fn find_interpreter(settings: &Settings) -> Option<PathBuf> {
    if let Some(interpreter) = &settings.python.interpreter {
        let found = kernelspec::in_path(&interpreter.to_string_lossy());
        return Some(found.unwrap_or_else(|| interpreter.clone().into()));
    }
    let own = setup::interpreter(settings.server.data());
    if own.is_file() {
        return Some(own);
    }
    kernelspec::find_interpreter(&settings.python.kernel)
}

/// Returns the folders that the sandbox shows besides those of the system: each once, and none within another. None contains
/// the data folder, as that of a project could which a Python has installed in place.
fn shown_folders(folders: Vec<PathBuf>, data: &Path) -> Vec<PathBuf> {
    let data = data.canonicalize().or_else(|_| std::path::absolute(data));
    let is_shown = |path: &PathBuf| {
        let is_system = path.starts_with("/usr") || path.starts_with("/lib") || path.starts_with("/bin");
        let is_home = std::env::home_dir().is_some_and(|home| *path == home);
        path.is_absolute()
            && !is_system
            && !is_home
            && !NEVER_SHOWN.iter().any(|never| path == Path::new(never))
            && !data.as_ref().is_ok_and(|data| data.starts_with(path))
    };
    let mut shown: Vec<PathBuf> = folders.into_iter().filter(is_shown).collect();
    shown.sort();
    // A folder comes right before those within it.
    shown.dedup_by(|inner, outer| inner.starts_with(outer));
    shown
}

/// Runs a program without input. Its environment is empty.
pub(super) async fn run(program: OsString, arguments: &[OsString]) -> io::Result<Output> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let output = timeout(PROBE_TIMEOUT, command.output()).await;
    output.unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "it did not end")))
}

pub(super) fn last_line(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    single_line(last.unwrap_or("it failed"), MAX_SAID_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandbox_shows_only_folders_of_python() {
        let folders = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let all = folders(&[
            "/opt/science/lib",
            "/usr/lib/python3",
            "/opt/science",
            "/",
            "/home",
            "/tmp",
            "/opt/science-2",
            "relative",
            "/opt/science",
            "/srv/parlor",
            "/srv/parlor/data/python/venv",
        ]);
        let shown = shown_folders(all, Path::new("/srv/parlor/data"));
        let expected = ["/opt/science", "/opt/science-2", "/srv/parlor/data/python/venv"];
        assert_eq!(shown, folders(&expected));
    }
}
