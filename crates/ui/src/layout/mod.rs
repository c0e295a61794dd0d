//! The page around the features: the layouts of the chat and of a share, the header and the color theme.

pub mod chat;
pub mod header;
mod preload;
pub(crate) mod shared_page;
mod texts;

pub use self::{chat::Chat, preload::prepare, shared_page::shared_page};
