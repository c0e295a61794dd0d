//! Pages of a model in frames.

use reqwest::{RequestBuilder, Response};
use upstream::Script;

use crate::support::{Parlor, parlor_answering};

fn post(parlor: &Parlor, form: &str) -> RequestBuilder {
    let request = parlor.client.post(format!("{}/frame", parlor.url));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.body(form.to_owned())
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers()[name].to_str().unwrap()
}

#[tokio::test]
async fn framed_page_has_no_origin_and_no_network() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let form = "page=%3Cp%3E%C3%A9%3C/p%3E%3Clink+rel%3Dpreconnect%3E";
    let response = post(&parlor, form).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let policy = header(&response, "content-security-policy").to_owned();
    assert!(policy.starts_with("sandbox; default-src 'none'; "), "{policy}");
    assert!(policy.contains("frame-ancestors 'self'"), "{policy}");
    assert!(
        !policy.contains("allow-") && !policy.contains("script-src"),
        "{policy}"
    );
    assert_eq!(header(&response, "x-frame-options"), "SAMEORIGIN");
    assert_eq!(header(&response, "content-type"), "text/html; charset=utf-8");
    assert_eq!(header(&response, "cache-control"), "no-store");
    assert_eq!(header(&response, "referrer-policy"), "no-referrer");
    assert_eq!(header(&response, "x-content-type-options"), "nosniff");
    assert_eq!(header(&response, "connection-allowlist"), "();webrtc=block");
    assert_eq!(response.text().await.unwrap(), "<p>é</p><x-link rel=preconnect>");
}

/// The directives of a policy that name what is allowed, without those of every frame.
fn scripts_of(policy: &str) -> Vec<&str> {
    let is_script = |part: &&str| part.starts_with("sandbox") || part.starts_with("script-src");
    policy.split("; ").filter(is_script).collect()
}

#[tokio::test]
async fn page_with_scripts_has_guard_without_origin() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let form = "kind=scripts&page=%3C!DOCTYPE+html%3E%3Cscript%3Ea()%3C/script%3E";
    let response = post(&parlor, form).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let policy = header(&response, "content-security-policy").to_owned();
    assert_eq!(
        scripts_of(&policy),
        ["sandbox allow-scripts", "script-src 'unsafe-inline'"]
    );
    for part in [
        "default-src 'none';",
        "form-action 'none';",
        "worker-src 'none';",
        "require-trusted-types-for 'script';",
    ] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    let sources = policy.replace("frame-ancestors 'self'", "");
    assert!(!sources.contains("http") && !sources.contains("'self'") && !sources.contains("eval"));
    assert_eq!(header(&response, "connection-allowlist"), "();webrtc=block");
    let text = response.text().await.unwrap();
    let (guard, page) = text.split_once("})();").unwrap();
    assert!(guard.starts_with("<!DOCTYPE html><script>"), "{guard}");
    assert!(
        page.ends_with("</script><!DOCTYPE html><script>a()</script>"),
        "{page}"
    );
}

#[tokio::test]
async fn frame_of_diagrams_runs_only_our_scripts() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let response = post(&parlor, "kind=diagrams&page=%3Cscript%3Ea()%3C/script%3E")
        .send()
        .await
        .unwrap();
    let policy = header(&response, "content-security-policy").to_owned();
    let text = response.text().await.unwrap();
    let [sandbox, scripts] = scripts_of(&policy)[..] else {
        panic!("{policy}");
    };
    assert_eq!(sandbox, "sandbox allow-scripts");
    let nonce = scripts
        .strip_prefix("script-src 'nonce-")
        .unwrap()
        .trim_end_matches('\'');
    assert!(nonce.len() >= 16 && !nonce.contains('\''), "{policy}");
    assert_eq!(text.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
    assert_eq!(text.matches("<script").count(), 2, "{text}");
}

#[tokio::test]
async fn only_parlors_page_fills_frames() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    for origin in ["http://evil.example", "null"] {
        let request = post(&parlor, "page=a").header("origin", origin);
        assert_eq!(request.send().await.unwrap().status(), 403, "{origin}");
    }
    assert_eq!(parlor.get("/frame").send().await.unwrap().status(), 405);
    let damaged = post(&parlor, "other=a").send().await.unwrap();
    assert_eq!(damaged.status(), 400);
    assert_eq!(header(&damaged, "x-frame-options"), "SAMEORIGIN");
    assert!(header(&damaged, "content-security-policy").starts_with("sandbox; default-src 'none'; "));
}

#[tokio::test]
async fn page_allows_frames_of_one_url() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    for path in ["/", "/literature"] {
        let response = parlor.get(path).send().await.unwrap();
        let host = parlor.url.strip_prefix("http://").unwrap();
        let expected = format!("frame-src {host}/frame;");
        let policy = header(&response, "content-security-policy");
        assert!(policy.contains(&expected), "{policy}");
    }
}

#[tokio::test]
async fn frame_of_charts_loads_nothing() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let response = post(&parlor, "kind=charts&page=%3Cscript%3Ea()%3C/script%3E")
        .send()
        .await
        .unwrap();
    let policy = header(&response, "content-security-policy").to_owned();
    let text = response.text().await.unwrap();
    let (_, nonce) = text.split_once("nonce=\"").unwrap();
    let nonce = nonce.split('"').next().unwrap();
    let script = format!("script-src 'nonce-{nonce}'");
    assert_eq!(scripts_of(&policy), ["sandbox allow-scripts", &*script]);
    for part in [
        "default-src 'none';",
        "img-src data: blob:;",
        "worker-src 'none';",
        "require-trusted-types-for 'script'; trusted-types default",
    ] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert!(!policy.contains("http") && !policy.contains("eval"), "{policy}");
    assert!(!text.contains("a()</script>"), "{text}");
}
