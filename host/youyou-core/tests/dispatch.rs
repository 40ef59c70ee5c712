//! The dispatcher through its public API, with tools written in code.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Map, Value, json};
use tokio::sync::{Barrier, Notify};
use youyou_api::{
    BoxFuture, CallContext, CallId, Error, ErrorCode, SourceLabel, ToolCall, ToolFailure, ToolHandler, ToolInput,
    ToolOutput, ToolSpec,
};
use youyou_core::tools::{Before, CallChain, CallObserver, CallScope, Dispatcher, ToolCatalog, ToolResult};

type Answer = Result<ToolOutput, ToolFailure>;
type Body = Box<dyn Fn(ToolInput, CallContext) -> BoxFuture<'static, Answer> + Send + Sync>;

struct CodeTool {
    spec: ToolSpec,
    timeout: Option<Duration>,
    body: Body,
}

impl ToolHandler for CodeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }
    fn call<'a>(&'a self, input: ToolInput, context: CallContext) -> BoxFuture<'a, Answer> {
        (self.body)(input, context)
    }
    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

#[derive(Default)]
struct Tools(ToolCatalog);

impl Tools {
    fn with<F: Future<Output = Answer> + Send + 'static>(
        self,
        name: &str,
        body: impl Fn(ToolInput, CallContext) -> F + Send + Sync + 'static,
    ) -> Self {
        self.with_spec(name, false, None, body)
    }

    fn with_spec<F: Future<Output = Answer> + Send + 'static>(
        mut self,
        name: &str,
        mutating: bool,
        timeout: Option<Duration>,
        body: impl Fn(ToolInput, CallContext) -> F + Send + Sync + 'static,
    ) -> Self {
        let spec = ToolSpec {
            name: name.parse().expect("legal"),
            description: String::new(),
            parameters: json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
            mutating,
        };
        let body: Body = Box::new(move |input, context| Box::pin(body(input, context)));
        let tool = CodeTool { spec, timeout, body };
        self.0.add(SourceLabel::Programmatic, Arc::new(tool)).expect("no conflict");
        self
    }

    fn dispatcher(self) -> Dispatcher {
        Dispatcher::new(Arc::new(self.0))
    }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { call_id: CallId::new(id), tool_name: name.into(), arguments: arguments.into() }
}

fn scope() -> CallScope {
    CallScope::new("/")
}

async fn dispatch(dispatcher: &Dispatcher, name: &str, arguments: &str) -> ToolResult {
    dispatcher.dispatch(call("c", name, arguments), &scope()).await.expect("not fatal")
}

/// What happened, in order.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn push(&self, line: impl Into<String>) {
        self.0.lock().expect("no panic while held").push(line.into());
    }
    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no panic while held").clone()
    }
}

/// Writes down when it is asked, and answers as told.
struct Recording {
    log: Log,
    before: fn(&ToolInput) -> Before,
}

impl CallChain for Recording {
    fn before<'a>(&'a self, input: &'a ToolInput, _: &'a CallScope) -> BoxFuture<'a, Before> {
        self.log.push(format!("before {}", input.call_id));
        Box::pin(async move { (self.before)(input) })
    }
    fn after<'a>(
        &'a self,
        input: &'a ToolInput,
        output: ToolOutput,
        _: Duration,
        _: &'a CallScope,
    ) -> BoxFuture<'a, ToolOutput> {
        self.log.push(format!("after {}", input.call_id));
        Box::pin(async move { ToolOutput { content: format!("{} (seen)", output.content), ..output } })
    }
}

fn unchanged(input: &ToolInput) -> Before {
    Before::Run(input.arguments.clone())
}

fn logging(log: &Log) -> impl Fn(ToolInput, CallContext) -> BoxFuture<'static, Answer> + Send + Sync + use<> {
    let log = log.clone();
    move |input, _| {
        let log = log.clone();
        Box::pin(async move {
            log.push(format!("run {}", input.call_id));
            Ok(ToolOutput::text(format!("did {}", input.call_id)))
        })
    }
}

/// Y3.3-2: the tool sees what the model wrote, and its whole answer comes back.
#[tokio::test]
async fn a_call_reaches_its_tool_and_its_answer_comes_back() {
    let dispatcher = Tools::default()
        .with("echo", |input, _| async move { Ok(ToolOutput::text(input.to_json()).with_metadata(json!({"n": 1}))) })
        .dispatcher();
    let result = dispatch(&dispatcher, "echo", r#"{"b": 1, "a": [2]}"#).await;
    assert!(result.success());
    assert_eq!(result.output.content, r#"{"call_id":"c","tool_name":"echo","arguments":{"b":1,"a":[2]}}"#);
    assert_eq!(result.output.metadata, Some(json!({"n": 1})));
    assert_eq!(result.error, None);
}

/// K-15, K-23, D-52, D-17: whatever cannot run gets one result, and neither tool nor chain hears of it.
#[tokio::test]
async fn a_call_that_cannot_run_starts_nothing() {
    let log = Log::default();
    let dispatcher = Tools::default()
        .with("run", logging(&log))
        .dispatcher()
        .with_chain(Arc::new(Recording { log: log.clone(), before: unchanged }));
    let cases = [
        ("", "{}", ErrorCode::ToolNotFound),
        ("rum", "{}", ErrorCode::ToolNotFound),
        ("run", "null", ErrorCode::ToolArgumentsInvalid),
        ("run", "{\"n\":", ErrorCode::ToolArgumentsInvalid),
        ("run", "{\"n\":\"1\"}", ErrorCode::ToolArgumentsInvalid),
    ];
    for (name, arguments, code) in cases {
        let result = dispatch(&dispatcher, name, arguments).await;
        assert!(!result.success());
        assert_eq!(result.tool_name, name);
        let error = result.error.expect("an error");
        assert_eq!((error.code, &error.message), (code, &result.output.content), "{name:?} {arguments}");
    }
    assert_eq!(log.lines(), Vec::<String>::new());
}

/// Y4.1-3: every chain before in model order, then all calls at once, then every chain after in call order.
#[tokio::test]
async fn a_read_only_batch_runs_at_once_between_the_two_rounds_of_chains() {
    let log = Log::default();
    // Nobody passes until all three have arrived: the calls must overlap or the test hangs.
    let barrier = Arc::new(Barrier::new(3));
    let waiting = logging(&log);
    let dispatcher = Tools::default()
        .with("look", move |input, context| {
            let (barrier, answer) = (barrier.clone(), waiting(input, context));
            async move {
                barrier.wait().await;
                answer.await
            }
        })
        .dispatcher()
        .with_chain(Arc::new(Recording { log: log.clone(), before: unchanged }));
    let calls =
        vec![call("a", "look", "{}"), call("x", "unknown", "{}"), call("b", "look", "{}"), call("c", "look", "{}")];
    let results = dispatcher.dispatch_batch(calls, &scope()).await.results;
    let contents: Vec<_> = results.iter().map(|r| r.output.content.as_str()).collect();
    assert_eq!(
        contents,
        ["did a (seen)", "no tool is named \"unknown\"; there are: look", "did b (seen)", "did c (seen)"]
    );
    let lines = log.lines();
    assert_eq!(lines[..3], ["before a", "before b", "before c"]);
    assert_eq!(lines[6..], ["after a", "after b", "after c"]);
}

/// Y4.1-4: one mutating tool makes the whole batch serial, hooks included, in the model's order.
#[tokio::test]
async fn a_batch_with_a_mutating_tool_runs_one_call_after_another() {
    let log = Log::default();
    let dispatcher = Tools::default()
        .with("look", logging(&log))
        .with_spec("change", true, None, logging(&log))
        .dispatcher()
        .with_chain(Arc::new(Recording { log: log.clone(), before: unchanged }));
    let calls = vec![call("a", "look", "{}"), call("b", "change", "{}"), call("c", "look", "{}")];
    assert_eq!(dispatcher.dispatch_batch(calls, &scope()).await.results.len(), 3);
    let expected: Vec<_> =
        ["a", "b", "c"].iter().flat_map(|id| ["before", "run", "after"].map(|p| format!("{p} {id}"))).collect();
    assert_eq!(log.lines(), expected);
}

/// Y4.4-3, D-17: a refused call is not run and no chain hears of it afterwards; its siblings go on.
#[tokio::test]
async fn a_refused_call_never_reaches_the_tool() {
    let log = Log::default();
    let before = |input: &ToolInput| match input.call_id.as_str() {
        "a" => Before::Refuse(Error::new(ErrorCode::HookAborted, "not today")),
        _ => Before::Run(input.arguments.clone()),
    };
    let dispatcher = Tools::default()
        .with("look", logging(&log))
        .dispatcher()
        .with_chain(Arc::new(Recording { log: log.clone(), before }));
    let calls = vec![call("a", "look", "{}"), call("b", "look", "{}")];
    let results = dispatcher.dispatch_batch(calls, &scope()).await.results;
    assert_eq!(results[0].output, ToolOutput::error("not today"));
    assert!(results[1].success());
    assert_eq!(log.lines(), ["before a", "before b", "run b", "after b"]);
}

/// D-7: what a chain made of the arguments must still fit the parameters.
#[tokio::test]
async fn changed_arguments_are_checked_again() {
    let tools = |before| {
        Tools::default()
            .with("echo", |input, _| async move { Ok(ToolOutput::text(Value::Object(input.arguments).to_string())) })
            .dispatcher()
            .with_chain(Arc::new(Recording { log: Log::default(), before }))
    };
    let good = tools(|_| Before::Run(Map::from_iter([("n".to_owned(), json!(2))])));
    assert_eq!(dispatch(&good, "echo", r#"{"n":1}"#).await.output.content, r#"{"n":2} (seen)"#);
    let bad = tools(|_| Before::Run(Map::from_iter([("n".to_owned(), json!("2"))])));
    let error = dispatch(&bad, "echo", r#"{"n":1}"#).await.error.expect("refused");
    assert_eq!(error.code, ErrorCode::ToolArgumentsInvalid);
}

#[tokio::test]
async fn a_panicking_tool_is_an_error_result_and_its_siblings_go_on() {
    let log = Log::default();
    let dispatcher = Tools::default()
        .with("late", |_, _| async { panic!("lost it: {}", 7) })
        .with("early", |_, _| -> BoxFuture<'static, Answer> { panic!("at once") })
        .with("look", logging(&log))
        .dispatcher();
    let calls = vec![call("a", "late", "{}"), call("b", "early", "{}"), call("c", "look", "{}")];
    let results = dispatcher.dispatch_batch(calls, &scope()).await.results;
    let error = results[0].error.clone().expect("panicked");
    assert_eq!((error.code, error.kind()), (ErrorCode::ToolExecutionError, Some("PANIC")));
    assert_eq!(results[0].output.content, "tool \"late\" panicked: lost it: 7");
    assert_eq!(results[1].output.content, "tool \"early\" panicked: at once");
    assert_eq!(results[2].output.content, "did c");
}

/// Y4.4-2, D-60: deadline, token, then the future is dropped. The tool's own figure wins over the dispatcher's.
#[tokio::test(start_paused = true)]
async fn a_tool_past_its_deadline_is_told_then_dropped() {
    struct OnDrop(Log, &'static str);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.push(self.1);
        }
    }
    let log = Log::default();
    let (polite, stubborn) = (log.clone(), log.clone());
    let dispatcher = Tools::default()
        .with_spec("polite", false, Some(Duration::from_millis(500)), move |_, context| {
            let log = polite.clone();
            async move {
                context.cancel.cancelled().await;
                log.push("told");
                let error = Error::new(ErrorCode::RequestCancelled, "stopped").with_kind("CANCELLED");
                Err(error.with_detail("stdout", "part").into())
            }
        })
        .with("stubborn", move |_, _| {
            let dropped = OnDrop(stubborn.clone(), "dropped");
            async move {
                let _kept = dropped;
                std::future::pending().await
            }
        })
        .dispatcher()
        .with_timeout(Duration::from_millis(700));
    let error = dispatch(&dispatcher, "polite", "{}").await.error.expect("timed out");
    assert_eq!((error.code, error.kind()), (ErrorCode::ToolTimeout, Some("LIMIT_TIME")));
    assert_eq!((&error.details["stdout"], &error.details["timeout_ms"]), (&json!("part"), &json!(500)));
    let limit = "tool \"polite\" was stopped after 500 ms, its time limit; the `timeout()` of its handler sets it";
    assert_eq!(error.message, limit);
    let error = dispatch(&dispatcher, "stubborn", "{}").await.error.expect("timed out");
    assert_eq!((error.code, error.kind()), (ErrorCode::ToolTimeout, Some("LIMIT_TIME")));
    assert_eq!(error.details["timeout_ms"], 700);
    assert!(error.message.ends_with("`tool_timeout_ms` of config.yaml sets it for a handler without a `timeout()`"));
    assert_eq!(log.lines(), ["told", "dropped"]);
}

/// Y4.4-2: a handler that keeps its own deadline may take a moment to end what it runs, and says itself how it ended.
#[tokio::test(start_paused = true)]
async fn a_tool_that_keeps_its_deadline_is_not_told_that_it_was_cancelled() {
    let dispatcher = Tools::default()
        .with("punctual", |_, context| async move {
            tokio::time::sleep_until(context.deadline.at().into()).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            let code = if context.cancel.is_cancelled() { ErrorCode::RequestCancelled } else { ErrorCode::ToolTimeout };
            Err(Error::new(code, "in its own words").into())
        })
        .dispatcher();
    let error = dispatch(&dispatcher, "punctual", "{}").await.error.expect("timed out");
    assert_eq!((error.code, &*error.message), (ErrorCode::ToolTimeout, "in its own words"));
}

/// D-27: a cancel reaches every running call; one that does not stop is given up, its effect unknown.
#[tokio::test(start_paused = true)]
async fn a_cancel_reaches_the_running_calls() {
    let started = Arc::new(Notify::new());
    let notify = started.clone();
    let dispatcher = Tools::default()
        .with("stubborn", move |_, _| {
            notify.notify_one();
            std::future::pending()
        })
        .dispatcher();
    let scope = scope();
    let cancel = scope.cancel.clone();
    let call = tokio::spawn(async move { dispatcher.dispatch(call("c", "stubborn", "{}"), &scope).await });
    started.notified().await;
    cancel.cancel();
    let result = call.await.expect("no panic").expect("not fatal");
    let error = result.error.expect("cancelled");
    assert_eq!(error.code, ErrorCode::RequestCancelled);
    assert!(error.message.ends_with("what it has done is unknown"), "{error}");
}

/// Writes down which calls it is told of.
#[derive(Debug)]
struct Told(Log);

impl CallObserver for Told {
    fn started(&self, call: &ToolCall) {
        self.0.push(format!("start {}", call.call_id));
    }
    fn ended(&self, result: &ToolResult) {
        self.0.push(format!("end {}", result.call_id));
    }
}

fn told(log: &Log) -> CallScope {
    CallScope { observer: Some(Arc::new(Told(log.clone()))), ..scope() }
}

fn fatal() -> Answer {
    Err(ToolFailure::Fatal(Error::new(ErrorCode::StorageError, "disk gone")))
}

/// Y4.1-6: the call that ends the turn has a result like every call that began; those after it do not begin.
#[tokio::test]
async fn a_fatal_failure_ends_the_batch() {
    let log = Log::default();
    let dispatcher = Tools::default()
        .with_spec("store", true, None, |_, _| async { fatal() })
        .with("look", logging(&log))
        .dispatcher();
    let calls = vec![call("a", "store", "{}"), call("b", "look", "{}")];
    let batch = dispatcher.dispatch_batch(calls, &told(&log)).await;
    assert_eq!(batch.fatal.expect("fatal").code, ErrorCode::StorageError);
    let [result] = &batch.results[..] else { panic!("one result: {:?}", batch.results) };
    assert_eq!(result.output.content, "[this call broke off, and what it has done is unknown: disk gone]");
    assert!(!result.success() && result.error.as_ref().is_some_and(|error| error.code == ErrorCode::StorageError));
    assert_eq!(log.lines(), ["start a", "end a"]);
    let alone = dispatcher.dispatch(call("c", "store", "{}"), &told(&log)).await.expect_err("fatal");
    assert_eq!(alone.code, ErrorCode::StorageError);
    assert_eq!(log.lines(), ["start a", "end a", "start c", "end c"]);
}

/// Y4.1-3, Y7-3: calls that run at once all come to their end, in the order of the calls, whichever of them is fatal.
#[tokio::test]
async fn in_a_read_only_batch_every_call_ends_in_order_though_one_is_fatal() {
    let log = Log::default();
    let dispatcher = Tools::default()
        .with("break", |_, _| async { fatal() })
        .with("look", |input, _| async move { Ok(ToolOutput::text(format!("saw {}", input.call_id))) })
        .dispatcher();
    let calls =
        vec![call("a", "look", "{}"), call("b", "break", "{}"), call("c", "break", "{}"), call("d", "look", "{}")];
    let batch = dispatcher.dispatch_batch(calls, &told(&log)).await;
    assert_eq!(batch.fatal.expect("fatal").message, "disk gone");
    let results: Vec<_> = batch.results.iter().map(|r| (r.call_id.as_str(), r.success())).collect();
    assert_eq!(results, [("a", true), ("b", false), ("c", false), ("d", true)]);
    let starts = ["start a", "start b", "start c", "start d"];
    assert_eq!(log.lines(), [starts, ["end a", "end b", "end c", "end d"]].concat());
}

/// Y6.2-4, D-24: what runs is waited for, what has not started is skipped and says so.
#[tokio::test]
async fn a_stopped_scope_starts_no_further_call() {
    let log = Log::default();
    let scope = told(&log);
    let stop = scope.stop.clone();
    let dispatcher = Tools::default()
        .with_spec("slow", true, None, move |_, _| {
            stop.cancel();
            async { Ok(ToolOutput::text("done")) }
        })
        .with("b", logging(&log))
        .dispatcher();
    let batch = dispatcher.dispatch_batch(vec![call("1", "slow", "{}"), call("2", "b", "{}")], &scope).await;
    let results: Vec<_> = batch.results.iter().map(|r| (r.output.content.as_str(), r.skipped())).collect();
    assert_eq!(results, [("done", false), ("[cancelled: this call was not started]", true)]);
    assert_eq!(log.lines(), ["start 1", "end 1", "start 2", "end 2"]);
}

/// K-19, Y4.4-4.
#[tokio::test]
async fn a_huge_answer_is_cut_at_one_mebibyte() {
    let dispatcher =
        Tools::default().with("print", |_, _| async { Ok(ToolOutput::text("€".repeat(400_000))) }).dispatcher();
    let content = dispatch(&dispatcher, "print", "{}").await.output.content;
    assert!(content.len() <= 1_048_576 && content.ends_with("the limit is 1048576]"));
}

#[tokio::test]
async fn figures_reported_by_a_tool_are_there_for_the_caller() {
    let dispatcher = Tools::default()
        .with("measure", |_, context| async move {
            context.stats.set("compile_us", 7);
            Ok(ToolOutput::text(""))
        })
        .dispatcher();
    let scope = CallScope { stats: youyou_api::CallStats::on(), ..scope() };
    dispatcher.dispatch(call("c", "measure", "{}"), &scope).await.expect("not fatal");
    assert_eq!(scope.stats.snapshot()["compile_us"], 7);
}
