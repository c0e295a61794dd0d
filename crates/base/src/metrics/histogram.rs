//! A histogram without a lock.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use prometheus_client::{
    encoding::{EncodeMetric, MetricEncoder, NoLabelSet},
    metrics::{MetricType, TypedMetric},
};

/// The unit of the sum: values are rounded to millionths, such as microseconds.
const SUM_UNITS: f64 = 1e6;

/// A distribution of values of 0 and more. Clones share the counts. An observation is two atomic additions.
#[derive(Clone, Debug)]
pub struct Histogram(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    /// The upper bounds of the buckets, ascending. One more bucket has what is above.
    bounds: &'static [f64],
    buckets: Box<[AtomicU64]>,
    /// The sum of all values, in millionths.
    sum: AtomicU64,
}

impl Histogram {
    /// Creates an empty histogram with buckets up to and including these bounds.
    pub fn new(bounds: &'static [f64]) -> Self {
        let buckets = std::iter::repeat_with(AtomicU64::default);
        Self(Arc::new(Counts {
            bounds,
            buckets: buckets.take(bounds.len() + 1).collect(),
            sum: AtomicU64::new(0),
        }))
    }

    /// Counts a value.
    pub fn observe(&self, value: f64) {
        let counts = &*self.0;
        let bucket = counts.bounds.partition_point(|bound| *bound < value);
        if let Some(bucket) = counts.buckets.get(bucket) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        let units = (value * SUM_UNITS).round() as u64;
        counts.sum.fetch_add(units, Ordering::Relaxed);
    }

    /// Counts a duration, in seconds.
    pub fn observe_duration(&self, duration: Duration) {
        self.observe(duration.as_secs_f64());
    }
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Histogram {
    fn encode(&self, mut encoder: MetricEncoder) -> Result<(), std::fmt::Error> {
        let bounds = self.0.bounds.iter().copied().chain([f64::INFINITY]);
        let counts = self.0.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        // Not counted by itself, so that it agrees with the buckets.
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = self.0.sum.load(Ordering::Relaxed) as f64 / SUM_UNITS;
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}
