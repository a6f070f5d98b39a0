#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "tests/architecture/rules.h"

namespace gpuward::architecture {
namespace {

// A folder and the folders that it may include besides itself and its sub-folders. A folder of a
// program may use those that precede it in the list. A program may use all of core, and its own top
// folder may use all of the program.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> may_use;
};

void append_program(std::string_view program, std::span<const std::string_view> in_order,
                    std::vector<Layer>& layers) {
  std::vector<std::string_view> earlier{"core"};
  for (const std::string_view folder : in_order) {
    layers.push_back({folder, earlier});
    earlier.push_back(folder);
  }
  layers.push_back({program, {"core", program}});
}

std::vector<Layer> make_layers() {
  constexpr std::array<std::string_view, 14> kExporter{
      "exporter/gpu",        "exporter/kernel_log", "exporter/host",     "exporter/announcements",
      "exporter/store",      "exporter/checks",     "exporter/pods",     "exporter/publish",
      "exporter/amd_health", "exporter/nccl_pair",  "exporter/evidence", "exporter/config",
      "exporter/watch",      "exporter/commands"};
  constexpr std::array<std::string_view, 10> kRemediator{
      "remediator/model",  "remediator/policy", "remediator/notify", "remediator/cluster",
      "remediator/decide", "remediator/inbox",  "remediator/act",    "remediator/config",
      "remediator/tell",   "remediator/cli"};
  std::vector<Layer> layers{
      {"core/model", {}},
      {"core/xid", {"core/model"}},
      {"core/runtime", {"core/model"}},
      {"core/metrics", {"core/model", "core/runtime"}},
      {"core/http/syntax", {"core/model", "core/runtime"}},
      {"core/http/client", {"core/model", "core/runtime", "core/http/syntax"}},
      {"core/http/server", {"core/model", "core/runtime", "core/http/syntax"}},
      {"core/kube", {"core/model", "core/runtime", "core/http/syntax", "core/http/client"}},
      {"core/aws", {"core/model", "core/runtime", "core/http/syntax", "core/http/client"}},
      {"core/upload",
       {"core/model", "core/runtime", "core/http/syntax", "core/http/client", "core/aws"}},
      {"core/html", {"core/model", "core/runtime", "core/http/syntax", "core/http/server"}},
      {"core/command_line", {"core/http/client", "core/model", "core/runtime"}},
  };
  append_program("exporter", kExporter, layers);
  append_program("remediator", kRemediator, layers);
  return layers;
}

const std::vector<Layer>& layers() {
  static const std::vector<Layer> kLayers = make_layers();
  return kLayers;
}

// The layer of a file: that of its folder or of the nearest one above. The layer of a program's top
// folder holds only for its own files.
const Layer* layer_of(const SourceFile& file) {
  for (const Layer& layer : layers()) {
    const bool is_top = layer.folder.find('/') == std::string_view::npos;
    if (is_top ? file.folder() == layer.folder : file.is_in(layer.folder)) return &layer;
  }
  return nullptr;
}

std::string_view folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool is_ours(std::string_view target) {
  constexpr std::array<std::string_view, 5> kRoots{"core/", "exporter/", "remediator/", "tests/",
                                                   "bench/"};
  return std::ranges::any_of(kRoots,
                             [&](std::string_view root) { return target.starts_with(root); });
}

bool allows(const Layer& layer, std::string_view target_folder) {
  if (lies_in(target_folder, layer.folder)) return true;
  return std::ranges::any_of(layer.may_use,
                             [&](std::string_view used) { return lies_in(target_folder, used); });
}

std::optional<std::string> objection_to(const SourceFile& file, const Layer& layer,
                                        const Include& include) {
  const std::string_view target = folder_of(include.target);
  if (target != file.folder() && lies_in(file.folder(), target)) {
    return "a sub-folder includes its parent: " + include.target;
  }
  if (!allows(layer, target))
    return std::string(layer.folder) + " may not include " + include.target;
  return std::nullopt;
}

struct Door {
  std::string_view library;              // the beginning of its headers' paths
  std::vector<std::string_view> places;  // path prefixes that may include it
};

const std::vector<Door>& doors() {
  static const std::vector<Door> kDoors{
      {"nlohmann/", {"core/runtime/json.h", "core/runtime/json_fwd.h"}},
      {"yaml-cpp/", {"core/runtime/yaml.cpp", "core/runtime/yaml_text.cpp"}},
      {"spdlog/", {"core/runtime/log.cpp"}},
      {"fmt/", {}},
      {"civetweb.h", {"core/http/server/"}},
      {"curl/", {"core/http/client/"}},
      {"prometheus/", {"core/metrics/"}},
      {"zlib.h", {"core/runtime/"}},
      {"pugixml", {"core/aws/xml.cpp"}},
      {"re2/", {"exporter/kernel_log/line_rules.cpp"}},
      {"nvml.h", {"exporter/gpu/"}},
      {"grpc", {"exporter/amd_health/server.cpp"}},
      {"google/protobuf/", {"exporter/amd_health/server.cpp"}},
      {"metricssvc", {"exporter/amd_health/server.cpp"}},
      {"gpumetricssvc", {"exporter/amd_health/server.cpp"}},
      {"CLI/",
       {"core/command_line/", "exporter/config/flags", "exporter/commands/",
        "remediator/config/flags", "remediator/cli/ctl/"}},
      {"gtest/", {}},
      {"gmock/", {}},
  };
  return kDoors;
}

using FolderGraph = std::map<std::string, std::set<std::string>>;

FolderGraph graph_of(const SourceTree& tree) {
  FolderGraph graph;
  for (const SourceFile& file : tree.files) {
    if (!file.is_product()) continue;
    for (const Include& include : file.includes) {
      const std::string target(folder_of(include.target));
      if (include.quoted && is_ours(include.target) && target != file.folder()) {
        graph[std::string(file.folder())].insert(target);
      }
    }
  }
  return graph;
}

bool reaches(const FolderGraph& graph, const std::string& from, const std::string& goal,
             std::set<std::string>& seen) {
  const auto edges = graph.find(from);
  if (edges == graph.end()) return false;
  return std::ranges::any_of(edges->second, [&](const std::string& next) {
    return next == goal || (seen.insert(next).second && reaches(graph, next, goal, seen));
  });
}

}  // namespace

Violations imports_point_one_way(const SourceTree& tree) {
  Violations found;
  for (const SourceFile& file : tree.files) {
    if (!file.is_product() || !file.is_cpp()) continue;
    const Layer* const layer = layer_of(file);
    if (layer == nullptr) {
      found.push_back({file.path, 0,
                       "its folder has no place in the order of layers (make_layers in "
                       "tests/architecture/imports.cpp)"});
      continue;
    }
    for (const Include& include : file.includes) {
      if (!include.quoted || !is_ours(include.target)) continue;
      if (auto objection = objection_to(file, *layer, include)) {
        found.push_back({file.path, include.line, std::move(*objection)});
      }
    }
  }
  return found;
}

Violations folders_form_no_cycle(const SourceTree& tree) {
  Violations found;
  const FolderGraph graph = graph_of(tree);
  for (const auto& [folder, targets] : graph) {
    std::set<std::string> seen;
    if (reaches(graph, folder, folder, seen))
      found.push_back({folder, 0, "its includes lead back to it"});
  }
  return found;
}

Violations own_includes_are_rooted(const SourceTree& tree) {
  std::set<std::string_view> known;
  for (const SourceFile& file : tree.files) known.insert(file.path);
  Violations found;
  for (const SourceFile& file : tree.files) {
    for (const Include& include : file.includes) {
      const bool generated = include.target.ends_with(".inc");
      if (include.quoted && !generated && !known.contains(include.target)) {
        found.push_back(
            {file.path, include.line, "no file of the repository: \"" + include.target + "\""});
      } else if (!include.quoted && is_ours(include.target)) {
        found.push_back(
            {file.path, include.line, "ours stands in quotes: <" + include.target + ">"});
      }
    }
  }
  return found;
}

Violations libraries_have_one_door(const SourceTree& tree) {
  Violations found;
  for (const SourceFile& file : tree.files) {
    if (!file.is_product()) continue;
    for (const Include& include : file.includes) {
      const auto door = std::ranges::find_if(
          doors(), [&](const Door& d) { return include.target.starts_with(d.library); });
      if (door == doors().end()) continue;
      const bool allowed = std::ranges::any_of(
          door->places, [&](auto place) { return file.path.starts_with(place); });
      if (!allowed)
        found.push_back({file.path, include.line, "may not include <" + include.target + ">"});
    }
  }
  return found;
}

Violations json_stays_out_of_seams(const SourceTree& tree) {
  // A seam is a header that another folder of the product includes.
  std::set<std::string_view> seams;
  for (const SourceFile& file : tree.files) {
    if (!file.is_product()) continue;
    for (const Include& include : file.includes) {
      if (folder_of(include.target) != file.folder()) seams.insert(include.target);
    }
  }
  Violations found;
  for (const SourceFile& file : tree.files) {
    if (!file.is_header() || !seams.contains(file.path)) continue;
    for (const Include& include : file.includes) {
      if (include.target != "core/runtime/json.h") continue;
      found.push_back({file.path, include.line,
                       "a header that other folders include speaks plain values, not JSON"});
    }
  }
  return found;
}

}  // namespace gpuward::architecture
