//! Texts that must not exhaust the stack or the time of a reader, by their depth or their length.

use super::super::{MarkdownDocument, parse};

/// The stack of a thread in which nothing here may overflow: half of what the browser has.
const SMALL_STACK: usize = 512 << 10;

/// Parses a text at once and as it grows, and drops the trees, with little stack.
fn parse_within_small_stack(text: String) {
    let work = move || {
        let blocks = parse(&text);
        let mut document = MarkdownDocument::new();
        for fragment in text.as_bytes().chunks(text.len() / 3 + 1) {
            document.push(&String::from_utf8_lossy(fragment));
        }
        document.finish();
        assert_eq!(blocks.clone(), blocks);
        drop((blocks, document));
    };
    let thread = std::thread::Builder::new().stack_size(SMALL_STACK).spawn(work);
    thread
        .map(|thread| thread.join())
        .expect("threads can be started")
        .expect("it does not panic");
}

#[test]
fn deep_texts_fit_a_small_stack() {
    const DEPTH: usize = 3_000;
    for (open, close) in [
        ("<sub>", "</sub>"),
        ("<sub>", ""),
        ("<mark><kbd>", "</kbd></mark>"),
        ("<details>\n", "</details>\n"),
        ("<details>\n\n", "\n\n</details>\n"),
        ("<details><summary>", "</summary></details>"),
        ("<details><summary>a</summary>\n\n> ", "\n\n</details>\n\n"),
        ("> ", ""),
        ("> - ", ""),
        ("- ", ""),
        ("1. > ", ""),
        ("*a **b ", "** *"),
        ("[", "](a)"),
        ("![", "](a)"),
        ("~~*", "*~~"),
        ("<sub>*", "*</sub>"),
        ("\\(", "\\)"),
        ("$", "$"),
        ("{", "}"),
    ] {
        parse_within_small_stack([&open.repeat(DEPTH), "a", &close.repeat(DEPTH)].concat());
    }
    let quoted = |depth: usize, line: &str| ["> ".repeat(depth), line.to_owned()].concat();
    for depth in [10, 100] {
        let alerts: Vec<String> = (1..depth).map(|depth| quoted(depth, "[!NOTE]\n")).collect();
        parse_within_small_stack(alerts.concat());
        parse_within_small_stack(["- > [!TIP]\n", &"  > - > [!NOTE]\n".repeat(depth)].concat());
    }
}

/// The other tags of a summary are removed, level by level: what is left may be a tag that was none before.
#[test]
fn nested_summaries_fit_a_small_stack() {
    let mut text = "a".to_owned();
    for level in (0..95).rev() {
        let tag = |name: &str| {
            [
                "<".repeat(level + 1),
                "x>".repeat(level),
                name.to_owned(),
                ">".to_owned(),
            ]
            .concat()
        };
        text = [
            tag("details"),
            tag("summary"),
            text,
            tag("/summary"),
            tag("/details"),
        ]
        .concat();
    }
    assert!(text.len() < 64 << 10);
    parse_within_small_stack(text);
}

#[test]
fn work_grows_with_the_length() {
    for unit in [
        "$",
        "$a",
        "$a ",
        "$$",
        "$$a",
        "$$.",
        "$$$a ",
        "\\$",
        "a\\\n$",
        "\\(",
        "\\( . ",
        "\\(.\\)",
        "\\[",
        "\\[ . ",
        "\\[.\\]",
        "\\(\\[",
        "$\\(",
        "$\\(.\n",
        "\\[a\n",
        "\\[\n\n",
        "\\[\n\na=b\n",
        "$$ \n\n",
        "$$\n\n=\n\n",
        "$ ",
        "$ a",
        "$ a \n",
        "$$a\n",
        "<sub>",
        "<sub",
        "</sub>",
        "<sub>a</sub>",
        "<br>",
        "<br>\n",
        "> [!NOTE]\n",
        "[!NOTE]\n",
        "> [!NOTE]\n\n",
        "<details>",
        "<details>\n",
        "<details ",
        "</details>",
        "<details>\n\n",
        "<details><summary>",
        "<details><summary>a</summary>",
        "```md\nx\n```\n",
        "- ```md\n  x\n\n",
        "- ```md\n  ```sh\n  a\n\n",
    ] {
        let works = [1 << 14, 1 << 16].map(|length| {
            let mut text = unit.repeat(length / unit.len());
            text.push_str(" \\) \\] $");
            let mut document = MarkdownDocument::new();
            document.push(&text);
            document.finish();
            document.parsed_bytes() / text.len() as u64
        });
        // For each byte, as much in a text four times as long.
        assert!(works[1] <= works[0] + 8 && works[1] < 200, "{unit:?}: {works:?}");
    }
}
