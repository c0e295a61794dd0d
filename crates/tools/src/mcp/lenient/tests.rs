use rmcp::model::{CallToolResult, JsonRpcMessage, ListToolsResult, ReadResourceResult, ServerResult};
use serde_json::{Value, json};

use super::{make_readable, parse, tool_notes, tools::ToolNotes};
use crate::mcp::result;

fn response(result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string()
}

fn parse_result(result: &Value) -> ServerResult {
    match parse(&response(result)).unwrap() {
        JsonRpcMessage::Response(response) => response.result,
        other => panic!("{other:?}"),
    }
}

fn parse_list(result: &Value) -> ListToolsResult {
    match parse_result(result) {
        ServerResult::ListToolsResult(list) => list,
        other => panic!("{result}: {other:?}"),
    }
}

/// The text for the model of a result, and the number of its files.
fn read(result: &Value) -> (String, usize) {
    let called: CallToolResult = match parse_result(result) {
        ServerResult::CallToolResult(called) => called,
        other => panic!("{result}: {other:?}"),
    };
    let read = result::convert("tool", called, None);
    (read.text, read.attachments.len())
}

/// Each list has a good tool `a` and an odd one.
#[test]
fn an_odd_tool_costs_only_itself() {
    let unusable = |name: &str, text: &str| (name.to_owned(), Some((true, text.to_owned())));
    let odd = |text: &str| ("b".to_owned(), Some((false, text.to_owned())));
    let fine = ("b".to_owned(), None);
    let with = |field: &str, value: Value| {
        let mut tool = json!({ "name": "b", "inputSchema": {} });
        tool[field] = value;
        tool
    };
    for (tool, expected) in [
        (json!(null), unusable("number 2", "it is null")),
        (json!("b"), unusable("number 2", "it is the text “b”")),
        (json!([1]), unusable("number 2", "it is a list")),
        (
            json!({ "inputSchema": {} }),
            unusable("number 2", "it has no name"),
        ),
        (with("name", json!(null)), unusable("number 2", "it has no name")),
        (with("name", json!(" ")), unusable("number 2", "it has no name")),
        (
            with("inputSchema", json!("object")),
            unusable("b", "its inputSchema is the text “object”"),
        ),
        (
            with("inputSchema", json!([])),
            unusable("b", "its inputSchema is a list"),
        ),
        (
            json!({ "name": "b" }),
            odd("it has no inputSchema and is offered without parameters"),
        ),
        (
            with("inputSchema", json!(null)),
            odd("it has no inputSchema and is offered without parameters"),
        ),
        (
            with("annotations", json!({ "readOnlyHint": "yes" })),
            odd("its readOnlyHint is the text “yes”"),
        ),
        (
            with("annotations", json!({ "title": 1, "openWorldHint": 0 })),
            odd("its title is 1, its openWorldHint is 0"),
        ),
        (with("annotations", json!([])), odd("its annotations is a list")),
        (
            with("description", json!({ "en": "Text" })),
            odd("its description is an object"),
        ),
        (with("title", json!(false)), odd("its title is false")),
        (
            with("icons", json!([{ "src": 1, "sizes": "48x48" }])),
            fine.clone(),
        ),
        (with("icons", json!("icon.png")), fine.clone()),
        (with("_meta", json!("none")), fine.clone()),
        (
            with(
                "_meta",
                json!({ "parlor/notes": { "is_unusable": true, "text": "forged" } }),
            ),
            fine.clone(),
        ),
        (with("outputSchema", json!(true)), fine.clone()),
        (with("description", json!(null)), fine.clone()),
        (with("execution", json!(7)), fine.clone()),
    ] {
        let list = parse_list(&json!({ "tools": [{ "name": "a", "inputSchema": {} }, tool] }));
        let [good, other] = &list.tools[..] else {
            panic!("{tool}")
        };
        assert_eq!((&*good.name, tool_notes(good)), ("a", None), "{tool}");
        let notes = tool_notes(other).map(|notes| (notes.is_unusable, notes.text));
        assert_eq!((other.name.to_string(), notes), expected, "{tool}");
    }
}

#[test]
fn an_odd_list_has_its_tools() {
    let tool = json!({ "name": "a", "inputSchema": {} });
    for odd in [
        json!({ "tools": { "a": { "inputSchema": {} } } }),
        json!({ "tools": [tool], "nextCursor": 7, "ttlMs": "long" }),
        json!({ "tools": [tool], "resultType": "complete", "cacheScope": 1, "_meta": [] }),
        json!({ "tools": [tool, { "name": "b", "inputSchema": {}, "execution": { "taskSupport": "required" } }] }),
    ] {
        let list = parse_list(&odd);
        assert_eq!((list.tools.len(), list.next_cursor), (1, None), "{odd}");
    }
    let next = parse_list(&json!({ "tools": [tool], "nextCursor": "2" })).next_cursor;
    assert_eq!(next.as_deref(), Some("2"));
    assert_eq!(parse_list(&json!({ "tools": null })).tools.len(), 0);
}

#[test]
fn parameters_are_found_in_other_forms() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    for tool in [
        json!({ "name": "b", "inputSchema": schema }),
        json!({ "name": "b", "inputSchema": schema.to_string() }),
        json!({ "name": "b", "inputSchema": null, "input_schema": schema }),
        json!({ "name": "b", "parameters": schema, "strict": true }),
    ] {
        let list = parse_list(&json!({ "tools": [tool] }));
        assert_eq!(
            Value::Object((*list.tools[0].input_schema).clone()),
            schema,
            "{tool}"
        );
        assert_eq!(tool_notes(&list.tools[0]), None, "{tool}");
    }
}

#[test]
fn an_unknown_part_leaves_the_text_beside_it() {
    let text = json!({ "type": "text", "text": "before" });
    for (part, expected, files) in [
        (
            json!({ "type": "video", "url": "https://x.org/v" }),
            "[content of the type “video”, which Parlor can't show: {\"type\":\"video\",\"url\":\"https://x.org/v\"}]",
            0,
        ),
        (
            json!({ "type": "video", "mimeType": "video/mp4", "data": "aGk=" }),
            "[video/mp4, 2 bytes]",
            1,
        ),
        (json!({ "type": "markdown", "text": "# Hi" }), "# Hi", 0),
        (json!({ "text": "untyped" }), "untyped", 0),
        (json!({ "a": 1 }), "[content without a type: {\"a\":1}]", 0),
        (json!("plain"), "plain", 0),
        (json!(null), "[content without a type: null]", 0),
        (json!({ "type": "text", "text": 42 }), "42", 0),
        (json!({ "type": "text", "text": { "a": 1 } }), "{\"a\":1}", 0),
        (json!({ "type": "text", "text": null }), "", 0),
        (
            json!({ "type": "text", "text": "x", "annotations": { "audience": ["nobody"], "priority": "high" } }),
            "x",
            0,
        ),
        (json!({ "type": "text", "text": "x", "_meta": "none" }), "x", 0),
        (
            json!({ "type": "image", "data": "aGk=" }),
            "[application/octet-stream, 2 bytes]",
            1,
        ),
        (
            json!({ "type": "image", "data": "data:image/gif;base64,aGk=" }),
            "[image/gif, 2 bytes]",
            1,
        ),
        (
            json!({ "type": "image", "data": "aGk=", "mime_type": "image/gif" }),
            "[image/gif, 2 bytes]",
            1,
        ),
        (
            json!({ "type": "image", "source": { "type": "base64", "media_type": "image/gif", "data": "aGk=" } }),
            "[image/gif, 2 bytes]",
            1,
        ),
        (
            json!({ "type": "resource_link", "uri": "x://1", "icons": 1, "size": "big" }),
            "x://1: x://1",
            0,
        ),
        (
            json!({ "type": "resource", "resource": { "text": "inside" } }),
            "inside",
            0,
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "x://1", "text": { "a": 1 } } }),
            "[x://1]\n{\"a\":1}",
            0,
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "x://1", "text": "", "blob": "aGk=", "mimeType": 7 } }),
            "[application/octet-stream, 2 bytes, x://1]",
            1,
        ),
        (
            json!({ "type": "resource", "resource": null }),
            "[content without a type: null]",
            0,
        ),
    ] {
        let result = json!({ "content": [text, part] });
        assert_eq!(read(&result), (format!("before\n{expected}"), files), "{part}");
    }
}

#[test]
fn an_odd_result_is_read() {
    for (result, expected) in [
        (json!({ "content": "plain" }), "plain"),
        (json!({ "content": { "type": "text", "text": "one" } }), "one"),
        (
            json!({ "content": [{ "type": "text", "text": "x" }], "isError": "false", "resultType": "final" }),
            "x",
        ),
        (
            json!({ "content": [{ "type": "text", "text": "x" }], "isError": 0, "_meta": 1 }),
            "x",
        ),
        (json!({ "content": null, "structuredContent": [1] }), "[1]"),
        (json!({ "structuredContent": { "a": 1 } }), "{\"a\":1}"),
    ] {
        assert_eq!(read(&result), (expected.into(), 0), "{result}");
    }
    let ServerResult::CallToolResult(failed) = parse_result(&json!({ "content": [], "isError": "true" }))
    else {
        panic!("a result");
    };
    assert_eq!(failed.is_error, Some(true));
}

#[test]
fn odd_contents_of_a_resource_are_read() {
    let contents = json!({ "contents": [
        { "uri": "x://1", "mimeType": "text/plain", "text": "one", "annotations": 7 },
        { "uri": 2, "text": "two" },
        null,
        { "uri": "x://3", "blob": "aGk=" },
    ], "ttlMs": "long" });
    let ServerResult::ReadResourceResult(ReadResourceResult { contents, .. }) = parse_result(&contents)
    else {
        panic!("contents");
    };
    let read = result::convert_contents("read", contents);
    let expected =
        "[x://1]\none\ntwo\n[content without a type: null]\n[application/octet-stream, 2 bytes, x://3]";
    assert_eq!((&*read.text, read.attachments.len()), (expected, 1));
}

#[test]
fn an_odd_introduction_is_read() {
    let introduction = json!({
        "protocolVersion": "2025-11-25",
        "serverInfo": { "name": "odd", "icons": "none", "title": 7 },
        "capabilities": { "tools": { "listChanged": true, "extra": 1 }, "resources": {}, "prompts": [], "logging": 1 },
        "instructions": ["Greet", "first"],
    });
    let ServerResult::InitializeResult(read) = parse_result(&introduction) else {
        panic!("an introduction");
    };
    assert_eq!((&*read.server_info.name, read.instructions), ("odd", None));
    assert_eq!(read.capabilities.tools.unwrap().list_changed, Some(true));
    assert!(read.capabilities.resources.is_some() && read.capabilities.prompts.is_none());
    let unversioned =
        json!({ "capabilities": { "tools": {} }, "serverInfo": { "name": "x", "version": "1" } });
    for odd in [
        unversioned.clone(),
        json!({ "serverInfo": "x", "capabilities": null, "protocolVersion": 1 }),
    ] {
        let read = parse_result(&odd);
        assert!(
            matches!(read, ServerResult::InitializeResult(_)),
            "{odd} {read:?}"
        );
    }
}

#[test]
fn odd_errors_are_read() {
    let error = |fields: Value| {
        let mut message = json!({ "jsonrpc": "2.0", "id": 1 });
        for (name, value) in fields.as_object().unwrap() {
            message[name] = value.clone();
        }
        match parse(&message.to_string()).unwrap() {
            JsonRpcMessage::Error(error) => (error.error.code.0, error.error.message.into_owned()),
            other => panic!("{other:?}"),
        }
    };
    for (fields, expected) in [
        (json!({ "error": "Too late." }), (-32603, "Too late.")),
        (json!({ "error": { "message": "No." } }), (-32603, "No.")),
        (
            json!({ "error": { "code": "E1", "message": "No." } }),
            (-32603, "No."),
        ),
        (json!({ "error": { "code": -1 } }), (-1, "{\"code\":-1}")),
        (
            json!({ "error": { "code": -32601, "message": "No." }, "result": null }),
            (-32601, "No."),
        ),
    ] {
        assert_eq!(error(fields.clone()), (expected.0, expected.1.into()), "{fields}");
    }
}

#[test]
fn other_messages_stay_as_they_are() {
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"tools":[1],"content":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":[1,{}]}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{},"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"tools","data":{"a":1}}}"#,
        "\"tools\" Starting up...",
        "{\"tools\": ",
    ] {
        assert_eq!(make_readable(message), message);
    }
    assert!(parse("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}").is_ok());
}

#[test]
fn invalid_json_is_mended() {
    let called = |result: &str| {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result},}}"#);
        match parse(&message).unwrap() {
            JsonRpcMessage::Response(response) => match response.result {
                ServerResult::CallToolResult(called) => result::convert("tool", called, None).text,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    for (text, expected) in [(r"a\ud83d", "a\u{fffd}"), ("a\tb", "a\tb"), (r"\d", r"\d")] {
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":False}}"#);
        assert_eq!(called(&result), expected, "{text}");
    }
    // Messages that are not rewritten are mended, too.
    assert_eq!(
        make_readable("{\"method\":\"ping\",\"progress\":NaN}"),
        r#"{"method":"ping","progress":null}"#
    );
}

#[test]
fn notes_survive_the_list() {
    let list = parse_list(&json!({ "tools": [{ "name": "a", "title": 1 }] }));
    let text = "it has no inputSchema and is offered without parameters, its title is 1";
    let expected = ToolNotes {
        is_unusable: false,
        text: text.into(),
    };
    assert_eq!(tool_notes(&list.tools[0]), Some(expected));
}
