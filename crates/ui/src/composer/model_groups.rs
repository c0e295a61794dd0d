//! The groups of the list of models: the favourites, the last used ones, then those of each endpoint.

use super::texts;
use crate::state::{model_shortlist::ModelShortlist, models::by_endpoint};
use parlor_protocol::{
    model_list::{ModelInfo, ModelList},
    service_label,
};

/// The number of models from which on the last used ones stand first: of few models, all are seen at once.
const MIN_MODELS_WITH_LAST_USED: usize = 8;

/// Models below one heading, and the error of their endpoint if it could not be queried.
#[derive(Clone, PartialEq)]
pub(super) struct ModelGroup {
    pub title: String,
    /// True if its models are of several endpoints.
    pub is_mixed: bool,
    pub problem: Option<String>,
    /// The models, each with its place among all.
    pub models: Vec<(usize, ModelInfo)>,
}

/// Returns the groups of a list, also those of endpoints that have only a problem. Each model is in one group.
pub(super) fn model_groups(
    list: &ModelList,
    chosen: Option<&str>,
    shortlist: &ModelShortlist,
) -> Vec<ModelGroup> {
    let mut by_endpoint = by_endpoint(list, chosen);
    let mut take = |ids: &[String]| -> Vec<ModelInfo> {
        let taken = ids.iter().filter_map(|id| {
            by_endpoint.iter_mut().find_map(|(_, models)| {
                let at = models.iter().position(|model| model.id == *id)?;
                Some(models.remove(at))
            })
        });
        taken.collect()
    };
    let favourites = take(&shortlist.favourites);
    let last_used = match list.models.len() {
        MIN_MODELS_WITH_LAST_USED.. => take(&shortlist.last_used),
        _ => Vec::new(),
    };
    let mixed = [(texts::FAVOURITES, favourites), (texts::LAST_USED, last_used)];
    let mut at = 0..;
    let mut group = |title: String, is_mixed, models: Vec<ModelInfo>| ModelGroup {
        title,
        is_mixed,
        problem: None,
        models: at.by_ref().zip(models).collect(),
    };
    let mut groups: Vec<ModelGroup> = mixed
        .into_iter()
        .filter(|(_, models)| !models.is_empty())
        .map(|(title, models)| group(title.into(), true, models))
        .collect();
    groups.extend(
        by_endpoint
            .into_iter()
            .map(|(endpoint, models)| group(endpoint, false, models)),
    );
    for problem in &list.problems {
        let Some(endpoint) = &problem.endpoint else {
            continue;
        };
        let message = Some([&problem.message, " ", &problem.hint].concat());
        let of_endpoint = |group: &&mut ModelGroup| !group.is_mixed && group.title == *endpoint;
        match groups.iter_mut().find(of_endpoint) {
            Some(group) => group.problem = message,
            None => groups.push(ModelGroup {
                title: endpoint.clone(),
                is_mixed: false,
                problem: message,
                models: Vec::new(),
            }),
        }
    }
    groups
}

/// The name of an endpoint for people: a service by its name, others with the name that they were given here.
pub(super) fn endpoint_label(name: String) -> String {
    service_label(&name).map_or(name, str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{ModelCapabilities, RunError, model_list::ModelListProblem};

    fn list(ids: &[&str]) -> ModelList {
        let model = |id: &&str| {
            let (endpoint, name) = id.split_once('/').unwrap();
            ModelInfo {
                id: (*id).into(),
                name: name.into(),
                endpoint: endpoint.into(),
                capabilities: ModelCapabilities::default(),
            }
        };
        ModelList {
            models: ids.iter().map(model).collect(),
            ..ModelList::default()
        }
    }

    fn summary(groups: &[ModelGroup]) -> Vec<String> {
        let words = |group: &ModelGroup| {
            let models = group
                .models
                .iter()
                .map(|(place, model)| format!(" {place}:{}", model.id));
            let problem = group.problem.iter().map(|problem| format!(" ({problem})"));
            group.title.clone() + &models.chain(problem).collect::<String>()
        };
        groups.iter().map(words).collect()
    }

    #[test]
    fn groups_keep_endpoints_that_have_only_a_problem() {
        let error = |message: &str| RunError {
            code: "endpoint_unreachable".into(),
            message: message.into(),
            hint: "Start it.".into(),
        };
        let list = ModelList {
            problems: vec![
                ModelListProblem::of_endpoint("b", error("It is slow.")),
                ModelListProblem::of_endpoint("c", error("It is down.")),
                error("A setting is wrong.").into(),
            ],
            ..list(&["a/one", "b/two", "a/three"])
        };
        let groups = model_groups(&list, Some("a/one"), &ModelShortlist::default());
        assert_eq!(
            summary(&groups),
            [
                "a 0:a/one 1:a/three",
                "b 2:b/two (It is slow. Start it.)",
                "c (It is down. Start it.)",
            ]
        );
    }

    #[test]
    fn favourites_and_last_used_ones_come_first() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let shortlist = ModelShortlist {
            favourites: ids(&["b/4", "gone/1", "a/2"]),
            last_used: ids(&["a/3", "a/2"]),
        };
        let all = ["a/1", "a/2", "a/3", "b/4", "b/5", "b/6", "b/7", "b/8"];
        let groups = |all: &[&str]| summary(&model_groups(&list(all), None, &shortlist));
        assert_eq!(
            groups(&all),
            [
                "Favourites 0:b/4 1:a/2",
                "Last used 2:a/3",
                "a 3:a/1",
                "b 4:b/5 5:b/6 6:b/7 7:b/8",
            ]
        );
        assert_eq!(
            groups(&all[..4]),
            ["Favourites 0:b/4 1:a/2", "a 2:a/1 3:a/3", "b"]
        );
    }
}
