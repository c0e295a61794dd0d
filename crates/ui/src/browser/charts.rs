//! Charts of Plotly, each drawn in a visible frame without origin (`http::framed_page`). The page loads Plotly's script and the
//! chart's JSON, which the frame can't, and stores the picture that the frame makes.

use std::{cell::RefCell, rc::Rc};

use futures::join;
use js_sys::{Object, Reflect, Uint8Array};
use leptos::{prelude::window, task::spawn_local};
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, HtmlIFrameElement, MessageEvent, RequestInit, Response};

use super::{
    ChartUrls, DrawFailure, FrameKind, Timer,
    frames::{mark_run, restart_frames},
    set_timeout, show_in_frame, texts,
};

/// The script that draws charts.
const SCRIPT_URL: &str = "/charts/plotly.js";

/// The time until the frame has the script and the chart, in milliseconds.
const START_TIMEOUT_MS: f64 = 60_000.0;

/// The time until a chart is drawn, in milliseconds. All frames are removed if it takes longer.
const DRAW_TIMEOUT_MS: f64 = 20_000.0;

/// The maximum size of a picture, in bytes. The server's limit is the same (`files::MAX_CHART_PICTURE_BYTES`).
const MAX_PICTURE_BYTES: u32 = 4 << 20;

/// A frame that draws a chart. Dropping it ends the listening.
pub struct ChartFrame(SendWrapper<Rc<Chart>>);

struct Chart {
    frame: HtmlIFrameElement,
    urls: ChartUrls,
    /// Called with the chart's title each time it is drawn, or with the reason why it is not.
    done: Box<dyn Fn(Result<String, DrawFailure>)>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    is_dark: bool,
    step: Step,
    deadline: Option<Timer>,
    listener: Option<Closure<dyn Fn(MessageEvent)>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Step {
    /// The frame's page is being loaded.
    #[default]
    Starting,
    /// The script and the chart are being loaded.
    Loading,
    /// The frame has both.
    Ready,
}

/// Draws a chart in a frame that has a name.
pub fn draw_chart(
    frame: &HtmlIFrameElement,
    urls: ChartUrls,
    is_dark: bool,
    done: impl Fn(Result<String, DrawFailure>) + 'static,
) -> ChartFrame {
    let chart = Rc::new(Chart {
        frame: frame.clone(),
        urls,
        done: Box::new(done),
        state: RefCell::default(),
    });
    let weak = Rc::downgrade(&chart);
    let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let Some(chart) = weak.upgrade() else { return };
        let sender = chart.frame.content_window().map(JsValue::from);
        if sender.is_some() && sender == event.source().map(JsValue::from) {
            chart.receive(&event.data());
        }
    });
    let _ = window().add_event_listener_with_callback("message", listener.as_ref().unchecked_ref());
    {
        let mut state = chart.state.borrow_mut();
        state.is_dark = is_dark;
        state.listener = Some(listener);
    }
    chart.set_deadline(START_TIMEOUT_MS, |chart| {
        (chart.done)(Err(DrawFailure::NotLoaded))
    });
    show_in_frame(frame, FrameKind::Charts, "");
    ChartFrame(SendWrapper::new(chart))
}

impl ChartFrame {
    /// Draws it again in the colours of the theme, if it has others.
    pub fn set_dark(&self, is_dark: bool) {
        let is_changed = std::mem::replace(&mut self.0.state.borrow_mut().is_dark, is_dark) != is_dark;
        if is_changed && self.0.state.borrow().step == Step::Ready {
            self.0.send_draw(&[]);
        }
    }
}

impl Drop for ChartFrame {
    fn drop(&mut self) {
        let mut state = self.0.state.borrow_mut();
        state.deadline = None;
        if let Some(listener) = state.listener.take() {
            let listener = listener.as_ref().unchecked_ref();
            let _ = window().remove_event_listener_with_callback("message", listener);
        }
    }
}

fn field(message: &JsValue, name: &str) -> Option<JsValue> {
    let value = Reflect::get(message, &JsValue::from_str(name)).ok()?;
    (!value.is_undefined()).then_some(value)
}

impl Chart {
    fn set_deadline(self: &Rc<Self>, ms: f64, missed: impl FnOnce(&Self) + 'static) {
        let weak = Rc::downgrade(self);
        let deadline = set_timeout(ms, move || {
            if let Some(chart) = weak.upgrade() {
                missed(&chart);
            }
        });
        self.state.borrow_mut().deadline = Some(deadline);
    }

    fn receive(self: &Rc<Self>, message: &JsValue) {
        let step = self.state.borrow().step;
        match step {
            Step::Starting if field(message, "isReady").is_some() => {
                self.state.borrow_mut().step = Step::Loading;
                let chart = self.clone();
                spawn_local(async move { chart.load().await });
            }
            Step::Ready => {
                if let Some(title) = field(message, "title") {
                    self.state.borrow_mut().deadline = None;
                    (self.done)(Ok(title.as_string().unwrap_or_default()));
                } else if let Some(failure) = field(message, "failure") {
                    self.state.borrow_mut().deadline = None;
                    let reason = failure.as_string().unwrap_or_default();
                    (self.done)(Err(DrawFailure::Impossible(reason)));
                } else if let Some(picture) = field(message, "picture")
                    && let Ok(picture) = picture.dyn_into::<Uint8Array>()
                    && picture.length() <= MAX_PICTURE_BYTES
                {
                    let url = self.urls.picture.clone();
                    spawn_local(async move {
                        // It is made again with the next view.
                        let _ = store_picture(&url, &picture).await;
                    });
                }
            }
            _ => {}
        }
    }

    /// Loads the script, the chart and the presence of its picture, and sends them to the frame.
    async fn load(self: Rc<Self>) {
        let (script, chart, has_picture) = join!(
            load_text(SCRIPT_URL),
            load_text(&self.urls.chart),
            has_picture(&self.urls.picture),
        );
        let (script, chart) = match (script, chart) {
            (Ok(script), Ok(chart)) => (script, chart),
            (Err(LoadFailure::Missing), _) => {
                let reason = texts::NO_PLOTLY;
                return self.fail(DrawFailure::Impossible(reason.into()));
            }
            (_, Err(LoadFailure::Missing)) => {
                return self.fail(DrawFailure::Impossible(texts::CHART_DELETED.into()));
            }
            _ => return self.fail(DrawFailure::NotLoaded),
        };
        self.state.borrow_mut().step = Step::Ready;
        let wants_picture = (!has_picture).into();
        self.send_draw(&[
            ("script", script),
            ("chart", chart),
            ("wantsPicture", wants_picture),
        ]);
    }

    fn fail(&self, failure: DrawFailure) {
        self.state.borrow_mut().deadline = None;
        // The view may be gone: then nobody listens.
        if self.state.borrow().listener.is_some() {
            (self.done)(Err(failure));
        }
    }

    /// Lets the frame draw, with these fields besides the theme.
    fn send_draw(self: &Rc<Self>, fields: &[(&str, JsValue)]) {
        let message = Object::new();
        let set = |name: &str, value: &JsValue| {
            let _ = Reflect::set(&message, &JsValue::from_str(name), value);
        };
        for (name, value) in fields {
            set(name, value);
        }
        set("isDark", &self.state.borrow().is_dark.into());
        if let Ok(Some(style)) = window().get_computed_style(&self.frame) {
            for (name, property) in [("text", "color"), ("background", "background-color")] {
                let value = style.get_property_value(property).unwrap_or_default();
                set(name, &JsValue::from_str(&value));
            }
        }
        let Some(frame) = self.frame.content_window() else {
            return;
        };
        mark_run();
        // The frame has no origin that could be named.
        let _ = frame.post_message(&message, "*");
        self.set_deadline(DRAW_TIMEOUT_MS, |chart| {
            (chart.done)(Err(DrawFailure::Impossible(texts::TOO_SLOW.into())));
            restart_frames();
        });
    }
}

enum LoadFailure {
    /// The server has no such file.
    Missing,
    Failed,
}

impl From<JsValue> for LoadFailure {
    fn from(_: JsValue) -> Self {
        Self::Failed
    }
}

async fn load_text(url: &str) -> Result<JsValue, LoadFailure> {
    let response: Response = JsFuture::from(window().fetch_with_str(url))
        .await?
        .unchecked_into();
    match response.status() {
        404 => Err(LoadFailure::Missing),
        _ if !response.ok() => Err(LoadFailure::Failed),
        _ => Ok(JsFuture::from(response.text()?).await?),
    }
}

/// Returns true if the server has a picture of a chart, also if that is not known.
async fn has_picture(url: &str) -> bool {
    let options = RequestInit::new();
    options.set_method("HEAD");
    let asked = JsFuture::from(window().fetch_with_str_and_init(url, &options)).await;
    let response = asked.ok().map(JsCast::unchecked_into::<Response>);
    let media_type = response.and_then(|response| response.headers().get("content-type").ok()?);
    media_type.as_deref() != Some("image/svg+xml")
}

async fn store_picture(url: &str, picture: &Uint8Array) -> Result<(), JsValue> {
    let headers = Headers::new()?;
    headers.set("Content-Type", "application/octet-stream")?;
    let options = RequestInit::new();
    options.set_method("POST");
    options.set_headers(&headers);
    options.set_body(picture);
    JsFuture::from(window().fetch_with_str_and_init(url, &options)).await?;
    Ok(())
}
