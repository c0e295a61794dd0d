use super::{ModelMatch::*, *};

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// Resolves a name among two endpoints with complete lists, one with an incomplete list, and one without.
fn resolved(name: &str) -> ModelMatch {
    let a = ids(&["one", "both", "meta-llama/Llama-3", "b/three", "smol:latest"]);
    let b = ids(&["two", "both", "qwen:7b"]);
    let gemini = ids(&["models/gemini-2.5-flash"]);
    let router = ids(&["deepseek/deepseek-r1", "x-ai/grok:free", "qwen"]);
    let native = ids(&["gemini-3-pro"]);
    let open = ids(&["open"]);
    let catalogue = |endpoint, listed, is_whole| KnownModels {
        endpoint,
        listed,
        is_complete: is_whole,
    };
    resolve_name(
        name,
        &[
            catalogue("a", Some(&a), true),
            catalogue("b", Some(&b), true),
            catalogue("gemini", Some(&gemini), true),
            catalogue("google", Some(&native), true),
            catalogue("router", Some(&router), true),
            catalogue("open", Some(&open), false),
            catalogue("silent", None, true),
            catalogue("empty", Some(&[]), true),
        ],
    )
}

#[test]
fn resolves_full_names() {
    assert_eq!(resolved("a/both"), Listed("a/both".into()));
    assert_eq!(
        resolved("a/meta-llama/Llama-3"),
        Listed("a/meta-llama/Llama-3".into())
    );
    assert_eq!(resolved("b/one"), NotListed { endpoint: "b".into() });
    assert_eq!(resolved("nowhere/one"), Unknown);
}

#[test]
fn resolves_a_unique_bare_id() {
    assert_eq!(resolved("one"), Listed("a/one".into()));
    assert_eq!(resolved("open"), Listed("open/open".into()));
    assert_eq!(
        resolved("meta-llama/Llama-3"),
        Listed("a/meta-llama/Llama-3".into())
    );
    assert_eq!(resolved("nosuch"), Unknown);
    for none in ["a", "a/", "/one", "/"] {
        assert!(
            matches!(resolved(none), Unknown | NotListed { .. }),
            "{none}: {:?}",
            resolved(none)
        );
    }
}

#[test]
fn rejects_ids_of_several_endpoints() {
    assert_eq!(resolved("both"), Ambiguous(ids(&["a/both", "b/both"])));
}

#[test]
fn accepts_unlisted_models_with_incomplete_lists() {
    for name in ["open/alias", "silent/any", "empty/any"] {
        assert_eq!(resolved(name), Unlisted(name.into()));
    }
}

#[test]
fn endpoint_name_wins_over_id_prefix() {
    // Only if that endpoint can have it: “three” is not one of b's models.
    assert_eq!(resolved("b/three"), Listed("a/b/three".into()));
    assert_eq!(resolved("b/two"), Listed("b/two".into()));
}

#[test]
fn accepts_names_without_ollama_tag() {
    assert_eq!(resolved("a/smol"), Listed("a/smol:latest".into()));
    assert_eq!(resolved("smol"), Listed("a/smol:latest".into()));
}

#[test]
fn accepts_ids_without_the_list_prefix() {
    for name in [
        "gemini-2.5-flash",
        "gemini/gemini-2.5-flash",
        "models/gemini-2.5-flash",
        "gemini/models/gemini-2.5-flash",
    ] {
        assert_eq!(
            resolved(name),
            Listed("gemini/models/gemini-2.5-flash".into()),
            "{name}"
        );
    }
    for name in ["google/models/gemini-3-pro", "models/gemini-3-pro"] {
        assert_eq!(resolved(name), Listed("google/gemini-3-pro".into()), "{name}");
    }
    assert_eq!(resolved("gemini-2.5"), Unknown);
}

#[test]
fn accepts_variants_of_listed_models() {
    for variant in ["free", "nitro", "online", "floor"] {
        let name = format!("deepseek/deepseek-r1:{variant}");
        let whole = format!("router/{name}");
        assert_eq!(resolved(&name), Listed(whole.clone()));
        assert_eq!(resolved(&whole), Listed(whole.clone()));
    }
    assert_eq!(resolved("x-ai/grok:free"), Listed("router/x-ai/grok:free".into()));
    for none in [
        "x-ai/grok:nitro",
        "deepseek/deepseek-r1:",
        "deepseek/other:nitro",
        "smol:135m",
    ] {
        assert_eq!(resolved(none), Unknown, "{none}");
    }
    // An exactly listed model takes precedence.
    assert_eq!(resolved("qwen:7b"), Listed("b/qwen:7b".into()));
}
