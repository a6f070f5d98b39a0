// How all_reduce_perf is started: by the exporter on this node alone, or by a launcher on each node
// of its allocation. Pure: nothing is started here. A new launcher is one entry in the table of the
// .cpp file. Used by check 5.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/child.h"
#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

// The program of nccl-tests. Without a launcher it is searched for on this node.
inline constexpr std::string_view kNcclProgram = "all_reduce_perf";

// One run of kNcclProgram.
struct NcclTest {
  std::vector<std::string> sizes;                  // "-b", "8", ...
  std::map<std::string, std::string> environment;  // added to what each run gets
  std::chrono::milliseconds timeout{0};
};

struct NcclLauncher;

struct NcclPlace {
  unsigned nodes = 1;
  const NcclLauncher* launcher = nullptr;  // set if there are several nodes

  [[nodiscard]] bool has_several_nodes() const { return launcher != nullptr; }
};

// Returns the value of a variable; nullopt if it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view name)>;

// Returns the number of nodes as in the replaced suite: from the Slurm allocation, else
// HEALTHCHECK_NUM_NODES, else one. The error is the reason to skip the check.
[[nodiscard]] Result<NcclPlace> nccl_place(const CheckSettings& settings,
                                           const EnvironmentLookup& environment);

// Returns the program that is started on this node: the launcher's, or kNcclProgram.
[[nodiscard]] std::string_view program_of(const NcclPlace& place);

// Returns the command to start. A launcher passes the environment on to each node.
[[nodiscard]] ChildCommand nccl_command(const NcclTest& test, const NcclPlace& place,
                                        const CheckContext& context);

}  // namespace gpuward::exporter
