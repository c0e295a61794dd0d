//! Colours of formulas: the nearest colour that the page has, which is legible in light and dark.

/// The colours that stand for `\boxed` and `\phantom`, which the parser does not know.
pub const BOXED: &str = "#010203";
pub const HIDDEN: &str = "#010204";

/// Returns the class of a text colour; `None` for black, white and greys near them, which are the text's own colour.
pub fn text_class(rgb: (u8, u8, u8)) -> Option<&'static str> {
    match rgb {
        (1, 2, 3) => return Some("math-boxed"),
        (1, 2, 4) => return Some("math-hidden"),
        _ => {}
    }
    Some(match hue(rgb)? {
        Hue::Grey => "math-grey",
        Hue::Red => "math-red",
        Hue::Orange => "math-orange",
        Hue::Green => "math-green",
        Hue::Teal => "math-teal",
        Hue::Blue => "math-blue",
        Hue::Purple => "math-purple",
        Hue::Pink => "math-pink",
    })
}

/// Returns the class of a background.
pub fn background_class(rgb: (u8, u8, u8)) -> Option<&'static str> {
    Some(match hue(rgb)? {
        Hue::Grey => "math-on-grey",
        Hue::Red => "math-on-red",
        Hue::Orange => "math-on-orange",
        Hue::Green => "math-on-green",
        Hue::Teal => "math-on-teal",
        Hue::Blue => "math-on-blue",
        Hue::Purple => "math-on-purple",
        Hue::Pink => "math-on-pink",
    })
}

enum Hue {
    Grey,
    Red,
    Orange,
    Green,
    Teal,
    Blue,
    Purple,
    Pink,
}

fn hue((red, green, blue): (u8, u8, u8)) -> Option<Hue> {
    let (r, g, b) = (i32::from(red), i32::from(green), i32::from(blue));
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    let spread = max - min;
    if spread < 40 {
        return (60..=215).contains(&max).then_some(Hue::Grey);
    }
    let degrees = if max == r {
        60 * (g - b) / spread
    } else if max == g {
        120 + 60 * (b - r) / spread
    } else {
        240 + 60 * (r - g) / spread
    };
    Some(match degrees.rem_euclid(360) {
        0..15 | 345.. => Hue::Red,
        15..70 => Hue::Orange,
        70..155 => Hue::Green,
        155..200 => Hue::Teal,
        200..260 => Hue::Blue,
        260..300 => Hue::Purple,
        300..345 => Hue::Pink,
        _ => Hue::Grey,
    })
}
