//! The check of what an answer offers: something can be opened only if it is there and the user may see it.

use serde_json::{Map, Value};

use super::Driver;
use crate::agent::{LeftOut, Unchecked, opens_something};
use parlor_protocol::{Message, PageContext, SuggestedAction};

/// The field of an action's data with the URL that the button opens. The model's own is replaced.
const URL_FIELD: &str = "url";

impl Driver<'_> {
    /// Returns what may be shown of a part of the answer.
    pub(super) async fn check(&mut self, unchecked: Unchecked) -> Unchecked {
        match unchecked {
            Unchecked::Actions(actions) => Unchecked::Actions(self.check_actions(actions).await),
            Unchecked::Sources(sources) => Unchecked::Sources(self.check_sources(sources).await),
        }
    }

    /// Returns the possible ones of these actions, with the URLs that they open. The diagnostics name the others.
    async fn check_actions(&mut self, actions: Vec<SuggestedAction>) -> Vec<SuggestedAction> {
        let mut possible = Vec::with_capacity(actions.len());
        for mut action in actions {
            if opens_something(&action) {
                match self
                    .check_opening(action.data.as_deref().unwrap_or_default())
                    .await
                {
                    Ok(data) => action.data = Some(data),
                    Err(reason) => {
                        self.recorder.record_left_out(&LeftOut::action(&action, &reason));
                        continue;
                    }
                }
            }
            possible.push(action);
        }
        possible
    }

    /// Returns the data of an action that opens a payload or something of a page.
    async fn check_opening(&mut self, data: &str) -> Result<String, String> {
        let mut fields: Map<String, Value> =
            serde_json::from_str(data).map_err(|_| "its data are not an object".to_owned())?;
        fields.remove(URL_FIELD);
        match fields.get("payload_id") {
            Some(Value::String(id)) if self.has_payload(id) => {}
            Some(_) => return Err("the conversation has no such payload".into()),
            None => {
                let url = self.url_to_open(&fields).await?;
                fields.insert(URL_FIELD.into(), url.into());
            }
        }
        Ok(Value::Object(fields).to_string())
    }

    async fn url_to_open(&mut self, fields: &Map<String, Value>) -> Result<String, String> {
        let mut context = fields.clone();
        for (name, common) in [
            ("page", "current_page"),
            ("tab", "active_tab"),
            ("subtab", "active_subtab"),
        ] {
            context.remove(common);
            if let Some(value) = context.remove(name).filter(|_| fields.contains_key("page")) {
                context.insert(common.into(), value);
            }
        }
        let asked: PageContext = serde_json::from_str(&Value::Object(context).to_string())
            .map_err(|_| "its data name no page".to_owned())?;
        let (runs, user_id) = (self.runs, self.run.user_id);
        let permissions = runs.permissions(user_id).await;
        let permissions = permissions.map_err(|error| error.to_string())?;
        let is_allowed = |tool: &str| permissions.allows_tool(tool);
        let here = self.page.clone();
        let url = runs
            .pages
            .url_to_open(user_id, asked, here.as_deref(), is_allowed);
        url.await.map_err(|error| error.to_string())
    }

    fn has_payload(&self, id: &str) -> bool {
        let earlier = self.history.iter().filter_map(Message::assistant);
        let mut payloads = earlier
            .chain([self.agent.message()])
            .flat_map(|answer| answer.payloads());
        payloads.any(|payload| payload.payload_id == id)
    }
}
