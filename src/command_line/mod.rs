//! The command line: its commands and options, and what they do.
//!
//! - [`program`]: runtime of the program; [`log`]: its log, in lines for people or as JSON ([`json_log`])
//! - [`serve`]: the server, with which a plain `parlor` starts; [`browser`]: the program that opens its page
//! - [`data`]: backups, their restoration, and moves to another database
//! - [`doctor`]: the check of a machine and its settings
//! - [`others`]: the short commands

mod browser;
mod data;
mod doctor;
mod json_log;
mod log;
mod others;
mod program;
mod serve;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use parlor_base::settings::Overrides;
use parlor_files::{DocumentArguments, TablesArguments};

pub use self::program::{MakePages, run};

type CommandError = Box<dyn std::error::Error>;

/// A self-hosted web chat for LLM agents: one binary, one folder of data, nothing else needed. Without a command, it starts.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, args_override_self = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: ServeOptions,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    WithLog(CommandWithLog),
    /// Read an image from the standard input. Parlor itself runs this.
    #[command(hide = true)]
    ReadImage {
        max_pixels: u64,
        memory: u64,
        /// Keep its size.
        #[arg(long)]
        whole: bool,
    },
    /// Read a document from the standard input. Parlor itself runs this.
    #[command(hide = true)]
    ReadDocument(DocumentArguments),
    /// Read the tables of a file from the standard input. Parlor itself runs this.
    #[command(hide = true)]
    ReadTables(TablesArguments),
    /// Run a Python session. Parlor itself runs this.
    #[command(hide = true)]
    RunPython,
    /// Keep the processes of a Python session under Landlock. Parlor itself runs this.
    #[command(hide = true)]
    KeepPython {
        rules: String,
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// Start a Python under Landlock. Parlor itself runs this.
    #[command(hide = true)]
    ConfinePython {
        rules: String,
        variables: Vec<String>,
        #[arg(last = true)]
        command: Vec<String>,
    },
}

// No doc comment: it would be the text of `--help`.
#[derive(Debug, Subcommand)]
pub enum CommandWithLog {
    /// Start Parlor, print its URL and open it; also what `parlor` alone does.
    #[command(args_override_self = true)]
    Serve(ServeOptions),
    /// Check this machine and the settings: what works, what does not, and how to mend it. Fails if something does not work.
    Doctor(DoctorOptions),
    /// Set up Python for the assistant (docs/python.md).
    #[command(subcommand)]
    Python(PythonCommand),
    /// Help with the databases that the assistant reads (docs/databases.md).
    #[command(subcommand)]
    Database(DatabaseCommand),
    /// Write a backup of all data into a new folder, while Parlor runs (docs/backup.md).
    Backup {
        /// The new folder.
        #[arg(value_name = "FOLDER")]
        to: PathBuf,
        /// Restore it into a scratch folder beside it, and compare all of it.
        #[arg(long)]
        verify: bool,
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Restore a backup into an empty data folder, or an empty Postgres if the settings name one.
    Restore {
        /// The folder of the backup.
        #[arg(value_name = "FOLDER")]
        from: PathBuf,
        /// Only try it, in a scratch folder beside the backup, and compare all of it.
        #[arg(long)]
        verify: bool,
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Copy all data from SQLite into Postgres, or back. Stop Parlor first; the original stays as it is.
    Move {
        /// The address of an empty Postgres, or a folder for SQLite [default: PARLOR_MOVE_TO].
        #[arg(long, value_name = "TARGET")]
        to: Option<String>,
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Print a link with which a user sets a new password, for an administrator who cannot sign in. Stop Parlor first.
    NewPassword {
        /// The name of the account.
        name: String,
        #[command(flatten)]
        place: PlaceOptions,
    },
}

// No doc comments on these structs, as above.
#[derive(Debug, Args)]
pub struct ServeOptions {
    /// The address to listen on, such as localhost:7387; loopback only without accounts [default: 127.0.0.1:7387]. Port 0 takes any free one.
    #[arg(long)]
    pub addr: Option<String>,
    /// The folder for all data [default: $XDG_DATA_HOME/parlor, usually ~/.local/share/parlor].
    #[arg(long)]
    pub data: Option<PathBuf>,
    /// The settings file [default: $XDG_CONFIG_HOME/parlor/parlor.toml, or /etc/parlor/parlor.toml, if there is one].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Do not open a browser. Without this, one is opened if Parlor is started in a terminal of a desktop.
    #[arg(long)]
    pub no_browser: bool,
}

#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// Print JSON, for programs.
    #[arg(long)]
    pub json: bool,
    /// The address that Parlor listens on.
    #[arg(long)]
    pub addr: Option<String>,
    #[command(flatten)]
    pub place: PlaceOptions,
}

#[derive(Debug, Args)]
pub struct PlaceOptions {
    /// The folder for all data [default: $XDG_DATA_HOME/parlor, usually ~/.local/share/parlor].
    #[arg(long)]
    data: Option<PathBuf>,
    /// The settings file [default: $XDG_CONFIG_HOME/parlor/parlor.toml, or /etc/parlor/parlor.toml, if there is one].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl From<PlaceOptions> for Overrides {
    fn from(place: PlaceOptions) -> Self {
        Self {
            file: place.config,
            addr: None,
            data: place.data,
        }
    }
}

// No doc comment, as above.
#[derive(Debug, Subcommand)]
pub enum PythonCommand {
    /// Make a virtual environment in the data folder, with a Jupyter kernel and packages for data.
    Setup {
        /// The Python that makes it.
        #[arg(long, default_value = "python3")]
        python: String,
        #[command(flatten)]
        place: PlaceOptions,
    },
}

// No doc comment, as above.
#[derive(Debug, Subcommand)]
pub enum DatabaseCommand {
    /// Print the SQL that makes a role of Postgres which can only read. Nothing is contacted.
    Role {
        /// A Postgres of the settings, from whose URL role and database are taken.
        name: Option<String>,
        /// The name of the role [default: that of the URL, or reader].
        #[arg(long)]
        role: Option<String>,
        /// The database of the server [default: that of the URL, or postgres].
        #[arg(long)]
        database: Option<String>,
        /// A schema that it may read; can be repeated.
        #[arg(long = "schema", default_value = "public")]
        schemas: Vec<String>,
        /// For a provider's server, where nobody is a superuser.
        #[arg(long)]
        managed: bool,
        /// The settings file [default: $XDG_CONFIG_HOME/parlor/parlor.toml, or /etc/parlor/parlor.toml, if there is one].
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}
