//! Runs the process that reads one file: a damaged or hostile file can end or exhaust only that.

use std::{
    io,
    path::PathBuf,
    process::{ExitStatus, Stdio},
};

use bytes::Bytes;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::Command,
    time::timeout,
};

use super::contents::{ContentForm, Contents, NewContent};
use parlor_base::{own_program::SMALL_RESERVE, settings::FileSettings, text::single_line};
use parlor_storage::FileLocation;

/// The maximum length of the standard error that is read.
const MAX_STDERR_BYTES: u64 = 64 << 10;

/// The maximum length of its standard error in the log, in characters.
const MAX_LOGGED_CHARS: usize = 300;

/// The output of the process, in the folder of files.
pub struct ReaderOutput {
    pub status: ExitStatus,
    /// The last line of its standard error.
    pub last_line: String,
    /// The form that it wrote.
    pub prepared: NewContent,
}

/// The output of the process that read from memory.
#[derive(Debug)]
pub struct ReaderOutputInMemory {
    pub status: ExitStatus,
    /// The last line of its standard error.
    pub last_line: String,
    /// The standard output.
    pub data: Bytes,
}

/// The reason why the process did not end by itself.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    #[error("reading it took too long")]
    TimedOut,
    #[error("its form has more than {limit} bytes")]
    TooLarge { limit: usize },
    #[error(transparent)]
    Io(#[from] io::Error),
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

/// Runs this program with the arguments: the original is its input, another form its output.
pub async fn run_reader(
    contents: &Contents,
    location: FileLocation,
    form: ContentForm,
    settings: &FileSettings,
    arguments: &[String],
) -> Result<ReaderOutput, ChildError> {
    let original = contents.read(location, ContentForm::Original).await?;
    let prepared = contents.create(location, form).await?;
    let mut running = reader(settings, arguments)?
        .stdin(Stdio::from(original.into_std().await))
        .stdout(Stdio::from(prepared.as_output().await?))
        .spawn()?;
    let stderr = running.stderr.take();
    let ended = timeout(settings.reader_timeout, async {
        let stderr = read_at_most(stderr, MAX_STDERR_BYTES).await?;
        Ok::<_, io::Error>((running.wait().await?, stderr))
    });
    let (status, stderr) = ended.await.map_err(|_| ChildError::TimedOut)??;
    Ok(ReaderOutput {
        status,
        last_line: last_line(status, &stderr),
        prepared,
    })
}

/// Runs this program with the arguments, the data as its input. Its output may have `max_bytes`.
pub async fn run_reader_in_memory(
    data: Bytes,
    max_bytes: usize,
    settings: &FileSettings,
    arguments: &[String],
) -> Result<ReaderOutputInMemory, ChildError> {
    let mut running = reader(settings, arguments)?
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (stdin, stdout, stderr) = (running.stdin.take(), running.stdout.take(), running.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A process that rejects the data does not read all of it.
            let _ = stdin.write_all(&data).await;
        }
        Ok::<_, ChildError>(())
    };
    let read = async {
        // The limit of a process on the size of files does not apply to pipes.
        let output = read_at_most(stdout, (max_bytes as u64).saturating_add(1)).await?;
        match output.len() > max_bytes {
            true => Err(ChildError::TooLarge { limit: max_bytes }),
            false => Ok(output),
        }
    };
    let read_stderr = async { Ok::<_, ChildError>(read_at_most(stderr, MAX_STDERR_BYTES).await?) };
    // Dropping the process ends it.
    let ended = timeout(settings.reader_timeout, async {
        let ((), output, stderr) = tokio::try_join!(write, read, read_stderr)?;
        Ok::<_, ChildError>((running.wait().await?, output, stderr))
    });
    let (status, output, stderr) = ended.await.map_err(|_| ChildError::TimedOut)??;
    Ok(ReaderOutputInMemory {
        status,
        last_line: last_line(status, &stderr),
        data: output.into(),
    })
}

/// Returns the command of the process, without its input and output.
fn reader(settings: &FileSettings, arguments: &[String]) -> io::Result<Command> {
    let program = match &settings.reader {
        Some(program) => program.clone().into(),
        None => own_program()?,
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs([SMALL_RESERVE])
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    Ok(command)
}

/// Reads the beginning of a stream, and closes it.
async fn read_at_most(stream: Option<impl AsyncRead + Unpin>, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut data = Vec::new();
    if let Some(stream) = stream {
        stream.take(max_bytes).read_to_end(&mut data).await?;
    }
    Ok(data)
}

/// Returns the last line of the standard error, and logs a failure.
fn last_line(status: ExitStatus, stderr: &[u8]) -> String {
    let stderr = String::from_utf8_lossy(stderr);
    if !status.success() {
        let reason = single_line(&stderr, MAX_LOGGED_CHARS);
        tracing::info!(%status, "a file can't be read: {reason}");
    }
    stderr.lines().last().unwrap_or_default().to_owned()
}
