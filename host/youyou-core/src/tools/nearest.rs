//! "Did you mean …?": the known name closest to the one that was asked for.

/// The name closest to `asked`, if any is close enough to be worth suggesting (K-15).
///
/// Case does not count. Of two equally close names the first one wins, so the caller's order decides.
pub(crate) fn nearest<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const ENOUGH: f64 = 0.6;
    let asked = asked.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for name in names {
        let score = strsim::normalized_damerau_levenshtein(&asked, &name.to_lowercase());
        if score >= ENOUGH && best.is_none_or(|(highest, _)| score > highest) {
            best = Some((score, name));
        }
    }
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    /// K-15.
    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        let names = ["read", "write", "grep-files"];
        assert_eq!(nearest("Reed", names), Some("read"));
        assert_eq!(nearest("grep_files", names), Some("grep-files"));
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("summarise", names), None);
    }
}
