//! One instance for many calls: what the guest remembers in one is there in the next (`instance: per_session`, K-67).
//!
//! Calls queue, in the order in which they came. There is no task of its own that would own the instance: a call takes it
//! out of the slot and runs it in its own future, under its own deadline, in the span of whoever asked, and puts it back
//! only when the guest returned. So a call that trapped, hit a limit or was dropped half-way leaves an empty slot, and
//! no way leads to an instance that was left half-way.

use tokio::sync::Mutex;
use youyou_api::{CallContext, Error};

use crate::{
    call::{Ending, before_stop},
    failure,
    run::{Call, Exports, Guest, GuestComponent, Outcome, Ready, conclude, run},
};

/// The place of the one instance.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Slot>);

#[derive(Default)]
struct Slot {
    guest: Option<Guest>,
    /// Who ran the instance that did not come back.
    lost_in: Option<String>,
}

impl Kept {
    /// One call in the kept instance, or in a new one when there is none.
    pub(crate) async fn call<E: Exports, C: Call>(
        &self,
        component: &GuestComponent<E>,
        ready: &Ready<E>,
        who: &str,
        call: &C,
        context: &CallContext,
    ) -> Result<C::Output, Error> {
        let runtime = component.host().runtime()?;
        let mut slot = before_stop(context, self.0.lock()).await.ok_or_else(|| failure::stopped(who, context))?;
        let mut guest = match slot.guest.take() {
            Some(mut guest) => {
                guest.start_call(context);
                guest
            }
            None => component.open(runtime, who, context).await?,
        };
        if let Some(lost_in) = slot.lost_in.take() {
            tracing::warn!(
                "what was remembered of this session is lost: the instance broke off in {lost_in}; {who} starts a new one"
            );
        }
        // Stands as it is if this future is dropped while the guest runs.
        slot.lost_in = Some(who.to_owned());
        let ending = run(runtime, ready, &mut guest, call, context).await;
        let whole = matches!(ending, Ending::Ended(Outcome::Answered(_)));
        let had_nothing_yet = matches!(ending, Ending::Ended(Outcome::NotStarted(_)));
        let result = conclude(who, call, ending, guest.store.data(), context);
        if whole || had_nothing_yet {
            slot.lost_in = None;
        }
        slot.guest = whole.then_some(guest);
        result
    }
}
