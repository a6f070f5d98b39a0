"""The expected value of each of gpuward's GPU metrics, read from NVML a second time: through nvidia-ml-py, with
independent rules. One table, VALUES; NOT_COMPARED has the other metrics, each with the reason."""
import ctypes
import functools

# Metrics whose values change by themselves: how far the exporter's value may be outside of the two readings around it,
# in the metric's unit. It applies only to a library whose answers change at all. Counters that only grow need no
# tolerance.
TOLERANCES = {
    "gpuward_gpu_temperature_celsius": 5,
    "gpuward_gpu_temperature_margin_celsius": 5,
    "gpuward_gpu_power_watts": 50,
    "gpuward_gpu_clock_hertz": 500e6,
    "gpuward_gpu_utilization_ratio": 1,
    "gpuward_gpu_memory_utilization_ratio": 1,
    "gpuward_gpu_memory_used_bytes": 64 << 20,
    "gpuward_gpu_processes": 1,
    "gpuward_gpu_pcie_generation": 5,  # lower while the GPU is idle
    "gpuward_gpu_slowdown": 1,
}

AMD = "AMD's; NVML has no such value"
WORKER = "about the exporter's worker process, not about a GPU"
NOT_COMPARED = {
    "gpuward_gpu_in_kfd": AMD,
    "gpuward_gpu_bad_pages": AMD,
    "gpuward_gpu_ras_errors_total": AMD,
    "gpuward_gpu_error_records_given_up": AMD,
    "gpuward_gpu_severity": "a judgement of the checks",
    "gpuward_gpu_pod_info": "from the kubelet",
    "gpuward_gpus_expected": "from the instance profile and the node's labels",
    "gpuward_gpus_counted_on_pci": "from the PCI bus",
    "gpuward_gpu_worker_up": WORKER,
    "gpuward_gpu_released": WORKER,
    "gpuward_gpu_release_requested": WORKER,
    "gpuward_gpu_worker_state": WORKER,
    "gpuward_gpu_worker_restarts_total": WORKER,
    "gpuward_gpu_worker_hangs_total": WORKER,
    "gpuward_gpu_probes_total": WORKER,
    "gpuward_gpu_reading_timestamp_seconds": WORKER,
    "gpuward_gpu_reading_duration_seconds": WORKER,
    "gpuward_gpu_events_up": WORKER,
}
# Metrics of the library as a whole: reading.py.
OF_LIBRARY = {"gpuward_gpu_library_info", "gpuward_gpu_library_state", "gpuward_gpus_counted_by_driver"}
OF_LINKS = {"gpuward_gpu_links", "gpuward_gpu_links_active", "gpuward_gpu_link_errors_total",
            "gpuward_gpu_single_link_active", "gpuward_gpu_single_link_errors_total"}
OF_IDENTITY = {"gpuward_gpu_info", "gpuward_gpu_lost", "gpuward_gpu_answers"}


def number(raw, bits=32):
    """NVML's and DCGM's numbers for "not available" are not values: all ones, and the sixteen at the end of the signed
    half."""
    if raw is None or raw == (1 << bits) - 1 or (1 << (bits - 1)) - 16 <= raw < 1 << (bits - 1):
        return None
    return raw


def flag(raw):
    return raw if raw in (0, 1) else None


def text(raw):
    return "" if raw is None or raw.strip() in ("N/A", "[N/A]", "Not Supported", "[Not Supported]", "ERR!") else raw.strip()


def scaled(raw, factor):
    return None if raw is None else raw * factor


def celsius(raw):
    return raw if raw == -1 else number(raw)  # -1 may be a margin


class Gpu:
    """One GPU as nvidia-ml-py reads it. Makes each call once; a call that NVML refuses gives None."""

    def __init__(self, nvml, index):
        self.nvml = nvml
        self.index = index
        self.is_lost = False
        self.has_answered = False
        self.handle = None
        self.handle = self.call(lambda: nvml.nvmlDeviceGetHandleByIndex(index))
        self.has_answered = False  # a handle does not prove that the GPU answers

    def call(self, question):
        if self.is_lost:
            return None
        try:
            answer = question()
        except self.nvml.NVMLError as error:
            self.is_lost = error.value == self.nvml.NVML_ERROR_GPU_IS_LOST
            return None
        self.has_answered = True
        return answer

    @functools.cache
    def ask(self, function, *arguments):
        if self.handle is None:
            return None
        return self.call(lambda: getattr(self.nvml, function)(self.handle, *arguments))

    @functools.cache
    def part(self, index, function, *arguments):
        answer = self.ask(function, *arguments)
        return None if answer is None else answer[index]

    @functools.cache
    def structure(self, layout, version, function):
        """Returns the structure that a function fills, or None."""
        filled = getattr(self.nvml, layout)()
        if version:
            filled.version = getattr(self.nvml, version)
        done = self.handle is not None and self.call(
            lambda: getattr(self.nvml, function)(self.handle, ctypes.byref(filled)) or True)
        return filled if done else None

    @functools.cache
    def field(self, name, scope=0):
        """Returns a value of nvmlDeviceGetFieldValues, by the library's type for it."""
        number_of_field = getattr(self.nvml, name)
        values = self.ask("nvmlDeviceGetFieldValues", ((number_of_field, scope),))
        if values is None or values[0].nvmlReturn != self.nvml.NVML_SUCCESS:
            return None
        members = {self.nvml.NVML_VALUE_TYPE_DOUBLE: ("dVal", 0), self.nvml.NVML_VALUE_TYPE_UNSIGNED_INT: ("uiVal", 32),
                   self.nvml.NVML_VALUE_TYPE_UNSIGNED_LONG: ("ulVal", 64), self.nvml.NVML_VALUE_TYPE_SIGNED_INT: ("siVal", 32),
                   self.nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: ("ullVal", 64),
                   self.nvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG: ("sllVal", 64)}
        member, bits = members[values[0].valueType]
        raw = getattr(values[0].value, member)
        return number(raw, bits) if bits else raw

    # The function differs between drivers: uses the first that answers.

    def memory(self, member):
        info = self.ask("nvmlDeviceGetMemoryInfo", self.nvml.nvmlMemory_v2) or self.ask("nvmlDeviceGetMemoryInfo")
        return None if info is None else number(getattr(info, member), 64)

    def celsius(self):
        newer = self.ask("nvmlDeviceGetTemperatureV", self.nvml.NVML_TEMPERATURE_GPU)
        return celsius(newer if newer is not None else self.ask("nvmlDeviceGetTemperature", self.nvml.NVML_TEMPERATURE_GPU))

    def watts(self, *functions):
        for function in functions:
            if (milliwatts := number(self.ask(function))) is not None:
                return milliwatts / 1000
        return None

    def has_reason(self, bit):
        reasons = self.ask("nvmlDeviceGetCurrentClocksEventReasons")
        if reasons is None:
            reasons = self.ask("nvmlDeviceGetCurrentClocksThrottleReasons")
        return None if number(reasons, 64) is None else int(reasons & getattr(self.nvml, bit) != 0)

    def violation_seconds(self, policy, field):
        status = self.ask("nvmlDeviceGetViolationStatus", getattr(self.nvml, policy))
        return scaled(number(status.violationTime, 64) if status is not None else self.field(field), 1e-9)

    def process_count(self):
        for function in ("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"):
            if (processes := self.ask(function)) is not None:
                return len(processes)
        return self.process_count_of_old_drivers()

    def process_count_of_old_drivers(self):
        """nvidia-ml-py no longer has a binding for the function of drivers before R450; the count needs none."""
        count = ctypes.c_uint(0)
        function = getattr(self.nvml.nvmlLib, "nvmlDeviceGetComputeRunningProcesses", None)
        if function is None or self.handle is None or self.is_lost:
            return None
        answer = function(self.handle, ctypes.byref(count), None)
        return count.value if answer in (self.nvml.NVML_SUCCESS, self.nvml.NVML_ERROR_INSUFFICIENT_SIZE) else None

    def retired(self, cause):
        pages = self.ask("nvmlDeviceGetRetiredPages", getattr(self.nvml, cause))
        return None if pages is None else len(pages)

    def sram(self, member):
        status = self.structure("c_nvmlEccSramErrorStatus_v1_t", "nvmlEccSramErrorStatus_v1", "nvmlDeviceGetSramEccErrorStatus")
        return None if status is None else number(getattr(status, member), 64)

    def banks(self, member):
        histogram = self.ask("nvmlDeviceGetRowRemapperHistogram")
        return None if histogram is None else number(getattr(histogram, member))

    def utilization(self, member):
        rates = self.ask("nvmlDeviceGetUtilizationRates")
        percent = None if rates is None else getattr(rates, member)
        return None if percent is None or percent > 100 else percent / 100

    def fabric(self, member):
        """Returns the newest of three structures that the library supports."""
        for layout, version, function in (
                ("c_nvmlGpuFabricInfo_v3_t", "nvmlGpuFabricInfo_v3", "nvmlDeviceGetGpuFabricInfoV"),
                ("c_nvmlGpuFabricInfo_v2_t", "nvmlGpuFabricInfo_v2", "nvmlDeviceGetGpuFabricInfoV"),
                ("c_nvmlGpuFabricInfo_t", None, "nvmlDeviceGetGpuFabricInfo")):
            info = self.structure(layout, version, function)
            if info is not None:
                # The package declares `state` with four bytes; nvml.h has one, and padding after it.
                value = getattr(info, member, None)
                return value & 0xFF if member == "state" else value
        return None

    def fabric_status(self):
        """Returns a value only if the registration is complete."""
        return self.fabric("status") if self.fabric("state") == self.nvml.NVML_GPU_FABRIC_STATE_COMPLETED else None

    def fabric_fault(self, name):
        mask = self.fabric("healthMask")
        if mask is None:
            return None
        bits = mask >> getattr(self.nvml, f"NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_{name}") & 0x3
        return {1: 1, 2: 0}.get(bits)  # 0: not supported

    def misconfiguration(self):
        mask = self.fabric("healthMask")
        return None if mask is None else (mask >> 8 & 0xF) or None


def ecc_values():
    for error in ("corrected", "uncorrected"):
        for counter in ("volatile", "aggregate"):
            labels = {"error": error, "counter": counter}
            kind = (f"NVML_MEMORY_ERROR_TYPE_{error.upper()}", f"NVML_{counter.upper()}_ECC")

            def total(gpu, kind=kind):
                return number(gpu.ask("nvmlDeviceGetTotalEccErrors", *(getattr(gpu.nvml, one) for one in kind)), 64)

            yield "gpuward_gpu_ecc_errors_total", labels, total
            for memory in ("sram", "dram"):
                def errors(gpu, kind=(*kind, f"NVML_MEMORY_LOCATION_{memory.upper()}")):
                    return number(gpu.ask("nvmlDeviceGetMemoryErrorCounter", *(getattr(gpu.nvml, one) for one in kind)), 64)

                yield "gpuward_gpu_ecc_memory_errors_total", {**labels, "memory": memory}, errors


def threshold(name):
    return lambda gpu: number(gpu.ask("nvmlDeviceGetTemperatureThreshold", getattr(gpu.nvml, name)))


def margin(name, unless=None):
    """If the driver has the limit in degrees, there is no second series of it."""
    return lambda gpu: celsius(gpu.field(name)) if unless is None or unless(gpu) is None else None


SLOWDOWN = threshold("NVML_TEMPERATURE_THRESHOLD_SLOWDOWN")
SHUTDOWN = threshold("NVML_TEMPERATURE_THRESHOLD_SHUTDOWN")
MEMORY_MAX = threshold("NVML_TEMPERATURE_THRESHOLD_MEM_MAX")
THRESHOLD = "gpuward_gpu_temperature_threshold_celsius"
MARGIN = "gpuward_gpu_temperature_margin_threshold_celsius"
REASONS = {"sw_power_cap": "nvmlClocksThrottleReasonSwPowerCap", "hw_slowdown": "nvmlClocksThrottleReasonHwSlowdown",
           "sync_boost": "nvmlClocksThrottleReasonSyncBoost", "sw_thermal": "nvmlClocksThrottleReasonSwThermalSlowdown",
           "hw_thermal": "nvmlClocksThrottleReasonHwThermalSlowdown",
           "hw_power_brake": "nvmlClocksThrottleReasonHwPowerBrakeSlowdown"}
FAULTS = {"degraded_bandwidth": "DEGRADED_BW", "route_recovery": "ROUTE_RECOVERY", "route_unhealthy": "ROUTE_UNHEALTHY",
          "access_timeout": "ACCESS_TIMEOUT_RECOVERY"}

# Metric, labels after those that identify the GPU, value.
VALUES = [
    ("gpuward_gpu_recovery_action", {}, lambda gpu: gpu.field("NVML_FI_DEV_GET_GPU_RECOVERY_ACTION")),
    ("gpuward_gpu_ecc_enabled", {}, lambda gpu: flag(gpu.part(0, "nvmlDeviceGetEccMode"))),
    ("gpuward_gpu_ecc_pending_enabled", {}, lambda gpu: flag(gpu.part(1, "nvmlDeviceGetEccMode"))),
    ("gpuward_gpu_persistence_mode", {}, lambda gpu: flag(gpu.ask("nvmlDeviceGetPersistenceMode"))),
    ("gpuward_gpu_mig_enabled", {}, lambda gpu: flag(gpu.part(0, "nvmlDeviceGetMigMode"))),
    ("gpuward_gpu_processes", {}, Gpu.process_count),
    *ecc_values(),
    ("gpuward_gpu_sram_uncorrectable_errors_total", {"protection": "parity"}, lambda gpu: gpu.sram("aggregateUncParity")),
    ("gpuward_gpu_sram_uncorrectable_errors_total", {"protection": "secded"}, lambda gpu: gpu.sram("aggregateUncSecDed")),
    ("gpuward_gpu_sram_threshold_exceeded", {}, lambda gpu: flag(gpu.sram("bThresholdExceeded"))),
    ("gpuward_gpu_retired_pages", {"error": "single_bit"},
     lambda gpu: gpu.retired("NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS")),
    ("gpuward_gpu_retired_pages", {"error": "double_bit"},
     lambda gpu: gpu.retired("NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR")),
    ("gpuward_gpu_retired_pages_pending", {}, lambda gpu: flag(gpu.ask("nvmlDeviceGetRetiredPagesPendingStatus"))),
    ("gpuward_gpu_remapped_rows", {"error": "corrected"}, lambda gpu: number(gpu.part(0, "nvmlDeviceGetRemappedRows"))),
    ("gpuward_gpu_remapped_rows", {"error": "uncorrected"}, lambda gpu: number(gpu.part(1, "nvmlDeviceGetRemappedRows"))),
    ("gpuward_gpu_remapped_rows_pending", {}, lambda gpu: flag(gpu.part(2, "nvmlDeviceGetRemappedRows"))),
    ("gpuward_gpu_remapped_rows_failure", {}, lambda gpu: flag(gpu.part(3, "nvmlDeviceGetRemappedRows"))),
    *(("gpuward_gpu_remapped_rows_banks", {"spare_rows": rows}, lambda gpu, rows=rows: gpu.banks(rows))
      for rows in ("max", "high", "partial", "low", "none")),
    ("gpuward_gpu_memory_size_bytes", {}, lambda gpu: gpu.memory("total")),
    ("gpuward_gpu_memory_used_bytes", {}, lambda gpu: gpu.memory("used")),
    ("gpuward_gpu_temperature_celsius", {"sensor": "gpu"}, Gpu.celsius),
    ("gpuward_gpu_temperature_celsius", {"sensor": "memory"}, lambda gpu: gpu.field("NVML_FI_DEV_MEMORY_TEMP")),
    ("gpuward_gpu_temperature_margin_celsius", {}, lambda gpu: celsius(gpu.ask("nvmlDeviceGetMarginTemperature"))),
    (MARGIN, {"threshold": "slowdown"}, margin("NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT")),
    (MARGIN, {"threshold": "shutdown"}, margin("NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT", unless=SHUTDOWN)),
    (MARGIN, {"threshold": "memory"}, margin("NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT", unless=MEMORY_MAX)),
    (MARGIN, {"threshold": "gpu"}, margin("NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT", unless=SLOWDOWN)),
    (THRESHOLD, {"threshold": "slowdown"}, SLOWDOWN),
    (THRESHOLD, {"threshold": "shutdown"}, SHUTDOWN),
    (THRESHOLD, {"threshold": "memory"}, MEMORY_MAX),
    ("gpuward_gpu_power_watts", {}, lambda gpu: gpu.watts("nvmlDeviceGetPowerUsage")),
    ("gpuward_gpu_power_limit_watts", {},
     lambda gpu: gpu.watts("nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit")),
    ("gpuward_gpu_power_default_limit_watts", {}, lambda gpu: gpu.watts("nvmlDeviceGetPowerManagementDefaultLimit")),
    ("gpuward_gpu_energy_joules_total", {},
     lambda gpu: scaled(number(gpu.ask("nvmlDeviceGetTotalEnergyConsumption"), 64), 1e-3)),
    *(("gpuward_gpu_slowdown", {"reason": reason}, lambda gpu, bit=bit: gpu.has_reason(bit)) for reason, bit in REASONS.items()),
    ("gpuward_gpu_slowdown_seconds_total", {"reason": "power"},
     lambda gpu: gpu.violation_seconds("NVML_PERF_POLICY_POWER", "NVML_FI_DEV_PERF_POLICY_POWER")),
    ("gpuward_gpu_slowdown_seconds_total", {"reason": "thermal"},
     lambda gpu: gpu.violation_seconds("NVML_PERF_POLICY_THERMAL", "NVML_FI_DEV_PERF_POLICY_THERMAL")),
    ("gpuward_gpu_clock_hertz", {"clock": "sm"},
     lambda gpu: scaled(number(gpu.ask("nvmlDeviceGetClockInfo", gpu.nvml.NVML_CLOCK_SM)), 1e6)),
    ("gpuward_gpu_clock_hertz", {"clock": "memory"},
     lambda gpu: scaled(number(gpu.ask("nvmlDeviceGetClockInfo", gpu.nvml.NVML_CLOCK_MEM)), 1e6)),
    ("gpuward_gpu_utilization_ratio", {}, lambda gpu: gpu.utilization("gpu")),
    ("gpuward_gpu_memory_utilization_ratio", {}, lambda gpu: gpu.utilization("memory")),
    ("gpuward_gpu_pcie_generation", {}, lambda gpu: number(gpu.ask("nvmlDeviceGetCurrPcieLinkGeneration"))),
    ("gpuward_gpu_pcie_generation_max", {}, lambda gpu: number(gpu.ask("nvmlDeviceGetMaxPcieLinkGeneration"))),
    ("gpuward_gpu_pcie_link_width", {}, lambda gpu: number(gpu.ask("nvmlDeviceGetCurrPcieLinkWidth"))),
    ("gpuward_gpu_pcie_link_width_max", {}, lambda gpu: number(gpu.ask("nvmlDeviceGetMaxPcieLinkWidth"))),
    ("gpuward_gpu_pcie_replays_total", {}, lambda gpu: number(gpu.ask("nvmlDeviceGetPcieReplayCounter"))),
    ("gpuward_gpu_fabric_state", {}, lambda gpu: gpu.fabric("state")),
    ("gpuward_gpu_fabric_status", {}, Gpu.fabric_status),
    ("gpuward_gpu_fabric_health", {}, lambda gpu: gpu.fabric("healthSummary") or None),  # 0: not supported
    ("gpuward_gpu_fabric_misconfiguration", {}, Gpu.misconfiguration),
    *(("gpuward_gpu_fabric_fault", {"fault": fault}, lambda gpu, name=name: gpu.fabric_fault(name))
      for fault, name in FAULTS.items()),
]

COMPARED = {name for name, _, _ in VALUES} | OF_LIBRARY | OF_LINKS | OF_IDENTITY
