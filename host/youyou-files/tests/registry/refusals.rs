//! What is not loaded, each with one clear reason, and what else is wrong with a tool's keys.

use crate::tree::{Tree, load, load_lines, names, said, tool};

/// Twelve front matters of K-43 and K-41, by what is wrong with them.
fn broken() -> Vec<(&'static str, Vec<u8>)> {
    let swap = |from: &str, to: &str| tool("t").replace(from, to).into_bytes();
    let mut bomb = String::from("version: 1\nname: t\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..9 {
        bomb.push_str(&format!("a{i}: &a{i} [{}]\n", format!("*a{}, ", i - 1).repeat(10)));
    }
    vec![
        ("version 2", swap("version: 1", "version: 2")),
        ("version as text", swap("version: 1", "version: \"1\"")),
        ("version as fraction", swap("version: 1", "version: 1.0")),
        ("no version", swap("version: 1\n", "")),
        ("no closing", swap("---\nDoes", "Does")),
        ("empty file", Vec::new()),
        ("tab indent", swap("  command", "\tcommand")),
        ("duplicate key", swap("mutating: false", "mutating: false\nname: t")),
        ("10 MB", [tool("t").into_bytes(), vec![b'x'; 10 * 1000 * 1000]].concat()),
        ("alias bomb", format!("---\n{bomb}---\nx\n").into_bytes()),
        ("not UTF-8", [tool("t").into_bytes(), vec![b'\n', 0xff, 0xfe]].concat()),
        ("name is not the folder's", swap("name: t", "name: other")),
        ("a colon in a plain value", swap("mutating: false", "description: Use when: x")),
    ]
}

/// K-43, D-51, Y5.2-1: one error each, and the tools beside them load.
#[test]
fn every_broken_file_is_skipped_with_one_message_and_nothing_else_is_affected() {
    let shown = broken()
        .into_iter()
        .map(|(what, index)| {
            let tree = Tree::new();
            tree.good("a").good("z").write("home/tools/t/index.md", index);
            let scan = tree.scan();
            assert_eq!(names(&scan), ["a", "z"], "{what}");
            assert_eq!(scan.problems.len(), 1, "{what}: {:?}", scan.problems);
            assert_eq!(scan.problems_of("t").count(), 1, "{what}");
            assert!(scan.problems[0].is_error() && scan.problems[0].hint.is_some(), "{what}");
            format!("[{what}]\n{}", tree.shown(&scan.problems))
        })
        .collect::<String>();
    insta::assert_snapshot!(shown, @r#"
    [version 2]
    error: home/tools/t/index.md:2:10: version 2 of the format is not supported, only version 1 is (write `version: 1`, or use a newer YouYou)
    [version as text]
    error: home/tools/t/index.md:2:10: `version` must be the number 1, found the text "1" (write `version: 1`, without quotes)
    [version as fraction]
    error: home/tools/t/index.md:2:10: `version` must be the number 1, found the number 1.0 (write `version: 1`, without quotes)
    [no version]
    error: home/tools/t/index.md:1:1: `version` is missing (add `version: 1`)
    [no closing]
    error: home/tools/t/index.md:1: the front matter is not closed: no line after line 1 is exactly `---` (put a line `---` between the front matter and the description)
    [empty file]
    error: home/tools/t/index.md:1: index.md is empty: expected front matter between two `---` lines (begin with the lines `---`, `version: 1`, `name: …`, `---`)
    [tab indent]
    error: home/tools/t/index.md:6:1: the line is indented with a tab (use blanks: YAML does not take tabs)
    [duplicate key]
    error: home/tools/t/index.md:5:1: `name` is given twice, first in line 3 (keep one of the two)
    [10 MB]
    error: home/tools/t/index.md: index.md is 10000079 bytes long, at most 1048576 (1 MiB) are read (move long texts into other files of the folder)
    [alias bomb]
    error: home/tools/t/index.md:1:1: anchors and aliases (`&x`, `*x`) make the values expand without bound (write the values out)
    [not UTF-8]
    error: home/tools/t/index.md:10: index.md is not UTF-8: byte 81 is invalid (save it as UTF-8)
    [name is not the folder's]
    error: home/tools/t/index.md:3:7: `name` is "other" but the folder is named "t" (make the two equal)
    [a colon in a plain value]
    error: home/tools/t/index.md:4:22: a plain value must not hold `: `, which starts another value (quote it: description: "Use when: x")
    "#);
}

/// K-41: the line, the key, and "quote it".
#[test]
fn a_colon_in_a_description_is_answered_with_the_quoted_line() {
    let lines = "parameters:\n  - name: x\n    type: string\n    description: Use when: x\nexecution: { command: x }\n";
    let loaded = load_lines(lines);
    assert_eq!(loaded.value(), None);
    let problem = &loaded.problems()[0];
    assert_eq!((problem.line, problem.key.as_deref()), (Some(8), Some("description")));
    insta::assert_snapshot!(said(&loaded), @r#"error: index.md:8:26: a plain value must not hold `: `, which starts another value (quote it: description: "Use when: x")"#);
}

/// K-41: a description that a comment would cut short is not.
#[test]
fn a_description_is_not_cut_in_silence() {
    let lines = |description: &str| {
        format!(
            "parameters:\n  - name: x\n    type: string\n    description: {description}\nexecution: {{ command: x }}\n"
        )
    };
    let glued = load_lines(&lines("fix issue #12"));
    assert_eq!(glued.value(), None);
    insta::assert_snapshot!(said(&glued), @r##"error: index.md:8:28: the value of `description` ends before "#12": ` #` starts a comment (quote it if the `#` belongs to the value, or put the comment on a line of its own)"##);
    let folded = load_lines(&lines("\n      fix\n      issue #12"));
    insta::assert_snapshot!(said(&folded), @r##"error: index.md:10:13: the value of `description` ends before "#12": ` #` starts a comment (quote it if the `#` belongs to the value, or put the comment on a line of its own)"##);
    // This may be a comment; the tool loads, and the doubt is said.
    let apart = load_lines(&lines("fix issue # soon"));
    assert!(apart.value().is_some());
    insta::assert_snapshot!(said(&apart), @r##"warning: index.md:8:28: the value of `description` ends before "# soon": ` #` starts a comment (quote it if the `#` belongs to the value, or put the comment on a line of its own)"##);
    for whole in ["'fix issue #12'", "\"fix issue #12\"", "issue#12", ">\n      fix issue #12"] {
        let tool = crate::tree::fine(load_lines(&lines(whole)));
        let description = &tool.spec.parameters["properties"]["x"]["description"];
        assert!(description.as_str().is_some_and(|text| text.contains("#12")), "{whole}");
    }
    // Other values: what cannot be a comment is remarked on, a comment is not.
    let loaded = load_lines("execution:\n  command: ./run #fast\n  working_directory: . # here\n  timeout_ms: 5 #ms\n");
    insta::assert_snapshot!(said(&loaded), @r##"warning: index.md:6:18: the value of `command` ends before "#fast": ` #` starts a comment (quote it if the `#` belongs to the value, or put the comment on a line of its own)"##);
}

/// §8: a typo is an error with the key that was meant.
#[test]
fn an_unknown_key_is_an_error_with_advice() {
    let loaded = load_lines(
        "descripton: x\ndescription: y\ntimeout_ms: 5\nparameter: []\nparameters:\n  - { name: x, type: string, requried: true }\n  \
         - { name: y, type: array, items: { typ: string } }\nexecution:\n  component: x.wasm\n  timout_ms: 5\n  read: []\n  \
         instance: per_session\n  permissions: { reed: [], network: [] }\n  zzz: 1\n",
    );
    assert_eq!(loaded.value(), None);
    insta::assert_snapshot!(said(&loaded), @r#"
    error: index.md:5:1: "descripton" is not a key of a tool (allowed keys: version, name, mutating, parameters, execution)
    error: index.md:6:1: "description" is not a key of a tool (a tool's description is the text below the second `---`)
    error: index.md:7:1: "timeout_ms" is not a key of a tool (it belongs under `execution:`)
    error: index.md:8:1: "parameter" is not a key of a tool (did you mean `parameters`?)
    error: index.md:10:30: "requried" is not a key of a parameter (did you mean `required`?)
    error: index.md:11:29: `type` is missing in `parameters[1].items` (add `type: string`)
    error: index.md:11:38: "typ" is not a key of `items` (did you mean `type`?)
    error: index.md:14:3: "timout_ms" is not a key of `execution` (did you mean `timeout_ms`?)
    error: index.md:15:3: "read" is not a key of `execution` (it belongs under `permissions:`)
    error: index.md:16:3: "instance" is not a key of `execution` (only plugins have `instance`; every call of a tool has an instance of its own)
    error: index.md:17:18: "reed" is not a key of `permissions` (did you mean `read`?)
    error: index.md:17:28: "network" is not a key of `permissions` (did you mean `net`?)
    error: index.md:18:3: "zzz" is not a key of `execution` (allowed keys: command, args, component, timeout_ms, working_directory, memory_mb, permissions)
    "#);
}

/// §8: exactly one of `command` and `component`.
#[test]
fn a_tool_has_one_backend() {
    insta::assert_snapshot!(said(&load_lines("")), @"error: index.md:1:1: `execution` is missing (add `execution: { command: ./script }`)");
    insta::assert_snapshot!(said(&load_lines("execution: {}\n")), @"error: index.md:5:1: `execution` has neither `command` nor `component` (add `command: ./script` for a script, or `component: file.wasm` for a WebAssembly component)");
    insta::assert_snapshot!(said(&load_lines("execution: ./run\n")), @r#"error: index.md:5:12: `execution` must be a mapping, found the text "./run" (allowed keys: command, args, component, timeout_ms, working_directory, memory_mb, permissions)"#);
    insta::assert_snapshot!(said(&load_lines("execution: { command: x, component: y.wasm }\n")), @"error: index.md:5:26: `command` and `component` are both given (keep `command` for a script, or `component` for a WebAssembly component)");
    insta::assert_snapshot!(said(&load_lines("execution: { component: y.wasm, args: [a] }\n")), @"error: index.md:5:33: `args` is for a script; a component takes no command line (remove it)");
}

/// §7: grants on a script are a warning, not an illusion; the tool still loads.
#[test]
fn grants_on_a_script_are_warned_of() {
    let loaded = load_lines("execution: { command: x, memory_mb: 5, permissions: { read: [.] } }\n");
    assert!(loaded.value().is_some());
    insta::assert_snapshot!(said(&loaded), @"
    warning: index.md:5:26: `memory_mb` has no effect on a script (a script runs with all of the user's rights; only a component can be limited)
    warning: index.md:5:40: `permissions` has no effect on a script (a script runs with all of the user's rights; only a component can be limited)
    ");
}

#[test]
fn limits_out_of_range_are_errors() {
    let mut shown = String::new();
    for value in ["0", "-1", "86400001", "1.5", "99999999999999999999", ".inf", "\"5\"", "5s", "true", "[5]"] {
        let loaded = load_lines(&format!("execution: {{ command: x, timeout_ms: {value} }}\n"));
        assert_eq!(loaded.value(), None, "{value}");
        shown.push_str(&said(&loaded));
    }
    for value in ["0", "-1", "4097"] {
        let loaded = load_lines(&format!("execution: {{ component: x, memory_mb: {value} }}\n"));
        assert_eq!(loaded.value(), None, "{value}");
        shown.push_str(&said(&loaded));
    }
    insta::assert_snapshot!(shown, @r#"
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the number 0
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the number -1
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the number 86400001
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the number 1.5
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the number 99999999999999999999
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the number inf
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the text "5" (write a plain number, without quotes or a unit)
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the text "5s" (write a plain number, without quotes or a unit)
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found true
    error: index.md:5:38: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found a list
    error: index.md:5:39: `execution.memory_mb` must be a whole number of MiB from 1 to 4096, found the number 0
    error: index.md:5:39: `execution.memory_mb` must be a whole number of MiB from 1 to 4096, found the number -1
    error: index.md:5:39: `execution.memory_mb` must be a whole number of MiB from 1 to 4096, found the number 4097
    "#);
    assert!(load_lines("execution: { command: x, timeout_ms: 86400000 }\n").value().is_some());
    assert!(load_lines("execution: { component: x, memory_mb: 4096 }\n").value().is_some());
}

#[test]
fn texts_for_the_operating_system_are_neither_empty_nor_holed() {
    let loaded = load_lines(
        "execution:\n  component: \"\"\n  working_directory: \"a\\0b\"\n  permissions: { read: [\"\", 1], write: ./x, env: [null] }\n",
    );
    insta::assert_snapshot!(said(&loaded), @r#"
    error: index.md:6:14: `execution.component` is empty
    error: index.md:7:22: `execution.working_directory` holds a NUL character
    error: index.md:8:25: `execution.permissions.read[0]` is empty
    error: index.md:8:29: `execution.permissions.read[1]` must be a text, found the number 1 (quote it)
    error: index.md:8:40: `execution.permissions.write` must be a list, found the text "./x" (write `[one, two]`, or one `- item` on each line)
    error: index.md:8:51: `execution.permissions.env[0]` must be a text, found nothing (write a text there, or remove it; an empty text is "")
    "#);
    insta::assert_snapshot!(said(&load_lines("execution: { command: \" \", args: [\"a\\0b\", 8080, [x]] }\n")), @"
    error: index.md:5:23: `execution.command` is empty
    error: index.md:5:35: `execution.args[0]` holds a NUL character
    error: index.md:5:43: `execution.args[1]` must be a text, found the number 8080 (quote it)
    error: index.md:5:49: `execution.args[2]` must be a text, found a list (write one text; quote it if it begins with `[`, `{` or `- `)
    ");
}

/// Y5.6-1: no shell parts the command into words.
#[test]
fn a_command_line_in_command_is_warned_of() {
    let loaded = load_lines("execution: { command: python3 run.py }\n");
    assert!(loaded.value().is_some());
    insta::assert_snapshot!(said(&loaded), @"warning: index.md:5:23: `execution.command` holds blanks, but no shell parts it into words (name the program alone and put each argument into `args`)");
}

/// D-52: types, choices, items and defaults fit each other; names are unique.
#[test]
fn parameters_fit_their_types() {
    let wrong = |parameter: &str| {
        let loaded = load_lines(&format!("parameters:\n  - {{ {parameter} }}\nexecution: {{ command: x }}\n"));
        assert_eq!(loaded.value(), None, "{parameter}");
        said(&loaded)
    };
    let shown = [
        "name: a",
        "type: string",
        "name: \"\", type: string",
        "name: 1, type: string",
        "name: a, type: int",
        "name: a, type: strng",
        "name: a, type: [string]",
        "name: a, type: 7up",
        "name: a, type: string, required: \"yes\"",
        "name: a, type: string, enum: []",
        "name: a, type: string, enum: [x, 1, x]",
        "name: a, type: string, items: { type: string }",
        "name: a, type: array, items: string",
        "name: a, type: array, items: { type: string, default: x }",
        "name: a, type: string, default: 1",
        "name: a, type: string, default: ~",
        "name: a, type: string, enum: [x], default: y",
        "name: a, type: integer, default: 1.5",
        "name: a, type: number, default: .nan",
        "name: a, type: object, default: { x: .inf }",
        "name: a, type: object, default: { x: 1, x: 2 }",
    ]
    .map(wrong)
    .concat();
    insta::assert_snapshot!(shown, @r#"
    error: index.md:6:5: `type` is missing in `parameters[0]` (add `type: string`)
    error: index.md:6:5: `name` is missing in `parameters[0]` (add `name: …`)
    error: index.md:6:13: `parameters[0].name` is empty
    error: index.md:6:13: `parameters[0].name` must be a text, found the number 1 (quote it)
    error: index.md:6:22: "int" is not a type: `parameters[0].type` (did you mean `integer`?)
    error: index.md:6:22: "strng" is not a type: `parameters[0].type` (did you mean `string`?)
    error: index.md:6:22: `parameters[0].type` must be a text, found a list (write one text; quote it if it begins with `[`, `{` or `- `)
    error: index.md:6:22: "7up" is not a type: `parameters[0].type` (allowed types: string, integer, number, boolean, array, object)
    error: index.md:6:40: `parameters[0].required` must be `true` or `false`, found the text "yes" (write it without quotes)
    error: index.md:6:36: `parameters[0].enum` is an empty list, so that no value would be allowed (list the allowed values, or remove it)
    error: index.md:6:40: `parameters[0].enum[1]` must be of type `string`, found the number 1
    error: index.md:6:43: `parameters[0].enum[2]` stands twice in the list (remove one of the two)
    error: index.md:6:30: `parameters[0].items` is only for `type: array`, this is `type: string` (remove it, or change the type)
    error: index.md:6:36: `parameters[0].items` must be a mapping, found the text "string" (write `items: { type: string }`)
    error: index.md:6:52: "default" is not a key of `items` (allowed keys: type, description, enum, items)
    error: index.md:6:39: `parameters[0].default` must be of type `string`, found the number 1
    error: index.md:6:39: `parameters[0].default` must be of type `string`, found nothing
    error: index.md:6:50: `parameters[0].default` is not among the values of `enum`
    error: index.md:6:40: `parameters[0].default` must be of type `integer`, found the number 1.5
    error: index.md:6:39: `parameters[0].default` must be of type `number`, found the number NaN
    error: index.md:6:39: `parameters[0].default` holds a number that JSON cannot hold
    error: index.md:6:47: `x` is given twice, first in line 6 (keep one of the two)
    "#);
    let twice =
        "parameters:\n  - { name: a, type: string }\n  - { name: a, type: integer }\nexecution: { command: x }\n";
    insta::assert_snapshot!(said(&load_lines(twice)), @r#"error: index.md:7:13: two parameters are named "a" (rename or remove one of them)"#);
    insta::assert_snapshot!(said(&load_lines("parameters: { a: { type: string } }\nexecution: { command: x }\n")), @"error: index.md:5:13: `parameters` must be a list, found a mapping (write one `- name: …` for each parameter, with `type`, `description` and `required` below it)");
    insta::assert_snapshot!(said(&load_lines("parameters: text\nexecution: { command: x }\n")), @r#"error: index.md:5:13: `parameters` must be a list, found the text "text" (write `[one, two]`, or one `- item` on each line)"#);
}

/// D-52: what is unwise and yet clear is only remarked on.
#[test]
fn odd_parameters_load_with_a_remark() {
    let loaded = load_lines(
        "parameters:\n  - { name: größe, type: integer }\n  - { name: a, type: string, required: true, default: x }\nexecution: { command: x }\n",
    );
    assert!(loaded.value().is_some());
    insta::assert_snapshot!(said(&loaded), @r#"
    warning: index.md:6:13: some model APIs refuse a parameter named "größe" (use 1 to 64 of A-Z a-z 0-9 _ - .)
    hint: index.md:7:46: `parameters[1].default` is never used: the parameter is required (remove it, or `required: true`)
    "#);
}

/// D-50.
#[test]
fn a_name_that_model_apis_refuse_is_refused() {
    let tree = Tree::new();
    tree.write("home/tools/my tool/index.md", tool("my tool"));
    let scan = tree.scan();
    insta::assert_snapshot!(tree.shown(&scan.problems), @r#"error: home/tools/my tool/index.md:3:7: tool name "my tool" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -; try "my-tool" (rename the folder too)"#);
    assert_eq!(names(&scan), [""; 0]);
}

#[test]
fn front_matter_that_is_no_mapping_or_too_large_is_refused() {
    let mut shown = String::new();
    for yaml in ["", "# nothing\n", "- a\n- b\n", "just text\n", "42\n"] {
        shown.push_str(&said(&load(format!("---\n{yaml}---\nx\n"))));
    }
    shown.push_str(&said(&load(format!("---\nversion: 1\n# {}\n---\n", "x".repeat(64 * 1024)))));
    shown.push_str(&said(&load(format!("---\nversion: {}\n---\n", "[".repeat(5000)))));
    insta::assert_snapshot!(shown, @r#"
    error: index.md:1:1: the front matter is empty (it needs at least `version: 1` and a name)
    error: index.md:1:1: the front matter is empty (it needs at least `version: 1` and a name)
    error: index.md:2:1: the front matter must be `key: value` lines, found a list (it needs at least `version: 1` and a name)
    error: index.md:2:1: the front matter must be `key: value` lines, found the text "just text" (it needs at least `version: 1` and a name)
    error: index.md:2:1: the front matter must be `key: value` lines, found the number 42 (it needs at least `version: 1` and a name)
    error: index.md:1:1: the front matter is 65550 bytes long, at most 65536 (64 KiB) are read (the description belongs below the second `---`, long texts into other files of the folder)
    error: index.md:1:1: brackets are nested more than 128 levels deep (close the brackets, or quote the texts that hold them)
    "#);
}

/// A file with very many mistakes is told of in a bounded way.
#[test]
fn not_more_than_a_screenful_is_said_of_one_file() {
    let keys = (0..5000).map(|i| format!("key{i}: 1\n")).collect::<String>();
    let loaded = load_lines(&keys);
    assert_eq!(loaded.problems().len(), 33);
    assert_eq!(loaded.problems()[32].message, "4969 more problems in this file are not shown");
    assert_eq!(loaded.value(), None);
    // Even many warnings are only warnings.
    let odd = (0..40).map(|i| format!("  - {{ name: ä{i}, type: string }}\n")).collect::<String>();
    let loaded = load_lines(&format!("parameters:\n{odd}execution: {{ command: x }}\n"));
    assert_eq!((loaded.value().is_some(), loaded.problems().len()), (true, 33));
}

#[test]
fn a_tool_without_a_description_is_warned_of() {
    let loaded = load("---\nversion: 1\nname: t\nmutating: false\nexecution: { command: x }\n---\n\n");
    assert!(loaded.value().is_some());
    insta::assert_snapshot!(said(&loaded), @"warning: index.md:1:1: the tool has no description, so the model cannot tell when to use it (write it below the second `---`)");
}
