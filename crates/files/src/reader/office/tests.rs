//! The text of office documents that are made here.

use std::io::Write;

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::*;

const LIMITS: PreviewLimits = PreviewLimits {
    bytes: 10_000,
    rows: 1,
};

/// Returns the text of an archive with these parts.
fn text_of(parts: &[(&str, &str)]) -> String {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, text) in parts {
        zip.start_file(*name, stored).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let data = zip.finish().unwrap().into_inner();
    read_zip(data, LIMITS).content.unwrap().text
}

/// Returns the text of a document of Word whose paragraph has these runs.
fn word(paragraph: &str) -> String {
    let document = format!("<w:document><w:body><w:p>{paragraph}</w:p></w:body></w:document>");
    text_of(&[("word/document.xml", &document)]).trim_end().to_owned()
}

#[test]
fn signs_of_word_are_characters() {
    for (runs, expected) in [
        (
            "<w:r><w:t>2019</w:t><w:noBreakHyphen/><w:t>2020 soft</w:t><w:softHyphen/><w:t>ware</w:t></w:r>",
            "2019-2020 software",
        ),
        (
            "<w:r><w:sym w:font=\"Wingdings\" w:char=\"F0FE\"/><w:t xml:space=\"preserve\"> done</w:t></w:r>",
            "☑ done",
        ),
        (
            "<w:r><w:sym w:font=\"Symbol\" w:char=\"F061\"></w:sym><w:t>-decay</w:t></w:r>",
            "α-decay",
        ),
        // Tab stops are no tabs, and a field shows its result.
        (
            "<w:pPr><w:tabs><w:tab w:val=\"left\" w:pos=\"720\"/></w:tabs></w:pPr><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r>\
             <w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:t>7</w:t></w:r>",
            "a\tb7",
        ),
        // A word with its pronunciation.
        (
            "<w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby>",
            "漢字",
        ),
        // Text that was moved away or deleted.
        (
            "<w:moveFrom><w:r><w:t>old</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo>\
             <w:del><w:r><w:delText>gone</w:delText></w:r></w:del>",
            "moved",
        ),
        // A text box, which is there twice.
        (
            "<w:r><mc:AlternateContent><mc:Choice><wps:txbx><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>\
             </wps:txbx></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p>\
             </w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>",
            "boxed",
        ),
    ] {
        assert_eq!(word(runs), expected, "{runs}");
    }
}

#[test]
fn notes_and_headers_of_word_are_read() {
    let run = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let document = format!(
        "<w:document><w:body><w:p>{}<w:r><w:footnoteReference w:id=\"2\"/></w:r>{}<w:r><w:endnoteReference w:id=\"1\"/></w:r></w:p></w:body></w:document>",
        run("A claim"),
        run(" and more")
    );
    let notes = |name: &str, id: &str, text: &str| {
        format!(
            "<w:{name}s><w:{name} w:type=\"separator\" w:id=\"0\"><w:p>{}</w:p></w:{name}>\
             <w:{name} w:id=\"{id}\"><w:p><w:r><w:{name}Ref/></w:r>{}</w:p></w:{name}></w:{name}s>",
            run("---"),
            run(text)
        )
    };
    let paragraph = |text: &str| format!("<w:hdr><w:p>{}</w:p></w:hdr>", run(text));
    let comments = format!(
        "<w:comments><w:comment w:id=\"3\"><w:p>{}</w:p></w:comment></w:comments>",
        run(" Is it?")
    );
    let text = text_of(&[
        ("word/document.xml", &document),
        ("word/footnotes.xml", &notes("footnote", "2", " Its source")),
        ("word/endnotes.xml", &notes("endnote", "1", " Its end")),
        ("word/comments.xml", &comments),
        ("word/header1.xml", &paragraph("Draft")),
        ("word/header2.xml", &paragraph("Draft")),
        ("word/footer1.xml", &paragraph("Secret")),
    ]);
    assert_eq!(
        text,
        "[Header]\nDraft\nA claim[^2] and more[^e1]\n[Footnotes]\n[^2] Its source\n[Endnotes]\n[^e1] Its end\n\
         [Comments]\n[^c3] Is it?\n[Footer]\nSecret\n"
    );
}

#[test]
fn formulas_are_latex() {
    let run = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
    let of = |name: &str, parts: &[(&str, &str)]| {
        let parts: String = parts
            .iter()
            .map(|(part, text)| {
                format!(
                    "<m:{part}>{}</m:{part}>",
                    if text.starts_with('<') {
                        (*text).into()
                    } else {
                        run(text)
                    }
                )
            })
            .collect();
        format!("<m:{name}>{parts}</m:{name}>")
    };
    let square = of("sSup", &[("e", "x"), ("sup", "2")]);
    for (formula, expected) in [
        (run("a+b"), "a+b"),
        (of("f", &[("num", "1"), ("den", &square)]), "\\frac{1}{{x}^{2}}"),
        (of("sSub", &[("e", "a"), ("sub", "i")]), "{a}_{i}"),
        (
            of("sSubSup", &[("e", "a"), ("sub", "i"), ("sup", "2")]),
            "{a}_{i}^{2}",
        ),
        (of("rad", &[("deg", "<m:ctrlPr/>"), ("e", "x")]), "\\sqrt{x}"),
        (of("rad", &[("deg", "3"), ("e", "x")]), "\\sqrt[3]{x}"),
        (
            format!(
                "<m:nary><m:naryPr><m:chr m:val=\"∑\"/></m:naryPr><m:sub>{}</m:sub><m:sup>{}</m:sup><m:e>{}</m:e></m:nary>",
                run("i=1"),
                run("n"),
                run("i")
            ),
            "∑_{i=1}^{n} i",
        ),
        (
            of(
                "nary",
                &[("naryPr", "<m:ctrlPr/>"), ("sub", "<m:ctrlPr/>"), ("e", "f")],
            ),
            "∫ f",
        ),
        (of("d", &[("e", "a"), ("e", "b")]), "(a|b)"),
        (
            format!(
                "<m:d><m:dPr><m:begChr m:val=\"[\"/><m:endChr m:val=\"\"/></m:dPr><m:e>{}</m:e></m:d>",
                run("a")
            ),
            "[a",
        ),
        (
            of(
                "m",
                &[
                    (
                        "mr",
                        "<m:e><m:r><m:t>1</m:t></m:r></m:e><m:e><m:r><m:t>2</m:t></m:r></m:e>",
                    ),
                    ("mr", "<m:e><m:r><m:t>3</m:t></m:r></m:e>"),
                ],
            ),
            "\\begin{matrix}1 & 2 \\\\ 3\\end{matrix}",
        ),
        (
            format!(
                "<m:acc><m:accPr><m:chr m:val=\"\u{20d7}\"/></m:accPr><m:e>{}</m:e></m:acc>",
                run("v")
            ),
            "\\vec{v}",
        ),
        (of("func", &[("fName", "sin"), ("e", "x")]), "sin x"),
    ] {
        let paragraph =
            format!("<w:r><w:t xml:space=\"preserve\">so </w:t></w:r><m:oMath>{formula}</m:oMath>");
        assert_eq!(word(&paragraph), format!("so ${expected}$"), "{formula}");
    }
}

#[test]
fn notes_of_slides_are_read() {
    let slide = |text: &str| {
        format!(
            "<p:sld><a:p><a:r><a:t>{text}</a:t></a:r></a:p><a:p><a:fld type=\"slidenum\"><a:t>1</a:t></a:fld></a:p></p:sld>"
        )
    };
    let text = text_of(&[
        ("ppt/presentation.xml", "<p:presentation/>"),
        ("ppt/slides/slide1.xml", &slide("Shown")),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            "<Relationships><Relationship Id=\"rId1\" Type=\"http://x/slideLayout\" Target=\"../slideLayouts/slideLayout1.xml\"/>\
             <Relationship Id=\"rId2\" Type=\"http://x/notesSlide\" Target=\"../notesSlides/notesSlide3.xml\"/></Relationships>",
        ),
        ("ppt/notesSlides/notesSlide3.xml", &slide("Said")),
        ("ppt/slides/slide2.xml", &slide("More")),
    ]);
    assert_eq!(
        text,
        "[Slide 1]\nShown\n\n[Notes of slide 1]\nSaid\n[Slide 2]\nMore\n\n"
    );
}

#[test]
fn notes_of_open_documents_are_read() {
    let content = "<office:text><text:tracked-changes><text:deletion><text:p>gone</text:p></text:deletion></text:tracked-changes>\
         <text:p>A claim<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Its source</text:p>\
         </text:note-body></text:note>and<text:s text:c=\"2\"/>more</text:p></office:text>";
    let text = text_of(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("content.xml", content),
    ]);
    assert_eq!(text, "A claim [Note 1: Its source] and  more\n");
}
