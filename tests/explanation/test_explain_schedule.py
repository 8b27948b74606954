"""The explanation of a schedule: the parts of its critical path, and its worst message."""

from pathlib import Path

import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError

FILE = "examples/goal.toml"


def test_the_parts_of_the_path_are_its_time() -> None:
    """0 sends to 4, 4 to 6 and 6 to 7, which computes for 40 us: three sends, three receives."""
    found = lb.explain_step(FILE)
    about = found.about
    assert about["ranks"] == 8
    assert about["calc_s"] == pytest.approx(40e-6, abs=1e-15)
    assert about["overhead_s"] == pytest.approx(6 * 1.5e-6, abs=1e-15)
    total = about["calc_s"] + about["overhead_s"] + about["message_s"]
    assert total == pytest.approx(about["time_s"], rel=1e-12)
    messages = found.path[found.path["what"] == "message"]
    assert messages["rank"].tolist() == [0, 4, 6]
    assert about["message_s"] == pytest.approx((messages["end_s"] - messages["start_s"]).sum())
    assert about["excess_s"] == pytest.approx(messages["excess_s"].sum())
    assert found.worst is not None
    worst = messages["flow"].to_numpy()[messages["excess_s"].to_numpy().argmax()]
    assert found.worst.about["flow"] == worst
    assert found.result.digest == lb.run(FILE).digest


def test_the_text_has_parts_rows_and_the_worst_message() -> None:
    text = str(lb.explain_step(FILE))
    assert text.startswith("Schedule of 8 ranks: 529.7 µs on its critical path.")
    for words in ("7.6%), sends and receives take 9 µs", "waited for", "message"):
        assert words in text
    assert "The message that lost most time:\nFlow 0, from 0 to 4, 1 MB" in text
    assert set(lb.explain_step(FILE).as_dict()) > {"calc_s", "path", "worst"}


def test_a_schedule_that_did_not_end() -> None:
    scenario = lb.load(FILE).with_(measurement__time_limit="300 us")
    with pytest.warns(lb.RunWarning) as warned:
        found = lb.explain_step(scenario)
    assert any("schedule did not end" in str(one.message) for one in warned)
    assert found.about["time_s"] is None
    assert "Schedule of 8 ranks: not ended." in str(found)
    assert found.path["rank"].iloc[-1] == 4


def test_a_schedule_of_which_nothing_ended(tmp_path: Path) -> None:
    file = tmp_path / "one.goal"
    file.write_text("num_ranks 2\nrank 0 {\nsend 9b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n")
    table = {**lb.load(FILE).to_dict()}
    table["workload"] = {"kind": "goal", "file": str(file), "overhead": "1 ms"}
    table["measurement"] = {"time_limit": "1 us"}
    with pytest.warns(lb.RunWarning):
        found = lb.explain_step(lb.Scenario.from_dict(table))
    assert found.path.empty
    assert found.worst is None
    assert "path of 0 rows" in str(found)


def test_a_schedule_has_no_steps() -> None:
    with pytest.raises(InputError, match="a schedule has no steps"):
        lb.explain_step(FILE, 0)
