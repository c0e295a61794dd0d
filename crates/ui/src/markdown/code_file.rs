//! The name of the file that a code block is saved as.

/// Languages and the endings of their files. A language that is missing is an ending itself, or text.
const ENDINGS: [(&str, &str); 46] = [
    ("arduino", "ino"),
    ("bash", "sh"),
    ("c#", "cs"),
    ("c++", "cpp"),
    ("clojure", "clj"),
    ("console", "sh"),
    ("csharp", "cs"),
    ("cython", "pyx"),
    ("dotenv", "env"),
    ("elixir", "ex"),
    ("erlang", "erl"),
    ("f#", "fs"),
    ("fortran", "f90"),
    ("fsharp", "fs"),
    ("golang", "go"),
    ("graphql", "graphql"),
    ("haskell", "hs"),
    ("javascript", "js"),
    ("julia", "jl"),
    ("jupyter", "ipynb"),
    ("kotlin", "kt"),
    ("latex", "tex"),
    ("markdown", "md"),
    ("matlab", "m"),
    ("mermaid", "mmd"),
    ("mysql", "sql"),
    ("objective-c", "m"),
    ("ocaml", "ml"),
    ("pascal", "pas"),
    ("perl", "pl"),
    ("plaintext", "txt"),
    ("plsql", "sql"),
    ("postgresql", "sql"),
    ("powershell", "ps1"),
    ("prolog", "pl"),
    ("protobuf", "proto"),
    ("python", "py"),
    ("python3", "py"),
    ("ruby", "rb"),
    ("rust", "rs"),
    ("shell", "sh"),
    ("terraform", "tf"),
    ("text", "txt"),
    ("typescript", "ts"),
    ("verilog", "v"),
    ("zsh", "sh"),
];

/// The maximum length of an ending that is not in the list.
const MAX_ENDING_LENGTH: usize = 5;

/// Returns the name of a file with code in this language, as written after the fence. Models also write a file's name
/// there.
pub fn file_name(language: Option<&str>) -> String {
    let language = language.unwrap_or("text");
    // `rust,ignore`, `js{1,3}`
    let end = language.find([',', '{', '=']).unwrap_or(language.len());
    let language = &language[..end];
    let last = language.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let is_in_name = |c: char| c.is_alphanumeric() || "._-".contains(c);
    if last
        .split_once('.')
        .is_some_and(|(stem, ending)| !stem.is_empty() && !ending.is_empty())
        && last.chars().all(is_in_name)
    {
        return last.to_owned();
    }
    let language = language.to_ascii_lowercase();
    match &*language {
        "docker" | "dockerfile" => return "Dockerfile".to_owned(),
        "make" | "makefile" => return "Makefile".to_owned(),
        _ => {}
    }
    let found = ENDINGS.iter().find(|(name, _)| *name == language);
    let is_ending = (1..=MAX_ENDING_LENGTH).contains(&language.len())
        && language.chars().all(|c| c.is_ascii_alphanumeric());
    let ending = match found {
        Some((_, ending)) => ending,
        None if is_ending => &*language,
        None => "txt",
    };
    ["code.", ending].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_named_by_its_language() {
        for (language, name) in [
            (Some("rust"), "code.rs"),
            (Some("Python"), "code.py"),
            (Some("rust,ignore"), "code.rs"),
            (Some("js{1,3}"), "code.js"),
            (Some("c++"), "code.cpp"),
            (Some("tsx"), "code.tsx"),
            (Some("svg"), "code.svg"),
            (Some("Dockerfile"), "Dockerfile"),
            (Some("makefile"), "Makefile"),
            (Some("src/main.rs"), "main.rs"),
            (Some("python:app.py"), "app.py"),
            (Some("../.bashrc"), "code.txt"),
            (Some("a..b/../c"), "code.txt"),
            (Some("brainfuck"), "code.txt"),
            (Some(""), "code.txt"),
            (None, "code.txt"),
        ] {
            assert_eq!(file_name(language), name, "{language:?}");
        }
    }

    #[test]
    fn endings_are_sorted_and_unique() {
        assert!(ENDINGS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
