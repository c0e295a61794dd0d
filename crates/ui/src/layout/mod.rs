//! The page around the features: the layouts of the chat and of a share, the header, the color theme and the welcome view of a new chat.

pub mod chat;
mod header;
mod preload;
pub(crate) mod shared_page;
mod welcome;

pub use self::{chat::Chat, preload::prepare, shared_page::shared_page};
