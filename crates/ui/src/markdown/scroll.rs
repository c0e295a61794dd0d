//! Boxes that scroll.

use leptos::{
    html::ElementType,
    prelude::*,
    wasm_bindgen::JsCast,
    web_sys::{Element, HtmlElement},
};

use crate::browser;
use crate::runtime::effect::effect;

/// A `tabindex` that makes a box a tab stop while its content is wider than the box: only then is there something to
/// scroll with the arrow keys.
pub fn tab_stop_while_wider<S, C>(scroller: NodeRef<S>, content: NodeRef<C>) -> Memo<Option<&'static str>>
where
    S: ElementType<Output: JsCast + Clone + Into<HtmlElement> + 'static> + 'static,
    C: ElementType<Output: JsCast + Clone + Into<Element> + 'static> + 'static,
{
    let wider = RwSignal::new(false);
    let watch = StoredValue::new(None);
    effect(move || {
        let (Some(scroller), Some(content)) = (scroller.get(), content.get()) else {
            return;
        };
        let (scroller, content): (HtmlElement, Element) = (scroller.into(), content.into());
        let look = {
            let scroller = scroller.clone();
            move || wider.set(scroller.scroll_width() > scroller.client_width())
        };
        watch.set_value(Some([
            browser::on_resize(&scroller, look.clone()),
            browser::on_resize(&content, look),
        ]));
    });
    Memo::new(move |_| wider.get().then_some("0"))
}

/// Keeps the end of a growing content in view, as long as `is_growing`.
pub fn follow_end<S, C>(
    scroller: NodeRef<S>,
    content: NodeRef<C>,
    is_growing: impl Fn() -> bool + Clone + 'static,
) where
    S: ElementType<Output: JsCast + Clone + Into<HtmlElement> + 'static> + 'static,
    C: ElementType<Output: JsCast + Clone + Into<Element> + 'static> + 'static,
{
    let watch = StoredValue::new(None);
    effect(move || {
        let (Some(scroller), Some(content)) = (scroller.get(), content.get()) else {
            return;
        };
        let (scroller, content): (HtmlElement, Element) = (scroller.into(), content.into());
        let is_growing = is_growing.clone();
        let follow = move || {
            if is_growing() {
                scroller.set_scroll_top(scroller.scroll_height());
            }
        };
        watch.set_value(Some(browser::on_resize(&content, follow)));
    });
}
