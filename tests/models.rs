//! The registry of models, over HTTP against scripted servers.

use futures::StreamExt;
use parlor_model::{ModelEvent, ModelMessage, ModelRequest};
use parlor_protocol::model_list::ModelList;
use parlor_providers::{EndpointConfig, Models, ModelsConfig};
use serde_json::json;
use tokio::time::{self, Duration};
use upstream::Upstream;

fn endpoint(name: &str, upstream: &Upstream) -> EndpointConfig {
    EndpointConfig {
        base_url_source: "SOME_URL".into(),
        ..EndpointConfig::new(name, upstream.url())
    }
}

fn model_ids(list: &ModelList) -> Vec<&str> {
    list.models.iter().map(|model| model.id.as_str()).collect()
}

fn problem_codes(list: &ModelList) -> Vec<&str> {
    list.problems
        .iter()
        .map(|problem| problem.code.as_str())
        .collect()
}

async fn upstream_with_models(models: &[&str]) -> Upstream {
    let upstream = Upstream::start().await;
    let data: Vec<_> = models.iter().map(|id| json!({"id": id})).collect();
    upstream.list_models(200, json!({"data": data}));
    upstream
}

#[tokio::test]
async fn lists_models_and_reports_failing_endpoints() {
    let (one, two, locked, dead) = (
        upstream_with_models(&["a", "vendor/b"]).await,
        upstream_with_models(&["c"]).await,
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
    assert_eq!(model_ids(&list), ["one/a", "one/vendor/b", "two/c"]);
    assert_eq!(list.default.as_deref(), Some("one/a"));
    assert_eq!(
        problem_codes(&list),
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
async fn configured_default_model_is_used() {
    let one = upstream_with_models(&["a", "b"]).await;
    let config = ModelsConfig {
        endpoints: vec![endpoint("one", &one)],
        default_model: Some("one/b".into()),
        ..ModelsConfig::default()
    };
    assert_eq!(Models::new(config).list().await.default.as_deref(), Some("one/b"));
}

#[tokio::test]
async fn configured_models_replace_an_empty_list() {
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
    assert_eq!(model_ids(&models.list().await), ["one/z", "one/a"]);
}

#[tokio::test]
async fn concurrent_list_requests_share_one_call() {
    let one = upstream_with_models(&["a"]).await;
    let models = Models::new(ModelsConfig {
        endpoints: vec![endpoint("one", &one)],
        ..ModelsConfig::default()
    });
    let lists = futures::future::join_all((0..20).map(|_| models.list())).await;
    assert!(lists.iter().all(|list| model_ids(list) == ["one/a"]));
    models.list().await;
    assert_eq!(one.requests().len(), 1);
}

#[tokio::test]
async fn respects_retry_after() {
    let busy = Upstream::start().await;
    let body = json!({"error": {"message": "slow down"}});
    busy.list_models_with(429, body, &[("retry-after", "20")]);
    let models = Models::new(ModelsConfig {
        endpoints: vec![endpoint("busy", &busy)],
        ..ModelsConfig::default()
    });
    assert_eq!(problem_codes(&models.list().await), ["rate_limited"]);
    let later = async |seconds| {
        time::pause();
        time::advance(Duration::from_secs(seconds)).await;
        time::resume();
        while problem_codes(&models.list().await) == ["rate_limited"] && seconds > 10 {
            tokio::task::yield_now().await;
        }
    };
    // The list expires after a few seconds and is loaded again, without that server.
    later(5).await;
    models.context_window("busy/any").await;
    assert_eq!(problem_codes(&models.list().await), ["rate_limited"]);
    let lists = busy
        .requests()
        .into_iter()
        .filter(|request| request.path == "/v1/models");
    assert_eq!(lists.count(), 1);
    busy.list_models(200, json!({"data": [{"id": "a"}]}));
    later(20).await;
    assert_eq!(model_ids(&models.list().await), ["busy/a"]);
}

#[tokio::test]
async fn explains_why_no_model_is_available() {
    let locked = Upstream::start().await;
    locked.require_key("k");
    let models = Models::new(ModelsConfig {
        endpoints: vec![endpoint("locked", &locked)],
        ..ModelsConfig::default()
    });
    let list = models.list().await;
    assert_eq!((model_ids(&list), list.default.clone()), (vec![], None));
    assert_eq!(models.resolve("").unwrap_err().error.code, "key_missing");
}

#[tokio::test]
async fn late_server_replaces_the_tour() {
    let later = upstream_with_models(&["smol"]).await;
    let (address, url) = (later.address(), later.url());
    later.stop().await;
    let config = ModelsConfig {
        candidates: vec![EndpointConfig::new("ollama", url)],
        ..ModelsConfig::default()
    };
    let models = Models::new(config);
    let list = models.list().await;
    assert_eq!(
        (model_ids(&list), problem_codes(&list)),
        (vec!["parlor/tour"], vec![])
    );

    let later = Upstream::listen(address.port(), None).await.unwrap();
    later.list_models(200, json!({"data": [{"id": "smol"}]}));
    assert_eq!(
        model_ids(&models.list().await),
        ["parlor/tour"],
        "it is not asked each time"
    );
    // The list expires after a few seconds and is loaded again.
    time::pause();
    time::advance(Duration::from_secs(4)).await;
    time::resume();
    // A client with an old list waits for the new one, up to a short timeout.
    let found = async {
        while model_ids(&models.list().await) != ["ollama/smol"] {
            tokio::task::yield_now().await;
        }
    };
    time::timeout(Duration::from_secs(20), found).await.unwrap();
    assert_eq!(models.list().await.default.as_deref(), Some("ollama/smol"));
}

/// Returns the list of models when only this candidate can be discovered.
async fn discover(candidate: EndpointConfig) -> ModelList {
    let config = ModelsConfig {
        candidates: vec![candidate],
        ..ModelsConfig::default()
    };
    Models::new(config).list().await
}

#[tokio::test]
async fn ignores_candidates_that_are_no_model_server() {
    let other = Upstream::start().await;
    other.list_models(404, json!("Not found"));
    let list = discover(EndpointConfig::new("other", other.url())).await;
    assert_eq!(
        (model_ids(&list), problem_codes(&list)),
        (vec!["parlor/tour"], vec![])
    );
}

/// Runs on a paused clock, which advances to the next timer whatever the load of this machine is.
#[tokio::test(start_paused = true)]
async fn silent_candidate_times_out_quickly() {
    // It accepts connections and never responds.
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mute = EndpointConfig::new("mute", format!("http://{}/v1", mute.local_addr().unwrap()));
    let start = time::Instant::now();
    let list = discover(mute).await;
    assert_eq!(
        (model_ids(&list), problem_codes(&list)),
        (vec!["parlor/tour"], vec![])
    );
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test]
async fn tour_states_that_it_is_scripted() {
    let models = Models::new(ModelsConfig::default());
    let list = models.list().await;
    assert_eq!(list.default.as_deref(), Some("parlor/tour"));
    assert_eq!(list.models[0].name, "Tour (a script, not a model)");
    let request = ModelRequest::new("parlor/tour", vec![ModelMessage::User("Hello".into())]);
    let mut stream = models.call(&request).await.unwrap();
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Thinking(_)))));
}
