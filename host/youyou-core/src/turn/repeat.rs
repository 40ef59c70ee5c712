//! Notices a model that makes the same call again and again.

use youyou_api::ToolCall;

/// How many equal calls in a row make a circle.
const CIRCLE: u32 = 5;

/// Counts equal calls in a row over a turn.
#[derive(Debug, Default)]
pub(super) struct RepeatDetector {
    last: Option<(String, String)>,
    count: u32,
}

impl RepeatDetector {
    /// Takes the calls of one step; a notice for the model whenever one of them was the fifth in a row.
    pub(super) fn take(&mut self, calls: &[ToolCall]) -> Option<String> {
        let mut notice = None;
        for call in calls {
            let this = (call.tool_name.clone(), call.arguments.clone());
            if self.last.as_ref() == Some(&this) {
                self.count += 1;
            } else {
                self.last = Some(this);
                self.count = 1;
            }
            if self.count.is_multiple_of(CIRCLE) {
                notice = Some(format!(
                    "[The tool {:?} has been called {} times in a row with the same arguments. Its answer will not \
                     change: use what you have, try something else, or tell the user what is missing.]",
                    call.tool_name, self.count
                ));
            }
        }
        notice
    }
}

#[cfg(test)]
mod tests {
    use youyou_api::CallId;

    use super::*;

    fn call(arguments: &str) -> ToolCall {
        ToolCall { call_id: CallId::new("c"), tool_name: "read".into(), arguments: arguments.into() }
    }

    #[test]
    fn the_fifth_equal_call_in_a_row_is_noticed() {
        let mut detector = RepeatDetector::default();
        assert_eq!(detector.take(&[call("1"), call("1"), call("1"), call("1")]), None);
        assert_eq!(detector.take(&[call("2")]), None);
        for _ in 0..4 {
            assert_eq!(detector.take(&[call("1")]), None);
        }
        assert!(detector.take(&[call("1")]).expect("a circle").contains("5 times in a row"));
        assert_eq!(detector.take(&[call("1")]), None);
    }
}
