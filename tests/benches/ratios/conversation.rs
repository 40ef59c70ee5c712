//! A long conversation: what a request costs as it grows, and what it takes to keep.

use std::time::{Duration, Instant};

use youyou::Session;

use crate::{
    Outcome,
    measure::in_turn,
    report::{Reach, Report},
    setting::Setting,
    speaker::Speaker,
};

/// The first word of the command line of the process that keeps a conversation.
pub(crate) const CHILD: &str = "--conversation";

/// What each message says: half a kilobyte, in words.
fn text() -> String {
    "some eight letters and a blank; ".repeat(16)
}

pub(crate) fn measure(report: &mut Report) -> Outcome {
    let (long, short) = (report.count(10_000, 40), report.count(1_000, 20));
    let setting = Setting::new()?;
    let executor = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut long = executor.block_on(Conversation::of(&setting, long))?;
    let mut short = executor.block_on(Conversation::of(&setting, short))?;
    let measured = in_turn(
        report.effort(7, 3),
        || executor.block_on(long.time_of_a_thousand()),
        || executor.block_on(short.time_of_a_thousand()),
    )?;
    report.ratio(
        "building a request: a message among 10,000, to one among 1,000",
        &measured,
        Reach::AtMost(2.0),
        ["building a request from 10,000 messages, for each 1,000 of them", "building a request from 1,000 messages"],
    );
    #[cfg(target_os = "linux")]
    resident(report)?;
    Ok(())
}

/// A session that has gone on for a while.
struct Conversation {
    speaker: Speaker,
    session: Session,
}

impl Conversation {
    /// One of so many messages, half of them the user's.
    async fn of(setting: &Setting, messages: usize) -> Outcome<Self> {
        let speaker = Speaker::new(text(), 1);
        let session = speaker.session(setting).await?;
        let conversation = Self { speaker, session };
        for _ in 0..messages / 2 {
            conversation.turn().await?;
        }
        Ok(conversation)
    }

    async fn turn(&self) -> Outcome {
        let mut events = self.session.send(text()).await?;
        while events.next().await.is_some() {}
        Ok(())
    }

    /// How long it takes from sending a message until the model is asked, for each thousand messages of the request.
    async fn time_of_a_thousand(&mut self) -> Outcome<Duration> {
        let start = Instant::now();
        self.turn().await?;
        let asked = self.speaker.asked()?;
        let took = asked.at.duration_since(start);
        Ok(took.mul_f64(1_000.0 / asked.messages as f64))
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn child(_: &[String]) -> Outcome {
    Err("only on Linux".into())
}

/// A process of its own, which has done nothing else.
#[cfg(target_os = "linux")]
fn resident(report: &mut Report) -> Outcome {
    let messages = report.count(10_000, 40);
    let seen = crate::held::in_a_process(CHILD, &[messages.to_string()])?;
    let figure = |name: &str| seen[name].as_u64().ok_or_else(|| format!("no {name} in {seen}"));
    let text = figure("text_kib")?;
    let resident = figure("resident_after_kib")?.saturating_sub(figure("resident_before_kib")?);
    report.share(
        "resident memory of a session with 10,000 messages, to their text",
        resident as f64 / text as f64,
        2.0,
    );
    report.information("text of 10,000 messages", format!("{:.2} MiB", text as f64 / 1024.0));
    report.information("resident memory of a session with them", format!("{:.2} MiB", resident as f64 / 1024.0));
    Ok(())
}

/// Has a conversation, and prints what the process held before and after it.
#[cfg(target_os = "linux")]
pub(crate) fn child(words: &[String]) -> Outcome {
    use crate::held::Held;

    let [_, messages] = words else { return Err("expected a number of messages".into()) };
    let messages = messages.parse()?;
    let setting = Setting::new()?;
    let executor = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    executor.block_on(async {
        // Whatever is made once, however long the conversation is.
        drop(Conversation::of(&setting, 2).await?);
        let before = Held::now()?;
        let conversation = Conversation::of(&setting, messages).await?;
        conversation.session.idle().await;
        let after = Held::now()?;
        let text_kib = messages * text().len() / 1024;
        let (before, after) = (before.resident_kib, after.resident_kib);
        let seen = serde_json::json!({
            "text_kib": text_kib, "resident_before_kib": before, "resident_after_kib": after,
        });
        println!("{seen}");
        Ok(())
    })
}
