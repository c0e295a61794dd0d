//! What Parlor uses besides itself: model servers, Python, databases, MCP servers.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use parlor_databases::Databases;
use parlor_providers::{BUILT_IN_ENDPOINT, Models, endpoint_name};
use parlor_python::{Python, PythonState, Sandbox};
use parlor_tools::{ToolProvider, mcp};
use tokio::time::timeout;

use super::Finding;

/// The longest wait for each of them.
const SERVICE_TIMEOUT: Duration = Duration::from_secs(20);

/// The services of a server, or those that its settings would give it.
#[derive(Clone)]
pub struct Services {
    pub models: Arc<Models>,
    pub databases: Databases,
    pub mcp: Arc<mcp::Servers>,
    pub python: PythonState,
}

/// The services of the running server, besides its models.
pub struct ServerServices {
    pub databases: Databases,
    pub mcp: Arc<mcp::Servers>,
    pub python: Python,
}

impl ServerServices {
    /// Returns them as they are now.
    pub fn now(&self, models: Arc<Models>) -> Services {
        Services {
            models,
            databases: self.databases.clone(),
            mcp: self.mcp.clone(),
            python: self.python.state(),
        }
    }
}

pub async fn check(services: Services) -> Vec<Finding> {
    let Services {
        models,
        databases,
        mcp,
        python,
    } = services;
    let (models, databases, servers) = tokio::join!(
        check_models(&models),
        check_databases(&databases),
        check_mcp(&mcp)
    );
    let mut findings = vec![models, check_python(&python)];
    findings.extend(databases);
    findings.extend(servers);
    findings
}

async fn check_models(models: &Models) -> Finding {
    const SUBJECT: &str = "Models";
    let Ok(list) = timeout(SERVICE_TIMEOUT, models.list()).await else {
        return Finding::fails(
            SUBJECT,
            "No model server has answered yet.",
            "Look at the log, and check the URLs of the model servers.",
        );
    };
    let of_servers = list
        .models
        .iter()
        .filter(|model| endpoint_name(&model.id) != BUILT_IN_ENDPOINT);
    let count = of_servers.count();
    let found = match count {
        0 => "No model of a server.".to_owned(),
        1 => "One model.".to_owned(),
        _ => format!("{count} models."),
    };
    if let Some(problem) = list.problems.first() {
        let text = format!("{found} {}", problem.message);
        return match count {
            0 => Finding::fails(SUBJECT, text, problem.hint.clone()),
            _ => Finding::warning(SUBJECT, text, problem.hint.clone()),
        };
    }
    match count {
        0 => Finding::warning(
            SUBJECT,
            "No model server is connected; a scripted tour answers.",
            "Add one in the page (Settings, Models), or set a key such as OPENAI_API_KEY.",
        ),
        _ => Finding::works(SUBJECT, found),
    }
}

fn check_python(python: &PythonState) -> Finding {
    const SUBJECT: &str = "Python";
    match python {
        PythonState::Found(name, Sandbox::None) => Finding::warning(
            SUBJECT,
            format!("{name}, without a sandbox: the assistant’s code has all rights of Parlor."),
            "Install bubblewrap, and remove python.unsandboxed from the settings.",
        ),
        PythonState::Found(name, Sandbox::Landlock) => Finding::warning(
            SUBJECT,
            format!(
                "{name}, in the sandbox of Landlock. It opens nothing outside its folders, but is weaker than bubblewrap’s: code can ask \
                 for names, sizes and times of files and for the numbers of processes, and its limits of memory and files have a delay."
            ),
            "Nothing has to be done. Where namespaces can be made, install bubblewrap 0.8 (docs/python.md); python.landlock = false \
             switches this sandbox off.",
        ),
        PythonState::Found(name, Sandbox::Bubblewrap(_)) => {
            Finding::works(SUBJECT, format!("{name}, in the sandbox of bubblewrap."))
        }
        PythonState::Off => Finding::off(SUBJECT, "Switched off (setting python.enabled)."),
        PythonState::Missing(why) => Finding::off(SUBJECT, why.clone()),
        PythonState::Unknown => Finding::off(SUBJECT, "It is still being looked for."),
    }
}

async fn check_databases(databases: &Databases) -> Vec<Finding> {
    const SUBJECT: &str = "Database";
    if databases.all().is_empty() {
        return vec![Finding::off(SUBJECT, "The settings name none for the assistant.")];
    }
    let checks = databases.all().iter().map(async |database| {
        let name = database.name();
        match timeout(SERVICE_TIMEOUT, database.report()).await {
            Ok(Ok(report)) if report.dangers.is_empty() => {
                Finding::works(SUBJECT, format!("“{name}” can be read."))
            }
            Ok(Ok(report)) => Finding::warning(
                SUBJECT,
                format!("“{name}” can be read. {}.", report.dangers.join("; ")),
                "Give it a role that may only read: `parlor database role` prints the SQL.",
            ),
            Ok(Err(error)) => Finding::fails(
                SUBJECT,
                format!("“{name}” can’t be read: {error}"),
                format!("Correct “{name}” under [[databases]] in the settings, and start Parlor again."),
            ),
            Err(_) => Finding::fails(
                SUBJECT,
                format!("“{name}” does not answer."),
                format!("Check the server of “{name}”, and the way to it."),
            ),
        }
    });
    join_all(checks).await
}

async fn check_mcp(servers: &mcp::Servers) -> Vec<Finding> {
    const SUBJECT: &str = "MCP server";
    let _ = timeout(SERVICE_TIMEOUT, servers.wait_until_settled()).await;
    let states = servers.states();
    if states.is_empty() {
        return vec![Finding::off(SUBJECT, "The settings name none.")];
    }
    let finding = |(name, state): (String, Result<usize, mcp::Unavailable>)| match state {
        Ok(tools) => Finding::works(SUBJECT, format!("“{name}” offers {tools} tools.")),
        Err(mcp::Unavailable::Starting) => Finding::fails(
            SUBJECT,
            format!("“{name}” has not answered yet."),
            format!("Check the command or URL of “{name}” under [[mcp]] in the settings."),
        ),
        Err(mcp::Unavailable::Failed(error)) => Finding::fails(SUBJECT, error.message, error.hint),
    };
    states.into_iter().map(finding).collect()
}
