//! Diagrams, drawn by Mermaid in a frame without origin (`http::framed_page`), as SVG. The page has one such frame, made with
//! the first diagram. What it sends is shown as an image only.

use std::{cell::RefCell, collections::VecDeque};

use js_sys::{Object, Reflect};
use leptos::{
    prelude::{document, window},
    task::spawn_local,
};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlIFrameElement, MessageEvent, Response};

use super::{
    DrawFailure, FrameKind, Timer,
    frames::{are_paused, mark_run, restart_frames},
    random, set_timeout, show_in_frame, texts,
};

/// The time until the frame has Mermaid's script, in milliseconds.
const START_TIMEOUT_MS: f64 = 60_000.0;

/// The time until a diagram is drawn, in milliseconds. The frame of one that takes longer is removed.
const DRAW_TIMEOUT_MS: f64 = 15_000.0;

/// The maximum length of a drawn diagram, in UTF-16 code units.
const MAX_SVG_LENGTH: usize = 4 << 20;

type Done = Box<dyn FnOnce(Result<String, DrawFailure>)>;

struct Job {
    id: f64,
    source: String,
    is_dark: bool,
    done: Done,
}

#[derive(Default)]
struct DiagramRenderer {
    frame: Option<HtmlIFrameElement>,
    state: FrameState,
    /// The first one is being drawn, if the frame is ready.
    jobs: VecDeque<Job>,
    last_id: f64,
    deadline: Option<Timer>,
    is_listening: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum FrameState {
    /// The frame's page is being loaded.
    #[default]
    Starting,
    /// Mermaid's script is being loaded.
    Loading,
    Ready,
}

thread_local! {
    static RENDERER: RefCell<DiagramRenderer> = RefCell::default();
}

/// Draws a diagram, and calls `done` with the SVG or the reason why there is none. Diagrams are drawn in order.
pub fn draw_diagram(source: &str, is_dark: bool, done: impl FnOnce(Result<String, DrawFailure>) + 'static) {
    let has_frame = RENDERER.with_borrow_mut(|renderer| {
        renderer.last_id += 1.0;
        renderer.jobs.push_back(Job {
            id: renderer.last_id,
            source: source.to_owned(),
            is_dark,
            done: Box::new(done),
        });
        renderer.frame.is_some()
    });
    if !has_frame {
        start();
    } else if RENDERER.with_borrow(|renderer| renderer.state == FrameState::Ready && renderer.jobs.len() == 1)
    {
        send_next();
    }
}

/// Starts the frame, unless there may be none for a moment.
fn start() {
    if are_paused() {
        return;
    }
    listen();
    let Ok(frame) = make_frame() else {
        return fail_all(&DrawFailure::NotLoaded);
    };
    RENDERER.with_borrow_mut(|renderer| {
        renderer.frame = Some(frame.clone());
        renderer.state = FrameState::Starting;
        renderer.deadline = Some(set_timeout(START_TIMEOUT_MS, || {
            fail_all(&DrawFailure::NotLoaded)
        }));
    });
    show_in_frame(&frame, FrameKind::Diagrams, "");
}

fn make_frame() -> Result<HtmlIFrameElement, JsValue> {
    let frame: HtmlIFrameElement = document().create_element("iframe")?.unchecked_into();
    frame.set_name(&["diagrams-", &random().to_string()].concat());
    frame.set_class_name("diagram-frame");
    for (name, value) in [
        ("sandbox", FrameKind::Diagrams.sandbox()),
        ("aria-hidden", "true"),
        ("tabindex", "-1"),
    ] {
        frame.set_attribute(name, value)?;
    }
    document().body().ok_or(JsValue::NULL)?.append_child(&frame)?;
    Ok(frame)
}

/// Registers the listener for messages of the present frame. There is one for all frames, which come and go.
fn listen() {
    let is_listening =
        RENDERER.with_borrow_mut(|renderer| std::mem::replace(&mut renderer.is_listening, true));
    if is_listening {
        return;
    }
    let listener = Closure::<dyn Fn(MessageEvent)>::new(|event: MessageEvent| {
        let frame = RENDERER.with_borrow(|renderer| renderer.frame.clone());
        let sender = frame.and_then(|frame| frame.content_window()).map(JsValue::from);
        if sender.is_some() && sender == event.source().map(JsValue::from) {
            receive(&event.data());
        }
    });
    let _ = window().add_event_listener_with_callback("message", listener.as_ref().unchecked_ref());
    listener.forget();
}

fn read_text(message: &JsValue, name: &str) -> Option<String> {
    Reflect::get(message, &JsValue::from_str(name)).ok()?.as_string()
}

fn receive(message: &JsValue) {
    let state = RENDERER.with_borrow(|renderer| renderer.state);
    match state {
        FrameState::Starting => {
            let Some(url) = read_text(message, "mermaid") else {
                return;
            };
            if url.is_empty() {
                return fail_all(&DrawFailure::Impossible(texts::NO_MERMAID.into()));
            }
            RENDERER.with_borrow_mut(|renderer| renderer.state = FrameState::Loading);
            spawn_local(load(url));
        }
        FrameState::Loading => {}
        FrameState::Ready => {
            let id = Reflect::get(message, &JsValue::from_str("id")).ok();
            let id = id.and_then(|id| id.as_f64());
            let job = RENDERER.with_borrow_mut(|renderer| {
                let is_first = renderer.jobs.front().map(|job| job.id) == id;
                is_first.then(|| renderer.jobs.pop_front()).flatten()
            });
            let Some(job) = job else {
                return;
            };
            (job.done)(match read_text(message, "svg") {
                Some(svg) if svg.len() <= MAX_SVG_LENGTH => Ok(svg),
                Some(_) => Err(DrawFailure::Impossible(texts::DIAGRAM_TOO_LARGE.into())),
                None => Err(DrawFailure::Impossible(
                    read_text(message, "failure").unwrap_or_default(),
                )),
            });
            send_next();
        }
    }
}

/// Loads Mermaid's script and sends it to the frame, which cannot load anything.
async fn load(url: String) {
    let frame = RENDERER.with_borrow(|renderer| renderer.frame.clone());
    let is_asset = url.starts_with("/pkg/") && !url.contains("..");
    let script = match is_asset {
        true => fetch_text(&url).await.ok(),
        false => None,
    };
    // It may have been replaced meanwhile.
    let is_current = RENDERER.with_borrow(|renderer| renderer.frame == frame);
    match script {
        _ if !is_current => {}
        Some(script) => {
            post(&[("script", script)]);
            RENDERER.with_borrow_mut(|renderer| renderer.state = FrameState::Ready);
            send_next();
        }
        None => fail_all(&DrawFailure::NotLoaded),
    }
}

async fn fetch_text(url: &str) -> Result<JsValue, JsValue> {
    let response: Response = JsFuture::from(window().fetch_with_str(url))
        .await?
        .unchecked_into();
    if !response.ok() {
        return Err(JsValue::NULL);
    }
    JsFuture::from(response.text()?).await
}

/// Sends the first job to the frame.
fn send_next() {
    let message = RENDERER.with_borrow_mut(|renderer| {
        renderer.deadline = None;
        let job = renderer.jobs.front()?;
        renderer.deadline = Some(set_timeout(DRAW_TIMEOUT_MS, give_up_first));
        Some([
            ("id", job.id.into()),
            ("source", JsValue::from_str(&job.source)),
            ("isDark", job.is_dark.into()),
        ])
    });
    if let Some(message) = message {
        mark_run();
        post(&message);
    }
}

fn post(fields: &[(&str, JsValue)]) {
    let message = Object::new();
    for (name, value) in fields {
        let _ = Reflect::set(&message, &JsValue::from_str(name), value);
    }
    let frame = RENDERER.with_borrow(|renderer| renderer.frame.clone());
    if let Some(window) = frame.and_then(|frame| frame.content_window()) {
        // The frame has no origin that could be named.
        let _ = window.post_message(&message, "*");
    }
}

/// Gives up a diagram that takes too long, with the process of its frame.
fn give_up_first() {
    let job = RENDERER.with_borrow_mut(|renderer| renderer.jobs.pop_front());
    if let Some(job) = job {
        (job.done)(Err(DrawFailure::Impossible(texts::TOO_SLOW.into())));
    }
    restart_frames();
}

/// Removes the frame. What is not drawn is drawn after [`resume`].
pub(super) fn pause() {
    remove_frame();
}

pub(super) fn resume() {
    if RENDERER.with_borrow(|renderer| renderer.frame.is_none() && !renderer.jobs.is_empty()) {
        start();
    }
}

/// Fails all diagrams. The next one tries again, with a new frame.
fn fail_all(reason: &DrawFailure) {
    remove_frame();
    let jobs = RENDERER.with_borrow_mut(|renderer| std::mem::take(&mut renderer.jobs));
    for job in jobs {
        (job.done)(Err(reason.clone()));
    }
}

fn remove_frame() {
    let removed = RENDERER.with_borrow_mut(|renderer| {
        renderer.deadline = None;
        renderer.frame.take()
    });
    if let Some(frame) = removed {
        frame.remove();
    }
}
