#include "exporter/store/release_requests.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/runtime/attribute.h"
#include "core/runtime/clock.h"
#include "core/runtime/descriptor.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostReleaseBytes = 4096;
constexpr std::size_t kMostRequests = 100;
constexpr std::size_t kMostReasonBytes = 200;
constexpr std::string_view kRequest = ".json";

Result<std::string> read_own_file(const std::filesystem::path& path) {
  const auto failed = [](const char* what) {
    return fail(ErrorKind::kUnavailable,
                std::string(what) + ": " + std::generic_category().message(errno));
  };
  const Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));  // NOLINT
  if (!file.is_open()) return failed("cannot be opened");
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return failed("cannot be read");
  if (!S_ISREG(facts.st_mode)) return fail(ErrorKind::kInvalid, "is not a regular file");
  if (facts.st_uid != ::geteuid())
    return fail(ErrorKind::kForbidden, "belongs to uid " + std::to_string(facts.st_uid));
  std::array<char, kMostReleaseBytes + 1> bytes{};
  const ssize_t size = ::read(file.get(), bytes.data(), bytes.size());
  if (size < 0) return failed("cannot be read");
  if (static_cast<std::size_t>(size) > kMostReleaseBytes)
    return fail(ErrorKind::kTooLarge,
                "has more than " + std::to_string(kMostReleaseBytes) + " bytes");
  return std::string(bytes.data(), static_cast<std::size_t>(size));
}

Result<ReleaseRequest> parse(std::string_view text) {
  const auto json =
      parse_json(text, {.max_bytes = kMostReleaseBytes, .max_depth = 2, .max_values = 16});
  if (!json) return std::unexpected(json.error());
  const auto until = parse_rfc3339(string_at(*json, "until"));
  if (!until) return fail(ErrorKind::kInvalid, "until is not a time");
  return ReleaseRequest{.who = to_valid_utf8(string_at(*json, "who"), kMostReasonBytes),
                        .why = to_valid_utf8(string_at(*json, "why"), kMostReasonBytes),
                        .boot_id = string_at(*json, "boot_id"),
                        .until = *until};
}

Result<ReleaseRequest> read_request(const std::filesystem::path& path) {
  auto text = read_own_file(path);
  if (!text) return std::unexpected(text.error());
  return parse(*text);
}

// At most one request and one answer for each of kMostRequests.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder,
                                            std::string_view extension) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& name : list_folder(folder, 2 * kMostRequests).names) {
    if (name.ends_with(extension)) paths.push_back(folder / name);
  }
  return paths;
}

}  // namespace

Result<std::filesystem::path> ReleaseRequests::leave(const ReleaseRequest& request,
                                                     WallTime now) const {
  return folder_.leave(dump_json({{"who", request.who},
                                  {"why", request.why},
                                  {"boot_id", request.boot_id},
                                  {"until", to_rfc3339_ms(request.until)}}),
                       now);
}

std::vector<ReleaseRequests::Found> ReleaseRequests::read() const {
  std::vector<Found> all;
  for (std::filesystem::path& path : files_of(path_, kRequest)) {
    auto request = read_request(path);
    all.push_back({std::move(path), std::move(request)});
  }
  return all;
}

void ReleaseRequests::remove(const std::filesystem::path& path) const {
  std::error_code error;
  std::filesystem::remove(path, error);
  std::filesystem::remove(RequestFolder::answer_to(path), error);
}

void ReleaseRequests::remove_old_answers() const {
  for (const std::filesystem::path& answer :
       files_of(path_, RequestFolder::answer_to("x").extension().string())) {
    std::filesystem::path request = answer;
    request.replace_extension(kRequest);
    std::error_code error;
    if (!std::filesystem::exists(request, error)) std::filesystem::remove(answer, error);
  }
}

}  // namespace gpuward::exporter
