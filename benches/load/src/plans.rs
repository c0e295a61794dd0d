//! The plans of runs: how many, how fast, for how long.

use std::time::Duration;

use crate::{Measurement, Options, load::LoadPlan};

/// The time limit of a group of runs, besides their own duration.
const GROUP_GRACE: Duration = Duration::from_secs(60);

/// Returns a plan of runs at the requested pace.
pub fn paced_plan(options: &Options, runs: usize) -> LoadPlan {
    let seconds = if options.quick { 2.0 } else { options.seconds };
    plan_for(options, runs, seconds)
}

fn plan_for(options: &Options, runs: usize, seconds: f64) -> LoadPlan {
    let rate = options.rate;
    LoadPlan {
        name: format!("{runs} × {rate}/s"),
        runs,
        users: None,
        tokens: (rate * seconds) as usize,
        per_second: rate,
        // The steady state is measured, not the beginning.
        ramp: Duration::from_secs_f64((seconds / 5.0).min(10.0)),
        timeout: Duration::from_secs_f64(seconds * 1.2) + GROUP_GRACE,
    }
}

/// Returns a plan of runs without a pace.
pub fn unpaced_plan(quick: bool) -> LoadPlan {
    let (runs, tokens) = if quick { (20, 200) } else { (100, 3000) };
    LoadPlan {
        name: format!("{runs} × flat out"),
        runs,
        users: None,
        tokens,
        per_second: 0.0,
        ramp: Duration::ZERO,
        timeout: GROUP_GRACE,
    }
}

/// Returns the load measurements, each group with its title.
pub fn load_plans(options: &Options) -> Vec<(&'static str, Vec<LoadPlan>)> {
    let quick = options.quick;
    let mut groups = Vec::new();
    if options.is_selected(Measurement::Load) {
        let runs = options.runs.iter().filter(|runs| !quick || **runs <= 20);
        groups.push((
            "Concurrent runs, begun one after the other (times in ms)",
            runs.map(|runs| paced_plan(options, *runs)).collect(),
        ));
    }
    if options.is_selected(Measurement::Steady) {
        let plan = plan_for(options, 200, options.minutes * 60.0);
        groups.push(("For a long time (times in ms)", vec![plan]));
    }
    if options.is_selected(Measurement::Burst) {
        let (runs, tokens) = if quick { (20, 20) } else { (100, 200) };
        let plan = LoadPlan {
            name: format!("{runs} × 20/s"),
            runs,
            users: None,
            tokens,
            per_second: 20.0,
            ramp: Duration::ZERO,
            timeout: GROUP_GRACE + Duration::from_secs(10),
        };
        groups.push(("New conversations, all in the same moment", vec![plan]));
    }
    if options.is_selected(Measurement::Flat) {
        groups.push(("As fast as the model server gives", vec![unpaced_plan(quick)]));
    }
    groups
}
