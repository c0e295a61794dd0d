//! The machine and the resource use of the processes, as Linux reports them under `/proc`. On other systems
//! these figures stay 0.

use std::fs;

use serde::Serialize;

use crate::figures::Cores;

/// The unit of CPU time in `/proc`, whatever the kernel's own clock is.
const TICKS_PER_SECOND: f64 = 100.0;

/// The machine of the measurement.
#[derive(Debug, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub memory_gb: f64,
    pub kernel: String,
    /// The load when the measurement began. Other work makes every figure worse.
    pub load_average: String,
}

impl Machine {
    pub fn detect() -> Self {
        let line = |file: &str, key: &str| {
            let text = fs::read_to_string(file).unwrap_or_default();
            let line = text
                .lines()
                .find(|line| line.starts_with(key))
                .unwrap_or_default();
            line.split_once(':')
                .map_or(String::new(), |(_, value)| value.trim().to_owned())
        };
        let kilobytes = line("/proc/meminfo", "MemTotal");
        let kilobytes: f64 = kilobytes.trim_end_matches(" kB").parse().unwrap_or_default();
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            cpu: line("/proc/cpuinfo", "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gb: (kilobytes * 1024.0 / 1e9).round(),
            kernel: format!("{} {}", std::env::consts::OS, release.trim()),
            load_average: load.split(' ').next().unwrap_or_default().to_owned(),
        }
    }
}

/// CPU seconds used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTime {
    servers: f64,
    upstream: f64,
    client: f64,
    all: f64,
}

impl CpuTime {
    pub fn now(servers: &[u32], upstream: u32) -> Self {
        Self {
            servers: servers.iter().copied().map(process_cpu_seconds).sum(),
            upstream: process_cpu_seconds(upstream),
            client: process_cpu_seconds(std::process::id()),
            all: machine_cpu_seconds(),
        }
    }

    /// Returns the servers' CPU seconds since `earlier`.
    pub fn servers_since(self, earlier: Self) -> f64 {
        self.servers - earlier.servers
    }

    /// Returns the model server's CPU seconds since `earlier`.
    pub fn upstream_since(self, earlier: Self) -> f64 {
        self.upstream - earlier.upstream
    }

    /// Returns the busy cores since `earlier`, by process.
    pub fn cores_since(self, earlier: Self, seconds: f64) -> Cores {
        let cores = |now: f64, then: f64| (now - then) / seconds;
        let server = cores(self.servers, earlier.servers);
        let upstream = cores(self.upstream, earlier.upstream);
        let client = cores(self.client, earlier.client);
        let others = (cores(self.all, earlier.all) - server - upstream - client).max(0.0);
        Cores {
            server,
            upstream,
            client,
            others,
        }
    }
}

/// Returns the CPU seconds of a process and all below it, also those that have ended.
pub fn tree_cpu_seconds(pid: u32) -> f64 {
    let all = [pid].into_iter().chain(descendants(pid));
    all.map(|process| cpu_seconds(process, 4)).sum()
}

fn process_cpu_seconds(pid: u32) -> f64 {
    cpu_seconds(pid, 2)
}

/// Returns the sum of the first of these times of a process: in the program, in the kernel, and the same of its ended children.
fn cpu_seconds(pid: u32, times: usize) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in parentheses, may contain anything; the state follows it. utime, stime, cutime and cstime are the fields from 14
    // on.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields
        .split_whitespace()
        .skip(11)
        .take(times)
        .filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
}

/// Returns the CPU time that is neither idle nor waiting for a disk.
fn machine_cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields: Vec<f64> = stat
        .lines()
        .next()
        .map(|line| {
            line.split_whitespace()
                .skip(1)
                .filter_map(|ticks| ticks.parse().ok())
                .collect()
        })
        .unwrap_or_default();
    // user nice system idle iowait irq softirq; the following fields are included in these, or are another
    // machine's.
    let busy = [0, 1, 2, 5, 6].iter().filter_map(|index| fields.get(*index));
    busy.sum::<f64>() / TICKS_PER_SECOND
}

/// Returns the resident memory in megabytes (10⁶ bytes).
pub fn resident_mb(pid: u32) -> f64 {
    status_value(pid, "VmRSS:")
}

/// Returns the maximum resident memory since [`reset_peak`].
pub fn peak_mb(pid: u32) -> f64 {
    status_value(pid, "VmHWM:")
}

/// Resets the peak.
pub fn reset_peak(pid: u32) {
    // Where that is not allowed, the peak is that of the process's whole life.
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// Returns the memory of all processes below one, in megabytes. Pages that several have count once.
pub fn descendants_mb(pid: u32) -> f64 {
    let shares = descendants(pid).into_iter().map(|process| {
        let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
        value_mb(&rollup, "Pss:")
    });
    shares.sum()
}

/// Returns all processes below one.
fn descendants(pid: u32) -> Vec<u32> {
    let processes: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|process| Some((process, parent(process)?)))
        .collect();
    let mut below = vec![pid];
    let mut next = 0;
    while let Some(above) = below.get(next).copied() {
        let children = processes.iter().filter(|(_, parent)| *parent == above);
        below.extend(children.map(|(process, _)| *process));
        next += 1;
    }
    below.split_off(1)
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

fn status_value(pid: u32, key: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    value_mb(&status, key)
}

/// Returns the value of a line, which is in kB, in megabytes.
fn value_mb(text: &str, key: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .unwrap_or_default();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<f64>()
        .unwrap_or_default()
        * 1024.0
        / 1e6
}
