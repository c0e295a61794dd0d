//! The reasons why a chart or a diagram is not drawn that people read, each the end of a sentence.

pub(super) const TOO_SLOW: &str = "it takes too long";

// Charts
pub(super) const NO_PLOTLY: &str = "the Python of this Parlor has no package Plotly";
pub(super) const CHART_DELETED: &str = "it was deleted";

// Diagrams
pub(super) const NO_MERMAID: &str = "this Parlor was built without Mermaid";
pub(super) const DIAGRAM_TOO_LARGE: &str = "it is too large";
