#include "exporter/store/request_folder.h"

#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "core/runtime/files.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostFileBytes = 4096;
constexpr std::size_t kMostAtOnce = 100;
constexpr std::chrono::milliseconds kAnswerInterval{50};

// Removes the request before it is used.
Result<std::string> take_one(const std::filesystem::path& path) {
  auto text = read_file(path, kMostFileBytes);
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) {
    return fail(ErrorKind::kUnavailable, "removing " + path.string() + ": " + error.message());
  }
  return text;
}

}  // namespace

Result<std::filesystem::path> RequestFolder::leave(std::string_view text, WallTime now) const {
  std::error_code error;
  std::filesystem::create_directory(folder_, error);
  if (error == std::errc::no_such_file_or_directory) {
    return fail(ErrorKind::kUnavailable,
                "the folder " + folder_.parent_path().string() +
                    " does not exist; the exporter creates it at startup: check --state.path");
  }
  if (!error) {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, error);
  }
  if (error) {
    return fail(ErrorKind::kUnavailable, "making " + folder_.string() + ": " + error.message());
  }
  auto path = folder_ / (std::to_string(now.time_since_epoch().count()) + "-" +
                         std::to_string(::getpid()) + ".json");
  if (auto written = write_file_atomically(path, text, 0600); !written) {
    return std::unexpected(written.error());
  }
  return path;
}

std::filesystem::path RequestFolder::answer_to(const std::filesystem::path& path) {
  std::filesystem::path answer = path;
  return answer.replace_extension(".answer");
}

RequestFolder::Taken RequestFolder::take() const {
  Taken taken;
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  std::filesystem::directory_iterator entry(folder_, error);
  if (error == std::errc::no_such_file_or_directory) return taken;
  for (; !error && entry != std::filesystem::directory_iterator() && paths.size() < kMostAtOnce;
       entry.increment(error)) {
    // write_file_atomically() uses another extension until the file is complete.
    if (entry->path().extension() == ".json") paths.push_back(entry->path());
  }
  if (error) taken.fault = "reading " + folder_.string() + ": " + error.message();
  for (std::filesystem::path& path : paths) {
    auto text = take_one(path);
    if (!text) taken.fault = text.error().message;
    if (text) taken.requests.push_back({std::move(path), *std::move(text)});
  }
  return taken;
}

std::string wait_for_answer(const std::filesystem::path& answer, std::chrono::milliseconds limit,
                            Clock& clock, const std::stop_token& stop) {
  const auto deadline = clock.steady() + limit;
  while (clock.steady() < deadline && !stop.stop_requested()) {
    if (auto text = read_file(answer, kMostFileBytes)) {
      std::error_code error;
      std::filesystem::remove(answer, error);
      return *std::move(text);
    }
    clock.sleep_for(kAnswerInterval, stop);
  }
  return {};
}

}  // namespace gpuward::exporter
