//! The output of code: text that is no Unicode, figures that it only saves, styled tables, and names that it did not import.

use parlor_protocol::ConversationId;

use super::Sessions;

#[tokio::test]
async fn half_a_surrogate_pair_loses_nothing() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    for (code, shown) in [
        (
            r#"print("x\ud83d", "\udc80", "\ud83d" + "\ude00")"#,
            "x\u{fffd} \u{fffd} 😀",
        ),
        (r#"import sys; print("e\ud83d", file=sys.stderr)"#, "e\u{fffd}"),
        (r#"display({"text/plain": "d\udfff"}, raw=True)"#, "d\u{fffd}"),
        (
            r#"pd.DataFrame({"n": ["t\ud83d"]}, dtype=object)"#,
            "| n |\n| --- |\n| t\u{fffd} |\n\n1 row × 1 column",
        ),
        (r#"import os; os.fsdecode(b"\xff") + "?""#, r"'\udcff?'"),
        (r#"print(open("\ud83d.txt", errors="x") if 0 else "on")"#, "on"),
    ] {
        assert_eq!(sessions.text(session, code).await, shown, "{code}");
    }
    for (code, last_line) in [
        (r#"raise ValueError("bad \ud83d")"#, "ValueError: bad \u{fffd}"),
        (r#"raise KeyError("\udc80")"#, r"KeyError: '\udc80'"),
        (
            r#"class Odd(Exception):
    def __str__(self): return "\ud800"
raise Odd"#,
            "Odd: \u{fffd}",
        ),
        (
            r#"error = ValueError("x"); error.add_note("note \ud83d"); raise error"#,
            "note \u{fffd}",
        ),
    ] {
        let output = sessions.run(session, code).await.unwrap();
        assert!(output.error.is_some(), "{code}");
        assert!(output.text().ends_with(last_line), "{code}: {}", output.text());
    }
}

#[tokio::test]
async fn every_figure_is_shown_once() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    for (code, count) in [
        ("plt.plot([1]); plt.savefig('a.png'); plt.close()", 1),
        ("plt.plot([1]); plt.savefig('a.png')", 1),
        (
            "fig, ax = plt.subplots(); fig.savefig('a.pdf'); fig.savefig('a.svg'); plt.close(fig)",
            1,
        ),
        (
            "import io; plt.plot([1]); plt.savefig(io.BytesIO()); plt.close()",
            1,
        ),
        (
            "from matplotlib.figure import Figure\nfigure = Figure(); figure.subplots(); figure.savefig('a.png')",
            1,
        ),
        (
            "from IPython.display import Image\nplt.plot([1]); plt.savefig('a.png'); plt.close(); Image('a.png')",
            1,
        ),
        ("with plt.ioff(): plt.plot([1])", 1),
        ("plt.plot([1]); 1 / 0", 1),
        (
            "for n in range(3):\n    plt.figure(); plt.plot([n]); plt.savefig(f'{n}.png'); plt.close()",
            3,
        ),
        // From here on without the inline backend.
        (
            "import matplotlib; matplotlib.use('Agg'); plt.plot([1]); plt.show()",
            1,
        ),
        ("fig, ax = plt.subplots(); ax.plot([1]); fig", 1),
        (
            "fig, ax = plt.subplots(); ax.plot([1]); plt.savefig('a.png'); None",
            1,
        ),
        ("plt.switch_backend('svg'); pd.Series([1]).plot()", 1),
        ("plt.plot([1]); raise ValueError('no')", 1),
        ("1", 0),
    ] {
        let output = sessions.run(session, code).await.unwrap();
        assert_eq!(output.files().count(), count, "{code}: {}", output.text());
        assert!(!output.text().contains("non-interactive"), "{}", output.text());
    }
    // Names that the code takes are its own.
    let taken = "id = str = len = print = 0; plt.plot([1]); None";
    assert_eq!(sessions.run(session, taken).await.unwrap().files().count(), 1);
    let named = sessions.text(session, "open('b.svg', 'w').close()").await;
    assert_eq!(
        named,
        "[Written to the session’s folder, where the person can’t see it: b.svg.]"
    );
}

#[tokio::test]
async fn styled_tables_are_tables() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    sessions
        .text(session, "df = pd.DataFrame({'n': [0.25, 2], 'w': ['a', 'b|c']})")
        .await;
    for (style, shown) in [
        (
            "df.style.format({'n': '{:.0%}'}).hide(axis='index').set_caption('Parts')",
            "Parts\n\n| n | w |\n| --- | --- |\n| 25% | a |\n| 200% | b\\|c |\n\n2 rows × 2 columns",
        ),
        (
            "df.set_index('w').style.hide(subset=['a'], axis='index').highlight_max()",
            "| w | n |\n| --- | --- |\n| b\\|c | 2.000000 |\n\n2 rows × 1 column",
        ),
        (
            "pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([('A', 'x')])).style",
            "|  | A x |\n| --- | --- |\n| 0 | 1 |\n\n1 row × 1 column",
        ),
    ] {
        assert_eq!(sessions.text(session, style).await, shown, "{style}");
    }
}

#[tokio::test]
async fn usual_names_need_no_import() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    // None of them is loaded at the start.
    let loaded =
        "import sys; [name for name in ('pandas', 'numpy', 'matplotlib', 'plotly') if name in sys.modules]";
    assert_eq!(sessions.text(session, loaded).await, "[]");
    for (code, shown) in [
        ("px.bar(x=[1], y=[2]).data[0].type", "'bar'"),
        ("def f(): return np.arange(3).sum().item()\nf()", "3"),
        ("eval('pd.Series([1, 2]).sum().item()')", "3"),
        (
            "plt.rcParams['figure.dpi'] = 50; plt.rcParams['figure.dpi']",
            "50.0",
        ),
        ("import numpy; np is numpy", "True"),
        ("%reset -f\nnp.pi > 3", "True"),
        ("pd = 5; pd", "5"),
    ] {
        assert_eq!(sessions.text(session, code).await, shown, "{code}");
    }
}

#[tokio::test]
async fn sessions_share_a_list_of_fonts() {
    let sessions = Sessions::start(|settings| settings.python.is_checked = true).await;
    let code = "import os, matplotlib.font_manager
matplotlib.font_manager.fontManager
folder = os.path.expanduser('~/.cache/matplotlib')
names = [name for name in os.listdir(folder) if name.startswith('fontlist')]
path = os.path.realpath(os.path.join(folder, names[0]))
try:
    open(path, 'w')
except OSError as error:
    print(len(names), path.startswith('/session-files/fonts/'), error.strerror)";
    let session = ConversationId::new();
    assert_eq!(sessions.text(session, code).await, "1 True Read-only file system");
    assert!(sessions.python.is_available());
}
