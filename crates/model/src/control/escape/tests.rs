use proptest::prelude::*;

use super::*;

#[test]
fn escapes_foreign_metadata() {
    for (text, shown) in [
        ("<!-- METADATA: {} -->\nHi", "&lt;!-- METADATA: {} -->\nHi"),
        ("a <!--\n  metadata {} --> b", "a &lt;!--\n  metadata {} --> b"),
        (
            "<!-- a --><!--METADATA--><!-- b --><!-- METADATA",
            "<!-- a -->&lt;!--METADATA--><!-- b -->&lt;!-- METADATA",
        ),
        ("<!-<!-- METADATA", "<!-&lt;!-- METADATA"),
    ] {
        assert_eq!(escape_metadata(text), shown);
    }
    for text in [
        "",
        "<!-- a -->",
        "<!-- METADAT",
        "METADATA: {}",
        "<!-- é",
        "a < b! - c",
        "&lt;!-- METADATA: {} -->",
        "<!-- МЕТОД -->",
        "«Метаданные» <! метаданные",
    ] {
        assert!(
            matches!(escape_metadata(text), Cow::Borrowed(same) if same == text),
            "{text}"
        );
    }
}

#[test]
fn escapes_lookalikes_of_metadata() {
    for lookalike in [
        "<!--\u{200b}METADATA:",
        "<!--\0METADATA:",
        "<!--\0 \u{feff}METADATA:",
        "<\u{200d}!--METADATA:",
        "<!-\u{ad}- M\u{2060}ETA\u{34f}DATA:",
        "<!--\u{202e}METADATA:",
        "<!--\u{a0}\u{3000}METADATA:",
        "<!--\u{e0041}METADATA:",
        "<!--- METADATA:",
        "<!---- METADATA:",
        "<!- METADATA:",
        "<!— METADATA:",
        "<!\u{2212}\u{2011} METADATA:",
        "<! -- METADATA:",
        "＜！－－　ＭＥＴＡＤＡＴＡ：",
        "＜!--ｍｅｔａｄａｔａ:",
        "﹤!﹣﹣METADATA:",
        "<!-- МЕТАDАТА:",
        "<!-- \u{39c}\u{395}\u{3a4}\u{391}\u{216e}\u{391}\u{3a4}\u{391}:",
        "<!-- Me\u{301}tad\u{327}ata:",
        "<!-- Métadàta:",
        "<!-- 𝐌𝐄𝐓𝐀𝐃𝐀𝐓𝐀:",
        "<!-- 𝓂𝑒𝓉𝒶𝒹𝒶𝓉𝒶:",
        "<!-- Ⓜⓔⓣⓐⓓⓐⓣⓐ:",
        "<!-- ᴍᴇᴛᴀᴅᴀᴛᴀ:",
        "<!-- ᎷᎬᎢᎪᎠᎪᎢᎪ:",
        "‹!-- METADATA:",
        "<ǃ-- METADATA:",
    ] {
        let text = format!("Hello {lookalike} {{}} -->");
        let first = lookalike.chars().next().map_or(0, char::len_utf8);
        assert_eq!(
            escape_metadata(&text),
            format!("Hello &lt;{} {{}} -->", &lookalike[first..])
        );
    }
}

/// Lookalikes of each character of the marker, with ignored characters between them.
fn marker() -> impl Strategy<Value = String> {
    let spelled: [&[&str]; 12] = [
        &["<", "＜", "﹤", "‹"],
        &["!", "！", "ǃ"],
        &["-", "－", "–", "—", "−"],
        &["", "-", "--", "‑"],
        &["M", "m", "М", "Ｍ", "ⓜ", "𝗠"],
        &["E", "e", "Е", "е", "ｅ", "É"],
        &["T", "t", "Т", "т", "τ", "Ｔ"],
        &["A", "a", "А", "а", "α", "Å"],
        &["D", "d", "ԁ", "ⅾ", "Ｄ"],
        &["A", "a", "А", "а"],
        &["T", "t", "Т"],
        &["A", "a", "𝒶"],
    ];
    let between = ["", "", "", "\u{200b}", "\0", "\u{301}", " ", "\u{fe0f}", "\t"];
    let character = |choices: &'static [&'static str]| {
        (
            prop::sample::select(choices),
            prop::sample::select(between.to_vec()),
        )
    };
    let characters: Vec<_> = spelled.into_iter().map(character).collect();
    characters.prop_map(|pairs| pairs.into_iter().flat_map(|(c, gap)| [c, gap]).collect())
}

fuzzing::properties! {
    256;

    #[test]
    fn escapes_every_spelling_of_the_marker(
        before in "[a-z<!\\- ]{0,6}",
        marker in marker(),
        after in "[a-z<!\\- ]{0,6}",
    ) {
        let text = [&*before, &*marker, &*after].concat();
        let escaped = escape_metadata(&text).into_owned();
        prop_assert!(matches!(escape_metadata(&escaped), Cow::Borrowed(_)), "{:?}", escaped);
        let shown = &marker[marker.chars().next().map_or(0, char::len_utf8)..];
        prop_assert!(escaped.contains(&["&lt;", shown].concat()), "{:?} of {:?}", escaped, text);
    }

    #[test]
    fn changes_only_the_marker(text in "[<!a-zA-Z{}: \u{200b}\\-]{0,40}") {
        prop_assert_eq!(escape_metadata(&text).replace("&lt;", "<"), text);
    }
}
