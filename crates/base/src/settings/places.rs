//! The places of the settings file and of the data folder, if nothing names them: those of the XDG Base Directory Specification.

use std::path::{Path, PathBuf};

/// The settings file of the machine, which packages install.
pub const SYSTEM_SETTINGS_FILE: &str = "/etc/parlor/parlor.toml";

/// The folder of Parlor in the folders for settings and for data.
const NAME: &str = "parlor";

/// Returns the settings file of the user, or that of the machine; `None` if there is neither.
pub fn settings_file(env: impl Fn(&str) -> Option<String>, of_system: &Path) -> Option<PathBuf> {
    let of_user = folder(env, "XDG_CONFIG_HOME", ".config").map(|folder| folder.join("parlor.toml"));
    of_user
        .into_iter()
        .chain([of_system.to_owned()])
        .find(|file| file.is_file())
}

/// Returns the data folder. A user without a home has it in the folder where Parlor was started.
pub fn data_folder(env: impl Fn(&str) -> Option<String>) -> PathBuf {
    folder(env, "XDG_DATA_HOME", ".local/share").unwrap_or_else(|| "data".into())
}

/// Returns Parlor's folder in the one that a variable names, or in one of the home. A relative path in the variable is ignored, as
/// the specification says.
fn folder(env: impl Fn(&str) -> Option<String>, variable: &str, in_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(variable)
        .or_else(|| Some(absolute("HOME")?.join(in_home)))
        .map(|folder| folder.join(NAME))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use super::*;

    fn in_variables(variables: &[(&str, &Path)]) -> impl Fn(&str) -> Option<String> + use<> {
        let owned = |(name, path): &(&str, &Path)| ((*name).to_owned(), path.display().to_string());
        let variables: BTreeMap<String, String> = variables.iter().map(owned).collect();
        move |name: &str| variables.get(name).cloned()
    }

    #[test]
    fn users_file_precedes_the_machines() {
        let folder = tempfile::tempdir().unwrap();
        let (home, xdg) = (folder.path().join("home"), folder.path().join("xdg"));
        let of_system = folder.path().join("etc.toml");
        let of_home = home.join(".config/parlor/parlor.toml");
        let of_xdg = xdg.join("parlor/parlor.toml");
        let found = |variables: &[(&str, &Path)]| settings_file(in_variables(variables), &of_system);
        assert_eq!(found(&[("HOME", &home)]), None);
        for file in [&of_home, &of_xdg, &of_system] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let with_xdg: &[(&str, &Path)] = &[("HOME", &home), ("XDG_CONFIG_HOME", &xdg)];
        assert_eq!(found(with_xdg), Some(of_xdg));
        assert_eq!(found(&[("HOME", &home)]), Some(of_home));
        assert_eq!(found(&[]), Some(of_system.clone()));
    }

    #[test]
    fn data_lies_in_the_users_folder() {
        let (home, xdg) = (Path::new("/home/ann"), Path::new("/srv/xdg"));
        let of = |variables: &[(&str, &Path)]| data_folder(in_variables(variables));
        let with_xdg: &[(&str, &Path)] = &[("HOME", home), ("XDG_DATA_HOME", xdg)];
        assert_eq!(of(with_xdg), xdg.join("parlor"));
        let relative: &[(&str, &Path)] = &[("HOME", home), ("XDG_DATA_HOME", Path::new("here"))];
        for variables in [relative, &[("HOME", home)]] {
            assert_eq!(of(variables), home.join(".local/share/parlor"));
        }
        assert_eq!(of(&[]), Path::new("data"));
    }
}
