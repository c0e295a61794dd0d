//! An answer that failed for a key says where the key is corrected.

use super::{
    pages::{Texts, conversation},
    render_html,
};
use parlor_protocol::{MessageBody, RunError};

/// The page of an answer with an error, for somebody who may change model servers or may not.
fn page_with_error(code: &str, can_connect: bool) -> String {
    let (mut page, url) = conversation(&Texts::uniform("the lab/m"));
    if let Ok(list) = &mut page.models {
        list.can_connect = can_connect;
    }
    let transcript = page.transcript.as_mut().and_then(|read| read.as_mut().ok());
    for message in transcript.into_iter().flat_map(|read| &mut read.messages) {
        if let MessageBody::Assistant(answer) = &mut message.body
            && answer.error.is_some()
        {
            answer.error = Some(RunError {
                code: code.into(),
                message: "It refused the key.".into(),
                hint: String::new(),
            });
        }
    }
    render_html(&page, &url)
}

#[test]
fn a_refused_key_leads_to_its_form() {
    const FORM: &str = "/settings/models?server=the%20lab";
    const NOTE: &str = "An administrator can do that";
    for (code, can_connect, is_linked, is_explained) in [
        ("key_refused", true, true, false),
        ("key_missing", true, true, false),
        ("key_refused", false, false, true),
        ("rate_limited", true, false, false),
        ("rate_limited", false, false, false),
    ] {
        let html = page_with_error(code, can_connect);
        assert!(html.contains("It refused the key."));
        assert_eq!(
            (html.contains(FORM), html.contains(NOTE)),
            (is_linked, is_explained),
            "{code}, {can_connect}"
        );
    }
}
