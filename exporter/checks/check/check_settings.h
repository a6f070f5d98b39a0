// The tunables of the checks, with the defaults of the suite that gpuward replaces. Filled by the
// exporter's settings: its YAML file, a mounted ConfigMap with the old keys (in capitals here), the
// environment.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/severity.h"
#include "exporter/host/instance_profile.h"

namespace gpuward::exporter {

// A program of the operator's that is a check (checks.programs). It ends with 0 where all is well,
// with 1 where it has found what it looks for, and with anything else where it could not tell: the
// exit codes of node-problem-detector's plug-ins.
struct ProgramSettings {
  std::string name;                  // of the check
  std::vector<std::string> command;  // the program and its arguments; no shell
  std::chrono::milliseconds interval = std::chrono::seconds(60);
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  std::size_t max_output = 512;  // bytes of its output that are kept
  std::string code = "program_failed";
  Severity severity = Severity::kMonitor;
};

struct CheckSettings {
  std::chrono::milliseconds check_interval = std::chrono::seconds(300);  // CHECK_INTERVAL
  std::chrono::milliseconds dcgm_l2_interval = std::chrono::hours(6);    // DCGM_L2_INTERVAL
  std::chrono::milliseconds gpu_interval = std::chrono::seconds(15);     // GPU readings
  std::chrono::milliseconds gpu_timeout = std::chrono::seconds(20);      // of one reading
  std::chrono::milliseconds library_timeout = std::chrono::minutes(5);   // LostLibrary
  std::vector<int> enabled{0, 2, 3};                                     // CHECKS_LIGHTWEIGHT
  bool is_dcgm_l2_enabled = true;
  std::map<int, std::chrono::milliseconds> timeouts;       // by check number, if not the default
  std::optional<std::chrono::milliseconds> check_timeout;  // CHECK_TIMEOUT
  std::chrono::milliseconds dcgm_timeout = std::chrono::seconds(900);      // DCGM_TIMEOUT
  std::chrono::milliseconds dcgm_l4_timeout = std::chrono::seconds(9000);  // DCGM_L4_TIMEOUT
  std::chrono::milliseconds nccl_timeout = std::chrono::seconds(1800);     // NCCL_TIMEOUT
  std::chrono::milliseconds nccl_isolation_timeout = std::chrono::seconds(600);
  bool nccl_isolation_tests = false;  // NCCL_ISOLATION_TESTS
  double nccl_min_bus_bandwidth = 0;  // GB/s; 0: by instance type           NCCL_MIN_BUS_BW
  // Check 5 over several nodes: how many where Slurm does not say (HEALTHCHECK_NUM_NODES), the
  // image that srun starts (NCCL_CONTAINER; empty: the nodes' own program), the host file of Open
  // MPI (NCCL_HOSTFILE; empty: Slurm).
  unsigned nccl_nodes = 1;
  std::string nccl_container;
  std::filesystem::path nccl_hostfile;
  std::chrono::milliseconds efa_test_timeout = std::chrono::seconds(180);  // EFA_TEST_TIMEOUT
  double efa_min_gbits = 20;                                               // EFA_MIN_BW
  std::uint64_t max_retired_pages_sbe = 60;                                // MAX_RETIRED_PAGES_SBE
  // AMD: how many uncorrectable errors a RAS block may have, by its name; 0 where it is not named.
  std::map<std::string, std::uint64_t> ras_thresholds;
  // AMD: how old the latest error record of a GPU may be to count, where it is fatal; 0: any age.
  std::chrono::nanoseconds cper_max_age{0};
  bool is_pshc_strict = false;  // STRICT_PSHC
  // The seed profile: no driver is isolate, 64 and 95 on A100 are reboot, ...
  bool is_seed_profile = false;
  // How long after boot or driver load a hang or a lost GPU may only be monitor.
  std::chrono::milliseconds settling_time = std::chrono::minutes(15);
  // A Fail of DCGM that carries no error of its own.
  Severity dcgm_bare_fail = Severity::kReset;
  // Level 4 runs although dcgm-exporter does; else it is skipped: nobody's telemetry is stopped.
  bool is_dcgm_l4_beside_telemetry = false;
  std::filesystem::path results_dir;  // RESULTS_DIR; empty: no files
  // Where dcgmi, all_reduce_perf and fi_pingpong are looked for before PATH.
  std::vector<std::filesystem::path> tool_dirs{"/opt/amazon/efa/bin", "/opt/nccl-tests/build"};
  // Where GDRCopy is, where it is: its module is then expected, and its own test run.
  std::filesystem::path gdrcopy_dir = "/opt/gdrcopy";
  std::vector<ProgramSettings> programs;
  InstanceProfiles profiles = InstanceProfiles::built_in();
  std::string instance_type;  // configured; empty: asked for
};

}  // namespace gpuward::exporter
