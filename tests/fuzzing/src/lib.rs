//! The cases of randomised tests: the same in every run of `make test`, new ones in `make fuzz`.
//!
//! Property tests are defined with [`properties!`]; other randomised tests call [`test_seeds!`]. Both print
//! their seed. `PARLOR_FUZZ_SEED` and `PARLOR_FUZZ_CASES` set another seed and another number of cases, which
//! `make fuzz` does repeatedly.
//!
//! A failing case is stored in `proptest-regressions/` and is tried first from then on, with every seed.

#![allow(clippy::panic, clippy::print_stdout, reason = "only tests use it")]

use std::{env, fs, path::Path};

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};

#[doc(hidden)]
pub use proptest;

/// The seed of every randomised test unless `PARLOR_FUZZ_SEED` is set.
const DEFAULT_SEED: u64 = 20_261_123;

/// The folder of stored failing cases, next to `src` and in the repository's root.
const REGRESSIONS_FOLDER: &str = "proptest-regressions";

/// The number of inputs that a strategy may reject for each case.
const MAX_REJECTS: u32 = 100;

/// Defines property tests in a module `properties`, by which `make fuzz` finds them: the number of cases,
/// then the arguments of `proptest!`. A file has at most one.
///
/// ```ignore
/// use proptest::prelude::*;
///
/// fuzzing::properties! {
///     100;
///
///     #[test]
///     fn a_sum_is_the_same_both_ways(a in 0..100, b in 0..100) {
///         prop_assert_eq!(a + b, b + a);
///     }
/// }
/// ```
#[macro_export]
macro_rules! properties {
    ($cases:expr; $($tests:tt)*) => {
        mod properties {
            #[allow(unused_imports, reason = "properties may need nothing of their module")]
            use super::*;

            $crate::proptest::proptest! {
                #![proptest_config($crate::config($cases))]
                $($tests)*
            }
        }
    };
}

/// Returns the configuration of a property test with a fixed seed.
pub fn config(cases: u32) -> Config {
    let (seed, cases) = (env_seed(), self::cases(cases));
    println!("seed {seed}, {cases} cases");
    Config {
        cases,
        max_local_rejects: cases.saturating_mul(MAX_REJECTS).max(65_536),
        max_global_rejects: cases.saturating_mul(MAX_REJECTS),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: Some(Box::new(FileFailurePersistence::SourceParallel(
            REGRESSIONS_FOLDER,
        ))),
        ..Config::default()
    }
}

/// Returns the seeds of the calling randomised test, which is not a property test: its failed ones, then the
/// current one.
///
/// `make fuzz` stores a failing seed in `proptest-regressions/seeds/` by the test's name, such as
/// `resume::properties::a_cut_leaves_no_trace`.
#[macro_export]
macro_rules! test_seeds {
    () => {{
        fn here() {}
        $crate::seeds_of_test(env!("CARGO_MANIFEST_DIR"), std::any::type_name_of_val(&here))
    }};
}

/// Returns the seeds of the test with an item `here`. `root` is the package's folder.
#[doc(hidden)]
pub fn seeds_of_test(root: &str, here: &str) -> Vec<u64> {
    let test = test_name(here);
    let file = Path::new(root)
        .join(REGRESSIONS_FOLDER)
        .join("seeds")
        .join(seed_file_name(&test));
    let kept = fs::read_to_string(file).unwrap_or_default();
    let mut seeds: Vec<u64> = kept.lines().filter_map(|line| line.trim().parse().ok()).collect();
    seeds.push(env_seed());
    println!("seeds {seeds:?}");
    seeds
}

/// Returns the number of cases of a randomised test that is not a property test.
pub fn cases(default: u32) -> u32 {
    env_number("PARLOR_FUZZ_CASES").unwrap_or(default)
}

/// Returns true if `make fuzz` runs the test, which may take minutes then.
pub fn is_long_run() -> bool {
    env_number::<u32>("PARLOR_FUZZ_CASES").is_some()
}

/// Returns the name by which the test harness knows the test that contains an item: its path without the crate
/// and without the closures of async code.
fn test_name(item: &str) -> String {
    let path: Vec<&str> = item.split("::").skip(1).collect();
    let test = &path[..path.len().saturating_sub(1)];
    let names = test.iter().copied().filter(|name| !name.starts_with('{'));
    names.collect::<Vec<_>>().join("::")
}

/// Returns the name of the file with a test's seeds; `xtask` writes it.
fn seed_file_name(test: &str) -> String {
    format!("{}.txt", test.replace("::", "."))
}

fn env_seed() -> u64 {
    env_number("PARLOR_FUZZ_SEED").unwrap_or(DEFAULT_SEED)
}

/// Returns a number from the environment. Panics if the value is not a number, since a typo must not look
/// like a clean run.
fn env_number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let value = env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {value}")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the path of an item as [`test_seeds!`] passes it.
    macro_rules! item_path {
        () => {{
            fn here() {}
            std::any::type_name_of_val(&here)
        }};
    }

    /// The harness names the thread of a test after it.
    #[test]
    fn knows_the_test_that_calls_it() {
        let in_async = async { item_path!() };
        let in_async = std::pin::pin!(in_async);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(in_async) = in_async.poll(&mut context) else {
            panic!("nothing to wait for")
        };
        for path in [item_path!(), in_async] {
            assert_eq!(test_name(path), "tests::knows_the_test_that_calls_it");
        }
    }

    #[test]
    fn reads_stored_seeds() {
        let folder = env::temp_dir().join(format!("parlor-seeds-{}", std::process::id()));
        let seeds = folder.join(REGRESSIONS_FOLDER).join("seeds");
        fs::create_dir_all(&seeds).unwrap();
        fs::write(seeds.join("a.properties.b.txt"), "7\n11\n").unwrap();
        let root = folder.to_str().unwrap();
        let found = seeds_of_test(root, "program::a::properties::b::{{closure}}::here");
        assert_eq!(found, [7, 11, env_seed()]);
        assert_eq!(
            seeds_of_test(root, "program::a::properties::c::here"),
            [env_seed()]
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
