//! The model of a test: it remembers what it was asked, and notes every request that no model API would take.

use std::sync::{Arc, Mutex, PoisonError};

use youyou::{
    CancellationToken, Capabilities, ChatRequest, ChatStream, ModelId, ModelInfo, ModelProvider, Part, ProviderError,
    ProviderId, ReplayProvider, Script, check_request,
};

use super::show;

/// A provider under observation. A clone is the same one.
#[derive(Clone)]
pub struct Model(Arc<Inner>);

struct Inner {
    provider: Box<dyn ModelProvider>,
    requests: Mutex<Vec<ChatRequest>>,
    /// Rules that requests broke.
    broken: Mutex<Vec<String>>,
}

impl Model {
    /// Observes a provider.
    pub fn new(provider: impl ModelProvider + 'static) -> Self {
        let provider = Box::new(provider);
        Self(Arc::new(Inner { provider, requests: Mutex::default(), broken: Mutex::default() }))
    }

    /// A model that says the replies of a YAML script, and is strict.
    ///
    /// # Panics
    /// When the text is no script.
    #[track_caller]
    pub fn replay(replies: &str) -> Self {
        let script = Script::from_yaml("the test's script", replies).unwrap_or_else(|error| panic!("{error}"));
        Self::new(ReplayProvider::new(script).strict())
    }

    /// A provider in code, with one model of the same name that can do everything.
    pub fn in_code(
        name: &str,
        chat: impl Fn(ChatRequest, CancellationToken) -> ChatStream + Send + Sync + 'static,
    ) -> Self {
        let info = ModelInfo {
            id: ModelId::new(name),
            display_name: name.to_owned(),
            context_window: 200_000,
            capabilities: Capabilities::ALL,
        };
        Self::new(InCode { id: ProviderId::new(name), models: [info], chat: Box::new(chat) })
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The messages of a request as text; the first one is 1.
    ///
    /// # Panics
    /// When there were not so many.
    #[track_caller]
    pub fn heard(&self, number: usize) -> String {
        let requests = self.requests();
        let request = requests.get(number.wrapping_sub(1));
        show::messages(&request.unwrap_or_else(|| panic!("{} requests, not {number}", requests.len())).messages)
    }

    /// The rules that its requests broke.
    pub fn broken_rules(&self) -> Vec<String> {
        self.0.broken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ModelProvider for Model {
    fn id(&self) -> &ProviderId {
        self.0.provider.id()
    }

    fn models(&self) -> &[ModelInfo] {
        self.0.provider.models()
    }

    fn accepts(&self, model: &ModelId, part: &Part) -> Result<(), ProviderError> {
        self.0.provider.accepts(model, part)
    }

    fn tools_in_prompt(&self) -> bool {
        self.0.provider.tools_in_prompt()
    }

    fn chat(&self, request: ChatRequest, cancel: CancellationToken) -> ChatStream {
        let model = self.models().iter().find(|model| model.id == request.model);
        let checked = model.ok_or_else(|| format!("there is no model {}", request.model));
        if let Err(rule) = checked.and_then(|model| check_request(&request, model)) {
            let rule = format!("{rule}, in\n{}", show::messages(&request.messages));
            self.0.broken.lock().unwrap_or_else(PoisonError::into_inner).push(rule);
        }
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        self.0.provider.chat(request, cancel)
    }
}

struct InCode {
    id: ProviderId,
    models: [ModelInfo; 1],
    chat: Box<dyn Fn(ChatRequest, CancellationToken) -> ChatStream + Send + Sync>,
}

impl ModelProvider for InCode {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn models(&self) -> &[ModelInfo] {
        &self.models
    }

    fn chat(&self, request: ChatRequest, cancel: CancellationToken) -> ChatStream {
        (self.chat)(request, cancel)
    }
}
