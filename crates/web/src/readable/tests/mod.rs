//! Pages and their readable text.

mod hostile;

use super::*;

pub fn read_as(content_type: &str, body: &[u8]) -> Result<ReadablePage, FetchError> {
    read_page(&Download {
        url: "https://example.org/a/page".parse().unwrap(),
        content_type: content_type.into(),
        body: body.into(),
        is_cut: false,
    })
}

pub fn page_of(html: &str) -> ReadablePage {
    read_as("text/html; charset=utf-8", html.as_bytes()).unwrap()
}

#[track_caller]
pub fn assert_reads(html: &str, text: &str) {
    assert_eq!(page_of(html).text, text);
}

#[test]
fn renders_headings_lists_and_links() {
    let html = r#"<!DOCTYPE html><html><head><title> A  title
        &amp; more </title><meta name="author" content="Ada L."><meta property="article:published_time" content="2026-01-02">
        <style>p { color: red }</style><script>document.write("<p>no</p>")</script></head>
        <body><nav><a href="/">Home</a></nav><header><h1>Banner</h1></header>
        <main><h1>Heading</h1><p>Some <b>bold</b>&nbsp;text,
        a <a href="../b?c=d#e">link</a>, <code>code</code>.<br>Next line.</p>
        <ul><li>one<li><p>two</p><ol start=3><li>three</li><li><a href="//example.net/(x)">four</a></ol><li></li></ul>
        <blockquote><p>quoted</p><p>twice</p></blockquote><hr>
        <pre>
  let a = 1;

  b()
</pre><h2></h2>
        <dl><dt>term<dd>meaning</dl></main><footer>Imprint</footer></body></html>"#;
    assert_eq!(
        page_of(html),
        ReadablePage {
            url: "https://example.org/a/page".into(),
            title: Some("A title & more".into()),
            byline: Some("Ada L.".into()),
            published: Some("2026-01-02".into()),
            text:
                "# Heading\n\nSome bold text, a [link](https://example.org/b?c=d#e), `code`.\nNext line.\n\n\
                - one\n- two\n  3. three\n  4. [four](https://example.net/%28x%29)\n\n\
                > quoted\n\n> twice\n\n---\n\n```\n  let a = 1;\n\n  b()\n```\n\nterm\n: meaning"
                    .into(),
            is_cut: false,
        }
    );
}

#[test]
fn renders_data_tables_but_not_layout_tables() {
    assert_reads(
        "<p>Before<table><caption>Caption</caption><tr><th>a<th>b|c<tr><td>1<td><p>2</p><p>3</p></tr><tr><td><td>4</table>After",
        "Before\n\nCaption\n| a | b\\|c |\n|---|---|\n| 1 | 2 3 |\n| | 4 |\n\nAfter",
    );
    assert_reads(
        "<table><tr><td>left<td><table><tr><td>a<td>b</table></table>",
        "left\n\n| a | b |\n|---|---|",
    );
}

#[test]
fn leaves_out_invisible_content() {
    for hidden in [
        "<div hidden>x</div>",
        "<span style='Display : NONE'>x<span>y</span>z</span>",
        "<p aria-hidden=true>x</p>",
        "<svg><title>x</title><text>y</text></svg>",
        "<form><label>x</label><input value=y><select><option>z</select></form>",
        "<button>x</button><textarea><p>x</textarea>",
        "<div role=navigation><p>x</p></div>",
        "<aside>x</aside><footer>y</footer><nav>z</nav><header>w</header>",
        "<template><p>x</p></template><noscript>x</noscript><iframe>x</iframe>",
        "<!-- x --><script>'<p>x</p>'</script><style>x</style>",
        "\u{200b}\u{202e}\u{e0041}",
    ] {
        assert_reads(&format!("<p>before </p>{hidden}<p>after</p>"), "before\n\nafter");
    }
}

#[test]
fn reads_a_page_that_hides_everything() {
    assert_reads("<body style='visibility:hidden'><p>text</p></body>", "text");
    assert_reads("<aside><p>text</p></aside>", "text");
    assert_reads("<script>load()</script>", "");
}

#[test]
fn reads_a_form_that_wraps_the_page() {
    assert_reads(
        "<form><input><p>The whole page is in a form.</p></form><p>End.</p>",
        "The whole page is in a form.\n\nEnd.",
    );
}

#[test]
fn reads_only_the_main_content() {
    let long = "word ".repeat(50);
    let text = long.trim();
    assert_reads(
        &format!("<div>Cookies!</div><div role=main><h1>T</h1><p>{long}</div><div>Other pages</div>"),
        &format!("# T\n\n{text}"),
    );
    assert_reads(
        &format!(
            "<main><div>Menu</div><article><header><h2>T</h2></header><p>{long}</article><article>x</article></main>"
        ),
        &format!("## T\n\n{text}"),
    );
    // Two of the same size: both are main content.
    assert_reads(
        &format!("<article>{long}</article><article>{long}</article>"),
        &format!("{text}\n{text}"),
    );
    // Almost empty: it is marked as the main part, but the text is elsewhere.
    assert_reads(&format!("<main>x</main><div>{long}</div>"), &format!("x\n{text}"));
}

#[test]
fn renders_only_absolute_web_links() {
    for (html, text) in [
        ("<a href=x>a</a>", "[a](https://example.org/a/x)"),
        ("<a href=' /x y '> a </a>b", "[a](https://example.org/x%20y) b"),
        (
            "<base href=//example.net/z/><a href=x>a</a>",
            "[a](https://example.net/z/x)",
        ),
        (
            "<a href=x><div>a</div><h2>b</h2></a>",
            "[a b](https://example.org/a/x)",
        ),
        ("<a href=x><code>a</code></a>", "[`a`](https://example.org/a/x)"),
        (
            "<a href=x><img src=y alt='a  cat'></a>",
            "[[image: a cat]](https://example.org/a/x)",
        ),
        ("<a href=x><img src=y></a>a<a href=x></a>", "a"),
        (
            "<a href=x>a<a href=y>b",
            "[a](https://example.org/a/x)[b](https://example.org/a/y)",
        ),
        ("<a href='#x'>a</a>", "a"),
        (
            "<a href=javascript:x()>a</a> <a href=mailto:x@y>b</a> <a href=data:,x>c</a>",
            "a b c",
        ),
        (
            "<a href='http://['>a</a> <a>b</a> <a name=x><p>c</p></a>",
            "a b\n\nc",
        ),
    ] {
        assert_reads(html, text);
    }
}

#[test]
fn uses_the_first_title() {
    let title = |html| page_of(html).title;
    assert_eq!(
        title("<svg><title>x</title></svg><h1>b <i>c</i></h1>").as_deref(),
        Some("x")
    );
    assert_eq!(title("<h1>b <i>c</i></h1>").as_deref(), Some("b c"));
    assert_eq!(
        title("<meta property=og:title content=a><h1>b</h1>").as_deref(),
        Some("a")
    );
    assert_eq!(title("<title></title><p>a"), None);
}

#[test]
fn reads_text_and_json_and_names_other_types() {
    let text = |kind, body: &[u8]| read_as(kind, body).map(|page| page.text);
    let named = |kind: &str| Err(FetchError::UnsupportedType(kind.into()));
    assert_eq!(
        text("text/plain", b"a <b>\r\n\tc\x1b[0m\n"),
        Ok("a <b>\n\tc[0m\n".into())
    );
    assert_eq!(
        text("application/ld+json", b"{\"a\":1}"),
        Ok("{\n  \"a\": 1\n}".into())
    );
    assert_eq!(text("application/json", b"{\"a\":"), Ok("{\"a\":".into()));
    assert_eq!(text("application/rss+xml", b"<rss/>"), Ok("<rss/>".into()));
    assert_eq!(text("", b"  <!DOCTYPE html><p>a"), Ok("a".into()));
    assert_eq!(text("", b"<p>a"), Ok("<p>a".into()));
    assert_eq!(text("text/html", b"%PDF-1.7 ..."), named("application/pdf"));
    assert_eq!(text("text/plain", b"\x7fELF\0"), named("binary data"));
    for kind in [
        "application/pdf",
        "image/png",
        "image/svg+xml",
        "video/mp4",
        "application/octet-stream",
        "x",
    ] {
        assert!(!is_readable(kind));
        assert_eq!(text(kind, b"a"), named(kind));
    }
    assert!(is_readable("") && is_readable("Text/HTML;charset=x") && is_readable("text/csv"));
}
