#include "exporter/store/clear_request.h"

#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "exporter/store/state.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostRequestBytes = 4096;
constexpr std::size_t kMostAtOnce = 100;

Result<ClearRequest> parse_request(std::string_view text) {
  const auto json =
      parse_json(text, {.max_bytes = kMostRequestBytes, .max_depth = 2, .max_values = 16});
  if (!json) return std::unexpected(json.error());
  ClearRequest request;
  request.all_operator = member_at(*json, "all_operator") == true;
  request.after_gpu_reset = member_at(*json, "after_gpu_reset") == true;
  request.passed_diagnostic = parse_rfc3339(string_at(*json, "passed_diagnostic"));
  request.passed_for_operator = parse_rfc3339(string_at(*json, "passed_for_operator"));
  request.check = string_at(*json, "check");
  request.code = string_at(*json, "code");
  request.pci_bus_id = string_at(*json, "pci_bus_id");
  if (request.all_operator || request.after_gpu_reset || request.passed_diagnostic ||
      request.passed_for_operator || !request.check.empty())
    return request;
  return fail(ErrorKind::kInvalid,
              "it names no check, all_operator, after_gpu_reset, passed_diagnostic or "
              "passed_for_operator");
}

// Removed before it is used: a request that came again with each start would clear findings that
// nobody has seen yet.
Result<ClearRequest> take_one(const std::filesystem::path& path) {
  auto text = read_file(path, kMostRequestBytes);
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) {
    return fail(ErrorKind::kUnavailable, "removing " + path.string() + ": " + error.message());
  }
  if (!text) return std::unexpected(text.error());
  auto request = parse_request(*text);
  if (request) return request;
  return fail(ErrorKind::kInvalid, path.string() + ": " + request.error().message);
}

}  // namespace

bool ClearRequest::matches(const Finding& finding) const {
  if (all_operator) {
    return finding.cleared_by == ClearedBy::kOperator ||
           finding.cleared_by == ClearedBy::kDiagnostics;
  }
  if (after_gpu_reset) {
    return finding.cleared_by == ClearedBy::kGpuReset &&
           (pci_bus_id.empty() || finding.pci_bus_id == pci_bus_id);
  }
  if (passed_diagnostic || passed_for_operator) {
    const auto is_passed_since = [&](const std::optional<WallTime>& began, ClearedBy by) {
      return began && finding.cleared_by == by && finding.last_seen <= *began;
    };
    return is_passed_since(passed_diagnostic, ClearedBy::kDiagnostics) ||
           is_passed_since(passed_for_operator, ClearedBy::kOperator);
  }
  return finding.check == check && finding.code == code && finding.pci_bus_id == pci_bus_id;
}

bool ClearRequest::supersedes(const CheckResult& result) const {
  return passed_diagnostic && is_dcgm_diagnostic(result.check) &&
         result.status != CheckStatus::kPass && result.started <= *passed_diagnostic;
}

Result<std::filesystem::path> ClearRequests::leave(const ClearRequest& request,
                                                   WallTime now) const {
  std::error_code error;
  std::filesystem::create_directory(folder_, error);
  if (!error) {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, error);
  }
  if (error) {
    return fail(ErrorKind::kUnavailable, "making " + folder_.string() + ": " + error.message());
  }
  auto path = folder_ / (std::to_string(now.time_since_epoch().count()) + "-" +
                         std::to_string(::getpid()) + ".json");
  Json json = {{"all_operator", request.all_operator},
               {"after_gpu_reset", request.after_gpu_reset},
               {"check", request.check},
               {"code", request.code},
               {"pci_bus_id", request.pci_bus_id}};
  if (request.passed_diagnostic)
    json["passed_diagnostic"] = to_rfc3339_ms(*request.passed_diagnostic);
  if (request.passed_for_operator)
    json["passed_for_operator"] = to_rfc3339_ms(*request.passed_for_operator);
  if (auto written = write_file_atomically(path, dump_json(json), 0600); !written) {
    return std::unexpected(written.error());
  }
  return path;
}

ClearRequests::Taken ClearRequests::take() const {
  Taken taken;
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  std::filesystem::directory_iterator entry(folder_, error);
  if (error == std::errc::no_such_file_or_directory) return taken;
  for (; !error && entry != std::filesystem::directory_iterator() && paths.size() < kMostAtOnce;
       entry.increment(error)) {
    // The file that write_file_atomically() renames has another ending until it is whole.
    if (entry->path().extension() == ".json") paths.push_back(entry->path());
  }
  if (error) taken.fault = "reading " + folder_.string() + ": " + error.message();
  for (const std::filesystem::path& path : paths) {
    auto request = take_one(path);
    if (!request) taken.fault = request.error().message;
    if (request) taken.requests.push_back(*std::move(request));
  }
  return taken;
}

}  // namespace gpuward::exporter
