//! The set of skills by name, over both registration channels.

use std::collections::BTreeMap;

use youyou_api::{Error, ErrorCode, Skill, SourceLabel};

use crate::tools::nearest::nearest;

/// Name → skill, merged by priority (Y3.1-1, Y4.5-1). Immutable while a session runs.
#[derive(Debug, Clone, Default)]
pub struct SkillCatalog {
    skills: BTreeMap<String, (Skill, SourceLabel)>,
    skipped: BTreeMap<String, Error>,
}

impl SkillCatalog {
    /// An empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a skill. One of a higher level replaces one of a lower level, whichever comes first (Y3.1-1).
    ///
    /// # Errors
    /// `NAME_CONFLICT` when the same level already has a skill of that name (Y6.1-1); `INVALID_INPUT` when the name is
    /// none that a user can call (D-50).
    pub fn add(&mut self, source: SourceLabel, skill: Skill) -> Result<(), Error> {
        if !Skill::is_legal_name(&skill.name) {
            return Err(Error::new(
                ErrorCode::InvalidInput,
                format!(
                    "{:?} cannot be a skill's name: use 1 to 64 letters of any script, digits, \"_\" and \"-\"",
                    skill.name
                ),
            ));
        }
        match self.skills.get(&skill.name).map(|(_, present)| *present) {
            Some(present) if present == source => {
                return Err(Error::new(
                    ErrorCode::NameConflict,
                    format!("two {source} skills are named {:?}; rename one of them", skill.name),
                ));
            }
            Some(present) if present > source => return Ok(()),
            Some(_) | None => {}
        }
        self.skills.insert(skill.name.clone(), (skill, source));
        Ok(())
    }

    /// Remembers why a skill is missing, so that whoever calls it is told.
    pub fn add_skipped(&mut self, name: impl Into<String>, why: Error) {
        self.skipped.insert(name.into(), why);
    }

    /// Takes a skill out, for that reason; nothing happens where there is none of that name. One of a lower level that it had replaced does not come back: what its name
    /// stands for must not depend on what is broken.
    pub(super) fn skip(&mut self, name: &str, why: Error) {
        if self.skills.remove(name).is_some() {
            self.add_skipped(name, why);
        }
    }

    /// The skill of that name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.get(name).map(|(skill, _)| skill)
    }

    /// Every skill and the level that it comes from, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&Skill, SourceLabel)> {
        self.skills.values().map(|(skill, source)| (skill, *source))
    }

    /// The skills that the model may suggest to the user, in the order of names (Y3.4-2).
    pub fn implicit(&self) -> impl Iterator<Item = &Skill> {
        self.iter().map(|(skill, _)| skill).filter(|skill| skill.allow_implicit_invocation)
    }

    /// How many skills there are.
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The skill of that name, or an error that says what was asked for and what comes closest, or why it is missing.
    ///
    /// # Errors
    /// `SKILL_NOT_FOUND` (Y4.5-1, D-61).
    pub fn resolve(&self, name: &str) -> Result<&Skill, Error> {
        if let Some(skill) = self.get(name) {
            return Ok(skill);
        }
        let message = match self.skipped.get(name) {
            Some(why) => format!("the skill {name:?} was left out: {}", why.message),
            None => format!("no skill is named {name:?}; {}", self.hint(name)),
        };
        let error = Error::new(ErrorCode::SkillNotFound, message).with_detail("skill_name", name);
        Err(match self.skipped.get(name) {
            Some(why) => error.with_cause(why.clone()),
            None => error,
        })
    }

    fn hint(&self, name: &str) -> String {
        let escape = format!("write \"//{name}\" if it is meant as text");
        match nearest(name, self.skills.keys().map(String::as_str)) {
            Some(near) => format!("did you mean \"/{near}\"? Or {escape}"),
            None if self.is_empty() => format!("there are no skills; {escape}"),
            None => format!("there are: {}; {escape}", self.names()),
        }
    }

    /// The first names, and how many there are besides.
    fn names(&self) -> String {
        const SHOWN: usize = 20;
        let names: Vec<_> = self.skills.keys().take(SHOWN).map(|name| format!("/{name}")).collect();
        match self.len() - names.len() {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::skills) fn skill(name: &str, description: &str) -> Skill {
        Skill {
            name: name.into(),
            display_name: name.into(),
            description: description.into(),
            prompt: "Do it.".into(),
            required_tools: Vec::new(),
            allow_implicit_invocation: false,
            dir: None,
        }
    }

    /// Y3.1-1, Y4.5-1: whatever the order of registration.
    #[test]
    fn the_higher_level_replaces_the_lower_one() {
        use SourceLabel::{Global, Programmatic, Project};
        for order in [[Programmatic, Global, Project], [Project, Global, Programmatic], [Global, Project, Programmatic]]
        {
            let mut catalog = SkillCatalog::new();
            for source in order {
                catalog.add(source, skill("commit", &source.to_string())).expect("no conflict");
            }
            let all: Vec<_> = catalog.iter().map(|(skill, source)| (skill.description.as_str(), source)).collect();
            assert_eq!(all, [("project", Project)]);
        }
    }

    /// Y6.1-1.
    #[test]
    fn one_name_twice_at_one_level_is_a_conflict() {
        let mut catalog = SkillCatalog::new();
        catalog.add(SourceLabel::Global, skill("commit", "a")).expect("first");
        let error = catalog.add(SourceLabel::Global, skill("commit", "b")).expect_err("second");
        assert_eq!(error.code, ErrorCode::NameConflict);
        assert_eq!(error.message, "two global skills are named \"commit\"; rename one of them");
        assert_eq!(catalog.get("commit").map(|skill| skill.description.as_str()), Some("a"));
    }

    /// D-50: a skill that nobody could call is not taken.
    #[test]
    fn a_name_that_cannot_be_called_is_refused() {
        let mut catalog = SkillCatalog::new();
        catalog.add(SourceLabel::Programmatic, skill("提交", "")).expect("legal");
        let error = catalog.add(SourceLabel::Programmatic, skill("a.b", "")).expect_err("not legal");
        assert_eq!(error.code, ErrorCode::InvalidInput);
        assert_eq!(catalog.len(), 1);
    }

    /// Y4.5-1, D-61.
    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_skill() {
        let mut catalog = SkillCatalog::new();
        let message = |catalog: &SkillCatalog, name| {
            let error = catalog.resolve(name).expect_err("not there");
            assert_eq!(error.code, ErrorCode::SkillNotFound);
            error.message
        };
        assert_eq!(
            message(&catalog, "x"),
            "no skill is named \"x\"; there are no skills; write \"//x\" if it is meant as text"
        );
        catalog.add(SourceLabel::Global, skill("commit", "")).expect("added");
        assert_eq!(
            message(&catalog, "Comit"),
            "no skill is named \"Comit\"; did you mean \"/commit\"? Or write \"//Comit\" if it is meant as text"
        );
        assert_eq!(
            message(&catalog, "zzz"),
            "no skill is named \"zzz\"; there are: /commit; write \"//zzz\" if it is meant as text"
        );
        assert_eq!(catalog.resolve("commit").map(|skill| skill.name.as_str()), Ok("commit"));
    }

    #[test]
    fn a_skipped_skill_is_answered_with_the_reason() {
        let mut catalog = SkillCatalog::new();
        catalog.add_skipped("commit", Error::new(ErrorCode::DefinitionInvalid, "index.md:3:1: no name"));
        let error = catalog.resolve("commit").expect_err("skipped");
        assert_eq!(error.code, ErrorCode::SkillNotFound);
        assert_eq!(error.message, "the skill \"commit\" was left out: index.md:3:1: no name");
    }

    /// Y3.4-2.
    #[test]
    fn only_skills_that_allow_it_may_be_suggested() {
        let mut catalog = SkillCatalog::new();
        for (name, allow) in [("b", true), ("a", true), ("c", false)] {
            let skill = Skill { allow_implicit_invocation: allow, ..skill(name, "") };
            catalog.add(SourceLabel::Global, skill).expect("added");
        }
        assert_eq!(catalog.implicit().map(|skill| skill.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
