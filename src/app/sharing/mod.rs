//! Shares of conversations, for the page's server functions and the routes of readers.
//!
//! A reader has a key: the secret of a link, the id of a share that names them, or the id of a conversation whose project they
//! may read ([`shared_projects`](super::shared_projects)). [`find`] turns it into a share for each request; nothing else leads to what is shared. What a reader sees is a projection ([`projection`]): it names what it keeps,
//! so that a new field or event is not shared before somebody decides that.
//!
//! - [`owner`]: making, listing and ending shares
//! - [`reader`]: the way from a key to a share, and what it shows
//! - [`branch`]: the events of a live share
//! - [`watchers`]: the number of open streams

pub mod branch;
mod owner;
pub mod projection;
mod reader;
mod watchers;

#[cfg(test)]
mod tests;

pub use self::{
    owner::{create, end, find_readers, list},
    reader::{end_of_reading, file, find, may_need_sign_in, not_shared, payload_file, payload_view, read},
    watchers::{WatcherPlace, Watchers},
};
