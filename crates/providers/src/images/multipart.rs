//! A form with a file (`multipart/form-data`).

use uuid::Uuid;

/// A `multipart/form-data` body under construction.
pub struct Multipart {
    /// Random, so that it occurs in no content.
    boundary: String,
    body: Vec<u8>,
}

impl Multipart {
    pub fn new() -> Self {
        Self {
            boundary: format!("parlor-{}", Uuid::new_v4().simple()),
            body: Vec::new(),
        }
    }

    /// Adds a field with a text. `name` is a constant, which needs no escaping.
    pub fn add_text(&mut self, name: &str, text: &str) {
        self.add(&format!("name=\"{name}\"\r\n"), text.as_bytes());
    }

    /// Adds a file. The names are ours.
    pub fn add_file(&mut self, name: &str, file_name: &str, media_type: &str, data: &[u8]) {
        let head = format!("name=\"{name}\"; filename=\"{file_name}\"\r\nContent-Type: {media_type}\r\n");
        self.add(&head, data);
    }

    fn add(&mut self, head: &str, content: &[u8]) {
        let begin = format!(
            "--{}\r\nContent-Disposition: form-data; {head}\r\n",
            self.boundary
        );
        self.body.extend_from_slice(begin.as_bytes());
        self.body.extend_from_slice(content);
        self.body.extend_from_slice(b"\r\n");
    }

    /// Returns the content type and the body.
    pub fn finish(mut self) -> (String, Vec<u8>) {
        let end = format!("--{}--\r\n", self.boundary);
        self.body.extend_from_slice(end.as_bytes());
        let media_type = format!("multipart/form-data; boundary={}", self.boundary);
        (media_type, self.body)
    }
}
