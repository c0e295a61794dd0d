//! Cases of randomised tests: the same in every run of `make test`, new ones in `make fuzz`.
//!
//! Property tests stand in [`properties!`], other randomised tests ask for [`seeds`]. Both print their
//! seed. `PARLOR_FUZZ_SEED` and `PARLOR_FUZZ_CASES` set another seed and another number of cases; `make fuzz` does so
//! again and again.
//!
//! A case that fails is kept in `proptest-regressions/` and tried first from then on, with every seed.

use std::{env, fs, path::Path};

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};

#[doc(hidden)]
pub use proptest;

/// Seed of every randomised test unless `PARLOR_FUZZ_SEED` is set.
const DEFAULT_SEED: u64 = 20_261_123;

/// Folder of the cases that have failed once, beside `src` and in the repository's root.
const REGRESSIONS_FOLDER: &str = "proptest-regressions";

/// Inputs that a strategy may reject for each case.
const MAX_REJECTS: u32 = 100;

/// Defines property tests in a module `properties`, by which `make fuzz` finds them: the number of cases, then what
/// `proptest!` takes. There is one in a file at most.
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
            #[allow(unused_imports)]
            use super::*;

            $crate::proptest::proptest! {
                #![proptest_config($crate::config($cases))]
                $($tests)*
            }
        }
    };
}

/// Configuration of a property test with a fixed seed.
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

/// Seeds for a randomised test that is no property test: those that it has failed with, then the present one.
///
/// `make fuzz` keeps a seed that fails in `proptest-regressions/seeds/`, by the test's name, such as
/// `resume::properties::a_cut_leaves_no_trace`. `root` is the package's folder.
pub fn test_seeds(root: &str, test: &str) -> Vec<u64> {
    let file = Path::new(root)
        .join(REGRESSIONS_FOLDER)
        .join("seeds")
        .join(seed_file_name(test));
    let kept = fs::read_to_string(file).unwrap_or_default();
    let mut seeds: Vec<u64> = kept.lines().filter_map(|line| line.trim().parse().ok()).collect();
    seeds.push(env_seed());
    println!("seeds {seeds:?}");
    seeds
}

/// Number of cases of a randomised test that is no property test.
pub fn cases(default: u32) -> u32 {
    env_number("PARLOR_FUZZ_CASES").unwrap_or(default)
}

/// Name of the file that keeps a test's seeds; `xtask` writes it.
fn seed_file_name(test: &str) -> String {
    format!("{}.txt", test.replace("::", "."))
}

fn env_seed() -> u64 {
    env_number("PARLOR_FUZZ_SEED").unwrap_or(DEFAULT_SEED)
}

/// A number from the environment; a panic if it is something else, since a typo must not look like a clean run.
fn env_number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let value = env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {value}")),
    )
}
