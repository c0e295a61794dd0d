//! The process itself, under the names that all clients of Prometheus use. Linux has them in `/proc`; elsewhere there are none.

use std::fs;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};

/// The figures of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ProcessFigures {
    cpu_seconds: f64,
    /// Seconds since 1970.
    started_at: f64,
    resident_bytes: u64,
    virtual_bytes: u64,
    open_files: Option<u64>,
    max_files: Option<u64>,
}

/// Reads the figures at each scrape.
#[derive(Debug)]
pub(super) struct ProcessCollector;

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let Some(figures) = read_figures() else {
            return Ok(());
        };
        let cpu = ConstCounter::new(figures.cpu_seconds);
        let help = "Processor time of the process, of all its threads";
        cpu.encode(encoder.encode_descriptor("process_cpu_seconds", help, None, cpu.metric_type())?)?;
        let mut gauge = |name: &str, help: &str, value: f64| {
            let gauge = ConstGauge::new(value);
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
        };
        let number = |value: u64| value as f64;
        let started = "Start of the process, in seconds since 1970";
        gauge("process_start_time_seconds", started, figures.started_at)?;
        let resident = "Memory of the process in RAM";
        gauge(
            "process_resident_memory_bytes",
            resident,
            number(figures.resident_bytes),
        )?;
        let reserved = "Address space of the process";
        gauge(
            "process_virtual_memory_bytes",
            reserved,
            number(figures.virtual_bytes),
        )?;
        if let Some(open) = figures.open_files {
            gauge(
                "process_open_fds",
                "Open files and sockets of the process",
                number(open),
            )?;
        }
        if let Some(max) = figures.max_files {
            gauge(
                "process_max_fds",
                "The highest number of open files and sockets",
                number(max),
            )?;
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn read_figures() -> Option<ProcessFigures> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let boot = fs::read_to_string("/proc/stat").ok()?;
    let boot = boot.lines().find_map(|line| line.strip_prefix("btime "))?;
    let boot = boot.trim().parse().ok()?;
    let mut figures = parse_stat(&stat, boot, rustix::param::clock_ticks_per_second(), page_bytes())?;
    figures.open_files = fs::read_dir("/proc/self/fd")
        .ok()
        .map(|files| files.count() as u64);
    figures.max_files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    Some(figures)
}

#[cfg(not(target_os = "linux"))]
fn read_figures() -> Option<ProcessFigures> {
    None
}

#[cfg(target_os = "linux")]
fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Parses `/proc/self/stat`. `boot` is the start of the machine in seconds since 1970, `ticks` the unit of times a second.
#[cfg(target_os = "linux")]
fn parse_stat(stat: &str, boot: u64, ticks: u64, page_bytes: u64) -> Option<ProcessFigures> {
    // The second field, the name of the program, may have anything in it.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    // `man proc` counts from 1, and the third is the first one here.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let seconds = |in_ticks: u64| in_ticks as f64 / ticks as f64;
    let boot = boot as f64;
    Some(ProcessFigures {
        cpu_seconds: seconds(field(14)? + field(15)?),
        started_at: boot + seconds(field(22)?),
        virtual_bytes: field(23)?,
        resident_bytes: field(24)? * page_bytes,
        ..ProcessFigures::default()
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn reads_the_fields_behind_any_name() {
        let stat = "7 (a) b) S 1 1 1 0 -1 4194560 9 0 0 0 150 50 0 0 20 0 5 0 300 4096000 250 18446744073709551615 1";
        let expected = ProcessFigures {
            cpu_seconds: 2.0,
            started_at: 1003.0,
            virtual_bytes: 4_096_000,
            resident_bytes: 1_024_000,
            ..ProcessFigures::default()
        };
        assert_eq!(parse_stat(stat, 1000, 100, 4096), Some(expected));
        assert_eq!(parse_stat("7 (a) S 1", 1000, 100, 4096), None);
    }

    #[test]
    fn this_process_has_figures() {
        let figures = read_figures().unwrap();
        assert!(
            figures.resident_bytes > 0 && figures.open_files > Some(0),
            "{figures:?}"
        );
    }
}
