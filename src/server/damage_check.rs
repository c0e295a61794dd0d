//! The damage check after the start, and the notices about damaged or missing data.

use crate::app::AppState;
use parlor_base::notices::Notice;

/// Checks the database and adds a notice if it is damaged. Ends early when the server stops.
pub(super) async fn check_database(app: AppState) {
    if !app.settings.server.check_data {
        return;
    }
    let began = std::time::Instant::now();
    match app.storage.find_damage(app.shutdown.clone()).await {
        Ok(_) if app.shutdown.is_cancelled() => {}
        Ok(found) if found.is_empty() => {
            tracing::info!("no damage found in the database in {:.1?}", began.elapsed());
        }
        Ok(found) => {
            for damage in &found {
                tracing::error!(damage, "the database is damaged");
            }
            app.notices.add(damage_notice(&found));
        }
        Err(error) => tracing::warn!(%error, "the database could not be checked for damage"),
    }
}

fn damage_notice(found: &[String]) -> Notice {
    // SQLite names the database in a line above its findings.
    let mut lines = found.iter().flat_map(|damage| damage.lines());
    let first = lines.find(|line| !line.starts_with("***")).unwrap_or_default();
    Notice {
        title: "Parlor's database is damaged".into(),
        text: format!(
            "Parts of it can't be read ({first}). Everything readable is shown, and nothing was changed or deleted; answers that need the \
             damaged parts end with an error. Stop Parlor and copy its data folder; then restore a backup of parlor.db, or save the \
             readable data with: sqlite3 parlor.db .recover | sqlite3 saved.db. Parlor's log has the details."
        ),
    }
}

/// Returns the notice about a database that was empty among other files.
pub(super) fn missing_data_notice() -> Notice {
    Notice {
        title: "Parlor's database was empty or missing".into(),
        text: "The database (parlor.db, or that of database.url) was empty or missing, but other files show that it once had data. Parlor started \
               with an empty database; the other files were not changed. If your conversations are gone, stop Parlor and restore a backup of the database. The contents in the \
               folder files are kept until you delete the file keep-files next to it and start Parlor again."
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::damage_notice;

    #[test]
    fn the_notice_names_the_first_damage() {
        let found = ["*** in database main ***\nTree 2 page 7: btreeInitPage() returns error code 11".into()];
        let text = damage_notice(&found).text;
        assert!(text.contains("(Tree 2 page 7: btreeInitPage()"), "{text}");
    }
}
