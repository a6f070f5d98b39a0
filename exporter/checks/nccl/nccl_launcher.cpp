#include "exporter/checks/nccl/nccl_launcher.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/runtime/text.h"
#include "exporter/checks/check/expected_efa.h"
#include "exporter/checks/check/gpu_use.h"
#include "exporter/host/pci.h"

namespace gpuward::exporter {

// A launcher that starts one process on each node of its allocation.
struct NcclLauncher {
  using Words = std::vector<std::string>;

  std::string_view program;
  // Returns whether the settings or the environment select this launcher.
  bool (*is_meant)(const CheckSettings& settings, const EnvironmentLookup& environment);
  // Returns the arguments before the name of the program to start, which must receive `variables`.
  Words (*arguments)(unsigned nodes, const CheckSettings& settings, const Words& variables);
};

namespace {

using std::chrono::milliseconds;
using Words = NcclLauncher::Words;

// Limits for the output of one node and of all nodes, because NCCL_DEBUG=INFO writes a lot.
constexpr std::size_t kMostBytesOfOneNode = 8U << 20U;
constexpr std::size_t kMostBytesOfAllNodes = 64U << 20U;
// The time before a kill. A launcher needs longer, to end its processes on other nodes first.
constexpr milliseconds kNcclGrace = std::chrono::seconds(5);
constexpr milliseconds kLauncherGrace = std::chrono::seconds(15);
// sbatch, salloc and srun set both. The second is the older name (srun(1), sbatch(1)).
constexpr std::array<std::string_view, 2> kSlurmNodes{"SLURM_JOB_NUM_NODES", "SLURM_NNODES"};

bool has_hostfile(const CheckSettings& settings, const EnvironmentLookup&) {
  return !settings.nccl_hostfile.empty();
}

bool is_in_slurm(const CheckSettings&, const EnvironmentLookup& environment) {
  return environment("SLURM_JOB_ID") ||
         std::ranges::any_of(kSlurmNodes, [&](auto name) { return environment(name).has_value(); });
}

// mpirun(1) of Open MPI 4 and 5: one process on each node. Only -x passes variables to other nodes.
Words mpirun_arguments(unsigned nodes, const CheckSettings& settings, const Words& variables) {
  Words words{"--hostfile", settings.nccl_hostfile.string(),
              "--map-by",   "ppr:1:node",
              "-np",        std::to_string(nodes)};
  for (const std::string& name : variables) words.insert(words.end(), {"-x", name});
  return words;
}

// The allocation sets the number of nodes, and srun passes the whole environment on.
Words srun_arguments(unsigned, const CheckSettings& settings, const Words&) {
  Words words{"--ntasks-per-node=1"};
  if (!settings.nccl_container.empty())
    words.push_back("--container-image=" + settings.nccl_container);
  return words;
}

// The first launcher that is selected wins. A host file goes first, because an operator named it.
constexpr std::array kLaunchers{
    NcclLauncher{"mpirun", has_hostfile, mpirun_arguments},
    NcclLauncher{"srun", is_in_slurm, srun_arguments},
};

Result<unsigned> node_count(const CheckSettings& settings, const EnvironmentLookup& environment) {
  for (const std::string_view name : kSlurmNodes) {
    const auto text = environment(name);
    if (!text) continue;
    const auto nodes = parse_integer<unsigned>(*text);
    if (nodes && *nodes != 0) return *nodes;
    return fail(ErrorKind::kInvalid,
                std::string(name) + " is not a number of nodes: " + to_valid_utf8(*text, 32));
  }
  return settings.nccl_nodes;
}

// On other machines NCCL chooses the network: with InfiniBand there is no provider "efa".
bool uses_efa(const CheckContext& context) {
  return expected_efa(context).count() > 0 || count_efa(context.host).value_or(0) > 0;
}

std::map<std::string, std::string> nccl_environment(const NcclTest& test, const NcclPlace& place,
                                                    const CheckContext& context) {
  std::map<std::string, std::string> environment = test.environment;
  environment.insert({"NCCL_DEBUG", "INFO"});
  if (place.has_several_nodes()) environment.insert({"NCCL_NET_GDR_LEVEL", "2"});
  if (!uses_efa(context)) return environment;
  environment.insert({"FI_PROVIDER", "efa"});
  if (place.has_several_nodes()) environment.insert({"FI_EFA_USE_DEVICE_RDMA", "1"});
  return environment;
}

// Turns the command for one node into the launcher's command for all nodes.
void launch(const NcclPlace& place, const CheckSettings& settings, ChildCommand& command) {
  Words variables;
  for (const auto& [name, value] : command.environment) variables.push_back(name);
  Words words = place.launcher->arguments(place.nodes, settings, variables);
  words.push_back(std::move(command.program));
  command.arguments.insert(command.arguments.begin(), words.begin(), words.end());
  command.program = place.launcher->program;
  command.max_output_bytes = kMostBytesOfAllNodes;
  command.grace = kLauncherGrace;
}

}  // namespace

Result<NcclPlace> nccl_place(const CheckSettings& settings, const EnvironmentLookup& environment) {
  const auto nodes = node_count(settings, environment);
  if (!nodes) return std::unexpected(nodes.error());
  if (*nodes == 1) return NcclPlace{};
  const auto* const launcher = std::ranges::find_if(
      kLaunchers, [&](const NcclLauncher& each) { return each.is_meant(settings, environment); });
  if (launcher != kLaunchers.end()) return NcclPlace{*nodes, launcher};
  return fail(ErrorKind::kNotFound,
              std::to_string(*nodes) +
                  " nodes are requested, but no launcher is available: run this inside a Slurm "
                  "allocation, or set NCCL_HOSTFILE to an Open MPI host file");
}

std::string_view program_of(const NcclPlace& place) {
  return place.launcher == nullptr ? kNcclProgram : place.launcher->program;
}

ChildCommand nccl_command(const NcclTest& test, const NcclPlace& place,
                          const CheckContext& context) {
  ChildCommand command;
  command.program = kNcclProgram;
  command.arguments = test.sizes;
  command.arguments.insert(command.arguments.end(),
                           {"-g", std::to_string(nvidia_gpu_count(context.snapshot))});
  command.environment = nccl_environment(test, place, context);
  command.search = context.settings.tool_dirs;
  command.max_output_bytes = kMostBytesOfOneNode;
  command.timeout = test.timeout;
  command.grace = kNcclGrace;
  command.stop = context.stop;
  if (place.has_several_nodes()) launch(place, context.settings, command);
  return command;
}

}  // namespace gpuward::exporter
