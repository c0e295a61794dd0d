//! The order of text in small PDF files that are made here.

use std::fmt::Write;

use super::*;

/// The width of each glyph in units of its em.
const GLYPH_WIDTH: usize = 500;

/// The size of the text, in points.
const SIZE: f64 = 10.0;

/// A file whose glyphs are placed one by one.
#[derive(Default)]
struct TestPdf {
    /// The text of each glyph, by its code.
    glyphs: Vec<String>,
    content: String,
}

impl TestPdf {
    /// Draws a glyph at a place. Its matrix is mirrored if `turn` is negative.
    fn glyph(&mut self, text: &str, x: f64, y: f64, turn: i32) {
        let known = self.glyphs.iter().position(|glyph| glyph == text);
        let code = known.unwrap_or_else(|| {
            self.glyphs.push(text.to_owned());
            self.glyphs.len() - 1
        });
        let code = code + 33;
        let _ = writeln!(self.content, "{turn} 0 0 1 {x} {y} Tm <{code:02x}> Tj");
    }

    /// Draws characters from left to right.
    fn visual(mut self, text: &str, x: f64, y: f64) -> Self {
        self.draw_from_left(text, x, y);
        self
    }

    fn draw_from_left(&mut self, text: &str, x: f64, y: f64) {
        for (index, c) in text.chars().enumerate() {
            self.glyph(&c.to_string(), x + advance() * index as f64, y, 1);
        }
    }

    /// Draws characters from right to left, in the order in which they are read.
    fn logical(mut self, text: &str, right: f64, y: f64) -> Self {
        for (index, c) in text.chars().enumerate() {
            self.glyph(&c.to_string(), right - advance() * (index + 1) as f64, y, 1);
        }
        self
    }

    /// Draws words from right to left, each of them from the left: as it is seen.
    fn words(mut self, words: &[&str], right: f64, y: f64) -> Self {
        let mut right = right;
        for word in words {
            right -= advance() * word.chars().count() as f64;
            self.draw_from_left(word, right, y);
            right -= advance();
        }
        self
    }

    /// Returns the file, with a font whose glyphs draw nothing.
    fn build(&self, font: &str) -> Vec<u8> {
        let last = self.glyphs.len() + 32;
        let width = |glyph: &String| if is_mark(glyph) { 0 } else { GLYPH_WIDTH };
        let widths: Vec<String> = self.glyphs.iter().map(|glyph| width(glyph).to_string()).collect();
        let widths = widths.join(" ");
        let mut names = String::new();
        for (index, glyph) in self.glyphs.iter().enumerate() {
            let units: String = glyph.encode_utf16().map(|unit| format!("{unit:04x}")).collect();
            let _ = writeln!(names, "<{:02x}> <{units}>", index + 33);
        }
        let names = format!(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n1 begincodespacerange <00> <ff> endcodespacerange\n\
             {} beginbfchar\n{names}endbfchar\nendcmap end end",
            self.glyphs.len()
        );
        let content = format!("BT /F {SIZE} Tf\n{}ET", self.content);
        let stream = |data: &str| format!("<</Length {}>>\nstream\n{data}\nendstream", data.len());
        let objects = [
            "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
            "<</Type/Pages/Kids[3 0 R]/Count 1>>".into(),
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
                .into(),
            stream(&content),
            format!("<</Type/Font {font}/FirstChar 33/LastChar {last}/Widths[{widths}]/ToUnicode 6 0 R>>"),
            stream(&names),
        ];
        let mut file = String::from("%PDF-1.4\n");
        let mut offsets = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            offsets.push(file.len());
            let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", index + 1);
        }
        let start = file.len();
        let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for offset in offsets {
            let _ = writeln!(file, "{offset:010} 00000 n ");
        }
        let _ = write!(
            file,
            "trailer\n<</Root 1 0 R/Size {}>>\nstartxref\n{start}\n%%EOF",
            objects.len() + 1
        );
        file.into_bytes()
    }

    /// Returns the text of the file.
    fn text(&self) -> String {
        text_of(self.build(
            "/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[0.001 0 0 0.001 0 0]/CharProcs<<>>/Encoding<<>>",
        ))
    }
}

fn is_mark(text: &str) -> bool {
    text.chars()
        .all(|c| matches!(c, '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}'))
}

fn advance() -> f64 {
    SIZE * GLYPH_WIDTH as f64 / 1000.0
}

/// Returns the text of the only page of a file.
fn text_of(file: Vec<u8>) -> String {
    let preview = read(file, 100_000, &ReadPages::default()).unwrap();
    preview
        .text
        .strip_prefix("[Page 1]\n")
        .unwrap()
        .trim_end()
        .to_owned()
}

/// Lines as they are read, and their characters from left to right as UAX #9 shows them in a line of right-to-left text.
const LINES: [(&str, &str); 26] = [
    ("مرحبا بالعالم", "ملاعلاب ابحرم"),
    ("שלום עולם.", ".םלוע םולש"),
    // Latin words, and numbers beside them.
    ("אני גר ב-New York City מאז", "זאמ New York City-ב רג ינא"),
    ("גרסה Windows 10 יצאה", "האצי Windows 10 הסרג"),
    (
        "ראו https://example.com/a?b=1 כאן",
        "ןאכ https://example.com/a?b=1 ואר",
    ),
    ("כתבו ל ann@example.com!", "!ann@example.com ל ובתכ"),
    ("שפת C++ היא", "איה ++C תפש"),
    ("הפונקציה foo(bar) מחזירה", "הריזחמ foo(bar) היצקנופה"),
    // Numbers: their digits stay in order, their signs by the letters before them.
    ("בשנת 1948 קמה", "המק 1948 תנשב"),
    ("מחיר 3.14 או $5", "$5 וא 3.14 ריחמ"),
    ("הנחה 50% היום", "םויה 50% החנה"),
    ("בתאריך 12/05/2024 בשעה 10:30", "10:30 העשב 12/05/2024 ךיראתב"),
    ("השנים 2019-2020 היו", "ויה 2019-2020 םינשה"),
    ("السنوات 2019-2020 كانت", "تناك 2020-2019 تاونسلا"),
    ("خصم 50% اليوم", "مويلا %50 مصخ"),
    ("الثمن 3.14 و 12/05/2024", "12/05/2024 و 3.14 نمثلا"),
    ("في ١٩٤٨ م", "م ١٩٤٨ يف"),
    ("گفتم ۱۲۳٫۵ نفر", "رفن ۱۲۳٫۵ متفگ"),
    ("טלפון 03-1234567, שלוחה 5", "5 החולש ,03-1234567 ןופלט"),
    ("גרסה 5, Windows ישן", "ןשי Windows ,5 הסרג"),
    // Brackets and quotation marks, seen mirrored.
    ("שלום (עולם) טוב", "בוט (םלוע) םולש"),
    ("ראו [1] וכן {ב} ו <ג>", "<ג> ו {ב} ןכו [1] ואר"),
    ("قال «مرحبا» ثم", "مث «ابحرم» لاق"),
    ("(Windows) חדש", "שדח (Windows)"),
    ("אמר \"שלום\" והלך", "ךלהו \"םולש\" רמא"),
    // Shapes of letters, also of two.
    ("السلام لا", "\u{fefb} \u{fee1}\u{fefc}\u{feb4}\u{fedf}\u{fe8d}"),
];

#[test]
fn visual_lines_are_read_from_the_right() {
    for (logical, visual) in LINES {
        assert_eq!(TestPdf::default().visual(visual, 50.0, 700.0).text(), logical);
    }
}

#[test]
fn places_decide_the_order() {
    let hebrew = "שלום עולם";
    let seen = "םלוע םולש";
    // Every glyph from the right, as in a file that has the text in its order.
    assert_eq!(TestPdf::default().logical(hebrew, 500.0, 700.0).text(), hebrew);
    // Word after word from the right, without spaces.
    let words = TestPdf::default().words(&["םולש", "םלוע", "Windows 10", "שדח"], 500.0, 700.0);
    assert_eq!(words.text(), "שלום עולם Windows 10 חדש");
    // Text recognition mirrors the matrix.
    let mut mirrored = TestPdf::default();
    for (index, c) in hebrew.chars().enumerate() {
        mirrored.glyph(&c.to_string(), 500.0 - advance() * index as f64, 700.0, -1);
    }
    assert_eq!(text_of(mirrored.build("/Subtype/Type1/BaseFont/Courier")), hebrew);
    // Drawn twice, for bold text.
    let double = TestPdf::default()
        .visual(seen, 50.0, 700.0)
        .visual(seen, 50.2, 700.0);
    assert_eq!(double.text(), hebrew);
}

#[test]
fn left_to_right_line_keeps_its_order() {
    let english = "The quick brown fox, as they say, is";
    for (logical, visual) in [
        ("in 1948 ישראל קמה was founded", "in 1948 המק לארשי was founded"),
        ("the word שלום (hello) is", "the word םולש (hello) is"),
        ("see אבג (דהו) or", "see (והד) גבא or"),
        ("from א to ת, 22 letters", "from א to ת, 22 letters"),
    ] {
        let page = TestPdf::default()
            .visual(english, 50.0, 700.0)
            .visual(visual, 50.0, 688.0);
        assert_eq!(page.text(), format!("{english}\n{logical}"));
    }
    // A quotation of a whole line is read from the right all the same.
    let page = TestPdf::default()
        .visual(english, 50.0, 700.0)
        .visual(".םלוע םולש", 50.0, 688.0);
    assert_eq!(page.text(), format!("{english}\nשלום עולם."));
}

#[test]
fn brackets_named_as_typed_are_kept() {
    let page = TestPdf::default()
        .visual("בוט )םלוע( םולש", 50.0, 700.0)
        .visual(")א", 50.0, 688.0);
    assert_eq!(page.text(), "שלום (עולם) טוב\nא)");
    // One alone follows the others of its page.
    let page = TestPdf::default()
        .visual("בוט (םלוע) םולש", 50.0, 700.0)
        .visual("(א", 50.0, 688.0);
    assert_eq!(page.text(), "שלום (עולם) טוב\nא)");
}

#[test]
fn replacing_text_stands_for_its_glyphs() {
    // A word of ligatures without names, and a bracket that is named as typed.
    let mut page = TestPdf::default();
    let write = |page: &mut TestPdf, text: &str| page.content.push_str(text);
    write(&mut page, "/Span <</ActualText <FEFF0028>>> BDC\n");
    page.glyph(")", 120.0, 700.0, 1);
    write(&mut page, "EMC\n/Span <</ActualText <FEFF06440627>>> BDC\n");
    page.glyph("?", 110.0, 700.0, 1);
    page.glyph("?", 115.0, 700.0, 1);
    write(&mut page, "EMC\n/Span <</ActualText <FEFF0029>>> BDC\n");
    page.glyph("(", 105.0, 700.0, 1);
    write(&mut page, "EMC\n");
    assert_eq!(page.text(), "(لا)");
    // A hyphen at the end of a line stays.
    let mut page = TestPdf::default().visual("ab", 50.0, 700.0);
    write(&mut page, "/Span <</ActualText <FEFF00AD>>> BDC\n");
    page.glyph("-", 60.0, 700.0, 1);
    write(&mut page, "EMC\n");
    assert_eq!(page.text(), "ab-");
}

#[test]
fn outermost_replacing_text_counts() {
    let mut page = TestPdf::default();
    let write = |page: &mut TestPdf, text: &str| page.content.push_str(text);
    // The end of a content that was not begun.
    write(
        &mut page,
        "EMC\n/P BMC\n/Span <</ActualText (xy)>> BDC\n/Span <</ActualText (z)>> BDC\n",
    );
    page.glyph("?", 50.0, 700.0, 1);
    write(&mut page, "EMC\n");
    page.glyph("?", 55.0, 700.0, 1);
    write(&mut page, "EMC\n");
    page.glyph("a", 60.0, 700.0, 1);
    write(&mut page, "EMC\n/Span <</ActualText (b)>> BDC\n");
    page.glyph("?", 65.0, 700.0, 1);
    write(&mut page, "EMC\n");
    page.glyph("c", 70.0, 700.0, 1);
    assert_eq!(page.text(), "xyabc");
}

#[test]
fn glyph_with_words_of_both_directions_keeps_them() {
    // Some programs name the first glyph of a word by what stands before it too.
    let mut page = TestPdf::default();
    page.glyph("حَبيبي h", 50.0, 700.0, 1);
    page.draw_from_left("abibi", 55.0, 700.0);
    page.glyph(" حَبيبي", 80.0, 700.0, 1);
    assert_eq!(page.text(), "حَبيبي habibi حَبيبي");
}

#[test]
fn deep_contents_and_long_lines_are_read() {
    const COUNT: usize = 20_000;
    let mut page = TestPdf {
        content: "/P BMC\n".repeat(COUNT),
        ..TestPdf::default()
    };
    for _ in 0..COUNT {
        page.glyph("a", 50.0, 700.0, 1);
        page.glyph("b", 55.0, 700.0, 1);
    }
    assert!(page.text() == "ab".repeat(COUNT), "all glyphs, in their order");
}

/// The characters of a line, from left to right.
fn seen(text: &str) -> Vec<direction::Seen> {
    let text_of = |c: char| c.to_string();
    let seen = |text: String| direction::Seen::new(&text, direction::Kind::from_text(&text));
    text.chars().map(text_of).map(seen).collect()
}

#[test]
fn reads_a_line_of_many_numbers() {
    const COUNT: usize = 200_000;
    for (letter, is_joined) in [("א", true), ("ع", false)] {
        // A sign does not join digits after an Arabic letter.
        let line = seen(&["1-2 ".repeat(COUNT).as_str(), letter].concat());
        let runs = reading_order::reading_order(&line, direction::Direction::RightToLeft);
        let numbers = runs
            .iter()
            .filter(|run| run.direction == direction::Direction::LeftToRight);
        assert_eq!(numbers.count(), if is_joined { COUNT } else { 2 * COUNT });
    }
}

#[test]
fn orders_many_marks_of_a_letter() {
    const COUNT: usize = 200_000;
    let mark = |text: &str| line::PlacedGlyph {
        is_mark: true,
        ..line::PlacedGlyph::new(text.into())
    };
    let mut glyphs = vec![mark("\u{5b0}")];
    glyphs.extend((0..COUNT).map(|_| mark("\u{5b4}")));
    glyphs.push(line::PlacedGlyph::new("א".into()));
    let ordered =
        line::Line::new(glyphs).ordered(direction::Direction::RightToLeft, line::LineEnds::default());
    let mut text = String::new();
    ordered.push_to(&mut text, true);
    // Marks before a letter are drawn from the left, and read after it from the last to the first.
    assert!(text.starts_with("א\u{5b4}") && text.ends_with("\u{5b4}\u{5b0}"));
    assert_eq!(text.chars().count(), COUNT + 2);
}

#[test]
fn ragged_end_decides_about_a_mixed_line() {
    let long = "ארוכה מאוד היא השורה הזאת עד הקצה של הדף";
    let width = advance() * long.chars().count() as f64;
    let page = TestPdf::default().logical(long, 50.0 + width, 700.0);
    let (left, right) = ("let x = 5; // גבא", "let x 5 // גבא");
    let page = page.visual(left, 50.0, 688.0);
    let start = 50.0 + width - advance() * right.chars().count() as f64;
    let page = page.visual(right, start, 676.0);
    assert_eq!(page.text(), format!("{long}\nlet x = 5; // אבג\nאבג // let x 5"));
}

#[test]
fn marks_follow_their_letters() {
    for text in ["שָׁלוֹם", "مُحَمَّد", "بِسْمِ اللَّهِ", "قَالَ"] {
        // Clusters of a letter and its marks, as they are read.
        let mut clusters: Vec<Vec<String>> = Vec::new();
        for c in text.chars().map(String::from) {
            match clusters.last_mut().filter(|_| is_mark(&c)) {
                Some(cluster) => cluster.push(c),
                None => clusters.push(vec![c]),
            }
        }
        let draw = |from_left: bool, offset: f64| {
            let mut page = TestPdf::default();
            let mut placed: Vec<(f64, Vec<String>)> = Vec::new();
            for (index, cluster) in clusters.iter().enumerate() {
                placed.push((500.0 - advance() * (index + 1) as f64, cluster.clone()));
            }
            if from_left {
                placed.reverse();
                placed.iter_mut().for_each(|(_, cluster)| cluster.reverse());
            }
            for (x, cluster) in placed {
                for glyph in cluster {
                    let (x, y) = if is_mark(&glyph) {
                        (x + offset, 703.0)
                    } else {
                        (x, 700.0)
                    };
                    page.glyph(&glyph, x, y, 1);
                }
            }
            page.text()
        };
        // A mark is drawn over the middle of its letter, or its place is an end of it.
        for offset in [0.0, advance() / 2.0, advance()] {
            assert_eq!(
                (draw(true, offset), draw(false, offset)),
                (text.to_owned(), text.to_owned()),
                "{offset}"
            );
        }
    }
}

#[test]
fn table_rows_are_read_from_the_right() {
    let page = TestPdf::default()
        .visual("חוור", 50.0, 700.0)
        .visual("תוריכמ", 200.0, 700.0)
        .visual("הנש", 400.0, 700.0)
        .visual("20", 50.0, 688.0)
        .visual("100", 200.0, 688.0)
        .visual("2024", 400.0, 688.0);
    assert_eq!(page.text(), "שנה\tמכירות\tרווח\n2024\t100\t20");
}

#[test]
fn padding_follows_the_end_of_a_whole_file() {
    let padding = vec![0; 3 * END_BYTES];
    for (file, is_whole) in [("startxref\n9\n%%EOF\n", true), ("1 0 obj <<", false)] {
        assert_eq!(
            has_end(&[file.as_bytes(), &padding, b" \r\n"].concat()),
            is_whole,
            "{file}"
        );
    }
}
