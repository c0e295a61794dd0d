//! The tables of many runs at once: times, faults, CPU and memory, and the same beside the model server alone.

use crate::{
    figures::LoadResult,
    nodes::NodesResult,
    print::{format_ms, print_faults, print_table},
    stream_check::Faults,
};

/// Prints the rows of a load table.
pub fn print_loads(title: &str, loads: &[&LoadResult]) {
    if loads.is_empty() {
        return;
    }
    println!("{title}");
    let heads = [
        "",
        "done",
        "tokens/s",
        "events/s",
        "delay p50",
        "p95",
        "p99",
        "max",
        "1st p50",
        "p95",
        "behind p95",
    ];
    let rows = loads.iter().map(|load| {
        let (delay, first) = (load.delay_ms, load.first_token_ms);
        let times = [delay.p50, delay.p95, delay.p99, delay.max, first.p50, first.p95];
        let mut row = vec![load.name.clone(), format!("{}/{}", load.completed, load.runs)];
        row.extend([load.tokens_per_second, load.events_per_second].map(|rate| format!("{rate:.0}")));
        row.extend(times.map(format_ms));
        row.push(if load.per_second > 0.0 {
            format_ms(load.behind_ms.p95)
        } else {
            "-".into()
        });
        row
    });
    print_table(&heads, &rows.collect::<Vec<_>>());
    let heads = [
        "",
        "lost",
        "double",
        "disorder",
        "gaps",
        "bad ends",
        "CPU s/10k",
        "server",
        "model",
        "client",
        "others",
        "MB before",
        "peak",
        "after",
    ];
    let rows = loads.iter().map(|load| {
        let Faults {
            lost,
            duplicated,
            reordered,
            gaps,
            incomplete,
        } = load.faults;
        let mut row = vec![load.name.clone()];
        row.extend([lost, duplicated, reordered, gaps, incomplete].map(|count| count.to_string()));
        row.push(format!("{:.2}", load.cpu_per_10k));
        row.extend(
            [
                load.cores.server,
                load.cores.upstream,
                load.cores.client,
                load.cores.others,
            ]
            .map(|cores| format!("{cores:.2}")),
        );
        row.extend(
            [load.memory_mb.before, load.memory_mb.peak, load.memory_mb.after].map(|mb| format!("{mb:.1}")),
        );
        row
    });
    print_table(&heads, &rows.collect::<Vec<_>>());
    print_beside_bare(loads);
    for load in loads {
        print_faults(&load.complaints);
    }
}

/// Prints what the same runs need on one node and on several.
pub fn print_nodes(rows: &[NodesResult]) {
    println!("Signed-in users on some nodes (times in ms; CPU and memory of all nodes)");
    let heads = [
        "",
        "runs",
        "done",
        "tokens/s",
        "delay p50",
        "p99",
        "late p99",
        "1st p50",
        "p95",
        "CPU s/10k",
        "of Postgres",
        "MB before",
        "peak",
        "of Postgres",
    ];
    let table = rows.iter().map(|row| {
        let load = &row.load;
        let mut cells = vec![
            format!("{} on {}", row.nodes, row.database),
            load.name.clone(),
            format!("{}/{}", load.completed, load.runs),
            format!("{:.0}", load.tokens_per_second),
        ];
        let (delay, first) = (load.delay_ms, load.first_token_ms);
        cells.extend([delay.p50, delay.p99, load.behind_ms.p99, first.p50, first.p95].map(format_ms));
        cells.push(format!("{:.2}", load.cpu_per_10k));
        cells.push(
            row.database_cpu_per_10k
                .map_or("-".into(), |cpu| format!("{cpu:.2}")),
        );
        cells.extend([load.memory_mb.before, load.memory_mb.peak].map(|mb| format!("{mb:.1}")));
        cells.push(row.database_mb.map_or("-".into(), |mb| format!("{mb:.0}")));
        cells
    });
    print_table(&heads, &table.collect::<Vec<_>>());
    for row in rows {
        print_faults(&row.load.complaints);
    }
}

/// Prints each row as a ratio to the model server alone, which depends less on the machine than the row itself.
fn print_beside_bare(loads: &[&LoadResult]) {
    let heads = [
        "beside the bare model server",
        "tokens/s",
        "1st p50",
        "delay p50",
        "CPU",
    ];
    let rows = loads.iter().filter_map(|load| {
        let bare = load.bare?;
        let ratios = [
            (load.tokens_per_second, bare.tokens_per_second),
            (load.first_token_ms.p50, bare.first_token_ms.p50),
            (load.delay_ms.p50, bare.delay_ms.p50),
            (load.cpu_per_10k, bare.cpu_per_10k),
        ];
        let mut row = vec![load.name.clone()];
        row.extend(ratios.map(|(with, without)| format_ratio(with, without)));
        Some(row)
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        print_table(&heads, &rows);
    }
}

fn format_ratio(with: f64, without: f64) -> String {
    // CPU time has steps of 10 ms: a short run of the model server can have none.
    if without > 0.0 {
        format!("× {:.2}", with / without)
    } else {
        "-".into()
    }
}
