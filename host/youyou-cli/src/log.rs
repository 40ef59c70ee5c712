//! What goes to stderr while a command runs: the guests' own lines, and the runtime's warnings.

use std::fmt;

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    EnvFilter,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

use crate::{print::visible, terminal::Terminal};

/// The target under which tools and plugins write.
const GUEST: &str = "youyou::guest";

/// Sends the log to stderr. Without `-v` that is what guests say and what is wrong; `YOUYOU_LOG` overrides it in
/// tracing's own syntax.
pub(crate) fn install(verbose: u8, terminal: Terminal) {
    let default = match verbose {
        0 => "warn,youyou::guest=info",
        // A target stands for every target that starts with it: all crates of YouYou, and the guests.
        1 => "info,youyou=debug",
        _ => "info,youyou=trace",
    };
    let filter = std::env::var("YOUYOU_LOG").ok().and_then(|filter| EnvFilter::try_new(filter).ok());
    tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|| EnvFilter::new(default)))
        .with_writer(move || terminal.clone())
        // It would say so on stderr, where nobody listens any more.
        .log_internal_errors(false)
        .event_format(Lines)
        .init();
}

/// `word-count: a line` for a guest, `warning: a line key=value` for the runtime.
struct Lines;

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = *event.metadata().level();
        let mut line = String::new();
        let by_guest = event.metadata().target() == GUEST;
        if by_guest {
            line.push_str(&format!("{}: ", fields.guest.as_deref().unwrap_or("guest")));
        }
        if !by_guest || level <= Level::WARN {
            line.push_str(&format!("{}: ", name(level)));
        }
        // No further line may pass for one of somebody else's.
        line.push_str(&format!("{}{}", fields.message, fields.others).replace('\n', "\n  "));
        writeln!(writer, "{}", visible(&line))
    }
}

fn name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warning",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

#[derive(Default)]
struct Fields {
    guest: Option<String>,
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            "tool" | "plugin" if self.guest.is_none() => self.guest = Some(value.to_owned()),
            // Which of its two streams a guest printed to says nothing that its line does not.
            "stream" => {}
            name => self.others.push_str(&format!(" {name}={value:?}")),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message.push_str(&format!("{value:?}")),
            "tool" | "plugin" if self.guest.is_none() => self.guest = Some(format!("{value:?}")),
            name => self.others.push_str(&format!(" {name}={value:?}")),
        }
    }
}
