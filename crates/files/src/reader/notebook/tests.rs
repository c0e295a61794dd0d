use serde_json::json;

use super::*;

const LIMIT: usize = 100_000;

fn text_of(notebook: &Value) -> String {
    let document = read(notebook.to_string().as_bytes(), LIMIT);
    assert_eq!(document.media_type, Some(IPYNB));
    document.content.unwrap().text
}

/// Returns the text of a code cell with these outputs, behind its code.
fn shown(outputs: &Value) -> String {
    let cell = json!({ "cell_type": "code", "source": "x", "outputs": outputs });
    let text = text_of(&json!({ "cells": [cell] }));
    let (_, output) = text.split_once("```python\nx\n```\n").expect("the code");
    output.to_owned()
}

#[test]
fn cells_are_text_and_fenced_code() {
    let notebook = json!({
        "nbformat": 4,
        "metadata": { "language_info": { "name": "julia" } },
        "cells": [
            { "cell_type": "markdown", "source": ["# Tides\n", "High and low."] },
            { "cell_type": "code", "source": "print(1)\n", "execution_count": 3, "outputs": [
                { "output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"] },
                { "output_type": "execute_result", "data": { "text/plain": ["3"], "text/html": "<b>3</b>" } },
            ] },
            { "cell_type": "raw", "source": "as it is" },
        ],
    });
    assert_eq!(
        text_of(&notebook),
        "[Cell 1]\n# Tides\nHigh and low.\n\n[Cell 2]\n```julia\nprint(1)\n```\nOutput:\n```\n1\n2\n3\n```\n\n[Cell 3]\nas it is\n\n"
    );
    assert_eq!(text_of(&json!({ "cells": [] })), "[A notebook without cells.]");
}

#[test]
fn outputs_are_plain_text() {
    let figure = json!([{ "output_type": "display_data", "data": { "image/png": "iVBORw0KGgo=", "text/plain": "<Figure>" } }]);
    assert_eq!(shown(&figure), "Output:\n```\n[image]\n```\n\n");
    let printed = json!([{ "output_type": "stream", "text": "\u{1b}[31mred\u{1b}[0m\n10%\r100%\n" }]);
    assert_eq!(shown(&printed), "Output:\n```\nred\n100%\n```\n\n");
    let html = json!([{ "output_type": "display_data", "data": { "text/html": "<script>" } }]);
    assert_eq!(shown(&html), "Output:\n```\n[HTML]\n```\n\n");
    let error = json!([{ "output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": [
        "\u{1b}[0;31mTraceback\u{1b}[0m", "\u{1b}[0;31mValueError\u{1b}[0m: no",
    ] }]);
    assert_eq!(shown(&error), "Output:\n```\nTraceback\nValueError: no\n```\n\n");
    let bare = json!([{ "output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": [] }]);
    assert_eq!(shown(&bare), "Output:\n```\nValueError: no\n```\n\n");
}

#[test]
fn older_format_is_read() {
    let notebook = json!({ "nbformat": 3, "worksheets": [{ "cells": [
        { "cell_type": "heading", "level": 2, "source": "Tides" },
        { "cell_type": "code", "input": ["1 / 0"], "language": "python", "outputs": [
            { "output_type": "pyout", "text": ["a\n", "b"] },
            { "output_type": "display_data", "png": "iVBORw0KGgo=" },
            { "output_type": "pyerr", "ename": "ZeroDivisionError", "evalue": "by zero", "traceback": [] },
        ] },
    ] }] });
    assert_eq!(
        text_of(&notebook),
        "[Cell 1]\n## Tides\n\n[Cell 2]\n```python\n1 / 0\n```\nOutput:\n```\na\nb\n[image]\nZeroDivisionError: by zero\n```\n\n"
    );
}

#[test]
fn pictures_in_texts_are_named() {
    for (written, plain) in [
        ("![a](data:image/png;base64,iVBORw0KGgo=) b", "![a]([image]) b"),
        (
            "<img src=\"data:image/gif;base64,R0lGOD\"><img src='data:image/gif;base64,R0'>",
            "<img src=\"[image]\"><img src='[image]'>",
        ),
        ("data:image/svg+xml,x", "data:image/svg+xml,x"),
        ("no data: image", "no data: image"),
    ] {
        assert_eq!(without_pictures(written), plain, "{written}");
    }
}

#[test]
fn what_is_no_notebook_is_a_text() {
    for text in ["{\"cells\": [", "{}", "[1]", "Grüße", "{\"cells\": 1}", ""] {
        let document = read(text.as_bytes(), LIMIT);
        assert_eq!(document, text::read(text.as_bytes(), LIMIT), "{text}");
        assert_eq!(document.media_type, Some("text/plain"), "{text}");
    }
    assert_eq!(read(b"a\0b", LIMIT), Document::UNUSABLE);
    // Deeper than what is read.
    let deep = format!("{{\"cells\": {}{}}}", "[".repeat(500), "]".repeat(500));
    assert_eq!(read(deep.as_bytes(), LIMIT).media_type, Some("text/plain"));
}

#[test]
fn odd_values_lose_only_themselves() {
    let notebook = json!({ "metadata": { "language_info": { "name": "a b\n```" } }, "cells": [
        1,
        { "cell_type": "code", "source": ["a", 2, "b"], "outputs": [7, {}, { "output_type": "stream", "text": 3 }] },
        { "cell_type": "code", "source": "```", "outputs": { "text": "x" } },
    ] });
    assert_eq!(
        text_of(&notebook),
        "[Cell 1]\n\n\n[Cell 2]\n```python\nab\n```\n\n[Cell 3]\n````python\n```\n````\n\n"
    );
}

#[test]
fn text_is_bounded() {
    let long = json!([{ "output_type": "stream", "text": "é".repeat(MAX_OUTPUT_BYTES) }]);
    let output = shown(&long);
    assert!(output.len() < MAX_OUTPUT_BYTES + 100);
    assert!(output.ends_with("é\n[8192 more bytes are not shown.]\n```\n\n"));
    let cells = vec![json!({ "cell_type": "markdown", "source": "é".repeat(60) }); 3];
    let document = read(json!({ "cells": cells }).to_string().as_bytes(), 200);
    let text = document.content.unwrap().text;
    assert!(
        text.ends_with("é\n[The rest is not shown: the notebook has 3 cells.]"),
        "{text}"
    );
    assert!(text.len() <= 200, "{text}");
}
