#!/usr/bin/env python3
"""Reads a libnvidia-ml.so.1 with NVIDIA's own Python package and prints its answers, one `key value` a line.

The tests run it on the fake, so that NVIDIA's own code checks the fake too. On a machine with a GPU it shows the
answers of the real library. The loader finds the library as usual; set LD_LIBRARY_PATH to the folder of another one.
"""

import ctypes

import package


def versioned(pynvml, layout, version, function, handle):
    info = layout()
    info.version = version
    getattr(pynvml, function)(handle, ctypes.byref(info))
    return info


def print_gpu(pynvml, index):
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)

    def say(key, value):
        print(f"gpu.{index}.{key} {value}")

    say("uuid", pynvml.nvmlDeviceGetUUID(handle))
    say("pci", pynvml.nvmlDeviceGetPciInfo(handle).busId)
    say("temperature", pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))
    say("dram_uncorrected_volatile", pynvml.nvmlDeviceGetMemoryErrorCounter(
        handle, pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, pynvml.NVML_VOLATILE_ECC,
        pynvml.NVML_MEMORY_LOCATION_DRAM))
    say("remapped_rows", pynvml.nvmlDeviceGetRemappedRows(handle))
    say("banks_high", pynvml.nvmlDeviceGetRowRemapperHistogram(handle).high)
    say("memory_reserved",
        pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2).reserved)
    sram = versioned(pynvml, pynvml.c_nvmlEccSramErrorStatus_v1_t,
                     pynvml.nvmlEccSramErrorStatus_v1, "nvmlDeviceGetSramEccErrorStatus", handle)
    say("sram_threshold", sram.bThresholdExceeded)
    fabric = versioned(pynvml, pynvml.c_nvmlGpuFabricInfo_v3_t, pynvml.nvmlGpuFabricInfo_v3,
                       "nvmlDeviceGetGpuFabricInfoV", handle)
    say("fabric", f"{fabric.state} {fabric.healthMask} {fabric.healthSummary}")
    say("links", sum(pynvml.nvmlDeviceGetNvLinkState(handle, link) for link in range(18)))
    say("link_crc_flit", pynvml.nvmlDeviceGetNvLinkErrorCounter(
        handle, 6, pynvml.NVML_NVLINK_ERROR_DL_CRC_FLIT))
    say("link_remote", pynvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, 0).busId)
    action, memory = pynvml.nvmlDeviceGetFieldValues(
        handle, [pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, pynvml.NVML_FI_DEV_MEMORY_TEMP])
    say("recovery_action", action.value.uiVal)
    say("memory_temperature", memory.value.uiVal)
    say("processes",
        [(p.pid, p.usedGpuMemory) for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)])


def main():
    pynvml = package.load()
    pynvml.nvmlInit()
    print("driver", pynvml.nvmlSystemGetDriverVersion())
    for index in range(pynvml.nvmlDeviceGetCount()):
        print_gpu(pynvml, index)
    pynvml.nvmlShutdown()


if __name__ == "__main__":
    main()
