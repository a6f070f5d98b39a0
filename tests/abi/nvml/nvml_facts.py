#!/usr/bin/env python3
"""Prints what NVIDIA's Python package declares of NVML's C interface, as far as gpuward uses it.

    python3 tests/abi/nvml/nvml_facts.py > tests/abi/nvml/nvml_facts.txt

One fact a line: `package VERSION`, `size STRUCT BYTES`, `member STRUCT NAME OFFSET BYTES`, `constant NAME VALUE`,
`function NAME` for each C function that the package calls. nvml_abi_test compares the declarations of gpuward and of
its fake with the committed output.
"""

import ctypes
import inspect
import re

import package

# C name -> name in the package.
STRUCTS = {
    "nvmlPciInfo_t": "nvmlPciInfo_t",
    "nvmlUtilization_t": "c_nvmlUtilization_t",
    "nvmlMemory_t": "c_nvmlMemory_t",
    "nvmlMemory_v2_t": "c_nvmlMemory_v2_t",
    "nvmlRowRemapperHistogramValues_t": "c_nvmlRowRemapperHistogramValues",
    "nvmlEccSramErrorStatus_v1_t": "c_nvmlEccSramErrorStatus_v1_t",
    "nvmlViolationTime_t": "c_nvmlViolationTime_t",
    "nvmlTemperature_v1_t": "c_nvmlTemperature_v1_t",
    "nvmlMarginTemperature_v1_t": "c_nvmlMarginTemperature_v1_t",
    "nvmlGpuFabricInfo_t": "c_nvmlGpuFabricInfo_t",
    "nvmlGpuFabricInfo_v2_t": "c_nvmlGpuFabricInfo_v2_t",
    "nvmlGpuFabricInfo_v3_t": "c_nvmlGpuFabricInfo_v3_t",
    "nvmlValue_t": "c_nvmlValue_t",
    "nvmlFieldValue_t": "c_nvmlFieldValue_t",
    "nvmlEventData_t": "c_nvmlEventData_t",
    "nvmlProcessInfo_v2_t": "c_nvmlProcessInfo_v2_t",
}

CONSTANTS = """
NVML_SUCCESS NVML_ERROR_UNINITIALIZED NVML_ERROR_INVALID_ARGUMENT NVML_ERROR_NOT_SUPPORTED
NVML_ERROR_NO_PERMISSION NVML_ERROR_NOT_FOUND NVML_ERROR_INSUFFICIENT_SIZE
NVML_ERROR_DRIVER_NOT_LOADED NVML_ERROR_TIMEOUT NVML_ERROR_FUNCTION_NOT_FOUND
NVML_ERROR_GPU_IS_LOST NVML_ERROR_RESET_REQUIRED NVML_ERROR_LIB_RM_VERSION_MISMATCH
NVML_ERROR_NO_DATA NVML_ERROR_ARGUMENT_VERSION_MISMATCH NVML_ERROR_DEPRECATED
nvmlMemory_v2 nvmlEccSramErrorStatus_v1 nvmlTemperature_v1 nvmlMarginTemperature_v1
nvmlGpuFabricInfo_v2 nvmlGpuFabricInfo_v3
NVML_VALUE_TYPE_DOUBLE NVML_VALUE_TYPE_UNSIGNED_INT NVML_VALUE_TYPE_UNSIGNED_LONG
NVML_VALUE_TYPE_UNSIGNED_LONG_LONG NVML_VALUE_TYPE_SIGNED_LONG_LONG NVML_VALUE_TYPE_SIGNED_INT
NVML_VALUE_TYPE_UNSIGNED_SHORT
NVML_MEMORY_ERROR_TYPE_CORRECTED NVML_MEMORY_ERROR_TYPE_UNCORRECTED
NVML_VOLATILE_ECC NVML_AGGREGATE_ECC NVML_MEMORY_LOCATION_DRAM NVML_MEMORY_LOCATION_SRAM
NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS
NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR
NVML_TEMPERATURE_GPU NVML_TEMPERATURE_THRESHOLD_SHUTDOWN NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
NVML_TEMPERATURE_THRESHOLD_MEM_MAX
NVML_CLOCK_SM NVML_CLOCK_MEM NVML_PERF_POLICY_POWER NVML_PERF_POLICY_THERMAL
NVML_NVLINK_ERROR_DL_REPLAY NVML_NVLINK_ERROR_DL_RECOVERY NVML_NVLINK_ERROR_DL_CRC_FLIT
NVML_NVLINK_ERROR_DL_CRC_DATA NVML_NVLINK_MAX_LINKS
NVML_P2P_CAPS_INDEX_READ NVML_P2P_CAPS_INDEX_WRITE NVML_P2P_CAPS_INDEX_NVLINK
NVML_GPU_FABRIC_STATE_COMPLETED NVML_GPU_FABRIC_STATE_NOT_SUPPORTED
NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED
nvmlEventTypeXidCriticalError NVML_DEVICE_ARCH_BLACKWELL
NVML_FI_DEV_PERF_POLICY_POWER NVML_FI_DEV_PERF_POLICY_THERMAL NVML_FI_DEV_MEMORY_TEMP
NVML_FI_DEV_NVLINK_LINK_COUNT
NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT
NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT
NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS
NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS
NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
NVML_DEVICE_NAME_V2_BUFFER_SIZE NVML_DEVICE_UUID_V2_BUFFER_SIZE NVML_DEVICE_SERIAL_BUFFER_SIZE
NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE NVML_DEVICE_PART_NUMBER_BUFFER_SIZE
NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE
""".split()

# What other parts of gpuward take from NVML's readings as plain numbers.
MEANINGS = """
NVML_GPU_RECOVERY_ACTION_NONE NVML_GPU_RECOVERY_ACTION_GPU_RESET
NVML_GPU_RECOVERY_ACTION_NODE_REBOOT NVML_GPU_RECOVERY_ACTION_DRAIN_P2P
NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET NVML_GPU_RECOVERY_ACTION_RECOVER_IMEX_DOMAIN
nvmlClocksEventReasonSwThermalSlowdown nvmlClocksThrottleReasonHwSlowdown
nvmlClocksThrottleReasonHwThermalSlowdown nvmlClocksThrottleReasonHwPowerBrakeSlowdown
NVML_TOPOLOGY_INTERNAL NVML_TOPOLOGY_SINGLE NVML_TOPOLOGY_MULTIPLE NVML_TOPOLOGY_HOSTBRIDGE
NVML_TOPOLOGY_NODE NVML_TOPOLOGY_SYSTEM NVML_P2P_STATUS_OK
NVML_GPU_FABRIC_STATE_NOT_STARTED NVML_GPU_FABRIC_STATE_IN_PROGRESS
NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_TRUE
NVML_DEVICE_ARCH_AMPERE NVML_DEVICE_ARCH_HOPPER
""".split()


def print_struct(name, layout):
    print("size", name, ctypes.sizeof(layout))
    for member, _ in ((field[0], field[1]) for field in layout._fields_):
        place = getattr(layout, member)
        print("member", name, member, place.offset, place.size)


def main():
    pynvml = package.load()
    print("package", package.VERSION)
    for name, in_package in STRUCTS.items():
        print_struct(name, getattr(pynvml, in_package))
    for name in CONSTANTS + MEANINGS:
        print("constant", name, getattr(pynvml, name))
    source = inspect.getsource(pynvml)
    for name in sorted(set(re.findall(r'_nvmlGetFunctionPointer\(\s*"(nvml\w+)"', source))):
        print("function", name)


if __name__ == "__main__":
    main()
