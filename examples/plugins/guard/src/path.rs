//! Whether a path leads out of the folder that relative paths start in. Only its text is looked at, no file.

/// Whether `path` leads out. Absolute paths do, unless they lie below one of `roots`.
pub(crate) fn leads_out(path: &str, roots: &[String]) -> bool {
    let path = path.trim();
    if is_absolute(path) {
        return !roots.iter().any(|root| is_absolute(root) && lies_below(path, root));
    }
    steps(path).is_none()
}

/// Also a home folder, a drive, a share and a URL of a file: whatever does not start in the working directory.
fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && path[1..].starts_with(':');
    let url = path.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"));
    drive || url || path.starts_with(['/', '\\', '~'])
}

fn lies_below(path: &str, root: &str) -> bool {
    match (steps(path), steps(root)) {
        (Some(path), Some(root)) => path.starts_with(&root),
        _ => false,
    }
}

/// The folders that lead to it, without detours; none if it climbs above where it starts.
fn steps(path: &str) -> Option<Vec<&str>> {
    let mut steps = Vec::new();
    for step in path.split(['/', '\\']) {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_leads_out_when_it_climbs_above_its_start() {
        for inside in ["", ".", "a", "a/b.txt", "a/../b", "./a/./..", "..a", "a..", "a\\..\\b", " a "] {
            assert!(!leads_out(inside, &[]), "{inside:?}");
        }
        for outside in ["..", "../a", "a/../../b", "a\\..\\..\\b", "./..", "a/b/../../..", " ../a"] {
            assert!(leads_out(outside, &[]), "{outside:?}");
        }
    }

    #[test]
    fn whatever_starts_elsewhere_leads_out() {
        for outside in
            ["/", "/etc/passwd", "~", "~/x", "~me/x", "C:\\x", "c:x", "\\\\host\\share", "file:///x", "FILE:x"]
        {
            assert!(leads_out(outside, &[]), "{outside:?}");
        }
    }

    #[test]
    fn below_a_root_is_inside() {
        let roots = ["/srv/data/".to_owned(), "relative".to_owned()];
        for inside in ["/srv/data", "/srv/data/a", "/srv//data/./a/../b"] {
            assert!(!leads_out(inside, &roots), "{inside:?}");
        }
        for outside in ["/srv/database", "/srv/data/../x", "/srv", "/relative", "/../srv/data"] {
            assert!(leads_out(outside, &roots), "{outside:?}");
        }
    }
}
