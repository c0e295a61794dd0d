//! Jupyter's messages: requests to a kernel, and what it answers.
//! <https://jupyter-client.readthedocs.io/en/stable/messaging.html>

use serde_json::{Map, Value, json};

/// The frame between the addresses and the parts of a message.
const DELIMITER: &[u8] = b"<IDS|MSG>";

/// The version of the protocol that is spoken here. Kernels of 5.x are compatible.
const VERSION: &str = "5.3";

/// A message of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub kind: String,
    /// The id of the request that it answers; empty if it answers none.
    pub parent: String,
    pub content: Map<String, Value>,
}

/// Returns the frames of a request. It is not signed: only this process reaches the kernel's sockets.
pub fn to_frames(id: &str, kind: &str, content: &Value) -> Vec<Vec<u8>> {
    let header = json!({
        "msg_id": id, "msg_type": kind, "session": "parlor", "username": "parlor", "date": "", "version": VERSION,
    });
    let parts = [header, json!({}), json!({}), content.clone()];
    let parts = parts.iter().map(|part| part.to_string().into_bytes());
    [DELIMITER.to_vec(), Vec::new()]
        .into_iter()
        .chain(parts)
        .collect()
}

/// Reads a message; `None` if it is none.
pub fn read(frames: &[Vec<u8>]) -> Option<Message> {
    let start = frames.iter().position(|frame| frame == DELIMITER)?;
    let [_signature, header, parent, _metadata, content, ..] = &frames[start + 1..] else {
        return None;
    };
    let header = read_object(header)?;
    // Messages that answer no request have an empty object.
    let parent = read_object(parent).unwrap_or_default();
    Some(Message {
        kind: text_field(&header, "msg_type").to_owned(),
        parent: text_field(&parent, "msg_id").to_owned(),
        content: read_object(content)?,
    })
}

fn read_object(json: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(json).ok()
}

fn text_field<'a>(object: &'a Map<String, Value>, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

impl Message {
    /// Returns a text of the content; empty if there is none.
    pub fn text(&self, field: &str) -> &str {
        text_field(&self.content, field)
    }
}

/// Returns the content of a request to execute code.
pub fn execute_content(code: &str, is_silent: bool) -> Value {
    json!({
        "code": code, "silent": is_silent, "store_history": !is_silent, "user_expressions": {}, "allow_stdin": false,
        "stop_on_error": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(parts: &[&str]) -> Vec<Vec<u8>> {
        parts.iter().map(|part| part.as_bytes().to_vec()).collect()
    }

    #[test]
    fn requests_are_read_back() {
        let content = execute_content("1 + 1", false);
        let mut request = to_frames("7", "execute_request", &content);
        request.insert(0, b"a topic".to_vec());
        let message = read(&request).unwrap();
        assert_eq!((&*message.kind, &*message.parent), ("execute_request", ""));
        assert_eq!(Value::Object(message.content), content);
    }

    #[test]
    fn reads_answers_and_nothing_else() {
        let answer = read(&frames(&[
            "<IDS|MSG>",
            "",
            r#"{"msg_type":"stream","x":1}"#,
            r#"{"msg_id":"7"}"#,
            "{}",
            r#"{"text":"hello"}"#,
            "a buffer",
        ]))
        .unwrap();
        assert_eq!(
            (
                &*answer.kind,
                &*answer.parent,
                answer.text("text"),
                answer.text("no")
            ),
            ("stream", "7", "hello", "")
        );
        for wrong in [
            &["a", "b"][..],
            &["<IDS|MSG>", "", "{}"],
            &["<IDS|MSG>", "", "[]", "{}", "{}", "{}"],
            &["<IDS|MSG>", "", "{}", "{}", "{}", "[]"],
            &["<IDS|MSG>", "", "{}", "{}", "{}", "{"],
        ] {
            assert_eq!(read(&frames(wrong)), None, "{wrong:?}");
        }
    }
}
