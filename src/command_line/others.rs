//! The commands that do one thing and end: Python's environment, the SQL of a role, a link for a new password.

use std::io::{self, Write};

use crate::app::accounts::links;
use parlor_base::{
    clock,
    settings::{DatabaseUrl, Overrides, Settings},
};
use parlor_databases::{RoleRequest, role_sql};
use parlor_storage::{SqlStorage, Storage, nodes::NodeStorage};

use super::{CommandError, DatabaseCommand, serve::host_to_open};

/// Makes the Python environment, and says whether sessions can be had with it.
pub async fn set_up_python(overrides: &Overrides, python: &str) -> Result<(), CommandError> {
    let settings = Settings::read(overrides, |name| std::env::var(name).ok())?;
    let say = |step: &str| {
        let _ = writeln!(io::stdout(), "Parlor: {step}");
    };
    parlor_python::setup::run(settings.server.data(), python, say).await?;
    let found = parlor_python::check(&settings).await?;
    let _ = writeln!(
        io::stdout(),
        "Parlor: {found} is ready. Start Parlor again to use it"
    );
    Ok(())
}

/// Prints the SQL that makes a role for a database.
pub fn print_role_sql(command: DatabaseCommand) -> Result<(), CommandError> {
    let DatabaseCommand::Role {
        name,
        role,
        database,
        schemas,
        managed,
        config,
    } = command;
    let overrides = Overrides {
        file: config,
        addr: None,
        data: None,
    };
    let needs_settings = name.is_some() || overrides.file.is_some();
    let (data, url) = match Settings::read(&overrides, |name| std::env::var(name).ok()) {
        Ok(settings) => {
            let url = name.map(|name| postgres_url(&settings, &name)).transpose()?;
            (settings.data, url)
        }
        Err(error) if needs_settings => return Err(error.into()),
        // The limits of the default settings do.
        Err(_) => Default::default(),
    };
    let user = url
        .as_ref()
        .map(|url| url.username())
        .filter(|user| !user.is_empty());
    let path = url.as_ref().map(|url| url.path().trim_start_matches('/'));
    let request = RoleRequest {
        role: role.as_deref().or(user).unwrap_or("reader").to_owned(),
        database: database
            .as_deref()
            .or(path.filter(|path| !path.is_empty()))
            .unwrap_or("postgres")
            .to_owned(),
        schemas,
        is_managed: managed,
        timeout: data.query_timeout,
        // A query that nobody waits for is ended by another connection.
        max_connections: data.concurrent_queries * 2,
        max_disk_bytes: data.query_disk_bytes,
    };
    let _ = write!(io::stdout(), "{}", role_sql(&request));
    Ok(())
}

/// Returns the URL of a Postgres of the settings.
fn postgres_url(settings: &Settings, name: &str) -> Result<reqwest::Url, CommandError> {
    let database = settings.databases.iter().find(|database| database.name == name);
    let database = database.ok_or_else(|| format!("the settings have no database “{name}”"))?;
    match database.parsed_url() {
        Some(DatabaseUrl::Postgres(url)) => Ok(url),
        _ => Err(format!("the database “{name}” is no Postgres").into()),
    }
}

/// Prints a link for a new password.
pub async fn print_password_link(overrides: &Overrides, name: &str) -> Result<(), CommandError> {
    clock::check()?;
    let settings = Settings::read(overrides, |name| std::env::var(name).ok())?;
    let data = settings.server.data().display().to_string();
    if !settings.server.data().is_dir() {
        return Err(format!("there is no data in {data}").into());
    }
    let storage = SqlStorage::open_configured(&settings).await.map_err(|error| {
        format!("the data in {data} can't be used: {error}. Stop Parlor first, if it runs")
    })?;
    // Nodes may be at work.
    storage.join().await?;
    let path = links::generate_offline(&storage, name, settings.accounts.link_lifetime).await?;
    storage.leave().await?;
    storage.close().await?;
    let _ = writeln!(
        io::stdout(),
        "Start Parlor and open this address under its name, such as http://{}{path}",
        host_to_open(settings.server.addr)
    );
    Ok(())
}
