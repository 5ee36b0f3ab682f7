use super::*;

#[test]
fn ordinary_and_odd_names_are_keys() {
    for key in
        ["zarr.json", "a/c/0/1", "c", ".zarray", "__x", "a\nb", "%2e%2e/x", "C:", "é", "...", ".a", &"x".repeat(255)]
    {
        check(key).unwrap_or_else(|error| panic!("{key:?}: {error}"));
    }
}

#[test]
fn fault_67_68_paths_that_leave_the_root_are_refused_with_the_rule_named() {
    let long = format!("a/{}", "x".repeat(256));
    for (key, rule) in [
        ("", "empty"),
        ("/", "begins with '/'"),
        ("/etc/passwd", "begins with '/'"),
        ("//x", "begins with '/'"),
        ("a/", "ends with '/'"),
        ("a//b", "segments is empty"),
        (".", "'.'"),
        ("a/./b", "'.'"),
        ("..", "'..'"),
        ("a/../../b", "'..'"),
        ("a/..", "'..'"),
        ("a\0b", "NUL"),
        ("a\\..\\b", "backslash"),
        (long.as_str(), "255 bytes"),
        ("a/.blizzarr-1", "reserved"),
    ] {
        let error = check(key).expect_err(key);
        assert_eq!(error.kind, Kind::Path);
        assert!(error.reason.contains(rule), "{key:?}: {error}");
        assert_eq!(error.key.as_deref(), Some(key));
    }
}

#[test]
fn a_prefix_may_end_with_a_slash_and_may_be_empty() {
    assert_eq!(check_prefix("").expect("everything"), "");
    assert_eq!(check_prefix("a/b/").expect("with slash"), "a/b");
    assert_eq!(check_prefix("a/b").expect("without"), "a/b");
    for prefix in ["/", "//", "a//", "../", "/a"] {
        assert_eq!(check_prefix(prefix).expect_err(prefix).kind, Kind::Path);
    }
}

#[test]
fn fault_75_names_that_windows_reads_differently_are_refused_there() {
    for key in ["a\\b", "C:", "a/CON", "nul.txt", "com1", "a.", "a ", "x?"] {
        assert_eq!(check_windows(key).expect_err(key).kind, Kind::Path);
    }
    for key in ["a/b", "console", "com", "lpt10", "zarr.json", "a.b"] {
        check_windows(key).unwrap_or_else(|error| panic!("{key:?}: {error}"));
    }
}
