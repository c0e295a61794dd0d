//! Whole files as programs write them, read as an upload is.

use super::{
    document::{Container, PreviewLimits, read},
    pdf::ReadPages,
};
use crate::{
    media_type::{Detected, detect, is_table, is_workbook_name, text_type},
    model_text::model_text,
};
use parlor_protocol::FileProblem;

const LIMITS: PreviewLimits = PreviewLimits {
    bytes: 10_000,
    rows: 5,
};

/// Returns the text for models of a file of the fixtures.
fn read_fixture(name: &str) -> Result<String, FileProblem> {
    let path = format!("{}/../../tests/fixtures/files/{name}", env!("CARGO_MANIFEST_DIR"));
    let data = std::fs::read(path).unwrap();
    let container = match detect(&data) {
        Detected::Document(container) => container,
        Detected::MaybeText if is_table(text_type(name)) => Container::Table,
        Detected::MaybeText if is_workbook_name(name) => Container::WorkbookText,
        other => panic!("{name}: {other:?}"),
    };
    let content = read(container, data, LIMITS, &ReadPages::default()).content?;
    let text = model_text(name, &content, LIMITS.bytes);
    Ok(text
        .strip_prefix(&format!("[File: {name}]\n"))
        .unwrap()
        .to_owned())
}

#[test]
fn files_of_programs_are_read() {
    for (name, expected) in [
        ("form_evince.pdf", "[Form fields]\nfoo: bar"),
        (
            "libreoffice-form.pdf",
            "[Form fields]\nFirst Name: Alice\nLast Name: (empty)\nfemale: (nothing chosen)\nBirthday: (empty)\n\
             gdpr: not checked\nother: not checked\nFirst Name_2: Bob\nNationality: (empty)",
        ),
        ("rtl-arabic.pdf", "Arabic:\nمرحبا بالعالم\n"),
        (
            "nbhyphen.docx",
            "Years 2019-2020, e-mail, software\n☑ checked\npage7",
        ),
        (
            "formulas_nocache.xlsx",
            "3 rows, 3 columns.\n[3 formulas have no stored value (the first is in C2), so their cells are empty here. \
             A spreadsheet program computes and stores the values when it saves the file.]\n\
             Columns: a (number), b (number), sum (empty)\n1,2\n3,4\n5,6",
        ),
        (
            "utf16_nobom.csv",
            "The table: 2 rows, 2 columns.\nColumns: name (text), city (text)\nÅse,Århus\nBo,København",
        ),
        (
            "nul.csv",
            "The table: 2 rows, 2 columns.\nColumns: a (number), b (text)\n1,x\u{fffd}y\n2,z",
        ),
        (
            "html.xls",
            "The table: 1 row, 2 columns.\nColumns: a (number), b (number)\n1,2",
        ),
    ] {
        let text = read_fixture(name).unwrap();
        assert!(text.contains(expected), "{name}:\n{text}");
    }
    assert_eq!(read_fixture("truncated.pdf"), Err(FileProblem::Damaged));
    assert_eq!(read_fixture("scan.pdf"), Err(FileProblem::NoText));
}

#[test]
fn printed_page_is_read_from_the_right() {
    let expected = [
        "שלום עולם. אני גר ב-New York City מאז 1948 (כן, באמת).",
        "ראו https://example.com/a?b=1 או כתבו ל-ann@example.com!",
        "המחיר הוא $5 או 3.14 שקל, הנחה 50% עד 12/05/2024 בשעה 10:30.",
        "שָׁלוֹם לְכֻלָּם",
        "שפת C++ היא \"טובה\" — Windows 10 יצאה (הפונקציה foo(bar) מחזירה).",
        "زار مُحَمَّد مدينة القاهرة في 12/05/2024 (السنوات 2019-2020) بسعر ٥٠٪ «مرحبا».",
        "استخدم Microsoft Visual Studio Code هنا، ثم لا تنس الإسلام والأولاد.",
        "هذا نص طويل يمتد على عدة أسطر حتى نرى\nكيف تقرأ الأسطر المتعددة مع Windows 10\nوكلمات أخرى.",
        "שנה\tמכירות\tרווח\n2024\t100\t20",
        "فارسی: می\u{200c}خواهم ۱۲۳٫۵ نفر",
        "In English we write שלום (hello) and مرحبا, version 2.0.",
        "Mixed: אבג (דהו) bar; in 1948 ישראל was founded.",
        "let x = \"שלום\"; // comment עברית",
    ];
    let text = read_fixture("right-to-left.pdf").unwrap();
    for expected in expected {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}
