//! Required and forbidden keys in the tables of the plan.

use super::*;
use crate::switch;
use lightburst_des::LONGEST_PS;
use lightburst_net::LARGEST_UNIT;
use serde_json::json;

fn read(table: serde_json::Value) -> Result<Arc<dyn SwitchSettings>, String> {
    let serde_json::Value::Object(table) = table else {
        panic!("no table");
    };
    switch::read(table)
}

/// Table of a node with a control plane, with these resolvers.
fn obs(contention: serde_json::Value) -> serde_json::Value {
    json!({"kind": "obs", "switching_time_ps": 1, "assemble_acknowledgements": true,
           "assembly": {"kind": "timer", "time_ps": 5, "max_bytes": null, "min_bytes": null},
           "header_processing_time_ps": 1, "header_bytes": 64, "control_rate_bps": null,
           "offset_time_ps": 1, "offset_per_hop_ps": null, "signalling": "jet",
           "scheduler": "lauc-vf", "conversion": {"kind": "none"}, "ingress": "lose",
           "contention": contention})
}

fn delay_lines() -> serde_json::Value {
    json!({"kind": "delay-line", "granularity_ps": 5, "delays": 2, "lines": null,
           "occupied": "inside"})
}

/// One table for each kind of switch and each assembly policy.
fn tables() -> Vec<serde_json::Value> {
    let burst = |assembly: serde_json::Value| {
        json!({"kind": "burst", "switching_time_ps": 1, "assembly": assembly,
               "assemble_acknowledgements": true})
    };
    vec![
        json!({"kind": "all-optical", "switching_time_ps": 1}),
        json!({"kind": "hybrid", "switching_time_ps": 1, "buffer_ports": 2, "buffer_bytes": null,
               "re_emission": "cut-through"}),
        json!({"kind": "electronic", "queue_bytes": 900_000, "ecn_threshold_bytes": null}),
        burst(json!({"kind": "timer", "time_ps": 5, "max_bytes": null, "min_bytes": 64})),
        burst(json!({"kind": "size", "size_bytes": 5, "max_bytes": 9, "min_bytes": null})),
        burst(
            json!({"kind": "mixed", "size_bytes": 5, "time_ps": 5, "max_bytes": null,
                     "min_bytes": null}),
        ),
        burst(
            json!({"kind": "window-based", "slow_time_ps": 1, "medium_time_ps": 5,
                     "fast_time_ps": 5, "medium_window": 16, "fast_window": 64,
                     "acknowledgements": "medium", "max_bytes": null, "min_bytes": null}),
        ),
        burst(
            json!({"kind": "multi-queue", "time_ps": 5, "max_bytes": null, "min_bytes": null,
                     "allocation": {"kind": "a-priori", "queues": 2}}),
        ),
        burst(
            json!({"kind": "multi-queue", "time_ps": 5, "max_bytes": null, "min_bytes": null,
                     "allocation": {"kind": "a-posteriori", "queues": 2, "notice_delay_ps": null,
                                    "forget_after_ps": 5}}),
        ),
        burst(json!({"kind": "average-delay", "time_ps": 5, "max_bytes": null, "min_bytes": null})),
        obs(json!([delay_lines(), {"kind": "deflection", "hop_limit": 3, "loops": true}])),
    ]
}

#[test]
fn each_kind_has_a_table_and_takes_no_key_of_another() {
    let kinds: Vec<_> = switch::REGISTRY.iter().map(|kind| kind.name).collect();
    for mut table in tables() {
        assert!(kinds.contains(&table["kind"].as_str().unwrap()));
        assert!(read(table.clone()).is_ok(), "{table}");
        table["wavelengths"] = json!(4);
        let error = read(table.clone()).unwrap_err();
        assert!(error.contains("unknown field `wavelengths`"), "{error}");
        table.as_object_mut().unwrap().remove("wavelengths");
        if table.get("assembly").is_some() {
            table["assembly"]["gain"] = json!(1);
            let error = read(table).unwrap_err();
            assert!(error.contains("unknown field `gain`"), "{error}");
        }
    }
}

#[test]
fn what_a_kind_needs_must_be_there() {
    for (table, key) in [
        (0, "switching_time_ps"),
        (1, "buffer_ports"),
        (3, "assemble_acknowledgements"),
    ] {
        let mut table = tables().swap_remove(table);
        table.as_object_mut().unwrap().remove(key);
        let error = read(table).unwrap_err();
        assert_eq!(error, format!("missing field `{key}`"));
    }
    let mut table = tables().swap_remove(5);
    table["assembly"].as_object_mut().unwrap().remove("time_ps");
    assert_eq!(read(table).unwrap_err(), "missing field `time_ps`");
}

#[test]
fn an_unknown_name_is_answered_with_those_that_are_known() {
    let error = read(json!({"kind": "mirror"})).unwrap_err();
    let known: Vec<_> = switch::REGISTRY.iter().map(|kind| kind.name).collect();
    let known = known.join(", ");
    assert_eq!(error, format!("no \"mirror\" in switches; known: {known}"));
    let mut table = tables().swap_remove(3);
    table["assembly"]["kind"] = json!("mirror");
    let error = read(table).unwrap_err();
    assert!(
        error.starts_with("no \"mirror\" in assemblies; known: timer"),
        "{error}"
    );
    assert_eq!(
        read(json!({})).unwrap_err(),
        "a table of switches without a kind"
    );
}

#[test]
fn a_resolver_has_settings_of_its_own_that_make_sense() {
    assert!(read(obs(json!([]))).is_ok());
    for (key, value) in [
        ("kind", json!("reflection")),
        ("granularity_ps", json!(0)),
        ("granularity_ps", json!(LONGEST_PS + 1)),
        ("delays", json!(0)),
        ("lines", json!(0)),
        ("occupied", json!("beside")),
        ("hop_limit", json!(3)),
    ] {
        let mut table = delay_lines();
        table[key] = value.clone();
        assert!(read(obs(json!([table]))).is_err(), "{key} {value}");
    }
    let nowhere = json!([{"kind": "deflection", "hop_limit": 0, "loops": true}]);
    assert!(read(obs(nowhere)).is_err());
}

#[test]
fn times_sizes_and_rates_have_limits() {
    let (burst, header) = (tables().swap_remove(3), obs(json!([])));
    for (table, place, value, fine) in [
        (&burst, "/switching_time_ps", LONGEST_PS, true),
        (&burst, "/switching_time_ps", LONGEST_PS + 1, false),
        (&burst, "/assembly/time_ps", LONGEST_PS, true),
        (&burst, "/assembly/time_ps", LONGEST_PS + 1, false),
        (&burst, "/assembly/min_bytes", u64::from(LARGEST_UNIT), true),
        (
            &burst,
            "/assembly/min_bytes",
            u64::from(LARGEST_UNIT) + 1,
            false,
        ),
        (
            &burst,
            "/assembly/max_bytes",
            u64::from(u32::MAX) + 1,
            false,
        ),
        (&header, "/control_rate_bps", 1, true),
        (&header, "/control_rate_bps", 0, false),
        (&header, "/offset_per_hop_ps", LONGEST_PS, true),
        (&header, "/offset_per_hop_ps", LONGEST_PS + 1, false),
    ] {
        let mut table = table.clone();
        *table.pointer_mut(place).unwrap() = json!(value);
        assert_eq!(read(table).is_ok(), fine, "{place} {value}");
    }
    let mut table = tables().swap_remove(1);
    table["buffer_ports"] = json!(65_536);
    assert!(read(table).is_err());
}
