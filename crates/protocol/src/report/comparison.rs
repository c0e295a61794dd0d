//! The differences between two reports of a stream. Only relevant articles count.

use serde::{Deserialize, Serialize};

use super::{Report, ReportArticle};

/// The differences of a report from an earlier one of the same stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The PMIDs of the articles that were not in the earlier one, in the order of the report.
    pub new: Vec<String>,
    /// The articles that are in another category now, in the order of the report.
    pub moved: Vec<Moved>,
    /// The articles that only the earlier one has, in its order.
    pub gone: Vec<Gone>,
}

/// An article that is in another category than in the earlier report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub pmid: String,
    /// The category in the earlier report; missing if it had none.
    pub from: Option<String>,
}

/// An article of the earlier report that is not in the later one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    pub pmid: String,
    pub title: String,
}

impl Comparison {
    /// Compares two reports.
    pub fn between(earlier: &Report, later: &Report) -> Self {
        let mut comparison = Self::default();
        for article in later.relevant() {
            let pmid = &article.article.pmid;
            match relevant(earlier, pmid) {
                None => comparison.new.push(pmid.clone()),
                Some(before) if before.category != article.category => comparison.moved.push(Moved {
                    pmid: pmid.clone(),
                    from: before.category.clone(),
                }),
                Some(_) => {}
            }
        }
        let gone = earlier
            .relevant()
            .filter(|article| relevant(later, &article.article.pmid).is_none());
        comparison.gone = gone
            .map(|article| Gone {
                pmid: article.article.pmid.clone(),
                title: article.article.title.clone(),
            })
            .collect();
        comparison
    }

    /// Returns true if the reports have the same articles in the same categories.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.moved.is_empty() && self.gone.is_empty()
    }

    pub fn is_new(&self, pmid: &str) -> bool {
        self.new.iter().any(|new| new == pmid)
    }

    /// Returns the move of an article to another category.
    pub fn moved(&self, pmid: &str) -> Option<&Moved> {
        self.moved.iter().find(|moved| moved.pmid == pmid)
    }
}

fn relevant<'a>(report: &'a Report, pmid: &str) -> Option<&'a ReportArticle> {
    report.article(pmid).filter(|article| article.is_relevant())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ResearchStreamId,
        literature::Article,
        report::{Relevance, Report},
    };

    fn report(articles: &[(&str, Option<&str>, bool)]) -> Report {
        let articles = articles
            .iter()
            .map(|(pmid, category, is_relevant)| ReportArticle {
                article: Article {
                    pmid: (*pmid).into(),
                    title: format!("Title {pmid}"),
                    ..Article::default()
                },
                retracted: false,
                relevance: match is_relevant {
                    true => Relevance::Relevant {
                        reason: String::new(),
                    },
                    false => Relevance::NotRelevant {
                        reason: String::new(),
                    },
                },
                category: category.map(str::to_owned),
                cells: Vec::new(),
                problem: None,
                text: Vec::new(),
            });
        Report {
            stream_id: ResearchStreamId::new(),
            name: String::new(),
            query: String::new(),
            found: 0,
            articles: articles.collect(),
            summary: Vec::new(),
            summary_problem: None,
            unsupported: 0,
        }
    }

    #[test]
    fn compares_relevant_articles_and_their_categories() {
        let earlier = report(&[
            ("1", Some("A"), true),
            ("2", None, true),
            ("3", None, false),
            ("4", None, true),
        ]);
        let later = report(&[
            ("3", None, true),
            ("1", Some("B"), true),
            ("2", None, true),
            ("4", None, false),
        ]);
        let comparison = Comparison::between(&earlier, &later);
        let expected = Comparison {
            new: vec!["3".into()],
            moved: vec![Moved {
                pmid: "1".into(),
                from: Some("A".into()),
            }],
            gone: vec![Gone {
                pmid: "4".into(),
                title: "Title 4".into(),
            }],
        };
        assert_eq!(comparison, expected);
        assert!(Comparison::between(&later, &later).is_empty());
    }
}
