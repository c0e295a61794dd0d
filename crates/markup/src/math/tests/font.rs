//! The font that is shipped for formulas has each character that they can have.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use brotli_decompressor::BrotliDecompress;

use super::super::{MathContent, MathNode, parse};

/// Characters of the parser's that the whole font lacks: a ballot X and a few arrows. A font of the system has them.
const ABSENT: &str = "✗⟊⟎⟏⬀⬑⮕";

fn repository_file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The number that the format has for the tag of the table of mathematical metrics.
const MATH: u8 = 31;

/// A font in the format WOFF2, as far as this test needs it.
struct Woff2<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Woff2<'_> {
    fn u16(bytes: &[u8], at: usize) -> usize {
        usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1])
    }

    fn u32(bytes: &[u8], at: usize) -> usize {
        Self::u16(bytes, at) << 16 | Self::u16(bytes, at + 2)
    }

    /// Reads a number of seven bits a byte.
    fn base_128(&mut self) -> usize {
        let mut value = 0;
        loop {
            let byte = usize::from(self.bytes[self.at]);
            self.at += 1;
            value = value << 7 | byte & 0x7f;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    }

    /// Returns the tables with the numbers of their tags; `None` for a tag that is written out.
    fn tables(bytes: &[u8]) -> Vec<(Option<u8>, Vec<u8>)> {
        const GLYF: u8 = 10;
        const LOCA: u8 = 11;
        assert_eq!(&bytes[..4], b"wOF2");
        let mut reader = Woff2 { bytes, at: 48 };
        let mut lengths = Vec::new();
        for _ in 0..Self::u16(bytes, 12) {
            let flags = bytes[reader.at];
            reader.at += 1;
            let tag = Some(flags & 0x3f).filter(|tag| *tag != 0x3f);
            if tag.is_none() {
                reader.at += 4;
            }
            let mut length = reader.base_128();
            let is_transformed = match tag {
                Some(GLYF | LOCA) => flags >> 6 == 0,
                _ => flags >> 6 != 0,
            };
            if is_transformed {
                length = reader.base_128();
            }
            lengths.push((tag, length));
        }
        let mut data = Vec::new();
        let compressed = &bytes[reader.at..reader.at + Self::u32(bytes, 20)];
        BrotliDecompress(&mut &*compressed, &mut data).expect("the font is compressed");
        let mut rest = data.as_slice();
        let mut tables = Vec::new();
        for (tag, length) in lengths {
            let (table, after) = rest.split_at(length);
            tables.push((tag, table.to_vec()));
            rest = after;
        }
        tables
    }

    /// Returns the characters of a `cmap` in the format of segments or of groups.
    fn characters(cmap: &[u8]) -> HashSet<char> {
        let mut found = HashSet::new();
        for index in 0..Self::u16(cmap, 2) {
            let table = &cmap[Self::u32(cmap, 8 + 8 * index)..];
            if Self::u16(table, 0) == 12 {
                for group in 0..Self::u32(table, 12) {
                    let at = 16 + 12 * group;
                    let codes = Self::u32(table, at)..=Self::u32(table, at + 4);
                    found.extend(codes.filter_map(|code| char::from_u32(code as u32)));
                }
            }
        }
        found
    }
}

/// The table by which accents and arrows grow to the side
/// (<https://learn.microsoft.com/en-us/typography/opentype/spec/math>).
struct Wide<'a> {
    cmap: &'a [u8],
    variants: &'a [u8],
}

impl<'a> Wide<'a> {
    fn new(cmap: &'a [u8], math: &'a [u8]) -> Self {
        let variants = &math[Woff2::u16(math, 8)..];
        Self { cmap, variants }
    }

    fn glyph(&self, character: char) -> Option<usize> {
        let code = character as usize;
        (0..Woff2::u16(self.cmap, 2)).find_map(|index| {
            let table = &self.cmap[Woff2::u32(self.cmap, 8 + 8 * index)..];
            if Woff2::u16(table, 0) != 12 {
                return None;
            }
            (0..Woff2::u32(table, 12)).find_map(|group| {
                let at = 16 + 12 * group;
                let codes = Woff2::u32(table, at)..=Woff2::u32(table, at + 4);
                let first = Woff2::u32(table, at + 8);
                codes.contains(&code).then(|| first + code - codes.start())
            })
        })
    }

    /// Returns the forms of a character that is wider than others.
    fn construction(&self, character: char) -> Option<&'a [u8]> {
        let glyph = self.glyph(character)?;
        let coverage = &self.variants[Woff2::u16(self.variants, 4)..];
        let count = Woff2::u16(coverage, 2);
        let index = match Woff2::u16(coverage, 0) {
            1 => (0..count).find(|index| Woff2::u16(coverage, 4 + 2 * index) == glyph),
            _ => (0..count).find_map(|range| {
                let at = 4 + 6 * range;
                let glyphs = Woff2::u16(coverage, at)..=Woff2::u16(coverage, at + 2);
                glyphs
                    .contains(&glyph)
                    .then(|| Woff2::u16(coverage, at + 4) + glyph - glyphs.start())
            }),
        }?;
        let vertical = Woff2::u16(self.variants, 6);
        let offset = Woff2::u16(self.variants, 10 + 2 * (vertical + index));
        Some(&self.variants[offset..])
    }

    /// Returns true if the parts of a character overlap as far as browsers want.
    fn has_connected_parts(&self, character: char) -> bool {
        let Some(construction) = self.construction(character) else {
            return false;
        };
        let overlap = Woff2::u16(self.variants, 0);
        let assembly = &construction[Woff2::u16(construction, 0)..];
        let part = |index| &assembly[6 + 10 * index..];
        (1..Woff2::u16(assembly, 4))
            .all(|index| Woff2::u16(part(index - 1), 4).min(Woff2::u16(part(index), 2)) >= overlap)
    }
}

#[test]
fn accents_and_arrows_of_the_font_span_several_letters() {
    let bytes = fs::read(repository_file("public/fonts/stix-two-math.woff2")).expect("the font can be read");
    let tables = Woff2::tables(&bytes);
    let table = |wanted| {
        &tables
            .iter()
            .find(|(tag, _)| *tag == Some(wanted))
            .expect("it is there")
            .1
    };
    let wide = Wide::new(table(0), table(MATH));
    for accent in "^~ˇ".chars() {
        let forms = wide.construction(accent).map(|forms| Woff2::u16(forms, 2));
        assert!(forms.is_some_and(|forms| forms >= 3), "{accent}: {forms:?}");
    }
    for character in "→←↔⏞⏟‾".chars() {
        assert!(wide.has_connected_parts(character), "{character}");
    }
    // A letter has one form.
    assert!(wide.construction('x').is_none());
}

fn collect(node: &MathNode, found: &mut HashSet<char>) {
    match &node.content {
        MathContent::Text(text) => {
            found.extend(text.chars());
            // Browsers show a single letter in italics.
            if let [letter @ ('a'..='z' | 'A'..='Z')] = text.chars().collect::<Vec<_>>()[..] {
                let first = if letter.is_lowercase() { 0x1d44e } else { 0x1d434 };
                let italic = first + u32::from(letter.to_ascii_lowercase()) - u32::from('a');
                found.extend(char::from_u32(italic).filter(|italic| *italic != '\u{1d455}'));
            }
        }
        MathContent::Children(children) => children.iter().for_each(|child| collect(child, found)),
    }
}

#[test]
fn shipped_font_has_all_characters_of_formulas() {
    let bytes = fs::read(repository_file("public/fonts/stix-two-math.woff2")).expect("the font can be read");
    assert!(bytes.len() <= 160_000, "{}", bytes.len());
    let tables = Woff2::tables(&bytes);
    let cmap = tables.iter().find(|(tag, _)| *tag == Some(0));
    let has = Woff2::characters(&cmap.expect("the font has characters").1);
    assert!(
        tables.iter().any(|(tag, _)| *tag == Some(MATH)),
        "by this table brackets grow"
    );

    let commands =
        fs::read_to_string(repository_file("tests/fixtures/math/commands.txt")).expect("a fixture");
    let formulas =
        fs::read_to_string(repository_file("tests/fixtures/math/formulas.txt")).expect("a fixture");
    // Of roots, browsers draw the sign.
    let mut found = HashSet::from(['√', '‾']);
    let mut parsed = 0;
    let mut try_formula = |latex: &str| {
        if let Some(tree) = parse(latex, true) {
            parsed += 1;
            collect(&tree, &mut found);
        }
    };
    for name in commands.lines() {
        let all =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\\alpha\\omega\\Gamma\\Omega";
        for latex in [
            format!("\\{name}"),
            format!("\\{name}{{{all}}}"),
            format!("\\not\\{name}"),
            format!("\\left\\{name} x \\right\\{name}"),
            format!("{{\\{name} {all}}}"),
        ] {
            try_formula(&latex);
        }
    }
    formulas
        .lines()
        .filter_map(|line| line.strip_prefix("$ ").or(line.strip_prefix("$$ ")))
        .for_each(&mut try_formula);
    assert!(parsed > 1000, "{parsed}");
    let is_needed = |c: &char| {
        // Letters of other scripts in a text, and what no font shows.
        !ABSENT.contains(*c) && !c.is_control() && *c != '\u{fe00}' && !('\u{2e80}'..='\u{d7ff}').contains(c)
    };
    let mut lacking: Vec<char> = found
        .into_iter()
        .filter(is_needed)
        .filter(|c| !has.contains(c))
        .collect();
    lacking.sort_unstable();
    assert!(lacking.is_empty(), "{lacking:?}: run scripts/math-font.py");
}
