//! The package that is built: Parlor, or one with pages of its own (`docs/pages.md`), which has the program and the browser code.

use anyhow::{Context, Result};

/// A program with its browser code.
#[derive(Debug, PartialEq, Eq)]
pub enum Package {
    Parlor,
    /// A package of this workspace, by its name, with a program of the same name.
    Other(String),
}

impl Package {
    /// Takes `--package NAME` from the front of a command's arguments. Returns the package and the other arguments.
    pub fn take(args: &[String]) -> Result<(Self, &[String])> {
        match args {
            [option, rest @ ..] if option == "--package" => {
                let (name, rest) = rest.split_first().context("--package needs a name")?;
                Ok((Self::Other(name.clone()), rest))
            }
            _ => Ok((Self::Parlor, args)),
        }
    }

    /// The package whose library is the browser code.
    pub fn browser_code(&self) -> &str {
        match self {
            Self::Parlor => "parlor-ui",
            Self::Other(name) => name,
        }
    }

    /// The package with the program, and the program's name.
    pub fn program(&self) -> &str {
        match self {
            Self::Parlor => "parlor",
            Self::Other(name) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_is_named_before_other_arguments() {
        let args = |words: &[&str]| -> Vec<String> { words.iter().map(|&word| word.to_owned()).collect() };
        let all = args(&["--package", "inventory", "--release"]);
        let (package, rest) = Package::take(&all).unwrap();
        assert_eq!(
            (package.program(), package.browser_code(), rest),
            ("inventory", "inventory", &args(&["--release"])[..])
        );
        let all = args(&["--addr", "--package"]);
        let (package, rest) = Package::take(&all).unwrap();
        assert_eq!(
            (package.program(), package.browser_code()),
            ("parlor", "parlor-ui")
        );
        assert_eq!(rest, &all[..]);
        assert!(Package::take(&args(&["--package"])).is_err());
    }
}
