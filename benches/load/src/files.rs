//! A large file up and down: speed, and the memory that the server needs for it.

use std::time::Instant;

use crate::{
    client::Error,
    figures::FilesResult,
    machine,
    server_process::{Binaries, ServerProcess},
};

/// The size of a block of the file.
const BLOCK_BYTES: usize = 1 << 20;

/// Uploads and downloads a file of this size.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    megabytes: usize,
) -> Result<FilesResult, Error> {
    let parlor = programs.start_parlor("files", upstream).await?;
    // The first upload initialises the server, which must not count as the others' cost.
    upload(&parlor, 1).await?;
    machine::reset_peak(parlor.pid());
    let before = machine::resident_mb(parlor.pid());
    let began = Instant::now();
    let id = upload(&parlor, megabytes).await?;
    let upload_seconds = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let mut content = parlor.client().get(&format!("/api/files/{id}")).await?;
    let mut received = 0;
    while let Some(bytes) = content.chunk().await? {
        received += bytes.len();
    }
    if received != megabytes * BLOCK_BYTES {
        return Err(format!("{received} bytes came back").into());
    }
    let download_seconds = began.elapsed().as_secs_f64();
    let grown_mb = machine::peak_mb(parlor.pid()) - before;
    parlor.stop().await?;
    Ok(FilesResult {
        megabytes,
        upload_mb_per_second: megabytes as f64 / upload_seconds,
        download_mb_per_second: megabytes as f64 / download_seconds,
        grown_mb,
    })
}

/// Uploads a text of this size. Returns its id.
async fn upload(parlor: &ServerProcess, megabytes: usize) -> Result<String, Error> {
    let blocks = megabytes.max(1);
    let response = parlor
        .client()
        .upload("/api/files?name=large.txt", BLOCK_BYTES, blocks)
        .await?;
    let file: serde_json::Value = serde_json::from_slice(&response.bytes().await?)?;
    let id = file["id"].as_str().ok_or("an upload has no id")?;
    Ok(id.to_owned())
}
