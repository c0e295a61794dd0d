//! `parlor python setup`: makes a virtual environment for sessions in the data folder.

use std::{
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
};

use tokio::{fs, process::Command};

/// The packages of the environment.
const PACKAGES: [&str; 8] = [
    "ipykernel",
    "pandas",
    "numpy",
    "matplotlib",
    "plotly",
    "pyarrow",
    "openpyxl",
    // For styled tables of pandas.
    "jinja2",
];

/// Packages that are left out where they can't be installed.
const OPTIONAL_PACKAGES: [&str; 2] = ["altair", "vl-convert-python"];

/// The reason why the environment could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(
        "{python} can't be started: {cause}. Install Python 3.10 or newer, such as `apt install python3-venv`, or name it: `parlor python setup \
         --python PATH`"
    )]
    NoPython { python: String, cause: io::Error },
    #[error(
        "{python} can't make a virtual environment. Install its module venv, such as `apt install python3-venv`, and try again"
    )]
    NoVenv { python: String },
    #[error("the packages could not be installed; pip says why above. Try again when the network is back")]
    NoPackages,
    #[error("the folder {} can't be used: {cause}", path.display())]
    Folder { path: PathBuf, cause: io::Error },
}

/// Returns the folder of the environment.
fn folder(data: &Path) -> PathBuf {
    data.join("python").join("venv")
}

/// Returns the Python of the environment, whether or not there is one.
pub fn interpreter(data: &Path) -> PathBuf {
    folder(data).join("bin").join("python")
}

/// Makes the environment, or updates its packages. `say` is told each step; the programs write to the terminal.
///
/// # Errors
///
/// If a program is missing or fails. What was installed is kept, so another attempt goes on from there.
pub async fn run(data: &Path, python: &str, mut say: impl FnMut(&str)) -> Result<PathBuf, SetupError> {
    let folder = folder(data);
    let cannot = |cause| SetupError::Folder {
        path: folder.clone(),
        cause,
    };
    fs::create_dir_all(&folder).await.map_err(cannot)?;
    let interpreter = interpreter(data);
    if !interpreter.is_file() {
        say(&format!("making a virtual environment in {}", folder.display()));
        let arguments = ["-m".into(), "venv".into(), folder.display().to_string()];
        let made = run_program(python, &arguments).await;
        let made = made.map_err(|cause| SetupError::NoPython {
            python: python.into(),
            cause,
        })?;
        if !made.success() {
            return Err(SetupError::NoVenv {
                python: python.into(),
            });
        }
    }
    say(&format!("installing {}", PACKAGES.join(", ")));
    if !install(&interpreter, &PACKAGES).await.map_err(cannot)?.success() {
        return Err(SetupError::NoPackages);
    }
    say(&format!("installing {}", OPTIONAL_PACKAGES.join(", ")));
    if !install(&interpreter, &OPTIONAL_PACKAGES)
        .await
        .map_err(cannot)?
        .success()
    {
        say("these are not there for this system; charts of Altair will not be shown");
    }
    Ok(interpreter)
}

async fn install(interpreter: &Path, packages: &[&str]) -> io::Result<ExitStatus> {
    let options = ["-m", "pip", "install", "--upgrade", "--disable-pip-version-check"];
    let arguments: Vec<String> = options
        .iter()
        .chain(packages)
        .map(|word| (*word).into())
        .collect();
    run_program(&interpreter.display().to_string(), &arguments).await
}

async fn run_program(program: &str, arguments: &[String]) -> io::Result<ExitStatus> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .status()
        .await
}
