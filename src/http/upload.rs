//! The arrival of request bodies, with limits on slow ones. A client that never sends the rest would hold its
//! connection forever. Slow but steady clients are accepted.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::BoxError;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

use parlor_base::settings::Settings;
use parlor_protocol::{ApiError, ErrorCode};

/// The minimum speed of a body.
#[derive(Clone, Copy, Debug)]
pub struct UploadPace {
    /// The longest silence, and the time from which the average counts.
    pub max_silence: Duration,
    /// The minimum average from then on.
    pub min_bytes_per_second: usize,
}

impl UploadPace {
    pub fn new(settings: &Settings) -> Self {
        Self {
            max_silence: settings.timeouts.request_body,
            min_bytes_per_second: settings.limits.request_bytes_per_second,
        }
    }

    /// Returns the time by which the next chunk must arrive.
    fn deadline(self, began: Instant, last: Instant, received: u64) -> Instant {
        let earned = received / self.min_bytes_per_second.max(1) as u64;
        let by_average = began + self.max_silence + Duration::from_secs(earned);
        by_average.min(last + self.max_silence)
    }
}

/// A flag for a body that arrived too slowly. Each request has it among its extensions.
#[derive(Clone, Debug, Default)]
pub struct SlowUpload(Arc<AtomicBool>);

impl SlowUpload {
    /// Returns true if reading the body was aborted.
    pub fn was_aborted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the error for such a request.
    pub fn error() -> ApiError {
        ApiError::new(
            ErrorCode::RequestTimeout,
            "The request arrived too slowly (settings timeouts.request_body and limits.request_bytes_per_second). \
             Nothing was changed: send it again.",
        )
    }
}

impl fmt::Display for SlowUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request arrived too slowly")
    }
}

impl std::error::Error for SlowUpload {}

/// A flag for a body that was read to its end.
#[derive(Clone, Debug, Default)]
pub struct BodyEnd(Arc<AtomicBool>);

impl BodyEnd {
    /// Returns true if the body was read to its end. After any other, the next request of its connection can't be found.
    pub fn was_reached(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A body that fails if it arrives too slowly.
pub struct PacedBody<B> {
    body: B,
    pace: UploadPace,
    slow: SlowUpload,
    end: BodyEnd,
    /// The time of the first poll.
    started_at: Option<Instant>,
    received: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<B: Body> PacedBody<B> {
    pub fn new(body: B, pace: UploadPace) -> Self {
        Self {
            end: BodyEnd(Arc::new(body.is_end_stream().into())),
            body,
            pace,
            slow: SlowUpload::default(),
            started_at: None,
            received: 0,
            timer: None,
        }
    }

    /// Returns the flag that is set if the body arrives too slowly.
    pub fn slow(&self) -> SlowUpload {
        self.slow.clone()
    }

    /// Returns the flag that is set when the body was read to its end.
    pub fn end(&self) -> BodyEnd {
        self.end.clone()
    }
}

impl<B> Body for PacedBody<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            if let Some(Ok(frame)) = &frame {
                this.received += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            if frame.is_none() || this.body.is_end_stream() {
                this.end.0.store(true, Ordering::Relaxed);
            }
            this.timer = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let (pace, received, began) = (this.pace, this.received, &mut this.started_at);
        let timer = this.timer.get_or_insert_with(|| {
            let now = Instant::now();
            let began = *began.get_or_insert(now);
            Box::pin(sleep_until(pace.deadline(began, now, received)))
        });
        ready!(timer.as_mut().poll(cx));
        this.slow.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(Box::new(this.slow.clone()))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body as AxumBody, to_bytes};
    use futures::stream;
    use tokio::time::sleep;

    use super::*;

    /// Returns a body of chunks of this length, each a number of seconds after the previous one; then nothing
    /// more, if it never ends.
    fn body_of_chunks(length: usize, each: f64, count: usize, ends: bool) -> PacedBody<AxumBody> {
        let chunks = stream::unfold(0, move |sent| async move {
            if sent == count && ends {
                return None;
            }
            if sent == count {
                std::future::pending::<()>().await;
            }
            sleep(Duration::from_secs_f64(each)).await;
            let chunk = Bytes::from(vec![b'x'; length]);
            Some((Ok::<_, std::convert::Infallible>(chunk), sent + 1))
        });
        let pace = UploadPace {
            max_silence: Duration::from_secs(30),
            min_bytes_per_second: 100,
        };
        PacedBody::new(AxumBody::from_stream(chunks), pace)
    }

    async fn read_to_end(body: PacedBody<AxumBody>) -> Result<usize, bool> {
        let slow = body.slow();
        let bytes = to_bytes(AxumBody::new(body), usize::MAX).await;
        bytes.map(|bytes| bytes.len()).map_err(|_| slow.was_aborted())
    }

    #[tokio::test(start_paused = true)]
    async fn accepts_slow_but_steady_uploads() {
        assert_eq!(
            read_to_end(body_of_chunks(3000, 29.0, 100, true)).await,
            Ok(300_000)
        );
        assert_eq!(
            read_to_end(body_of_chunks(1, 1.0, 20, true)).await,
            Ok(20),
            "short enough to be slow"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn rejects_silent_and_trickling_uploads() {
        let began = Instant::now();
        assert_eq!(read_to_end(body_of_chunks(3000, 1.0, 2, false)).await, Err(true));
        assert_eq!(began.elapsed().as_secs(), 32);
        let began = Instant::now();
        assert_eq!(read_to_end(body_of_chunks(1, 5.0, 10_000, true)).await, Err(true));
        assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    }
}
