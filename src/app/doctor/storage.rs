//! The place of all data and that of the contents of files.

use std::{error::Error, time::Duration};

use parlor_base::settings::{FileStore, Settings};
use parlor_files::check_bucket;
use parlor_storage::postgres::PostgresDatabase;
use parlor_web::http_client::causes::causes;
use tokio::time::timeout;

use super::{Finding, machine};

/// The longest wait for an answer of either.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

pub async fn check(settings: &Settings) -> [Finding; 2] {
    let (database, files) = tokio::join!(database(settings), files(settings));
    [database, files]
}

async fn database(settings: &Settings) -> Finding {
    const SUBJECT: &str = "Storage";
    const MEND: &str =
        "Look at database.url, and whether the server runs and lets Parlor's role in (docs/postgres.md).";
    let Some(database) = PostgresDatabase::of_settings(settings) else {
        return Finding::works(SUBJECT, "SQLite, in the data folder.");
    };
    match timeout(ANSWER_TIMEOUT, database.check()).await {
        Ok(Ok(version)) => Finding::works(SUBJECT, format!("Postgres {version} answers.")),
        Ok(Err(error)) => Finding::fails(SUBJECT, with_causes(&error), MEND),
        Err(_) => Finding::fails(SUBJECT, "The Postgres server does not answer.", MEND),
    }
}

async fn files(settings: &Settings) -> Finding {
    const SUBJECT: &str = "Files";
    match &settings.files.store {
        None => Finding::works(SUBJECT, "In the data folder."),
        Some(FileStore::Database) => Finding::works(SUBJECT, "In the database."),
        Some(FileStore::Folder(folder)) => machine::shared_folder(SUBJECT, folder.as_ref()),
        Some(FileStore::Objects(url)) => {
            let mend = "Look at files.store, the variables AWS_…, and the rights of the key in the bucket (docs/postgres.md).";
            match timeout(ANSWER_TIMEOUT, check_bucket(url)).await {
                Ok(Ok(())) => Finding::works(SUBJECT, format!("In the bucket {url}, which answers.")),
                Ok(Err(error)) => Finding::fails(SUBJECT, with_causes(&error), mend),
                Err(_) => Finding::fails(SUBJECT, format!("The server of {url} does not answer."), mend),
            }
        }
    }
}

/// An error and its causes, as a sentence.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error) {
        let words = cause.to_string();
        // Many errors repeat their cause.
        if text.contains(&words) {
            continue;
        }
        if !text.is_empty() {
            text += ": ";
        }
        text += &words;
    }
    text += ".";
    text
}
