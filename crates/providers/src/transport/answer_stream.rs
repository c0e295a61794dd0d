//! A network response decoded to events. It reads no faster than the caller polls.

use std::{collections::VecDeque, time::Duration};

use reqwest::Response;

use super::{
    Transport,
    decoder::Decoder,
    event_decoder::{DecodeError, EventDecoder},
    http_errors, media_type, read_error_body,
};
use parlor_model::{ModelError, ModelEvent, ModelStream, lenient_json};

/// The time limit for the usage and the end of the stream after the finish reason.
const USAGE_TIMEOUT: Duration = Duration::from_secs(3);

struct AnswerStream {
    transport: Transport,
    media_type: String,
    /// True if an event was returned: later errors can't be fixed by a retry.
    has_sent_event: bool,
    response: Response,
    decoder: Decoder,
    /// Decoded events of one read that were not returned yet.
    ready_events: VecDeque<ModelEvent>,
    failure: Option<ModelError>,
    has_ended: bool,
}

/// Returns the events of a response with a success status.
pub async fn stream_events(
    transport: Transport,
    response: Response,
    decoder: impl EventDecoder + 'static,
    max_frame: usize,
) -> Result<ModelStream, ModelError> {
    let media_type = media_type(&response);
    // Servers use many media types for event streams, but not these.
    if media_type == "text/html" {
        let body = read_error_body(response).await;
        let json: Option<serde_json::Value> = lenient_json::parse_bytes(&body).ok();
        return Err(match json.and_then(http_errors::find_error) {
            Some(error) => http_errors::error_in_stream(&transport.endpoint, &error),
            None => transport.invalid_response(format!(
                "answered with {media_type} instead of a stream of events."
            )),
        });
    }
    let answer = AnswerStream {
        transport,
        media_type,
        has_sent_event: false,
        response,
        decoder: Decoder::new(decoder, max_frame),
        ready_events: VecDeque::new(),
        failure: None,
        has_ended: false,
    };
    Ok(Box::pin(futures::stream::unfold(
        answer,
        |mut answer| async move {
            let event = answer.next().await?;
            Some((event, answer))
        },
    )))
}

impl AnswerStream {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready_events.pop_front() {
                self.has_sent_event |= !is_count(&event);
                return Some(Ok(event));
            }
            if let Some(failure) = self.failure.take() {
                self.has_ended = true;
                return Some(Err(failure));
            }
            if self.has_ended {
                return None;
            }
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let chunk = if self.decoder.is_ending() {
            // The answer is complete: a late or broken end changes nothing.
            let chunk = tokio::time::timeout(USAGE_TIMEOUT, self.response.chunk()).await;
            chunk.ok().and_then(Result::ok).flatten()
        } else {
            match self.response.chunk().await {
                Ok(chunk) => chunk,
                Err(error) => {
                    // Release the decoder's held text. The answer is known to be incomplete.
                    let _ = self.decoder.end(&mut self.ready_events);
                    self.failure = Some(self.transport.connection_lost(Some(&error), self.has_begun()));
                    return;
                }
            }
        };
        let result = match chunk {
            Some(bytes) => self.decoder.push(&bytes, &mut self.ready_events),
            None => self.decoder.end(&mut self.ready_events),
        };
        self.has_ended = self.decoder.has_ended();
        self.failure = result.err().map(|fault| self.fault_error(fault));
    }

    /// Returns true if anything was decoded.
    fn has_begun(&self) -> bool {
        self.has_sent_event || !self.ready_events.iter().all(is_count)
    }

    fn fault_error(&self, fault: DecodeError) -> ModelError {
        let bad = |what: String| self.transport.invalid_part(what, self.has_begun());
        match fault {
            DecodeError::Incomplete => self.transport.connection_lost(None, self.has_begun()),
            DecodeError::Empty => self.transport.empty_answer(),
            DecodeError::UnsupportedProtocol(name) => self.transport.unsupported_protocol(name),
            DecodeError::ServerError(error) => http_errors::error_in_stream(&self.transport.endpoint, &error),
            DecodeError::NotAStream => self.transport.invalid_response(match self.media_type.as_str() {
                "application/json" => "answered with application/json that is no answer of a model.",
                _ => "gave an answer that is not a stream of events.",
            }),
            DecodeError::InvalidFrame(data) => {
                let data = self.transport.endpoint.quote(&data);
                bad(format!("sent something that is not a part of an answer: {data}"))
            }
            DecodeError::FrameTooLong(limit) => bad(format!(
                "sent a single event of more than {limit} bytes, which is Parlor's limit."
            )),
        }
    }
}

/// Returns true for a count of tokens, after which the request can still be repeated.
fn is_count(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::InputCounted(_) | ModelEvent::Usage(_))
}
