//! Masking of formulas, so that the Markdown parser sees plain words in their place.
//!
//! LaTeX is full of characters that are markup in Markdown, even at the beginning of a line (`+ c`, `= d`). In a masked
//! formula each of them is replaced by a control character. The text keeps its length and all positions, and a masked
//! text is converted back without knowing where the formulas are: [`push_normalized`](super::parse::push_normalized)
//! keeps these control characters out of all other text.

use std::borrow::Cow;

use super::formula_scanner::FormulaScanner;
use super::nested_fences;

/// The characters that Markdown may take for markup in the middle of a formula, in the order of their masks.
const MARKUP: &[u8; 20] = b"*_~[]<>&!\\`|#+-.)=:$";

/// The masks: control characters that have no meaning in text.
const MASKS: &[u8; 20] = b"\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1c";

/// The masks of the delimiters of fences.
pub(super) const TILDE_MASK: u8 = b'\x03';
pub(super) const BACKTICK_MASK: u8 = b'\x12';

/// The mask of a line end next to a blank line, which would end the paragraph.
const LINE_END_MASK: u8 = b'\x1d';

/// True for the control characters that stand for markup.
pub(super) fn is_mask(c: char) -> bool {
    u8::try_from(c).is_ok_and(|byte| byte == LINE_END_MASK || MASKS.contains(&byte))
}

/// Returns a masked text as it was written.
pub(super) fn unmask(text: &str) -> Cow<'_, str> {
    if !text.contains(is_mask) {
        return text.into();
    }
    let original = text.chars().map(|c| {
        if c == char::from(LINE_END_MASK) {
            return '\n';
        }
        let mask = MASKS.iter().position(|mask| char::from(*mask) == c);
        mask.map_or(c, |at| char::from(MARKUP[at]))
    });
    Cow::Owned(original.collect())
}

/// A text with masked formulas.
pub(super) struct MaskedText<'a> {
    pub text: Cow<'a, str>,
    /// The byte position of a delimiter that a later line may close.
    pub open_at: Option<usize>,
    /// The number of bytes parsed and searched for it.
    pub parsed: usize,
}

/// Masks the formulas and the inner fences of `text`. `lead` is the text that the parser needs before it. With `masks_open`, a
/// formula whose end has not arrived yet is masked too.
pub(super) fn mask<'a>(lead: &str, text: &'a str, masks_open: bool) -> MaskedText<'a> {
    let fences = nested_fences::mask(lead, text);
    let masked = match fences.text {
        Cow::Borrowed(text) => mask_formulas(lead, text, masks_open),
        Cow::Owned(text) => {
            let masked = mask_formulas(lead, &text, masks_open);
            MaskedText {
                text: Cow::Owned(masked.text.into_owned()),
                ..masked
            }
        }
    };
    MaskedText {
        parsed: masked.parsed + fences.parsed,
        ..masked
    }
}

fn mask_formulas<'a>(lead: &str, text: &'a str, masks_open: bool) -> MaskedText<'a> {
    let mut masked = MaskedText {
        text: text.into(),
        open_at: None,
        parsed: 0,
    };
    if !text.contains('$')
        && !["\\(", "\\[", "\\begin{"]
            .iter()
            .any(|opening| text.contains(opening))
    {
        return masked;
    }
    let whole = [lead, text].concat();
    let scan = FormulaScanner::new(&whole).scan(lead.len(), masks_open);
    masked.parsed = whole.len() + scan.searched;
    masked.open_at = scan.open_at.map(|open| open - lead.len());
    let ranges = scan.formulas;
    if !ranges.is_empty() {
        let mut bytes = text.as_bytes().to_vec();
        let mut searched = 0;
        let mut quotes = 0;
        let mut begins_with_backticks = false;
        for range in ranges {
            let range = range.start - lead.len()..range.end - lead.len();
            let new_line = bytes[searched..range.start]
                .iter()
                .rposition(|byte| *byte == b'\n');
            let line = match new_line {
                Some(at) => Some(searched + at + 1),
                None => (searched == 0).then_some(0),
            };
            if let Some(line) = line {
                let before = &bytes[line..range.start];
                let prefix = prefix_length(before);
                quotes = before[..prefix].iter().filter(|byte| **byte == b'>').count();
                begins_with_backticks = before[prefix..].starts_with(b"```");
            }
            searched = range.start;
            if begins_with_backticks && has_backtick(&bytes[range.clone()]) {
                continue;
            }
            mask_blank_lines(&mut bytes[range.clone()]);
            mask_range(&mut bytes[range], quotes);
        }
        // Only ASCII characters were replaced, by ASCII characters.
        masked.text = Cow::Owned(String::from_utf8_lossy(&bytes).into_owned());
    }
    masked
}

/// The length in bytes of the quote and list markers at the beginning of a line, up to a formula.
fn prefix_length(line: &[u8]) -> usize {
    let is_prefix = |byte: &&u8| b" \t>-*+.)".contains(byte) || byte.is_ascii_digit();
    line.iter().take_while(is_prefix).count()
}

/// Returns true if a formula has a backtick in its first line. After three others at the beginning of the line, it is
/// what keeps the line from opening a fence, so it must stay visible to the parser.
fn has_backtick(formula: &[u8]) -> bool {
    let mut first_line = formula.iter().take_while(|byte| **byte != b'\n');
    first_line.any(|byte| *byte == b'`')
}

/// Masks the line ends around the blank lines of a formula.
fn mask_blank_lines(formula: &mut [u8]) {
    let mut line_end = None;
    for at in 0..formula.len() {
        match formula[at] {
            b'\n' => {
                if let Some(before) = line_end.replace(at) {
                    formula[before] = LINE_END_MASK;
                    formula[at] = LINE_END_MASK;
                }
            }
            b' ' | b'\t' => {}
            _ => line_end = None,
        }
    }
}

/// Masks a formula that begins in a line with so many quote markers: those of its further lines stay.
fn mask_range(formula: &mut [u8], quotes: usize) {
    let mut left = 0;
    for byte in formula {
        match *byte {
            b'\n' => left = quotes,
            b' ' | b'\t' => {}
            b'>' if left > 0 => left -= 1,
            markup => {
                left = 0;
                if let Some(at) = MARKUP.iter().position(|byte| *byte == markup) {
                    *byte = MASKS[at];
                }
            }
        }
    }
}
