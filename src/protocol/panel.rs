//! What the panel shows of a payload: made by the server out of the payload's data, ready to be drawn.
//!
//! Numbers are texts here, as a person reads them, and places in a chart are whole numbers: the page has neither to
//! take data apart nor to calculate. An address is there only if it may be a link: `http` or `https`.

use serde::{Deserialize, Serialize};

/// A payload on the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelView {
    /// One line about it.
    pub summary: String,
    /// The person may accept or reject it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_proposal: bool,
    /// The reason that it can't be accepted on this server, in words for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    pub body: PanelBody,
}

/// What is in it, by what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelBody {
    Articles(ArticleListView),
    Article(ArticleView),
    Results(WebResults),
    Table(TableView),
    Chart(ChartView),
    Document(DocumentView),
    Query(QuerySuggestion),
    /// Data of which nothing more is known.
    Tree(TreeNode),
}

/// Articles that were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleListView {
    pub query: String,
    /// How many there are: "2 of 1204 articles".
    pub count: String,
    pub articles: Vec<ArticleView>,
}

/// An article of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleView {
    pub title: String,
    pub url: Option<String>,
    pub authors: String,
    /// The journal and the date.
    pub published: String,
    /// What it is known by elsewhere: "PMID 123".
    pub ids: Vec<LinkedText>,
    /// Its abstract, by paragraphs.
    pub summary: Vec<String>,
    /// Its number in PubMed, if it can be opened and saved here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmid: Option<String>,
    /// The person has saved it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_saved: bool,
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

/// Words that may lead somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedText {
    pub text: String,
    pub url: Option<String>,
}

/// Pages that were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebResults {
    pub query: String,
    pub results: Vec<WebResult>,
}

/// A page of the web.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebResult {
    pub title: String,
    pub url: Option<String>,
    /// Whose page it is; what was given as its address if that leads nowhere.
    pub host: String,
    pub snippet: String,
}

/// Rows of cells. Each row has a cell for each column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableView {
    pub title: Option<String>,
    pub columns: Vec<TableColumn>,
    pub rows: Vec<Vec<String>>,
    /// What is not here: "3 more columns". Empty if all is.
    pub missing: String,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumn {
    pub name: String,
    /// Whether it has numbers, and nothing else.
    pub numeric: bool,
}

/// Numbers as a picture. Places in it are from 0 to 10000, from the left and from the top.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartView {
    pub series: Vec<Series>,
    /// The lines across, from top to bottom at equal distances, the first at the top and the last at the bottom.
    pub ticks: Vec<String>,
    /// How far down zero is, or what is nearest to it.
    pub zero: u32,
    /// What is written below, from left to right.
    pub labels: Vec<AxisLabel>,
    /// The same as a table, title included.
    pub data: TableView,
}

/// The numbers of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    pub name: String,
    pub marks: SeriesMarks,
}

/// How a series is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesMarks {
    Bars(Vec<ChartBar>),
    /// Each is a line of its own: between them are numbers that are not known.
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

/// A label for so many places side by side: the first one's.
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
    /// Markdown.
    pub text: String,
    /// What has changed since the version before; nothing in the first.
    pub changes: Vec<DiffLine>,
}

/// A line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    pub change: LineChange,
    pub text: String,
}

/// What has become of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    Same,
    Added,
    Removed,
    /// It stands for lines that are the same: the text says how many.
    Skipped,
}

/// A query that the model proposes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuerySuggestion {
    pub query: String,
    /// Why, as Markdown.
    pub explanation: Option<String>,
}

/// A thing in data, with what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeNode {
    /// A field's name; nothing for the elements of a list.
    pub name: Option<String>,
    /// What it is, in a line, or how many things are in it.
    pub text: String,
    pub branches: Vec<TreeNode>,
    /// What of it is not here: "12 more". Empty if all is.
    pub missing: String,
}
