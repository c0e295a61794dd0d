//! The built files: those in the program, or of a folder that takes their place.

use std::{borrow::Cow, collections::BTreeMap, fs, io, path::Path, sync::OnceLock};

use rust_embed::RustEmbed;

/// The files of a build, by their paths in its folder.
pub trait Site {
    fn file(name: &str) -> Option<Cow<'static, [u8]>>;
    /// Not `names`, which a release's embedded folder has itself.
    fn file_names() -> Vec<String>;
}

impl<Embedded: RustEmbed> Site for Embedded {
    fn file(name: &str) -> Option<Cow<'static, [u8]>> {
        Embedded::get(name).map(|file| file.data)
    }

    fn file_names() -> Vec<String> {
        Embedded::iter().map(Cow::into_owned).collect()
    }
}

/// The folder that the build embeds. There are two, so that development and release builds do not remove each other's
/// files. A tree without a build compiles as well; its pages then have no styles and stay as the server
/// rendered them.
#[derive(RustEmbed)]
#[cfg_attr(debug_assertions, folder = "$CARGO_MANIFEST_DIR/target/site")]
#[cfg_attr(not(debug_assertions), folder = "$CARGO_MANIFEST_DIR/target/site-release")]
#[allow_missing = true]
struct EmbeddedFiles;

/// The files of a folder of the settings, read once. They are the same for all servers of a process, as the pages are that they show.
static FOLDER: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();

/// The files of this process.
pub struct SiteFiles;

impl Site for SiteFiles {
    fn file(name: &str) -> Option<Cow<'static, [u8]>> {
        match FOLDER.get() {
            Some(files) => files.get(name).map(|content| content.as_slice().into()),
            None => EmbeddedFiles::file(name),
        }
    }

    fn file_names() -> Vec<String> {
        match FOLDER.get() {
            Some(files) => files.keys().cloned().collect(),
            None => EmbeddedFiles::file_names(),
        }
    }
}

/// Takes the files of a folder in place of those in the program, from now on. A second folder changes nothing.
///
/// # Errors
///
/// If the folder has no built site, or can't be read.
pub fn use_folder(folder: &Path) -> io::Result<()> {
    let files = read_folder(folder)?;
    // A server of this process has the files of the first.
    let _ = FOLDER.set(files);
    Ok(())
}

fn read_folder(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let named = |error: io::Error| {
        let message = format!(
            "the site in {} can't be read: {error} (setting server.site, PARLOR_SITE; docs/pages.md says how it is built)",
            folder.display()
        );
        io::Error::new(error.kind(), message)
    };
    let mut files = BTreeMap::new();
    add_files(folder, "", &mut files).map_err(named)?;
    match files.contains_key("manifest.json") {
        true => Ok(files),
        false => Err(named(io::Error::new(
            io::ErrorKind::NotFound,
            "it has no manifest.json",
        ))),
    }
}

fn add_files(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        // Links to folders, too.
        match path.is_dir() {
            true => add_files(&path, &format!("{name}/"), files)?,
            false => drop(files.insert(name, fs::read(path)?)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_read_with_its_subfolders() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/site");
        let files = read_folder(&folder).unwrap();
        let is_read = |name: &str| files.contains_key(name);
        assert!(is_read("manifest.json") && is_read("robots.txt") && is_read("pkg/parlor-1.js"));
        let error = read_folder(&folder.join("pkg")).unwrap_err().to_string();
        assert!(
            error.contains("no manifest.json") && error.contains("server.site"),
            "{error}"
        );
        assert!(read_folder(&folder.join("missing")).is_err());
    }
}
