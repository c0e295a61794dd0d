//! Files of this machine: those that the user chooses, pastes or drops, and their upload.

use js_sys::Array;
use leptos::prelude::document;
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{
    ClipboardEvent, DataTransfer, DragEvent, Event, File, FileList, HtmlInputElement, ProgressEvent,
    XmlHttpRequest,
};

/// A file of this machine.
#[derive(Clone, Debug)]
pub struct LocalFile(SendWrapper<File>);

impl LocalFile {
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// The size in bytes.
    pub fn size(&self) -> f64 {
        self.0.size()
    }
}

/// The limits of attached files, set by the server in the page: their number in a message, and the size of each in bytes.
pub fn file_limits() -> (usize, usize) {
    let root = document().document_element();
    let limit = |name: &str| {
        let text = root.as_ref().and_then(|root| root.get_attribute(name));
        text.and_then(|text| text.parse().ok()).unwrap_or(usize::MAX)
    };
    (limit("data-max-files"), limit("data-max-file-bytes"))
}

fn files_in(list: Option<FileList>) -> Vec<LocalFile> {
    let Some(list) = list else { return Vec::new() };
    let files = (0..list.length()).filter_map(|index| list.get(index));
    files.map(|file| LocalFile(SendWrapper::new(file))).collect()
}

fn files_of(data: Option<DataTransfer>) -> Vec<LocalFile> {
    files_in(data.and_then(|data| data.files()))
}

/// Makes a file of a text.
pub fn text_file(name: &str, text: &str) -> Option<LocalFile> {
    let parts = Array::of1(&JsValue::from_str(text));
    let file = File::new_with_str_sequence(&parts, name).ok()?;
    Some(LocalFile(SendWrapper::new(file)))
}

/// Returns the files that the user pastes.
pub fn pasted_files(event: &ClipboardEvent) -> Vec<LocalFile> {
    files_of(event.clipboard_data())
}

/// Returns the files that the user drops.
pub fn dropped_files(event: &DragEvent) -> Vec<LocalFile> {
    files_of(event.data_transfer())
}

/// Returns true if the user drags files.
pub fn has_files(event: &DragEvent) -> bool {
    let types = event.data_transfer().map(|data| data.types());
    types.is_some_and(|types| types.includes(&JsValue::from_str("Files"), 0))
}

/// Marks a drag as one that moves something within the page.
pub fn begin_move(event: &DragEvent) {
    if let Some(data) = event.data_transfer() {
        data.set_effect_allowed("move");
        // Without data, Firefox drags nothing.
        let _ = data.set_data("text/plain", "");
    }
}

/// Returns the files that the user has chosen in a field, and empties the field.
pub fn chosen_files(event: &Event) -> Vec<LocalFile> {
    let field = event.target().and_then(|field| field.dyn_into().ok());
    let Some(field): Option<HtmlInputElement> = field else {
        return Vec::new();
    };
    let files = files_in(field.files());
    field.set_value("");
    files
}

/// Opens the system's picker of a field for files.
pub fn open_picker(selector: &str) {
    let found = document().query_selector(selector).ok().flatten();
    if let Some(field) = found.and_then(|field| field.dyn_into::<HtmlInputElement>().ok()) {
        field.click();
    }
}

/// An upload. Aborted when dropped.
#[derive(Debug)]
pub struct Upload(SendWrapper<XmlHttpRequest>);

impl Drop for Upload {
    fn drop(&mut self) {
        let _ = self.0.abort();
    }
}

/// Sends a file, and reports the sent part of it, from 0 to 1. At the end, reports the status (0 without a response) and
/// the body. Not with `fetch`, which reports no progress.
pub fn upload(
    url: &str,
    file: &LocalFile,
    on_progress: impl Fn(f64) + 'static,
    on_end: impl FnOnce(u16, String) + 'static,
) -> Option<Upload> {
    let request = XmlHttpRequest::new().ok()?;
    let name = js_sys::encode_uri_component(&file.name());
    let separator = if url.contains('?') { "&name=" } else { "?name=" };
    let url = [url, separator, &String::from(name)].concat();
    request.open("POST", &url).ok()?;
    request
        .set_request_header("Content-Type", "application/octet-stream")
        .ok()?;
    let progress = Closure::<dyn FnMut(ProgressEvent)>::new(move |event: ProgressEvent| {
        if event.length_computable() {
            on_progress(event.loaded() / event.total().max(1.0));
        }
    });
    let progress = progress.into_js_value();
    request
        .upload()
        .ok()?
        .set_onprogress(Some(progress.unchecked_ref()));
    let ended = request.clone();
    let end = Closure::once_into_js(move || {
        let body = ended.response_text().ok().flatten().unwrap_or_default();
        on_end(ended.status().unwrap_or_default(), body);
    });
    request.set_onloadend(Some(end.unchecked_ref()));
    request.send_with_opt_blob(Some(&file.0)).ok()?;
    Some(Upload(SendWrapper::new(request)))
}
