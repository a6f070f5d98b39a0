// Who starts all_reduce_perf: we ourselves, on this node alone, or a launcher, on each node of its
// allocation. Pure: nothing is started here. A new launcher is one entry in the table of the .cpp
// file. Used by check 5.
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

// The program of nccl-tests: looked for on this node where no launcher starts it.
inline constexpr std::string_view kNcclProgram = "all_reduce_perf";

// One run of it.
struct NcclTest {
  std::vector<std::string> sizes;                  // "-b", "8", ...
  std::map<std::string, std::string> environment;  // on top of what each run gets
  std::chrono::milliseconds timeout{0};
};

struct NcclLauncher;

struct NcclPlace {
  unsigned nodes = 1;
  const NcclLauncher* launcher = nullptr;  // there where there are several nodes

  [[nodiscard]] bool has_several_nodes() const { return launcher != nullptr; }
};

// The value of a variable; nullopt where it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view name)>;

// How many nodes, as in the replaced suite: as Slurm says of the allocation that we run in, else as
// HEALTHCHECK_NUM_NODES says, else one. The error says why the check is to be skipped.
[[nodiscard]] Result<NcclPlace> nccl_place(const CheckSettings& settings,
                                           const EnvironmentLookup& environment);

// The program that is started on this node: the launcher's, or kNcclProgram.
[[nodiscard]] std::string_view program_of(const NcclPlace& place);

// What to start. A launcher passes the environment on to each node.
[[nodiscard]] ChildCommand nccl_command(const NcclTest& test, const NcclPlace& place,
                                        const CheckContext& context);

}  // namespace gpuward::exporter
