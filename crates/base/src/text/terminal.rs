//! Text that was written for a terminal, as plain text: without escape sequences, and with the effect of carriage returns.

/// The end of the sequences that begin with OSC, DCS, SOS, PM or APC, besides ESC \.
const BELL: char = '\u{7}';
const ESCAPE: char = '\u{1b}';

/// Returns a text without the control sequences of terminals (ECMA-48) and other control characters. A line that was written
/// again has its last form.
pub fn plain_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut line_start = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            ESCAPE => skip_sequence(&mut characters),
            // CSI in one character.
            '\u{9b}' => skip_control_sequence(&mut characters),
            '\n' => {
                plain.push('\n');
                line_start = plain.len();
            }
            '\r' if matches!(characters.peek(), Some('\n') | None) => {}
            '\r' => plain.truncate(line_start),
            '\u{8}' => {
                if plain.len() > line_start {
                    plain.pop();
                }
            }
            '\t' => plain.push('\t'),
            _ if character.is_control() || is_direction(character) => {}
            _ => plain.push(character),
        }
    }
    plain
}

/// Returns `true` for characters that change the direction of the text after them.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Skips an escape sequence, behind its ESC.
fn skip_sequence(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.next() {
        Some('[') => skip_control_sequence(characters),
        // A string, which ends with BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(character) = characters.next() {
                if character == BELL {
                    return;
                }
                if character == ESCAPE {
                    characters.next_if_eq(&'\\');
                    return;
                }
            }
        }
        // Intermediate characters, then a final one.
        Some(' '..='/') => {
            while characters.next_if(|next| (' '..='/').contains(next)).is_some() {}
            characters.next();
        }
        _ => {}
    }
}

/// Skips parameters, intermediate characters and the final one of a control sequence.
fn skip_control_sequence(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while characters.next_if(|next| (' '..='?').contains(next)).is_some() {}
    characters.next_if(|next| ('@'..='~').contains(next));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_leave_plain_text() {
        for (written, plain) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b", "ab"),
            ("\u{1b}Pq…\u{1b}\\c\u{1b}(Bd\u{1b}c\u{9b}2Je", "cde"),
            ("\u{1b}]52;c;never ended", ""),
            ("10%\r50%\r100%\nnext\r\nlast\r", "100%\nnext\nlast"),
            ("abc\u{8}\u{8}X\n\u{8}y", "aX\ny"),
            ("a\u{0}b\u{202e}c\u{7f}", "abc"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}[31é", "é"),
        ] {
            assert_eq!(plain_text(written), plain, "{written:?}");
        }
    }
}
