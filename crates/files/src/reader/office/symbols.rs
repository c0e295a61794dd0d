//! Characters of the fonts that draw signs in place of letters.

/// The signs of Wingdings from 0x21, and those of it that have no character as `□`.
const WINGDINGS: &str = "✏✂✁👓🔔📖🕯☎✆✉📨📪📫📬📭📁📂📄📄📑🗄⌛⌨🖱🖲💻💾💾💾✇✍\
    ✍✌✌👍👎☜☞☝☟✋☺😐☹💣☠🏳🏱✈☼💧❄✞✞✠✠✡☪☯ॐ☸♈♉♊♋♌♍♎♏♐♑♒♓&&●❍■□□❑❒⬧⧫◆❖⬥⌧⍓⌘❀✿❝❞□⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿";

/// The signs of Wingdings from 0x9f.
const WINGDINGS_HIGH: &str = "•▪○⭘⭘◉◎🔿▪☐▲✦★✶✴✹✵⌖⌖◇⌑□✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛⮰⮱⮲⮳⮴⮵⮶⮷🙪🙫🙕🙔🙗🙖🙐🙑🙒🙓⌫⌦⮘⮚⮙⮛⮈⮊⮉⮋←→↑↓↖↗↙↘🡸🡺🡹🡻🡼🡽🡿🡾⇦⇨⇧⇩⇔⇕⬀⬁⬃⬂▭▫✗✓☒☑□";

/// The signs of Symbol from 0x20.
const SYMBOL: &str =
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\u{203e}αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";

/// The signs of Symbol from 0xa0.
const SYMBOL_HIGH: &str =
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪□〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

/// A sign without a character.
const UNKNOWN: char = '□';

/// Returns the character of a sign in a font. Codes of such fonts are in the private area from U+F000.
pub fn symbol(font: &str, code: u32) -> char {
    let low = match code {
        0xf000..=0xf0ff => code - 0xf000,
        0..=0xff => code,
        other => {
            return char::from_u32(other)
                .filter(|c| !c.is_control())
                .unwrap_or(UNKNOWN);
        }
    };
    let of = |signs: &str, first: u32| {
        let place = low
            .checked_sub(first)
            .and_then(|place| usize::try_from(place).ok())?;
        signs.chars().nth(place)
    };
    let found = match font {
        "Wingdings" => of(WINGDINGS_HIGH, 0x9f).or_else(|| of(WINGDINGS, 0x21)),
        "Symbol" => of(SYMBOL_HIGH, 0xa0).or_else(|| of(SYMBOL, 0x20)),
        "Wingdings 2" => match low {
            0x4f | 0x53 | 0x55 => Some('☒'),
            0x50 | 0x96 => Some('✓'),
            0x52 | 0x54 => Some('☑'),
            0xa3 => Some('☐'),
            _ => None,
        },
        // A font of letters, whose code is that of the letter.
        _ if code <= 0xff => char::from_u32(low).filter(|c| !c.is_control()),
        _ => None,
    };
    found.unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_fonts_have_characters() {
        for (font, code, expected) in [
            ("Wingdings", 0xf0fe, '☑'),
            ("Wingdings", 0xf0fd, '☒'),
            ("Wingdings", 0xf0fc, '✓'),
            ("Wingdings", 0xf0e0, '→'),
            ("Wingdings", 0xf0a7, '▪'),
            ("Wingdings", 0xf04a, '☺'),
            ("Wingdings", 0x6c, '●'),
            ("Wingdings", 0xf028, '☎'),
            ("Symbol", 0xf061, 'α'),
            ("Symbol", 0xf0a3, '≤'),
            ("Symbol", 0xf0ae, '→'),
            ("Symbol", 0xf0e5, '∑'),
            ("Symbol", 0xf0f2, '∫'),
            ("Symbol", 0xf057, 'Ω'),
            ("Wingdings 2", 0xf052, '☑'),
            ("MS Gothic", 0x2610, '☐'),
            ("Calibri", 0x41, 'A'),
            ("Webdings", 0xf041, '□'),
        ] {
            assert_eq!(symbol(font, code), expected, "{font} {code:x}");
        }
    }
}
