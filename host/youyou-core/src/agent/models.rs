//! The models that an agent may ask.

use std::{collections::HashMap, sync::Arc};

use youyou_api::{Error, ErrorCode, ModelId, ModelInfo, ModelProvider};

/// A model, and who serves it.
pub(super) type Served = (ModelInfo, Arc<dyn ModelProvider>);

/// Every model, each served by one provider (Y3.1-3).
pub(super) struct Models {
    /// In the order of registration.
    order: Vec<ModelId>,
    by_id: HashMap<ModelId, Served>,
}

impl Models {
    /// The models of these providers.
    ///
    /// # Errors
    /// `NO_MODEL_PROVIDER`; `NAME_CONFLICT` for a provider or a model id that comes twice (D-47).
    pub(super) fn of(providers: &[Arc<dyn ModelProvider>]) -> Result<Self, Error> {
        if providers.is_empty() {
            let message = "no model provider is registered; an agent needs at least one";
            return Err(Error::new(ErrorCode::NoModelProvider, message));
        }
        let conflict = |message: String| Error::new(ErrorCode::NameConflict, message);
        let mut models = Self { order: Vec::new(), by_id: HashMap::new() };
        for (index, provider) in providers.iter().enumerate() {
            let id = provider.id();
            if providers[..index].iter().any(|earlier| earlier.id() == id) {
                return Err(conflict(format!("two model providers have the id {:?}", id.as_str())));
            }
            for model in provider.models() {
                if models.by_id.insert(model.id.clone(), (model.clone(), provider.clone())).is_some() {
                    return Err(conflict(format!(
                        "the model {:?} is declared twice, the second time by the provider {:?}",
                        model.id.as_str(),
                        id.as_str()
                    )));
                }
                models.order.push(model.id.clone());
            }
        }
        Ok(models)
    }

    /// In the order of registration.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ModelInfo> {
        self.order.iter().filter_map(|id| self.by_id.get(id)).map(|(model, _)| model)
    }

    /// The model of that id; without one, the only model there is (D-44).
    ///
    /// # Errors
    /// `MODEL_NOT_SUPPORTED`; the message lists what there is.
    pub(super) fn get(&self, wanted: Option<&ModelId>) -> Result<Served, Error> {
        let found = match (wanted, &*self.order) {
            (Some(id), _) | (None, [id]) => self.by_id.get(id).cloned(),
            (None, _) => None,
        };
        found.ok_or_else(|| {
            let why = match wanted {
                Some(id) => format!("no provider serves the model {:?}", id.as_str()),
                None if self.order.is_empty() => return not_supported("no provider serves any model".to_owned()),
                None => "no model was named, and there is no `default_model`".to_owned(),
            };
            let known: Vec<_> = self.order.iter().map(ModelId::as_str).collect();
            not_supported(format!("{why}; there are: {}", known.join(", ")))
        })
    }

    /// The same for a model that `key` of the configuration names, if it does.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(super) fn configured(&self, key: &str, id: Option<&ModelId>) -> Result<Served, Error> {
        self.get(id).map_err(|mut error| {
            if id.is_some() {
                error.message = format!("`{key}` of config.yaml: {}", error.message);
            }
            error
        })
    }
}

fn not_supported(message: String) -> Error {
    Error::new(ErrorCode::ModelNotSupported, message)
}
