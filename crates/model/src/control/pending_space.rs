//! Whitespace that is held back, because control text that follows would remove it.

/// The longest whitespace that is held back. Longer whitespace is shown.
const MAX_HELD_SPACE: usize = 1024;

/// The whitespace between the last visible text and the next.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingSpace {
    before: String,
    /// The whitespace after removed control text; `None` if none was removed.
    after: Option<String>,
    /// True if visible text comes before.
    follows_text: bool,
}

impl PendingSpace {
    pub fn push(&mut self, c: char) {
        self.after.as_mut().unwrap_or(&mut self.before).push(c);
    }

    /// Begins the continuation of a text. Without whitespace so far, the text continues where it ended.
    pub fn begin_answer(&mut self) {
        if self.before.is_empty() && self.after.is_none() {
            self.follows_text = false;
        }
    }

    pub fn is_full(&self) -> bool {
        self.after.as_ref().unwrap_or(&self.before).len() >= MAX_HELD_SPACE
    }

    /// Marks the position of removed control text.
    pub fn mark_removed(&mut self) {
        self.before = self.before_text();
        self.after = Some(String::new());
    }

    /// Takes the whitespace before the text that follows.
    pub fn take_before_text(&mut self) -> String {
        let white_space = self.before_text();
        *self = Self {
            follows_text: true,
            ..Self::default()
        };
        white_space
    }

    /// Takes the whitespace at the text's end, which is empty after control text.
    pub fn finish(&mut self) -> String {
        let space = std::mem::take(self);
        if space.after.is_some() {
            String::new()
        } else {
            space.before
        }
    }

    /// Returns the visible whitespace if text follows now.
    ///
    /// Of the line ends on both sides of control text the larger group stays, so that paragraphs stay apart
    /// and no empty space is left. The indent is that of the following line, because it may be significant.
    pub fn before_text(&self) -> String {
        let before = self.before.as_str();
        let Some(after) = &self.after else {
            return before.to_owned();
        };
        let (lines_after, indent_after) = split_indent(after);
        if !self.follows_text {
            return if lines_after.is_empty() {
                String::new()
            } else {
                indent_after.into()
            };
        }
        if lines_after.is_empty() {
            return if before.is_empty() {
                after.clone()
            } else {
                before.into()
            };
        }
        let (lines_before, _) = split_indent(before);
        if line_ends(lines_before) >= line_ends(lines_after) {
            lines_before.to_owned() + indent_after
        } else {
            after.clone()
        }
    }
}

/// Splits whitespace after its last line end.
fn split_indent(white_space: &str) -> (&str, &str) {
    white_space.split_at(white_space.rfind(['\n', '\r']).map_or(0, |at| at + 1))
}

fn line_ends(white_space: &str) -> usize {
    let bytes = white_space.as_bytes();
    let ends = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    ends - bytes.windows(2).filter(|pair| pair == b"\r\n").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(before: &str, after: &str) -> String {
        let mut space = PendingSpace::default();
        space.take_before_text();
        before.chars().for_each(|c| space.push(c));
        space.mark_removed();
        after.chars().for_each(|c| space.push(c));
        space.take_before_text()
    }

    #[test]
    fn keeps_the_larger_gap_and_the_indent() {
        for (before, after, shown) in [
            ("\n\n", "\n", "\n\n"),
            ("\n", "\n\n", "\n\n"),
            (" ", "\n\n", "\n\n"),
            (" ", " ", " "),
            ("", " ", " "),
            ("\n\n", " ", "\n\n"),
            ("\n\n  ", "\n    ", "\n\n    "),
            ("  \n", "\n", "  \n"),
            ("\r\n", "\n\n", "\n\n"),
            ("\r\n\r\n", "\r\n", "\r\n\r\n"),
        ] {
            assert_eq!(between(before, after), shown, "{before:?} and {after:?}");
        }
    }

    #[test]
    fn trims_both_ends_except_indent() {
        let mut space = PendingSpace::default();
        space.push('\n');
        space.mark_removed();
        "\n\n  ".chars().for_each(|c| space.push(c));
        assert_eq!(space.before_text(), "  ");
        assert_eq!(space.finish(), "");
    }

    #[test]
    fn keeps_space_without_control_text() {
        let mut space = PendingSpace::default();
        " \n\t\r\n ".chars().for_each(|c| space.push(c));
        assert_eq!(space.finish(), " \n\t\r\n ");
    }
}
