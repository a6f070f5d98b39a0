#include "exporter/gpu/nvidia/readings.h"

namespace gpuward::exporter::nvml {
namespace {

// The groups that show trouble soonest come first.
constexpr std::array kGroups{
    Group{"modes", read_modes},
    Group{"temperature", read_temperature},
    Group{"ecc", read_ecc},
    Group{"remapped rows", read_remapped_rows},
    Group{"retired pages", read_retired_pages},
    Group{"power", read_power},
    Group{"slowdown", read_slowdown},
    Group{"clocks", read_clocks},
    Group{"memory", read_memory},
    Group{"pcie", read_pcie},
    Group{"nvlink", read_nvlink},
    Group{"fabric", read_fabric},
    Group{"processes", read_processes},
};

}  // namespace

std::span<const Group> groups() { return kGroups; }

}  // namespace gpuward::exporter::nvml
