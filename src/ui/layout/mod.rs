//! The page around the features: the one layout, its header, the color theme and the welcome view of a new chat.

pub mod chat;
mod header;
mod notify_switch;
mod preload;
mod shared_page;
mod theme;
mod welcome;

pub use self::{chat::Chat, preload::prepare, shared_page::shared_page};
