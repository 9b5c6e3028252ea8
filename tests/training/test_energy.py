"""Counters of energy, with stand-ins for Linux's files and NVIDIA's library."""

import ctypes

from nmtcore.training.energy import EnergyMeter, RaplCounter, gpu_counters, rapl_counters


def write_package(folder, number, microjoules, turn=1_000_000):
    package = folder / f"intel-rapl:{number}"
    package.mkdir(parents=True, exist_ok=True)
    (package / "energy_uj").write_text(f"{microjoules}\n")
    (package / "max_energy_range_uj").write_text(f"{turn}\n")
    return package


class Library:
    """The functions of NVML that are used; `counters` are millijoules by UUID, None without a counter."""

    def __init__(self, counters, status=0):
        self.counters, self.status, self.opened = counters, status, []

    def nvmlInit_v2(self):
        return self.status

    def nvmlDeviceGetHandleByUUID(self, uuid, handle):
        self.opened.append(uuid.decode())
        ctypes.cast(handle, ctypes.POINTER(ctypes.c_void_p))[0] = len(self.opened)
        return 0 if uuid.decode() in self.counters else 6

    def nvmlDeviceGetTotalEnergyConsumption(self, handle, value):
        millijoules = self.counters[self.opened[handle.value - 1]]
        if millijoules is None:
            return 3
        ctypes.cast(value, ctypes.POINTER(ctypes.c_ulonglong))[0] = millijoules
        return 0


def test_a_processors_counter_may_begin_again(tmp_path):
    counter = RaplCounter(write_package(tmp_path, 0, 900_000))
    write_package(tmp_path, 0, 950_000)
    assert counter.joules() == 0.05
    write_package(tmp_path, 0, 100_000)
    assert counter.joules() == 0.2
    assert counter.joules() == 0.2


def test_the_meter_adds_up_packages_but_not_their_parts(tmp_path):
    for name in ("0", "1", "0:0"):
        write_package(tmp_path, name, 100)
    meter = EnergyMeter(cpu=rapl_counters(tmp_path), gpu=[])
    for name, microjoules in (("0", 2_000_100), ("1", 500_100), ("0:0", 900_100)):
        write_package(tmp_path, name, microjoules, turn=9_000_000)
    assert meter.stop() == {"cpu": 2.5, "gpu": None}


def test_energy_that_cannot_be_read_is_unknown(tmp_path):
    assert rapl_counters(tmp_path / "missing") == []
    (write_package(tmp_path, 0, 1) / "max_energy_range_uj").unlink()
    write_package(tmp_path, 1, 1)
    assert rapl_counters(tmp_path) == [], "the sum would lack a package"
    write_package(tmp_path, 0, 1)
    meter = EnergyMeter(cpu=rapl_counters(tmp_path), gpu=[])
    (tmp_path / "intel-rapl:1/energy_uj").unlink()
    assert meter.stop() == {"cpu": None, "gpu": None}


def test_gpus_are_named_by_their_uuid():
    library = Library({"GPU-a": 1000, "GPU-b": 50})
    meter = EnergyMeter(cpu=[], gpu=gpu_counters(["GPU-b", "GPU-a"], library))
    library.counters |= {"GPU-a": 3000, "GPU-b": 1550}
    assert library.opened == ["GPU-b", "GPU-a"]
    assert meter.stop() == {"cpu": None, "gpu": 3.5}


def test_a_gpu_without_a_counter_has_no_energy():
    assert gpu_counters(["GPU-a"], Library({"GPU-a": None})) == []
    assert gpu_counters(["GPU-a"], Library({"GPU-b": 1})) == []
    assert gpu_counters(["GPU-a"], Library({"GPU-a": 1}, status=9)) == []
    assert gpu_counters([], None) == []
