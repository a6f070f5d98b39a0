// Requests that a command leaves for the exporter that runs on this node: files in a folder of the
// state folder, which the exporter takes within a second. Files and no page of the web server: who
// may write into that folder is root on this node already. Used for clearing findings, drills and
// releases of the GPUs.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::exporter {

class RequestFolder {
 public:
  explicit RequestFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The file that is gone once the request has been taken; `now` and the process make its name.
  // Makes the folder, which only its owner may enter, where it is missing.
  [[nodiscard]] Result<std::filesystem::path> leave(std::string_view text, WallTime now) const;

  // The file in which the exporter answers the request at `path`.
  [[nodiscard]] static std::filesystem::path answer_to(const std::filesystem::path& path);

  struct Request {
    std::filesystem::path path;  // gone already
    std::string text;
  };
  struct Taken {
    std::vector<Request> requests;
    std::string fault;  // what could not be taken, and why; empty if nothing
  };
  // Removes what it returns, each at most once: a request that came again with each start would
  // concern what nobody has seen yet. Cheap where there is nothing.
  [[nodiscard]] Taken take() const;

 private:
  std::filesystem::path folder_;
};

// Removes the answer and returns it; empty: there was none within `limit` or before the stop.
[[nodiscard]] std::string wait_for_answer(const std::filesystem::path& answer,
                                          std::chrono::milliseconds limit, Clock& clock,
                                          const std::stop_token& stop = {});

}  // namespace gpuward::exporter
