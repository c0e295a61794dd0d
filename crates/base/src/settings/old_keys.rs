//! Keys of earlier versions. They named their unit and had a number: `connect_seconds = 10`. They are still
//! read, with a warning.

use std::{ops::Range, time::Duration};

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeTable, DeValue, ValueDeserializer},
};

use super::duration;

/// The old keys: section, old name, new name. Closed: a new setting has no old name.
const OLD_KEYS: [(&str, &str, &str); 20] = [
    ("timeouts", "connect_seconds", "connect"),
    ("timeouts", "first_token_seconds", "first_token"),
    ("timeouts", "silence_seconds", "silence"),
    ("timeouts", "run_seconds", "run"),
    ("timeouts", "heartbeat_seconds", "heartbeat"),
    ("timeouts", "mcp_start_seconds", "mcp_start"),
    ("timeouts", "request_head_seconds", "request_head"),
    ("timeouts", "request_body_seconds", "request_body"),
    ("timeouts", "shutdown_seconds", "shutdown"),
    ("timeouts", "batch_seconds", "batch"),
    ("timeouts", "long_answer_seconds", "long_answer"),
    ("tools.fetch_webpage", "timeout_seconds", "timeout"),
    ("mcp", "timeout_seconds", "timeout"),
    ("literature", "page_seconds", "page_timeout"),
    ("literature", "context_seconds", "context_timeout"),
    ("history", "session_gap_hours", "session_gap"),
    ("history", "summary_seconds", "summary_timeout"),
    ("history", "summary_again_seconds", "summary_retry"),
    ("log", "keep_hours", "keep"),
    ("log", "trim_seconds", "trim_interval"),
];

/// The error about an old key that can't be read as its new one. Both have their section.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OldKeyError {
    #[error("the settings {old} and {new} are the same one, of which {old} is the old name: delete {old}")]
    BothGiven { old: String, new: String },
    #[error("the setting {old} must be a number above 0; better, write {new} with a unit, such as \"90s\"")]
    InvalidNumber { old: String, new: String },
}

/// A settings file without old keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RenamedKeys {
    /// The file with new keys and values instead of the old ones, line by line.
    pub text: String,
    /// A sentence for each old key.
    pub warnings: Vec<String>,
}

/// Replaces the old keys of a settings file and their values. A file that is not TOML is returned unchanged.
///
/// # Errors
///
/// If both an old key and its new one are set, or an old key has an unusable value.
pub(super) fn rename_old_keys(text: String) -> Result<RenamedKeys, OldKeyError> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut warnings = Vec::new();
    let parsed = DeTable::parse(&text);
    let root = parsed.iter().map(Spanned::get_ref);
    for (section, old, new) in OLD_KEYS {
        for table in root.clone().flat_map(|root| tables_of_section(root, section)) {
            let Some((key, value)) = table.get_key_value(old) else {
                continue;
            };
            let qualified = |key: &str| format!("{section}.{key}");
            if table.contains_key(new) {
                return Err(OldKeyError::BothGiven {
                    old: qualified(old),
                    new: qualified(new),
                });
            }
            let duration = read_duration(old, value).ok_or_else(|| OldKeyError::InvalidNumber {
                old: qualified(old),
                new: qualified(new),
            })?;
            let written = format!("\"{}\"", duration::format(duration));
            warnings.push(format!(
                "the setting {} is the name of an earlier version; it is read as {new} = {written}. Write {} in this form.",
                qualified(old),
                qualified(new)
            ));
            edits.push((key.span(), new.to_owned()));
            edits.push((value.span(), written));
        }
    }
    drop(parsed);
    let mut text = text;
    edits.sort_by_key(|(range, _)| range.start);
    for (range, replacement) in edits.into_iter().rev() {
        text.replace_range(range, &replacement);
    }
    Ok(RenamedKeys { text, warnings })
}

/// Returns all tables of a section: one, or each of a list.
fn tables_of_section<'a, 'i>(table: &'a DeTable<'i>, section: &str) -> Vec<&'a DeTable<'i>> {
    let (name, rest) = match section.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (section, None),
    };
    let values = match table.get(name).map(Spanned::get_ref) {
        Some(DeValue::Array(values)) => values.iter().map(Spanned::get_ref).collect(),
        Some(value) => vec![value],
        None => Vec::new(),
    };
    let tables = values.into_iter().filter_map(|value| match value {
        DeValue::Table(table) => Some(table),
        _ => None,
    });
    match rest {
        Some(rest) => tables.flat_map(|table| tables_of_section(table, rest)).collect(),
        None => tables.collect(),
    }
}

/// Reads the duration of an old key; `_hours` keys are in hours, others in seconds.
fn read_duration(key: &str, value: &Spanned<DeValue<'_>>) -> Option<Duration> {
    let number = f64::deserialize(ValueDeserializer::from(value.clone())).ok()?;
    let seconds = if key.ends_with("_hours") { 3600.0 } else { 1.0 };
    Duration::try_from_secs_f64(number * seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(text: &str) -> RenamedKeys {
        rename_old_keys(text.into()).unwrap()
    }

    #[test]
    fn renames_keys_of_every_form() {
        for (old, new) in [
            (
                "[timeouts]\nrun_seconds = 90 # long\n",
                "[timeouts]\nrun = \"1m 30s\" # long\n",
            ),
            (
                "timeouts.silence_seconds = 0.25\n",
                "timeouts.silence = \"250ms\"\n",
            ),
            (
                "timeouts = { \"batch_seconds\" = 3_600 }",
                "timeouts = { batch = \"1h\" }",
            ),
            (
                "[history]\nsession_gap_hours = 1.5",
                "[history]\nsession_gap = \"1h 30m\"",
            ),
            ("[log]\nkeep_hours = 0", "[log]\nkeep = \"0s\""),
            (
                "[[mcp]]\nname = 'a'\n[[mcp]]\ntimeout_seconds = 2\n[[mcp]]\ntimeout_seconds = 3",
                "[[mcp]]\nname = 'a'\n[[mcp]]\ntimeout = \"2s\"\n[[mcp]]\ntimeout = \"3s\"",
            ),
        ] {
            assert_eq!(renamed(old).text, new);
        }
    }

    #[test]
    fn warning_names_old_and_new_key() {
        let file = "[tools.fetch_webpage]\ntimeout_seconds = 90\n[literature]\npage = 5\npage_seconds = 1\n";
        assert_eq!(
            renamed(file).warnings,
            [
                "the setting tools.fetch_webpage.timeout_seconds is the name of an earlier version; it is read as \
                 timeout = \"1m 30s\". Write tools.fetch_webpage.timeout in this form.",
                "the setting literature.page_seconds is the name of an earlier version; it is read as page_timeout = \"1s\". \
                 Write literature.page_timeout in this form.",
            ]
        );
    }

    #[test]
    fn other_keys_and_broken_files_are_unchanged() {
        for file in [
            "[timeouts]\nrun = '5s'\n[[endpoints]]\ncontext_windows = { run_seconds = 5000 }\n[other]\nrun_seconds = 1\n",
            "[timeouts]\nrun_seconds = 1\nnonsense",
        ] {
            let expected = RenamedKeys {
                text: file.into(),
                warnings: Vec::new(),
            };
            assert_eq!(renamed(file), expected);
        }
    }

    #[test]
    fn names_both_keys_given_twice() {
        let error = rename_old_keys("[log]\nkeep_hours = 1\nkeep = '1h'".into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the settings log.keep_hours and log.keep are the same one, of which log.keep_hours is the old name: delete \
             log.keep_hours"
        );
    }
}
