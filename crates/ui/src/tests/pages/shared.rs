//! The page of a shared conversation.

use leptos::prelude::*;

use super::{NOW, Texts, conversation};
use crate::{
    layout::{
        chat,
        shared_page::{SharedSnapshot, render_snapshot},
    },
    state::route::Route,
    tests::run_as_server,
};
use parlor_protocol::{ApiError, ErrorCode, ProjectId, sharing::SharedConversation};

/// The HTML of the page: of a live share, of a snapshot, and of one that can't be read.
pub fn shared_page(text: &str) -> Vec<String> {
    let transcript = conversation(&Texts::uniform(text)).0.transcript;
    let transcript = transcript.expect("a conversation").expect("it can be read");
    let shared = |is_live, owner: Option<&str>| {
        Ok(SharedConversation {
            transcript: transcript.clone(),
            is_live,
            created_at: NOW,
            owner: owner.map(str::to_owned),
            project_id: owner.map(|_| ProjectId::new()),
        })
    };
    let failed = Err(ApiError::new(ErrorCode::NotFound, text));
    [shared(true, Some(text)), shared(false, None), failed]
        .map(|shared| {
            run_as_server(|| {
                let navigation = chat::create_navigation(Route::New.path());
                render_snapshot("key", SharedSnapshot { now: NOW, shared }, navigation).to_html()
            })
        })
        .into()
}
