#!/usr/bin/env python3
"""reading.py LIBRARY: prints, as JSON, the series that gpuward should serve for this NVML library. It is a separate
process, because a library may hang or crash."""
import ctypes
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "abi" / "nvml"))

import package  # noqa: E402
from values import VALUES, Gpu, number, text  # noqa: E402

# Before NVLink 5 a counter of nvmlDeviceGetNvLinkErrorCounter, since then a field with the link as its scope.
COUNTERS = {"replay": "NVML_NVLINK_ERROR_DL_REPLAY", "recovery": "NVML_NVLINK_ERROR_DL_RECOVERY",
            "crc_flit": "NVML_NVLINK_ERROR_DL_CRC_FLIT", "crc_data": "NVML_NVLINK_ERROR_DL_CRC_DATA"}
FIELDS = {"recovery": "NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS", "symbol": "NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS",
          "effective": "NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS"}


def bus_id(pci):
    """Returns the address in gpuward's form: no function, four digits of the domain. All ones are not an address: the
    driver returns them for the other end of a link to an NVSwitch that is not on the node's PCI bus."""
    return "" if pci.domain == 0xFFFFFFFF else f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}"


def link_errors(gpu, link):
    nvml = gpu.nvml
    architecture = number(gpu.ask("nvmlDeviceGetArchitecture"))
    errors = {}
    if architecture is None or architecture < nvml.NVML_DEVICE_ARCH_BLACKWELL:
        for name, counter in COUNTERS.items():
            errors[name] = number(gpu.ask("nvmlDeviceGetNvLinkErrorCounter", link, getattr(nvml, counter)), 64)
    if architecture is None or architecture >= nvml.NVML_DEVICE_ARCH_BLACKWELL:
        for name, field in FIELDS.items():
            if (value := gpu.field(field, link)) is not None:
                errors[name] = value
    return {name: value for name, value in errors.items() if value is not None}


def links_of(gpu):
    """Returns the link's number, whether it is up, its errors, and the address at the other end."""
    count = gpu.field("NVML_FI_DEV_NVLINK_LINK_COUNT")
    for link in range(gpu.nvml.NVML_NVLINK_MAX_LINKS if count is None else count):
        state = gpu.ask("nvmlDeviceGetNvLinkState", link)
        if state is None:
            continue
        remote = gpu.ask("nvmlDeviceGetNvLinkRemotePciInfo", link) if state else None
        yield link, state, link_errors(gpu, link), bus_id(remote) if remote else ""


def link_series(gpu):
    links = list(links_of(gpu))
    if not links:
        return
    yield "gpuward_gpu_links", {}, len(links)
    yield "gpuward_gpu_links_active", {}, sum(state for _, state, _, _ in links)
    for error in {*COUNTERS, *FIELDS}:
        told = [errors[error] for _, _, errors, _ in links if error in errors]
        is_whole = all(error in errors for _, state, errors, _ in links if state)
        if told and is_whole:
            yield "gpuward_gpu_link_errors_total", {"error": error}, sum(told)
    for link, state, errors, remote in links:
        yield "gpuward_gpu_single_link_active", {"link": str(link), "remote_pci_bus_id": remote}, state
        for error, value in errors.items():
            yield "gpuward_gpu_single_link_errors_total", {"link": str(link), "error": error}, value


def identity_series(gpu):
    yield "gpuward_gpu_info", {
        "name": text(gpu.ask("nvmlDeviceGetName")), "serial": text(gpu.ask("nvmlDeviceGetSerial")), "vendor": "nvidia",
        "vbios_version": text(gpu.ask("nvmlDeviceGetVbiosVersion")),
        "part_number": text(gpu.ask("nvmlDeviceGetBoardPartNumber")), "compute_partition": "", "memory_partition": ""}, 1
    yield "gpuward_gpu_lost", {}, int(gpu.is_lost)
    yield "gpuward_gpu_answers", {}, int(gpu.has_answered and not gpu.is_lost)


def gpu_series(nvml, index):
    gpu = Gpu(nvml, index)
    pci = gpu.ask("nvmlDeviceGetPciInfo")
    if pci is None:
        return  # without an address a GPU has no series
    labels = {"gpu": str(index), "uuid": text(gpu.ask("nvmlDeviceGetUUID")), "pci_bus_id": bus_id(pci)}
    values = [(name, own, read(gpu)) for name, own, read in VALUES]
    for name, own, value in [*values, *link_series(gpu), *identity_series(gpu)]:
        if value is not None:
            yield name, {**labels, **own}, value


def series(library):
    nvml = package.load()
    nvml.CDLL = lambda _name: ctypes.CDLL(library)
    state = "absent"
    try:
        ctypes.CDLL(library)
        state = "unusable"
        nvml.nvmlInit()
        state = "ready"
    except (OSError, nvml.NVMLError):
        pass
    for other in ("absent", "unusable", "ready"):
        yield "gpuward_gpu_library_state", {"vendor": "nvidia", "state": other}, int(other == state)
    if state != "ready":
        return
    yield "gpuward_gpu_library_info", {"vendor": "nvidia", "library": library,
                                       "driver_version": nvml.nvmlSystemGetDriverVersion(),
                                       "library_version": nvml.nvmlSystemGetNVMLVersion()}, 1
    count = nvml.nvmlDeviceGetCount()
    yield "gpuward_gpus_counted_by_driver", {"vendor": "nvidia"}, count
    for index in range(count):
        yield from gpu_series(nvml, index)
    nvml.nvmlShutdown()


if __name__ == "__main__":
    json.dump(list(series(sys.argv[1])), sys.stdout)
