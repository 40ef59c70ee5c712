//! What idle component tools take: a process of its own opens a runtime over many, then uses one.

#[cfg(not(target_os = "linux"))]
use crate::{Outcome, report::Report};

/// The first word of the command line of that process.
pub(crate) const CHILD: &str = "--idle-tools";

#[cfg(not(target_os = "linux"))]
pub(crate) fn measure(_: &mut Report) -> Outcome {
    // What a process holds is asked in another way on every system.
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn child(_: &[String]) -> Outcome {
    Err("only on Linux".into())
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{child, measure};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use serde_json::json;

    use super::CHILD;
    use crate::{
        Outcome,
        held::{Held, in_a_process},
        report::Report,
        setting::{self, Setting, call},
    };

    pub(crate) fn measure(report: &mut Report) -> Outcome {
        let setting = Setting::new()?;
        let tools = report.count(1000, 50);
        setting.install_many(0, tools)?;
        let seen = in_a_process(CHILD, &[setting.home(), setting.workspace(), setting.cache()])?;
        let figure = |name: &str| seen[name].as_u64().ok_or_else(|| format!("no {name} in {seen}"));

        let (before, idle, used) = (figure("code_before")?, figure("code_idle")?, figure("code_used")?);
        if used <= idle {
            return Err("the code of a tool in use was not seen, so that of an idle one would not be either".into());
        }
        let idle_code = idle - before.min(idle);
        let on_disk = figure("cached_idle")?;
        report.fact(
            "pieces of compiled code for 1,000 idle component tools",
            format!("{idle_code} in memory, {on_disk} on disk"),
            "none",
            idle_code == 0 && on_disk == 0,
        );
        if figure("tools")? != tools as u64 {
            return Err(format!("expected {tools} tools: {seen}").into());
        }
        let per_tool = (figure("rss_idle")?.saturating_sub(figure("rss_before")?)) as f64 / tools as f64;
        report.information("resident memory for each of 1,000 idle component tools", format!("{per_tool:.1} KiB"));
        let first = (figure("rss_used")?.saturating_sub(figure("rss_idle")?)) as f64 / 1024.0;
        report.information("resident memory for the first use of one, compiler included", format!("{first:.1} MiB"));
        Ok(())
    }

    /// Opens the runtime, uses one tool, and prints what the process held at each point.
    pub(crate) fn child(words: &[String]) -> Outcome {
        let [_, home, workspace, cache] = words else { return Err("expected a home, a workspace and a cache".into()) };
        let before = Held::now()?;
        let runtime = setting::open(home.as_ref(), workspace.as_ref(), cache.into())?;
        let (idle, cached_idle) = (Held::now()?, fs::read_dir(cache)?.count());
        let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let call = call("component-0000", r#"{"path":"README.md"}"#);
        executor.block_on(runtime.dispatcher().dispatch(call, &youyou::CallScope::new(workspace)))?;
        let used = Held::now()?;
        let seen = json!({
            "tools": runtime.tools().len(),
            "code_before": before.code, "code_idle": idle.code, "code_used": used.code, "cached_idle": cached_idle,
            "rss_before": before.resident_kib, "rss_idle": idle.resident_kib, "rss_used": used.resident_kib,
        });
        println!("{seen}");
        Ok(())
    }
}
