//! Tells the host about a panic before the component traps, so that its error can name the message and the place.

use std::panic::PanicHookInfo;

/// What is known of a panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PanicReport {
    pub(crate) message: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl PanicReport {
    pub(crate) fn new(info: &PanicHookInfo<'_>) -> Self {
        let message = info.payload_as_str().unwrap_or("a panic whose payload is not text").to_owned();
        match info.location() {
            Some(place) => Self { message, file: place.file().to_owned(), line: place.line(), column: place.column() },
            None => Self { message, file: String::new(), line: 0, column: 0 },
        }
    }
}

/// Reports panics to the host from now on. Only the first call has an effect.
#[cfg(target_arch = "wasm32")]
pub(crate) fn install_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| crate::component::report_panic(&PanicReport::new(info))));
    });
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_panic_is_reported_with_its_message_and_place() {
        let (reports, received) = mpsc::channel();
        let usual = std::panic::take_hook();
        // Other tests of this process may panic meanwhile; only this thread's panics are of interest.
        let here = std::thread::current().id();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().id() == here {
                let _ = reports.send(PanicReport::new(info));
            } else {
                usual(info);
            }
        }));
        let number = 7;
        let formatted = std::panic::catch_unwind(|| panic!("number {number}"));
        let other = std::panic::catch_unwind(|| std::panic::panic_any(number));
        let _ = std::panic::take_hook();

        assert!(formatted.is_err() && other.is_err());
        let report = received.recv().expect("a report");
        assert_eq!(report.message, "number 7");
        assert!(report.file.ends_with("panic.rs"), "{report:?}");
        assert!(report.line > 1 && report.column > 1, "{report:?}");
        assert_eq!(received.recv().expect("a report").message, "a panic whose payload is not text");
    }
}
