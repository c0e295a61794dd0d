//! Long texts are shown in pieces: the first at once, each further one when a user asks for it.
//! The first piece of a complete text is smaller, so that its page is soon ready.
//!
//! An answer may have 8 MiB. Rendering all of it as nodes would keep a browser busy for minutes, and the server would
//! render it for every reader. The end of a piece depends on the text alone, not on its deltas, so that the server and
//! the browser agree.

use super::formula_meter::FormulaMeter;
use parlor_markup::markdown::Block;

/// The cost of a piece: some 200 KB of plain prose, 3,500 short lines, 32 KB of markup without words, or 8,000 letters
/// of formulas.
const MAX_PIECE_COST: usize = 256 << 10;

/// The cost of the first piece of a complete text that is longer than a piece.
const MAX_FIRST_COST: usize = 64 << 10;

/// The cost of a byte that may begin or end an element; any other byte costs 1.
const MARKUP_COST: usize = 8;

/// The cost of the end of a line. A line may be a block, such as the item of a list or the row of a table: some elements
/// with a layout of their own.
const LINE_COST: usize = 64;

/// The additional cost of a character or a command that may stand in a formula: it becomes an element, or some.
const FORMULA_COST: usize = 32;

/// The maximum length, in bytes, by which a piece is extended to the end of its last line.
const MAX_LINE_BYTES: usize = 4096;

/// Measures a growing text up to the end of a piece.
#[derive(Debug, Default)]
pub struct PieceMeter {
    cost: usize,
    formulas: FormulaMeter,
    /// The bytes beyond the cost of a piece.
    excess_bytes: usize,
    is_line_ended: bool,
}

impl PieceMeter {
    /// Returns the meter of the first piece of a complete text that is longer than a piece.
    pub fn for_first_of_many() -> Self {
        Self {
            cost: MAX_PIECE_COST - MAX_FIRST_COST,
            ..Self::default()
        }
    }

    /// Returns true if the text may be inside a formula.
    pub fn may_be_in_formula(&self) -> bool {
        self.formulas.may_be_inside()
    }

    /// Returns the number of bytes of `text`, which continues the text measured before, that belong to this piece.
    pub fn measure(&mut self, text: &str) -> usize {
        for (at, byte) in text.bytes().enumerate() {
            if self.cost >= MAX_PIECE_COST {
                let line_is_long = self.excess_bytes >= MAX_LINE_BYTES && text.is_char_boundary(at);
                if self.is_line_ended || line_is_long {
                    return at;
                }
                self.excess_bytes += 1;
            }
            self.cost += match byte {
                b'\n' => LINE_COST,
                byte if byte.is_ascii_punctuation() => MARKUP_COST,
                _ => 1,
            };
            self.cost += FORMULA_COST * self.formulas.measure(byte);
            self.is_line_ended = byte == b'\n';
        }
        text.len()
    }
}

/// The text of a code block, counted from 0 through all blocks.
pub fn nth_code_block(blocks: &[Block], number: usize) -> Option<String> {
    let mut left = number;
    find(blocks, &mut left)
}

fn find(blocks: &[Block], left: &mut usize) -> Option<String> {
    blocks.iter().find_map(|block| match block {
        Block::Code { text, .. } => match left.checked_sub(1) {
            Some(fewer) => {
                *left = fewer;
                None
            }
            None => Some(text.clone()),
        },
        Block::List { items, .. } => items.iter().find_map(|item| find(&item.blocks, left)),
        block => block.children().and_then(|blocks| find(blocks, left)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_markup::markdown::parse;

    #[test]
    fn piece_ends_with_a_line_or_soon_after() {
        let lines = "some words\n".repeat(100_000);
        let end = PieceMeter::default().measure(&lines);
        assert!(end < lines.len() && lines[..end].ends_with('\n'), "{end}");
        let line = "é".repeat(MAX_PIECE_COST);
        let end = PieceMeter::default().measure(&line);
        assert_eq!(end, MAX_PIECE_COST + MAX_LINE_BYTES);
        let markup = "*".repeat(MAX_PIECE_COST);
        assert_eq!(
            PieceMeter::default().measure(&markup),
            MAX_PIECE_COST / MARKUP_COST + MAX_LINE_BYTES
        );
        assert_eq!(PieceMeter::default().measure("short"), 5);
    }

    #[test]
    fn first_of_many_pieces_is_smaller() {
        let lines = "some words\n".repeat(100_000);
        let ends =
            [PieceMeter::for_first_of_many(), PieceMeter::default()].map(|mut meter| meter.measure(&lines));
        let shares = MAX_PIECE_COST / MAX_FIRST_COST;
        assert!((ends[1] / shares).abs_diff(ends[0]) < 100, "{ends:?}");
    }

    #[test]
    fn piece_ends_do_not_depend_on_deltas() {
        for text in [
            "wörds and *marks*\n".repeat(60_000),
            "é`".repeat(200_000),
            "a $x_é$ \\(y\\) b\n".repeat(60_000),
        ] {
            let at_once = PieceMeter::default().measure(&text);
            for step in [1, 7, 4099] {
                let (mut meter, mut taken, mut from) = (PieceMeter::default(), 0, 0);
                while from < text.len() {
                    let to = text.floor_char_boundary((from + step + 1).min(text.len()));
                    let took = meter.measure(&text[from..to]);
                    taken += took;
                    if took < to - from {
                        break;
                    }
                    from = to;
                }
                assert_eq!(taken, at_once, "in steps of {step}");
            }
        }
    }

    #[test]
    fn formulas_cost_more_than_markup() {
        for formula in ["$x$", "\\(x\\)", "$$x$$", "\\[x\\]"] {
            let (open, close) = formula.split_once('x').unwrap_or_default();
            let line = [open, &"x".repeat(1_000), close, "\n"].concat();
            let end = PieceMeter::default().measure(&line.repeat(1_000));
            let letters = MAX_PIECE_COST / FORMULA_COST;
            assert!((letters / 2..letters + 2_000).contains(&end), "{formula}: {end}");
        }
    }

    #[test]
    fn counts_nested_code_blocks() {
        let blocks = parse("    a\n\n- x\n\n  ```\n  b\n  ```\n\n> ```\n> c\n> ```\n\n```\nd");
        let found: Vec<_> = (0..5).map(|number| nth_code_block(&blocks, number)).collect();
        let code = |text: &str| Some(format!("{text}\n"));
        assert_eq!(found[..3], [code("a"), code("b"), code("c")]);
        assert!(found[3].as_deref().is_some_and(|text| text.trim_end() == "d"));
        assert_eq!(found[4], None);
    }
}
