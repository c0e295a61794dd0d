//! Data of any kind as a tree that a person can read, however deep and large they are.

use serde_json::Value;

use super::words::{count, in_a_line, scalar, shortened};
use crate::protocol::panel::Branch;
use crate::protocol::words::grouped;

/// How deep it goes. What is deeper is there in one line.
const DEPTH: usize = 12;
/// How many things there are in all, and in one.
const THINGS: usize = 2000;
const IN_ONE: usize = 200;
/// The longest text, in characters, and how much all of them have together.
const TEXT: usize = 4000;
const TEXTS: usize = 500_000;

/// The data as a tree.
pub fn of(data: &Value) -> Branch {
    let mut left = Left {
        things: THINGS,
        characters: TEXTS,
    };
    left.branch(None, data, DEPTH)
}

/// What may still come.
struct Left {
    things: usize,
    characters: usize,
}

impl Left {
    fn branch(&mut self, name: Option<&str>, value: &Value, depth: usize) -> Branch {
        self.things = self.things.saturating_sub(1);
        let name = name.map(|name| self.text(name));
        let (text, size) = match value {
            Value::Array(items) => (count(items.len() as u64, "item", "items"), items.len()),
            Value::Object(fields) => (count(fields.len() as u64, "field", "fields"), fields.len()),
            _ => {
                let text = match value {
                    Value::Null => "null".into(),
                    _ => scalar(value).unwrap_or_default(),
                };
                (self.text(&text), 0)
            }
        };
        if size > 0 && depth == 0 {
            let text = self.text(&in_a_line(value));
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
            more => format!("{} more", grouped(more as u64)),
        };
        Branch {
            name,
            text,
            branches,
            missing,
        }
    }

    fn fill<'a>(
        &mut self,
        branches: &mut Vec<Branch>,
        things: impl Iterator<Item = (Option<&'a str>, &'a Value)>,
        depth: usize,
    ) {
        for (name, value) in things.take(IN_ONE) {
            if self.things == 0 {
                break;
            }
            branches.push(self.branch(name, value, depth - 1));
        }
    }

    fn text(&mut self, text: &str) -> String {
        let text = shortened(text, TEXT.min(self.characters));
        self.characters = self.characters.saturating_sub(text.len());
        text
    }
}

fn leaf(name: Option<String>, text: String) -> Branch {
    Branch {
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
    fn a_tree_has_names_texts_and_counts() {
        let named = |name: &str, text: &str| leaf(Some(name.into()), text.into());
        let data = json!({"a": "x", "b": [1.5, null, {}], "c": true});
        let expected = Branch {
            name: None,
            text: "3 fields".into(),
            branches: vec![
                named("a", "x"),
                Branch {
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
        assert_eq!(of(&data), expected);
    }

    fn things(branch: &Branch) -> usize {
        1 + branch.branches.iter().map(things).sum::<usize>()
    }

    fn depth(branch: &Branch) -> usize {
        1 + branch.branches.iter().map(depth).max().unwrap_or(0)
    }

    #[test]
    fn it_is_never_too_deep_nor_too_large() {
        let mut deep = json!([]);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert_eq!(depth(&of(&deep)), DEPTH + 1);
        let wide = of(&json!(vec![0; 1000]));
        assert_eq!((wide.branches.len(), wide.missing.as_str()), (IN_ONE, "800 more"));
        let both = of(&json!(vec![vec![vec![0; 100]; 100]; 100]));
        assert!(things(&both) <= THINGS);
        assert_eq!(of(&json!("é".repeat(10_000))).text.chars().count(), TEXT + 1);
    }
}
