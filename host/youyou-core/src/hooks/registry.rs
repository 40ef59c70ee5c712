//! The taps of one session, in their fixed order.

use std::{fmt, sync::Arc};

use serde_json::Value;
use youyou_api::{HookEvent, HookHandler, PluginId, SourceLabel, Tap};

/// What one plugin taps, and with which configuration.
#[derive(Debug, Clone)]
pub struct PluginTaps {
    /// Whose taps they are.
    pub id: PluginId,
    /// The level that they come from: the tier of D-1.
    pub source: SourceLabel,
    /// The place within the tier: the order of registration in code, the byte order of the ids for folders.
    pub index: usize,
    /// The plugin's final configuration (Y3.5-2).
    pub config: Arc<Value>,
    /// In the order in which they were made.
    pub taps: Vec<Tap>,
}

/// Every tap of a session. It does not change while the session runs (D-5).
#[derive(Debug, Default)]
pub struct HookRegistry {
    by_event: [Vec<Registered>; HookEvent::ALL.len()],
}

/// One handler in its place.
#[derive(Clone)]
pub(super) struct Registered {
    pub(super) plugin: PluginId,
    pub(super) config: Arc<Value>,
    pub(super) handler: Arc<dyn HookHandler>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.plugin, self.handler.backend())
    }
}

impl HookRegistry {
    /// Puts taps into their order: by stage, then by tier, then by place within the tier, then as a plugin made them
    /// (D-1). The order of `plugins` itself does not matter.
    pub fn new(plugins: impl IntoIterator<Item = PluginTaps>) -> Self {
        let mut ranked = Vec::new();
        for PluginTaps { id, source, index, config, taps } in plugins {
            for (position, Tap { event, stage, handler }) in taps.into_iter().enumerate() {
                let registered = Registered { plugin: id.clone(), config: config.clone(), handler };
                ranked.push(((stage, tier(source), index, position), event, registered));
            }
        }
        // Stable, and no two taps have one rank unless their plugins have one index, which merging never gives out.
        ranked.sort_by_key(|(rank, ..)| *rank);
        let mut registry = Self::default();
        for (_, event, registered) in ranked {
            registry.by_event[event as usize].push(registered);
        }
        registry
    }

    /// The handlers of an event, in the order in which they are asked.
    pub(super) fn of(&self, event: HookEvent) -> &[Registered] {
        &self.by_event[event as usize]
    }

    /// Every handler.
    pub(super) fn handlers(&self) -> impl Iterator<Item = &Arc<dyn HookHandler>> {
        self.by_event.iter().flatten().map(|registered| &registered.handler)
    }

    /// Whether anybody taps the event.
    pub fn is_tapped(&self, event: HookEvent) -> bool {
        !self.of(event).is_empty()
    }

    /// Who is asked about an event, in order.
    pub fn plugins(&self, event: HookEvent) -> impl Iterator<Item = &PluginId> {
        self.of(event).iter().map(|registered| &registered.plugin)
    }
}

/// Code first, then the user's folders, then the project's: the last one to write has the last word, as everywhere
/// (D-1, Y3.1-1).
fn tier(source: SourceLabel) -> u8 {
    match source {
        SourceLabel::Programmatic => 0,
        SourceLabel::Global => 1,
        SourceLabel::Project => 2,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use youyou_api::{HookOutcome, plugin::hook_fn};

    use super::*;

    fn plugin(id: &str, source: SourceLabel, index: usize, stages: &[i32]) -> PluginTaps {
        let handler = hook_fn(|_, _| async { Ok(HookOutcome::Continue) });
        let tap = |stage: &i32| Tap { event: HookEvent::TurnStart, stage: *stage, handler: handler.clone() };
        PluginTaps {
            id: id.parse().expect("legal"),
            source,
            index,
            config: Arc::new(Value::Null),
            taps: stages.iter().map(tap).collect(),
        }
    }

    fn order(registry: &HookRegistry) -> String {
        registry.plugins(HookEvent::TurnStart).map(|id| id.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Y3.6-4, D-1: code, then global, then project; a stage goes before all of that.
    #[test]
    fn taps_are_ordered_by_stage_then_tier_then_index() {
        let registry = HookRegistry::new([
            plugin("p", SourceLabel::Project, 0, &[0]),
            plugin("late", SourceLabel::Programmatic, 0, &[1000, -1]),
            plugin("g2", SourceLabel::Global, 1, &[0]),
            plugin("g1", SourceLabel::Global, 0, &[0]),
            plugin("c", SourceLabel::Programmatic, 1, &[0, 0]),
        ]);
        assert_eq!(order(&registry), "late c c g1 g2 p late");
        assert!(registry.is_tapped(HookEvent::TurnStart) && !registry.is_tapped(HookEvent::TurnEnd));
    }

    proptest! {
        /// The order is the same on every machine and every run: it does not depend on how plugins were found.
        #[test]
        fn the_order_does_not_depend_on_the_order_of_discovery(
            plugins in prop::collection::vec((0..3u8, prop::collection::vec(-2..3i32, 0..4)), 0..8).prop_shuffle(),
            seed in any::<prop::sample::Index>(),
        ) {
            let sources = [SourceLabel::Programmatic, SourceLabel::Global, SourceLabel::Project];
            let found: Vec<_> = plugins
                .iter()
                .enumerate()
                .map(|(i, (tier, stages))| plugin(&format!("p{i}"), sources[*tier as usize], i, stages))
                .collect();
            let mut rotated = found.clone();
            if !rotated.is_empty() {
                let by = seed.index(rotated.len());
                rotated.rotate_left(by);
                rotated.reverse();
            }
            prop_assert_eq!(order(&HookRegistry::new(found)), order(&HookRegistry::new(rotated)));
        }
    }
}
