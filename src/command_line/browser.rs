//! Opening the page in a browser, where Parlor is started by a person at a desktop.

use std::{
    io::{self, IsTerminal},
    process::{Command, Stdio},
};

/// Opens a URL, if there is a terminal and a display.
pub fn open(url: &str) {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let Some(program) = program(is_terminal, |name| std::env::var(name).ok()) else {
        return;
    };
    let started = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        // It ends when the browser has the URL. Nobody waits for it otherwise, and it would stay as a zombie.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => tracing::debug!(%error, program, "no browser could be opened"),
    }
}

/// Returns the program that opens URLs; `None` if nobody would see the page.
fn program(is_terminal: bool, env: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let has = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    // A terminal of another machine has its display elsewhere.
    if !is_terminal || has("SSH_CONNECTION") {
        return None;
    }
    match std::env::consts::OS {
        "macos" => Some("open"),
        "windows" => Some("explorer"),
        _ => (has("DISPLAY") || has("WAYLAND_DISPLAY")).then_some("xdg-open"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn opens_only_for_people_at_a_desktop() {
        let with = |is_terminal, names: &[&str]| {
            program(is_terminal, |name| names.contains(&name).then(|| ":0".to_owned()))
        };
        assert_eq!(with(true, &["DISPLAY"]), Some("xdg-open"));
        assert_eq!(with(true, &["WAYLAND_DISPLAY"]), Some("xdg-open"));
        assert_eq!(with(true, &[]), None);
        assert_eq!(with(false, &["DISPLAY"]), None, "as a service");
        assert_eq!(with(true, &["DISPLAY", "SSH_CONNECTION"]), None);
    }
}
