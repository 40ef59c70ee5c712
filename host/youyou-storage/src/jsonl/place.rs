//! Where things lie: `ROOT/PROJECT/SESSION/000001.jsonl`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use youyou_api::{Error, ErrorCode, SessionId};

/// The longest readable part of a project folder's name, in characters.
const READABLE: usize = 32;

/// The folder of a project's sessions: the last name of its path so far as it is plain, and a hash of the whole, since
/// several projects may be called the same.
pub(crate) fn project_folder(project: Option<&str>) -> String {
    let Some(project) = project else { return "no-project".to_owned() };
    let last = project.rsplit(['/', '\\']).find(|name| !name.is_empty()).unwrap_or("root");
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let readable: String = last.chars().take(READABLE).map(plain).collect();
    let hash = blake3::hash(project.as_bytes()).to_hex();
    format!("{}-{}", readable.trim_matches('-'), &hash[..12]).trim_start_matches('-').to_owned()
}

/// Whether the id can be the name of a folder on every system.
///
/// # Errors
/// `INVALID_INPUT`.
pub(crate) fn check_id(id: &SessionId) -> Result<(), Error> {
    let text = id.as_str();
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=64).contains(&text.len()) && text.chars().all(legal) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::InvalidInput,
        format!("{text:?} cannot be the id of a stored session: expected 1 to 64 of A-Z a-z 0-9 _ -"),
    ))
}

/// A segment of the session in this folder.
pub(crate) fn segment(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:06}.jsonl"))
}

/// The lock file of the session in this folder.
pub(crate) fn lock(folder: &Path) -> PathBuf {
    folder.join("owner.lock")
}

/// Whether there is a session in this folder. Its first segment comes first and goes first.
pub(crate) fn holds_session(folder: &Path) -> bool {
    segment(folder, 1).is_file()
}

/// The folder of a session, wherever below `root` it is.
pub(crate) fn session_folder(root: &Path, id: &SessionId) -> io::Result<Option<PathBuf>> {
    if check_id(id).is_err() {
        return Ok(None);
    }
    let mut folders = folders(root)?.into_iter().map(|project| root.join(project).join(id.as_str()));
    Ok(folders.find(|folder| holds_session(folder)))
}

/// The names of the folders in a folder that may be missing.
pub(crate) fn folders(path: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        if let (true, Ok(name)) = (entry.file_type()?.is_dir(), entry.file_name().into_string()) {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P-6.
    #[test]
    fn projects_of_one_name_have_folders_of_their_own() {
        let [one, other] = ["/home/me/my app", "/home/me/other/my app"].map(|path| project_folder(Some(path)));
        assert!(one.starts_with("my-app-") && other.starts_with("my-app-") && one != other, "{one} {other}");
        assert!(project_folder(Some("/")).starts_with("root-"));
        for odd in ["/..", "/日本", r"C:\", "", "/a/…/", &"x".repeat(999)] {
            let folder = project_folder(Some(odd));
            assert!(folder.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{odd}: {folder}");
            assert!(folder.len() >= 12 && folder.len() < 64, "{odd}: {folder}");
        }
    }

    #[test]
    fn an_id_that_would_lead_elsewhere_is_refused() {
        for bad in ["", ".", "..", "a/b", "a\\b", "a.b", "ä", "C:", &"x".repeat(65)] {
            check_id(&SessionId::new(bad)).expect_err(bad);
        }
        check_id(&SessionId::new("0193-aB_9")).expect("it is plain");
    }
}
