// AMD SMI's C interface as far as gpuward uses it, declared by hand so that no ROCm header is
// needed to build. Every fact is compared with AMD's own Python packages by tests/abi, for each
// library generation named here. Included in amd_smi.cpp and that test only.
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

// The generations whose interface these declarations are: ROCm 6.4 has 25, ROCm 7.0 has 26.
constexpr std::uint32_t kOldestGeneration = 25, kNewestGeneration = 26;

// amdsmi_version_t begins with the generation: `year` up to 25, `major` from 26. What follows it
// differs.
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

// amdsmi_gpu_block_t is a bit each; the name is that of the kernel's sysfs files.
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

using GetLibVersion = Status (*)(Version*);
using Init = Status (*)(std::uint64_t flags);
using ShutDown = Status (*)();
using GetSocketHandles = Status (*)(std::uint32_t* count, Handle* sockets);
using GetProcessorHandles = Status (*)(Handle socket, std::uint32_t* count, Handle* processors);
using GetDeviceBdf = Status (*)(Handle processor, Bdf* bdf);
using GetDeviceUuid = Status (*)(Handle processor, std::uint32_t* length, char* uuid);
using GetEccCount = Status (*)(Handle processor, std::uint64_t block, ErrorCount* count);
using StatusCodeToString = Status (*)(Status status, const char** text);

}  // namespace gpuward::exporter::amd::smi
