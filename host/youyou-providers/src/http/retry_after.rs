//! How long a server asks to wait.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// No server is believed that asks for more; the figure is only kept in range by it.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What the headers of an answer say: `retry-after-ms`, else `retry-after` in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(pause) = text("retry-after-ms").and_then(|text| seconds(text).map(|pause| pause / 1000)) {
        return Some(pause);
    }
    let wish = text(RETRY_AFTER.as_str())?;
    seconds(wish).or_else(|| {
        let date = httpdate::parse_http_date(wish).ok()?;
        Some(date.duration_since(now).unwrap_or_default().min(LONGEST))
    })
}

/// A number of seconds, whole or not, with or without an `s`.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().trim_end_matches('s').parse().ok()?;
    let finite = seconds.is_finite() && seconds >= 0.0;
    finite.then(|| Duration::try_from_secs_f64(seconds.min(LONGEST.as_secs_f64())).unwrap_or(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(name: &'static str, value: &str) -> Option<u128> {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").expect("a date");
        let headers = HeaderMap::from_iter([(
            reqwest::header::HeaderName::from_static(name),
            value.parse().expect("a header value"),
        )]);
        retry_after(&headers, now).map(|pause| pause.as_millis())
    }

    /// D-33.
    #[test]
    fn every_form_of_the_header_is_read() {
        assert_eq!(wish("retry-after", "2"), Some(2000));
        assert_eq!(wish("retry-after", " 0.25 "), Some(250));
        assert_eq!(wish("retry-after-ms", "1500"), Some(1500));
        assert_eq!(wish("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), Some(30_000));
        assert_eq!(wish("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        assert_eq!(wish("retry-after", "1e300"), Some(86_400_000));
        for nothing in ["", "soon", "-1", "NaN", "inf"] {
            assert_eq!(wish("retry-after", nothing), None, "{nothing:?}");
        }
        assert_eq!(seconds("34.5s"), Some(Duration::from_millis(34_500)));
    }
}
