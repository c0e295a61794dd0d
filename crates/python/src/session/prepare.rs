//! The first code of a session, and the files that it needs.

use std::path::Path;

use serde_json::Value;
use tokio::io;

use crate::names::usual_names;

/// The folder of matplotlib's list of fonts among the files that the server gives to a session.
pub const FONTS_FOLDER: &str = "fonts";

/// The first code of a session.
const PREPARE: [&str; 4] = [
    include_str!("../prepare/kernel.py"),
    include_str!("../prepare/tables.py"),
    include_str!("../prepare/names.py"),
    include_str!("../prepare/figures.py"),
];

/// Gives a session the list of fonts. Without it, matplotlib makes one of its own.
pub async fn give_fonts(list: &Path, folder: &Path) {
    if let Err(error) = copy_files(list, folder).await {
        tracing::warn!(%error, "the list of fonts can't be given to a Python session");
    }
}

async fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    tokio::fs::create_dir_all(to).await?;
    let mut files = tokio::fs::read_dir(from).await?;
    while let Some(file) = files.next_entry().await? {
        if file.file_type().await?.is_file() {
            tokio::fs::copy(file.path(), to.join(file.file_name())).await?;
        }
    }
    Ok(())
}

/// Returns the first code of a session. Its names are not those of the conversation's code, which could change them.
pub fn prepare_code(fonts: &Path) -> String {
    // A string of JSON is one of Python.
    let code = Value::from(PREPARE.concat());
    let fonts = Value::from(fonts.to_string_lossy());
    let names = usual_names();
    let globals = format!("'get_ipython': get_ipython, 'font_folder': {fonts}, 'usual_names': {names}");
    format!("exec(compile({code}, '<parlor>', 'exec'), {{'__name__': 'parlor', {globals}}})")
}
