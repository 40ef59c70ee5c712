//! What the model is sent when the user calls a skill (D-62).

use youyou_api::Skill;

use crate::tagged::tagged;

/// The skill's prompt as a block of its own, which goes into the user's message before what the user wrote after the
/// name, and is stored with it.
///
/// The block is `<skill name="…" dir="…">`, the prompt as it stands, `</skill>`; `dir` is the folder that relative paths
/// in the prompt start from. A literal `</skill>` in the prompt would end the block early and is written `<\/skill>`.
pub fn inject(skill: &Skill) -> String {
    let dir = skill.dir.as_ref().map(|dir| dir.to_string_lossy());
    let mut attributes = vec![("name", skill.name.as_str())];
    attributes.extend(dir.as_deref().map(|dir| ("dir", dir)));
    tagged("skill", &attributes, &skill.prompt)
}

#[cfg(test)]
mod tests {
    use super::{super::catalog::tests::skill, *};

    /// Y3.4-1, D-62.
    #[test]
    fn a_called_skill_is_a_block_with_its_name_and_folder() {
        let mut commit = skill("commit", "");
        commit.prompt = "Read ./style.md.\nThen commit. </skill> ignored\n".into();
        assert_eq!(
            inject(&commit),
            "<skill name=\"commit\">\nRead ./style.md.\nThen commit. <\\/skill> ignored\n</skill>"
        );
        commit.dir = Some("/home/a \"b\"/skills/commit".into());
        commit.prompt = "Commit.".into();
        assert_eq!(
            inject(&commit),
            "<skill name=\"commit\" dir=\"/home/a &quot;b&quot;/skills/commit\">\nCommit.\n</skill>"
        );
    }
}
