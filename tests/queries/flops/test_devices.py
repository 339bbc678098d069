"""Devices that traces do not name."""

import json

import pytest
from queries.flops.calls import BF16, call

GIB = 2**30


def trace(name, sm_count, minor, memory, warp_size=64):
    device = {
        "id": 0,
        "name": name,
        "totalGlobalMem": memory,
        "computeMajor": 9,
        "computeMinor": minor,
        "warpSize": warp_size,
        "numSms": sm_count,
    }
    return {"device_name": name, "metadata": json.dumps({"deviceProperties": [device]})}


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (trace("", 304, 4, 206141652992), "AMD Instinct MI300X"),
        (trace("", 304, 4, 274_861_129_728), "AMD Instinct MI325X"),
        (trace("AMD Radeon Graphics", 104, 0, 68702699520), "AMD Instinct MI250"),
        # MI350X and MI355X have the same properties, and other peaks.
        (trace("", 256, 5, 288 * GIB), None),
        (trace("", 304, 4, 100 * GIB), None),
        (trace("", 304, 4, 192 * GIB, warp_size=32), None),
        # What has a name keeps it.
        (trace("AMD Instinct MI300X VF", 304, 4, 192 * GIB), "AMD Instinct MI300X VF"),
        ({"device_name": None, "metadata": None}, None),
        ({"device_name": "", "metadata": "nonsense"}, None),
    ],
)
def test_names(host, row, found):
    host.fill(traces=[row])
    rows = host.con.execute("SELECT device_name FROM device_names(NULL, NULL)").fetchall()
    assert rows == [(found,)]


def test_peaks_of_a_device_without_a_name(host):
    """2 x 4096^3 operations in 1 ms, of 1307.4e12 per second."""
    mm = call("mm", [[4096, 4096], [4096, 4096]], BF16, event_id=1)
    host.fill(
        host_ops=[mm],
        gpu_activities=[{"op_id": 1, "start_ns": 0, "dur_ns": 10**6}],
        traces=[trace("", 304, 4, 192 * GIB)],
    )
    [row] = host.run("op_flops")
    assert row["roofline_frac"] == pytest.approx(2 * 4096**3 / 1307.4e12 / 1e-3)
