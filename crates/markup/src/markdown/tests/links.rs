//! Links that are made, and the text in place of the others.

use proptest::prelude::*;
use reqwest::Url;

use super::super::{Block, Inline, is_allowed_link, parse, plain_text};

#[test]
fn allows_web_and_mail_links() {
    for href in [
        "http://a.b",
        "HTTPS://a.b/c?d=e:f#g",
        "mailto:a@b.c",
        "/path",
        "path/x:y",
        "#part",
        "?a=b:c",
        "",
        "http://[::1]:80/",
        "https://a.b/@c",
        "https://a.b?c@d",
        "mailto:a@b.c?subject=d:e",
        // Browsers read these as `/`, after the host.
        "a\\b",
        "https://a.b/c\\d?e=\\f",
    ] {
        assert!(is_allowed_link(href), "{href:?}");
    }
}

#[test]
fn rejects_executable_urls() {
    let scripts = [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "\u{1}javascript:alert(1)",
        "java\nscript:alert(1)",
        "java\tscript:alert(1)",
        "javascript\u{a0}:alert(1)",
        "\u{feff}javascript:alert(1)",
        "data:text/html,<script>",
        "vbscript:x",
        "blob:http://a.b/c",
        "file:///etc/passwd",
        "mailto://a@b.c",
        "about:blank",
        "view-source:http://a.b",
        "x:y",
        ":x",
        "//a.b",
        " //a.b",
        "///a.b",
        "/\\a.b",
        "\\\\a.b",
        "\\/a.b",
        "/\t/a.b",
        "/\n/a.b",
        "https:a.b",
        "https:/a.b",
        "https:///a.b",
        "https://",
        "https:\\\\a.b",
        "https://bank.example@evil.example/",
        "https://bank.example:443@evil.example/",
        "https://@evil.example/",
        "https://bank.example\\@evil.example/",
        "https://bank\u{202e}.example/",
        "https://bank.example\u{200b}.evil.example/",
        "https://bank example/",
    ];
    for href in scripts {
        assert!(!is_allowed_link(href), "{href:?}");
    }
}

#[test]
fn a_rejected_link_becomes_its_text() {
    let texts = [
        "[*a* b](javascript:x)",
        "[*a* b](JAVASCRIPT:x)",
        "[*a* b](java&Tab;script:x)",
        "[*a* b](java&#x0A;script:x)",
        "[*a* b](javascript&colon;x)",
        "[*a* b](&#106;avascript:x)",
        "[*a* b](<java script:x>)",
        "[*a* b][c]\n\n[c]: data:text/html,x",
        "[*a* b](https://bank.example@evil.example/)",
        "[*a* b](//evil.example)",
        "[*a* b](/\\evil.example)",
        "[*a* b](/&Tab;/evil.example)",
    ];
    for text in texts {
        let Block::Paragraph(inlines) = &parse(text)[0] else {
            panic!("{text:?}")
        };
        let is_link = |inline: &Inline| matches!(inline, Inline::Link { .. });
        assert!(!inlines.iter().any(is_link), "{text:?} is a link");
    }
}

#[test]
fn images_become_links_or_descriptions() {
    let image = Inline::Image {
        href: "http://c.d".into(),
        title: Some("t".into()),
        alt: "a b".into(),
    };
    assert_eq!(parse("![a *b*](http://c.d 't')"), [Block::Paragraph(vec![image])]);
    assert_eq!(
        parse("![a *b*](data:x)"),
        [Block::Paragraph(vec![Inline::Text("a b".into())])]
    );
    let children = vec![Inline::Text("a".into())];
    let link = Inline::Link {
        href: "http://e.f".into(),
        title: None,
        children,
    };
    assert_eq!(
        parse("[![a](http://c.d)](http://e.f)"),
        [Block::Paragraph(vec![link])]
    );
}

/// The links of a paragraph, each with its URL and text.
fn links_in(text: &str) -> Vec<(String, String)> {
    let blocks = parse(text);
    let Some(Block::Paragraph(inlines)) = blocks.first() else {
        return Vec::new();
    };
    let link = |inline: &Inline| match inline {
        Inline::Link { href, children, .. } => Some((href.clone(), plain_text(children))),
        _ => None,
    };
    inlines.iter().filter_map(link).collect()
}

#[test]
fn bare_urls_become_links() {
    let cases = [
        (
            "See https://a.b/c?d=e#f for more",
            "https://a.b/c?d=e#f",
            "https://a.b/c?d=e#f",
        ),
        (
            "http://localhost:3000/x",
            "http://localhost:3000/x",
            "http://localhost:3000/x",
        ),
        ("www.a.b/c", "http://www.a.b/c", "www.a.b/c"),
        ("(https://a.b/c)", "https://a.b/c", "https://a.b/c"),
        ("https://a.b/c_(d)", "https://a.b/c_(d)", "https://a.b/c_(d)"),
        ("Look at https://a.b/c.", "https://a.b/c", "https://a.b/c"),
        ("https://a.b/c?!, and", "https://a.b/c", "https://a.b/c"),
        ("HTTPS://A.B", "HTTPS://A.B", "HTTPS://A.B"),
        ("**Note** https://a.b", "https://a.b", "https://a.b"),
        ("https://a.b<br>", "https://a.b", "https://a.b"),
        ("\u{770b}https://a.b", "https://a.b", "https://a.b"),
    ];
    for (text, href, shown) in cases {
        assert_eq!(links_in(text), [(href.to_owned(), shown.to_owned())], "{text:?}");
    }
}

#[test]
fn url_lookalikes_stay_text() {
    let texts = [
        "https://",
        "https:// a",
        "http://.",
        "www.",
        "xhttps://a.b",
        "https://a_b.c",
        "`https://a.b`",
        "ftp://a.b",
        "javascript://a.b",
        "<a href=\"https://a.b\">",
    ];
    for text in texts {
        assert_eq!(links_in(text), [], "{text:?}");
    }
    assert_eq!(
        links_in("[https://a.b](/c)"),
        [("/c".to_owned(), "https://a.b (a page of this site)".to_owned())]
    );
    assert_eq!(links_in("<https://a.b>").len(), 1);
}

/// Fragments of URLs, among them all that browsers drop or replace.
fn url_fragment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "/",
        "//",
        "\\",
        "\t",
        "\n",
        "\r",
        "\0",
        " ",
        "\u{a0}",
        "\u{feff}",
        "\u{202e}",
        "\u{3000}",
        ".",
        "..",
        ":",
        "@",
        "?",
        "#",
        "%",
        "%2f",
        "%40",
        "%09",
        "&",
        "[",
        "]",
        "x",
        "evil.example",
        "http",
        "HTTPS",
        "https:",
        "https://",
        "mailto:",
        "ftp:",
        "file:",
        "javascript:",
        "data:",
        "blob:",
        "\u{ff0f}",
        "\u{ff1a}",
        "\u{ff20}",
        "127.1",
        ":80",
    ])
}

fuzzing::properties! {
    256;

    #[test]
    fn links_lead_where_they_say(fragments in prop::collection::vec(url_fragment(), 0..7)) {
        let href = fragments.concat();
        prop_assume!(is_allowed_link(&href));
        for base in ["http://127.0.0.1:8080/c/x?y#z", "https://chat.example/"] {
            let base = Url::parse(base).unwrap();
            // An invalid URL leads nowhere.
            let Ok(url) = base.join(&href) else { continue };
            let lower = href.trim_matches(' ').to_ascii_lowercase();
            match lower.split_once("://").map(|(scheme, _)| scheme) {
                Some(scheme @ ("http" | "https")) => prop_assert_eq!(url.scheme(), scheme),
                _ if lower.starts_with("mailto:") => prop_assert_eq!(url.scheme(), "mailto"),
                _ => prop_assert_eq!(url.origin(), base.origin(), "{:?}", href),
            }
            prop_assert!(url.username().is_empty() && url.password().is_none(), "{:?}", href);
        }
    }
}

#[test]
fn link_with_another_address_names_its_host() {
    for (text, shown) in [
        (
            "[http://good.example](http://evil.example)",
            "http://good.example (evil.example)",
        ),
        (
            "[**good.com**](<https://evil.example/x>)",
            "good.com (evil.example)",
        ),
        (
            "[`https://good.example`][a]\n\n[a]: https://evil.example",
            "https://good.example (evil.example)",
        ),
        (
            "![https://good.example](https://evil.example/a.png)",
            "https://good.example (evil.example)",
        ),
        ("<https://good.example>", "https://good.example"),
        ("https://good.example/a", "https://good.example/a"),
        ("[the guide](https://good.example)", "the guide"),
    ] {
        let Block::Paragraph(inlines) = &parse(text)[0] else {
            panic!("{text:?}")
        };
        assert_eq!(plain_text(inlines), shown, "{text:?}");
    }
}

/// The bare URLs of a text.
fn bare_urls(text: &str) -> Vec<String> {
    fn collect(inlines: &[Inline], urls: &mut Vec<String>) {
        for inline in inlines {
            match inline {
                Inline::Link { children, .. } => urls.push(plain_text(children)),
                Inline::Strong(children) | Inline::Emphasis(children) => collect(children, urls),
                _ => {}
            }
        }
    }
    let mut urls = Vec::new();
    for block in parse(text) {
        if let Block::Paragraph(inlines) = block {
            collect(&inlines, &mut urls);
        }
    }
    urls
}

#[test]
fn bare_url_ends_where_the_sentence_goes_on() {
    for (text, url) in [
        (
            "链接 https://example.com/docs（中文说明）了解更多",
            "https://example.com/docs",
        ),
        (
            "见 https://example.com/guide，详见四",
            "https://example.com/guide",
        ),
        ("请访问 https://example.com。谢谢", "https://example.com"),
        (
            "**https://example.com/pull/28031**。做六",
            "https://example.com/pull/28031",
        ),
        ("中文https://example.com英文七", "https://example.com"),
        ("「https://example.com」です", "https://example.com"),
        ("“https://example.com/a”后", "https://example.com/a"),
        ("https://example.com/a?b=c&d；e", "https://example.com/a?b=c&d"),
        (
            "https://zh.wikipedia.org/wiki/人工智能。",
            "https://zh.wikipedia.org/wiki/人工智能",
        ),
        ("https://例え.jp/道、", "https://例え.jp/道"),
        ("https://example.com/?q=中文 x", "https://example.com/?q=中文"),
        ("https://example.com:8080를 보세요", "https://example.com:8080"),
        ("www.example.com文", "www.example.com"),
        ("https://example.com’s page", "https://example.com"),
        ("Yes https://example.com🎉", "https://example.com"),
        ("Yes https://example.com❤️", "https://example.com"),
        ("‘https://example.com/a’后", "https://example.com/a"),
        ("‘https://example.com/a’ b", "https://example.com/a"),
        ("https://example.com/a\u{200b}", "https://example.com/a"),
        ("https://example.com/a\u{200b}b", "https://example.com/a"),
        ("https://example.com/a—", "https://example.com/a"),
        ("https://example.com/a·", "https://example.com/a"),
        ("https://example.com/a！", "https://example.com/a"),
        ("(https://example.com/a_(b)))", "https://example.com/a_(b)"),
        ("انظر https://example.com/a، ثم", "https://example.com/a"),
        ("देखें https://example.com/a।", "https://example.com/a"),
        ("https://example.com/a…", "https://example.com/a"),
        (
            "https://en.wikipedia.org/wiki/Cauchy–Schwarz_(x) b",
            "https://en.wikipedia.org/wiki/Cauchy–Schwarz_(x)",
        ),
        (
            "https://de.wikipedia.org/wiki/Käse.",
            "https://de.wikipedia.org/wiki/Käse",
        ),
    ] {
        assert_eq!(bare_urls(text), [url], "{text}");
    }
}

#[test]
fn bare_url_keeps_letters_and_marks_of_all_scripts() {
    for url in [
        "https://ta.wikipedia.org/wiki/தமிழ்",
        "https://th.wikipedia.org/wiki/คอมพิวเตอร์",
        "https://hi.wikipedia.org/wiki/संवत्",
        "https://x.example/🎉",
        "https://x.example/❤️",
        "https://ja.wikipedia.org/wiki/C言語",
        "https://ja.wikipedia.org/wiki/レオナルド・ダ・ヴィンチ",
        "https://zh.wikipedia.org/wiki/C语言",
        "https://zh.wikipedia.org/wiki/T恤",
        "https://x.example/2024年/",
        "https://x.example?q=a中文",
        "https://fr.wikipedia.org/wiki/L’Équipe",
        // The sentence may go on here, or the path.
        "https://x.example/login登录",
    ] {
        for (before, after) in [
            ("", ""),
            ("", " b"),
            ("a ", ". b"),
            ("见 ", "。后"),
            ("（", "）后"),
        ] {
            let text = [before, url, after].concat();
            assert_eq!(bare_urls(&text), [url], "{text}");
        }
    }
}

#[test]
fn many_parentheses_after_a_url_are_trimmed() {
    let with = |count| ["https://a.b/(c)", &")".repeat(count)].concat();
    assert_eq!(bare_urls(&with(4000)), ["https://a.b/(c)"]);
    // No URL is that long.
    assert_eq!(bare_urls(&with(200_000)), Vec::<String>::new());
}

#[test]
fn texts_of_almost_urls_take_linear_time() {
    for part in ["éwww.", "(http://a@b/", "*https://é."] {
        let text = [&part.repeat(400_000 / part.len()), "x_y"].concat();
        // The end of the text may be one.
        assert!(bare_urls(&text).len() <= 1, "{part}");
    }
}
