//! The program: reads the command line, starts log and runtime, runs the command, reports its error.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;
use parlor_files::ImageForm;
use parlor_pages::Pages;

use super::{
    Cli, Command, CommandError, CommandWithLog, PythonCommand, data, doctor,
    log::{self, LogForm},
    others, serve,
};
use crate::{
    http,
    server::{self, ServerParts},
};

/// A function that makes the pages of a program.
pub type MakePages = fn(&ServerParts) -> Pages;

/// Runs the command line of a program with these pages: the whole `main` of Parlor, and of a program with a page more. It starts
/// itself for some of its work, such as reading documents, so a program must do nothing
/// before it but `parlor_ui::extension::add_pages`.
pub fn run(pages: MakePages) -> ExitCode {
    let Cli { command, serve } = Cli::parse();
    match command {
        None => run_on_runtime(CommandWithLog::Serve(serve), pages),
        // Before anything else is done: the process has only its limits and the file.
        Some(Command::ReadImage {
            max_pixels,
            memory,
            whole,
        }) => {
            let form = if whole {
                ImageForm::Whole
            } else {
                ImageForm::ForModels
            };
            parlor_files::read_image(max_pixels, memory, form)
        }
        Some(Command::ReadDocument(arguments)) => parlor_files::read_document(arguments),
        Some(Command::ReadTables(arguments)) => parlor_files::read_tables(arguments),
        Some(Command::RunPython) => parlor_python::run_helper(),
        Some(Command::KeepPython { rules, command }) => parlor_python::run_keeper(&rules, &command),
        Some(Command::ConfinePython {
            rules,
            variables,
            command,
        }) => parlor_python::run_confined(&rules, &variables, &command),
        Some(Command::WithLog(command)) => run_on_runtime(command, pages),
    }
}

fn run_on_runtime(command: CommandWithLog, pages: MakePages) -> ExitCode {
    server::return_freed_memory();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .on_thread_start(http::fill_date_cache)
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(run_with_log(command, pages)),
        Err(error) => {
            let _ = writeln!(io::stderr(), "Parlor can't start: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run_with_log(command: CommandWithLog, pages: MakePages) -> ExitCode {
    let form = log::start();
    match run_command(command, pages).await {
        Ok(code) => code,
        Err((what, error)) => {
            match form {
                LogForm::Text => {
                    let _ = writeln!(io::stderr(), "{what}: {error}");
                }
                LogForm::Json => tracing::error!("{what}: {error}"),
            }
            ExitCode::FAILURE
        }
    }
}

/// Runs a command. An error comes with what could not be done.
async fn run_command(
    command: CommandWithLog,
    pages: MakePages,
) -> Result<ExitCode, (&'static str, CommandError)> {
    let (what, done) = match command {
        CommandWithLog::Serve(options) => ("Parlor can't start", serve::start(options, pages).await),
        CommandWithLog::Doctor(options) => {
            let checked = doctor::run(options).await;
            return checked.map_err(|error| ("Parlor can't be checked", error));
        }
        CommandWithLog::Python(PythonCommand::Setup { python, place }) => {
            let made = others::set_up_python(&place.into(), &python).await;
            ("Python can't be set up", made)
        }
        CommandWithLog::Database(command) => ("Parlor can't print the SQL", others::print_role_sql(command)),
        CommandWithLog::Backup { to, verify, place } => {
            let made = data::back_up(&place.into(), &to, verify).await;
            ("The data can't be backed up", made)
        }
        CommandWithLog::Restore { from, verify, place } => {
            let restored = data::restore(&place.into(), &from, verify).await;
            ("The backup can't be restored", restored)
        }
        CommandWithLog::Move { to, place } => (
            "The data can't be moved",
            data::move_data(&place.into(), to).await,
        ),
        CommandWithLog::NewPassword { name, place } => {
            let printed = others::print_password_link(&place.into(), &name).await;
            ("Parlor can't make a link", printed)
        }
    };
    done.map(|()| ExitCode::SUCCESS).map_err(|error| (what, error))
}
