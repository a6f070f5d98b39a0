// NVML's functions by their C names. A function that the installed driver lacks returns
// NVML_ERROR_FUNCTION_NOT_FOUND, so that only its values are absent. Used by all readers of this
// folder.
#pragma once

#include <functional>
#include <type_traits>

#include "exporter/gpu/nvidia/nvml_abi.h"

namespace gpuward::exporter::nvml {

// Returns the address of a function of that name, or null.
using Resolver = std::function<void*(const char* name)>;

template <typename Signature>
class Function;

template <typename Answer, typename... Arguments>
class Function<Answer(Arguments...)> {
 public:
  Function(const Resolver& resolve, const char* name)
      : pointer_(reinterpret_cast<Answer (*)(Arguments...)>(resolve(name))), name_(name) {}

  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] explicit operator bool() const { return pointer_ != nullptr; }

  // The library's structures have other names, which clang's check of pointer types would report.
#if defined(__clang__)
  __attribute__((no_sanitize("function")))
#endif
  Answer
  operator()(Arguments... arguments) const {
    if (pointer_ != nullptr) return pointer_(arguments...);
    if constexpr (std::is_same_v<Answer, ReturnCode>) return kFunctionNotFound;
    return {};
  }

 private:
  Answer (*pointer_)(Arguments...);
  const char* name_;
};

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I32 = std::int32_t;
using TextCall = Function<ReturnCode(Device, char*, U32)>;
using Number32Call = Function<ReturnCode(Device, U32*)>;
using Number64Call = Function<ReturnCode(Device, U64*)>;
// The size of an entry varies: modes.cpp.
using ProcessCall = Function<ReturnCode(Device, U32* count, void* entries)>;

struct Symbols {
  Resolver resolve;

  Function<ReturnCode()> init{resolve, "nvmlInit_v2"};
  Function<ReturnCode()> shutdown{resolve, "nvmlShutdown"};
  Function<const char*(ReturnCode)> error_string{resolve, "nvmlErrorString"};
  Function<ReturnCode(char*, U32)> driver_version{resolve, "nvmlSystemGetDriverVersion"};
  Function<ReturnCode(char*, U32)> nvml_version{resolve, "nvmlSystemGetNVMLVersion"};
  Function<ReturnCode(U32*)> count{resolve, "nvmlDeviceGetCount_v2"};
  Function<ReturnCode(U32, Device*)> handle{resolve, "nvmlDeviceGetHandleByIndex_v2"};

  Function<ReturnCode(Device, PciInfo*)> pci{resolve, "nvmlDeviceGetPciInfo_v3"};
  TextCall name{resolve, "nvmlDeviceGetName"};
  TextCall uuid{resolve, "nvmlDeviceGetUUID"};
  TextCall serial{resolve, "nvmlDeviceGetSerial"};
  TextCall vbios{resolve, "nvmlDeviceGetVbiosVersion"};
  TextCall part_number{resolve, "nvmlDeviceGetBoardPartNumber"};
  Number32Call minor{resolve, "nvmlDeviceGetMinorNumber"};
  Number32Call architecture{resolve, "nvmlDeviceGetArchitecture"};

  Function<ReturnCode(Device, U32*, U32*)> ecc_mode{resolve, "nvmlDeviceGetEccMode"};
  Number32Call ecc_default{resolve, "nvmlDeviceGetDefaultEccMode"};
  Function<ReturnCode(Device, I32, I32, U64*)> total_ecc{resolve, "nvmlDeviceGetTotalEccErrors"};
  Function<ReturnCode(Device, I32, I32, I32, U64*)> memory_errors{
      resolve, "nvmlDeviceGetMemoryErrorCounter"};
  Function<ReturnCode(Device, SramStatus*)> sram_status{resolve, "nvmlDeviceGetSramEccErrorStatus"};
  Function<ReturnCode(Device, I32, U32*, U64*)> retired_pages{resolve, "nvmlDeviceGetRetiredPages"};
  Number32Call retired_pending{resolve, "nvmlDeviceGetRetiredPagesPendingStatus"};
  Function<ReturnCode(Device, U32*, U32*, U32*, U32*)> remapped_rows{resolve,
                                                                     "nvmlDeviceGetRemappedRows"};
  Function<ReturnCode(Device, RowHistogram*)> row_histogram{resolve,
                                                            "nvmlDeviceGetRowRemapperHistogram"};
  Function<ReturnCode(Device, Memory*)> memory{resolve, "nvmlDeviceGetMemoryInfo"};
  Function<ReturnCode(Device, MemoryV2*)> memory_v2{resolve, "nvmlDeviceGetMemoryInfo_v2"};

  Function<ReturnCode(Device, Temperature*)> temperature_v{resolve, "nvmlDeviceGetTemperatureV"};
  Function<ReturnCode(Device, I32, U32*)> temperature{resolve, "nvmlDeviceGetTemperature"};
  Function<ReturnCode(Device, MarginTemperature*)> margin{resolve,
                                                          "nvmlDeviceGetMarginTemperature"};
  Function<ReturnCode(Device, I32, U32*)> threshold{resolve, "nvmlDeviceGetTemperatureThreshold"};
  Number32Call power_usage{resolve, "nvmlDeviceGetPowerUsage"};
  Number32Call enforced_limit{resolve, "nvmlDeviceGetEnforcedPowerLimit"};
  Number32Call power_limit{resolve, "nvmlDeviceGetPowerManagementLimit"};
  Number32Call default_limit{resolve, "nvmlDeviceGetPowerManagementDefaultLimit"};
  Number64Call energy{resolve, "nvmlDeviceGetTotalEnergyConsumption"};
  Number64Call event_reasons{resolve, "nvmlDeviceGetCurrentClocksEventReasons"};
  Number64Call throttle_reasons{resolve, "nvmlDeviceGetCurrentClocksThrottleReasons"};
  Function<ReturnCode(Device, I32, ViolationTime*)> violation{resolve,
                                                              "nvmlDeviceGetViolationStatus"};
  Function<ReturnCode(Device, I32, U32*)> clock{resolve, "nvmlDeviceGetClockInfo"};
  Function<ReturnCode(Device, Utilization*)> utilization{resolve, "nvmlDeviceGetUtilizationRates"};

  Number32Call pcie_generation{resolve, "nvmlDeviceGetCurrPcieLinkGeneration"};
  Number32Call pcie_generation_max{resolve, "nvmlDeviceGetMaxPcieLinkGeneration"};
  Number32Call pcie_width{resolve, "nvmlDeviceGetCurrPcieLinkWidth"};
  Number32Call pcie_width_max{resolve, "nvmlDeviceGetMaxPcieLinkWidth"};
  Number32Call pcie_replays{resolve, "nvmlDeviceGetPcieReplayCounter"};
  Function<ReturnCode(Device, U32, U32*)> link_state{resolve, "nvmlDeviceGetNvLinkState"};
  Function<ReturnCode(Device, U32, I32, U64*)> link_errors{resolve,
                                                           "nvmlDeviceGetNvLinkErrorCounter"};
  Function<ReturnCode(Device, U32, PciInfo*)> link_remote{resolve,
                                                          "nvmlDeviceGetNvLinkRemotePciInfo_v2"};
  Function<ReturnCode(Device, FabricInfo*)> fabric{resolve, "nvmlDeviceGetGpuFabricInfo"};
  // Takes FabricInfoV2 or V3, selected by the version word.
  Function<ReturnCode(Device, void*)> fabric_v{resolve, "nvmlDeviceGetGpuFabricInfoV"};
  Function<ReturnCode(Device, Device, I32, I32*)> peer_status{resolve, "nvmlDeviceGetP2PStatus"};
  Function<ReturnCode(Device, Device, I32*)> common_ancestor{resolve,
                                                             "nvmlDeviceGetTopologyCommonAncestor"};

  Number32Call persistence{resolve, "nvmlDeviceGetPersistenceMode"};
  Function<ReturnCode(Device, U32*, U32*)> mig_mode{resolve, "nvmlDeviceGetMigMode"};
  Number32Call mig_count{resolve, "nvmlDeviceGetMaxMigDeviceCount"};
  Function<ReturnCode(Device, U32, Device*)> mig_handle{resolve,
                                                        "nvmlDeviceGetMigDeviceHandleByIndex"};
  Number32Call gpu_instance{resolve, "nvmlDeviceGetGpuInstanceId"};
  Number32Call compute_instance{resolve, "nvmlDeviceGetComputeInstanceId"};
  ProcessCall processes_v3{resolve, "nvmlDeviceGetComputeRunningProcesses_v3"};
  ProcessCall processes_v2{resolve, "nvmlDeviceGetComputeRunningProcesses_v2"};
  ProcessCall processes{resolve, "nvmlDeviceGetComputeRunningProcesses"};
  Function<ReturnCode(Device, I32, FieldValue*)> field_values{resolve, "nvmlDeviceGetFieldValues"};

  Function<ReturnCode(EventSet*)> event_set_create{resolve, "nvmlEventSetCreate"};
  Function<ReturnCode(EventSet)> event_set_free{resolve, "nvmlEventSetFree"};
  Function<ReturnCode(EventSet, EventData*, U32)> event_set_wait{resolve, "nvmlEventSetWait_v2"};
  Function<ReturnCode(Device, U64, EventSet)> register_events{resolve, "nvmlDeviceRegisterEvents"};
};

}  // namespace gpuward::exporter::nvml
