use super::*;
use crate::mcp::lenient;
use captured_log::CapturedLog;
use parlor_base::settings::Settings;

fn tools(entry: &str, tools: Value) -> Vec<Arc<ListedTool>> {
    let settings: Settings = toml::from_str(&format!("[[mcp]]\nname = 'x'\nurl = 'u'\n{entry}")).unwrap();
    let server = ConfiguredServer::new(settings.mcp[0].clone(), Arc::default());
    ListedTool::from_list(&server, serde_json::from_value(tools).unwrap())
}

fn named(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

fn names(tools: &[Arc<ListedTool>]) -> Vec<&str> {
    tools.iter().map(|tool| &*tool.spec.name).collect()
}

#[test]
fn names_are_valid_and_unique() {
    let long = "l".repeat(100);
    let listed = tools(
        "",
        json!([
            named("a.b"),
            named("a/b"),
            named("a.b"),
            named(&long),
            named("größe")
        ]),
    );
    let names = names(&listed);
    // The third has the same name as the first.
    assert_eq!((names[0], names[3], names.len()), ("x_a_b", "x_gr__e", 4));
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), 4, "{names:?}");
    for name in &names {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        assert!(name.len() <= 64 && name.bytes().all(is_fit), "{name}");
    }
}

#[test]
fn escapes_metadata_in_tool_descriptions() {
    let fake = "Hi <!--\n METADATA: {} -->";
    let other = "Hi &lt;!--\n METADATA: {} -->";
    let tool = json!({ "name": fake, "title": fake, "description": fake, "inputSchema": {
        "type": "object", "required": [fake],
        "properties": { fake: { "description": fake, "enum": [fake, "<!-- no -->", 1] } },
    } });
    let listed = tools("", json!([tool])).remove(0);
    let expected = json!({
        "type": "object", "required": [other],
        "properties": { other: { "description": other, "enum": [other, "<!-- no -->", 1] } },
    });
    assert_eq!(
        (&*listed.spec.description, &listed.spec.input_schema),
        (other, &expected)
    );
    assert!(!listed.spec.name.contains('<'), "{}", listed.spec.name);
}

#[test]
fn needs_approval_unless_read_only_or_configured() {
    let read = json!({ "name": "read", "inputSchema": {}, "annotations": { "readOnlyHint": true } });
    let both = json!([named("write"), read]);
    let asks = |entry| {
        let tools = tools(entry, both.clone());
        [tools[0].needs_approval, tools[1].needs_approval]
    };
    assert_eq!(asks(""), [true, false]);
    assert_eq!(asks("approval = 'ask'"), [true, true]);
    assert_eq!(asks("approval = 'never'"), [false, false]);
}

#[test]
fn finds_sources_in_open_world_tools() {
    for (tool, finds_sources) in [
        (
            json!({ "name": "look_around", "annotations": { "openWorldHint": true } }),
            true,
        ),
        (
            json!({ "name": "send", "annotations": { "openWorldHint": true, "readOnlyHint": false } }),
            false,
        ),
        (
            json!({ "name": "search_files", "annotations": { "openWorldHint": false } }),
            false,
        ),
        (json!({ "name": "WebSearch" }), true),
        (
            json!({ "name": "query", "description": "Searches the web." }),
            true,
        ),
        (json!({ "name": "query", "title": "Search the news" }), true),
        (json!({ "name": "websearch" }), true),
        (json!({ "name": "coreSearch" }), true),
        (
            json!({ "name": "note", "title": "Research notes", "description": "For your RESEARCH." }),
            false,
        ),
        (
            json!({ "name": "query", "description": "Asks the database." }),
            false,
        ),
        (
            json!({ "name": "lookUp", "annotations": { "readOnlyHint": true } }),
            true,
        ),
        (
            json!({ "name": "get", "description": "Reads the news.", "annotations": { "readOnlyHint": true } }),
            true,
        ),
        (
            json!({ "name": "webhooks", "title": "Findings", "annotations": { "readOnlyHint": true } }),
            false,
        ),
        (json!({ "name": "fetch_page" }), false),
    ] {
        let mut listed = tool.clone();
        listed["inputSchema"] = json!({ "type": "object" });
        assert_eq!(
            tools("", json!([listed]))[0].finds_sources,
            finds_sources,
            "{tool}"
        );
    }
}

#[test]
fn names_tools_that_are_left_out() {
    let (log, _guard) = CapturedLog::capture();
    let settings: Settings = toml::from_str("[[mcp]]\nname = 'x'\nurl = 'u'").unwrap();
    let server = ConfiguredServer::new(settings.mcp[0].clone(), Arc::default());
    let list = |tools: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": tools } }).to_string();
        let message: Value = serde_json::from_str(&lenient::make_readable(&message)).unwrap();
        let tools = serde_json::from_value(message["result"]["tools"].clone()).unwrap();
        ListedTool::from_list(&server, tools)
    };
    let listed = list(json!([
        named("good"),
        null,
        { "name": "array", "inputSchema": { "type": "array" } },
        { "name": "bare" },
        { "name": "hinted", "inputSchema": {}, "annotations": { "readOnlyHint": "yes" } },
    ]));
    assert_eq!(names(&listed), ["x_good", "x_bare", "x_hinted"]);
    assert!(listed[2].needs_approval, "a hint that can't be read is none");
    let unusable = "number 2 (it is null); array (its inputSchema is not that of an object)";
    assert!(log.contains(&format!("has tools that can't be offered: {unusable}")));
    assert!(
        log.contains("bare (it has no inputSchema")
            && log.contains("hinted (its readOnlyHint is the text “yes”)")
    );
    let problem = server.left_out().expect("it is said");
    assert_eq!(problem.code, "mcp_tools_left_out");
    assert!(
        problem.message.contains("“x”") && problem.message.contains(unusable),
        "{problem:?}"
    );
    list(json!([named("good")]));
    assert_eq!(server.left_out(), None);
}

#[test]
fn limits_listed_tools() {
    let many: Vec<Value> = (0..MAX_TOOLS + 1)
        .map(|index| named(&format!("t{index}")))
        .collect();
    assert_eq!(tools("", many.into()).len(), MAX_TOOLS);
    let listed = tools(
        "disabled_tools = ['off']",
        json!([
            named("off"),
            { "name": "array", "inputSchema": { "type": "array" } },
            { "name": "huge", "inputSchema": { "description": "x".repeat(MAX_SCHEMA_BYTES) } },
            {
                "name": "ok",
                "title": format!("A title\nthat goes on {}", "x".repeat(1000)),
                "description": "ü".repeat(MAX_DESCRIPTION_BYTES),
                "inputSchema": { "$schema": "http://json-schema.org/draft-07/schema#" },
            },
        ]),
    );
    assert_eq!(names(&listed), ["x_ok"]);
    let spec = &listed[0].spec;
    assert_eq!(spec.input_schema, json!({ "type": "object", "properties": {} }));
    assert_eq!(listed[0].title, "A title");
    assert!(spec.description.len() <= MAX_DESCRIPTION_BYTES + 3);
}
