//! Tests of this module, by property and by example.

mod code;
mod complexity;
mod corpus;
mod documents;
mod emphasis;
mod formulas;
mod hostile;
mod incremental;
mod links;
mod nested_fences;
mod rendering;
mod tags;
mod tree;

use super::{Block, MarkdownDocument, Patch, apply};

/// A document and a mirror of it that only sees the patches.
#[derive(Default)]
struct MirroredDocument {
    document: MarkdownDocument,
    mirror: Vec<Block>,
}

impl MirroredDocument {
    fn push(&mut self, delta: &str) {
        let patches = self.document.push(delta);
        self.apply_patches(&patches);
    }

    fn finish(&mut self) {
        let patches = self.document.finish();
        self.apply_patches(&patches);
    }

    fn apply_patches(&mut self, patches: &[Patch]) {
        for patch in patches {
            apply(&mut self.mirror, patch);
        }
        assert_eq!(
            self.mirror,
            self.document.blocks(),
            "the mirror after {patches:?}"
        );
    }
}

/// The examples of the CommonMark specification.
fn examples() -> Vec<(u64, String)> {
    let json = include_str!("../../../../../tests/fixtures/commonmark/examples.json");
    let examples: Vec<serde_json::Value> = serde_json::from_str(json).expect("the fixture is JSON");
    let text = |example: &serde_json::Value| example["markdown"].as_str().map(str::to_owned);
    examples
        .iter()
        .map(|e| (e["example"].as_u64().unwrap_or(0), text(e).unwrap_or_default()))
        .collect()
}
