//! Maps letters to Unicode's Mathematical Alphanumeric Symbols, since MathML Core has no font variants.

use pulldown_latex::event::Font;

/// The first letters of an alphabet in the block *Mathematical Alphanumeric Symbols*.
struct Alphabet {
    capital: u32,
    small: u32,
    digit: Option<u32>,
    /// Capital alpha and small alpha.
    greek: Option<(u32, u32)>,
}

/// Letters that stand elsewhere, because Unicode had them before.
const EXCEPTIONS: [(u32, char); 24] = [
    (0x1d455, 'ℎ'),
    (0x1d49d, 'ℬ'),
    (0x1d4a0, 'ℰ'),
    (0x1d4a1, 'ℱ'),
    (0x1d4a3, 'ℋ'),
    (0x1d4a4, 'ℐ'),
    (0x1d4a7, 'ℒ'),
    (0x1d4a8, 'ℳ'),
    (0x1d4ad, 'ℛ'),
    (0x1d4ba, 'ℯ'),
    (0x1d4bc, 'ℊ'),
    (0x1d4c4, 'ℴ'),
    (0x1d506, 'ℭ'),
    (0x1d50b, 'ℌ'),
    (0x1d50c, 'ℑ'),
    (0x1d515, 'ℜ'),
    (0x1d51d, 'ℨ'),
    (0x1d53a, 'ℂ'),
    (0x1d53f, 'ℍ'),
    (0x1d545, 'ℕ'),
    (0x1d547, 'ℙ'),
    (0x1d548, 'ℚ'),
    (0x1d549, 'ℝ'),
    (0x1d551, 'ℤ'),
];

/// True for letters that stand upright by default: capital Greek ones, and letters without case.
pub fn is_upright(c: char) -> bool {
    c.is_uppercase() && !c.is_ascii()
}

/// Returns a character in a font; the character itself if the font has no such letter.
pub fn styled(c: char, font: Font) -> char {
    let font = match font {
        Font::BoldSymbol if c.is_ascii_digit() || is_upright(c) => Font::Bold,
        Font::BoldSymbol => Font::BoldItalic,
        other => other,
    };
    let Some(alphabet) = alphabet(font) else { return c };
    let code = match c {
        'A'..='Z' => Some(alphabet.capital + (u32::from(c) - u32::from('A'))),
        'a'..='z' => Some(alphabet.small + (u32::from(c) - u32::from('a'))),
        '0'..='9' => alphabet.digit.map(|zero| zero + (u32::from(c) - u32::from('0'))),
        'Α'..='Ω' => alphabet
            .greek
            .map(|(first, _)| first + (u32::from(c) - u32::from('Α'))),
        'α'..='ω' => alphabet
            .greek
            .map(|(_, first)| first + (u32::from(c) - u32::from('α'))),
        _ => None,
    };
    let Some(code) = code else { return c };
    let exception = EXCEPTIONS.iter().find(|(place, _)| *place == code);
    exception.map_or_else(|| char::from_u32(code).unwrap_or(c), |(_, letter)| *letter)
}

fn alphabet(font: Font) -> Option<Alphabet> {
    let (capital, digit, greek) = match font {
        Font::Bold => (0x1d400, Some(0x1d7ce), Some((0x1d6a8, 0x1d6c2))),
        Font::BoldItalic => (0x1d468, Some(0x1d7ce), Some((0x1d71c, 0x1d736))),
        Font::Script => (0x1d49c, None, None),
        Font::BoldScript => (0x1d4d0, None, None),
        Font::Fraktur => (0x1d504, None, None),
        Font::BoldFraktur => (0x1d56c, None, None),
        Font::DoubleStruck | Font::DoubleStruckItalic => (0x1d538, Some(0x1d7d8), None),
        Font::SansSerif => (0x1d5a0, Some(0x1d7e2), None),
        Font::BoldSansSerif => (0x1d5d4, Some(0x1d7ec), Some((0x1d756, 0x1d770))),
        Font::SansSerifItalic => (0x1d608, Some(0x1d7e2), None),
        Font::SansSerifBoldItalic => (0x1d63c, Some(0x1d7ec), Some((0x1d790, 0x1d7aa))),
        Font::Monospace => (0x1d670, Some(0x1d7f6), None),
        Font::Italic | Font::UpRight | Font::BoldSymbol => return None,
    };
    Some(Alphabet {
        capital,
        small: capital + 26,
        digit,
        greek,
    })
}
