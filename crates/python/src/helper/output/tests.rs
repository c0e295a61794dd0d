use serde_json::json;

use super::*;

fn call() -> CallOutput {
    let limits = KernelLimits {
        memory: 0,
        processes: 0,
        message: 0,
        output: 10,
        pictures: 6,
        start_seconds: 0,
    };
    CallOutput::new("1".into(), 1, false, limits)
}

fn message(kind: &str, content: Value) -> Message {
    Message {
        kind: kind.into(),
        parent: "1".into(),
        content: content.as_object().cloned().unwrap(),
    }
}

#[test]
fn output_is_cut_at_its_limits() {
    let mut call = call();
    let text = |text: &str| Some(Report::Text { text: text.into() });
    let stream = |text: &str| message("stream", json!({ "text": text }));
    assert_eq!(call.read(&stream("12345678é")), text("12345678é"));
    assert_eq!(call.read(&stream("more")), None);
    let picture = |data: &str| {
        message(
            "display_data",
            json!({ "data": { "image/png": data, "text/plain": "" } }),
        )
    };
    assert!(call.read(&picture("AAAABBBB")).is_some());
    assert_eq!(call.read(&picture("AAAA")), None);
    call.set_reply(&message("execute_reply", json!({ "status": "ok" })));
    assert_eq!(call.end(), None);
    assert_eq!(
        call.read(&message("status", json!({ "execution_state": "idle" }))),
        None
    );
    let end = Report::Done {
        id: 1,
        omitted_text: 4,
        omitted_pictures: 1,
    };
    assert_eq!(call.end(), Some(CallEnd::Reports(vec![end])));
}

/// Returns the end of a call with this answer of the kernel.
fn end_with(call: &mut CallOutput, reply: Value) -> CallEnd {
    call.set_reply(&message("execute_reply", reply));
    call.set_idle();
    call.end().unwrap()
}

#[test]
fn exception_of_the_answer_is_reported_once() {
    let reply =
        json!({ "status": "error", "ename": "E", "evalue": "no", "traceback": ["Traceback", "E: no"] });
    let shown = Report::Error {
        name: "E".into(),
        message: "no".into(),
        traceback: "Traceback\nE: no".into(),
    };
    let done = Report::Done {
        id: 1,
        omitted_text: 0,
        omitted_pictures: 0,
    };
    // The kernel could not show it.
    let lost = end_with(&mut call(), reply.clone());
    assert_eq!(lost, CallEnd::Reports(vec![shown.clone(), done.clone()]));
    let mut call = call();
    assert_eq!(call.read(&message("error", reply.clone())), Some(shown));
    assert_eq!(end_with(&mut call, reply), CallEnd::Reports(vec![done]));
}

#[test]
fn exit_ends_the_session() {
    for (message, cause) in [
        ("3", "the code ended it (SystemExit: 3)"),
        ("", "the code ended it (SystemExit)"),
    ] {
        let reply = json!({ "status": "error", "ename": "SystemExit", "evalue": message });
        assert_eq!(end_with(&mut call(), reply), CallEnd::Exit(cause.into()));
    }
}

#[test]
fn hostile_messages_show_nothing() {
    let mut call = call();
    for content in [
        json!({}),
        json!({ "data": 1 }),
        json!({ "data": { "text/html": "<script>" } }),
        json!({ "data": { "image/png": 5, "text/plain": ["x"] } }),
        json!({ "data": { PLOTLY: "<script>", "text/html": "<script>" } }),
    ] {
        assert_eq!(call.read(&message("display_data", content)), None);
    }
    let error = call.read(&message("error", json!({ "traceback": "none", "ename": 3 })));
    assert_eq!(
        error,
        Some(Report::Error {
            name: String::new(),
            message: String::new(),
            traceback: String::new()
        })
    );
}

#[test]
fn chart_counts_as_a_picture() {
    let mut call = call();
    call.limits.pictures = 30;
    let chart = json!({ "data": [], "layout": {} });
    let shown = message(
        "display_data",
        json!({ "data": { PLOTLY: chart, "image/png": "AAAA", "text/html": "<script>" } }),
    );
    let expected = Report::Chart {
        chart: chart.to_string(),
    };
    assert_eq!(call.read(&shown), Some(expected));
    assert_eq!(call.read(&shown), None);
    assert_eq!((call.picture_bytes, call.omitted_pictures), (23, 1));
}

#[test]
fn exception_is_shown_beyond_the_limit_of_text() {
    let mut call = call();
    let long = "x".repeat(100_000);
    let stream = message("stream", json!({ "text": long }));
    assert!(call.read(&stream).is_some());
    let traceback = json!([format!("first {long}\n"), format!("é{long} last")]);
    let error = json!({ "ename": "E", "evalue": long, "traceback": traceback });
    let Some(Report::Error {
        message, traceback, ..
    }) = call.read(&message("error", error))
    else {
        panic!("no error");
    };
    assert_eq!(message.len(), MAX_ERROR_MESSAGE_BYTES);
    assert!(traceback.starts_with("first x") && traceback.ends_with("x last"));
    assert!(traceback.contains("x\n…\nx") && traceback.len() <= MAX_TRACEBACK_BYTES + 10);
}
