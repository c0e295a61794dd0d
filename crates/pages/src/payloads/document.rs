//! `text_document`: `{title?, text}`, or `{title?, versions: [{text, label?}]}`, oldest first. The text is Markdown.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::formatting::{Line, format_count};
use parlor_base::text::truncate_chars;
use parlor_protocol::panel::{DiffLine, DocumentVersion, DocumentView, LineChange, PanelBody};

/// The maximum number of versions that are shown. The oldest ones are omitted.
const MAX_VERSIONS: usize = 20;
/// The time limit of all comparisons. Text that was not compared by then is shown as removed and added.
const DIFF_TIMEOUT: Duration = Duration::from_millis(500);
/// The number of unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;
/// The maximum number of lines of a comparison, and their length in characters.
const MAX_DIFF_LINES: usize = 2000;
const MAX_LINE_CHARS: usize = 1000;

#[derive(Deserialize)]
struct DocumentData {
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
    let DocumentData {
        title,
        text,
        mut versions,
    } = DocumentData::deserialize(data).ok()?;
    if versions.is_empty() {
        let label = Line::default();
        versions.push(VersionData { text: text?, label });
    }
    let deadline = Instant::now() + DIFF_TIMEOUT;
    let older = versions.len().saturating_sub(MAX_VERSIONS);
    let compared = |index: usize| match index.checked_sub(1).and_then(|before| versions.get(before)) {
        Some(before) => diff_lines(&before.text, &versions[index].text, deadline),
        None => Vec::new(),
    };
    let changes: Vec<_> = (older..versions.len()).map(compared).collect();
    let shown = (older..).zip(versions.into_iter().skip(older)).zip(changes);
    Some(PanelBody::Document(DocumentView {
        title: Some(title.0).filter(|title| !title.is_empty()),
        versions: shown
            .map(
                |((index, VersionData { text, label }), changes)| DocumentVersion {
                    label: if label.0.is_empty() {
                        format!("Version {}", index + 1)
                    } else {
                        label.0
                    },
                    text,
                    changes,
                },
            )
            .collect(),
    }))
}

/// Returns true if data are a document. Compares nothing.
pub fn is_document(data: &Value) -> bool {
    DocumentData::deserialize(data)
        .is_ok_and(|document| document.text.is_some() || !document.versions.is_empty())
}

/// Returns the text of the newest version.
pub fn latest_text(data: &Value) -> Option<String> {
    let DocumentData { text, versions, .. } = DocumentData::deserialize(data).ok()?;
    let newest = versions.into_iter().next_back();
    newest.map(|version| version.text).or(text)
}

/// Compares two texts line by line.
fn diff_lines(before: &str, after: &str, deadline: Instant) -> Vec<DiffLine> {
    let diff = TextDiff::configure().deadline(deadline).diff_lines(before, after);
    let mut lines = Vec::new();
    // Lines of the old text before this one are shown or skipped.
    let mut next_line = 0;
    for group in diff.grouped_ops(CONTEXT_LINES) {
        let begin = group.first().map_or(next_line, |op| op.old_range().start);
        lines.extend(skipped_line(begin - next_line));
        next_line = group.last().map_or(next_line, |op| op.old_range().end);
        for op in &group {
            let room = (MAX_DIFF_LINES + 1).saturating_sub(lines.len());
            lines.extend(diff.iter_changes(op).take(room).map(|change| DiffLine {
                change: match change.tag() {
                    ChangeTag::Equal => LineChange::Same,
                    ChangeTag::Insert => LineChange::Added,
                    ChangeTag::Delete => LineChange::Removed,
                },
                text: truncate_chars(change.value().trim_end_matches(['\n', '\r']), MAX_LINE_CHARS),
            }));
        }
    }
    if !lines.is_empty() {
        lines.extend(skipped_line(diff.old_len() - next_line));
    }
    if lines.len() > MAX_DIFF_LINES {
        lines.truncate(MAX_DIFF_LINES);
        lines.push(DiffLine {
            change: LineChange::Skipped,
            text: "More lines have changed; they are not shown here".into(),
        });
    }
    lines
}

/// Returns a line that replaces unchanged lines.
fn skipped_line(lines: usize) -> Option<DiffLine> {
    (lines > 0).then(|| DiffLine {
        change: LineChange::Skipped,
        text: format_count(lines as u64, "line is the same", "lines are the same"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(data: &Value) -> DocumentView {
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
    fn plain_text_is_a_single_version() {
        let expected = DocumentView {
            title: Some("T".into()),
            versions: vec![DocumentVersion {
                label: "Version 1".into(),
                text: "# Hello\n".into(),
                changes: vec![],
            }],
        };
        assert_eq!(document(&json!({"title": "T", "text": "# Hello\n"})), expected);
        assert_eq!(read(&json!({"title": "T"})), None);
    }

    #[test]
    fn versions_have_diffs_to_their_predecessor() {
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
    fn newest_versions_keep_their_numbers() {
        let versions: Vec<_> = (0..25).map(|index| json!({"text": index.to_string()})).collect();
        let document = document(&json!({ "versions": versions }));
        assert_eq!(document.versions.len(), MAX_VERSIONS);
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
    fn unrelated_texts_are_diffed_in_time() {
        let lines = |from: u32| {
            (from..from + 60_000)
                .map(|line| format!("{line}\n"))
                .collect::<String>()
        };
        let began = Instant::now();
        let changes = diff(&lines(0), &lines(100_000));
        assert_eq!(changes.len(), MAX_DIFF_LINES + 1);
        assert!(began.elapsed() < DIFF_TIMEOUT * 10, "{:?}", began.elapsed());
    }
}
