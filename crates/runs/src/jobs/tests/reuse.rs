//! Results that a job takes over from the one before it.

use super::*;

#[test]
fn outputs_of_the_job_before_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let process = Process::start::<true>(folder.path(), &world, 3);
    let numbers = [1, 13, 2];
    let results = [(); 2].map(|()| {
        let id = process.begin(&numbers);
        process.wait_for(id, RunStatus::Complete).result
    });
    assert_eq!(results[0], results[1]);
    // An error is no output: it may have gone since.
    let mut effects = once(&numbers);
    effects.insert("double/13".into(), 2);
    assert_eq!(world.effects(), effects);
    process.kill();
}

#[test]
fn effects_are_not_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let process = Process::start::<false>(folder.path(), &world, 3);
    for _ in 0..2 {
        let id = process.begin(&[1]);
        process.wait_for(id, RunStatus::Complete);
    }
    assert_eq!(world.effects(), BTreeMap::from([("double/1".into(), 2)]));
    process.kill();
}
