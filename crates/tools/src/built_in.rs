//! Parlor's own tools, configured by the settings.

use std::sync::Arc;

use super::{
    ToolRegistry, any_tool,
    calculate::Calculate,
    current_time::CurrentTime,
    fetch_webpage::FetchWebpage,
    generate_image::GenerateImage,
    memory::{Forget, MemoryStore, Recall, Remember, RememberInProject},
    nothing_new::NothingNew,
    project_files::{ReadProjectFile, SearchProjectFiles},
    retrieve_file::RetrieveFile,
    search_conversations::SearchConversations,
    search_pubmed::SearchPubmed,
    web_search::WebSearch,
};
use parlor_base::settings::Settings;
use parlor_files::Files;
use parlor_journal::Journal;
use parlor_providers::Models;
use parlor_storage::Storage;
use parlor_web::services::pubmed::PubmedClient;

/// Returns all usable tools, without those that lack a setting or that the settings disable.
pub fn built_in(
    settings: &Settings,
    storage: Arc<dyn Storage>,
    journal: Journal,
    files: Files,
    models: Arc<Models>,
    pubmed: Option<Arc<PubmedClient>>,
) -> ToolRegistry {
    let tools = &settings.tools;
    let web_search = tools.web_search.as_ref().and_then(WebSearch::new);
    let retrieve_file = RetrieveFile::new(storage.clone(), files.clone());
    let read_project_file = ReadProjectFile {
        storage: storage.clone(),
        files: files.clone(),
    };
    let search_project_files = SearchProjectFiles {
        storage: storage.clone(),
        files: files.clone(),
    };
    let generate_image = GenerateImage::new(
        storage.clone(),
        files,
        models,
        &settings.images,
        &tools.fetch_webpage,
    );
    let search_conversations = SearchConversations(storage.clone());
    let memories = MemoryStore::new(storage, journal, &settings.limits, &settings.projects);
    let project_memories = memories.clone();
    let fetch_webpage = FetchWebpage::new(&tools.fetch_webpage);
    ToolRegistry::default()
        .with_tool(CurrentTime)
        .with_tool(Calculate)
        .with_optional_tool(fetch_webpage)
        .with_optional_tool(web_search)
        .with_optional_tool(pubmed.map(SearchPubmed::new))
        .with_tool(Remember(memories.clone()))
        .with_tool(Recall(memories.clone()))
        .with_tool(Forget(memories))
        // Offered only in conversations with files, in projects, in those with files, with an image model, to those who have switched it
        // on, and to schedules.
        .with_scoped_tools(vec![
            any_tool(retrieve_file),
            any_tool(read_project_file),
            any_tool(search_project_files),
            any_tool(RememberInProject(project_memories)),
            any_tool(generate_image),
            any_tool(search_conversations),
            any_tool(NothingNew),
        ])
        .without_tools(&tools.disabled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_base::settings::{SearchEngine, Secret, WebSearchSettings};
    use parlor_journal::hub::Hub;
    use parlor_providers::ModelsConfig;
    use parlor_storage::sqlite::SqliteStorage;
    use parlor_web::services::pubmed;

    /// Returns the names of the tools that exist with these settings.
    async fn names(change: impl FnOnce(&mut Settings)) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let storage: Arc<dyn Storage> =
            Arc::new(SqliteStorage::open(folder.path()).await.expect("a new database"));
        let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
        let mut settings = Settings::default();
        // Not every machine has certificates.
        settings.tools.pubmed.base_url = "http://127.0.0.1:1/eutils".into();
        change(&mut settings);
        let pubmed = pubmed::connect(&settings, None).ok();
        let files =
            Files::open(folder.path(), storage.clone(), journal.clone(), &settings).expect("a folder");
        let models = Arc::new(Models::new(ModelsConfig::default()));
        built_in(&settings, storage, journal, files, models, pubmed)
            .offer()
            .names()
    }

    fn brave(key: Option<&str>) -> WebSearchSettings {
        WebSearchSettings {
            provider: SearchEngine::Brave,
            url: Some("http://127.0.0.1:1/search".into()),
            api_key_env: Some("BRAVE".into()),
            api_key: key.map(|key| Secret(key.into())),
        }
    }

    #[tokio::test]
    async fn web_search_needs_a_provider() {
        let all = [
            "current_time",
            "calculate",
            "fetch_webpage",
            "search_pubmed",
            "remember",
            "recall",
            "forget",
        ];
        assert_eq!(names(|_| {}).await, all);
        let without_key = |settings: &mut Settings| settings.tools.web_search = Some(brave(None));
        assert_eq!(names(without_key).await, all);
        let with_key = |settings: &mut Settings| settings.tools.web_search = Some(brave(Some("k")));
        assert!(names(with_key).await.contains(&"web_search".to_owned()));
    }

    #[tokio::test]
    async fn leaves_out_disabled_tools() {
        let disable = |settings: &mut Settings| {
            settings.tools.pubmed.enabled = false;
            settings.tools.disabled = vec![
                "remember".into(),
                "forget".into(),
                "fetch_webpage".into(),
                "telepathy".into(),
            ];
        };
        assert_eq!(names(disable).await, ["current_time", "calculate", "recall"]);
    }
}
