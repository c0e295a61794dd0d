//! Jupyter's kernelspecs: `kernels/NAME/kernel.json` in the folders where Jupyter looks for data.
//! <https://jupyter-client.readthedocs.io/en/stable/kernels.html#kernel-specs>

use std::{
    env, fs,
    path::{PathBuf, absolute},
};

use serde::Deserialize;

#[derive(Deserialize)]
struct KernelSpec {
    argv: Vec<String>,
    #[serde(default)]
    language: String,
}

/// Returns the Python of the kernelspec with this name; `None` if there is none, or it is not one of ipykernel.
pub fn find_interpreter(name: &str) -> Option<PathBuf> {
    find_in(&data_folders(), name)
}

fn find_in(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let mut folders = folders.iter();
    folders.find_map(|folder| {
        let text = fs::read_to_string(folder.join("kernels").join(name).join("kernel.json")).ok()?;
        let spec: KernelSpec = serde_json::from_str(&text).ok()?;
        let is_ipykernel = spec.argv.iter().any(|word| word.starts_with("ipykernel"));
        let program = spec
            .argv
            .first()
            .filter(|_| is_ipykernel && spec.language == "python")?;
        in_path(program)
    })
}

/// Returns the folders where Jupyter looks for data, the user's first.
fn data_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = env::var_os("JUPYTER_PATH")
        .map(|paths| env::split_paths(&paths).collect())
        .unwrap_or_default();
    let home = env::home_dir().map(|home| home.join(".local/share"));
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).or(home);
    folders.extend(data.map(|data| data.join("jupyter")));
    // That of the environment whose Python is called first.
    let environment =
        in_path("python3").and_then(|python| Some(python.parent()?.parent()?.join("share/jupyter")));
    folders.extend(environment);
    folders.extend(["/usr/local/share/jupyter", "/usr/share/jupyter"].map(PathBuf::from));
    folders
}

/// Returns the absolute path of a program; `None` if there is none.
pub fn in_path(program: &str) -> Option<PathBuf> {
    // Also folders of PATH may be relative.
    let existing = |path: PathBuf| absolute(path).ok().filter(|path| path.is_file());
    if program.contains('/') {
        return existing(program.into());
    }
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths).find_map(|folder| existing(folder.join(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_ipykernel_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("python");
        fs::write(&program, "").unwrap();
        let program = program.to_str().unwrap();
        for (name, spec) in [
            (
                "python3",
                format!(r#"{{"argv":["{program}","-m","ipykernel_launcher"],"language":"python"}}"#),
            ),
            (
                "gone",
                r#"{"argv":["/no/such","-m","ipykernel_launcher"],"language":"python"}"#.to_owned(),
            ),
            ("ir", format!(r#"{{"argv":["{program}"],"language":"R"}}"#)),
            ("broken", "{".to_owned()),
        ] {
            let spec_folder = folder.path().join("kernels").join(name);
            fs::create_dir_all(&spec_folder).unwrap();
            fs::write(spec_folder.join("kernel.json"), spec).unwrap();
        }
        let folders = ["/no/such".into(), folder.path().to_owned()];
        assert_eq!(find_in(&folders, "python3"), Some(program.into()));
        for name in ["gone", "ir", "broken", "other"] {
            assert_eq!(find_in(&folders, name), None, "{name}");
        }
    }
}
