//! The same measurements in a real Chromium, driven by the script in `benches/browser`.

use std::{path::Path, process::Stdio, time::Duration};

use tokio::{process::Command, time::timeout};

use crate::{figures::BrowserResult, server_process::ServerProcess};

const SCRIPT_TIMEOUT: Duration = Duration::from_secs(300);

/// The result of a part of the script, or its error. `largest_ms` is the limit of the largest pages.
pub async fn measure(
    parlor: &ServerProcess,
    upstream: &ServerProcess,
    part: &str,
    quick: bool,
    largest_ms: u64,
) -> Result<BrowserResult, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../browser/measure.mjs");
    let mut node = Command::new("node");
    node.arg(script)
        .args([&parlor.url, &upstream.url, part])
        .arg(format!("--largest-ms={largest_ms}"))
        .args(quick.then_some("--quick"));
    node.stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let output = match timeout(SCRIPT_TIMEOUT, node.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("node can't be started: {error}")),
        Err(_) => return Err("it took too long".into()),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(said.trim().chars().take(600).collect());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("its output is not JSON: {error}"))
}
