//! The languages that answers are written in: Markdown, LaTeX, the syntax of code, and links outside Markdown. Compiled for the server and the
//! browser; nothing is drawn here.

pub mod highlight;
pub mod markdown;
pub mod math;
pub mod web_link;
