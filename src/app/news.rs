//! News after an upgrade: the lists *In short* of the changelog, for users who have not closed them.

use std::sync::LazyLock;

use super::Caller;
use parlor_protocol::{ApiError, ErrorCode, News};
use parlor_storage::{Change, PersonalChange};

/// The released versions, newest first.
static RELEASES: LazyLock<Vec<Release>> = LazyLock::new(|| parse(include_str!("../../CHANGELOG.md")));

/// The version that runs.
const RUNNING: &str = env!("CARGO_PKG_VERSION");

/// The heading of the list, below that of a version.
const HEADING: &str = "In short";

/// The maximum number of news. A long gap between two upgrades would otherwise fill the page.
const MAX_NEWS: usize = 8;

/// Major, minor and patch version: later ones are greater.
type Version = [u32; 3];

/// A version with its list.
#[derive(Debug, PartialEq, Eq)]
struct Release {
    version: Version,
    items: Vec<String>,
}

/// Returns what is new for the caller: nothing for users of whom nothing is stored yet.
pub async fn load(caller: &Caller) -> Result<Option<News>, ApiError> {
    let seen = caller.app.storage.seen_version(caller.user_id).await?;
    Ok(seen.and_then(|seen| news_since(&RELEASES, &seen, RUNNING)))
}

/// Records that the caller has closed the news of a version. An older one than is recorded has no effect, as from a page that
/// was open during the upgrade; a newer one than runs counts as that.
///
/// # Errors
///
/// If it is not a version. Nothing is changed.
pub async fn close(caller: &Caller, version: &str) -> Result<(), ApiError> {
    let closed = read_version(version).ok_or_else(|| {
        ApiError::new(
            ErrorCode::BadRequest,
            "This is not a version of Parlor. Nothing was changed.",
        )
    })?;
    let closed = read_version(RUNNING).map_or(closed, |running| closed.min(running));
    let seen = caller.app.storage.seen_version(caller.user_id).await?;
    if seen.and_then(|seen| read_version(&seen)) >= Some(closed) {
        return Ok(());
    }
    let change = PersonalChange::SetSeenVersion {
        version: closed.map(|number| number.to_string()).join("."),
    };
    let user_id = caller.user_id;
    caller.commit(Change::Personal { user_id, change }).await?;
    Ok(())
}

/// Collects the lists of the versions after `seen`, up to `running`. `None` if there is nothing in them.
fn news_since(releases: &[Release], seen: &str, running: &str) -> Option<News> {
    let (from, to) = (read_version(seen)?, read_version(running)?);
    let is_news = |release: &&Release| release.version > from && release.version <= to;
    let items = releases.iter().filter(is_news).flat_map(|release| &release.items);
    let items: Vec<String> = items.take(MAX_NEWS).cloned().collect();
    (!items.is_empty()).then(|| News {
        version: running.into(),
        items,
    })
}

/// Reads the lists of a changelog. What is not released has no version, and is left out.
fn parse(changelog: &str) -> Vec<Release> {
    let mut releases = Vec::new();
    let mut is_in_list = false;
    for line in changelog.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            is_in_list = false;
            let name = heading
                .trim_start_matches('[')
                .split(']')
                .next()
                .unwrap_or_default();
            releases.push(read_version(name).map(|version| Release {
                version,
                items: Vec::new(),
            }));
        } else if let Some(heading) = line.strip_prefix("### ") {
            is_in_list = heading == HEADING;
        } else if is_in_list && let Some(Some(release)) = releases.last_mut() {
            if let Some(item) = line.strip_prefix("- ") {
                release.items.push(item.into());
            } else if let (Some(item), Some(more)) = (release.items.last_mut(), line.strip_prefix("  ")) {
                item.push(' ');
                item.push_str(more);
            }
        }
    }
    releases.into_iter().flatten().collect()
}

fn read_version(text: &str) -> Option<Version> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\nAbout.\n\n## [Unreleased]\n\n### In short\n\n- Not yet.\n\n## [0.10.0] - 2027-02-01\n\n\
        ### In short\n\n- Ten has\n  two lines.\n- Second.\n\n### Added\n\n- Long.\n\n## [0.9.1] - 2027-01-02\n\n### Fixed\n\n- A bug.\n\n\
        ## [0.9.0] - 2027-01-01\n\n### In short\n\n- Nine.\n";

    fn items(seen: &str, running: &str) -> Vec<String> {
        let news = news_since(&parse(CHANGELOG), seen, running);
        news.map_or(Vec::new(), |news| news.items)
    }

    #[test]
    fn news_are_those_between_two_versions() {
        assert_eq!(items("0.9.0", "0.10.0"), ["Ten has two lines.", "Second."]);
        assert_eq!(
            items("0.8.7", "0.10.0"),
            ["Ten has two lines.", "Second.", "Nine."]
        );
        assert_eq!(items("0.8.7", "0.9.1"), ["Nine."]);
        assert_eq!(items("0.10.0", "0.10.0"), [""; 0]);
        assert_eq!(items("0.9.0", "0.9.1"), [""; 0]);
        assert_eq!(items("1.0.0", "0.10.0"), [""; 0], "an earlier version runs again");
        assert_eq!(items("damaged", "0.10.0"), [""; 0]);
    }

    #[test]
    fn versions_have_three_numbers() {
        assert_eq!(read_version("0.10.2"), Some([0, 10, 2]));
        for text in ["", "1", "1.2", "1.2.3.4", "1.2.x", "-1.2.3", "1.2.99999999999"] {
            assert_eq!(read_version(text), None, "{text}");
        }
    }

    #[test]
    fn every_release_has_short_plain_news() {
        assert_eq!(
            RELEASES.first().map(|release| release.version),
            read_version(RUNNING)
        );
        let named_as_next = include_str!("../../CHANGELOG.md").replacen("[Unreleased]", "[9999.0.0]", 1);
        for Release { version, items } in parse(&named_as_next) {
            assert!((1..=6).contains(&items.len()), "{version:?}: {items:?}");
            for item in items {
                let is_plain = !item.contains(['`', '*', '[', '<']) && item.chars().count() <= 120;
                assert!(is_plain && item.ends_with('.'), "{version:?}: {item}");
            }
        }
    }
}
