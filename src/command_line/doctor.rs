//! The command that checks the machine and the settings, as a table or as JSON.

use std::{
    io::{self, ErrorKind, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use crate::{
    app::{
        Hosts,
        doctor::{Examined, Finding, Listening, Services, Status, examine},
    },
    server::models_config,
};
use parlor_base::{
    secrets::{Secrets, log},
    settings::{Overrides, ServerSettings, Settings},
};
use parlor_databases::Databases;
use parlor_providers::Models;
use parlor_tools::mcp;
use parlor_web::http_client;
use serde_json::json;
use tokio::{net::TcpListener, time::timeout};

use super::{CommandError, DoctorOptions};

/// The longest wait for a Parlor that may listen at the address.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// Checks everything. The code is a failure if something does not work.
pub async fn run(options: DoctorOptions) -> Result<ExitCode, CommandError> {
    let mut overrides = Overrides::from(options.place);
    overrides.addr = options.addr;
    let settings = match Settings::read(&overrides, |name| std::env::var(name).ok()) {
        Ok(settings) => settings,
        Err(error) => {
            print(&[Finding::of_settings(&error)], options.json)?;
            return Ok(ExitCode::FAILURE);
        }
    };
    log::redact_log(Secrets::from_settings(&settings));
    http_client::install_tls();
    let secrets = Arc::new(Secrets::from_settings(&settings));
    let services = Services {
        models: Arc::new(Models::new(models_config(&settings, &secrets))),
        databases: Databases::new(&settings.databases, &settings.data),
        mcp: Arc::new(mcp::Servers::start(&settings.mcp, &secrets)),
        python: parlor_python::find(&settings).await,
    };
    let servers = services.mcp.clone();
    let examined = Examined {
        settings: &settings,
        listening: probe(&settings).await,
        stored_hosts: Hosts::open(&settings).stored(),
        request: None,
    };
    let findings = examine(examined, services).await;
    servers.shut_down().await;
    print(&findings, options.json)?;
    let has_failed = findings.iter().any(|finding| finding.status == Status::Fails);
    Ok(if has_failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Looks at the address of the settings.
async fn probe(settings: &Settings) -> Listening {
    let addr = settings.server.addr;
    match TcpListener::bind(addr).await {
        Ok(_) => Listening::Free,
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            match timeout(ANSWER_TIMEOUT, is_parlor(&settings.server)).await {
                Ok(true) => Listening::ByParlor,
                _ => Listening::Blocked("another program listens there".into()),
            }
        }
        Err(error) => Listening::Blocked(error.to_string()),
    }
}

/// Returns true if what listens at the address says that it is well, as Parlor does.
async fn is_parlor(settings: &ServerSettings) -> bool {
    let url = format!("http://{}/healthz", super::serve::host_to_open(settings.addr));
    let Ok(url) = url.parse() else {
        return false;
    };
    let Ok(client) = http_client::client_for(&url).build() else {
        return false;
    };
    let response = client.get(url).send().await;
    response.is_ok_and(|response| response.status().is_success())
}

fn print(findings: &[Finding], as_json: bool) -> io::Result<()> {
    let text = match as_json {
        true => {
            let works = !findings.iter().any(|finding| finding.status == Status::Fails);
            format!("{:#}\n", json!({ "works": works, "checks": findings }))
        }
        false => table(findings),
    };
    io::stdout().write_all(text.as_bytes())
}

/// Returns a table in which each finding has a line, and what to do another one.
fn table(findings: &[Finding]) -> String {
    let width = findings
        .iter()
        .map(|finding| finding.subject.len())
        .max()
        .unwrap_or_default();
    let mut lines = String::new();
    for Finding {
        subject,
        status,
        text,
        mend,
    } in findings
    {
        lines += &format!("{:<7}  {subject:<width$}  {text}\n", status.word());
        if !mend.is_empty() {
            lines += &format!("{:<7}  {:<width$}  → {mend}\n", "", "");
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_a_line_for_what_to_do() {
        let finding = |subject, status, text: &str, mend: &str| Finding {
            subject,
            status,
            text: text.into(),
            mend: mend.into(),
        };
        let findings = [
            finding("Port", Status::Works, "Free.", ""),
            finding(
                "Data folder",
                Status::Fails,
                "Not writable.",
                "Give it to the user.",
            ),
        ];
        assert_eq!(
            table(&findings),
            "works    Port         Free.\n\
             fails    Data folder  Not writable.\n                      → Give it to the user.\n"
        );
    }
}
