//! The seven hook functions of the contract: which of them a component exports, and a call of one.

use wasmtime::{
    Store,
    component::{Instance, InstancePre},
};
use youyou_api::{Error, HookEvent, HookOutcome, HookPayload, PluginId, hook::HookEventPayload};

use crate::{
    bindings::{
        exports::youyou::plugin as wit,
        youyou::plugin::types::{self, GuestError},
    },
    check::Role,
    convert::hook as convert,
    failure,
    file::ComponentFile,
    load::mismatch,
    run::{Call, Exports},
    state::GuestState,
};

/// The handlers that a component exports: its taps.
pub(crate) struct HookExports(Vec<Result<HookExport, Error>>);

impl HookExports {
    /// The handler of an event.
    ///
    /// # Errors
    /// What is wrong with a component that does not export it.
    pub(crate) fn get(&self, event: HookEvent) -> Result<&HookExport, Error> {
        // One for each event, in the order in which they are numbered.
        self.0[event as usize].as_ref().map_err(Error::clone)
    }
}

impl Exports for HookExports {
    fn find(pre: &InstancePre<GuestState>, file: &ComponentFile) -> Result<Self, Error> {
        let find =
            |event: HookEvent| HookExport::find(event, pre).map_err(|error| mismatch(file, Role::Hook(event), &error));
        Ok(Self(HookEvent::ALL.iter().copied().map(find).collect()))
    }
}

macro_rules! hook_exports {
    ($($event:ident = $module:ident;)+) => {
        /// The handler of one event.
        pub(crate) enum HookExport {
            $($event(wit::$module::GuestIndices),)+
        }

        impl HookExport {
            fn find(event: HookEvent, pre: &InstancePre<GuestState>) -> wasmtime::Result<Self> {
                Ok(match event { $(HookEvent::$event => Self::$event(wit::$module::GuestIndices::new(pre)?),)+ })
            }

            async fn call(
                &self,
                store: &mut Store<GuestState>,
                instance: &Instance,
                payload: &HookPayload,
            ) -> wasmtime::Result<Result<types::HookOutcome, GuestError>> {
                match (self, &payload.event) {
                    $((Self::$event(export), HookEventPayload::$event(event)) => {
                        let guest = export.load(&mut *store, instance)?;
                        guest.call_handle(store, &convert::$module(event, &payload.plugin_config)).await
                    })+
                    (_, event) => wasmtime::bail!("it was asked about {}, another event", event.event()),
                }
            }
        }
    };
}

hook_exports! {
    SessionStart = session_start;
    SessionEnd = session_end;
    TurnStart = turn_start;
    TurnEnd = turn_end;
    BeforeToolUse = before_tool_use;
    AfterToolUse = after_tool_use;
    BeforeCompact = before_compact;
}

/// One call of a handler.
pub(crate) struct HookCall<'a> {
    pub(crate) export: &'a HookExport,
    pub(crate) payload: &'a HookPayload,
    pub(crate) plugin: &'a PluginId,
}

impl Call for HookCall<'_> {
    type Answer = types::HookOutcome;
    type Output = HookOutcome;

    async fn run(
        &self,
        store: &mut Store<GuestState>,
        instance: &Instance,
    ) -> wasmtime::Result<Result<Self::Answer, GuestError>> {
        self.export.call(store, instance, self.payload).await
    }

    fn read(&self, who: &str, answer: Self::Answer, _: &GuestState) -> Result<HookOutcome, Error> {
        convert::outcome_from_wit(answer, self.plugin).map_err(|found| failure::bad_data(who, &found))
    }
}
