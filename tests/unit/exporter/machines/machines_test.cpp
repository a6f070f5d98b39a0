// The verdict of the exporter on machines that gpuward knows and on machines that it does not know,
// healthy and with each fault. The rows below say what is right and why, and they are the tables of
// docs/checks.md. `./dev docs` writes them there.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/reference/page.h"
#include "tests/unit/exporter/machines/judged_machine.h"

namespace gpuward::exporter {
namespace {

// At least one machine for each profile of NVIDIA's mock NVML (A100, H100, B200, GB200, GB300, L40S
// and T4), and six that no table has. The values are invented.
const std::vector<Model>& models() {
  static const std::vector<Model> kModels{
      {.name = "A100 (p4d)",
       .gpu = "NVIDIA A100-SXM4-40GB",
       .architecture = kAmpere,
       .gpus = 8,
       .links = 12,
       .nvswitches = 6,
       .efa_devices = 4,
       .type = "p4d.24xlarge"},
      {.name = "H100 (p5)",
       .gpu = "NVIDIA H100 80GB HBM3",
       .architecture = kHopper,
       .gpus = 8,
       .links = 18,
       .nvswitches = 4,
       .efa_devices = 32,
       .type = "p5.48xlarge",
       .has_fabric = true},
      {.name = "B200 (p6)",
       .gpu = "NVIDIA B200",
       .architecture = kBlackwell,
       .gpus = 8,
       .links = 18,
       .nvswitch_managers = 4,
       .efa_devices = 8,
       .type = "p6-b200.48xlarge",
       .has_fabric = true},
      {.name = "GB200 (a4x)",
       .gpu = "NVIDIA GB200",
       .architecture = kBlackwell,
       .gpus = 4,
       .links = 18,
       .type = "a4x-highgpu-4g",
       .has_fabric = true},
      {.name = "L40S (BM.GPU.L40S.4)",
       .gpu = "NVIDIA L40S",
       .architecture = kAda,
       .gpus = 4,
       .type = "BM.GPU.L40S.4"},
      {.name = "T4 (g4dn)",
       .gpu = "NVIDIA T4",
       .architecture = kTuring,
       .gpus = 4,
       .type = "g4dn.12xlarge"},
      {.name = "DGX H100",
       .gpu = "NVIDIA H100 80GB HBM3",
       .architecture = kHopper,
       .gpus = 8,
       .links = 18,
       .nvswitches = 4,
       .product = "DGXH100",
       .has_fabric = true},
      {.name = "HGX B200",
       .gpu = "NVIDIA B200",
       .architecture = kBlackwell,
       .gpus = 8,
       .links = 18,
       .nvswitch_managers = 4,
       .has_fabric = true},
      {.name = "GB200",
       .gpu = "NVIDIA GB200",
       .architecture = kBlackwell,
       .gpus = 4,
       .links = 18,
       .has_fabric = true},
      {.name = "GB300",
       .gpu = "NVIDIA GB300",
       .architecture = kBlackwell,
       .gpus = 4,
       .links = 18,
       .has_fabric = true},
      {.name = "L40S without EFA", .gpu = "NVIDIA L40S", .architecture = kAda, .gpus = 8},
      {.name = "workstation",
       .gpu = "NVIDIA RTX A6000",
       .architecture = kAmpere,
       .gpus = 2,
       .links = 4,
       .has_bridge = true,
       .has_ecc = false},
  };
  return kModels;
}

using Claim = bool (*)(const Model&);
bool any(const Model&) { return true; }
bool is_known(const Model& model) { return model.has_profile(); }
bool is_unknown(const Model& model) { return !model.has_profile(); }
bool has_board(const Model& model) { return model.has_nvlink_board(); }
bool is_unknown_board(const Model& model) { return has_board(model) && is_unknown(model); }
bool has_bridge(const Model& model) { return model.has_bridge; }
bool has_links(const Model& model) { return model.links > 0; }
bool has_fabric(const Model& model) { return model.has_fabric; }
bool has_no_fabric(const Model& model) { return !model.has_fabric; }
bool needs_manager(const Model& model) { return model.nvswitches + model.nvswitch_managers > 0; }
bool needs_manager_of_fabric(const Model& model) {
  return needs_manager(model) && model.has_fabric;
}
bool has_efa(const Model& model) { return model.efa_devices > 0; }
bool has_ecc(const Model& model) { return model.has_ecc; }
bool has_rows(const Model& model) { return model.has_rows(); }
bool has_pages(const Model& model) { return model.has_ecc && !model.has_rows(); }

// The verdicts of an exporter that sees the machine for the first time, and of one that has seen it
// healthy in this boot; empty: the same.
struct Verdict {
  Claim is_of = any;
  std::string first, later;

  [[nodiscard]] const std::string& later_too() const { return later.empty() ? first : later; }
};

struct Fault {
  std::string name;
  Claim happens_to = any;
  void (*happens)(JudgedMachine&) = nullptr;
  std::vector<Verdict> verdicts;
};

void loses_gpu_in_driver(JudgedMachine& machine) {
  machine.driver_says("count", std::to_string(machine.model().gpus - 1));
}

void keeps_efa_devices(JudgedMachine& machine, unsigned left) {
  for (unsigned device = left; device < machine.model().efa_devices; ++device)
    machine.host.loses_efa(device);
}

// Nothing is wrong with these machines.
const std::vector<Fault> kHealthy{
    {"none", any, [](JudgedMachine&) {}, {{any, "pass", ""}}},
    {"none, with EFA devices", has_efa, [](JudgedMachine&) {}, {{any, "pass", ""}}},
    {"none: a GPU is in MIG mode, and its links sleep",
     has_board,
     [](JudgedMachine& machine) {
       machine.victim_says("mig.mode", "1");
       machine.victim_says("nvlink.*.active", "0");
     },
     {{any, "pass", ""}}},
    {"none: a GPU is bound to vfio-pci for a virtual machine",
     any,
     [](JudgedMachine& machine) {
       loses_gpu_in_driver(machine);
       machine.host.link(support::HostTree::pci_file(machine.victim_address(), "driver"),
                         "../../../bus/pci/drivers/vfio-pci");
     },
     {{any, "pass", ""}}},
};

// The driver is one source, the bus another. A profile counts GPUs, and so does the memory of the
// machine; only both together are two sources.
const std::vector<Fault> kMissing{
    {"a GPU is on the bus, and the driver does not list it",
     any,
     loses_gpu_in_driver,
     {{any, "warn: `gpu_undriven_unconfirmed` (monitor)", ""}}},
    {"the same, and the configuration space of the GPU reads as ones",
     any,
     [](JudgedMachine& machine) {
       loses_gpu_in_driver(machine);
       machine.host.falls_off_the_bus(machine.victim_address());
     },
     {{any, "fail: `gpu_undriven` (reboot)", ""}}},
    {"the driver reports a GPU as lost",
     any,
     [](JudgedMachine& machine) { machine.driver_loses_victim(); },
     {{any, "warn: `gpu_unreadable` (monitor)", "warn: `gpu_lost_unconfirmed` (monitor)"}}},
    {"the same, and the configuration space of the GPU reads as ones",
     any,
     [](JudgedMachine& machine) {
       machine.driver_loses_victim();
       machine.host.falls_off_the_bus(machine.victim_address());
     },
     {{any, "fail: `gpu_undriven` (reboot), `gpu_unreadable` (monitor)",
       "fail: `gpu_lost` (reboot)"}}},
    {"a GPU is gone from driver and bus",
     any,
     [](JudgedMachine& machine) {
       loses_gpu_in_driver(machine);
       machine.host.loses_pci(machine.victim_address());
     },
     {{is_known, "warn: `gpu_missing_unconfirmed` (monitor)", "fail: `gpu_missing` (reboot)"},
      {is_unknown, "pass", "warn: `gpu_missing_unconfirmed` (monitor)"}}},
};

// A bridge, or links that were never on, may be intended, so the exporter needs the machine's own
// past. If most GPUs of the model have more links, it does not. "No link is on" counts above
// monitor only if the profile and another source (switch, fabric) agree that there must be some.
const std::vector<Fault> kLinks{
    {"two links of a GPU are off",
     has_links,
     [](JudgedMachine& machine) {
       machine.victim_says("nvlink.0.active", "0");
       machine.victim_says("nvlink.1.active", "0");
     },
     {{has_board, "warn: `nvlink_inactive` (monitor)", ""},
      {has_bridge, "pass", "warn: `nvlink_inactive` (monitor)"}}},
    {"all links of a GPU are off",
     has_links,
     [](JudgedMachine& machine) { machine.victim_says("nvlink.*.active", "0"); },
     {{has_board, "warn: `nvlink_inactive` (monitor)", ""},
      {has_bridge, "pass", "warn: `nvlink_inactive` (monitor)"}}},
    {"all links of all GPUs are off",
     has_links,
     [](JudgedMachine& machine) { machine.each_gpu_says("nvlink.*.active", "0"); },
     {{is_known, "fail: `nvlink_absent` (isolate), `nvlink_inactive` (monitor)", ""},
      {is_unknown_board, "warn: `nvlink_absent` (monitor)",
       "warn: `nvlink_absent` (monitor), `nvlink_inactive` (monitor)"},
      {has_bridge, "pass", "warn: `nvlink_absent` (monitor), `nvlink_inactive` (monitor)"}}},
};

// A host that lends GPUs to virtual machines has GPUs outside of the fabric for hours, and only a
// profile says that this machine is not such a host. Only the driver reports the health of the
// fabric.
const std::vector<Fault> kFabric{
    {"the GPU has not started to join the fabric",
     has_fabric,
     [](JudgedMachine& machine) { machine.each_gpu_says("fabric.state", "1"); },
     {{is_known, "fail: `fabric_not_ready` (reset)", ""},
      {is_unknown, "warn: `fabric_not_ready` (monitor)", ""}}},
    {"the GPU is still joining the fabric, an hour after boot",
     has_fabric,
     [](JudgedMachine& machine) { machine.each_gpu_says("fabric.state", "2"); },
     {{is_known, "fail: `fabric_not_ready` (reset)", ""},
      {is_unknown, "warn: `fabric_not_ready` (monitor)", ""}}},
    {"joining the fabric has failed on a GPU",
     has_fabric,
     [](JudgedMachine& machine) { machine.victim_says("fabric.status", "999"); },
     {{is_known, "fail: `fabric_error` (reset)", ""},
      {is_unknown, "warn: `fabric_error` (monitor)", ""}}},
    {"a route of a GPU is unhealthy",
     has_fabric,
     [](JudgedMachine& machine) { machine.victim_says("fabric.health_mask", "0x9A"); },
     {{any, "warn: `fabric_unhealthy` (monitor)", ""}}},
    {"the firmware of a GPU is wrong for the fabric",
     has_fabric,
     [](JudgedMachine& machine) { machine.victim_says("fabric.health_mask", "0x6AA"); },
     {{any, "warn: `fabric_unhealthy` (monitor)", ""}}},
    {"the fabric manager does not run",
     needs_manager,
     [](JudgedMachine& machine) { machine.host.remove("proc/900"); },
     {{has_no_fabric, "fail: `fabric_manager_down` (reset)", ""},
      {has_fabric, "warn: `fabric_manager_down_completed` (monitor)", ""}}},
    {"the fabric manager does not run, and the GPU has not started to join the fabric",
     needs_manager_of_fabric,
     [](JudgedMachine& machine) {
       machine.host.remove("proc/900");
       machine.each_gpu_says("fabric.state", "1");
     },
     {{is_known, "fail: `fabric_manager_down` (reset), `fabric_not_ready` (reset)", ""},
      {is_unknown, "warn: `fabric_manager_down` (monitor), `fabric_not_ready` (monitor)", ""}}},
};

// An instance may be launched without EFA, so the profile needs the machine's past.
const std::vector<Fault> kEfa{
    {"an EFA device is gone",
     has_efa,
     [](JudgedMachine& machine) { keeps_efa_devices(machine, machine.model().efa_devices - 1); },
     {{any, "warn: `efa_count` (monitor)", "fail: `efa_count` (isolate)"}}},
    {"all EFA devices are gone",
     has_efa,
     [](JudgedMachine& machine) { keeps_efa_devices(machine, 0); },
     {{any, "pass", "fail: `efa_count` (isolate)"}}},
};

// The driver counts these errors, and no profile or past is needed.
const std::vector<Fault> kBoard{
    {"an error of the SRAM was not corrected",
     has_ecc,
     [](JudgedMachine& machine) {
       machine.victim_says("ecc.uncorrected.volatile.total", "1");
       machine.victim_says("ecc.uncorrected.volatile.sram", "1");
     },
     {{any, "fail: `ecc_uncorrected` (reset)", ""}}},
    {"an error of the DRAM was not corrected, and its row is replaced",
     has_rows,
     [](JudgedMachine& machine) {
       machine.victim_says("ecc.uncorrected.volatile.total", "1");
       machine.victim_says("ecc.uncorrected.volatile.dram", "1");
       machine.victim_says("rows.uncorrectable", "1");
     },
     {{any, "warn: `ecc_uncorrected` (monitor)", ""}}},
    {"a row waits to be replaced",
     has_rows,
     [](JudgedMachine& machine) { machine.victim_says("rows.pending", "1"); },
     {{any, "fail: `row_remap_pending` (reset)", ""}}},
    {"a row could not be replaced",
     has_rows,
     [](JudgedMachine& machine) { machine.victim_says("rows.failure", "1"); },
     {{any, "fail: `row_remap_failure` (isolate)", ""}}},
    {"pages were retired for double-bit errors",
     has_pages,
     [](JudgedMachine& machine) { machine.victim_says("retired.double_bit", "2"); },
     {{any, "fail: `retired_pages_dbe` (isolate)", ""}}},
    {"ECC is off, and the board has it on by default",
     has_ecc,
     [](JudgedMachine& machine) {
       machine.victim_says("ecc.mode", "0");
       machine.victim_says("ecc.pending", "0");
       machine.victim_says("ecc.default", "1");
     },
     {{any, "warn: `ecc_off` (monitor)", ""}}},
    {"the driver asks for a GPU reset",
     any,
     [](JudgedMachine& machine) { machine.victim_says("field.230", "1"); },
     {{any, "fail: `recovery_action_reset` (reset)", ""}}},
    {"a GPU uses half of its PCIe lanes",
     any,
     [](JudgedMachine& machine) { machine.victim_says("pcie.width", "8"); },
     {{any, "warn: `pcie_width` (monitor)", ""}}},
    {"the hardware slows a GPU down because it is too hot",
     any,
     [](JudgedMachine& machine) { machine.victim_says("slowdown.reasons", "0x48"); },
     {{any, "warn: `thermal_slowdown` (monitor)", ""}}},
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kAll = [] {
    std::vector<Fault> all;
    for (const auto* part : {&kHealthy, &kMissing, &kLinks, &kFabric, &kEfa, &kBoard})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  }();
  return kAll;
}

std::string verdict_on(const Model& model, const Fault& fault, bool was_healthy) {
  // A machine that was launched without EFA is healthy too, and has fewer files.
  Model launched = model;
  if (fault.happens_to != has_efa) launched.efa_devices = 0;
  JudgedMachine machine(launched);
  if (was_healthy) {
    machine.look();
    EXPECT_EQ(machine.verdict(), "pass") << model.name;
  }
  fault.happens(machine);
  machine.look();
  return machine.verdict();
}

bool is_meant(const Model& model, const Fault& fault, const Verdict& verdict) {
  return fault.happens_to(model) && verdict.is_of(model);
}

TEST(Machines, HaveOneVerdictForEachFaultThatCanHappenToThem) {
  for (const Fault& fault : faults()) {
    for (const Model& model : models()) {
      const auto meant = std::ranges::count_if(
          fault.verdicts, [&](const Verdict& each) { return is_meant(model, fault, each); });
      EXPECT_EQ(meant, fault.happens_to(model) ? 1 : 0) << fault.name << ": " << model.name;
    }
  }
}

class MachinesWithAFault : public testing::TestWithParam<std::size_t> {};

TEST_P(MachinesWithAFault, AreJudgedRight) {
  const Fault& fault = faults()[GetParam()];
  for (const Verdict& verdict : fault.verdicts) {
    for (const Model& model : models()) {
      if (!is_meant(model, fault, verdict)) continue;
      EXPECT_EQ(verdict_on(model, fault, false), verdict.first) << fault.name << ": " << model.name;
      EXPECT_EQ(verdict_on(model, fault, true), verdict.later_too())
          << fault.name << ", later: " << model.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, MachinesWithAFault, testing::Range<std::size_t>(0, faults().size()));

// The tables of docs/checks.md.

std::string cell_of(unsigned number) { return number == 0 ? "-" : std::to_string(number); }

std::string table_of_models() {
  std::string table =
      "| machine | GPUs | NVLinks of a GPU | NVSwitches on the bus | SW_MNG devices | fabric | EFA "
      "devices | type |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Model& model : models()) {
    const std::string profile = model.has_profile() ? "" : ", no profile";
    table += "| " + model.name + " | " + cell_of(model.gpus) + " | " + cell_of(model.links) +
             (model.has_bridge ? ", a bridge" : "") + " | " + cell_of(model.nvswitches) + " | " +
             cell_of(model.nvswitch_managers) + " | " + (model.has_fabric ? "yes" : "-") + " | " +
             cell_of(model.efa_devices) + " | " +
             (model.type.empty() ? "none" : "`" + model.type + "`") + profile + " |\n";
  }
  return table;
}

// Returns "all", "all but workstation", or "A100 (p4d), H100 (p5)".
std::string names_of(const Fault& fault, const Verdict& verdict) {
  std::string names, others;
  std::size_t count = 0;
  for (const Model& model : models()) {
    std::string& list = is_meant(model, fault, verdict) ? names : others;
    list += (list.empty() ? "" : ", ") + model.name;
    count += is_meant(model, fault, verdict) ? 1 : 0;
  }
  if (others.empty()) return "all";
  return count + 1 == models().size() ? "all but " + others : names;
}

std::string table_of_verdicts() {
  std::string table =
      "| fault | machines | seen first with the fault | seen healthy before |\n|---|---|---|---|\n";
  for (const Fault& fault : faults()) {
    for (const Verdict& verdict : fault.verdicts)
      table += "| " + fault.name + " | " + names_of(fault, verdict) + " | " + verdict.first +
               " | " + (verdict.later.empty() ? "the same" : verdict.later) + " |\n";
  }
  return table;
}

TEST(GeneratedTables, AreThoseOfTheMachines) {
  reference::expect_tables("docs/checks.md", "<!-- judged machines: ", [](const std::string& mark) {
    return mark.contains("verdicts") ? table_of_verdicts() : table_of_models();
  });
}

}  // namespace
}  // namespace gpuward::exporter
