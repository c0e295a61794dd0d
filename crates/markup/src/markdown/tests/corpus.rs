//! Texts to test with.

/// Snippets of markup, combined at random in the tests.
pub const SNIPPETS: &[&str] = &[
    "```markdown\n",
    "```\n",
    "中",
    "。",
    "「",
    "%",
    "\\begin{align}",
    "\\end{align}",
    "https://a.b/",
    "- ",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2. ",
    "3) ",
    "10. ",
    "> ",
    ">",
    "# ",
    "## ",
    "###### ",
    "```",
    "```rust\n",
    "~~~",
    "````",
    "`",
    "``",
    "*",
    "**",
    "***",
    "_",
    "__",
    "~",
    "~~",
    "[",
    "]",
    "(",
    ")",
    "](",
    "](http://a.b)",
    "[a]",
    "[a]: ",
    "[a]: /u\n",
    "[a]: /u \"t\"\n",
    "\"t\"\n",
    "[b]: <x y>\n",
    "[^1]",
    "[^1]: ",
    "[^1]: n\n",
    "[^n]",
    "[^n]: x\n    y\n",
    "![",
    "![a](b)",
    "|",
    "| a | b |\n",
    "|---|---|\n",
    "| a | b |\n|---|:-:|\n",
    "a | b\n--|--\n",
    "| c |\n",
    "---",
    "---\n",
    "===\n",
    "***\n",
    "=",
    "\\",
    "&amp;",
    "&",
    "&#35;",
    "<b>",
    "</b>",
    "<div>\n",
    "</div>\n",
    "<!-- ",
    "-->",
    "<http://a.b>",
    "https://a.b/c",
    " www.a.b.",
    "<a@b.c>",
    "<",
    "[ ] ",
    "[x] ",
    "- [ ] a\n",
    "- [x] b\n",
    "- a\n",
    "- b\n\n",
    "1. a\n",
    "  - c\n",
    "    d\n",
    "   e\n",
    "> q\n",
    "a\n",
    "b\n\n",
    "text ",
    "**bold** ",
    "`code` ",
    "*em* ",
    "  \n",
    "\\\n",
    "\t- ",
    "-\n",
    "1.\n",
    "$",
    "$x_1$",
    "$x^2",
    "$$",
    "$$\n",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "\\frac{a}{b} ",
    "+ c\n",
    "<br>",
    "<sub>",
    "</sub>",
    "<kbd>",
    "<details>\n",
    "<summary>s</summary>\n\n",
    "</details>\n",
    "</details>\n\n",
    "> [!NOTE]\n",
    "\u{0}",
    "\u{1}",
    "\u{a0}",
    "é",
    "漢字",
];

/// Texts on which this module once failed.
pub const REGRESSIONS: &[&str] = &[
    "```markdown\n# Title\n\n```python\nprint(1)\nprint(2)\n```\n\nMore\n```\n\nThe end.\n",
    "> ```md\n> ```sh\n> a\n\n```\nb\n```\n",
    "# $$</details>\n\\\n$$\n",
    "</details>\n</details>\n- ",
    "> <details>\n\n",
    "- $$[^1]$x_1$- [ ] a\n<details>\n",
    "| a | b |\n|---|:-:|\na[^1]&amp;[a]: /u\n`",
    "1. \n\n1.\n- ",
    "[^1]: [^1]: n\n",
    "    ```rust\n[^1]: n\n    [^1]: - [ ] a\n",
    "`\n---\n[a]: /u\n    | a | b |\n|---|:-:|\n",
    "[b]: <x y>\n\n[^n]\\[b]: <x y>\n",
    "[a]: /u\n2. a | b\n--|--\n",
    "- a\n\n- a<kbd>b\n  - c\n",
    "- <br>\n\n- \n",
    "- # a\n- <br>\n\n- ```\n  a\n  ```\n",
    "- # a\n\n  [a]: /u\n- <br>\n- # b\n",
    "- > <br>\n  >\n- <br>\n- <br>\n",
    "> - - <br>\n>   \n> - <br>\n> - <br>\n",
];

/// Texts whose meaning differs from their first appearance.
pub const EDGE_CASES: &[(&str, &str)] = &[
    (
        "a price and a product",
        "It costs 2 * 3 = 6, or 5*3, ~5 minutes, snake_case_name and 2 ** 3.\n",
    ),
    (
        "brackets that are none",
        "array[0] = map[\"a\"][1]; [not a link] and [x] (y) and [z](not an address)\n",
    ),
    (
        "a definition in an item",
        "- [a]\n- b\n\n  [a]: /u\n- c\n\ntext [a]\n",
    ),
    (
        "a definition in a quote",
        "[a] and [A]\n\n> [a]: /u\n> 'title'\n\n[a]: /second\n",
    ),
    ("the same footnote twice", "x[^1]\n\n[^1]: one\n[^1]: two\n"),
    (
        "a footnote that never comes",
        "a regex [^abc] and another [^def]\n\n- [^abc]\n\n| a |\n|---|\n| [^abc] |\n",
    ),
    (
        "a table without edges",
        "a | b\n--|:-:\n1 | 2\n3\n| 4 | 5 | 6 |\nstill the table\n\nnot\n",
    ),
    (
        "a table after text",
        "text\n| a | b |\n|---|---|\n| `x \\| y` | **b** |\n> quote\n",
    ),
    (
        "lists that follow each other",
        "- a\n- b\n* c\n* d\n1. e\n2. f\n1) g\n\n\n2) h\n",
    ),
    (
        "a list that becomes loose late",
        "- a\n- b\n- c\n  - d\n- e\n\n- f\n",
    ),
    (
        "items without paragraphs",
        "-\n\n-\n- a\n- ```\n  x\n  ```\n-\n\n  no\n",
    ),
    (
        "indents that grow",
        "- a\n - b\n  - c\n   - d\n    - e\n\n      f\n     - g\n",
    ),
    (
        "a fence in a quote in a list",
        "1. a\n   > ```rust\n   > fn a() {}\n   >\n   > ```\n   > b\nc\n",
    ),
    (
        "fences that don't match",
        "````md\n```rust\nx\n```\n~~~\n````\n~~~\n```\n",
    ),
    (
        "a fence that is never closed",
        "text\n\n```js\nlet a = `b`;\n\n\n- a\n",
    ),
    ("an indented fence", "   ```\n   a\n  b\n     c\n   ```\n"),
    ("code by indent", "a\n\n    b\n\n\n    c\n\td\n\ne\n"),
    (
        "raw html",
        "<div>\n*a*\n\n*b*\n</div>\n<!-- a\n\nb -->\nc <b>d</b> <br/>\n",
    ),
    ("setext headings", "a\nb\n===\nc\n---\n- d\n---\n"),
    ("line ends", "a\r\nb\r\r\n- c\r- d\r\n\r\n```\r\ne\r\n```\r\n"),
    (
        "formulas with blank lines",
        "a\n\n\\[\n\nb = c\n\n- d^2\n  \n\n    e_1\n\n\\]\n\nf $ g_1 $ h $ i and $ j\n",
    ),
    (
        "formulas in containers with blank lines",
        "$$\n\na = b\n\n$$\n- \\[\n\n  x = 1\n\n  \\]\n> \\[\n>\n> y = 1\n>\n> \\]\n",
    ),
    (
        "formulas that never end",
        "a \\(b + c\n\n$$ d\n- e\n- f\n\n\\[ g\n\n$h i\nj$ k\n",
    ),
    (
        "tags that never close",
        "a <sub>b **c</sub> d** <kbd>e\n\n<details>\n<summary>f\n\ng\n\n- h <mark>i\n- j\n\n</details> k\n\nl\n",
    ),
    (
        "details in sequence and in containers",
        "<details>\n<summary>a</summary>\nb\n</details>\n<details>\n<summary>c</summary>\n\nd\n\n<details>\n\ne\n\n</details>\n\n</details>\n\n- <details>\n  <summary>f</summary>\n\n  g\n\n  </details>\n- h\n",
    ),
    ("headings without text", "#\n\n# #\n## a ##\n###b\n"),
];

/// Answers as models write them. They are also used to test that markup never flashes.
pub const ANSWERS: &[(&str, &str)] = &[
    (
        "an explanation with code",
        "## Reading a file\n\nUse `std::fs::read_to_string`, which returns a **`Result<String>`**:\n\n```rust\n\
         use std::fs;\n\nfn main() -> std::io::Result<()> {\n    let text = fs::read_to_string(\"a.txt\")?;\n    \
         println!(\"{text}\"); // *not* markup, [nor](this)\n    Ok(())\n}\n```\n\nThat reads *everything* at once. \
         For large files see [`BufReader`](https://doc.rust-lang.org/std/io/struct.BufReader.html \"docs\"), \
         or ***both***.\n",
    ),
    (
        "numbered steps with code in them",
        "Here is how:\n\n1. **Install** it:\n\n   ```sh\n   cargo install thing\n   # then\n   ```\n\n2. Configure it \
         with `thing.toml`:\n   ```toml\n   [a]\n   b = \"c\"\n   ```\n3. Run it.\n\n   It takes _a while_.\n10. Done!\n",
    ),
    (
        "nested lists",
        "- One\n  - **Two**: with *text*\n    - Three `code`\n  - Four\n- Five\n\n  A second paragraph.\n- Six ~~seven~~ \
         eight\n\n* Another list\n* of two\n",
    ),
    (
        "tasks",
        "To do:\n\n- [x] write *it*\n- [ ] test **it**\n  - [ ] and this\n- [ ] ship\n\n1. [X] numbered\n",
    ),
    (
        "a table",
        "A comparison:\n\n| Name | *Fast* | `Size` |\n|:-----|:----:|-----:|\n| **a** | yes | 1 KB |\n| b, [c](http://c.d) | \
         no | 2 KB |\n| d |\n| e | f | g\n\nThe end.\n",
    ),
    (
        "a table right after text",
        "Compare:\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> | q | r |\n> |---|---|\n> | **3** | 4 |\n",
    ),
    (
        "a quote",
        "> A *quoted* line\n> and **another\n> one** here.\n>\n> > Nested, with `code`.\n>\n> - item\n\nAfter it.\n",
    ),
    (
        "headings",
        "# One *two*\n\nText\n\n### Three `four` ###\n\nFive\n====\n\nSix\n---\n\n#### Seven\n- eight\n",
    ),
    (
        "footnotes",
        "A claim.[^1] Another[^note].\n\n| a[^1] |\n|---|\n| b[^note] |\n\n[^1]: The *source*.\n[^note]: A longer note\n    \
         of two lines.\n\n    And a paragraph.\n\nAfter.\n",
    ),
    (
        "links of all kinds",
        "See [the docs](https://a.b/c_(d)), <https://e.f/g>, ![a *picture*](https://h.i/j.png) and \
         [**bold** `link`](<k l> 'title').\n\n[Begin](#of-a-line) of a line. Mail <me@example.org>.\n",
    ),
    (
        "entities and escapes",
        "Fish &amp; chips &copy; 2024, 1 \\* 2 \\_ 3 \\\\ 4; AT&T &#35;1.\n\n\\# no heading\n",
    ),
    ("rules", "a\n\n---\n\nb\n\n* * *\n\nc\n\n___\n"),
    (
        "emphasis in many ways",
        "*a* **b** ***c*** _d_ __e__ **f *g* h** *i **j** k* **l**m ~~n *o*~~ *p*. (**q**) \"*r*\"\n",
    ),
    (
        "code in many ways",
        "`a` ``b ` c`` ``` d `` e ``` `` `f` `` text `g\nh` i\n",
    ),
    ("breaks", "one  \ntwo\\\nthree\nfour\n"),
    (
        "other languages",
        "**日本語** の *文章* です。`コード` と [リンク](https://example.jp/日本)。\n\n- עברית **מודגש**\n- émigré _naïve_ 🙂\n",
    ),
    (
        "numbers at the begin of lines",
        "2024 was a year.\n1999) no\n\n3.14 is pi\n\n1. one\n2. two\n",
    ),
    (
        "fences with tildes and info",
        "~~~python {a=1}\nprint('```')\n~~~\n\n````markdown\n```js\nx\n```\n````\n",
    ),
    (
        "formulas",
        "The sum \\(a_1 + b_1\\) is *less* than $c^2_{i}$, so\n\n\\[\n\\begin{aligned}\na &= b \\\\\n&+ [c]\n- d\n\\end{aligned}\n\\]\n\n\
         1. With **$x^*$** in it:\n   $$\n   \\frac{a*b*c}{d}\n   = e\n   $$\n   and more.\n2. $$ E = mc^2 $$\n\n> \\[ x < y \\]\n> quoted\n\n\
         | a | $b^{2}$ |\n|---|---|\n| \\(c\\) | d |\n",
    ),
    (
        "prices and variables",
        "It costs $5 and $10, or $20/month. Set $HOME and $PATH, then run `echo $A$B`.\n\nFrom US$5 to 7$ each.\n",
    ),
    (
        "tags with a meaning",
        "H<sub>2</sub>O and x<sup>2</sup>, press <kbd>Ctrl</kbd>+<kbd>C</kbd>, <mark>*this*</mark>.<br>Next line\n\n\
         | a | b |\n|---|---|\n| c<br>d | e |\n",
    ),
    (
        "details",
        "Before.\n\n<details>\n<summary>More <b>here</b></summary>\n\nHidden **text**.\n\n- item\n\n```sh\nls\n```\n\n</details>\n\nAfter.\n",
    ),
    (
        "alerts",
        "> [!NOTE]\n> Useful *text*.\n\nThen\n\n> [!WARNING]\n> Be careful.\n> - really\n",
    ),
    (
        "hyphens",
        "A well-known -- thing - with dashes\n- and an item\n- another-one\n\n-5 degrees\n+1 from me\n",
    ),
];
