//! How a payload is presented, by its type. What is in it is shown by what the server made of it ([`PanelBody`]).
//!
//! A page that has types of its own will have its handlers looked up before these.
//!
//! [`PanelBody`]: crate::protocol::panel::PanelBody

/// How payloads of a type are presented.
#[derive(Debug, PartialEq, Eq)]
pub struct Handler {
    pub kind: &'static str,
    /// The panel's title.
    pub title: &'static str,
    /// The panel's width, until somebody makes it another one.
    pub width: u32,
}

const fn handler(kind: &'static str, title: &'static str, width: u32) -> Handler {
    Handler { kind, title, width }
}

static HANDLERS: [Handler; 7] = [
    handler("article", "Article", 480),
    handler("article_list", "Articles", 520),
    handler("chart", "Chart", 560),
    handler("query_suggestion", "Suggested query", 420),
    handler("table", "Table", 640),
    handler("text_document", "Document", 600),
    handler("web_results", "Search results", 480),
];

/// For what nobody knows.
static OTHER: Handler = handler("other", "Data", 480);

/// The handler of a type.
pub fn of(kind: &str) -> &'static Handler {
    let known = HANDLERS.iter().find(|handler| handler.kind == kind);
    known.unwrap_or(&OTHER)
}
