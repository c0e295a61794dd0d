//! Arbitrary data as a tree of limited depth and size.

use serde_json::Value;

use super::formatting::{format_count, format_line, format_scalar};
use parlor_base::text::truncate_chars;
use parlor_protocol::number_format::group_digits;
use parlor_protocol::panel::TreeNode;

/// The maximum depth. Deeper data are shown in one line.
const MAX_DEPTH: usize = 12;
/// The maximum numbers of nodes in all and of children of one node.
const MAX_NODES: usize = 2000;
const MAX_CHILDREN: usize = 200;
/// The maximum length of a text and of all texts together, in characters.
const MAX_TEXT_CHARS: usize = 4000;
const MAX_TOTAL_CHARS: usize = 500_000;

/// Converts data to a tree.
pub fn build(data: &Value) -> TreeNode {
    let mut left = Budget {
        nodes: MAX_NODES,
        characters: MAX_TOTAL_CHARS,
    };
    left.branch(None, data, MAX_DEPTH)
}

/// The nodes and characters that may still be added.
struct Budget {
    nodes: usize,
    characters: usize,
}

impl Budget {
    fn branch(&mut self, name: Option<&str>, value: &Value, depth: usize) -> TreeNode {
        self.nodes = self.nodes.saturating_sub(1);
        let name = name.map(|name| self.text(name));
        let (text, size) = match value {
            Value::Array(items) => (format_count(items.len() as u64, "item", "items"), items.len()),
            Value::Object(fields) => (format_count(fields.len() as u64, "field", "fields"), fields.len()),
            _ => {
                let text = match value {
                    Value::Null => "null".into(),
                    _ => format_scalar(value).unwrap_or_default(),
                };
                (self.text(&text), 0)
            }
        };
        if size > 0 && depth == 0 {
            let text = self.text(&format_line(value));
            return leaf(name, text);
        }
        let mut branches = Vec::new();
        match value {
            Value::Array(items) => self.fill(&mut branches, items.iter().map(|item| (None, item)), depth),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| (Some(name.as_str()), value));
                self.fill(&mut branches, fields, depth);
            }
            _ => {}
        }
        let missing = match size - branches.len() {
            0 => String::new(),
            more => format!("{} more", group_digits(more as u64)),
        };
        TreeNode {
            name,
            text,
            branches,
            missing,
        }
    }

    fn fill<'a>(
        &mut self,
        branches: &mut Vec<TreeNode>,
        things: impl Iterator<Item = (Option<&'a str>, &'a Value)>,
        depth: usize,
    ) {
        for (name, value) in things.take(MAX_CHILDREN) {
            if self.nodes == 0 {
                break;
            }
            branches.push(self.branch(name, value, depth - 1));
        }
    }

    fn text(&mut self, text: &str) -> String {
        let text = truncate_chars(text, MAX_TEXT_CHARS.min(self.characters));
        self.characters = self.characters.saturating_sub(text.len());
        text
    }
}

fn leaf(name: Option<String>, text: String) -> TreeNode {
    TreeNode {
        name,
        text,
        branches: Vec::new(),
        missing: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tree_has_names_texts_and_counts() {
        let named = |name: &str, text: &str| leaf(Some(name.into()), text.into());
        let data = json!({"a": "x", "b": [1.5, null, {}], "c": true});
        let expected = TreeNode {
            name: None,
            text: "3 fields".into(),
            branches: vec![
                named("a", "x"),
                TreeNode {
                    branches: vec![
                        leaf(None, "1.5".into()),
                        leaf(None, "null".into()),
                        leaf(None, "0 fields".into()),
                    ],
                    ..named("b", "3 items")
                },
                named("c", "true"),
            ],
            missing: String::new(),
        };
        assert_eq!(build(&data), expected);
    }

    fn count_nodes(branch: &TreeNode) -> usize {
        1 + branch.branches.iter().map(count_nodes).sum::<usize>()
    }

    fn depth(branch: &TreeNode) -> usize {
        1 + branch.branches.iter().map(depth).max().unwrap_or(0)
    }

    #[test]
    fn tree_stays_within_its_limits() {
        let mut deep = json!([]);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert_eq!(depth(&build(&deep)), MAX_DEPTH + 1);
        let wide = build(&json!(vec![0; 1000]));
        assert_eq!(
            (wide.branches.len(), wide.missing.as_str()),
            (MAX_CHILDREN, "800 more")
        );
        let both = build(&json!(vec![vec![vec![0; 100]; 100]; 100]));
        assert!(count_nodes(&both) <= MAX_NODES);
        assert_eq!(
            build(&json!("é".repeat(10_000))).text.chars().count(),
            MAX_TEXT_CHARS + 1
        );
    }
}
