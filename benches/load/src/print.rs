//! The report as text: tables for a terminal and for commit messages. Those of load are in [`print_loads`](crate::print_loads).

use crate::{
    budgets,
    figures::{
        AssetSize, BrowserResult, CrashResult, DataAgentResult, Figure, FilesResult, FirstTokenResult,
        FloodResult, IdleResult, Percentiles, ReconnectResult, Report, SlowReadersResult, StartupResult,
        StoredResult,
    },
    sizes::LAZY_KIND,
    stream_check::Faults,
};

/// Prints rows below their headings. The first column is left-aligned, the others are right-aligned.
pub fn print_table(heads: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count());
        cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                if column == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
        println!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
    };
    if heads.iter().any(|head| !head.is_empty()) {
        line(heads.to_vec());
    }
    for row in rows {
        line(row.iter().map(String::as_str).collect());
    }
    println!();
}

/// Prints the machine before the measurements.
pub fn print_machine(report: &Report) {
    let machine = &report.machine;
    println!(
        "{} × {}, {} GB, {}; load average {} at the start; the server's binary is {:.1} MB\n",
        machine.cores, machine.cpu, machine.memory_gb, machine.kernel, machine.load_average, report.binary_mb
    );
}

pub fn print_crash(killed: &CrashResult) {
    println!(
        "Killed in mid-stream, with {} runs: clients had seen {} events; of these the next process, ready after {} \
         ms, missed {}; {} runs had no end.\n",
        killed.runs,
        killed.seen,
        format_ms(killed.ready_ms),
        killed.missing,
        killed.unterminated
    );
    print_faults(&killed.complaints);
}

pub fn print_idle(idle: &IdleResult) {
    println!(
        "{} streams on which nothing happens: {:.1} KB of the server's memory each; {} ms after a message was sent, the last one has \
         heard of it.\n",
        idle.streams,
        idle.kb_each,
        format_ms(idle.told_ms)
    );
}

pub fn print_first_token(first_token: &FirstTokenResult) {
    println!(
        "The first token of {} new conversations with each adapter, one after the other (times in ms)",
        first_token.runs
    );
    let rows: Vec<Vec<String>> = first_token
        .adapters
        .iter()
        .map(|adapter| {
            let time = adapter.first_token_ms;
            vec![
                adapter.adapter.clone(),
                format_ms(time.p50),
                format_ms(time.p95),
                format_ms(time.max),
                format!("{:+.2}", adapter.beyond_openai_ms),
            ]
        })
        .collect();
    print_table(&["", "p50", "p95", "max", "p50 beyond openai"], &rows);
}

pub fn print_files(files: &FilesResult) {
    println!(
        "A file of {} MB: {:.0} MB/s up, {:.0} MB/s down; {:.1} MB more of the server's memory at its peak.\n",
        files.megabytes, files.upload_mb_per_second, files.download_mb_per_second, files.grown_mb
    );
}

pub fn print_slow_readers(slow: &SlowReadersResult) {
    let (without, with) = slow.delay_ms;
    println!(
        "{} readers that take a byte a second: {:.0} KB of the server's memory each; others' tokens are {} ms late (p95), without \
         them {} ms. Then they read {} events in {:.1} s{}.\n",
        slow.readers,
        slow.kb_each,
        format_ms(with.p95),
        format_ms(without.p95),
        slow.events,
        slow.caught_up_seconds,
        format_faults(slow.faults)
    );
}

pub fn print_flood(flood: &FloodResult) {
    let (quiet, flooded) = flood.first_token_ms;
    println!(
        "One user with {} runs as fast as the model server gives: the first token of another user comes after {} ms (p50), {} (p95); \
         without them {} ms (p50), {} (p95).\n",
        flood.runs,
        format_ms(flooded.p50),
        format_ms(flooded.p95),
        format_ms(quiet.p50),
        format_ms(quiet.p95)
    );
}

pub fn print_reconnect(reconnect: &ReconnectResult) {
    let first = reconnect.first_missed_ms;
    println!(
        "Connected again {} times, with {} runs under way: the first missed event came after {} ms (p50), {} (p95), {} (max){}.\n",
        reconnect.times,
        reconnect.runs,
        format_ms(first.p50),
        format_ms(first.p95),
        format_ms(first.max),
        format_faults(reconnect.faults)
    );
}

/// Formats faults for the end of a sentence.
fn format_faults(faults: Faults) -> String {
    let Faults {
        lost,
        duplicated,
        reordered,
        ..
    } = faults;
    format!(": {lost} lost, {duplicated} doubled, {reordered} out of order")
}

pub fn print_data_agent(data: &DataAgentResult) {
    println!("Databases and Python");
    let row = |name: String, value: f64, unit: &str| vec![name, format_ms(value), unit.to_owned()];
    print_table(
        &["", "", ""],
        &[
            row(
                format!("page of a table of {} rows, p50", data.table_rows),
                data.table_ms.p50,
                "ms",
            ),
            row("… p95".into(), data.table_ms.p95, "ms"),
            row(
                format!("{} rows as a data frame", data.result_rows),
                data.query_ms,
                "ms",
            ),
            row("… memory of the server".into(), data.query_grown_mb, "MB"),
            row("start of a kernel".into(), data.kernel_start_ms, "ms"),
            row("question with a call, p50".into(), data.call_ms.p50, "ms"),
            row(
                format!("restoring a session of {} calls", data.cells),
                data.restore_ms,
                "ms",
            ),
            row(
                format!("memory of each of {} sessions", data.sessions),
                data.session_mb,
                "MB",
            ),
        ],
    );
}

pub fn print_startup(startup: &StartupResult) {
    println!(
        "Start with {} conversations stored ({:.1} MB), from the start of the process; {} starts",
        startup.conversations, startup.database_mb, startup.starts
    );
    let row =
        |name: &str, (median, slowest): (f64, f64)| vec![name.into(), format_ms(median), format_ms(slowest)];
    let rows = [
        row("says that it is ready", startup.ready_ms),
        row("first GET /healthz answered", startup.healthz_ms),
        row("first GET / answered", startup.page_ms),
    ];
    print_table(&["", "median ms", "slowest"], &rows);
    println!("  resident memory 2 s later: {:.1} MB\n", startup.idle_mb);
}

pub fn print_sizes(sent: &[AssetSize]) {
    if sent.is_empty() {
        return;
    }
    println!("The first page, as sent");
    let row = |sent: &AssetSize| {
        vec![
            sent.kind.clone(),
            sent.bytes.to_string(),
            sent.encoding.clone(),
            sent.path.clone(),
        ]
    };
    let (later, first): (Vec<_>, Vec<_>) = sent.iter().partition(|sent| sent.kind == LAZY_KIND);
    let mut rows: Vec<_> = first.iter().copied().map(row).collect();
    let total: usize = first.iter().map(|sent| sent.bytes).sum();
    rows.push(vec![
        "all".into(),
        total.to_string(),
        String::new(),
        String::new(),
    ]);
    rows.extend(later.into_iter().map(row));
    print_table(&["", "bytes", "encoding", "path"], &rows);
    let counted = first.iter().filter(|sent| sent.kind != "woff2");
    let bytes: usize = counted.map(|sent| sent.bytes).sum();
    print_budgets(&[Figure {
        name: budgets::FIRST_PAGE.into(),
        value: Some(bytes as f64),
        unit: String::new(),
    }]);
}

pub fn print_stored(stored: &StoredResult) {
    println!(
        "Opening one of {} conversations with {} messages in all (times in ms)",
        stored.conversations, stored.messages
    );
    let long = format!("the one with {} messages", stored.long_messages);
    let row = |name: String, spread: &Percentiles| {
        let values = [spread.p50, spread.p95, spread.p99, spread.max];
        std::iter::once(name)
            .chain(values.map(format_ms))
            .collect::<Vec<_>>()
    };
    print_table(
        &["", "p50", "p95", "p99", "max"],
        &[
            row(
                "one with 20 messages, as the page asks for it".into(),
                &stored.snapshot_ms,
            ),
            row("… as a whole page".into(), &stored.page_ms),
            row(
                format!("{long}, as the page asks for it"),
                &stored.long_snapshot_ms,
            ),
            row("… as a whole page".into(), &stored.long_page_ms),
            row(
                "one whose answer is being made, 200 KB of it".into(),
                &stored.growing_snapshot_ms,
            ),
        ],
    );
}

pub fn print_browser(measured: &BrowserResult) {
    println!(
        "In Chromium {}, {} tokens a second of Markdown",
        measured.chromium, measured.per_second
    );
    let row = |figure: &Figure| {
        let value = figure.value.map_or("-".into(), |value| value.to_string());
        vec![figure.name.clone(), value, figure.unit.clone()]
    };
    print_table(
        &["", "", ""],
        &measured.figures.iter().map(row).collect::<Vec<_>>(),
    );
    print_budgets(&measured.figures);
    print_faults(&measured.faults);
}

fn print_budgets(figures: &[Figure]) {
    let budgets = budgets::compare(figures);
    if budgets.is_empty() {
        return;
    }
    let rows = budgets.iter().map(|row| {
        let growth = format!("{:+.1} %", row.growth * 100.0);
        vec![
            row.figure.to_owned(),
            format!("{:.1}", row.bytes / 1e3),
            format!("{:.0}", row.limit / 1e3),
            growth,
        ]
    });
    let heads = ["budgets, without fonts", "KB", "budget", "since accepted"];
    print_table(&heads, &rows.collect::<Vec<_>>());
    let reported = budgets.iter().filter(|row| row.is_reported());
    let complaints = reported.map(|row| {
        format!(
            "{}: over its budget or grown by a twentieth: decide, and write the new figure into budgets.rs",
            row.figure
        )
    });
    print_faults(&complaints.collect::<Vec<_>>());
}

pub fn print_faults(complaints: &[String]) {
    for complaint in complaints {
        println!("  ! {complaint}");
    }
    if !complaints.is_empty() {
        println!();
    }
}

pub fn format_ms(milliseconds: f64) -> String {
    if milliseconds < 10.0 {
        format!("{milliseconds:.2}")
    } else {
        format!("{milliseconds:.0}")
    }
}
