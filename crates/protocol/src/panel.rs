//! The panel's view of a payload: made by the server from the payload's data, ready to be rendered.
//!
//! Numbers are texts here, formatted for people, and coordinates of a chart are whole numbers, so that the
//! page neither parses data nor calculates. A URL is present only if it is allowed as a link: `http` or
//! `https`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{draft::FieldChange, number_format::group_digits};

/// The number of rows of a table that an answer shows.
pub const PREVIEW_ROWS: usize = 5;
/// The number of cells of a table up to which its payload has all rows.
pub const MAX_TABLE_CELLS: usize = 20_000;
/// The number of rows of a page of a table.
pub const TABLE_PAGE_ROWS: usize = 100;
/// The number of changed lines of a document that an answer shows.
pub const PREVIEW_LINES: usize = 10;

/// A payload on the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelView {
    /// A one-line summary.
    pub summary: String,
    /// True if the user may accept or reject it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_proposal: bool,
    /// The reason for which it can't be accepted on this server, as a text for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    pub body: PanelBody,
}

/// The content, by its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelBody {
    Articles(ArticleListView),
    Article(ArticleView),
    Results(WebResults),
    Table(TableView),
    Chart(ChartView),
    Document(DocumentView),
    /// Changes of a draft.
    Proposal(ProposalView),
    /// Data of an unknown kind.
    Tree(TreeNode),
}

/// A list of articles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleListView {
    pub query: String,
    /// The number of articles, as text: "2 of 1204 articles".
    pub count: String,
    pub articles: Vec<ArticleView>,
}

/// A journal article.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleView {
    pub title: String,
    pub url: Option<String>,
    pub authors: String,
    /// The journal and the date.
    pub published: String,
    /// The article's ids elsewhere: "PMID 123".
    pub ids: Vec<LinkedText>,
    /// The abstract's paragraphs.
    #[serde(rename = "summary")]
    pub abstract_text: Vec<String>,
    /// The PubMed id, if the article can be opened and saved here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmid: Option<String>,
    /// True if the user has saved it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_saved: bool,
    /// True if it was retracted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_retracted: bool,
    /// The paragraphs of the full text, if it was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub full_text: Vec<String>,
}

impl PanelView {
    /// The articles that it shows.
    pub fn articles_mut(&mut self) -> &mut [ArticleView] {
        match &mut self.body {
            PanelBody::Articles(found) => &mut found.articles,
            PanelBody::Article(article) => std::slice::from_mut(article),
            _ => &mut [],
        }
    }
}

/// A text that may be a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedText {
    pub text: String,
    pub url: Option<String>,
}

/// A list of web pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebResults {
    pub query: String,
    pub results: Vec<WebResult>,
}

/// A web page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebResult {
    pub title: String,
    pub url: Option<String>,
    /// The page's host, or the text given as its URL if that can't be a link.
    pub host: String,
    pub snippet: String,
}

/// The text of a missing value in the result of a query.
pub const NULL_TEXT: &str = "NULL";

/// Rows of cells. Each row has one cell for each column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableView {
    pub title: Option<String>,
    pub columns: Vec<TableColumn>,
    pub rows: Vec<Vec<String>>,
    /// A note of what was left out: "3 more columns". Empty if nothing was.
    pub missing: String,
    /// The number of all rows, if these are only the first ones and the others are loaded page by page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_rows: Option<u64>,
    /// True if the user has added columns to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_columns: bool,
}

impl TableView {
    /// Leaves only the first rows of a table, and says why.
    pub fn keep_first_rows(&mut self, reason: &str) {
        if let Some(count) = self.stored_rows.take() {
            let more = count.saturating_sub(self.rows.len() as u64);
            let noun = if more == 1 { " more row" } else { " more rows" };
            let note = [&group_digits(more), noun, reason].concat();
            self.missing = match self.missing.is_empty() {
                true => note,
                false => [&note, ", ", &self.missing].concat(),
            };
        }
    }
}

/// A part of a table whose rows are loaded page by page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablePage {
    pub rows: Vec<Vec<String>>,
    /// The number of all rows that match the filter.
    pub found: u64,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableColumn {
    pub name: String,
    /// True if all its cells are numbers.
    pub numeric: bool,
}

/// A chart. Coordinates are from 0 to 10000, from the left and from the top.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartView {
    pub series: Vec<Series>,
    /// The labels of the horizontal grid lines, from top to bottom at equal distances. The first line is at
    /// the top and the last at the bottom.
    pub ticks: Vec<String>,
    /// The vertical coordinate of zero, or of the value nearest to it.
    pub zero: u32,
    /// The labels of the horizontal axis, from left to right.
    pub labels: Vec<AxisLabel>,
    /// The same data as a table, title included.
    pub data: TableView,
}

/// The values of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    pub name: String,
    pub marks: SeriesMarks,
}

/// The marks with which a series is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesMarks {
    Bars(Vec<ChartBar>),
    /// Separate lines: the values between them are unknown.
    Lines(Vec<Vec<ChartPoint>>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartBar {
    pub left: u32,
    pub top: u32,
    pub width: u32,
    pub height: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartPoint {
    pub left: u32,
    pub top: u32,
}

/// A label for a number of adjacent positions. It is that of the first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisLabel {
    pub text: String,
    pub places: u32,
}

/// A text in one or more versions, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentView {
    pub title: Option<String>,
    pub versions: Vec<DocumentVersion>,
}

/// A version of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentVersion {
    pub label: String,
    /// The text, as Markdown.
    pub text: String,
    /// The changes since the previous version; empty for the first.
    pub changes: Vec<DiffLine>,
}

/// A line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    pub change: LineChange,
    pub text: String,
}

/// The change of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    Same,
    Added,
    Removed,
    /// A placeholder for unchanged lines. Its text says how many.
    Skipped,
}

/// Changes that the model proposes for a draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalView {
    /// The payload type.
    pub kind: String,
    /// The name of the draft.
    pub draft: String,
    pub fields: Vec<ProposedField>,
    /// The model's reason, as Markdown.
    pub explanation: Option<String>,
}

/// A field that the model proposes to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedField {
    pub change: FieldChange,
    /// The text that the field had when the model was asked; `None` if no draft was open then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// A value in data, with its children.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeNode {
    /// The field's name; `None` for an element of a list.
    pub name: Option<String>,
    /// The value in one line, or the number of its children.
    pub text: String,
    pub branches: Vec<TreeNode>,
    /// A note of the children that were left out: "12 more". Empty if there are none.
    pub missing: String,
}
