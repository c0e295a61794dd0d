use super::*;
use crate::tool_forms::refusal::{ToolRefusal, find_refusal};

const NAMES: [&str; 5] = ["look", "git_search", "thinking", "git_search_all", "mail-send"];

fn refused(text: &str) -> Option<Vec<usize>> {
    match find_refusal(&rejection(400, text), &NAMES)? {
        ToolRefusal::Tools(positions) => Some(positions),
        ToolRefusal::TooMany(max) => panic!("{text}: {max}"),
    }
}

#[test]
fn finds_the_tool_that_an_error_names() {
    for (text, positions) in [
        (
            "tools.3.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
            vec![3],
        ),
        ("tools.0.custom.input_schema.type: Field required", vec![0]),
        (
            "tools.4.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
            vec![4],
        ),
        (
            "tools.1.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
            vec![1],
        ),
        (
            "tools.2.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
            vec![2],
        ),
        (
            "Invalid schema for function 'git_search': In context=('properties', 'x'), array schema missing items.",
            vec![1],
        ),
        (
            "Invalid schema for function 'git_search_all': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
            vec![3],
        ),
        (
            "Invalid 'tools[2].function.name': string does not match pattern.",
            vec![2],
        ),
        (
            "Invalid 'tools[4].function.description': string too long. Expected a string with maximum length 1024",
            vec![4],
        ),
        ("tools[3].function.parameters: invalid JSON schema", vec![3]),
        (
            "Invalid schema for function 'mail-send': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.",
            vec![4],
        ),
        (
            "Invalid schema for function 'thinking': reasoning is not supported",
            vec![2],
        ),
        (
            "* GenerateContentRequest.tools[0].function_declarations[3].parameters.properties[x].items: missing field.\n* GenerateContentRequest.tools[0].function_declarations[1].parameters.required[0]: property is not defined",
            vec![3, 1],
        ),
        (
            "Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[2].parameters.properties[0].value': Cannot find field.",
            vec![2],
        ),
        (
            "Invalid JSON payload received. Unknown name \"exclusiveMinimum\" at 'tools[0].functionDeclarations[4].parametersJsonSchema'",
            vec![4],
        ),
        (
            "Unable to submit request because `git_search` functionDeclaration `parameters.a` schema didn't specify the schema type field.",
            vec![1],
        ),
        (
            "1 validation error: {'type': 'missing', 'loc': ('body', 'tools', 3, 'function', 'name'), 'msg': 'Field required'}",
            vec![3],
        ),
        (
            "The value at toolConfig.tools.3.toolSpec.inputSchema.json.type must be one of the following: object.",
            vec![3],
        ),
        ("tools -> 2 -> function -> parameters: invalid", vec![2]),
        ("Tool 'look' has an invalid schema", vec![0]),
        ("Invalid parameters for tool: mail-send", vec![4]),
    ] {
        assert_eq!(refused(text), Some(positions), "{text}");
    }
}

#[test]
fn other_errors_name_no_tool() {
    for text in [
        "tools.0.custom.cache_control: Extra inputs are not permitted",
        "tools[0].function.strict: Extra inputs are not permitted",
        "Tool choice 'look' was not found in 'tools' parameters.",
        "messages.1.content.0.tool_use.name: String should match pattern",
        "Function call `look` in the 2. content block is missing a `thought_signature`.",
        "This model does not support tools.",
        "tools.9.custom.input_schema: invalid",
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        "Invalid schema for response_format 'look'",
        "This model's maximum context length is 128 tokens, and 3 tools were used.",
    ] {
        assert_eq!(find_refusal(&rejection(400, text), &NAMES), None, "{text}");
    }
    let text = "tools.3.custom.input_schema: invalid";
    assert_eq!(find_refusal(&rejection(500, text), &NAMES), None);
    assert_eq!(
        find_refusal(&rejection(422, text), &NAMES),
        Some(ToolRefusal::Tools(vec![3]))
    );
}

#[test]
fn learns_the_largest_number_of_tools() {
    let names: Vec<String> = (0..300).map(|at| format!("t{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (text, max) in [
        (
            "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 300 instead.",
            128,
        ),
        ("'tools' : maximum number of items is 128", 128),
        (
            "tools: List should have at most 64 items after validation, not 300",
            64,
        ),
        ("Maximum tools limit reached: 300/200", 200),
        ("Too many tools: 300. The limit is 40.", 40),
        ("Only at most 100 function declarations are allowed", 100),
        ("Invalid parameters: at most 128 tools are allowed, not 300", 128),
        ("At most 64 tools with names of 20 characters", 64),
    ] {
        assert_eq!(
            find_refusal(&rejection(400, text), &names),
            Some(ToolRefusal::TooMany(max)),
            "{text}"
        );
    }
}

#[test]
fn limits_of_other_things_are_not_of_tools() {
    let names: Vec<String> = (0..300).map(|at| format!("t{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (text, refusal) in [
        (
            "Invalid schema for function 't7': schema may have at most 100 properties",
            Some(ToolRefusal::Tools(vec![7])),
        ),
        (
            "function schemas may have at most 100 properties and 5 levels",
            None,
        ),
        ("the schemas of functions: expected at most 100, got 120", None),
        ("function name must have at most 64 characters", None),
        ("the names of tools: at most 64-character strings", None),
    ] {
        assert_eq!(find_refusal(&rejection(400, text), &names), refusal, "{text}");
    }
}

#[test]
fn leaves_out_what_was_refused() {
    let forms = forms(Anthropic);
    let tools = ["a", "b.c", "d"].map(|name| spec(name, json!({})));
    let request = request(tools.to_vec());
    let mut call = forms.begin("m");
    let names = |sent: &AdaptedRequest| -> Vec<String> {
        sent.request.tools.iter().map(|tool| tool.name.clone()).collect()
    };
    let sent = call.adapt(&request);
    assert!(call.learn(&sent, &rejection(400, "tools.1.custom.input_schema: no")));
    let sent = call.adapt(&request);
    assert_eq!(names(&sent), ["a", "d"]);
    // The positions are those of the request that was sent.
    assert!(call.learn(&sent, &rejection(400, "tools.1.custom.input_schema: no")));
    assert_eq!(names(&call.adapt(&request)), ["a"]);
    assert_eq!(
        (forms.refused("m"), forms.count("m")),
        (vec!["b.c".into(), "d".into()], 2)
    );
    assert_eq!(names(&forms.adapt("other", &request)).len(), 3);
    let problems: Vec<String> = forms
        .problems()
        .into_iter()
        .map(|problem| problem.message)
        .collect();
    assert_eq!(
        problems[0],
        "The endpoint “test” refuses the tool “b.c”, so it is left out for m: tools.1.custom.input_schema: no"
    );
    assert!(!call.learn(&sent, &rejection(400, "No.")));
}
