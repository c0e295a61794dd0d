//! An answer as it comes over the network, turned into events. Reads no faster than it is asked.

use std::{collections::VecDeque, time::Duration};

use reqwest::Response;

use super::{
    decoder::{Decoder, Fault},
    refusal,
    transport::{Transport, media_type, read_body},
};
use crate::model::{ModelError, ModelEvent, ModelStream};

/// How long the usage may still take, and the end, when the model has said why it stopped.
const ENDING_TIMEOUT: Duration = Duration::from_secs(3);

struct Answer {
    transport: Transport,
    media_type: String,
    /// An event was taken: what goes wrong now can't be mended by asking again.
    has_said: bool,
    response: Response,
    decoder: Decoder,
    /// Decoded and not taken yet: what one read has brought.
    ready: VecDeque<ModelEvent>,
    failure: Option<ModelError>,
    ended: bool,
}

/// The events of an answer whose status was fine.
pub async fn stream(
    transport: Transport,
    response: Response,
    max_frame: usize,
) -> Result<ModelStream, ModelError> {
    let media_type = media_type(&response);
    // Servers call their event streams many things, but not these.
    if media_type == "text/html" {
        let body = read_body(response).await;
        let json: Option<serde_json::Value> = serde_json::from_slice(&body).ok();
        return Err(match json.as_ref().and_then(|json| json.get("error")) {
            Some(error) => refusal::in_stream(&transport.facts, error),
            None => transport.bad_answer(format!(
                "answered with {media_type} instead of a stream of events."
            )),
        });
    }
    let answer = Answer {
        transport,
        media_type,
        has_said: false,
        response,
        decoder: Decoder::new(max_frame),
        ready: VecDeque::new(),
        failure: None,
        ended: false,
    };
    Ok(Box::pin(futures::stream::unfold(
        answer,
        |mut answer| async move {
            let event = answer.next().await?;
            Some((event, answer))
        },
    )))
}

impl Answer {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.has_said = true;
                return Some(Ok(event));
            }
            if let Some(failure) = self.failure.take() {
                self.ended = true;
                return Some(Err(failure));
            }
            if self.ended {
                return None;
            }
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let chunk = if self.decoder.is_ending() {
            // The answer is whole: that its end is late, or broken, changes nothing.
            let chunk = tokio::time::timeout(ENDING_TIMEOUT, self.response.chunk()).await;
            chunk.ok().and_then(Result::ok).flatten()
        } else {
            match self.response.chunk().await {
                Ok(chunk) => chunk,
                Err(error) => {
                    // Release what the decoder holds; that the answer is not whole is known.
                    let _ = self.decoder.end(&mut self.ready);
                    self.failure = Some(self.transport.broke_off(Some(&error), self.has_begun()));
                    return;
                }
            }
        };
        let result = match chunk {
            Some(bytes) => self.decoder.push(&bytes, &mut self.ready),
            None => self.decoder.end(&mut self.ready),
        };
        self.ended = self.decoder.has_ended();
        self.failure = result.err().map(|fault| self.explain(fault));
    }

    /// Whether anything was understood.
    fn has_begun(&self) -> bool {
        self.has_said || !self.ready.is_empty()
    }

    fn explain(&self, fault: Fault) -> ModelError {
        let bad = |what: String| self.transport.bad_part(what, self.has_begun());
        match fault {
            Fault::BrokeOff => self.transport.broke_off(None, self.has_begun()),
            Fault::Nothing => self.transport.empty(),
            Fault::OtherProtocol(name) => self.transport.other_protocol(name),
            Fault::Error(error) => refusal::in_stream(&self.transport.facts, &error),
            Fault::NotAStream => self.transport.bad_answer(match self.media_type.as_str() {
                "application/json" => "answered with application/json that is no answer of a model.",
                _ => "gave an answer that is not a stream of events.",
            }),
            Fault::BadFrame(data) => {
                let data = self.transport.facts.quote(&data);
                bad(format!("sent something that is not a part of an answer: {data}"))
            }
            Fault::FrameTooLong(limit) => bad(format!(
                "sent a single event of more than {limit} bytes, the most that Parlor takes."
            )),
        }
    }
}
