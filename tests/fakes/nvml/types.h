// The part of NVML's C interface that the fake libnvidia-ml.so.1 offers, declared a second time and
// independently: with the exporter's nvml_abi.h both could be wrong together. tests/abi compares
// both with the facts of NVIDIA's own Python package.
#pragma once

extern "C" {

struct FakeDevice;    // nvmlDevice_t points to it
struct FakeEventSet;  // nvmlEventSet_t points to it

enum FakeReturn : int {
  kFakeSuccess = 0,
  kFakeUninitialized = 1,
  kFakeInvalidArgument = 2,
  kFakeNotSupported = 3,
  kFakeNotFound = 6,
  kFakeInsufficientSize = 7,
  kFakeTimeout = 10,
  kFakeVersionMismatch = 25  // of an argument
};

constexpr unsigned kFakeNoInstance = 0xFFFFFFFF;  // of a GPU without MIG

struct FakePciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct FakeUtilization {
  unsigned gpu, memory;
};

struct FakeMemory {
  unsigned long long total, free, used;
};

struct FakeMemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

struct FakeProcessV1 {
  unsigned pid;
  unsigned long long used_bytes;
};

struct FakeProcessV2 {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

struct FakeHistogram {
  unsigned max, high, partial, low, none;
};

struct FakeViolation {
  unsigned long long reference_time, violation_time;
};

struct FakeTemperature {
  unsigned version;
  int sensor;
  int celsius;
};

struct FakeMargin {
  unsigned version;
  int celsius;
};

struct FakeSramStatus {
  unsigned version;
  unsigned long long aggregate_parity, aggregate_secded, aggregate_corrected;
  unsigned long long volatile_parity, volatile_secded, volatile_corrected;
  unsigned long long bucket_l2, bucket_sm, bucket_pcie, bucket_mcu, bucket_other;
  unsigned threshold_exceeded;
};

struct FakeFabricV1 {
  unsigned char cluster_uuid[16];
  int status;
  unsigned clique;
  unsigned char state;
};

struct FakeFabricV2 {
  unsigned version;
  unsigned char cluster_uuid[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health_mask;
};

struct FakeFabricV3 {
  unsigned version;
  unsigned char cluster_uuid[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health_mask;
  unsigned char health_summary;
};

union FakeValue {
  double as_double;
  int as_int;
  unsigned as_unsigned;
  unsigned long as_unsigned_long;
  unsigned long long as_unsigned_long_long;
  long long as_long_long;
  unsigned short as_unsigned_short;
};

struct FakeFieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  int value_type;
  int result;
  FakeValue value;
};

struct FakeEventData {
  FakeDevice* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

}  // extern "C"
