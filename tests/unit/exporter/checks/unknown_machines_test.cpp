// Machines that no table of gpuward describes, healthy and with each fault of NVLink and fabric:
// the table in docs/checks.md is what the checks "gpu" and 3 find. The values are invented;
// Blackwell's NVSwitches are not on the PCI bus of the node, Hopper's are.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/files.h"
#include "exporter/checks/rules/topology_check.h"
#include "tests/places.inc"
#include "tests/unit/exporter/checks/check_bench.h"

namespace gpuward::exporter {
namespace {

struct Model {
  std::string name, gpu;
  unsigned gpus = 0;
  bool has_nvswitch_on_bus = false, has_fabric = false, has_bridge = false;
};

// Those of one column are judged alike.
const std::vector<std::vector<Model>> kColumns{
    {{"DGX H100", "NVIDIA H100 80GB HBM3", 8, true, true, false}},
    {{"HGX B200", "NVIDIA B200", 8, false, true, false},
     {"GB200", "NVIDIA GB200", 4, false, true, false},
     {"GB300", "NVIDIA GB300", 4, false, true, false}},
    {{"8 L40S without EFA", "NVIDIA L40S", 8, false, false, false}},
    {{"2 A6000 with a bridge", "NVIDIA RTX A6000", 2, false, false, true}},
};

constexpr std::uint32_t kLinksOfABridge = 4;

void become(const Model& model, CheckBench& bench) {
  Scenario machine(model.gpus);
  machine.forget_machine();
  machine.known.machine.machine.system_uuid = "4c4c4544-0057-3410-8053-c4c04f465433";
  machine.facts.has_nvswitch = model.has_nvswitch_on_bus;
  for (std::size_t i = 0; i < model.gpus; ++i) {
    GpuReading& gpu = machine.gpu(i);
    gpu.gpu.name = model.gpu;
    if (!model.has_fabric) gpu.fabric = fabric_in(kFabricNotSupported);
    if (!model.has_fabric) gpu.links.resize(model.has_bridge ? kLinksOfABridge : 0);
    for (Link& link : gpu.links) {
      if (model.has_bridge) link.remote_pci_bus_id = Scenario::bus_id(1 - i);
    }
  }
  if (!model.has_fabric && !model.has_bridge) {
    for (PeerStatus& each : machine.report.vendors[0].peers) each.nvlink_status = 5;
  }
  machine.settings = bench.node.settings;
  bench.node = machine;
  bench.host.with_process(2, "kthreadd").with_process(900, "nv-fabricmanager");
  if (model.has_nvswitch_on_bus) bench.host.with_nvswitches(4);
}

void turn_links_off(GpuReading& gpu) {
  for (Link& link : gpu.links) link.active = false;
}

struct Fault {
  std::string name;
  std::function<void(CheckBench&)> happens;
};

const std::vector<Fault> kFaults{
    {"none", [](CheckBench&) {}},
    {"a GPU is gone from driver and bus",
     [](CheckBench& bench) {
       bench.node.take_out_of_driver(1);
       bench.node.take_off_bus(1);
     }},
    {"one link of a GPU is off",
     [](CheckBench& bench) {
       if (!bench.node.gpu(1).links.empty()) bench.node.gpu(1).links[0].active = false;
     }},
    {"all links of a GPU are off", [](CheckBench& bench) { turn_links_off(bench.node.gpu(1)); }},
    {"all links are off",
     [](CheckBench& bench) {
       for (GpuReading& gpu : bench.node.report.vendors[0].gpus) turn_links_off(gpu);
     }},
    {"the fabric has not started",
     [](CheckBench& bench) {
       for (GpuReading& gpu : bench.node.report.vendors[0].gpus) {
         if (gpu.fabric.state != kFabricNotSupported) gpu.fabric.state = kFabricNotStarted;
       }
     }},
    {"joining the fabric has failed",
     [](CheckBench& bench) {
       Fabric& fabric = bench.node.gpu(1).fabric;
       if (fabric.state != kFabricNotSupported) fabric.status = 999;
     }},
    {"a route is unhealthy",
     [](CheckBench& bench) {
       Fabric& fabric = bench.node.gpu(1).fabric;
       if (fabric.state != kFabricNotSupported) fabric.health_mask = 0x9A;
     }},
    {"the GPU's firmware is wrong",
     [](CheckBench& bench) {
       Fabric& fabric = bench.node.gpu(1).fabric;
       if (fabric.state != kFabricNotSupported) fabric.health_mask = 0x6AA;
     }},
    {"the fabric manager does not run", [](CheckBench& bench) { bench.host.remove("proc/900"); }},
};

// What both checks find: "`nvlink_inactive` (monitor)"; "-" for nothing.
std::string verdict(CheckBench& bench) {
  std::set<std::string> found;
  for (const CheckOutcome& outcome : {bench.node.judge(), bench.run()}) {
    for (const Finding& finding : outcome.findings)
      found.insert("`" + finding.code + "` (" + std::string(to_string(finding.severity)) + ")");
  }
  std::string text;
  for (const std::string& one : found) text += (text.empty() ? "" : ", ") + one;
  return text.empty() ? "-" : text;
}

// The machine that the exporter sees for the first time; and the one that was healthy in this boot.
std::string cell_of(const Model& model, const Fault& fault) {
  CheckBench bench(topology_entry());
  become(model, bench);
  fault.happens(bench);
  const std::string first = verdict(bench);
  become(model, bench);
  bench.node.remember_links();
  bench.node.known.machine.most[Vendor::kNvidia] = model.gpus;
  fault.happens(bench);
  const std::string later = verdict(bench);
  return first == later ? first : "first: " + first + "; later: " + later;
}

std::string table() {
  std::string head = "| fault |", line = "|---|";
  for (const auto& column : kColumns) {
    std::string names;
    for (const Model& model : column) names += (names.empty() ? "" : ", ") + model.name;
    head += " " + names + " |";
    line += "---|";
  }
  std::string rows = head + "\n" + line + "\n";
  for (const Fault& fault : kFaults) {
    rows += "| " + fault.name + " |";
    for (const auto& column : kColumns) {
      const std::string cell = cell_of(column.front(), fault);
      for (const Model& model : std::span(column).subspan(1))
        EXPECT_EQ(cell_of(model, fault), cell) << model.name;
      rows += " " + cell + " |";
    }
    rows += "\n";
  }
  return rows;
}

TEST(UnknownMachines, AreJudgedAsTheTableOfTheDocsSays) {
  const auto page =
      read_file(std::filesystem::path(GPUWARD_SOURCE_DIR) / "docs/checks.md", 1 << 20);
  ASSERT_TRUE(page);
  const std::string right = table();
  EXPECT_TRUE(page->contains(right)) << "docs/checks.md must have this table:\n" << right;
}

}  // namespace
}  // namespace gpuward::exporter
