//! The encoding of a page's data from the server to the browser.

use std::sync::Arc;

use futures::{StreamExt, executor::block_on};
use hydration_context::{SharedContext, SsrSharedContext};
use leptos::server::codee::{Decoder, Encoder};

use crate::state::snapshot::{PageCodec, PageSnapshot};

/// The script that Leptos writes into the page for the encoded data.
pub fn encode_script(encoded: String) -> String {
    let context = Arc::new(SsrSharedContext::new());
    let id = context.next_id();
    context.write_async(id, Box::pin(async move { encoded }));
    let chunks = context.pending_data().expect("a server has data to send");
    block_on(chunks.collect::<Vec<_>>()).concat()
}

/// The data in such a script, as a browser reads it.
pub fn decode_script(script: &str) -> String {
    let (_, literal) = script
        .split_once("__RESOLVED_RESOURCES[0] = \"")
        .expect("the script has the data");
    let mut characters = literal.chars().peekable();
    let mut data = String::new();
    loop {
        match characters.next().expect("the literal has an end") {
            '"' => return data,
            '\\' => {}
            // A line terminator ends a literal.
            '\n' | '\r' => panic!("a line ends in the literal"),
            character => {
                data.push(character);
                continue;
            }
        }
        data.push(match characters.next().expect("the escape has an end") {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => {
                let octal = characters.peek().is_some_and(char::is_ascii_digit);
                assert!(!octal, "JavaScript reads an octal escape here");
                '\0'
            }
            'u' => {
                assert_eq!(characters.next(), Some('{'));
                let digits: String = characters.by_ref().take_while(|digit| *digit != '}').collect();
                let code = u32::from_str_radix(&digits, 16).expect("an escape is a number");
                char::from_u32(code).expect("an escape is a character")
            }
            other @ ('"' | '\'' | '\\') => other,
            other => panic!("an escape of Rust that JavaScript does not have: {other}"),
        });
    }
}

/// A page as the browser gets it.
pub fn round_trip(page: &PageSnapshot) -> PageSnapshot {
    let script = encode_script(PageCodec::encode(page).expect("a page can be encoded"));
    assert!(
        !script.contains('<'),
        "the HTML parser must find no tag in the script"
    );
    PageCodec::decode(&decode_script(&script)).expect("the browser reads what the server wrote")
}
