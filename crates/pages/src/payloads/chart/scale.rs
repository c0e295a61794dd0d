//! The scale of a chart: round numbers at equal steps, from below the minimum to above the maximum.

/// The height and the width of a chart.
pub const CHART_SIZE: u32 = 10_000;

/// The approximate number of steps.
const TARGET_STEPS: f64 = 4.0;

/// A scale from `low` to `low + steps * step`.
#[derive(Debug, PartialEq)]
pub struct Scale {
    low: f64,
    step: f64,
    steps: u32,
}

impl Scale {
    /// Returns the scale for some values; `None` if there is none, as for numbers that are too far apart.
    pub fn from_values(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut min, mut max) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| {
            (min.min(value), max.max(value))
        });
        if min > max {
            (min, max) = (0.0, 1.0);
        }
        if min == max {
            // A single value is shown with its distance from zero.
            (min, max) = match min {
                0.0 => (0.0, 1.0),
                value => (value.min(0.0), value.max(0.0)),
            };
        }
        let step = round_up((max - min) / TARGET_STEPS)?;
        let low = (min / step).floor() * step;
        let steps = ((max - low) / step).ceil();
        // Numbers that are close together and far from zero cannot be distinguished.
        let is_exact = low + step > low && (1.0..=20.0).contains(&steps);
        is_exact.then_some(Self {
            low,
            step,
            steps: steps as u32,
        })
    }

    /// Returns the distance of a value from the top.
    pub fn position(&self, value: f64) -> u32 {
        let height = f64::from(self.steps) * self.step;
        let from_low = ((value - self.low) / height).clamp(0.0, 1.0);
        CHART_SIZE - (from_low * f64::from(CHART_SIZE)).round() as u32
    }

    /// Returns the numbers of the scale, from the top.
    pub fn ticks(&self) -> Vec<String> {
        let decimals = (-self.step.log10().floor()).max(0.0);
        let tick = |index: u32| {
            let value = self.low + f64::from(index) * self.step;
            // Rounding errors near zero become zero.
            let value = if value.abs() < self.step / 2.0 { 0.0 } else { value };
            if decimals > 6.0 || self.step >= 1e12 {
                format!("{value:.2e}")
            } else {
                format!("{value:.0$}", decimals as usize)
            }
        };
        (0..=self.steps).rev().map(tick).collect()
    }
}

/// Returns the next higher one of 1, 2, 5, 10, 20, 50 …
fn round_up(number: f64) -> Option<f64> {
    let ten = 10_f64.powf(number.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0].map(|times| times * ten);
    // Slightly smaller is accepted: 0.1 + 0.2 is more than 0.3.
    let found = round.into_iter().find(|round| *round >= number * (1.0 - 1e-9));
    found.filter(|step| step.is_normal())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64]) -> Vec<String> {
        let scale = Scale::from_values(values.iter().copied()).expect("a scale");
        for value in values {
            assert!(scale.position(*value) <= CHART_SIZE);
        }
        scale.ticks()
    }

    #[test]
    fn scale_uses_round_numbers_around_values() {
        assert_eq!(ticks(&[0.0, 100.0]), ["100", "50", "0"]);
        assert_eq!(ticks(&[3.0, 17.0]), ["20", "15", "10", "5", "0"]);
        assert_eq!(ticks(&[0.1, 0.3]), ["0.30", "0.25", "0.20", "0.15", "0.10"]);
        assert_eq!(ticks(&[-1.0, 2.0]), ["2", "1", "0", "-1"]);
        assert_eq!(ticks(&[]), ["1.0", "0.5", "0.0"]);
        assert_eq!(ticks(&[7.0]), ["8", "6", "4", "2", "0"]);
    }

    #[test]
    fn positions_stay_within_the_chart() {
        let scale = Scale::from_values([0.0, 20.0].into_iter()).unwrap();
        assert_eq!(
            [20.0, 10.0, 0.0].map(|value| scale.position(value)),
            [0, 5000, CHART_SIZE]
        );
        for value in [f64::MAX, f64::MIN, f64::INFINITY, f64::NAN] {
            assert!(scale.position(value) <= CHART_SIZE);
        }
    }

    #[test]
    fn rejects_numbers_without_a_scale() {
        for values in [
            [-1e308, 1e308],
            [1e16, 1e16 + 2.0],
            [0.0, 5e-324],
            [f64::NEG_INFINITY, 0.0],
        ] {
            assert_eq!(Scale::from_values(values.into_iter()), None, "{values:?}");
        }
    }
}
