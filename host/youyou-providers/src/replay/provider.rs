//! The provider that plays a script.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{StreamExt as _, stream};
use youyou_api::{
    CancellationToken, ChatEvent, ChatRequest, ChatStream, ModelInfo, ModelProvider, ProviderError, ProviderErrorKind,
    ProviderId,
};

use super::{
    fill::Fill,
    mismatch,
    script::{Played, Script, Step},
};
use crate::strict::check_request;

type Item = Result<ChatEvent, ProviderError>;

/// Plays a [`Script`]: each request gets the first reply that is left and that fits (Y3.2).
///
/// A request that no reply fits, or for a model that the script does not declare, is an error of the kind
/// `invalid_request` whose message shows how the request's last message differs from what a reply that is left asks for.
/// Which reply a request gets is settled when its stream is first polled; a retried request is a request of its own.
/// Pauses go by tokio's clock, so they need its runtime.
#[derive(Debug)]
pub struct ReplayProvider {
    tape: Arc<Tape>,
    checks: Checks,
}

#[derive(Debug, Clone, Copy)]
enum Checks {
    Off,
    Strict,
}

#[derive(Debug)]
struct Tape {
    script: Script,
    /// For each reply, whether it has been said and is not left.
    said: Mutex<Vec<bool>>,
}

impl ReplayProvider {
    /// Plays this script from its beginning.
    pub fn new(script: Script) -> Self {
        let said = Mutex::new(vec![false; script.replies.len()]);
        Self { tape: Arc::new(Tape { script, said }), checks: Checks::Off }
    }

    /// The built-in demonstration, for `youyou chat` without a provider. It says that it is no language model, shows a
    /// call of the tool word-count when asked to, and otherwise tells what can be tried.
    pub fn demo() -> Self {
        let script = Script::from_yaml("the built-in demonstration", include_str!("demo.yaml"));
        Self::new(script.expect("a test reads the built-in script"))
    }

    /// The same provider, which answers a request that breaks the rules of [`check_request`] with an error of the kind
    /// `invalid_request` that names the violation.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { checks: Checks::Strict, ..self }
    }

    /// How many replies have not been said, those that repeat aside.
    pub fn left(&self) -> usize {
        let said = self.tape.said.lock().unwrap_or_else(PoisonError::into_inner);
        self.tape.script.replies.iter().zip(said.iter()).filter(|(reply, said)| !reply.repeat && !**said).count()
    }

    fn refusal(&self, request: &ChatRequest) -> Option<ProviderError> {
        let script = &self.tape.script;
        let refused = match (script.models.iter().find(|model| model.id == request.model), self.checks) {
            (None, _) => {
                let known: Vec<_> = script.models.iter().map(|model| model.id.as_str()).collect();
                format!("{} has no model {:?}; it has: {}", script.name, request.model.as_str(), known.join(", "))
            }
            (Some(_), Checks::Off) => return None,
            (Some(model), Checks::Strict) => {
                format!("the request breaks a rule of model APIs: {}", check_request(request, model).err()?)
            }
        };
        Some(ProviderError::new(ProviderErrorKind::InvalidRequest, refused))
    }
}

impl ModelProvider for ReplayProvider {
    fn id(&self) -> &ProviderId {
        &self.tape.script.provider
    }

    fn models(&self) -> &[ModelInfo] {
        &self.tape.script.models
    }

    fn chat(&self, request: ChatRequest, cancel: CancellationToken) -> ChatStream {
        let state = match self.refusal(&request) {
            Some(refusal) => State::Refused(refusal),
            None => State::Asked(request),
        };
        let playing = Playing { tape: Arc::clone(&self.tape), cancel, state };
        let items =
            stream::unfold(
                playing,
                |mut playing: Playing| async move { playing.next().await.map(|item| (item, playing)) },
            );
        Box::pin(items.fuse())
    }
}

impl Tape {
    /// Takes the reply for a request off the tape.
    fn take(&self, request: &ChatRequest) -> Result<Saying, ProviderError> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, (reply, said)) in self.script.replies.iter().zip(said.iter_mut()).enumerate() {
            let listed = |name: &String| request.tools.iter().any(|tool| tool.name.as_str() == name);
            if *said || !reply.tool_listed.as_ref().is_none_or(listed) {
                continue;
            }
            if let Some(rest) = reply.when.fits(request) {
                *said = !reply.repeat;
                let fill = reply.template.then(|| Fill::new(request, rest));
                return Ok(Saying { reply: number, step: 0, calls: 0, fill });
            }
        }
        Err(self.nothing_fits(request, &said))
    }

    fn nothing_fits(&self, request: &ChatRequest, said: &[bool]) -> ProviderError {
        let left = (1..).zip(&self.script.replies).zip(said).filter(|(_, said)| !**said).map(|(reply, _)| reply);
        let message = mismatch::explain(&self.script.name, &left.collect::<Vec<_>>(), request);
        ProviderError::new(ProviderErrorKind::InvalidRequest, message)
    }
}

/// One stream.
struct Playing {
    tape: Arc<Tape>,
    cancel: CancellationToken,
    state: State,
}

enum State {
    Asked(ChatRequest),
    Refused(ProviderError),
    Saying(Saying),
    Over,
}

/// Which reply is said, and how far it is.
struct Saying {
    reply: usize,
    step: usize,
    calls: usize,
    fill: Option<Fill>,
}

impl Playing {
    async fn next(&mut self) -> Option<Item> {
        while !self.cancel.is_cancelled() {
            match mem::replace(&mut self.state, State::Over) {
                State::Over => return None,
                State::Refused(refusal) => return Some(Err(refusal)),
                State::Asked(request) => {
                    self.state = self.tape.take(&request).map_or_else(State::Refused, State::Saying);
                }
                State::Saying(mut saying) => {
                    let reply = self.tape.script.replies.get(saying.reply);
                    let step = reply.and_then(|reply| reply.say.get(saying.step)).unwrap_or(Step::END);
                    saying.step += 1;
                    saying.calls += usize::from(matches!(step, Step::Call { .. }));
                    let played = step.play(saying.calls, saying.fill.as_ref());
                    if !step.ends() {
                        self.state = State::Saying(saying);
                    }
                    match played {
                        Played::Item(item) => return Some(item),
                        Played::Pause(pause) => self.cancel.run_until_cancelled(tokio::time::sleep(pause)).await?,
                        Played::Nothing => {}
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tokio::time::Instant;

    use super::*;

    fn script(yaml: &str) -> Script {
        Script::from_yaml("test.yaml", yaml).expect("a script")
    }

    fn request(last: serde_json::Value) -> ChatRequest {
        let request = json!({"model": "replay", "system": "", "messages": [last], "tools": []});
        serde_json::from_value(request).expect("a request")
    }

    fn user(text: &str) -> ChatRequest {
        request(json!({"role": "user", "parts": [{"type": "text", "text": text}]}))
    }

    async fn ask(provider: &ReplayProvider, request: ChatRequest) -> Vec<Item> {
        provider.chat(request, CancellationToken::new()).collect().await
    }

    /// The events as JSON, one a line.
    fn lines(items: &[Item]) -> String {
        let line = |item: &Item| serde_json::to_string(item.as_ref().expect("no error")).expect("json") + "\n";
        items.iter().map(line).collect()
    }

    /// What is said, with the deltas joined, or the error.
    async fn said(provider: &ReplayProvider, request: ChatRequest) -> String {
        let said = ask(provider, request).await.into_iter().filter_map(|item| match item {
            Ok(ChatEvent::TextDelta { text }) => Some(text),
            Ok(_) => None,
            Err(error) => Some(format!("{}: {error}", error.kind.as_str())),
        });
        said.collect()
    }

    /// Y3.2-1.
    #[test]
    fn the_head_declares_the_provider_and_its_models() {
        let plain = ReplayProvider::new(script("replies: []"));
        let model = plain.models().first().expect("a model");
        assert_eq!((plain.id().as_str(), model.id.as_str(), model.context_window), ("replay", "replay", 200_000));
        let yaml = "provider: p\nmodels: [{ id: m, context_window: 10, capabilities: { vision: false } }]";
        let declared = ReplayProvider::new(script(yaml));
        let model = declared.models().first().expect("a model");
        assert_eq!((declared.id().as_str(), model.id.as_str(), model.display_name.as_str()), ("p", "m", "m"));
        assert_eq!((model.context_window, model.capabilities.vision, model.capabilities.tool_use), (10, false, true));
    }

    /// Y3.2-2, D-33, K-21: every kind of step becomes its event, fragments interleaved as written.
    #[tokio::test]
    async fn each_step_becomes_its_event() {
        let yaml = r#"
replies:
  - say:
      - reasoning: hm
      - signature: { s: 1 }
      - text: hi
      - fragment: { index: 0, call_id: a, tool_name: read }
      - fragment: { index: 1, call_id: b, tool_name: grep, arguments: '{"x"' }
      - fragment: { index: 0, arguments: "{}" }
      - call: { tool_name: t, arguments: { z: 1, a: 2 } }
      - call: { call_id: own, tool_name: t, arguments: '{"cut' }
      - call: { tool_name: "" }
      - done: { stop: max_tokens, usage: { input_tokens: 3, output_tokens: 4 } }
  - say: [{ error: { kind: rate_limit, message: tokens, retry_after_ms: 0 } }]
  - say: [{ text: a }, cut]
"#;
        let provider = ReplayProvider::new(script(yaml));
        insta::assert_snapshot!(lines(&ask(&provider, user("x")).await), @r#"
{"type":"reasoning_delta","text":"hm"}
{"type":"reasoning_signature","signature":{"s":1}}
{"type":"text_delta","text":"hi"}
{"type":"tool_call_delta","index":0,"call_id":"a","tool_name":"read","arguments":""}
{"type":"tool_call_delta","index":1,"call_id":"b","tool_name":"grep","arguments":"{\"x\""}
{"type":"tool_call_delta","index":0,"arguments":"{}"}
{"type":"tool_call","call_id":"call-1","tool_name":"t","arguments":"{\"z\":1,\"a\":2}"}
{"type":"tool_call","call_id":"own","tool_name":"t","arguments":"{\"cut"}
{"type":"tool_call","call_id":"call-3","tool_name":"","arguments":"{}"}
{"type":"done","usage":{"input_tokens":3,"output_tokens":4},"stop":"max_tokens"}
"#);
        // K-22, K-24: the kind and the wish to wait are as written, whatever the message says.
        let error = ProviderError {
            retry_after: Some(Duration::ZERO),
            ..ProviderError::new(ProviderErrorKind::RateLimit, "tokens")
        };
        assert_eq!(ask(&provider, user("x")).await, [Err(error)]);
        assert_eq!(ask(&provider, user("x")).await, [Ok(ChatEvent::TextDelta { text: "a".into() })]);
    }

    #[tokio::test]
    async fn a_request_gets_the_first_reply_that_is_left_and_fits() {
        let yaml = r#"
replies:
  - { when: { user: { is: one } }, say: [{ text: exact }] }
  - { when: { user: { contains: ONE } }, repeat: true, say: [{ text: piece }] }
  - { when: { tool_result: { tool_name: t, contains: b, is_error: true } }, say: [{ text: failure }] }
  - { when: { tool_result: { is: abc } }, say: [{ text: result }] }
  - { tool_listed: nowhere, say: [{ text: never }] }
  - say: [{ text: any }]
"#;
        let provider = ReplayProvider::new(script(yaml));
        let result = |is_error: bool| {
            let message = json!({"role": "tool_result", "call_id": "c", "tool_name": "t", "content": "abc", "is_error": is_error});
            request(message)
        };
        let mut heard = Vec::new();
        for request in [user("one"), user("one"), user("all one"), result(true), result(true), result(true)] {
            heard.push(said(&provider, request).await);
        }
        assert_eq!(heard, ["exact", "piece", "piece", "failure", "result", "any"]);
        assert_eq!(provider.left(), 1);
    }

    /// D-62: what the runtime puts before the user's words does not hide them; nor does its notice after them (D-26).
    #[tokio::test]
    async fn the_users_own_words_are_the_last_text_of_the_last_message() {
        let provider = ReplayProvider::new(script("replies: [{ when: { user: { is: go } }, say: [{ text: yes }] }]"));
        let parts = json!([{"type": "text", "text": "<skill>"}, {"type": "text", "text": "go"}]);
        let mut asked = request(json!({"role": "user", "parts": parts}));
        asked.messages.push(youyou_api::Message::System { text: "notice".into() });
        assert_eq!(said(&provider, asked).await, "yes");
    }

    #[tokio::test]
    async fn a_request_that_nothing_fits_is_told_what_is_left() {
        let yaml = "replies: [{ when: { user: { is: one } }, say: [] }, { when: { tool_result: {} }, tool_listed: t, say: [] }]";
        let provider = ReplayProvider::new(script(yaml));
        insta::assert_snapshot!(said(&provider, user("two")).await, @r#"
        invalid_request: no reply of test.yaml fits this request. What reply 1 asks for (-), and the request's last message (+):
          [the user says]
        - one
        + two
        Others that are left: 2 {"tool_result":{}} with the tool "t". Add a reply that fits, or mark one with `repeat: true`
        "#);
        let mut other = user("one");
        other.model = youyou_api::ModelId::new("gpt");
        insta::assert_snapshot!(said(&provider, other).await, @r#"invalid_request: test.yaml has no model "gpt"; it has: replay"#);
        assert_eq!(provider.left(), 2);
    }

    #[tokio::test]
    async fn a_strict_provider_names_the_broken_rule() {
        let provider = ReplayProvider::new(script("replies: [{ repeat: true, say: [] }]"));
        assert_eq!(said(&provider, user("")).await, "");
        let broken = said(&provider.strict(), user("")).await;
        let expected = "invalid_request: the request breaks a rule of model APIs: message 1 has an empty or blank text; \
                        expected it to be left out";
        assert_eq!(broken, expected);
    }

    #[tokio::test]
    async fn a_template_is_filled_in_and_plain_text_is_not() {
        let yaml = r#"
replies:
  - when: { user: { contains: "say:" } }
    template: true
    say: [{ text: "{last_user_text}|" }, { call: { tool_name: t, arguments: { x: ["{rest}"] } } }]
  - say: [{ text: "{rest}" }]
"#;
        let provider = ReplayProvider::new(script(yaml));
        let events = ask(&provider, user("Say: \"a\"")).await;
        insta::assert_snapshot!(lines(&events), @r#"
{"type":"text_delta","text":"Say: \"a\"|"}
{"type":"tool_call","call_id":"call-1","tool_name":"t","arguments":"{\"x\":[\"\\\"a\\\"\"]}"}
{"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"end"}
"#);
        assert_eq!(said(&provider, user("x")).await, "{rest}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_goes_by_tokios_clock() {
        let provider = ReplayProvider::new(script("replies: [{ say: [{ delay_ms: 3600000 }, { text: a }] }]"));
        let start = Instant::now();
        assert_eq!(said(&provider, user("x")).await, "a");
        assert!(start.elapsed() >= Duration::from_secs(3600));
    }

    /// Y3.2-3: also inside of a pause, which here never ends by itself; and no more than once it is over.
    #[tokio::test]
    async fn a_cancelled_stream_ends_at_once() {
        let yaml = "replies: [{ repeat: true, say: [{ text: a }, { delay_ms: 18446744073709551615 }, { text: b }] }]";
        let provider = ReplayProvider::new(script(yaml));
        let cancel = CancellationToken::new();
        let mut stream = provider.chat(user("x"), cancel.clone());
        assert_eq!(stream.next().await, Some(Ok(ChatEvent::TextDelta { text: "a".into() })));
        let waiting = futures_util::future::poll_immediate(stream.next()).await;
        assert_eq!(waiting, None, "the pause has begun");
        cancel.cancel();
        assert_eq!(stream.next().await, None);
        assert_eq!(stream.next().await, None);
        assert_eq!(provider.chat(user("x"), cancel).next().await, None);
    }

    /// A stream that nobody polls takes no reply.
    #[tokio::test]
    async fn a_dropped_stream_takes_a_reply_only_if_it_was_polled() {
        let provider = ReplayProvider::new(script("replies: [{ say: [{ text: a }] }, { say: [{ text: b }] }]"));
        drop(provider.chat(user("x"), CancellationToken::new()));
        assert_eq!(provider.left(), 2);
        let mut stream = provider.chat(user("x"), CancellationToken::new());
        stream.next().await;
        drop(stream);
        assert_eq!(provider.left(), 1);
        assert_eq!(said(&provider, user("x")).await, "b");
    }

    #[tokio::test]
    async fn the_demonstration_shows_a_tool_call_and_says_what_it_is() {
        let provider = ReplayProvider::demo().strict();
        let ask_demo = async |mut request: ChatRequest| {
            request.model = youyou_api::ModelId::new("demo");
            lines(&ask(&provider, request).await)
        };
        let mut with_tool = user("Please count the words in: one two");
        let tool = json!({"name": "word-count", "description": "", "parameters": {}});
        with_tool.tools = vec![serde_json::from_value(tool).expect("a tool")];
        let mut answered = with_tool.clone();
        let call = json!([{"type": "tool_call", "call_id": "c", "tool_name": "word-count", "arguments": "{}"}]);
        let result = json!({"role": "tool_result", "call_id": "c", "tool_name": "word-count", "content": "2 words", "is_error": false});
        for message in [json!({"role": "assistant", "parts": call}), result] {
            answered.messages.push(serde_json::from_value(message).expect("a message"));
        }
        insta::assert_snapshot!(ask_demo(with_tool).await, @r#"
{"type":"text_delta","text":"This is a recorded demonstration and no language model. "}
{"type":"text_delta","text":"Like a model it now asks for a tool: word-count.\n"}
{"type":"tool_call","call_id":"call-1","tool_name":"word-count","arguments":"{\"text\":\"one two\"}"}
{"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"end"}
"#);
        insta::assert_snapshot!(ask_demo(answered).await, @r#"
{"type":"text_delta","text":"The tool answered: "}
{"type":"text_delta","text":"2 words"}
{"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"end"}
"#);
        for request in [user("count the words in: x"), user("What is the answer?")] {
            let said = ask_demo(request).await;
            assert!(said.contains("no language model") && !said.contains("tool_call"), "{said}");
        }
    }
}
