//! The output of the calls of a session: the messages of the kernel as reports, within the limits of a call.

use serde_json::{Map, Value};

use super::message::Message;
use crate::wire::{KernelLimits, Report};

/// The pictures that are shown, the preferred first.
const PICTURES: [&str; 2] = ["image/png", "image/jpeg"];

/// The form of Plotly's charts.
const PLOTLY: &str = parlor_protocol::attachment::PLOTLY_CHART;

/// The limits of an exception, in bytes. It does not count as text: it is shown also if the text reached its limit.
const MAX_ERROR_NAME_BYTES: usize = 200;
const MAX_ERROR_MESSAGE_BYTES: usize = 4 << 10;
const MAX_TRACEBACK_BYTES: usize = 16 << 10;

/// The call whose output arrives.
pub struct CallOutput {
    /// The id of its request.
    pub request: String,
    pub id: u64,
    is_silent: bool,
    limits: KernelLimits,
    text_bytes: usize,
    picture_bytes: usize,
    omitted_text: usize,
    omitted_pictures: usize,
    /// The two ends of a call: the reply, and the kernel's report that it is idle.
    reply: Option<Reply>,
    is_idle: bool,
    /// True if an exception was reported.
    has_error: bool,
}

/// The kernel's answer to a call.
enum Reply {
    Ok,
    /// An exception, which the kernel normally has shown as well.
    Error(Report),
    /// The code ends the session.
    Exit(String),
}

/// The end of a call.
#[derive(Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// The last reports of the call.
    Reports(Vec<Report>),
    /// The call ends the session, for this reason.
    Exit(String),
}

/// The exception of `sys.exit`, and in a session also of `exit` and `quit`.
const EXIT: &str = "SystemExit";

impl CallOutput {
    pub fn new(request: String, id: u64, is_silent: bool, limits: KernelLimits) -> Self {
        Self {
            request,
            id,
            is_silent,
            limits,
            text_bytes: 0,
            picture_bytes: 0,
            omitted_text: 0,
            omitted_pictures: 0,
            reply: None,
            is_idle: false,
            has_error: false,
        }
    }

    /// Takes the kernel's answer to the request.
    pub fn set_reply(&mut self, message: &Message) {
        self.reply = Some(match (message.text("status"), message.text("ename")) {
            ("error", EXIT) => Reply::Exit(match error(message) {
                Report::Error { message, .. } if !message.is_empty() => {
                    format!("the code ended it ({EXIT}: {message})")
                }
                _ => format!("the code ended it ({EXIT})"),
            }),
            ("error", _) => Reply::Error(error(message)),
            _ => Reply::Ok,
        });
    }

    /// Marks that no more output is awaited.
    pub fn set_idle(&mut self) {
        self.is_idle = true;
    }

    /// Returns the end of the call, once there is one.
    pub fn end(&mut self) -> Option<CallEnd> {
        let reply = self.is_idle.then(|| self.reply.take())??;
        let error = match reply {
            Reply::Exit(cause) => return Some(CallEnd::Exit(cause)),
            // The message with the exception may have been lost; the call must not pass for one without.
            Reply::Error(error) if !self.has_error => Some(error),
            Reply::Error(_) | Reply::Ok => None,
        };
        let done = Report::Done {
            id: self.id,
            omitted_text: self.omitted_text,
            omitted_pictures: self.omitted_pictures,
        };
        Some(CallEnd::Reports(error.into_iter().chain([done]).collect()))
    }

    /// Returns the report of a message of this call.
    pub fn read(&mut self, message: &Message) -> Option<Report> {
        match &*message.kind {
            "status" => {
                self.is_idle |= message.text("execution_state") == "idle";
                None
            }
            // Its traceback says why a silent call failed.
            "error" => {
                self.has_error = true;
                Some(error(message))
            }
            "stream" => {
                let text = self.limit_text(message.text("text"));
                (!text.is_empty()).then_some(Report::Text { text })
            }
            _ if self.is_silent => None,
            "display_data" | "execute_result" | "update_display_data" => {
                self.display(message.content.get("data")?.as_object()?)
            }
            _ => None,
        }
    }

    fn display(&mut self, data: &Map<String, Value>) -> Option<Report> {
        let field = |name: &str| data.get(name).and_then(Value::as_str);
        // A chart may come with a picture of it, which the page makes by itself.
        if let Some(chart) = data.get(PLOTLY).filter(|chart| chart.is_object()) {
            let chart = chart.to_string();
            return self
                .has_room_for_picture(chart.len())
                .then_some(Report::Chart { chart });
        }
        let picture = PICTURES
            .iter()
            .find_map(|name| Some(((*name).to_owned(), field(name)?.to_owned())));
        let picture = picture.filter(|(_, data)| self.has_room_for_picture(data.len() / 4 * 3));
        let table = field("text/markdown").map(|table| self.limit_text(table));
        let table = table.filter(|table| !table.is_empty());
        let text = match (&table, &picture) {
            (None, None) => self.limit_text(field("text/plain").unwrap_or_default()),
            _ => String::new(),
        };
        let is_empty = text.is_empty() && table.is_none() && picture.is_none();
        (!is_empty).then_some(Report::Display { text, table, picture })
    }

    /// Counts a picture or a chart of this size: as omitted, if there is no room for it.
    fn has_room_for_picture(&mut self, bytes: usize) -> bool {
        let fits = self.picture_bytes.saturating_add(bytes) <= self.limits.pictures;
        match fits {
            true => self.picture_bytes += bytes,
            false => self.omitted_pictures += 1,
        }
        fits
    }

    /// Returns as much of a text as there is room for.
    fn limit_text(&mut self, text: &str) -> String {
        let room = self.limits.output.saturating_sub(self.text_bytes);
        let kept = &text[..text.floor_char_boundary(room)];
        self.text_bytes += kept.len();
        self.omitted_text += text.len() - kept.len();
        kept.to_owned()
    }
}

/// Returns the report of an exception.
fn error(message: &Message) -> Report {
    let frames = message.content.get("traceback").and_then(Value::as_array);
    let frames = frames.map(Vec::as_slice).unwrap_or_default();
    // Some frames end with a line break.
    let frames = frames.iter().filter_map(Value::as_str);
    let frames: Vec<&str> = frames.map(|frame| frame.trim_end_matches('\n')).collect();
    let text = |field: &str, limit: usize| {
        let text = message.text(field);
        text[..text.floor_char_boundary(limit)].to_owned()
    };
    Report::Error {
        name: text("ename", MAX_ERROR_NAME_BYTES),
        message: text("evalue", MAX_ERROR_MESSAGE_BYTES),
        traceback: without_middle(&frames.join("\n")),
    }
}

/// Returns a traceback without its middle, if it is long: its end says most.
fn without_middle(traceback: &str) -> String {
    let Some(omitted) = traceback.len().checked_sub(MAX_TRACEBACK_BYTES) else {
        return traceback.to_owned();
    };
    let begin = traceback.floor_char_boundary(MAX_TRACEBACK_BYTES / 4);
    let end = traceback.ceil_char_boundary(MAX_TRACEBACK_BYTES / 4 + omitted);
    format!("{}\n…\n{}", &traceback[..begin], &traceback[end..])
}

#[cfg(test)]
mod tests;
