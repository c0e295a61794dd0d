//! What is wanted of the next message besides its text.

use leptos::prelude::*;

use crate::{
    protocol::{AskedParameters, chat::WEB_SEARCH},
    ui::{
        icons,
        live::{Extras, Live},
        models::Models,
        place::Place,
        when::When,
    },
};

/// The handle that the composer's parts hold.
#[derive(Clone, Copy)]
pub struct Wishes {
    /// The web is to be searched for the next message.
    search: RwSignal<bool>,
    /// How the model is to be asked in the conversation that begins next. One that is there has its own.
    pub parameters: RwSignal<AskedParameters>,
    /// The dialog about that is open.
    pub is_asking: RwSignal<bool>,
}

impl Wishes {
    /// Nothing is wanted. What is wanted of a message here is not meant for one elsewhere.
    pub fn new(live: Live) -> Self {
        let wishes = Self {
            search: RwSignal::new(false),
            parameters: RwSignal::default(),
            is_asking: RwSignal::new(false),
        };
        Effect::new(move |before: Option<Place>| {
            let here = live.place.get();
            if before.is_some_and(|before| before != here) {
                wishes.search.set(false);
            }
            here
        });
        wishes
    }

    /// What is wanted of the message that is sent now, and of none after it.
    pub fn take(self, place: Place) -> Extras {
        let search = self.search.get_untracked();
        self.search.set(false);
        let begins = place == Place::New;
        let parameters = begins
            .then(|| self.parameters.try_update(std::mem::take))
            .flatten();
        Extras {
            force_tools: search.then(|| WEB_SEARCH.into()).into_iter().collect(),
            parameters: parameters.filter(|asked| *asked != AskedParameters::default()),
            ..Extras::default()
        }
    }
}

/// Has the web searched for the next message, where anything can search it.
#[component]
pub fn SearchToggle(wishes: Wishes) -> impl IntoView {
    let models = expect_context::<Models>();
    let search = wishes.search;
    view! {
        <When when=move || models.list.with(|list| list.can_search)>
            <button
                type="button"
                class="icon-button needs-script"
                aria-label="Search the web for the next message"
                title="Search the web for the next message"
                aria-pressed=move || search.get().to_string()
                on:click=move |_| search.update(|search| *search = !*search)
            >
                {icons::globe()}
            </button>
        </When>
    }
}
