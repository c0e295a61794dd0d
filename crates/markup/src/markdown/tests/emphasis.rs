//! Emphasis beside Chinese, Japanese and Korean characters.

use super::super::cjk::flanking;
use super::super::{Block, Inline, MarkdownDocument, parse};

/// A paragraph with its emphasis as tags.
fn tagged(blocks: &[Block]) -> String {
    fn write(inlines: &[Inline], out: &mut String) {
        for inline in inlines {
            let (tag, children) = match inline {
                Inline::Strong(children) => ("b", children),
                Inline::Emphasis(children) => ("i", children),
                Inline::Strikethrough(children) => ("s", children),
                Inline::Link { children, .. } => ("a", children),
                other => {
                    let text = super::super::plain_text(std::slice::from_ref(other));
                    let is_code = matches!(other, Inline::Code(_));
                    out.push_str(&if is_code {
                        ["<c>", &text, "</c>"].concat()
                    } else {
                        text
                    });
                    continue;
                }
            };
            out.push_str(&["<", tag, ">"].concat());
            write(children, out);
            out.push_str(&["</", tag, ">"].concat());
        }
    }
    let mut out = String::new();
    for block in blocks {
        if let Block::Paragraph(inlines) = block {
            write(inlines, &mut out);
        }
    }
    out
}

const CASES: &[(&str, &str)] = &[
    ("**测试。**后文", "<b>测试。</b>后文"),
    ("含**「重点」**内容", "含<b>「重点」</b>内容"),
    ("これは**「強調」**です", "これは<b>「強調」</b>です"),
    ("~~删除。~~后文", "<s>删除。</s>后文"),
    ("*斜体。*后文", "<i>斜体。</i>后文"),
    ("**100%**完成", "<b>100%</b>完成"),
    ("**C++：**语言", "<b>C++：</b>语言"),
    ("正常**粗体**文字", "正常<b>粗体</b>文字"),
    ("使用**`code`**命令", "使用<b><c>code</c></b>命令"),
    ("看**[链接](https://a.example)**吧", "看<b><a>链接</a></b>吧"),
    ("他说**“你好”**然后", "他说<b>“你好”</b>然后"),
    (
        "**이 용어(This term)**를 강조",
        "<b>이 용어(This term)</b>를 강조",
    ),
    ("**（注）**和**『a』**b", "<b>（注）</b>和<b>『a』</b>b"),
    ("a**。**b", "a<b>。</b>b"),
    ("**𠮷。**𠮷野家", "<b>𠮷。</b>𠮷野家"),
    ("**“a”**𠮷野家", "<b>“a”</b>𠮷野家"),
    ("***重要。***后文", "<i><b>重要。</b></i>后文"),
    ("**~~旧。~~新。**后文", "<b><s>旧。</s>新。</b>后文"),
    ("**ｶﾀｶﾅ｡**ﾃﾞｽ", "<b>ｶﾀｶﾅ｡</b>ﾃﾞｽ"),
    ("**重要🎉**后文", "<b>重要🎉</b>后文"),
    ("\"**注**x\"", "\"<b>注</b>x\""),
    ("公式**$x$：**值", "公式<b>$x$：</b>值"),
    ("`**测试。**后文` a", "<c>**测试。**后文</c> a"),
    // As before.
    ("a**\"b\"**c", "a**\"b\"**c"),
    ("** 测试 **", "** 测试 **"),
    ("2*3*4 和 a ~ b", "2<i>3</i>4 和 a ~ b"),
    ("_测试。_后文", "_测试。_后文"),
    ("\\**测试。*\\*后文", "*<i>测试。</i>*后文"),
];

#[test]
fn cjk_punctuation_does_not_block_emphasis() {
    for (text, expected) in CASES {
        assert_eq!(tagged(&parse(text)), *expected, "{text}");
    }
}

#[test]
fn cjk_emphasis_stays_while_the_text_grows() {
    for (text, expected) in CASES {
        let mut document = MarkdownDocument::new();
        for (at, c) in text.char_indices() {
            document.push(&text[at..at + c.len_utf8()]);
        }
        document.push("\n\nend");
        let shown = tagged(document.blocks());
        assert_eq!(shown.strip_suffix("end"), Some(*expected), "{text}");
    }
    let mut document = MarkdownDocument::new();
    document.push("含**「重");
    assert_eq!(tagged(document.blocks()), "含<b>「重</b>");
}

#[test]
fn labels_and_code_keep_their_characters() {
    let text = "[a**。**b] [c**「d」**e][f]\n\n    x**。**y\n\n```\nx**。**y\n```\n\n[a**。**b]: /u\n[f]: /v";
    let Block::Paragraph(inlines) = &parse(text)[0] else {
        panic!("no paragraph")
    };
    let links = inlines
        .iter()
        .filter(|inline| matches!(inline, Inline::Link { .. }));
    assert_eq!(links.count(), 2);
    let codes: Vec<_> = parse(text)
        .into_iter()
        .filter_map(|block| match block {
            Block::Code { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(codes, ["x**。**y\n", "x**。**y\n"]);
}

#[test]
fn flanking_follows_the_amendment() {
    for (before, after, expected) in [
        ('。', '后', (true, true)),
        ('%', '完', (true, true)),
        ('用', '`', (true, true)),
        ('a', '"', (false, true)),
        ('"', 'a', (true, false)),
        (' ', '「', (true, false)),
        ('」', ' ', (false, true)),
        ('a', '「', (true, true)),
        ('🎉', 'a', (true, false)),
    ] {
        assert_eq!(flanking(before, after), expected, "{before}**{after}");
    }
}
