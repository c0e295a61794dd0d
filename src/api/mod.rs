//! What the page asks of the server: typed intents and queries, and their errors. Compiled for both halves.
//!
//! It only translates: what is done is done in `runs` and `journal`. The contract for everybody else is in
//! `http`.

mod codec;
pub mod personal;
pub mod rpc;
