#include "exporter/evidence/folder.h"

#include <algorithm>
#include <system_error>
#include <tuple>
#include <vector>

#include "core/kube/names.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

// With the time and an ending it must fit into a file's name (NAME_MAX is 255).
constexpr std::size_t kLongestName = 200;

struct Kept {
  fs::path path;
  std::uintmax_t size = 0;
  fs::file_time_type written;
};

// Oldest first.
std::vector<Kept> files_in(const fs::path& folder) {
  std::vector<Kept> all;
  std::error_code ignored;
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    std::error_code gone;
    if (!fs::is_regular_file(at->symlink_status(gone)) || gone) continue;
    Kept one{at->path(), at->file_size(gone), at->last_write_time(gone)};
    if (!gone) all.push_back(std::move(one));
  }
  std::ranges::sort(all, {}, [](const Kept& one) { return std::tie(one.written, one.path); });
  return all;
}

// 20261128T020000Z
std::string time_in_name(Clock::Wall now) {
  std::string text = to_rfc3339(now);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

}  // namespace

Result<std::string> evidence_name(std::string_view remediation, Clock::Wall now) {
  if (auto valid = kube::validate_node_name(remediation); !valid)
    return with_context("the name of the Remediation", valid.error());
  std::string name(remediation.substr(0, kLongestName));
  if (name.size() < remediation.size()) name += "-" + short_hash(remediation);
  return name + "-" + time_in_name(now);
}

void make_room(const fs::path& folder, std::uintmax_t size, const EvidenceLimits& limits) {
  const std::vector<Kept> all = files_in(folder);
  std::size_t files = all.size() + 1;
  std::uintmax_t bytes = size;
  for (const Kept& one : all) bytes += one.size;
  for (const Kept& one : all) {
    if (files <= limits.files && bytes <= limits.bytes) return;
    std::error_code stays;
    if (!fs::remove(one.path, stays)) continue;
    --files;
    bytes -= one.size;
  }
}

Result<fs::path> save_evidence(const fs::path& folder, const std::string& name,
                               std::string_view content, const EvidenceLimits& limits) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) {
    return fail(ErrorKind::kUnavailable,
                "cannot create the folder " + folder.string() + ": " + error.message());
  }
  make_room(folder, content.size(), limits);
  fs::path path = folder / name;
  if (auto written = write_file_atomically(path, content, 0600); !written)
    return std::unexpected(written.error());
  return path;
}

}  // namespace gpuward::exporter
