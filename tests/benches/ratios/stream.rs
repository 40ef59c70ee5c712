//! How many pieces of text a second go through a session: from the model that says them to whoever shows them.

use std::time::{Duration, Instant};

use youyou::{AgentEventKind, TurnStatus};

use crate::{Outcome, report::Report, setting::Setting, speaker::Speaker};

/// As long as a model's pieces are on average.
const PIECE: &str = "word ";

pub(crate) fn measure(report: &mut Report) -> Outcome {
    let setting = Setting::new()?;
    let deltas = report.count(1_000_000, 1_000);
    let executor = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let speaker = Speaker::new(PIECE.to_owned(), deltas);
    let one_turn = || -> Outcome<Duration> {
        executor.block_on(async {
            let session = speaker.session(&setting).await?;
            let turn = async {
                let mut events = session.send("Speak.").await?;
                let (mut heard, mut last) = (0, None);
                while let Some(event) = events.next().await {
                    heard += usize::from(matches!(&event.kind, AgentEventKind::TextDelta { text } if text == PIECE));
                    last = Some(event.kind);
                }
                Ok::<_, youyou::Error>((heard, last))
            };
            let start = Instant::now();
            let (heard, last) = turn.await?;
            let took = start.elapsed();
            match last {
                Some(AgentEventKind::TurnComplete { status: TurnStatus::Completed, .. }) if heard == deltas => Ok(took),
                last => Err(format!("{heard} of {deltas} pieces were heard, and then {last:?}").into()),
            }
        })
    };
    one_turn()?;
    let mut rates = Vec::new();
    for _ in 0..report.effort(7, 1).rounds {
        rates.push(deltas as f64 / one_turn()?.as_secs_f64());
    }
    report.rate("pieces of text a second through a session without a storage", &mut rates, 500_000.0);
    Ok(())
}
