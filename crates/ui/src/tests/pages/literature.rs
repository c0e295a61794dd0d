//! The data of the page *Literature*.

use super::NOW;
use parlor_protocol::{
    Position,
    draft::DraftList,
    literature::{
        Article, ArticleSearchResults, ArticleSort, ArticleWithAbstract, Category, Library,
        LiteraturePageData, ResearchStream, SavedArticle, SchemaField, SchemaFieldType,
    },
};

/// The stream of the library.
pub const STREAM_ID: &str = "0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000";

/// The library, the found articles and an opened one.
pub fn opened(text: &str) -> LiteraturePageData {
    let article = || Article {
        pmid: "11".into(),
        title: text.into(),
        authors: vec![text.into()],
        journal: text.into(),
        published: text.into(),
        doi: Some(text.into()),
    };
    LiteraturePageData {
        library: Ok(Library {
            as_of: Position(9),
            articles: vec![SavedArticle {
                article: article(),
                note: text.into(),
                saved_at: NOW,
            }],
            streams: vec![ResearchStream {
                name: text.into(),
                purpose: text.into(),
                query: text.into(),
                instructions: text.into(),
                schema: DraftList(vec![SchemaField {
                    name: text.into(),
                    question: text.into(),
                    kind: SchemaFieldType::Number,
                }]),
                categories: DraftList(vec![Category {
                    name: text.into(),
                    description: text.into(),
                }]),
                ..ResearchStream::new(STREAM_ID.parse().expect("an id"))
            }],
            no_search: Some(text.into()),
        }),
        found: Some(Ok(ArticleSearchResults {
            query: text.into(),
            sort: ArticleSort::Relevance,
            page: 1,
            pages: 2,
            total: 21,
            articles: vec![article()],
        })),
        article: Some(Ok(ArticleWithAbstract {
            article: article(),
            abstract_text: vec![text.into()],
            problem: Some(text.into()),
            full_text: vec![text.into()],
        })),
    }
}
