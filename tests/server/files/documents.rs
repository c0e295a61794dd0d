//! Documents: what models get of them, what the page shows of them, and what is said of those that can't be read.

use parlor_base::settings::{CapabilitySettings, Settings};
use serde_json::{Value, json};

use super::start;
use crate::support::{Parlor, TEST_TIMEOUT, last_model_call, raw_model_calls};

/// Returns a file of the fixtures.
pub(super) fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!(
        "{}/tests/fixtures/files/{name}",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap()
}

/// Makes the models `reader`, which reads PDF files, and `any`, which does not.
fn with_pdf_reader(settings: &mut Settings) {
    let reader = CapabilitySettings {
        pdf: Some(true),
        ..CapabilitySettings::default()
    };
    let blind = CapabilitySettings {
        pdf: Some(false),
        ..CapabilitySettings::default()
    };
    let endpoint = &mut settings.endpoints[0];
    endpoint.capabilities = [("reader".into(), reader), ("any".into(), blind)].into();
    endpoint.models = vec!["any".into(), "reader".into()];
}

impl Parlor {
    async fn upload_fixture(&self, name: &str) -> Value {
        let (status, file) = self.upload(name, None, fixture(name)).await;
        assert_eq!(status, 201, "{name}: {file}");
        file
    }

    /// Sends an uploaded file to a model.
    async fn ask_about(&self, file: &Value, model: &str) -> Vec<Value> {
        let turn = json!({
            "message": "Read it", "files": [file["id"]], "conversation_id": file["conversation_id"], "model": model,
        });
        self.chat(&turn).await.read_to_end().await
    }

    /// Returns the text or the tables of a document, as the page loads them.
    async fn preview(&self, file: &Value) -> (u16, Value) {
        self.get_json(&format!("/rpc/file_preview?id={}", super::id(file)))
            .await
    }
}

#[tokio::test]
async fn pdf_goes_as_it_is_or_as_text() {
    let (_folder, upstream, parlor) = start(|settings, _| with_pdf_reader(settings)).await;
    let file = parlor.upload_fixture("crazyones.pdf").await;
    assert_eq!(
        (&file["media_type"], &file["problem"]),
        (&json!("application/pdf"), &Value::Null),
        "{file}"
    );
    parlor.ask_about(&file, "test/any").await;
    let call = last_model_call(&upstream)["messages"].to_string();
    assert!(
        call.contains("[File: crazyones.pdf]\\n[Page 1]\\n") && call.contains("to the crazy ones. The mis"),
        "{call}"
    );
    assert!(!call.contains("base64"), "{call}");
    let next =
        json!({ "message": "Again", "conversation_id": file["conversation_id"], "model": "test/reader" });
    parlor.chat(&next).await.read_to_end().await;
    let call = last_model_call(&upstream)["messages"].to_string();
    assert!(call.contains("base64") && !call.contains("[Page 1]"), "{call}");
    let (_, preview) = parlor.preview(&file).await;
    let text = preview["text"].as_str().unwrap();
    assert!(text.starts_with("[Page 1]\n"), "{text}");
}

#[tokio::test]
async fn odd_pdf_files_are_read() {
    let (_folder, _upstream, parlor) = start(|_, _| {}).await;
    for (name, expected) in [
        ("toy.pdf", "Something"),
        // Everybody may read it, and only its owner may change it.
        ("owner-password.pdf", "pdf encryption test"),
    ] {
        let file = parlor.upload_fixture(name).await;
        let (_, preview) = parlor.preview(&file).await;
        assert!(
            preview["text"].as_str().unwrap_or_default().contains(expected),
            "{name}: {preview}"
        );
    }
}

#[tokio::test]
async fn long_text_is_cut_with_a_note() {
    let (_folder, upstream, parlor) = start(|settings, _| {
        with_pdf_reader(settings);
        settings.files.text_bytes = 120;
    })
    .await;
    let file = parlor.upload_fixture("crazyones.pdf").await;
    parlor.ask_about(&file, "test/any").await;
    let call = last_model_call(&upstream)["messages"].to_string();
    assert!(call.contains("is not shown.]") && call.len() < 8000, "{call}");
}

#[tokio::test]
async fn refused_scan_names_models_that_see_it() {
    let (_folder, upstream, parlor) = start(|settings, _| with_pdf_reader(settings)).await;
    let file = parlor.upload_fixture("scan.pdf").await;
    assert_eq!(
        (&file["problem"], &file["text_bytes"]),
        (&json!("no_text"), &Value::Null)
    );
    let turn = |model: &str| json!({ "message": "Read it", "files": [file["id"]], "conversation_id": file["conversation_id"], "model": model });
    let (status, problem) = parlor.rejection(&turn("test/any")).await;
    let detail = problem["detail"].as_str().unwrap();
    assert_eq!((status, &problem["code"]), (422, &json!("file_not_taken")));
    assert!(
        detail.contains("scan.pdf has no text") && detail.contains("test/reader"),
        "{detail}"
    );
    assert!(raw_model_calls(&upstream).is_empty());
    let sent = parlor.ask_about(&file, "test/reader").await;
    assert_eq!(sent.last().unwrap()["type"], "complete");
    assert!(
        last_model_call(&upstream)["messages"]
            .to_string()
            .contains("base64")
    );
}

#[tokio::test]
async fn file_with_a_password_is_kept_and_named() {
    let (_folder, upstream, parlor) = start(|settings, _| with_pdf_reader(settings)).await;
    let file = parlor.upload_fixture("password.pdf").await;
    assert_eq!(file["problem"], "encrypted", "{file}");
    assert_eq!(parlor.preview(&file).await.0, 404);
    parlor.ask_about(&file, "test/reader").await;
    let call = last_model_call(&upstream)["messages"].to_string();
    assert!(
        call.contains("(The file password.pdf is not shown to you: it needs a password.)"),
        "{call}"
    );
    // The user still has it.
    let own = parlor.get(&super::file_path(&file)).send().await.unwrap();
    assert_eq!(own.bytes().await.unwrap(), fixture("password.pdf"));
}

#[tokio::test]
async fn workbook_goes_as_a_preview() {
    let (folder, upstream, parlor) = start(|settings, _| settings.files.table_rows = 3).await;
    let file = parlor.upload_fixture("orders.xlsx").await;
    parlor.ask_about(&file, "test/any").await;
    let call = last_model_call(&upstream);
    let call = call["messages"][1]["content"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    for expected in [
        "[File: orders.xlsx]\nSheet “Orders”: 300 rows, 4 columns.\nColumns: Name (text), Amount (number), Day (date), Paid (boolean)\n\
         Order 1,1.5,2026-01-02,false\n",
        "[297 more rows are not shown: these are the first 3.]\nSheet “Notes & more”: 1 row, 2 columns.",
        "Sheet “Empty”: 0 rows, 0 columns.",
    ] {
        assert!(call.contains(expected), "{expected}\n{call}");
    }
    let (_, preview) = parlor.preview(&file).await;
    assert_eq!(
        (
            &preview["tables"][0]["row_count"],
            &preview["tables"][0]["rows"][2][0]
        ),
        (&json!(300), &json!("Order 3"))
    );
    // The whole of it stays.
    let own = parlor.get(&super::file_path(&file)).send().await.unwrap();
    assert_eq!(own.bytes().await.unwrap(), fixture("orders.xlsx"));
    drop(folder);
}

#[tokio::test]
async fn other_documents_are_read() {
    let (_folder, _upstream, parlor) = start(|_, _| {}).await;
    for name in ["orders.ods", "orders.xls"] {
        let file = parlor.upload_fixture(name).await;
        let (_, preview) = parlor.preview(&file).await;
        let table = &preview["tables"][0];
        assert_eq!(
            (
                &table["row_count"],
                &table["columns"][1]["kind"],
                &table["rows"][1][0]
            ),
            (&json!(5), &json!("number"), &json!("Order 2")),
            "{name}: {preview}"
        );
    }
    let file = parlor.upload_fixture("table.docx").await;
    let (_, preview) = parlor.preview(&file).await;
    let text = preview["text"].as_str().unwrap_or_default();
    assert!(text.contains("Table\t\nBetween\t\nText after"), "{preview}");
}

#[tokio::test]
async fn table_as_text_goes_as_a_preview() {
    let (_folder, upstream, parlor) = start(|_, _| {}).await;
    let rows: String = (0..500).map(|row| format!("Ort {row};{row},5\n")).collect();
    let (_, file) = parlor
        .upload("orte.csv", None, format!("Ort;Betrag\n{rows}"))
        .await;
    assert_eq!(file["media_type"], "text/csv");
    parlor.ask_about(&file, "test/any").await;
    let call = last_model_call(&upstream)["messages"].to_string();
    assert!(
        call.contains("The table: 500 rows, 2 columns.\\nColumns: Ort (text), Betrag (number)\\nOrt 0,")
            && call.contains("[300 more rows are not shown"),
        "{call}"
    );
}

#[tokio::test]
async fn notebook_goes_as_its_text() {
    let (_folder, upstream, parlor) = start(|_, _| {}).await;
    let notebook = json!({ "nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        { "id": "a", "cell_type": "markdown", "metadata": {}, "source": ["# Tides"] },
        { "id": "b", "cell_type": "code", "metadata": {}, "execution_count": 1, "source": ["1 + 1"], "outputs": [
            { "output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": { "text/plain": ["2"] } },
            { "output_type": "display_data", "metadata": {}, "data": { "image/png": "iVBORw0KGgo=" } },
        ] },
    ] });
    let (status, file) = parlor.upload("Tides.ipynb", None, notebook.to_string()).await;
    assert_eq!(
        (status, &file["media_type"], &file["problem"]),
        (201, &json!("application/x-ipynb+json"), &Value::Null)
    );
    parlor.ask_about(&file, "test/any").await;
    let call = last_model_call(&upstream);
    let call = call["messages"][1]["content"].as_str().unwrap_or_default();
    assert!(
        call.contains("[File: Tides.ipynb]\n[Cell 1]\n# Tides\n\n[Cell 2]\n```python\n1 + 1\n```\nOutput:\n```\n2\n[image]\n```\n[End of"),
        "{call}"
    );
    // A broken one is a text all the same.
    let (status, file) = parlor.upload("broken.ipynb", None, "{\"cells\": [").await;
    assert_eq!((status, &file["media_type"]), (201, &json!("text/plain")));
    parlor.ask_about(&file, "test/any").await;
    let call = last_model_call(&upstream)["messages"].to_string();
    assert!(
        call.contains("[File: broken.ipynb]\\n{\\\"cells\\\": ["),
        "{call}"
    );
    let (status, problem) = parlor.upload("a.ipynb", None, vec![b'{', 0, 0xFF]).await;
    assert_eq!(status, 415, "{problem}");
}

#[tokio::test]
async fn texts_in_other_encodings_are_decoded() {
    let (_folder, upstream, parlor) = start(|_, _| {}).await;
    let sentence = "Die Grüße aus Köln kosten größere Mühe.";
    let latin1: Vec<u8> = sentence.chars().map(|c| c as u8).collect();
    let utf16: Vec<u8> = format!("\u{feff}{sentence}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for data in [latin1, utf16] {
        let (status, file) = parlor.upload("brief.txt", None, data).await;
        assert_eq!(
            (status, &file["media_type"]),
            (201, &json!("text/plain")),
            "{file}"
        );
        parlor.ask_about(&file, "test/any").await;
        let call = last_model_call(&upstream)["messages"].to_string();
        assert!(
            call.contains(&format!("[File: brief.txt]\\n{sentence}")),
            "{call}"
        );
    }
}

#[tokio::test]
async fn files_of_a_user_have_a_limit() {
    let (_folder, _upstream, parlor) = start(|settings, _| settings.files.user_bytes = 1000).await;
    let (status, first) = parlor.upload("a.txt", None, vec![b'x'; 600]).await;
    assert_eq!(status, 201);
    let (status, problem) = parlor.upload("b.txt", None, vec![b'x'; 600]).await;
    assert_eq!((status, &problem["code"]), (507, &json!("no_room")));
    assert!(problem["detail"].as_str().unwrap().contains("files.user_bytes"));
    // The page asks before it sends a large file.
    for (bytes, expected) in [(400, 200), (401, 507)] {
        let asked = parlor
            .post("/rpc/check_upload", &json!({ "bytes": bytes }))
            .send()
            .await;
        assert_eq!(asked.unwrap().status(), expected, "{bytes}");
    }
    // Without a length, it is refused while it arrives: this one has no end.
    let chunks = std::iter::repeat_with(|| Ok::<_, std::convert::Infallible>(vec![b'x'; 100_000]));
    let endless_body = reqwest::Body::wrap_stream(futures::stream::iter(chunks));
    let refused = tokio::time::timeout(TEST_TIMEOUT, parlor.upload("c.txt", None, endless_body)).await;
    let (status, problem) = refused.expect("a response before its end");
    assert_eq!((status, &problem["code"]), (507, &json!("no_room")));
    parlor
        .client
        .delete(format!("{}{}", parlor.url, super::file_path(&first)))
        .send()
        .await
        .unwrap();
    assert_eq!(parlor.upload("b.txt", None, vec![b'x'; 600]).await.0, 201);
}

#[tokio::test]
async fn model_reads_a_document_again() {
    let (_folder, upstream, parlor) = start(|settings, _| with_pdf_reader(settings)).await;
    let file = parlor.upload_fixture("crazyones.pdf").await;
    let events = parlor.ask_about(&file, "test/any").await;
    upstream.add_script(
        upstream::When::user_contains("once more"),
        super::messages::retrieving_first_file(&events),
    );
    upstream.add_script(
        upstream::When::tool_gave("[Page 1]"),
        upstream::Script::new().text("I see it."),
    );
    let turn = json!({ "message": "Look once more", "conversation_id": file["conversation_id"], "model": "test/any" });
    let events = parlor.chat(&turn).await.read_to_end().await;
    assert_eq!(
        events.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\nI see it."
    );
}
