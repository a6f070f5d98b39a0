// The part of AMD SMI's C interface that gpuward uses, declared by hand so that the build needs no
// ROCm header. tests/abi compares every fact with AMD's own Python packages, for each library
// generation named here. Included in amd_smi.cpp and tests only.
#pragma once

#include <cstdint>

namespace gpuward::exporter::amd::smi {

using Handle = void*;  // amdsmi_socket_handle, amdsmi_processor_handle
using Status = std::uint32_t;

constexpr Status kSuccess = 0;
constexpr Status kNotSupported = 2;
constexpr Status kDriverNotLoaded = 34;
constexpr std::uint64_t kInitAmdGpus = 2;  // AMDSMI_INIT_AMD_GPUS
constexpr std::uint32_t kUuidBytes = 38;   // AMDSMI_GPU_UUID_SIZE, the final 0 included

// The generations with this interface: ROCm 6.4 has 25, ROCm 7.0 has 26.
constexpr std::uint32_t kOldestGeneration = 25, kNewestGeneration = 26;

// AMDSMI_STATUS_MORE_DATA of each generation; the number is unused in the other one.
constexpr Status kMoreData25 = 57, kMoreData26 = 39;

// amdsmi_version_t begins with the generation: `year` up to 25, `major` from 26. The rest differs.
struct Version {
  std::uint32_t generation;
  std::uint32_t words[3];
  const char* build;
};

struct ErrorCount {  // amdsmi_error_count_t
  std::uint64_t correctable, uncorrectable, deferred;
  std::uint64_t reserved[5];
};

// amdsmi_bdf_t: function in the lowest 3 bits, device 5, bus 8, domain 48.
using Bdf = std::uint64_t;

// amdsmi_gpu_block_t has one bit for each block; the names are those of the kernel's sysfs files.
struct Block {
  std::uint64_t bit;
  const char* name;
};
constexpr Block kBlocks[] = {
    {1U << 0U, "umc"},   {1U << 1U, "sdma"},     {1U << 2U, "gfx"},   {1U << 3U, "mmhub"},
    {1U << 4U, "athub"}, {1U << 5U, "pcie_bif"}, {1U << 6U, "hdp"},   {1U << 7U, "xgmi_wafl"},
    {1U << 8U, "df"},    {1U << 9U, "smn"},      {1U << 10U, "sem"},  {1U << 11U, "mp0"},
    {1U << 12U, "mp1"},  {1U << 13U, "fuse"},    {1U << 14U, "mca"},  {1U << 15U, "vcn"},
    {1U << 16U, "jpeg"}, {1U << 17U, "ih"},      {1U << 18U, "mpio"},
};

// amdsmi_cper_timestamp_t: UTC, each byte a plain number (amdgpu_cper.c). The century is 20 or 21,
// because drivers count centuries differently.
struct CperTime {
  std::uint8_t seconds, minutes, hours, flag, day, month, year, century;
};

// amdsmi_cper_hdr_t: the header of a record.
struct [[gnu::packed]] CperHeader {
  char signature[4];  // "CPER"
  std::uint16_t revision;
  std::uint32_t signature_end;
  std::uint16_t sections;
  std::uint32_t severity;  // amdsmi_cper_sev_t
  std::uint32_t valid_bits;
  std::uint32_t bytes;  // of the whole record
  CperTime time;
  char platform_id[16];
  std::uint8_t partition_id[16];
  char creator_id[16];
  std::uint64_t notify_type;  // amdsmi_cper_notify_type_t: the first half of a GUID
  std::uint8_t notify_type_rest[8];
  char record_id[8];  // text; at full length without a final 0
  std::uint32_t flags;
  std::uint64_t persistence;
  std::uint8_t reserved[12];
};

// amdsmi_cper_sev_t; in a mask of requested severities, severity N is bit N.
constexpr std::uint32_t kCperUncorrected = 0, kCperFatal = 1, kCperCorrected = 2;
constexpr std::uint32_t kEveryCper =
    1U << kCperUncorrected | 1U << kCperFatal | 1U << kCperCorrected;

// amdsmi_cper_notify_type_t: how the error was detected.
struct NotifyType {
  std::uint64_t number;
  const char* name;
};
constexpr NotifyType kNotifyTypes[] = {
    {0x450EBDD72DCE8BB1, "CMC"},  {0x4A55D8434E292F96, "CPE"},
    {0x4CC5919CE8F56FFE, "MCE"},  {0x4DFC1A16CF93C01F, "PCIE"},
    {0x454A9308CC5263E8, "INIT"}, {0x42C9B7E65BAD89FF, "NMI"},
    {0x409AAB403D61A466, "BOOT"}, {0x4C27C6B3667DD791, "DMAR"},
    {0x11E4BBE89A78788A, "SEA"},  {0x4E87B0AE5C284C81, "SEI"},
    {0x4214520409A9D5AC, "PEI"},  {0x49A341DF69293BC9, "CXL_COMPONENT"},
};

using GetLibVersion = Status (*)(Version*);
using Init = Status (*)(std::uint64_t flags);
using ShutDown = Status (*)();
using GetSocketHandles = Status (*)(std::uint32_t* count, Handle* sockets);
using GetProcessorHandles = Status (*)(Handle socket, std::uint32_t* count, Handle* processors);
using GetDeviceBdf = Status (*)(Handle processor, Bdf* bdf);
using GetDeviceUuid = Status (*)(Handle processor, std::uint32_t* length, char* uuid);
using GetEccCount = Status (*)(Handle processor, std::uint64_t block, ErrorCount* count);
// Fills `data` with records and `headers` with their addresses. `bytes` and `count` are the
// capacity on input and the used size on output. kMoreData25 or 26: there are more, from `cursor`
// on. No record at all is a success. Older libraries of a generation may lack the function.
using GetCperEntries = Status (*)(Handle processor, std::uint32_t severities, char* data,
                                  std::uint64_t* bytes, CperHeader** headers, std::uint64_t* count,
                                  std::uint64_t* cursor);
// AMD's numbers of the errors in one record: `count` is the capacity on input and the number of
// errors on output.
using GetAfids = Status (*)(char* record, std::uint32_t bytes, std::uint64_t* afids,
                            std::uint32_t* count);
using StatusCodeToString = Status (*)(Status status, const char** text);

}  // namespace gpuward::exporter::amd::smi
