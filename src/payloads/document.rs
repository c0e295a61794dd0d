//! `text_document`: `{title?, text}`, or `{title?, versions: [{text, label?}]}`, oldest first. The text is Markdown.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::words::{Line, count, shortened};
use crate::protocol::panel::{DiffLine, Document, LineChange, PanelBody, Version};

/// How many versions are shown: the newest.
const VERSIONS: usize = 20;
/// How long all comparisons may take. What could not be compared by then is shown as removed and added.
const PATIENCE: Duration = Duration::from_millis(500);
/// How many lines that are the same are shown around one that is not.
const AROUND: usize = 3;
/// How many lines a comparison has, and how long one is, in characters.
const LINES: usize = 2000;
const LONGEST: usize = 1000;

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    title: Line,
    text: Option<String>,
    #[serde(default)]
    versions: Vec<VersionData>,
}

#[derive(Deserialize)]
struct VersionData {
    text: String,
    #[serde(default)]
    label: Line,
}

pub fn read(data: &Value) -> Option<PanelBody> {
    let Data {
        title,
        text,
        mut versions,
    } = Data::deserialize(data).ok()?;
    if versions.is_empty() {
        let label = Line::default();
        versions.push(VersionData { text: text?, label });
    }
    let deadline = Instant::now() + PATIENCE;
    let older = versions.len().saturating_sub(VERSIONS);
    let compared = |index: usize| match index.checked_sub(1).and_then(|before| versions.get(before)) {
        Some(before) => changes(&before.text, &versions[index].text, deadline),
        None => Vec::new(),
    };
    let changes: Vec<_> = (older..versions.len()).map(compared).collect();
    let shown = (older..).zip(versions.into_iter().skip(older)).zip(changes);
    Some(PanelBody::Document(Document {
        title: Some(title.0).filter(|title| !title.is_empty()),
        versions: shown
            .map(|((index, VersionData { text, label }), changes)| Version {
                label: if label.0.is_empty() {
                    format!("Version {}", index + 1)
                } else {
                    label.0
                },
                text,
                changes,
            })
            .collect(),
    }))
}

/// The text of the newest version.
pub fn latest(data: &Value) -> Option<String> {
    let Data { text, versions, .. } = Data::deserialize(data).ok()?;
    let newest = versions.into_iter().next_back();
    newest.map(|version| version.text).or(text)
}

/// What has changed from one text to the next, line by line.
fn changes(before: &str, after: &str, deadline: Instant) -> Vec<DiffLine> {
    let diff = TextDiff::configure().deadline(deadline).diff_lines(before, after);
    let mut lines = Vec::new();
    // Lines of the old text up to here are shown or skipped.
    let mut told = 0;
    for group in diff.grouped_ops(AROUND) {
        let begin = group.first().map_or(told, |op| op.old_range().start);
        lines.extend(skipped(begin - told));
        told = group.last().map_or(told, |op| op.old_range().end);
        for op in &group {
            let room = (LINES + 1).saturating_sub(lines.len());
            lines.extend(diff.iter_changes(op).take(room).map(|change| DiffLine {
                change: match change.tag() {
                    ChangeTag::Equal => LineChange::Same,
                    ChangeTag::Insert => LineChange::Added,
                    ChangeTag::Delete => LineChange::Removed,
                },
                text: shortened(change.value().trim_end_matches(['\n', '\r']), LONGEST),
            }));
        }
    }
    if !lines.is_empty() {
        lines.extend(skipped(diff.old_len() - told));
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push(DiffLine {
            change: LineChange::Skipped,
            text: "More lines have changed; they are not shown here".into(),
        });
    }
    lines
}

/// Stands for lines that are the same.
fn skipped(lines: usize) -> Option<DiffLine> {
    (lines > 0).then(|| DiffLine {
        change: LineChange::Skipped,
        text: count(lines as u64, "line is the same", "lines are the same"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(data: &Value) -> Document {
        match read(data) {
            Some(PanelBody::Document(document)) => document,
            other => panic!("{other:?} is no document"),
        }
    }

    fn diff(before: &str, after: &str) -> Vec<String> {
        let document = document(&json!({"versions": [{"text": before}, {"text": after}]}));
        let changes = document.versions[1].changes.iter();
        let line = |line: &DiffLine| {
            let sign = match line.change {
                LineChange::Same => ' ',
                LineChange::Added => '+',
                LineChange::Removed => '-',
                LineChange::Skipped => '…',
            };
            format!("{sign}{}", line.text)
        };
        changes.map(line).collect()
    }

    #[test]
    fn a_text_is_its_only_version() {
        let expected = Document {
            title: Some("T".into()),
            versions: vec![Version {
                label: "Version 1".into(),
                text: "# Hello\n".into(),
                changes: vec![],
            }],
        };
        assert_eq!(document(&json!({"title": "T", "text": "# Hello\n"})), expected);
        assert_eq!(read(&json!({"title": "T"})), None);
    }

    #[test]
    fn each_version_says_what_has_changed_since_the_one_before() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = before.replace('5', "five\r");
        assert_eq!(
            diff(before, &after),
            [
                "…1 line is the same",
                " 2",
                " 3",
                " 4",
                "-5",
                "+five",
                " 6",
                " 7",
                " 8",
                "…1 line is the same"
            ]
        );
        assert_eq!(diff(before, before), Vec::<String>::new());
        assert_eq!(diff("", "a\nb"), ["+a", "+b"]);
        assert_eq!(diff("a", "a\n"), ["-a", "+a"]);
    }

    #[test]
    fn the_newest_versions_are_shown_under_their_own_numbers() {
        let versions: Vec<_> = (0..25).map(|index| json!({"text": index.to_string()})).collect();
        let document = document(&json!({ "versions": versions }));
        assert_eq!(document.versions.len(), VERSIONS);
        assert_eq!(
            (
                document.versions[0].label.as_str(),
                document.versions[0].text.as_str()
            ),
            ("Version 6", "5")
        );
        assert_eq!(document.versions[0].changes.len(), 2);
    }

    #[test]
    fn texts_that_have_nothing_in_common_are_compared_in_time() {
        let lines = |from: u32| {
            (from..from + 60_000)
                .map(|line| format!("{line}\n"))
                .collect::<String>()
        };
        let began = Instant::now();
        let changes = diff(&lines(0), &lines(100_000));
        assert_eq!(changes.len(), LINES + 1);
        assert!(began.elapsed() < PATIENCE * 10, "{:?}", began.elapsed());
    }
}
