//! The CPU time of the programs that a step started: beside its duration, it tells whether the step waits or computes.

use std::{fs, time::Duration};

/// The unit of the times in `/proc`, which Linux has set to this for all processors (`USER_HZ`, proc(5)).
const TICKS_PER_SECOND: f64 = 100.0;

/// The place of `cutime`, counted from the state of the process, the first field after its name. `cstime` follows.
const USER_TIME_OF_CHILDREN: usize = 13;

/// Returns the CPU time of all ended programs that this one and those have started. `None` on a system without `/proc`.
pub fn time_of_children() -> Option<Duration> {
    parse(&fs::read_to_string("/proc/self/stat").ok()?)
}

fn parse(stat: &str) -> Option<Duration> {
    // The name stands in parentheses and may contain some.
    let (_, fields) = stat.rsplit_once(") ")?;
    let times = fields.split(' ').skip(USER_TIME_OF_CHILDREN).take(2);
    let ticks: f64 = times
        .map(|field| field.parse::<f64>())
        .sum::<Result<_, _>>()
        .ok()?;
    Some(Duration::from_secs_f64(ticks / TICKS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_system_time_are_added() {
        let stat = "812 (a (b) c) S 1 812 812 0 -1 4194304 1 2 3 4 50 60 1234 66 20 0 1 0 99 0 0";
        assert_eq!(parse(stat), Some(Duration::from_secs(13)));
        assert_eq!(parse("812 (short) S 1"), Some(Duration::ZERO));
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn system_has_them() {
        if cfg!(target_os = "linux") {
            assert!(time_of_children().is_some());
        }
    }
}
