#include "exporter/store/clear_request.h"

#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/xid/event.h"
#include "exporter/store/state.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostRequestBytes = 4096;

Result<ClearRequest> parse_request(std::string_view text) {
  const auto json =
      parse_json(text, {.max_bytes = kMostRequestBytes, .max_depth = 2, .max_values = 16});
  if (!json) return std::unexpected(json.error());
  ClearRequest request;
  request.all_operator = member_at(*json, "all_operator") == true;
  request.after_gpu_reset = member_at(*json, "after_gpu_reset") == true;
  request.reset_ended = parse_rfc3339(string_at(*json, "reset_ended"));
  request.passed_diagnostic = parse_rfc3339(string_at(*json, "passed_diagnostic"));
  request.passed_for_operator = parse_rfc3339(string_at(*json, "passed_for_operator"));
  request.check = string_at(*json, "check");
  request.code = string_at(*json, "code");
  request.pci_bus_id = string_at(*json, "pci_bus_id");
  if (request.all_operator || request.after_gpu_reset || request.passed_diagnostic ||
      request.passed_for_operator || !request.check.empty())
    return request;
  return fail(ErrorKind::kInvalid,
              "must name at least one of check, all_operator, after_gpu_reset, passed_diagnostic, "
              "passed_for_operator");
}

}  // namespace

bool ClearRequest::matches(const Finding& finding) const {
  if (all_operator) {
    return finding.cleared_by == ClearedBy::kOperator ||
           finding.cleared_by == ClearedBy::kDiagnostics;
  }
  if (after_gpu_reset) {
    const bool is_of_any_gpu =
        finding.pci_bus_id.empty() && finding.check == xid::to_string(xid::Kind::kNvrm);
    return finding.cleared_by == ClearedBy::kGpuReset &&
           (!reset_ended || finding.last_seen <= *reset_ended) &&
           (pci_bus_id.empty() || finding.pci_bus_id == pci_bus_id || is_of_any_gpu);
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
  Json json = {{"all_operator", request.all_operator},
               {"after_gpu_reset", request.after_gpu_reset},
               {"check", request.check},
               {"code", request.code},
               {"pci_bus_id", request.pci_bus_id}};
  if (request.reset_ended) json["reset_ended"] = to_rfc3339_ms(*request.reset_ended);
  if (request.passed_diagnostic)
    json["passed_diagnostic"] = to_rfc3339_ms(*request.passed_diagnostic);
  if (request.passed_for_operator)
    json["passed_for_operator"] = to_rfc3339_ms(*request.passed_for_operator);
  return folder_.leave(dump_json(json), now);
}

ClearRequests::Taken ClearRequests::take() const {
  const RequestFolder::Taken files = folder_.take();
  Taken taken{.requests = {}, .fault = files.fault};
  for (const RequestFolder::Request& file : files.requests) {
    auto request = parse_request(file.text);
    if (!request) taken.fault = file.path.string() + ": " + request.error().message;
    if (request) taken.requests.push_back(*std::move(request));
  }
  return taken;
}

}  // namespace gpuward::exporter
