//! A button with only an icon.

use leptos::prelude::*;

use crate::runtime::erase::Erase;

/// A state of a button that changes.
type State = Option<Box<dyn Fn() -> bool + Send>>;

/// A button with only an icon. It is hidden without scripts.
pub struct IconButton {
    name: String,
    title: String,
    class: String,
    icon: AnyView,
    is_off: State,
    is_pressed: State,
    press: Box<dyn Fn() + Send>,
}

impl IconButton {
    /// Creates a button. Its name is also its title.
    pub fn new(name: impl Into<String>, icon: AnyView, press: impl Fn() + Send + 'static) -> Self {
        let name = name.into();
        Self {
            title: name.clone(),
            name,
            class: "icon-button needs-script".into(),
            icon,
            is_off: None,
            is_pressed: None,
            press: Box::new(press),
        }
    }

    /// Sets the title, if it says more or less than the name.
    pub fn title(mut self, title: &str) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a class.
    pub fn class(mut self, class: &str) -> Self {
        self.class.push(' ');
        self.class.push_str(class);
        self
    }

    /// Marks the button as disabled while `is_off` is true. It keeps the focus, and `press` is still called.
    pub fn disabled_while(mut self, is_off: impl Fn() -> bool + Send + 'static) -> Self {
        self.is_off = Some(Box::new(is_off));
        self
    }

    /// Makes it a switch, which is on while `is_pressed` is true.
    pub fn pressed_while(mut self, is_pressed: impl Fn() -> bool + Send + 'static) -> Self {
        self.is_pressed = Some(Box::new(is_pressed));
        self
    }

    pub fn view(self) -> AnyView {
        let Self {
            name,
            title,
            class,
            icon,
            is_off,
            is_pressed,
            press,
        } = self;
        let pressed = is_pressed.map(|is_pressed| move || if is_pressed() { "true" } else { "false" });
        view! {
            <button
                type="button"
                class=class
                aria-label=name
                title=title
                aria-disabled=is_off.map(|is_off| move || is_off().then_some("true"))
                aria-pressed=pressed
                on:click=move |_| press()
            >
                {icon}
            </button>
        }
        .erase()
    }
}
