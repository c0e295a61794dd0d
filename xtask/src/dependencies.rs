//! `scripts/xtask dependencies`: checks the bans and duplicates of deny.toml, for machines without cargo-deny, which
//! takes minutes to compile. Licences and sources are left to cargo-deny.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The version numbers of each package.
type Versions = BTreeMap<String, BTreeSet<String>>;

/// Fails on a banned package and on a second version that deny.toml does not list.
pub fn check() -> Result<()> {
    let rules = fs::read_to_string("deny.toml").context("reading deny.toml")?;
    let faults = find_faults(&resolved_versions()?, &rules);
    if faults.is_empty() {
        return Ok(());
    }
    bail!(
        "deny.toml does not allow these packages (cargo tree --invert NAME@VERSION shows what needs them):\n{faults}"
    )
}

/// Returns the packages that this platform needs, with all features.
fn resolved_versions() -> Result<Versions> {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new("cargo")
        .args(["metadata", "--format-version=1", "--locked", "--all-features"])
        .arg(format!("--filter-platform={platform}"))
        .output()
        .context("starting cargo")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut versions = Versions::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        if let (Some(name), Some(version)) = (package["name"].as_str(), package["version"].as_str()) {
            versions.entry(name.into()).or_default().insert(version.into());
        }
    }
    Ok(versions)
}

/// Returns one line for each package that the rules do not allow.
fn find_faults(versions: &Versions, rules: &str) -> String {
    let (bans, skipped) = (entries(rules, "deny"), entries(rules, "skip"));
    let is_listed =
        |list: &[&str], name: &str, version: &str| list.iter().any(|entry| matches(entry, name, version));
    let mut faults = String::new();
    for (name, versions) in versions {
        for version in versions.iter().filter(|version| is_listed(&bans, name, version)) {
            faults.push_str(&format!("  {name} {version} is banned\n"));
        }
        let others = versions.iter().map(String::as_str);
        let others: Vec<&str> = others
            .filter(|version| !is_listed(&skipped, name, version))
            .collect();
        if others.len() > 1 {
            faults.push_str(&format!("  {name} has several versions: {}\n", others.join(", ")));
        }
    }
    faults
}

/// Returns the packages in the list of this name: `name` or `name@version`.
fn entries<'a>(rules: &'a str, list: &str) -> Vec<&'a str> {
    let begin = format!("{list} = [");
    let lines = rules.lines().skip_while(|line| *line != begin);
    lines
        .take_while(|line| *line != "]")
        .filter_map(|line| line.trim().strip_prefix("{ crate = \"")?.split('"').next())
        .collect()
}

/// Returns true if an entry means this version. Its own version may end early: `0.8` means `0.8.3`.
fn matches(entry: &str, name: &str, version: &str) -> bool {
    match entry.split_once('@') {
        None => entry == name,
        Some((entry, part)) => {
            let rest = version.strip_prefix(part);
            entry == name && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "deny = [\n    { crate = \"openssl\", reason = \"r\" },\n    { crate = \"sqlx@0.8\", reason = \"r\" },\n]\n\
                         skip = [\n    { crate = \"rand@0.8\", reason = \"r\" },\n]\n";

    fn faults(packages: &[(&str, &[&str])]) -> String {
        let versions = packages.iter().map(|(name, versions)| {
            let versions = versions.iter().map(|version| (*version).to_owned());
            ((*name).to_owned(), versions.collect())
        });
        find_faults(&versions.collect(), RULES)
    }

    #[test]
    fn names_banned_packages() {
        assert_eq!(
            faults(&[("openssl", &["0.10.1"]), ("sqlx", &["0.8.6"])]),
            "  openssl 0.10.1 is banned\n  sqlx 0.8.6 is banned\n"
        );
        assert_eq!(faults(&[("sqlx", &["0.9.0"]), ("sqlx-core", &["0.8.0"])]), "");
    }

    #[test]
    fn names_unlisted_duplicates() {
        assert_eq!(
            faults(&[("rand", &["0.8.5", "0.9.1", "0.10.0"])]),
            "  rand has several versions: 0.10.0, 0.9.1\n"
        );
        assert_eq!(
            faults(&[("rand", &["0.8.5", "0.9.1"]), ("bytes", &["1.0.0"])]),
            ""
        );
    }
}
