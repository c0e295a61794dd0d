//! Paths of the settings, absolute from the moment at which they are read.
//!
//! Parlor starts programs that work in other folders, such as the helper of a Python session and bubblewrap. A relative path would name
//! another file there. Each setting with a path has one of these types, never `PathBuf`, so that no place has to think of it. No shell reads
//! the settings file, so `~/` at the beginning is replaced here.

use std::{
    ops::Deref,
    path::{Path, PathBuf, absolute},
};

use serde::{Deserialize, Deserializer, de::Error};

/// A file or folder. A relative path is taken from the folder in which Parlor was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingPath(PathBuf);

/// A program: a path as [`SettingPath`], or a name without a slash, which is looked up in `PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPath(PathBuf);

impl SettingPath {
    fn read(path: PathBuf) -> std::io::Result<Self> {
        absolute(from_home(path)?).map(Self)
    }
}

impl ProgramPath {
    fn read(path: PathBuf) -> std::io::Result<Self> {
        match is_name(&path) {
            true => Ok(Self(path)),
            false => absolute(from_home(path)?).map(Self),
        }
    }
}

/// Replaces `~` at the beginning by the folder of the user's own files.
fn from_home(path: PathBuf) -> std::io::Result<PathBuf> {
    match path.strip_prefix("~") {
        Err(_) => Ok(path),
        Ok(below) => std::env::home_dir()
            .map(|home| home.join(below))
            .ok_or_else(|| std::io::Error::other("the folder that ~ stands for is not known")),
    }
}

/// Returns true if a path is the name of a program.
fn is_name(path: &Path) -> bool {
    !path.as_os_str().is_empty() && !path.as_os_str().as_encoded_bytes().contains(&b'/')
}

/// Everything that both types have in common.
macro_rules! path_of_settings {
    ($name:ident) => {
        impl Deref for $name {
            type Target = Path;

            fn deref(&self) -> &Path {
                &self.0
            }
        }

        impl AsRef<Path> for $name {
            fn as_ref(&self) -> &Path {
                &self.0
            }
        }

        impl From<PathBuf> for $name {
            /// Keeps a path that can't be made absolute, such as an empty one: opening it fails then.
            fn from(path: PathBuf) -> Self {
                Self::read(path.clone()).unwrap_or(Self(path))
            }
        }

        impl From<&Path> for $name {
            fn from(path: &Path) -> Self {
                path.to_owned().into()
            }
        }

        impl From<&str> for $name {
            fn from(path: &str) -> Self {
                Path::new(path).into()
            }
        }

        impl From<$name> for PathBuf {
            fn from(path: $name) -> PathBuf {
                path.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let path = PathBuf::deserialize(deserializer)?;
                let shown = path.display().to_string();
                Self::read(path)
                    .map_err(|error| D::Error::custom(format!("the path “{shown}” can't be used: {error}")))
            }
        }
    };
}

path_of_settings!(SettingPath);
path_of_settings!(ProgramPath);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn relative_paths_become_absolute() {
        let here = std::env::current_dir().unwrap();
        for path in ["data", "./data", "data/"] {
            assert_eq!(&*SettingPath::from(path), here.join("data"), "{path}");
        }
        assert_eq!(&*SettingPath::from("/srv/parlor"), Path::new("/srv/parlor"));
        assert_eq!(&*ProgramPath::from("bin/python"), here.join("bin/python"));
        assert_eq!(&*ProgramPath::from("./bwrap"), here.join("bwrap"));
        let home = std::env::home_dir().unwrap();
        assert_eq!(&*SettingPath::from("~/parlor"), home.join("parlor"));
        assert_eq!(
            &*ProgramPath::from("~/venv/bin/python"),
            home.join("venv/bin/python")
        );
        // A folder may be called so.
        assert_eq!(&*SettingPath::from("~backup"), here.join("~backup"));
        // Looked up in PATH.
        assert_eq!(&*ProgramPath::from("bwrap"), Path::new("bwrap"));
    }

    #[test]
    fn empty_paths_are_rejected() {
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "only its reading matters")]
        struct Paths {
            file: Option<SettingPath>,
            program: Option<ProgramPath>,
        }
        for text in ["file = \"\"", "program = \"\""] {
            let error = toml::from_str::<Paths>(text).unwrap_err().to_string();
            assert!(error.contains("the path “” can't be used"), "{error}");
        }
    }

    /// A setting that is a plain path would stay relative.
    #[test]
    fn settings_have_no_plain_paths() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/settings");
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            // The command line becomes settings there, the home is looked for, and errors name paths.
            let may = ["path.rs", "places.rs", "read.rs"]
                .iter()
                .any(|name| path.ends_with(name));
            if may || path.is_dir() {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains("PathBuf"), "{}: use SettingPath", path.display());
        }
    }
}
