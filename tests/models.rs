//! The registry of models, over HTTP against scripted servers.

use futures::StreamExt;
use parlor::{
    model::{ModelEvent, ModelMessage, ModelRequest},
    protocol::chat::ModelList,
    providers::{EndpointConfig, Models, ModelsConfig},
};
use serde_json::json;
use tokio::time::{self, Duration};
use upstream::Upstream;

fn endpoint(name: &str, upstream: &Upstream) -> EndpointConfig {
    EndpointConfig {
        base_url_source: "SOME_URL".into(),
        ..EndpointConfig::new(name, upstream.url())
    }
}

fn ids(list: &ModelList) -> Vec<&str> {
    list.models.iter().map(|model| model.id.as_str()).collect()
}

fn codes(list: &ModelList) -> Vec<&str> {
    list.problems
        .iter()
        .map(|problem| problem.code.as_str())
        .collect()
}

async fn with_models(models: &[&str]) -> Upstream {
    let upstream = Upstream::start().await;
    let data: Vec<_> = models.iter().map(|id| json!({"id": id})).collect();
    upstream.list_models(200, json!({"data": data}));
    upstream
}

#[tokio::test]
async fn all_endpoints_list_their_models_and_one_that_cannot_is_a_problem() {
    let (one, two, locked, dead) = (
        with_models(&["a", "vendor/b"]).await,
        with_models(&["c"]).await,
        Upstream::start().await,
        Upstream::start().await,
    );
    locked.require_key("k");
    let mut endpoints: Vec<EndpointConfig> =
        [("one", &one), ("two", &two), ("locked", &locked), ("dead", &dead)]
            .map(|(name, upstream)| endpoint(name, upstream))
            .into();
    endpoints.push(EndpointConfig::new("odd", "not an address"));
    endpoints.push(endpoint("two", &one));
    dead.stop().await;
    let models = Models::new(ModelsConfig {
        endpoints,
        ..ModelsConfig::default()
    });

    let list = models.list().await;
    assert_eq!(ids(&list), ["one/a", "one/vendor/b", "two/c"]);
    assert_eq!(list.default.as_deref(), Some("one/a"));
    assert_eq!(
        codes(&list),
        [
            "settings_invalid",
            "settings_invalid",
            "key_missing",
            "endpoint_unreachable"
        ]
    );

    let (found, model) = models.resolve("one/vendor/b").unwrap();
    assert_eq!((found.name(), model.as_str()), ("one", "vendor/b"));
    let (found, model) = models.resolve("").unwrap();
    assert_eq!((found.name(), model.as_str()), ("one", "a"));
    for (id, code) in [
        ("nowhere/a", "model_unknown"),
        ("one", "model_unknown"),
        ("odd/a", "settings_invalid"),
    ] {
        assert_eq!(models.resolve(id).unwrap_err().error.code, code, "{id}");
    }
}

#[tokio::test]
async fn the_default_is_the_one_that_is_set() {
    let one = with_models(&["a", "b"]).await;
    let config = ModelsConfig {
        endpoints: vec![endpoint("one", &one)],
        default_model: Some("one/b".into()),
        ..ModelsConfig::default()
    };
    assert_eq!(Models::new(config).list().await.default.as_deref(), Some("one/b"));
}

#[tokio::test]
async fn an_endpoint_that_lists_nothing_can_have_its_models_named() {
    let one = Upstream::start().await;
    one.list_models(404, json!({}));
    let config = EndpointConfig {
        models: vec!["z".into(), "a".into()],
        ..endpoint("one", &one)
    };
    let models = Models::new(ModelsConfig {
        endpoints: vec![config],
        ..ModelsConfig::default()
    });
    assert_eq!(ids(&models.list().await), ["one/z", "one/a"]);
}

#[tokio::test]
async fn the_endpoints_are_asked_once_for_all_who_want_the_list() {
    let one = with_models(&["a"]).await;
    let models = Models::new(ModelsConfig {
        endpoints: vec![endpoint("one", &one)],
        ..ModelsConfig::default()
    });
    let lists = futures::future::join_all((0..20).map(|_| models.list())).await;
    assert!(lists.iter().all(|list| ids(list) == ["one/a"]));
    models.list().await;
    assert_eq!(one.requests().len(), 1);
}

#[tokio::test]
async fn a_server_that_says_retry_after_is_left_alone() {
    let busy = Upstream::start().await;
    let body = json!({"error": {"message": "slow down"}});
    busy.list_models_with(429, body, &[("retry-after", "20")]);
    let models = Models::new(ModelsConfig {
        endpoints: vec![endpoint("busy", &busy)],
        ..ModelsConfig::default()
    });
    assert_eq!(codes(&models.list().await), ["rate_limited"]);
    let later = async |seconds| {
        time::pause();
        time::advance(Duration::from_secs(seconds)).await;
        time::resume();
        while codes(&models.list().await) == ["rate_limited"] && seconds > 10 {
            tokio::task::yield_now().await;
        }
    };
    // The list is made anew after a few seconds, without that server.
    later(5).await;
    models.context_window("busy/any").await;
    assert_eq!(codes(&models.list().await), ["rate_limited"]);
    let lists = busy
        .requests()
        .into_iter()
        .filter(|request| request.path == "/v1/models");
    assert_eq!(lists.count(), 1);
    busy.list_models(200, json!({"data": [{"id": "a"}]}));
    later(20).await;
    assert_eq!(ids(&models.list().await), ["busy/a"]);
}

#[tokio::test]
async fn without_a_model_to_choose_the_reason_is_the_error() {
    let locked = Upstream::start().await;
    locked.require_key("k");
    let models = Models::new(ModelsConfig {
        endpoints: vec![endpoint("locked", &locked)],
        ..ModelsConfig::default()
    });
    let list = models.list().await;
    assert_eq!((ids(&list), list.default.clone()), (vec![], None));
    assert_eq!(models.resolve("").unwrap_err().error.code, "key_missing");
}

#[tokio::test]
async fn a_server_that_is_started_later_is_found_and_the_tour_makes_room_for_it() {
    let later = with_models(&["smol"]).await;
    let (address, url) = (later.address(), later.url());
    later.stop().await;
    let config = ModelsConfig {
        candidates: vec![EndpointConfig::new("ollama", url)],
        ..ModelsConfig::default()
    };
    let models = Models::new(config);
    let list = models.list().await;
    assert_eq!((ids(&list), codes(&list)), (vec!["parlor/tour"], vec![]));

    let later = Upstream::listen(address.port(), None).await.unwrap();
    later.list_models(200, json!({"data": [{"id": "smol"}]}));
    assert_eq!(
        ids(&models.list().await),
        ["parlor/tour"],
        "it is not asked each time"
    );
    // The list is made anew after a few seconds.
    time::pause();
    time::advance(Duration::from_secs(4)).await;
    time::resume();
    // Who has an old one waits for the new one, but not for long.
    let found = async {
        while ids(&models.list().await) != ["ollama/smol"] {
            tokio::task::yield_now().await;
        }
    };
    time::timeout(Duration::from_secs(20), found).await.unwrap();
    assert_eq!(models.list().await.default.as_deref(), Some("ollama/smol"));
}

/// What is listed with only this to be found.
async fn found_with(candidate: EndpointConfig) -> ModelList {
    let config = ModelsConfig {
        candidates: vec![candidate],
        ..ModelsConfig::default()
    };
    Models::new(config).list().await
}

#[tokio::test]
async fn a_candidate_that_is_no_model_server_is_not_found() {
    let other = Upstream::start().await;
    other.list_models(404, json!("Not found"));
    let list = found_with(EndpointConfig::new("other", other.url())).await;
    assert_eq!((ids(&list), codes(&list)), (vec!["parlor/tour"], vec![]));
}

/// On a clock of its own, which goes on to what is waited for next, whatever else this machine does.
#[tokio::test(start_paused = true)]
async fn a_candidate_that_says_nothing_is_not_waited_for_long() {
    // It listens, and never answers.
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mute = EndpointConfig::new("mute", format!("http://{}/v1", mute.local_addr().unwrap()));
    let start = time::Instant::now();
    let list = found_with(mute).await;
    assert_eq!((ids(&list), codes(&list)), (vec!["parlor/tour"], vec![]));
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test]
async fn the_tour_answers_and_says_that_it_is_a_script() {
    let models = Models::new(ModelsConfig::default());
    let list = models.list().await;
    assert_eq!(list.default.as_deref(), Some("parlor/tour"));
    assert_eq!(list.models[0].name, "Tour (a script, not a model)");
    let request = ModelRequest::new("parlor/tour", vec![ModelMessage::User("Hello".into())]);
    let mut stream = models.call(&request).await.unwrap();
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Thinking(_)))));
}
