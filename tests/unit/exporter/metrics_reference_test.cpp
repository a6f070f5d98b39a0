// docs/metrics.md against the metrics of a running exporter: names, types and labels. The page
// itself is written from the declarations (tests/reference).
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "core/runtime/files.h"
#include "tests/places.inc"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

// "counter {pci_bus_id,xid}" by name; labels in alphabetical order.
using Reference = std::map<std::string, std::string>;

std::string shape(const std::string& type, const std::set<std::string>& labels) {
  std::string text = type + " {";
  for (const std::string& label : labels) text += (text.ends_with('{') ? "" : ",") + label;
  return text + "}";
}

// The words in backticks of one cell.
std::set<std::string> words_in(const std::string& cell) {
  std::set<std::string> words;
  for (auto open = cell.find('`'); open != std::string::npos;) {
    const auto close = cell.find('`', open + 1);
    if (close == std::string::npos) break;
    words.insert(cell.substr(open + 1, close - open - 1));
    open = cell.find('`', close + 1);
  }
  return words;
}

// The rows of the tables below these headings of the second level.
Reference documented(const std::set<std::string>& headings) {
  const auto text = read_file(std::string(GPUWARD_SOURCE_DIR) + "/docs/metrics.md");
  EXPECT_TRUE(text.has_value());
  Reference reference;
  bool is_wanted = false;
  std::istringstream lines(text.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) is_wanted = headings.contains(line.substr(3));
    if (!is_wanted || !line.starts_with("| `")) continue;
    std::istringstream cells(line.substr(1));
    std::string name, type, labels;
    std::getline(cells, name, '|');
    std::getline(cells, type, '|');
    std::getline(cells, labels, '|');
    const bool is_new = reference
                            .emplace(*words_in(name).begin(),
                                     shape(type.substr(1, type.size() - 2), words_in(labels)))
                            .second;
    EXPECT_TRUE(is_new) << "there twice: " << line;
  }
  return reference;
}

// Label names of `name{a="x",b="y"} 1`; the values of these tests contain neither comma nor brace.
std::set<std::string> labels_of(const std::string& series) {
  std::set<std::string> labels;
  const auto open = series.find('{');
  if (open == std::string::npos) return labels;
  std::istringstream pairs(series.substr(open + 1, series.find('}') - open - 1));
  for (std::string pair; std::getline(pairs, pair, ',');) {
    labels.insert(pair.substr(0, pair.find('=')));
  }
  return labels;
}

Reference served(const std::string& exposition) {
  Reference reference;
  std::map<std::string, std::string> types;
  std::istringstream lines(exposition);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, keyword, name, type;
    if (line.starts_with("# TYPE ") && words >> hash >> keyword >> name >> type) types[name] = type;
    if (line.empty() || line.front() == '#') continue;
    name = line.substr(0, line.find_first_of("{ "));
    const std::string found = shape(types[name], labels_of(line));
    const auto [entry, is_new] = reference.emplace(name, found);
    EXPECT_EQ(entry->second, found) << "a family with two sets of labels: " << line;
  }
  return reference;
}

// The EFA driver names its counters: the page has one row for all of them.
std::string name_on_page(const std::string& name) {
  for (const std::string prefix : {"gpuward_efa_", "node_amazonefa_"}) {
    const bool is_of_ours = name == "gpuward_efa_devices_expected" || name == "node_amazonefa_info";
    if (!name.starts_with(prefix) || is_of_ours) continue;
    return prefix + "COUNTER" + (name.ends_with("_total") ? "_total" : "");
  }
  return name;
}

TEST(MetricsReference, HasAllThatTheExporterServesAndNothingUnderAnotherShape) {
  RunningExporter exporter;
  exporter.start();
  exporter.append_log(xid_line(79));
  exporter.append_log(
      "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress");
  exporter.append_log("NVRM: GPU 0000:4e:00.0: RmInitAdapter failed! (0x22:0x56:894)");
  ASSERT_TRUE(
      exporter.has("gpuward_kernel_events_total{kind=\"rm_init\",label=\"0x22:0x56:894\",pci_bus_"
                   "id=\"0000:4e:00\"}",
                   "1"))
      << exporter.metrics();
  const Reference page = documented({"gpuward-exporter", "Both programs"});

  const Reference found = served(exporter.metrics());

  EXPECT_GT(found.size(), 40U);
  for (const auto& [name, what] : found) {
    const auto row = page.find(name_on_page(name));
    ASSERT_NE(row, page.end()) << name << " is not on the page";
    EXPECT_EQ(row->second, what) << name;
  }
}

}  // namespace
}  // namespace gpuward::exporter
