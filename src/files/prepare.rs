//! The form of an image for models, made by a process of its own: a damaged or hostile image can end or exhaust only that.

use std::{io, path::PathBuf, process::Stdio};

use serde::{Deserialize, Serialize};
use tokio::{process::Command, time::timeout};

use super::{
    contents::{Contents, Variant},
    image_reader,
};
use crate::{settings::FileSettings, storage::FileLocation};

/// The reason why an image has no form for models.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("it has too many pixels")]
    TooManyPixels,
    #[error("it can't be read")]
    Unreadable,
    #[error("reading it took too long")]
    TimedOut,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The last line of the process.
#[derive(Debug, Serialize, Deserialize)]
pub struct UprightSize {
    pub width: usize,
    pub height: usize,
}

/// Returns this program, also when its file was replaced by an update since the start.
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn own_program() -> io::Result<PathBuf> {
    Ok("/proc/self/exe".into())
}

#[cfg(not(target_os = "linux"))]
fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Writes the form of an image for models beside the original. Returns the upright width and height of the original.
pub async fn prepare_image(
    contents: &Contents,
    location: FileLocation,
    settings: &FileSettings,
) -> Result<(usize, usize), PrepareError> {
    let original = contents.read(location, Variant::Original).await?;
    let prepared = contents.create(location, Variant::Prepared).await?;
    let program = match &settings.image_reader {
        Some(program) => program.clone(),
        None => own_program()?,
    };
    let running = Command::new(program)
        .arg(image_reader::SUBCOMMAND)
        .arg(settings.max_pixels.to_string())
        .env_clear()
        .stdin(Stdio::from(original.into_std().await))
        .stdout(Stdio::from(prepared.as_output().await?))
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let ended = timeout(settings.image_timeout, running.wait_with_output()).await;
    let output = ended.map_err(|_| PrepareError::TimedOut)??;
    if output.status.code() == Some(i32::from(image_reader::TOO_MANY_PIXELS)) {
        return Err(PrepareError::TooManyPixels);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let size: Option<UprightSize> = said
        .lines()
        .last()
        .and_then(|line| serde_json::from_str(line).ok());
    let Some(UprightSize { width, height }) = size.filter(|_| output.status.success()) else {
        tracing::info!(status = %output.status, "an image can't be read: {}", said.trim());
        return Err(PrepareError::Unreadable);
    };
    prepared.keep().await?;
    Ok((width, height))
}
