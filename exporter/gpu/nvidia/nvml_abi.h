// The part of NVML's C interface that gpuward uses, declared by hand so that the build needs no
// NVIDIA header: structures, version words and numbers; the functions are in nvml_symbols.h.
// tests/abi compares every fact with NVIDIA's own Python package. Included in exporter/gpu/nvidia
// only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuward::exporter::nvml {

struct DeviceObject;    // opaque
struct EventSetObject;  // opaque
using Device = DeviceObject*;
using EventSet = EventSetObject*;

// nvmlReturn_t. Newer drivers may return numbers that are not listed here.
using ReturnCode = int;
constexpr ReturnCode kSuccess = 0;
constexpr ReturnCode kUninitialized = 1;
constexpr ReturnCode kInvalidArgument = 2;
constexpr ReturnCode kNotSupported = 3;
constexpr ReturnCode kNoPermission = 4;
constexpr ReturnCode kNotFound = 6;
constexpr ReturnCode kInsufficientSize = 7;
constexpr ReturnCode kDriverNotLoaded = 9;
constexpr ReturnCode kTimeout = 10;
constexpr ReturnCode kFunctionNotFound = 13;
constexpr ReturnCode kGpuIsLost = 15;
constexpr ReturnCode kResetRequired = 16;
constexpr ReturnCode kLibraryVersionMismatch = 18;
constexpr ReturnCode kNoData = 21;
constexpr ReturnCode kArgumentVersionMismatch = 25;
constexpr ReturnCode kDeprecated = 26;

// Returns the version word of a structure: its size, and its version in the top byte.
template <typename Structure>
constexpr std::uint32_t version_word(std::uint32_t version) {
  return static_cast<std::uint32_t>(sizeof(Structure)) | (version << 24U);
}

struct PciInfo {  // nvmlPciInfo_t
  char bus_id_legacy[16];
  std::uint32_t domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct Utilization {  // nvmlUtilization_t, percent
  std::uint32_t gpu, memory;
};

struct Memory {  // nvmlMemory_t, bytes; `used` includes the driver's reserve
  std::uint64_t total, free, used;
};

struct MemoryV2 {  // nvmlMemory_v2_t
  std::uint32_t version;
  std::uint64_t total, reserved, free, used;
};

struct RowHistogram {  // nvmlRowRemapperHistogramValues_t
  std::uint32_t max, high, partial, low, none;
};

struct SramStatus {  // nvmlEccSramErrorStatus_v1_t
  std::uint32_t version;
  std::uint64_t aggregate_parity, aggregate_secded, aggregate_corrected;
  std::uint64_t volatile_parity, volatile_secded, volatile_corrected;
  std::uint64_t bucket_l2, bucket_sm, bucket_pcie, bucket_mcu, bucket_other;
  std::uint32_t threshold_exceeded;
};

struct ViolationTime {  // nvmlViolationTime_t
  std::uint64_t reference_microseconds, violation_nanoseconds;
};

struct Temperature {  // nvmlTemperature_v1_t
  std::uint32_t version;
  std::int32_t sensor, celsius;
};

struct MarginTemperature {  // nvmlMarginTemperature_v1_t
  std::uint32_t version;
  std::int32_t celsius;
};

struct FabricInfo {  // nvmlGpuFabricInfo_t
  std::uint8_t cluster_uuid[16];
  ReturnCode status;
  std::uint32_t clique;
  std::uint8_t state;
};

struct FabricInfoV2 {  // nvmlGpuFabricInfo_v2_t
  std::uint32_t version;
  std::uint8_t cluster_uuid[16];
  ReturnCode status;
  std::uint32_t clique;
  std::uint8_t state;
  std::uint32_t health_mask;
};

struct FabricInfoV3 {  // nvmlGpuFabricInfo_v3_t
  std::uint32_t version;
  std::uint8_t cluster_uuid[16];
  ReturnCode status;
  std::uint32_t clique;
  std::uint8_t state;
  std::uint32_t health_mask;
  std::uint8_t health_summary;
};

union Value {  // nvmlValue_t
  double as_double;
  std::int32_t as_int;
  std::uint32_t as_unsigned;
  std::uint64_t as_unsigned_long;  // C's unsigned long: 64 bits on all systems with a driver
  std::uint64_t as_unsigned_long_long;
  std::int64_t as_long_long;
  std::uint16_t as_unsigned_short;
};

struct FieldValue {  // nvmlFieldValue_t
  std::uint32_t field, scope;
  std::int64_t timestamp_microseconds, latency_microseconds;
  std::int32_t value_type;
  ReturnCode result;
  Value value;
};

struct EventData {  // nvmlEventData_t
  Device device;
  std::uint64_t type, data;
  std::uint32_t gpu_instance, compute_instance;
};

// nvmlProcessInfo_v2_t. The size of an entry differs between drivers: see modes.cpp.
struct ProcessInfo {
  std::uint32_t pid;
  std::uint64_t used_bytes;
  std::uint32_t gpu_instance, compute_instance;
};

// nvmlValueType_t
constexpr std::int32_t kTypeDouble = 0, kTypeUnsigned = 1, kTypeUnsignedLong = 2,
                       kTypeUnsignedLongLong = 3, kTypeLongLong = 4, kTypeInt = 5,
                       kTypeUnsignedShort = 6;

// nvmlMemoryErrorType_t, nvmlEccCounterType_t, nvmlMemoryLocation_t
constexpr std::int32_t kErrorCorrected = 0, kErrorUncorrected = 1;
constexpr std::int32_t kCounterVolatile = 0, kCounterAggregate = 1;
constexpr std::int32_t kLocationDram = 2, kLocationSram = 7;

// nvmlPageRetirementCause_t
constexpr std::int32_t kCauseSingleBit = 0, kCauseDoubleBit = 1;

// nvmlTemperatureSensors_t, nvmlTemperatureThresholds_t
constexpr std::int32_t kSensorGpu = 0;
constexpr std::int32_t kThresholdShutdown = 0, kThresholdSlowdown = 1, kThresholdMemoryMax = 2;

// nvmlClockType_t, nvmlPerfPolicyType_t
constexpr std::int32_t kClockSm = 1, kClockMemory = 2;
constexpr std::int32_t kPolicyPower = 0, kPolicyThermal = 1;

// nvmlNvLinkErrorCounter_t; the most links of today's GPUs (NVML_NVLINK_MAX_LINKS)
constexpr std::int32_t kLinkReplay = 0, kLinkRecovery = 1, kLinkCrcFlit = 2, kLinkCrcData = 3;
constexpr std::uint32_t kMaxLinks = 36;

// nvmlGpuP2PCapsIndex_t
constexpr std::int32_t kPeerRead = 0, kPeerWrite = 1, kPeerNvlink = 2;

constexpr std::uint8_t kFabricCompleted = 3;      // NVML_GPU_FABRIC_STATE_COMPLETED
constexpr std::uint8_t kFabricNotSupported = 0;   // NVML_GPU_FABRIC_STATE_NOT_SUPPORTED
constexpr std::uint8_t kSummaryNotSupported = 0;  // NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED

constexpr std::uint64_t kEventXid = 0x8;    // nvmlEventTypeXidCriticalError
constexpr std::uint64_t kUnknownXid = 999;  // in eventData: NVML does not know the number

constexpr std::uint32_t kArchitectureBlackwell = 10;  // NVML_DEVICE_ARCH_BLACKWELL

// NVML_FI_DEV_…: fields of nvmlDeviceGetFieldValues.
constexpr std::uint32_t kFieldPolicyPower = 74, kFieldPolicyThermal = 75;  // nanoseconds
constexpr std::uint32_t kFieldMemoryTemperature = 82;
constexpr std::uint32_t kFieldLinkCount = 91;
constexpr std::uint32_t kFieldShutdownMargin = 193, kFieldSlowdownMargin = 194,
                        kFieldMemoryMargin = 195, kFieldGpuMargin = 196;  // °C, signed
constexpr std::uint32_t kFieldLinkRecoveryEvents = 215;
constexpr std::uint32_t kFieldLinkEffectiveErrors = 219;
constexpr std::uint32_t kFieldLinkSymbolErrors = 221;
constexpr std::uint32_t kFieldRecoveryAction = 230;

// Buffer sizes that the documentation says are large enough.
constexpr std::size_t kNameBytes = 96;        // NVML_DEVICE_NAME_V2_BUFFER_SIZE
constexpr std::size_t kUuidBytes = 96;        // NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr std::size_t kSerialBytes = 30;      // NVML_DEVICE_SERIAL_BUFFER_SIZE
constexpr std::size_t kVbiosBytes = 32;       // NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE
constexpr std::size_t kPartNumberBytes = 80;  // NVML_DEVICE_PART_NUMBER_BUFFER_SIZE
constexpr std::size_t kVersionBytes = 80;     // NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE

}  // namespace gpuward::exporter::nvml
