#include "exporter/amd_health/client.h"

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "core/http/client/client.h"
#include "core/runtime/text.h"
#include "exporter/pods/grpc_call.h"
#include "exporter/pods/wire.h"

namespace gpuward::exporter::amd_health {
namespace {

constexpr std::string_view kService = "/metricssvc.MetricsService/";
constexpr std::size_t kMostAnswerBytes = 1U << 20U;
constexpr std::size_t kLongestWord = 512;
constexpr std::uint32_t kBytesType = 2;  // protobuf.dev/programming-guides/encoding

void put_varint(std::string& out, std::uint32_t value) {
  for (; value >= 0x80U; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
}

void put(std::string& out, std::uint32_t number, std::string_view bytes) {
  put_varint(out, number << 3U | kBytesType);
  put_varint(out, static_cast<std::uint32_t>(bytes.size()));
  out += bytes;
}

// metricssvc.proto: GPUState. Ignores fields that are not a text of a GPU.
GpuState parse_state(WireReader message) {
  GpuState gpu;
  while (const auto field = message.next()) {
    if (field->type != WireType::kBytes) continue;
    std::string word = to_valid_utf8(field->bytes, kLongestWord);
    if (field->number == 1)
      gpu.id = std::move(word);
    else if (field->number == 2)
      gpu.uuid = std::move(word);
    else if (field->number == 3)
      gpu.health = std::move(word);
    else if (field->number == 4)
      gpu.workloads.push_back(std::move(word));
    else if (field->number == 5)
      gpu.device = std::move(word);
  }
  return gpu;
}

}  // namespace

Client::Client(std::filesystem::path socket, std::chrono::milliseconds timeout)
    : socket_(std::move(socket)), timeout_(timeout) {}

Result<std::vector<GpuState>> Client::list() const { return states("List", {}); }

Result<std::vector<GpuState>> Client::get(const std::vector<std::string>& ids) const {
  std::string message;
  for (const std::string& id : ids) put(message, 1, id);
  auto gpus = states("GetGPUState", std::move(message));
  if (!gpus) return gpus;
  for (const std::string& id : ids) {
    if (std::ranges::find(*gpus, id, &GpuState::id) == gpus->end())
      return fail(ErrorKind::kNotFound, "no GPU has the id " + id);
  }
  return gpus;
}

Status Client::set_error(const std::string& id, const Counts& counts) const {
  std::string message, numbers;
  put(message, 1, id);
  for (const auto& [field, count] : counts) {
    put(message, 2, field);
    put_varint(numbers, count);
  }
  put(message, 3, numbers);
  if (const auto answer = call("SetError", std::move(message)); !answer)
    return std::unexpected(answer.error());
  return {};
}

Result<std::string> Client::call(std::string_view method, std::string message) const {
  const std::string attempted = "asking AMD's health service at " + socket_.string();
  std::error_code ignored;
  if (!std::filesystem::exists(socket_, ignored)) {
    return with_context(attempted,
                        {ErrorKind::kNotFound,
                         "the socket does not exist; the exporter creates it only if the node has "
                         "an AMD accelerator or amd.health_service.enabled is true",
                         {}});
  }
  http::CurlClient client;
  auto answer = call_grpc(client,
                          {.socket = socket_.string(),
                           .method = std::string(kService) + std::string(method),
                           .message = std::move(message),
                           .timeout = timeout_,
                           .max_response_bytes = kMostAnswerBytes},
                          {});
  if (!answer) return with_context(attempted, answer.error());
  return answer;
}

Result<std::vector<GpuState>> Client::states(std::string_view method, std::string message) const {
  const auto answer = call(method, std::move(message));
  if (!answer) return std::unexpected(answer.error());
  WireReader reader(*answer);
  std::vector<GpuState> gpus;
  while (const auto field = reader.next()) {
    if (field->number == 1 && field->type == WireType::kBytes)
      gpus.push_back(parse_state(WireReader(field->bytes)));
  }
  if (reader.is_broken())
    return fail(ErrorKind::kInternal, socket_.string() + " returned no valid list of GPUs");
  return gpus;
}

}  // namespace gpuward::exporter::amd_health
