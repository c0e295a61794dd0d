//! The tools of Parlor that the page shows in a way of their own, or that several parts of the server know by name.
//!
//! A tool's definition refers to its [`ToolKind`], so its name is written once. The kinds are here, below the tools, since
//! the page does not depend on those. A tool without special treatment has none here: its definition makes one with
//! [`ToolKind::plain`].

/// The properties of a tool that others than its definition need. Outside this module, one is only made as a plain one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolKind {
    /// The name for the model.
    pub name: &'static str,
    pub icon: ToolIcon,
    /// A noun for a call, if its label has none: "SQL query".
    pub noun: Option<&'static str>,
    /// The argument that is code or a query.
    pub code: Option<CodeArgument>,
    /// The argument that names a data frame for the result.
    pub data_frame: Option<&'static str>,
    /// A finished call is a cell of the conversation's notebook.
    pub is_notebook_cell: bool,
    pub output: ToolOutput,
}

/// An argument that is code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeArgument {
    pub name: &'static str,
    /// The language, by a name that `parlor_markup::highlight` knows.
    pub language: &'static str,
}

/// The picture of a tool in its card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolIcon {
    Book,
    Bookmark,
    Calculator,
    Clock,
    Code,
    Database,
    Image,
    Page,
    /// That of external tools.
    Plug,
    Search,
}

/// The form of a tool's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolOutput {
    /// A text, JSON or one table.
    Text,
    /// Blocks with an empty line between them, some of them tables with a note below.
    Blocks,
    /// Images, for which a placeholder is shown while they are made.
    Images,
}

impl ToolKind {
    /// Creates the kind of a tool without special treatment.
    pub const fn plain(name: &'static str) -> Self {
        Self {
            name,
            icon: ToolIcon::Plug,
            noun: None,
            code: None,
            data_frame: None,
            is_notebook_cell: false,
            output: ToolOutput::Text,
        }
    }

    /// Returns the kind of a tool in the table below; `None` for plain and for external tools.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|kind| kind.name == name)
    }
}

const fn code(name: &'static str, language: &'static str) -> Option<CodeArgument> {
    Some(CodeArgument { name, language })
}

/// Declares a constant for each kind, and the list of all.
macro_rules! tool_kinds {
    ($($constant:ident = $kind:expr;)*) => {
        $(pub const $constant: ToolKind = $kind;)*

        /// All kinds of the table.
        pub const ALL: &[ToolKind] = &[$($constant),*];
    };
}

tool_kinds! {
    CALCULATE = ToolKind {
        icon: ToolIcon::Calculator,
        code: code("expression", "js"),
        noun: Some("Calculation"),
        ..ToolKind::plain("calculate")
    };
    CURRENT_TIME = ToolKind { icon: ToolIcon::Clock, ..ToolKind::plain("current_time") };
    EXECUTE_CODE = ToolKind {
        icon: ToolIcon::Code,
        code: code("code", "python"),
        is_notebook_cell: true,
        output: ToolOutput::Blocks,
        noun: Some("Code"),
        ..ToolKind::plain("execute_code")
    };
    FETCH_WEBPAGE = ToolKind { icon: ToolIcon::Page, ..ToolKind::plain("fetch_webpage") };
    FORGET = ToolKind { icon: ToolIcon::Bookmark, ..ToolKind::plain("forget") };
    GENERATE_IMAGE = ToolKind {
        icon: ToolIcon::Image,
        output: ToolOutput::Images,
        noun: Some("Image"),
        ..ToolKind::plain("generate_image")
    };
    JUPYTER_NOTEBOOK = ToolKind {
        icon: ToolIcon::Code,
        code: code("code", "python"),
        is_notebook_cell: true,
        output: ToolOutput::Blocks,
        noun: Some("Python code"),
        ..ToolKind::plain("jupyter_notebook")
    };
    NOTHING_NEW = ToolKind { icon: ToolIcon::Clock, ..ToolKind::plain("nothing_new") };
    READ_PROJECT_FILE = ToolKind { icon: ToolIcon::Page, ..ToolKind::plain("read_project_file") };
    RECALL = ToolKind {
        icon: ToolIcon::Bookmark,
        code: code("query", "query"),
        ..ToolKind::plain("recall")
    };
    REMEMBER_IN_PROJECT = ToolKind { icon: ToolIcon::Bookmark, ..ToolKind::plain("remember_in_project") };
    REMEMBER = ToolKind { icon: ToolIcon::Bookmark, ..ToolKind::plain("remember") };
    SEARCH_CONVERSATIONS = ToolKind { icon: ToolIcon::Search, ..ToolKind::plain("search_conversations") };
    SEARCH_PROJECT_FILES = ToolKind { icon: ToolIcon::Search, ..ToolKind::plain("search_project_files") };
    SEARCH_PUBMED = ToolKind {
        icon: ToolIcon::Book,
        code: code("query", "query"),
        noun: Some("PubMed search"),
        ..ToolKind::plain("search_pubmed")
    };
    SQL_QUERY = ToolKind {
        icon: ToolIcon::Database,
        code: code("query", "sql"),
        data_frame: Some("df_name"),
        is_notebook_cell: true,
        output: ToolOutput::Blocks,
        noun: Some("SQL query"),
        ..ToolKind::plain("sql_query")
    };
    SUBJECT_OVERVIEW = ToolKind { icon: ToolIcon::Database, ..ToolKind::plain("subject_overview") };
    TABLE_DOCS = ToolKind { icon: ToolIcon::Database, ..ToolKind::plain("table_docs") };
    VIEW_COLUMN_VALUES = ToolKind {
        icon: ToolIcon::Database,
        output: ToolOutput::Blocks,
        ..ToolKind::plain("view_column_values")
    };
    // The user can require it with a button; other tools only by asking in the message.
    WEB_SEARCH = ToolKind {
        icon: ToolIcon::Search,
        code: code("query", "query"),
        noun: Some("Web search"),
        ..ToolKind::plain("web_search")
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_found_by_its_name() {
        for kind in ALL {
            assert_eq!(ToolKind::find(kind.name), Some(kind));
        }
        assert_eq!(ToolKind::find("desk_echo"), None);
    }
}
