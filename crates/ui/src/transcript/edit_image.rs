//! *Edit this*: an image of the conversation becomes a file of the next message, which asks for the change.

use super::texts;
use crate::{
    browser,
    state::{DraftFiles, route::Route},
};
use parlor_protocol::AttachmentId;

/// Attaches an image to the next message of its conversation, and begins its text.
pub fn edit_image(files: DraftFiles, route: Route, id: AttachmentId, name: String) {
    if files.reuse(route, id, name) {
        browser::append_to_field("#message", texts::EDIT_IMAGE_REQUEST);
    } else {
        browser::focus_selector("#message");
    }
}
