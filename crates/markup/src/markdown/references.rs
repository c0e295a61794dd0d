//! References between parts of a text: link and footnote definitions, and the brackets that may refer to
//! them.
//!
//! Parts of a growing text are parsed alone. The definitions that match one of a part's brackets are put
//! before it as *context*, followed by a rule that separates the two.

use std::collections::{HashMap, HashSet};

use unicase::UniCase;

/// A link definition, `[label]: href "title"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkDefinition {
    pub label: String,
    pub href: String,
    pub title: Option<String>,
}

impl LinkDefinition {
    /// Writes the definition so that it is parsed to the same value.
    fn write_to(&self, out: &mut String) {
        out.push('[');
        out.push_str(&self.label);
        out.push_str("]: <");
        escape(&self.href, out);
        out.push('>');
        if let Some(title) = &self.title {
            out.push_str(" \"");
            escape(title, out);
            out.push('"');
        }
        out.push('\n');
    }
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' | '<' | '>' | '"' | '&' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("&#10;"),
            c => out.push(c),
        }
    }
}

/// Returns a key that is equal for equivalent labels. Other labels may have equal keys too: the key only
/// selects the parser's input, and the parser compares the labels themselves.
pub fn label_key(label: &str) -> String {
    let bare: String = label
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '>' | '\\'))
        .collect();
    // Same as in the parser, whose tables are linked in anyway.
    UniCase::unicode(bare).to_folded_case()
}

/// The brackets of a text that may be references.
#[derive(Debug, Default)]
pub(super) struct LabelMentions {
    /// Keys of labels.
    pub links: HashSet<String>,
    /// Labels of footnotes by their keys, without `^`.
    pub footnotes: HashMap<String, String>,
}

impl LabelMentions {
    /// Finds all texts that the parser might take for a label, and some more: it honours backslashes before
    /// brackets, but not always, so both readings are mentions.
    pub fn find(text: &str) -> Self {
        let mut mentions = LabelMentions::default();
        mentions.find_brackets(text, true);
        if text.contains('\\') {
            mentions.find_brackets(text, false);
        }
        mentions
    }

    fn find_brackets(&mut self, text: &str, escapes: bool) {
        let mut open = None;
        let mut escaped = false;
        for (at, byte) in text.bytes().enumerate() {
            if std::mem::take(&mut escaped) {
                continue;
            }
            match byte {
                b'\\' => escaped = escapes,
                b'[' => open = Some(at + 1),
                b']' => {
                    if let Some(start) = open.take() {
                        self.add(&text[start..at]);
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, label: &str) {
        // CommonMark's limit for a label, in characters of at most four bytes.
        if label.len() > 4 * 1000 {
            return;
        }
        match label.strip_prefix('^') {
            Some(note) if !note.is_empty() => {
                if !note.contains('\n') {
                    self.footnotes.insert(label_key(note), note.to_owned());
                }
            }
            _ => {
                self.links.insert(label_key(label));
            }
        }
    }

    /// Returns true if both mention the same label of a link or of a footnote.
    pub fn intersects(&self, others: &LabelMentions) -> bool {
        self.links.iter().any(|key| others.links.contains(key))
            || self
                .footnotes
                .keys()
                .any(|key| others.footnotes.contains_key(key))
    }

    pub fn is_empty(&self) -> bool {
        self.links.is_empty() && self.footnotes.is_empty()
    }
}

/// The definitions of the closed part of a text.
#[derive(Debug, Default)]
pub(super) struct ReferenceTable {
    /// The definitions by key, in the order of the text: of two with the same label the first counts.
    definitions: HashMap<String, Vec<LinkDefinition>>,
    footnotes: HashMap<String, Vec<String>>,
}

impl ReferenceTable {
    /// Returns the key if this label was not defined before.
    pub fn define(&mut self, definition: LinkDefinition) -> Option<String> {
        let key = label_key(&definition.label);
        let known = self.definitions.entry(key.clone()).or_default();
        if known.iter().any(|other| other.label == definition.label) {
            return None;
        }
        known.push(definition);
        Some(key)
    }

    /// Returns the key if this footnote was not defined before.
    pub fn define_footnote(&mut self, label: &str) -> Option<String> {
        let key = label_key(label);
        let known = self.footnotes.entry(key.clone()).or_default();
        if known.iter().any(|other| other == label) {
            return None;
        }
        known.push(label.to_owned());
        Some(key)
    }

    /// Returns the text to put before a part with these mentions. With `assume_footnotes`, undefined ones
    /// count as defined: in a growing text, the footnotes stand at the end, which has not come.
    pub fn definitions_for(&self, mentions: &LabelMentions, assume_footnotes: bool) -> String {
        let mut context = String::new();
        for definition in mentions
            .links
            .iter()
            .filter_map(|key| self.definitions.get(key))
            .flatten()
        {
            definition.write_to(&mut context);
        }
        for (key, label) in &mentions.footnotes {
            if assume_footnotes {
                push_footnote(label, &mut context);
            } else {
                for label in self.footnotes.get(key).into_iter().flatten() {
                    push_footnote(label, &mut context);
                }
            }
        }
        if !context.is_empty() {
            context.push_str("\n***\n");
        }
        context
    }
}

fn push_footnote(label: &str, out: &mut String) {
    out.push_str("\n[^");
    out.push_str(label);
    out.push_str("]: -\n");
}
