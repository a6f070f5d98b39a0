#include <algorithm>
#include <array>
#include <regex>
#include <set>

#include "tests/architecture/rules.h"

namespace gpuward::architecture {
namespace {

void find_in_code(const SourceFile& file, const std::regex& pattern, std::string_view message,
                  Violations& found) {
  for (std::sregex_iterator match(file.code.begin(), file.code.end(), pattern), end; match != end;
       ++match) {
    found.push_back({file.path, line_at(file.code, static_cast<std::size_t>(match->position())),
                     std::string(message) + ": " + match->str()});
  }
}

struct PlugInFolder {
  std::string_view folder;
  std::string_view suffix;  // of the name of a plug-in's file
  bool is_a_folder_each = false;
};
constexpr std::array<PlugInFolder, 10> kPlugInFolders{{
    {"exporter/checks", "_check", true},
    {"exporter/announcements", "_cloud"},
    {"exporter/commands", "_command"},
    {"exporter/publish", "_sink"},
    {"exporter/gpu", "_library", true},
    {"remediator/act/actions", "_action"},
    {"remediator/inbox/sources", "_source"},
    {"remediator/inbox/triage", "_model"},
    {"remediator/act/cloud", "_provider"},
    {"remediator/notify", "_sink"},
}};

const SourceFile* find_file(const SourceTree& tree, const std::string& path) {
  const auto found = std::ranges::find(tree.files, path, &SourceFile::path);
  return found == tree.files.end() ? nullptr : &*found;
}

bool has_include(const SourceFile& file, const std::string& target) {
  return std::ranges::any_of(file.includes,
                             [&](const Include& include) { return include.target == target; });
}

std::vector<const SourceFile*> plug_ins_of(const SourceTree& tree, const PlugInFolder& kind) {
  std::vector<const SourceFile*> found;
  for (const SourceFile& file : tree.files) {
    const bool is_there =
        kind.is_a_folder_each ? file.is_in(kind.folder) : file.folder() == kind.folder;
    if (is_there && file.path.ends_with(".cpp") && file.stem().ends_with(kind.suffix))
      found.push_back(&file);
  }
  return found;
}

// The store and the slots of the ledger act. Of the rooms that act, single files decide: the plan
// and the rounds of a drain, the moves of a restart. Two interfaces of other rooms stay as pure.
bool is_decision(const SourceFile& file) {
  if (file.path.starts_with("remediator/decide/budgets/ledger_s")) return false;
  constexpr std::array<std::string_view, 3> kRooms{"remediator/model", "remediator/policy",
                                                   "remediator/decide"};
  constexpr std::array<std::string_view, 8> kFiles{
      "remediator/act/approval_guard", "remediator/inbox/sources/active_alerts",
      "remediator/act/drain/drain_",   "remediator/act/restart/job_move",
      "remediator/cluster/exclusions", "remediator/cluster/gates/switch_position",
      "remediator/cluster/silent_",    "remediator/inbox/sources/gpu_claims"};
  return std::ranges::any_of(kRooms, [&](std::string_view room) { return file.is_in(room); }) ||
         std::ranges::any_of(kFiles,
                             [&](std::string_view start) { return file.path.starts_with(start); });
}

// Headers of the outside world, which a decision may not use.
bool is_impure(std::string_view target) {
  constexpr std::array<std::string_view, 14> kImpure{"core/http/client/",
                                                     "core/http/server/",
                                                     "core/kube/api.h",
                                                     "core/kube/informer.h",
                                                     "core/runtime/files.h",
                                                     "core/runtime/log.h",
                                                     "core/runtime/signals.h",
                                                     "core/runtime/work_queue.h",
                                                     "fstream",
                                                     "iostream",
                                                     "thread",
                                                     "condition_variable",
                                                     "random",
                                                     "ctime"};
  return std::ranges::any_of(kImpure, [&](std::string_view impure) {
    return impure.ends_with('/') ? target.starts_with(impure) : target == impure;
  });
}

}  // namespace

Violations time_comes_from_the_clock(const SourceTree& tree) {
  static const std::regex kNow(
      R"(\b(system_clock|steady_clock|high_resolution_clock|utc_clock)\s*::\s*now\b|\bgettimeofday\b|\bstd::time\s*\()");
  Violations found;
  for (const SourceFile& file : tree.files) {
    if (!file.is_product() || file.path == "core/runtime/clock.cpp") continue;
    find_in_code(file, kNow, "time comes from the injected Clock", found);
  }
  return found;
}

Violations decisions_are_pure(const SourceTree& tree) {
  static const std::regex kClock(R"(\b(SystemClock|Clock\s*[&*])|\bstd::(getenv|cout|cerr)\b)");
  Violations found;
  for (const SourceFile& file : tree.files) {
    if (!is_decision(file)) continue;
    for (const Include& include : file.includes) {
      if (is_impure(include.target))
        found.push_back({file.path, include.line, "a decision does no I/O: " + include.target});
    }
    find_in_code(file, kClock, "a decision gets its time as a parameter", found);
  }
  return found;
}

Violations threads_have_owners(const SourceTree& tree) {
  static const std::regex kSleep(
      R"(\bthis_thread\s*::\s*sleep_(for|until)\b|\b(usleep|nanosleep|clock_nanosleep)\s*\()");
  static const std::regex kDetach(R"((\.|->)\s*detach\s*\(\s*\))");
  static const std::regex kBareThread(R"(\bstd\s*::\s*(thread\b(?!\s*::)|async\s*\())");
  Violations found;
  for (const SourceFile& file : tree.files) {
    find_in_code(file, kSleep, "wait on the Clock or for a condition", found);
    find_in_code(file, kDetach, "every thread has an owner", found);
    if (file.is_product()) find_in_code(file, kBareThread, "use std::jthread", found);
  }
  return found;
}

Violations plug_ins_stand_in_their_table(const SourceTree& tree) {
  Violations found;
  for (const PlugInFolder& kind : kPlugInFolders) {
    const auto plug_ins = plug_ins_of(tree, kind);
    const std::string table_path = std::string(kind.folder) + "/all.cpp";
    const SourceFile* const table = find_file(tree, table_path);
    if (table == nullptr && plug_ins.size() < 2) continue;  // no choice to list yet
    for (const SourceFile* plug_in : plug_ins) {
      const std::string header = plug_in->path.substr(0, plug_in->path.size() - 4) + ".h";
      if (table != nullptr && has_include(*table, header)) continue;
      found.push_back({plug_in->path, 0, "a plug-in that " + table_path + " does not name"});
    }
  }
  return found;
}

}  // namespace gpuward::architecture
