//! What the settings page knows: loaded when it is opened, and again whenever the log says that something of it has changed.

use leptos::{prelude::*, task::spawn_local};

use super::Given;
use crate::{
    api::personal,
    protocol::{ApiError, ApiToken, Json, Memory, Personal, json},
    ui::live::Live,
};

/// Whether there is something to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    Loading,
    Ready,
    Failed(String),
}

/// The handle that the sections hold. It is there as long as the page is the settings.
#[derive(Clone, Copy)]
pub struct Settings {
    pub live: Live,
    pub phase: RwSignal<Phase>,
    /// The instructions as they are stored, and as they stand in the box.
    pub saved: RwSignal<String>,
    pub text: RwSignal<String>,
    /// How long they may be, in bytes.
    pub longest: RwSignal<usize>,
    /// What is stored is another one than when somebody began to write here.
    pub overtaken: RwSignal<bool>,
    pub remembers: RwSignal<bool>,
    pub memories: RwSignal<Vec<Memory>>,
    pub tokens: RwSignal<Vec<ApiToken>>,
    /// Counts what was asked for: an answer that was overtaken by a later one is of no use.
    asked: StoredValue<u32>,
    shown: StoredValue<u32>,
}

impl Settings {
    pub fn new(live: Live) -> Self {
        let settings = Self {
            live,
            phase: RwSignal::new(Phase::Loading),
            saved: RwSignal::default(),
            text: RwSignal::default(),
            longest: RwSignal::new(usize::MAX),
            overtaken: RwSignal::new(false),
            remembers: RwSignal::new(true),
            memories: RwSignal::default(),
            tokens: RwSignal::default(),
            asked: StoredValue::new(0),
            shown: StoredValue::new(0),
        };
        if live.has_taken_over() {
            settings.load();
        } else {
            settings.begin(expect_context::<Given>().0);
        }
        Effect::new(move |before: Option<u32>| {
            let changes = live.settings_changes.get();
            if before.is_some_and(|before| before != changes) {
                settings.load();
            }
            changes
        });
        settings
    }

    /// Begins with what the page came with.
    fn begin(self, given: Option<Json>) {
        match given.map(|given| json::read::<Personal>(given.as_str().as_bytes())) {
            Some(Ok(personal)) => self.show(personal),
            _ => self
                .phase
                .set(Phase::Failed("The server could not read them.".into())),
        }
    }

    pub fn load_again(self) {
        self.phase.set(Phase::Loading);
        self.load();
    }

    fn load(self) {
        self.asked.update_value(|asked| *asked += 1);
        let number = self.asked.get_value();
        spawn_local(async move {
            let answer = self.live.ask(personal::personal()).await;
            let is_news = |shown: &mut u32| {
                let is_news = number > *shown;
                *shown = number.max(*shown);
                is_news
            };
            // The person may have left by now.
            if self.shown.try_update_value(is_news) != Some(true) {
                return;
            }
            match answer {
                Ok(personal) => self.show(personal),
                Err(error) => self.failed(error),
            }
        });
    }

    fn failed(self, error: ApiError) {
        if self.phase.get_untracked() == Phase::Ready {
            self.live.toasts.say(error.message);
        } else {
            self.phase.set(Phase::Failed(error.message));
        }
    }

    fn show(self, personal: Personal) {
        let is_written_on = self.is_written_on();
        let is_other = self.saved.with_untracked(|saved| *saved != personal.instructions);
        if !is_written_on {
            self.text.set(personal.instructions.clone());
        } else if is_other {
            let same = self.text.with_untracked(|text| *text == personal.instructions);
            self.overtaken.set(!same);
        }
        self.saved.set(personal.instructions);
        self.longest.set(personal.instructions_bytes);
        self.remembers.set(personal.remembers);
        self.memories.set(personal.memories);
        self.tokens.set(personal.tokens);
        if self.phase.get_untracked() != Phase::Ready {
            self.phase.set(Phase::Ready);
        }
    }

    /// Whether the box has something else in it than what is stored.
    fn is_written_on(self) -> bool {
        let text = self.text.read_untracked();
        self.saved.with_untracked(|saved| *saved != *text)
    }

    /// Asks for a change. If it is refused, says so and takes back what was shown already.
    pub fn tell(
        self,
        intent: impl Future<Output = Result<(), ApiError>> + 'static,
        take_back: impl FnOnce() + 'static,
    ) {
        spawn_local(async move {
            if let Err(error) = self.live.ask(intent).await {
                self.live.toasts.say(error.message);
                if self.phase.try_get_untracked().is_some() {
                    take_back();
                }
            }
        });
    }
}
