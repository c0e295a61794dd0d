//! Lone halves of surrogate pairs: `\ud83d` without `\ude00`, as in a text that was cut in the middle of a character.
//! No Rust string has them, so each is marked by a private character until its other half has arrived.

/// The first mark, in the second private plane. The marks are as many as the halves.
const FIRST_MARK: u32 = 0x0010_F000;

/// The halves: first those that begin a pair.
const FIRST_HALF: u32 = 0xD800;
const FIRST_ENDING_HALF: u32 = 0xDC00;
const LAST_HALF: u32 = 0xDFFF;

/// Returns the mark of a half.
pub(super) fn mark(half: u32) -> char {
    char::from_u32(half - FIRST_HALF + FIRST_MARK).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns true for a half of either kind.
pub(super) fn is_half(code: u32) -> bool {
    (FIRST_HALF..=LAST_HALF).contains(&code)
}

/// Returns true if two codes are the halves of a character.
pub(super) fn is_pair(first: u32, second: u32) -> bool {
    (FIRST_HALF..FIRST_ENDING_HALF).contains(&first) && (FIRST_ENDING_HALF..=LAST_HALF).contains(&second)
}

fn half_of(mark: char) -> Option<u32> {
    let half = (mark as u32).checked_sub(FIRST_MARK)? + FIRST_HALF;
    (half <= LAST_HALF).then_some(half)
}

/// Joins the marked halves of a text to characters; others become U+FFFD. `open` is a beginning half at the end of the
/// text before, and becomes that at the end of this one.
pub fn join_marks(text: &str, open: &mut Option<u32>) -> String {
    let mut joined = String::with_capacity(text.len());
    for c in text.chars() {
        let before = open.take();
        match (before, half_of(c)) {
            (Some(first), Some(second)) if is_pair(first, second) => {
                let code = 0x1_0000 + ((first - FIRST_HALF) << 10) + (second - FIRST_ENDING_HALF);
                joined.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (before, half) => {
                joined.extend(before.map(|_| char::REPLACEMENT_CHARACTER));
                match half {
                    Some(half) if half < FIRST_ENDING_HALF => *open = Some(half),
                    Some(_) => joined.push(char::REPLACEMENT_CHARACTER),
                    None => joined.push(c),
                }
            }
        }
    }
    joined
}

/// Joins the marked halves of a whole text.
pub fn without_marks(text: &str) -> String {
    let mut open = None;
    let mut joined = join_marks(text, &mut open);
    joined.extend(open.map(|_| char::REPLACEMENT_CHARACTER));
    joined
}

/// Returns true if a JSON text has an escape of a half without its other half.
pub fn has_lone_half(json: &str) -> bool {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
    {
        at += found;
        let Some(code) = escaped_code(bytes, at) else {
            // Another escape has two bytes.
            at += 2;
            continue;
        };
        at += 6;
        if is_half(code) {
            match escaped_code(bytes, at) {
                Some(second) if is_pair(code, second) => at += 6,
                _ => return true,
            }
        }
    }
    false
}

/// Returns the code of an escape such as `\u00e9` at a position.
pub(super) fn escaped_code(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |code, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(code * 16 + digit)
    })
}
