//! The server functions of the browser application: typed intents and queries, and their errors. Compiled for the server
//! and the browser.
//!
//! This module only translates: the work is done in `app`, `runs`, `journal` and the pages. The public contract for
//! other clients is in `http`.

mod codec;
pub mod data;
pub mod files;
pub mod literature;
pub mod personal;
pub mod rpc;
pub mod sharing;
